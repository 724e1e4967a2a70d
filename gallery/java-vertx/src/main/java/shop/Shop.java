package shop;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.WebClient;
import io.vertx.core.http.PoolOptions;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

/** A shop on Vert.x: one event loop, the reactive client of PostgreSQL, and Vert.x's client of HTTP. The agent traces it. */
public final class Shop {
    public static void main(String[] arguments) {
        Vertx vertx = Vertx.vertx();
        Pool pool = PgBuilder.pool()
            .with(new io.vertx.sqlclient.PoolOptions().setMaxSize(number("POOL_SIZE")))
            .connectingTo(PgConnectOptions.fromUri(setting("DATABASE")))
            .using(vertx)
            .build();
        WebClient client = WebClient.create(vertx, new io.vertx.ext.web.client.WebClientOptions(),
            new PoolOptions().setHttp1MaxSize(number("HTTP_CONNECTIONS")));
        HttpClient blocking = HttpClient.newHttpClient();
        Router router = Router.router(vertx);
        router.get("/customers/:id/orders").handler(context -> answer(context, pool
            .preparedQuery("SELECT total FROM orders WHERE customer_id = $1 LIMIT 20")
            .execute(Tuple.of(Integer.valueOf(context.pathParam("id"))))
            .map(Shop::values)));
        router.get("/labels").handler(context -> answer(context, labels(pool)));
        router.get("/report").handler(context -> answer(context, pool
            .query("SELECT count(*) FROM stock, pg_sleep(0.04)").execute().map(Shop::values)));
        router.post("/stock/1").handler(context -> answer(context, pool
            .query("UPDATE stock SET quantity = quantity - 1 WHERE id = 1").execute().map(Shop::values)));
        router.get("/quote").handler(context -> {
            if (number("BLOCKING") == 1) {
                // A client that is not asynchronous: the event loop does nothing else until the answer is there.
                answer(context, Future.succeededFuture(fetch(blocking)));
            } else {
                answer(context, client.getAbs(setting("UPSTREAM")).send().map(found -> found.bodyAsString()));
            }
        });
        vertx.createHttpServer().requestHandler(router).listen(number("PORT_APP"), "127.0.0.1");
    }

    private static Future<Object> labels(Pool pool) {
        if (number("LAZY") == 0) {
            return pool.query("SELECT city FROM addresses WHERE customer_id <= 30").execute().map(Shop::values);
        }
        Future<RowSet<Row>> last = pool.query("SELECT id FROM customers WHERE id = 1").execute();
        for (int id = 1; id <= 30; id++) {
            Tuple one = Tuple.of(id);
            last = last.compose(before -> pool.preparedQuery("SELECT city FROM addresses WHERE customer_id = $1").execute(one));
        }
        return last.map(Shop::values);
    }

    private static Object values(RowSet<Row> rows) {
        List<Object> found = new ArrayList<>();
        rows.forEach(row -> found.add(row.getValue(0)));
        return new JsonArray(found);
    }

    private static String fetch(HttpClient client) {
        try {
            return client.send(HttpRequest.newBuilder(URI.create(setting("UPSTREAM"))).build(), HttpResponse.BodyHandlers.ofString()).body();
        } catch (java.io.IOException | InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void answer(RoutingContext context, Future<?> future) {
        future.onSuccess(value -> context.json(new JsonObject().put("value", value))).onFailure(context::fail);
    }

    private static String setting(String name) {
        return System.getenv(name);
    }

    private static int number(String name) {
        return Integer.parseInt(setting(name));
    }
}
