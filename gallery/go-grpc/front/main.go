// The front of a shop on net/http: each request is one call of the process behind it over gRPC. otelhttp and otelgrpc trace it.
package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"strconv"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"plimsoll/gallery/go-grpc/rpc"
)

func main() {
	rpc.StartSDK(context.Background())
	connection, err := grpc.NewClient("127.0.0.1:"+os.Getenv("PORT_BACK"),
		grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(otelgrpc.NewClientHandler()))
	rpc.Check(err)

	mux := http.NewServeMux()
	for route, method := range map[string]string{
		"GET /customers/{id}/orders": "ListOrders",
		"GET /labels":                "PrintLabels",
		"GET /report":                "Report",
		"POST /stock/{id}":           "Sell",
		"GET /quote":                 "Quote",
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			// Zero where the route has no number.
			id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
			answer, err := rpc.Call(r.Context(), connection, method, id)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			body, err := answer.MarshalJSON()
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("content-type", "application/json")
			if _, err := w.Write(body); err != nil {
				log.Print(err)
			}
		})
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT_FRONT"), otelhttp.NewHandler(mux, "front")))
}
