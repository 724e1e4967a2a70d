//! `--out experimental-prometheus-rw`: running totals to a receiver of Prometheus remote write 1.0.

mod exporter;
mod labels;
mod native;
mod proto;
mod stats;
