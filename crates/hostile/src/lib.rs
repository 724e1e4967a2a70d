//! Properties that must hold for any bytes: one per parser of foreign input.
//!
//! Each property is one file: a function that takes any bytes and panics where the property does not hold. The fuzz targets
//! in `fuzz/` call these functions, and so does this crate's test, with the seeds of the fuzzer and with damaged copies of
//! them, so that continuous integration has the properties without having a fuzzer.

pub mod archive_file;
pub mod content_coding;
pub mod cookies;
pub mod draft_source;
pub mod duration;
pub mod event_stream;
pub mod fleet_frames;
pub mod grpc_messages;
pub mod html_page;
pub mod http_response;
pub mod import_file;
pub mod json_path;
pub mod options_json;
pub mod otlp;
pub mod proto_file;
pub mod run_file;
pub mod segment;
pub mod threshold;
pub mod url;
pub mod websocket_frames;

/// A property.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The name of its fuzz target and of the folder of its seeds.
    pub name: &'static str,
    /// Panics where it does not hold for these bytes.
    pub check: fn(&[u8]),
}

/// All of them, by name.
pub const ALL: &[Property] = &[
    Property { name: "archive_file", check: archive_file::check },
    Property { name: "content_coding", check: content_coding::check },
    Property { name: "cookies", check: cookies::check },
    Property { name: "draft_source", check: draft_source::check },
    Property { name: "duration", check: duration::check },
    Property { name: "event_stream", check: event_stream::check },
    Property { name: "fleet_frames", check: fleet_frames::check },
    Property { name: "grpc_messages", check: grpc_messages::check },
    Property { name: "html_page", check: html_page::check },
    Property { name: "http_response", check: http_response::check },
    Property { name: "import_file", check: import_file::check },
    Property { name: "json_path", check: json_path::check },
    Property { name: "options_json", check: options_json::check },
    Property { name: "otlp", check: otlp::check },
    Property { name: "proto_file", check: proto_file::check },
    Property { name: "run_file", check: run_file::check },
    Property { name: "segment", check: segment::check },
    Property { name: "threshold", check: threshold::check },
    Property { name: "url", check: url::check },
    Property { name: "websocket_frames", check: websocket_frames::check },
];

/// The first line, and what follows it; invalid UTF-8 is replaced, since the parsers of texts are never handed any.
fn line_and_rest(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let (line, rest) = text.split_once('\n').unwrap_or((&text, ""));
    (line.to_owned(), rest.to_owned())
}

/// The first byte, which chooses, and what follows it.
fn choice_and_rest(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}
