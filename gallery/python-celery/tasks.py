"""The tasks of a shop's workers, over RabbitMQ. OpenTelemetry's `opentelemetry-instrument` starts them; nothing here knows of traces."""
import os
import random
import socket
import time

import redis
import requests
from celery import Celery
from celery.signals import worker_ready

app = Celery("shop", broker=os.environ["BROKER"], backend=os.environ["RESULTS"])
app.conf.task_default_queue = "orders"
app.conf.worker_prefetch_multiplier = int(os.environ["PREFETCH"])
app.conf.task_acks_late = True
app.conf.task_send_sent_event = True
app.conf.result_expires = 600
carts = redis.Redis.from_url(os.environ["RESULTS"])


@app.task
def report():
    time.sleep(0.05)


@app.task
def picture():
    """Most pictures are small."""
    time.sleep(1.5 if random.random() < 0.03 else 0.02)


@app.task
def quote():
    return requests.get(os.environ["UPSTREAM"], timeout=60).json()


@app.task
def cart(number):
    if os.environ["LOOKUP"] == "keys":
        return len(carts.keys(f"cart:{number}"))
    return carts.exists(f"cart:{number}")


@worker_ready.connect
def listen(**_):
    """A port that is open as soon as the worker consumes its queue."""
    listen.server = socket.create_server(("127.0.0.1", int(os.environ["PORT_WORKER"])), reuse_port=True)
