//! The cases: one file and one line each.

mod busy_100;
mod busy_1000;
mod busy_big;
mod download;
mod evidence;
mod growth;
mod grpc;
mod handshakes;
mod http2_batch;
mod lateness;
mod libraries;
mod memory;
mod memory_big;
mod memory_small;
mod neighbour;
mod page;
mod ready;
mod regex;
mod startup;
mod store;
mod tls;
mod upload;
mod websocket;
mod workers;

use super::Case;

pub(super) const ALL: &[Case] = &[
    Case { name: "busy-100", run: busy_100::run },
    Case { name: "busy-1000", run: busy_1000::run },
    Case { name: "busy-big", run: busy_big::run },
    Case { name: "tls", run: tls::run },
    Case { name: "handshakes", run: handshakes::run },
    Case { name: "http2-batch", run: http2_batch::run },
    Case { name: "upload", run: upload::run },
    Case { name: "download", run: download::run },
    Case { name: "websocket", run: websocket::run },
    Case { name: "grpc", run: grpc::run },
    Case { name: "memory-small", run: memory_small::run },
    Case { name: "memory-big", run: memory_big::run },
    Case { name: "ready", run: ready::small },
    Case { name: "ready-big", run: ready::big },
    Case { name: "growth", run: growth::run },
    Case { name: "workers", run: workers::run },
    Case { name: "store", run: store::run },
    Case { name: "evidence", run: evidence::run },
    Case { name: "startup", run: startup::run },
    Case { name: "lateness", run: lateness::run },
    Case { name: "regex", run: regex::run },
    Case { name: "neighbour", run: neighbour::run },
    Case { name: "page", run: page::run },
    Case { name: "page-open", run: page::left_open },
];
