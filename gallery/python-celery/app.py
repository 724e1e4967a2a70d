"""A shop on Flask that hands its work to Celery. `opentelemetry-instrument` starts it."""
from celery.result import AsyncResult
from flask import Flask, jsonify

import tasks

app = Flask(__name__)


@app.post("/reports")
def report():
    return jsonify(id=tasks.report.delay().id)


@app.post("/pictures")
def picture():
    return jsonify(id=tasks.picture.delay().id)


@app.post("/quotes")
def quote():
    return jsonify(id=tasks.quote.delay().id)


@app.post("/carts/<int:number>")
def cart(number):
    return jsonify(id=tasks.cart.delay(number).id)


@app.get("/tasks/<task>")
def state(task):
    return jsonify(done=AsyncResult(task, app=tasks.app).ready())
