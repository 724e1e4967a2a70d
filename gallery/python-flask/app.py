"""A shop on Flask and SQLAlchemy. OpenTelemetry's `opentelemetry-instrument` starts it; nothing here knows of traces."""
import os

import requests
from flask import Flask, jsonify
from sqlalchemy import ForeignKey, create_engine, select, text, update
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

app = Flask(__name__)
engine = create_engine(
    os.environ["DATABASE"],
    pool_size=int(os.environ["POOL_SIZE"]),
    max_overflow=int(os.environ["MAX_OVERFLOW"]),
    pool_timeout=60,
)


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int]
    total: Mapped[int]


class Address(Base):
    __tablename__ = "addresses"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customers.id"))
    city: Mapped[str]


class Customer(Base):
    __tablename__ = "customers"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    addresses: Mapped[list[Address]] = relationship(lazy=os.environ["LAZY"])


class Stock(Base):
    __tablename__ = "stock"
    id: Mapped[int] = mapped_column(primary_key=True)
    quantity: Mapped[int]


@app.get("/customers/<int:customer>/orders")
def orders(customer):
    with Session(engine) as session:
        found = session.scalars(select(Order).where(Order.customer_id == customer).limit(20))
        return jsonify([order.total for order in found])


@app.get("/labels")
def labels():
    with Session(engine) as session:
        customers = session.scalars(select(Customer).where(Customer.id <= 30))
        return jsonify({one.name: one.addresses[0].city for one in customers})


@app.get("/report")
def report():
    with Session(engine) as session:
        count = session.scalar(text("SELECT count(*) FROM stock, pg_sleep(0.04)"))
        return jsonify(count=count)


@app.post("/stock/1")
def sell():
    with Session(engine) as session:
        session.execute(update(Stock).where(Stock.id == 1).values(quantity=Stock.quantity - 1))
        session.commit()
        return jsonify(sold=1)


@app.get("/quote")
def quote():
    return jsonify(requests.get(os.environ["UPSTREAM"], timeout=30).json())
