"""A shop behind NGINX: one slow page and one quick one. `opentelemetry-instrument` starts it."""
import time

from flask import Flask, jsonify

app = Flask(__name__)


@app.get("/page")
def page():
    return jsonify(page=1)


@app.get("/search")
def search():
    time.sleep(0.05)
    return jsonify(found=3)
