//! Single requests that are no load. The machine's certificates count, and so do `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.

use std::sync::OnceLock;
use std::time::Duration;

use ureq::http::Request;
use ureq::tls::TlsConfig;
use ureq::{Agent, Proxy};

use crate::client::{REDIRECTS_MAX, roots};

/// A request without a body.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// `GET`
    pub method: &'a str,
    /// An `http://` or `https://` URL.
    pub url: &'a str,
    /// Names and values.
    pub headers: &'a [(String, String)],
    /// For all of it.
    pub timeout: Duration,
}

/// Sends requests without a body.
pub struct Endpoint {
    body_bytes_max: u64,
    agent: OnceLock<Agent>,
}

impl Endpoint {
    /// Answers may be so large.
    pub fn new(body_bytes_max: u64) -> Endpoint {
        Endpoint { body_bytes_max, agent: OnceLock::new() }
    }

    /// The status and the body of the answer, whatever the status is. Redirects are followed; credentials go to no other
    /// host. It blocks, and needs the stack of a whole thread.
    ///
    /// # Errors
    /// A text for the user, without the URL, which may hold what is secret: there was no answer.
    pub fn send(&self, ask: &Ask<'_>) -> Result<(u16, Vec<u8>), String> {
        let agent = self.agent.get_or_init(agent);
        let mut request = Request::builder().method(ask.method).uri(escaped(ask.url));
        for (name, value) in ask.headers {
            request = request.header(name, value);
        }
        let request = request.body(()).map_err(|error| error.to_string())?;
        let configured = agent.configure_request(request).timeout_global(Some(ask.timeout));
        let request = configured.allow_non_standard_methods(true).build();
        let mut answer = agent.run(request).map_err(|error| error.to_string())?;
        let body = ::answer::read(answer.body_mut(), self.body_bytes_max);
        Ok((answer.status().as_u16(), body.map_err(|error| error.to_string())?))
    }
}

/// Escapes characters that a URL cannot contain; escapes in the input stay.
fn escaped(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let mut escaped = String::with_capacity(url.len());
    for byte in url.bytes() {
        match byte {
            b'!'..=b'~' if !b"\"<>\\^`{|}".contains(&byte) => escaped.push(char::from(byte)),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

fn agent() -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(REDIRECTS_MAX)
        .proxy(Proxy::try_from_env())
        .tls_config(TlsConfig::builder().root_certs(roots()).build())
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_escaped_and_not_twice() {
        for (url, expect) in [
            ("http://h/a b/ü?x=1#part", "http://h/a%20b/%C3%BC?x=1"),
            ("https://h/a%20b", "https://h/a%20b"),
            ("http://h/{x}", "http://h/%7Bx%7D"),
        ] {
            assert_eq!(escaped(url), expect);
        }
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        let endpoint = Endpoint::new(10);
        let ask =
            |method, url| endpoint.send(&Ask { method, url, headers: &[], timeout: Duration::from_secs(1) });
        assert!(ask("GET", "ftp://127.0.0.1/x").is_err());
        assert!(ask("G T", "http://127.0.0.1/x").is_err());
        assert!(ask("GET", "http://127.0.0.1:1/x").is_err());
    }

    #[test]
    fn answers_are_bounded_once_decompressed() {
        let server = testkit::http::start();
        let get = |path: &str| {
            let (url, timeout) = (server.url(path), Duration::from_secs(10));
            let answer =
                Endpoint::new(1 << 20).send(&Ask { method: "GET", url: &url, headers: &[], timeout });
            answer.map(|(status, body)| (status, body.len()))
        };
        assert_eq!(get("/bomb?mib=1"), Ok((200, 1 << 20)));
        // A thousandth of it on the network.
        assert!(get("/bomb?mib=64").is_err_and(|error| error.contains("limit")));
    }
}
