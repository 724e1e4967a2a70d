//! `--out opentelemetry`: running totals to a receiver of OpenTelemetry metrics, as OTLP over HTTP.

mod exporter;
mod histogram;
mod settings;

use crate::push::Pusher;
use crate::{Context, Kind, Output, OutputError, net};

pub(crate) const KIND: Kind = Kind {
    name: "opentelemetry",
    help: "opentelemetry[=URL]: to an OpenTelemetry collector over HTTP; K6_OTEL_* and OTEL_EXPORTER_OTLP_*",
    open,
};

fn open(argument: &str, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    let settings = settings::Settings::read(argument, context)?;
    let mut headers = vec![("Content-Type".to_owned(), "application/x-protobuf".to_owned())];
    if settings.is_compressed {
        headers.push(("Content-Encoding".to_owned(), "gzip".to_owned()));
    }
    headers.extend(settings.headers);
    let encoder =
        exporter::Exporter::new(context, settings.prefix, &settings.resource, settings.is_compressed);
    let description = format!("opentelemetry ({})", settings.url);
    let pusher = Pusher::new(context, settings.url, headers, &settings.http, Box::new(encoder))?;
    net::start(description, settings.export_interval, Box::new(pusher))
}
