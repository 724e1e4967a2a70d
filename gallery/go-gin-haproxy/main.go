// A shop on gin, database/sql and go-redis. otelgin, otelsql and redisotel trace it, and client_golang shows the pool.
package main

import (
	"context"
	"database/sql"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/XSAM/otelsql"
	"github.com/gin-gonic/gin"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/contrib/instrumentation/github.com/gin-gonic/gin/otelgin"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

func main() {
	ctx := context.Background()
	exporter, err := autoexport.NewSpanExporter(ctx)
	check(err)
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(exporter)))
	otel.SetTextMapPropagator(propagation.TraceContext{})

	db, err := otelsql.Open("pgx", os.Getenv("DATABASE"), otelsql.WithAttributes(attribute.String("db.system.name", "postgresql")))
	check(err)
	db.SetMaxOpenConns(number("POOL"))
	db.SetMaxIdleConns(number("POOL"))
	cache := redis.NewClient(&redis.Options{Addr: os.Getenv("REDIS"), PoolSize: number("CACHE_POOL")})
	check(redisotel.InstrumentTracing(cache))
	client := &http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport)}

	prometheus.MustRegister(collectors.NewDBStatsCollector(db, "gallery"))
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT_METRICS"), promhttp.Handler())) }()

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(otelgin.Middleware("gin-shop"))
	engine.GET("/customers/:id/orders", func(c *gin.Context) {
		rows(c, db, "SELECT total FROM orders WHERE customer_id = $1 LIMIT 20", number64(c.Param("id")))
	})
	engine.GET("/labels", func(c *gin.Context) {
		if os.Getenv("LAZY") != "1" {
			rows(c, db, "SELECT length(city) FROM addresses WHERE customer_id <= 30")
			return
		}
		for id := int64(1); id <= 30; id++ {
			var city string
			if failed(c, db.QueryRowContext(c.Request.Context(), "SELECT city FROM addresses WHERE customer_id = $1", id).Scan(&city)) {
				return
			}
		}
		c.JSON(http.StatusOK, 30)
	})
	engine.GET("/report", func(c *gin.Context) { rows(c, db, "SELECT count(*) FROM stock, pg_sleep(0.04)") })
	engine.POST("/stock/1", func(c *gin.Context) {
		_, err := db.ExecContext(c.Request.Context(), "UPDATE stock SET quantity = quantity - 1 WHERE id = 1")
		if !failed(c, err) {
			c.JSON(http.StatusOK, 1)
		}
	})
	engine.GET("/carts/:id", func(c *gin.Context) {
		if os.Getenv("LOOKUP") == "keys" {
			found, err := cache.Keys(c.Request.Context(), "cart:"+c.Param("id")+"?").Result()
			if !failed(c, err) {
				c.JSON(http.StatusOK, len(found))
			}
			return
		}
		found, err := cache.Exists(c.Request.Context(), "cart:"+c.Param("id")).Result()
		if !failed(c, err) {
			c.JSON(http.StatusOK, found)
		}
	})
	engine.GET("/quote", func(c *gin.Context) {
		request, err := http.NewRequestWithContext(c.Request.Context(), http.MethodGet, os.Getenv("UPSTREAM"), nil)
		if failed(c, err) {
			return
		}
		response, err := client.Do(request)
		if failed(c, err) {
			return
		}
		defer response.Body.Close()
		if _, err := io.Copy(c.Writer, response.Body); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(engine.Run("127.0.0.1:" + os.Getenv("PORT_APP")))
}

// rows answers with the integers that a statement returns.
func rows(c *gin.Context, db *sql.DB, statement string, arguments ...any) {
	found, err := db.QueryContext(c.Request.Context(), statement, arguments...)
	if failed(c, err) {
		return
	}
	defer found.Close()
	values := []int{}
	for found.Next() {
		var value int
		if failed(c, found.Scan(&value)) {
			return
		}
		values = append(values, value)
	}
	if !failed(c, found.Err()) {
		c.JSON(http.StatusOK, values)
	}
}

func number(name string) int { return int(number64(os.Getenv(name))) }

func number64(text string) int64 {
	found, err := strconv.ParseInt(text, 10, 64)
	check(err)
	return found
}

func failed(c *gin.Context, err error) bool {
	if err != nil {
		c.String(http.StatusInternalServerError, err.Error())
	}
	return err != nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
