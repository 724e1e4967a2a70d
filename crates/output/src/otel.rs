//! `--out opentelemetry`: running totals to a receiver of OpenTelemetry metrics, as OTLP over HTTP or gRPC.

mod exporter;
mod histogram;
mod settings;

use self::settings::Address;
use crate::net::grpc::GrpcClient;
use crate::push::Pusher;
use crate::{Context, Kind, Output, OutputError, net};

pub(crate) const KIND: Kind = Kind {
    name: "opentelemetry",
    help: "opentelemetry[=URL]: to an OpenTelemetry collector over HTTP or gRPC; K6_OTEL_* and OTEL_EXPORTER_OTLP_*",
    open,
};

/// The method that takes metrics.
const METHOD: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

fn open(argument: &str, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    let settings = settings::Settings::read(argument, context)?;
    let is_compressed = settings.is_compressed;
    let encoder = exporter::Exporter::new(context, settings.prefix, &settings.resource, is_compressed);
    let (interval, encoder) = (settings.export_interval, Box::new(encoder));
    match settings.address {
        Address::Http(url) => {
            let mut headers = vec![("Content-Type".to_owned(), "application/x-protobuf".to_owned())];
            if is_compressed {
                headers.push(("Content-Encoding".to_owned(), "gzip".to_owned()));
            }
            headers.extend(settings.headers);
            let description = format!("opentelemetry ({url})");
            let pusher = Pusher::new(context, url, headers, &settings.http, encoder)?;
            net::start(description, interval, Box::new(pusher))
        }
        Address::Grpc { host, is_plain } => {
            let client = GrpcClient::new(&host, is_plain, &settings.http)?;
            let method = (METHOD, is_compressed);
            let pusher = Pusher::over_grpc(context, client, method, settings.headers, encoder)?;
            net::start(format!("opentelemetry (grpc://{host})"), interval, Box::new(pusher))
        }
    }
}
