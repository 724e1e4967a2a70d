"""Pages of the shop."""
import os

import requests
from django.core.cache import cache
from django.db import connection, transaction
from django.http import JsonResponse
from django.shortcuts import render

from shop.models import Customer, Order, Stock


def orders(request, customer):
    found = Order.objects.filter(customer_id=customer).order_by("-total")[:20]
    return JsonResponse({"totals": [order.total for order in found]})


def labels(request):
    customers = Customer.objects.filter(id__lte=40)
    if os.environ["LAZY"] != "1":
        customers = customers.select_related("address")
    return JsonResponse({one.name: one.address.city for one in customers})


def report(request):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM stock, pg_sleep(0.04)")
        return JsonResponse({"count": cursor.fetchone()[0]})


def sell(request):
    with transaction.atomic():
        article = Stock.objects.select_for_update().get(id=1)
        article.quantity -= 1
        article.save()
    return JsonResponse({"sold": 1})


def checkout(request, customer):
    """Django gives the connection back to its pool when the response is there, so the call to the third party holds it."""
    last = Order.objects.filter(customer_id=customer).order_by("-total").first()
    price = requests.get(os.environ["UPSTREAM"], timeout=30).json()["price"]
    return JsonResponse({"last": last.total, "price": price})


def catalogue(request):
    return render(request, "catalogue.html", {"articles": range(int(os.environ["ARTICLES"]))})


def profile(request, customer):
    name = cache.get_or_set(f"customer:{customer}", lambda: Customer.objects.get(id=customer).name)
    return JsonResponse({"name": name})
