// The process behind the front: gRPC, GORM over PostgreSQL, and a third party over HTTP. otelgrpc, GORM's plugin and otelhttp trace it.
package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/plugin/opentelemetry/tracing"

	"plimsoll/gallery/go-grpc/rpc"
)

// Customer is a row of customers.
type Customer struct {
	ID      int64
	Name    string
	Address Address
}

// Address is a row of addresses.
type Address struct {
	ID         int64
	CustomerID int64
	City       string
}

type shop struct {
	db     *gorm.DB
	client *http.Client
	isLazy bool
}

func main() {
	rpc.StartSDK(context.Background())
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE")), &gorm.Config{Logger: logger.Discard})
	rpc.Check(err)
	pool, err := db.DB()
	rpc.Check(err)
	pool.SetMaxOpenConns(rpc.Number("POOL"))
	pool.SetMaxIdleConns(rpc.Number("POOL"))
	rpc.Check(db.Use(tracing.NewPlugin()))
	found := shop{
		db:     db,
		client: &http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport)},
		isLazy: rpc.Number("LAZY") == 1,
	}

	server := grpc.NewServer(grpc.StatsHandler(otelgrpc.NewServerHandler()),
		grpc.MaxConcurrentStreams(uint32(rpc.Number("STREAMS"))))
	rpc.Register(server, map[string]rpc.Method{
		"ListOrders":  found.listOrders,
		"PrintLabels": found.printLabels,
		"Report":      found.report,
		"Sell":        found.sell,
		"Quote":       found.quote,
	})
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT_BACK"))
	rpc.Check(err)
	rpc.Check(server.Serve(listener))
}

func (s shop) listOrders(ctx context.Context, customer *wrapperspb.Int64Value) (*structpb.Value, error) {
	var totals []int64
	err := s.db.WithContext(ctx).Table("orders").Where("customer_id = ?", customer.GetValue()).Limit(20).Pluck("total", &totals).Error
	values := make([]any, 0, len(totals))
	for _, total := range totals {
		values = append(values, total)
	}
	return answer(values, err)
}

func (s shop) printLabels(ctx context.Context, _ *wrapperspb.Int64Value) (*structpb.Value, error) {
	query := s.db.WithContext(ctx).Where("id <= ?", 30)
	if !s.isLazy {
		query = query.Preload("Address")
	}
	var customers []Customer
	if err := query.Find(&customers).Error; err != nil {
		return nil, err
	}
	labels := map[string]any{}
	for _, customer := range customers {
		if s.isLazy {
			if err := s.db.WithContext(ctx).Model(&customer).Association("Address").Find(&customer.Address); err != nil {
				return nil, err
			}
		}
		labels[customer.Name] = customer.Address.City
	}
	return answer(labels, nil)
}

func (s shop) report(ctx context.Context, _ *wrapperspb.Int64Value) (*structpb.Value, error) {
	var count int64
	err := s.db.WithContext(ctx).Raw("SELECT count(*) FROM stock, pg_sleep(0.04)").Scan(&count).Error
	return answer(count, err)
}

func (s shop) sell(ctx context.Context, article *wrapperspb.Int64Value) (*structpb.Value, error) {
	stock := s.db.WithContext(ctx).Table("stock").Where("id = ?", article.GetValue())
	changed := stock.Update("quantity", gorm.Expr("quantity - 1"))
	return answer(changed.RowsAffected, changed.Error)
}

func (s shop) quote(ctx context.Context, _ *wrapperspb.Int64Value) (*structpb.Value, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("UPSTREAM"), nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer(string(body), err)
}

func answer(value any, err error) (*structpb.Value, error) {
	if err != nil {
		return nil, err
	}
	return structpb.NewValue(value)
}
