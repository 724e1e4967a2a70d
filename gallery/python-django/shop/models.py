"""The tables of ../schema.sql, which Django does not make."""
from django.db import models


class Customer(models.Model):
    name = models.TextField()

    class Meta:
        managed = False
        db_table = "customers"


class Address(models.Model):
    customer = models.OneToOneField(Customer, models.DO_NOTHING, related_name="address")
    city = models.TextField()

    class Meta:
        managed = False
        db_table = "addresses"


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.DO_NOTHING, related_name="orders")
    total = models.IntegerField()
    note = models.TextField()

    class Meta:
        managed = False
        db_table = "orders"


class Stock(models.Model):
    quantity = models.IntegerField()

    class Meta:
        managed = False
        db_table = "stock"
