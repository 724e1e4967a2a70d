//! Redirects and cookies.

use serde_json::{Map, Value, json};

use super::Route;
use crate::reply::Reply;
use crate::request::{Request, percent_decode};

pub(super) const ROUTES: &[Route] = &[
    Route { segment: "redirect", answer: redirect },
    Route { segment: "redirect-to", answer: redirect_to },
    Route { segment: "redirect-loop", answer: |_, _| to(302, "/redirect-loop") },
    Route { segment: "cookies", answer: cookies },
];

/// `/redirect/N`: N redirects, the last one to `/get`.
fn redirect(_: &Request, rest: &[&str]) -> Reply {
    match rest.first().and_then(|left| left.parse::<u64>().ok()) {
        Some(0 | 1) => to(302, "/get"),
        Some(left) => to(302, &format!("/redirect/{}", left - 1)),
        None => Reply::text(400, "a number of redirects is needed\n"),
    }
}

/// `/redirect-to?url=U&status=N`: one redirect to U, 302 by default.
fn redirect_to(request: &Request, _: &[&str]) -> Reply {
    let Some(url) = request.query_value("url") else { return Reply::text(400, "url is needed\n") };
    match request.query_number("status", 302) {
        status @ 300..=399 => to(status as u16, &url),
        _ => Reply::text(400, "status is a number from 300 to 399\n"),
    }
}

/// `/cookies`: what the client sent; `/cookies/set?k=v` and `/cookies/delete?k` set and expire cookies and lead
/// back to it. `/cookies/set-with?cookie=TEXT` sends TEXT as it is, attributes included, and stays.
fn cookies(request: &Request, rest: &[&str]) -> Reply {
    let set: Vec<String> = match rest {
        [] => {
            let pairs = request.cookies().into_iter().map(|(name, value)| (name, Value::from(value)));
            return Reply::json(200, &json!({"cookies": pairs.collect::<Map<_, _>>()}));
        }
        ["set"] => {
            request.query_pairs().iter().map(|(name, value)| format!("{name}={value}; Path=/")).collect()
        }
        ["set", name, value] => {
            vec![format!("{}={}; Path=/", percent_decode(name, false), percent_decode(value, false))]
        }
        ["set-with"] => {
            let texts = request.query_pairs().into_iter().filter(|(name, _)| name == "cookie");
            let texts: Vec<String> = texts.map(|(_, text)| text).collect();
            return Reply::new(200, &set_cookie(&texts), b"{}");
        }
        ["delete"] => {
            let names = request.query_pairs().into_iter();
            names
                .map(|(name, _)| format!("{name}=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"))
                .collect()
        }
        _ => return Reply::text(404, "no such cookie route\n"),
    };
    let mut headers = set_cookie(&set);
    headers.push(("location", "/cookies"));
    Reply::new(302, &headers, b"")
}

fn set_cookie(texts: &[String]) -> Vec<(&str, &str)> {
    texts.iter().map(|text| ("set-cookie", text.as_str())).collect()
}

fn to(status: u16, location: &str) -> Reply {
    Reply::new(status, &[("location", location)], b"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Client, get};
    use crate::http::start;

    #[test]
    fn redirects_lead_on() {
        let server = start();
        for (target, status, location) in [
            ("/redirect/3", 302, Some("/redirect/2")),
            ("/redirect/1", 302, Some("/get")),
            ("/redirect-loop", 302, Some("/redirect-loop")),
            ("/redirect-to?url=http%3A%2F%2Fh%2F&status=307", 307, Some("http://h/")),
            ("/redirect-to?url=/x", 302, Some("/x")),
            ("/redirect-to?url=/x&status=200", 400, None),
            ("/redirect/x", 400, None),
        ] {
            let response = get(&server, target);
            assert_eq!((response.status, response.header("location")), (status, location), "{target}");
        }
    }

    #[test]
    fn cookies_are_set_shown_and_expired() {
        let server = start();
        for (target, expect) in [
            ("/cookies/set?a=1", "a=1; Path=/"),
            ("/cookies/set/b/2%203", "b=2 3; Path=/"),
            ("/cookies/set-with?cookie=c%3D3%3B+Secure", "c=3; Secure"),
            ("/cookies/delete?a", "a=; Path=/; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
        ] {
            assert_eq!(get(&server, target).header("set-cookie"), Some(expect), "{target}");
        }
        let shown = Client::new(&server).request("GET /cookies HTTP/1.1\r\nCookie: a=1; b=2=3\r\n\r\n");
        assert_eq!(shown.json(), json!({"cookies": {"a": "1", "b": "2=3"}}));
    }
}
