//! Which entries a load test needs.

use super::entries::Entry;
use crate::{LeftOut, Settings, url};

/// Types of resources that are static, as browsers name them.
const STATIC_RESOURCES: &[&str] =
    &["image", "stylesheet", "script", "font", "media", "texttrack", "manifest", "imageset", "object"];

/// Resources that are none.
const DYNAMIC_RESOURCES: &[&str] = &["document", "xhr", "fetch", "eventsource", "websocket", "preflight"];

/// Endings of static files.
const STATIC_ENDINGS: &[&str] = &[
    "js",
    "mjs",
    "css",
    "map",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "avif",
    "ico",
    "bmp",
    "woff",
    "woff2",
    "ttf",
    "otf",
    "eot",
    "mp4",
    "webm",
    "mp3",
    "ogg",
    "wav",
    "m4a",
    "mov",
    "webmanifest",
    "wasm",
];

/// Beginnings of names of cookies that analytics set.
const ANALYTICS_COOKIES: &[&str] = &[
    "_ga",
    "_gid",
    "_gat",
    "_gcl",
    "_fbp",
    "_fbc",
    "__utm",
    "_hj",
    "ajs_",
    "amplitude",
    "mp_",
    "_pk_",
    "optanon",
    "_uet",
    "intercom-",
    "_clck",
    "_clsk",
    "_dd_s",
    "__hs",
    "hubspotutk",
    "_mkto",
];

/// Hosts that are named.
const HOSTS_MAX: usize = 50;

/// Whether a request is for a static file.
pub(super) fn is_static(resource: &str, content_type: &str, address: &str, method: &str) -> bool {
    if method != "GET" && method != "HEAD" {
        return false;
    }
    if STATIC_RESOURCES.contains(&resource) {
        return true;
    }
    if DYNAMIC_RESOURCES.contains(&resource) {
        return false;
    }
    let kinds = [
        "image/",
        "font/",
        "video/",
        "audio/",
        "text/css",
        "javascript",
        "application/font",
        "application/x-font",
        "wasm",
    ];
    if kinds.iter().any(|kind| content_type.contains(kind)) {
        return true;
    }
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let ending = path
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, ending)| ending.to_ascii_lowercase());
    let says_nothing = content_type.is_empty()
        || content_type.contains("octet-stream")
        || content_type.contains("text/plain")
        || content_type.contains("x-unknown");
    says_nothing && ending.is_some_and(|ending| STATIC_ENDINGS.contains(&ending.as_str()))
}

/// Leaves out requests to other sites than that of the first page.
pub(super) fn keep(entries: &mut Vec<Entry>, settings: &Settings, left_out: &mut LeftOut) {
    let first = entries.iter().find(|entry| entry.is_document).or(entries.first());
    let Some(site) = first.and_then(|entry| url::host(&entry.url)).map(|host| site(&host)) else { return };
    if settings.keeps_third_parties {
        return;
    }
    entries.retain(|entry| {
        let host = url::host(&entry.url).unwrap_or_default();
        let is_own = host == site || host.ends_with(&format!(".{site}"));
        if !is_own {
            left_out.third_party += 1;
            if left_out.hosts.len() < HOSTS_MAX && !left_out.hosts.contains(&host) {
                left_out.hosts.push(host);
            }
        }
        is_own
    });
}

/// The site of a host: `www.shop.example` → `shop.example`. Of countries' second levels (`co.uk`) three labels are kept.
fn site(host: &str) -> String {
    let labels: Vec<&str> = host.split('.').collect();
    let is_address = host.contains(':') || host.parse::<std::net::IpAddr>().is_ok();
    if is_address || labels.len() <= 2 {
        return host.to_owned();
    }
    let (second, last) = (labels[labels.len() - 2], labels[labels.len() - 1]);
    let kept = if last.len() == 2 && second.len() <= 3 { 3 } else { 2 };
    labels[labels.len() - kept..].join(".")
}

/// Whether a cookie counts visitors.
pub(super) fn is_analytics_cookie(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ANALYTICS_COOKIES.iter().any(|start| lower.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_files_are_recognised() {
        let check = |resource: &str, kind: &str, address: &str, expect: bool| {
            assert_eq!(is_static(resource, kind, address, "GET"), expect, "{resource} {kind} {address}");
        };
        check("image", "", "https://h/a", true);
        check("xhr", "text/css", "https://h/a.css", false);
        check("", "text/css; charset=utf-8", "https://h/a", true);
        check("", "text/html", "https://h/page.js", false);
        check("", "", "https://h/a.PNG?x=1", true);
        check("", "application/json", "https://h/api", false);
        assert!(!is_static("", "image/png", "https://h/upload", "POST"));
    }

    #[test]
    fn sites_of_hosts() {
        let check = |host: &str, expect: &str| assert_eq!(site(host), expect);
        check("www.shop.example", "shop.example");
        check("api.shop.co.uk", "shop.co.uk");
        check("127.0.0.1", "127.0.0.1");
        check("localhost", "localhost");
    }
}
