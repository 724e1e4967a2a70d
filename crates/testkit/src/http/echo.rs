//! Routes that return what the client sent.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::Route;
use crate::reply::Reply;
use crate::request::{Request, form_pairs};

pub(super) const ROUTES: &[Route] = &[
    Route { segment: "anything", answer: |request, _| Reply::json(200, &echo(request)) },
    Route { segment: "get", answer: |request, _| only(&["GET", "HEAD"], request) },
    Route { segment: "post", answer: |request, _| only(&["POST"], request) },
    Route { segment: "put", answer: |request, _| only(&["PUT"], request) },
    Route { segment: "patch", answer: |request, _| only(&["PATCH"], request) },
    Route { segment: "delete", answer: |request, _| only(&["DELETE"], request) },
    Route { segment: "headers", answer: headers },
    Route { segment: "response-headers", answer: response_headers },
];

/// The request in httpbin's shape: `args`, `data`, `files`, `form`, `headers`, `json`, `method`, `url`, and
/// `body_bytes`. Header names are as they were sent; values that came several times are lists.
pub(super) fn echo(request: &Request) -> Value {
    let content_type = request.header("content-type").unwrap_or_default();
    let body = String::from_utf8_lossy(&request.body);
    let (mut form, mut files) = (Vec::new(), Vec::new());
    if content_type.starts_with("application/x-www-form-urlencoded") {
        form = form_pairs(&body);
    } else if let Some(boundary) = boundary(&content_type) {
        (form, files) = multipart(&request.body, boundary);
    }
    let data = if form.is_empty() && files.is_empty() { body.as_ref() } else { "" };
    json!({
        "args": listed(request.query_pairs()),
        "body_bytes": request.body_bytes,
        "data": data,
        "files": listed(files),
        "form": listed(form),
        "headers": header_values(request),
        "json": serde_json::from_str::<Value>(data).unwrap_or(Value::Null),
        "method": request.method(),
        "url": url(request),
    })
}

fn only(methods: &[&str], request: &Request) -> Reply {
    if methods.contains(&request.method()) {
        return Reply::json(200, &echo(request));
    }
    Reply::new(405, &[("allow", &methods.join(", "))], b"")
}

fn headers(request: &Request, _: &[&str]) -> Reply {
    Reply::json(200, &json!({"headers": header_values(request)}))
}

/// `/response-headers?Name=value&…`: a reply with those headers.
fn response_headers(request: &Request, _: &[&str]) -> Reply {
    let pairs = request.query_pairs();
    let headers: Vec<(&str, &str)> = pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| is_token(name))
        .collect();
    Reply::new(200, &headers, b"{}")
}

/// Whether a client may choose this as a header's name: framing stays ours.
fn is_token(name: &str) -> bool {
    let framing =
        ["content-length", "transfer-encoding"].iter().any(|taken| name.eq_ignore_ascii_case(taken));
    !name.is_empty()
        && !framing
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn header_values(request: &Request) -> Value {
    listed(request.headers().map(|(name, value)| (name.to_owned(), value.into_owned())).collect())
}

/// A map of the pairs, in which a name that came several times has the list of its values.
fn listed(pairs: Vec<(String, String)>) -> Value {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in pairs {
        values.entry(name).or_default().push(value);
    }
    let single = |mut values: Vec<String>| match values.len() {
        1 => Value::from(values.remove(0)),
        _ => Value::from(values),
    };
    Value::Object(values.into_iter().map(|(name, values)| (name, single(values))).collect::<Map<_, _>>())
}

fn url(request: &Request) -> String {
    let scheme = if request.tls { "https" } else { "http" };
    let query = if request.query().is_empty() { String::new() } else { format!("?{}", request.query()) };
    format!("{scheme}://{}{}{query}", request.header("host").unwrap_or_default(), request.path())
}

fn boundary(content_type: &str) -> Option<&str> {
    let parameters = content_type.strip_prefix("multipart/form-data")?;
    let value = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("boundary="))?;
    Some(value.trim_matches('"')).filter(|value| !value.is_empty())
}

type Pairs = Vec<(String, String)>;

