"""A shop on FastAPI, asyncpg and httpx. OpenTelemetry's `opentelemetry-instrument` starts it; nothing here knows of traces."""
import os
from contextlib import asynccontextmanager

import asyncpg
import httpx
import requests
from fastapi import FastAPI

UPSTREAM = os.environ["UPSTREAM"]


@asynccontextmanager
async def lifespan(app):
    limits = httpx.Limits(max_connections=int(os.environ["HTTP_CONNECTIONS"]))
    size = int(os.environ["POOL_SIZE"])
    async with (
        asyncpg.create_pool(os.environ["DATABASE"], min_size=size, max_size=size) as app.state.pool,
        httpx.AsyncClient(limits=limits, timeout=60) as app.state.client,
    ):
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/customers/{customer}/orders")
async def orders(customer: int):
    found = await app.state.pool.fetch("SELECT total FROM orders WHERE customer_id = $1 LIMIT 20", customer)
    return [order["total"] for order in found]


@app.get("/labels")
async def labels():
    customers = await app.state.pool.fetch("SELECT id, name FROM customers WHERE id <= 30")
    if os.environ["LAZY"] == "1":
        one = "SELECT city FROM addresses WHERE customer_id = $1"
        return {each["name"]: await app.state.pool.fetchval(one, each["id"]) for each in customers}
    many = "SELECT customer_id, city FROM addresses WHERE customer_id = ANY($1)"
    cities = dict(await app.state.pool.fetch(many, [each["id"] for each in customers]))
    return {each["name"]: cities[each["id"]] for each in customers}


@app.get("/report")
async def report():
    return {"count": await app.state.pool.fetchval("SELECT count(*) FROM stock, pg_sleep(0.04)")}


@app.post("/stock/1")
async def sell():
    await app.state.pool.execute("UPDATE stock SET quantity = quantity - 1 WHERE id = 1")
    return {"sold": 1}


@app.get("/quote")
async def quote():
    if os.environ["BLOCKING"] == "1":
        # A client that is not asynchronous: nothing else runs until the answer is there.
        return requests.get(UPSTREAM, timeout=60).json()
    return (await app.state.client.get(UPSTREAM)).json()
