//! `--out experimental-prometheus-rw`: running totals to a receiver of Prometheus remote write 1.0.

mod exporter;
mod labels;
mod native;
mod proto;
mod settings;
mod stats;

use crate::push::Pusher;
use crate::{Context, Kind, Output, OutputError, net};

pub(crate) const KIND: Kind = Kind {
    name: "experimental-prometheus-rw",
    help: "experimental-prometheus-rw[=URL]: to Prometheus by remote write; K6_PROMETHEUS_RW_SERVER_URL and others",
    open,
};

/// Headers of every request (Prometheus remote write 1.0, "Protocol").
const HEADERS: [(&str, &str); 3] = [
    ("Content-Type", "application/x-protobuf"),
    ("Content-Encoding", "snappy"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
];

fn open(argument: &str, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    let settings = settings::Settings::read(argument, context)?;
    let own = HEADERS.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers = own.into_iter().chain(settings.headers).collect();
    let encoder =
        exporter::Exporter::new(context, settings.trends, settings.everywhere, settings.has_stale_markers);
    let description = format!("Prometheus remote write ({})", settings.url);
    let pusher = Pusher::new(context, settings.url, headers, &settings.http, Box::new(encoder))?;
    net::start(description, settings.push_interval, Box::new(pusher))
}
