//! The files of the page, as built in `ui/dist`.

use std::sync::LazyLock;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};

use crate::embedded::decompressed;

/// Names and contents as gzip, which are a third as large.
const COMPRESSED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page_files.rs"));

/// Names and contents, decompressed when the first is needed.
static FILES: LazyLock<Vec<(&str, Vec<u8>)>> =
    LazyLock::new(|| COMPRESSED.iter().map(|(name, compressed)| (*name, decompressed(compressed))).collect());

/// The page of a program that was built without its user interface.
const ABSENT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Plimsoll</title>\
    <p>This program was built without its page. <a href=\"/api/v1/runs\">The runs as JSON.</a>\n";

/// Files below this folder have a hash of their content in their name.
const HASHED: &str = "assets/";

/// The icon, which browsers request after every navigation unless they may cache it.
const ICON: &str = "favicon.svg";

/// Returns the response for a path: a file, or the single page that shows all screens.
pub(crate) fn respond(path: &str) -> Response {
    let name = path.trim_start_matches('/');
    match find(name) {
        Some(bytes) => answer(name, bytes),
        // A path whose last segment has a dot names a file, and this one does not exist.
        None if name.rsplit('/').next().is_some_and(|last| last.contains('.')) => missing(),
        None => answer("index.html", find("index.html").unwrap_or(ABSENT.as_bytes())),
    }
}

/// Returns the text of a file, if it exists.
pub fn text(name: &str) -> Option<&'static str> {
    std::str::from_utf8(find(name)?).ok()
}

fn find(name: &str) -> Option<&'static [u8]> {
    FILES.iter().find(|file| file.0 == name).map(|file| file.1.as_slice())
}

fn answer(name: &str, bytes: &'static [u8]) -> Response {
    let mut response = Response::new(Body::from(bytes));
    let caching = match name {
        ICON => "public, max-age=86400",
        _ if name.starts_with(HASHED) => "public, max-age=31536000, immutable",
        _ => "no-cache",
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    response
}

fn missing() -> Response {
    let mut response = Response::new(Body::from("there is no such file\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screens_are_one_page_and_files_are_files() {
        let check = |path: &str, status: u16| assert_eq!(respond(path).status().as_u16(), status, "{path}");
        for path in ["/", "/runs", "/runs/ab12cd34/requests", "/compare"] {
            check(path, 200);
        }
        for path in ["/assets/nope.js", "/favicon.icon", "/../Cargo.toml", "/assets/../../x.rs"] {
            check(path, 404);
        }
    }

    #[test]
    fn every_file_has_a_kind() {
        for (name, bytes) in FILES.iter() {
            assert_ne!(kind(name), "application/octet-stream", "{name}");
            let dist = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui/dist");
            assert_eq!(*bytes, std::fs::read(dist.join(name)).unwrap(), "{name}");
        }
        assert!(FILES.iter().any(|(name, _)| *name == "index.html"));
    }
}
