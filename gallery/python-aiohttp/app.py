"""Electricity meters on aiohttp, aiomysql and Redis. `opentelemetry-instrument` starts it.

OpenTelemetry has no instrumentation of aiomysql, so no span shows a statement.
"""
import asyncio
import json
import os

import aiohttp
import aiomysql
import redis.asyncio as redis
from aiohttp import web

PRICES = os.environ["PRICES"]
ROWS = int(os.environ["ROWS"])


async def connections(app):
    """Pools of connections, from the start of the server to its end."""
    app["db"] = await aiomysql.create_pool(
        host="127.0.0.1", port=int(os.environ["PORT_MARIADB"]), user="gallery", password="gallery", db="gallery",
        minsize=1, maxsize=int(os.environ["POOL_MAXSIZE"]), autocommit=True,
    )
    app["cache"] = redis.Redis(port=int(os.environ["PORT_REDIS"]))
    app["session"] = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=int(os.environ["CONNECTOR_LIMIT"])))
    app["lock"] = asyncio.Lock()
    yield
    await app["session"].close()
    await app["cache"].aclose()
    app["db"].close()
    await app["db"].wait_closed()


async def rows(app, statement, *values):
    async with app["db"].acquire() as connection, connection.cursor() as cursor:
        await cursor.execute(statement, values)
        return await cursor.fetchall()


async def price(app):
    async with app["session"].get(PRICES) as response:
        return (await response.json())["price"]


routes = web.RouteTableDef()


@routes.get("/meters/{meter}/readings")
async def readings(request):
    statement = "SELECT taken, kwh FROM readings WHERE meter_id = %s ORDER BY taken DESC LIMIT 20"
    found = await rows(request.app, statement, int(request.match_info["meter"]))
    return web.json_response([[taken.isoformat(), float(kwh)] for taken, kwh in found])


@routes.get("/forecast")
async def forecast(request):
    [[found, _]] = await rows(request.app, "SELECT avg(id), sleep(0.04) FROM sites WHERE id = 1")
    return web.json_response({"kwh": float(found)})


@routes.get("/online/{meter}")
async def online(request):
    """A meter that is connected has a key in Redis, which `services/redis` fills."""
    meter = request.match_info["meter"]
    if os.environ["LOOKUP"] == "keys":
        found = len(await request.app["cache"].keys(f"cart:{meter}"))
    else:
        found = await request.app["cache"].exists(f"cart:{meter}")
    return web.json_response({"online": bool(found)})


@routes.get("/price")
async def current_price(request):
    if os.environ["LOCK"] == "1":
        # One request at a time asks the third party, whose answer the others await.
        async with request.app["lock"]:
            return web.json_response({"price": await price(request.app)})
    return web.json_response({"price": await price(request.app)})


@routes.get("/export")
async def export(request):
    """The size of a load profile as JSON. All of it is encoded at once, on the event loop."""
    quality = ["measured", "estimated"]
    profile = [{"slot": slot, "kwh": slot * 0.25, "quality": quality[slot % 2]} for slot in range(ROWS)]
    return web.json_response({"last": profile[-1], "size": len(json.dumps(profile))})


app = web.Application()
app.add_routes(routes)
app.cleanup_ctx.append(connections)
web.run_app(app, host="127.0.0.1", port=int(os.environ["PORT_APP"]), access_log=None, print=None)
