//! From a request to its HTTP/2 header fields.

use std::fmt::Write as _;

use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Uri};

use crate::encode::{check_header, content_length, is_ours};
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::request::Request;

/// Headers that belong to a connection, which HTTP/2 forbids (RFC 9113, 8.2.2); as in Go, they are left out.
const FORBIDDEN: [&str; 5] = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// The header fields of `request`.
///
/// # Errors
/// A header's name is no token, its value could break out of its line, or `Host` is no authority.
pub(crate) fn encode(request: &Request) -> Result<http::Request<()>, Error> {
    let mut host = request.target.authority();
    let mut headers = HeaderMap::with_capacity(request.headers.len() + 2);
    for (name, value) in &request.headers {
        check_header(name, value)?;
        if name.eq_ignore_ascii_case("host") {
            host = value;
        }
        if !is_ours(name) && !FORBIDDEN.iter().any(|forbidden| name.eq_ignore_ascii_case(forbidden)) {
            headers.append(field_name(name)?, field_value(value)?);
        }
    }
    if let Some(user_agent) = request.user_agent.as_deref().filter(|_| !headers.contains_key(USER_AGENT)) {
        check_header("User-Agent", user_agent)?;
        headers.insert(USER_AGENT, field_value(user_agent)?);
    }
    if let Some(body_bytes) = content_length(request) {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body_bytes));
    }
    let method = http::Method::from_bytes(request.method.as_str().as_bytes());
    let mut message = http::Request::new(());
    *message.method_mut() = method.map_err(|_| invalid("method", request.method.as_str()))?;
    *message.uri_mut() = uri(host, request.target.path_and_query())?;
    *message.headers_mut() = headers;
    Ok(message)
}

fn uri(host: &str, path_and_query: &str) -> Result<Uri, Error> {
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(Authority::try_from(host).map_err(|_| invalid("host", host))?);
    let path =
        PathAndQuery::try_from(path_and_query).or_else(|_| PathAndQuery::try_from(quoted(path_and_query)));
    parts.path_and_query = Some(path.map_err(|_| invalid("path", path_and_query))?);
    Uri::from_parts(parts).map_err(|_| invalid("URL", path_and_query))
}

/// The text with what the library refuses and Go lets through percent-encoded.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        if byte.is_ascii_graphic()
            && !matches!(byte, b'"' | b'<' | b'>' | b'`' | b'{' | b'|' | b'}' | b'\\' | b'^' | b'#')
        {
            quoted.push(byte.into());
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(quoted, "%{byte:02X}");
        }
    }
    quoted
}

fn field_name(name: &str) -> Result<HeaderName, Error> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("header field name", name))
}

fn field_value(value: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid("header field value", value))
}

fn invalid(what: &str, text: &str) -> Error {
    let message = format!("http2: invalid {what} {text:?}");
    Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, message)
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::*;
    use crate::request::{Body, Method};
    use crate::target::Target;

    fn encoded(
        method: &str,
        url: &str,
        headers: &[(&'static str, &str)],
        body: &'static str,
    ) -> Result<String, String> {
        let mut request =
            Request::new(Method::parse(method).unwrap(), Target::parse(url).unwrap(), Instant::MAX);
        request.headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).to_owned())).collect();
        request.user_agent = Some("ours".into());
        request.body = Body::Bytes(body.into());
        let message = encode(&request).map_err(|error| error.message)?;
        let mut text = format!("{} {}", message.method(), message.uri());
        for (name, value) in message.headers() {
            let _ = write!(text, " {name}={}", String::from_utf8_lossy(value.as_bytes()));
        }
        Ok(text)
    }

    #[test]
    fn requests_become_fields() {
        let check = |method, url, headers: &[(&'static str, &str)], body, expect: &str| {
            assert_eq!(encoded(method, url, headers, body).as_deref(), Ok(expect), "{method} {url}");
        };
        check("GET", "https://h:81/p?q=1#f", &[], "", "GET https://h:81/p?q=1 user-agent=ours");
        check("GET", "https://h", &[("User-Agent", "mine")], "", "GET https://h/ user-agent=mine");
        check("POST", "https://h/", &[], "", "POST https://h/ user-agent=ours content-length=0");
        check("DELETE", "https://h/", &[], "ab", "DELETE https://h/ user-agent=ours content-length=2");
        let own = [
            ("Host", "x.y:1"),
            ("Connection", "close"),
            ("Keep-Alive", "1"),
            ("X-É".trim_end_matches('É'), "é"),
        ];
        check("PURGE", "https://h/", &own, "", "PURGE https://x.y:1/ x-=é user-agent=ours");
        check("GET", "https://h/?a=<\"{}>", &[], "", "GET https://h/?a=%3C%22%7B%7D%3E user-agent=ours");
    }

    #[test]
    fn fields_cannot_break_out() {
        let check = |headers: &[(&'static str, &str)], expect: &str| {
            let error = encoded("GET", "https://h/", headers, "").unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        check(&[("a b", "x")], "invalid header field name");
        check(&[("x-a", "x\r\ny")], "invalid header field value");
        check(&[("Host", "a b")], "invalid host");
    }
}