/// The fields and the files (by field name, contents as text) of a multipart form (RFC 7578).
fn multipart(body: &[u8], boundary: &str) -> (Pairs, Pairs) {
    let text = String::from_utf8_lossy(body);
    let (mut form, mut files) = (Vec::new(), Vec::new());
    for part in text.split(&format!("--{boundary}")).skip(1) {
        let Some((head, content)) = part.split_once("\r\n\r\n") else { continue };
        let Some(name) = disposition(head, "name") else { continue };
        let pair = (name, content.strip_suffix("\r\n").unwrap_or(content).to_owned());
        if disposition(head, "filename").is_some() {
            files.push(pair);
        } else {
            form.push(pair);
        }
    }
    (form, files)
}

fn disposition(head: &str, parameter: &str) -> Option<String> {
    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-disposition:"))?;
    let value = line.split(';').find_map(|part| part.trim().strip_prefix(parameter)?.strip_prefix('='))?;
    Some(value.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Client, get};
    use crate::http::start;
    use crate::request::parsed;

    #[track_caller]
    fn check(request: &str, pointer: &str, expect: Value) {
        assert_eq!(echo(&parsed(request)).pointer(pointer), Some(&expect), "{request}");
    }

    #[test]
    fn echoes() {
        check("GET /anything?a=1&a=2&b=%20 HTTP/1.1\r\n\r\n", "/args", json!({"a": ["1", "2"], "b": " "}));
        check("GET / HTTP/1.1\r\nX-One: 1\r\n\r\n", "/headers", json!({"X-One": "1"}));
        check("PUT / HTTP/1.1\r\n\r\n{\"a\":[1]}", "/json/a/0", json!(1));
        check("PUT / HTTP/1.1\r\n\r\nplain", "/data", json!("plain"));
        check("PUT / HTTP/1.1\r\n\r\nplain", "/json", Value::Null);
        check("QUERY / HTTP/1.1\r\n\r\n", "/method", json!("QUERY"));
        check("GET /anything/x?y HTTP/1.1\r\nHost: h:1\r\n\r\n", "/url", json!("http://h:1/anything/x?y"));
        let form = "POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=1&b=x+y";
        check(form, "/form", json!({"a": "1", "b": "x y"}));
        check(form, "/data", json!(""));
        let multipart = "POST / HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=\"B\"\r\n\r\n\
            --B\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nv\r\n\
            --B\r\nContent-Disposition: form-data; name=\"up\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\n\
            two\r\nlines\r\n--B--\r\n";
        check(multipart, "/form", json!({"f": "v"}));
        check(multipart, "/files", json!({"up": "two\r\nlines"}));
    }

    #[test]
    fn bodies_arrive_however_they_are_framed() {
        let server = start();
        let mut client = Client::new(&server);
        for request in [
            "POST /post HTTP/1.1\r\ncontent-length: 5\r\n\r\nhello",
            "POST /post HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2;ext=1\r\nhe\r\n3\r\nllo\r\n0\r\ntrailer: x\r\n\r\n",
        ] {
            let echo = client.request(request).json();
            assert_eq!(
                (echo["data"].as_str(), echo["body_bytes"].as_u64()),
                (Some("hello"), Some(5)),
                "{request}"
            );
        }
        client.write("POST /post HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n");
        assert_eq!(client.response().status, 100);
        assert_eq!(client.request("hello").json()["data"], "hello");
    }

    #[test]
    fn bodies_beyond_the_limit_are_counted_not_kept() {
        let server = start();
        let bytes = 9 * 1024 * 1024;
        let mut client = Client::new(&server);
        client.write(&format!("POST /post HTTP/1.1\r\ncontent-length: {bytes}\r\n\r\n"));
        let echo = client.request(&"x".repeat(bytes)).json();
        assert_eq!(echo["body_bytes"], bytes);
        assert_eq!(echo["data"].as_str().map(str::len), Some(8 * 1024 * 1024));
    }

    #[test]
    fn wrong_methods_are_refused() {
        let server = start();
        let response = get(&server, "/post");
        assert_eq!((response.status, response.header("allow")), (405, Some("POST")));
    }

    #[test]
    fn asked_for_headers_come_back_and_cannot_break_the_framing() {
        let server = start();
        let response = get(&server, "/response-headers?X-A=1&Content-Length=99&X-B=2%0d%0aX-C:3");
        assert_eq!(response.header("x-a"), Some("1"));
        assert_eq!(response.header("x-b"), Some("2X-C:3"));
        assert_eq!(response.text(), "{}");
    }
}
