// Package rpc is what both processes share: the service, written by hand in place of generated code, and the start of the SDK.
package rpc

import (
	"context"
	"log"
	"os"
	"strconv"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Name is the service's name on the wire.
const Name = "shop.v1.Shop"

// Method answers a number with a value.
type Method func(context.Context, *wrapperspb.Int64Value) (*structpb.Value, error)

// Register adds the methods to a server.
func Register(server *grpc.Server, methods map[string]Method) {
	description := grpc.ServiceDesc{ServiceName: Name, HandlerType: (*any)(nil)}
	for name, method := range methods {
		description.Methods = append(description.Methods, grpc.MethodDesc{MethodName: name, Handler: handler(method)})
	}
	server.RegisterService(&description, nil)
}

func handler(method Method) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		request := new(wrapperspb.Int64Value)
		if err := decode(request); err != nil {
			return nil, err
		}
		return method(ctx, request)
	}
}

// Call calls a method of the service.
func Call(ctx context.Context, connection *grpc.ClientConn, method string, number int64) (*structpb.Value, error) {
	answer := new(structpb.Value)
	return answer, connection.Invoke(ctx, "/"+Name+"/"+method, wrapperspb.Int64(number), answer)
}

// StartSDK sends traces and shows metrics where the environment says.
func StartSDK(ctx context.Context) {
	exporter, err := autoexport.NewSpanExporter(ctx)
	Check(err)
	otel.SetTracerProvider(trace.NewTracerProvider(trace.WithBatcher(exporter)))
	reader, err := autoexport.NewMetricReader(ctx)
	Check(err)
	otel.SetMeterProvider(metric.NewMeterProvider(metric.WithReader(reader)))
	otel.SetTextMapPropagator(propagation.TraceContext{})
}

// Number is a setting of the environment.
func Number(name string) int {
	found, err := strconv.Atoi(os.Getenv(name))
	Check(err)
	return found
}

// Check ends the process after an error.
func Check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
