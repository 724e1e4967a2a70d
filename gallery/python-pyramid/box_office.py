"""A box office on Pyramid, with a transaction for each request. `opentelemetry-instrument` starts it; nothing here knows of traces."""
import json
import os
import threading

import redis
import requests
import zope.sqlalchemy
from pyramid.config import Configurator
from pyramid.view import view_config
from sqlalchemy import ForeignKey, engine_from_config, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship, sessionmaker

cache = redis.Redis.from_url(os.environ["CACHE_URL"])


class Base(DeclarativeBase):
    pass


class Act(Base):
    __tablename__ = "acts"
    id: Mapped[int] = mapped_column(primary_key=True)
    event_id: Mapped[int] = mapped_column(ForeignKey("events.id"))
    name: Mapped[str]


class Event(Base):
    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    city: Mapped[str]
    acts: Mapped[list[Act]] = relationship(lazy=os.environ["LAZY"])


class Ticket(Base):
    __tablename__ = "tickets"
    id: Mapped[int] = mapped_column(primary_key=True)
    event_id: Mapped[int]
    seat: Mapped[str]
    price: Mapped[int]


@view_config(route_name="programme", renderer="json")
def programme(request):
    events = request.dbsession.scalars(select(Event).where(Event.id <= 30))
    return [{"title": event.title, "acts": [act.name for act in event.acts]} for event in events]


@view_config(route_name="tickets", renderer="json")
def tickets(request):
    event_id = int(request.matchdict["id"])
    found = select(Ticket.seat, Ticket.price).where(Ticket.event_id == event_id).order_by(Ticket.price).limit(20)
    return {**event_of(request, event_id), "tickets": [list(row) for row in request.dbsession.execute(found)]}


def event_of(request, event_id):
    """The title and the city of an event, from the cache for ten minutes."""
    key = f"event:{event_id}"
    if kept := cache.get(key):
        return json.loads(kept)
    event = request.dbsession.get(Event, event_id)
    found = {"title": event.title, "city": event.city}
    cache.setex(key, 600, json.dumps(found))
    return found


@view_config(route_name="resale", renderer="json")
def resale(request):
    return {"id": request.matchdict["id"], **resale_price()}


# The connection of the session is in use until the transaction of the request ends.
@view_config(route_name="offer", renderer="json")
def offer(request):
    event = request.dbsession.get(Event, int(request.matchdict["id"]))
    return {"title": event.title, **resale_price()}


guard = threading.Lock()
shared = requests.Session()
own = threading.local()


def resale_price():
    """Asks a third party. Threads share one guarded session of requests, or have one each."""
    if os.environ["SHARED_SESSION"] == "1":
        with guard:
            return shared.get(os.environ["RESALE_URL"], timeout=30).json()
    if not hasattr(own, "session"):
        own.session = requests.Session()
    return own.session.get(os.environ["RESALE_URL"], timeout=30).json()


def main(_, **settings):
    with Configurator(settings=settings) as config:
        config.include("pyramid_tm")
        new_session = sessionmaker(engine_from_config(settings, "sqlalchemy."))

        def dbsession(request):
            session = new_session()
            zope.sqlalchemy.register(session, transaction_manager=request.tm)
            return session

        config.add_request_method(dbsession, reify=True)
        config.add_route("programme", "/programme")
        config.add_route("tickets", "/events/{id}/tickets")
        config.add_route("offer", "/events/{id}/offer")
        config.add_route("resale", "/resale/{id}")
        config.scan(__name__)
    return config.make_wsgi_app()
