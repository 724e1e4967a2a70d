//! `--out opentelemetry`: running totals to a receiver of OpenTelemetry metrics, as OTLP over HTTP.

mod exporter;
mod histogram;
