// A shop on net/http and pgx. otelhttp and otelpgx trace it, configured by the environment.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
)

type shop struct {
	pool     *pgxpool.Pool
	client   *http.Client
	upstream string
	// One quote at a time, where the setting asks for it.
	quotes *sync.Mutex
	items  []item
}

type item struct {
	ID   int      `json:"id"`
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

func main() {
	ctx := context.Background()
	exporter, err := autoexport.NewSpanExporter(ctx)
	check(err)
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(exporter)))
	otel.SetTextMapPropagator(propagation.TraceContext{})

	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE"))
	check(err)
	config.MaxConns = int32(number("POOL"))
	config.ConnConfig.Tracer = otelpgx.NewTracer()
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(err)

	s := &shop{pool: pool, upstream: os.Getenv("UPSTREAM"), items: items(number("ITEMS"))}
	s.client = &http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport)}
	if os.Getenv("MUTEX") == "1" {
		s.quotes = &sync.Mutex{}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /customers/{id}/orders", s.orders)
	mux.HandleFunc("GET /report", s.report)
	mux.HandleFunc("POST /stock/1", s.sell)
	mux.HandleFunc("GET /quote", s.quote)
	mux.HandleFunc("GET /catalogue", s.catalogue)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT_APP"), otelhttp.NewHandler(mux, "shop")))
}

func (s *shop) orders(w http.ResponseWriter, r *http.Request) {
	rows, err := s.pool.Query(r.Context(), "SELECT total FROM orders WHERE customer_id = $1::text::int LIMIT 20", r.PathValue("id"))
	if failed(w, err) {
		return
	}
	totals := []int{}
	for rows.Next() {
		var total int
		if failed(w, rows.Scan(&total)) {
			return
		}
		totals = append(totals, total)
	}
	if failed(w, rows.Err()) {
		return
	}
	answer(w, totals)
}

func (s *shop) report(w http.ResponseWriter, r *http.Request) {
	var count int
	err := s.pool.QueryRow(r.Context(), "SELECT count(*) FROM stock, pg_sleep(0.04)").Scan(&count)
	if !failed(w, err) {
		answer(w, count)
	}
}

func (s *shop) sell(w http.ResponseWriter, r *http.Request) {
	_, err := s.pool.Exec(r.Context(), "UPDATE stock SET quantity = quantity - 1 WHERE id = 1")
	if !failed(w, err) {
		answer(w, 1)
	}
}

func (s *shop) quote(w http.ResponseWriter, r *http.Request) {
	if s.quotes != nil {
		s.quotes.Lock()
		defer s.quotes.Unlock()
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, s.upstream, nil)
	if failed(w, err) {
		return
	}
	response, err := s.client.Do(request)
	if failed(w, err) {
		return
	}
	defer response.Body.Close()
	if _, err := io.Copy(w, response.Body); err != nil {
		log.Print(err)
	}
}

func (s *shop) catalogue(w http.ResponseWriter, _ *http.Request) {
	text, err := json.Marshal(s.items)
	if failed(w, err) {
		return
	}
	var found []item
	if !failed(w, json.Unmarshal(text, &found)) {
		answer(w, len(found))
	}
}

func items(count int) []item {
	found := make([]item, count)
	for i := range found {
		found[i] = item{ID: i, Name: "item", Tags: []string{"a", "b", "c"}}
	}
	return found
}

func number(name string) int {
	found, err := strconv.Atoi(os.Getenv(name))
	check(err)
	return found
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("content-type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Print(err)
	}
}

func failed(w http.ResponseWriter, err error) bool {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	return err != nil
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
