//! HTTP client of sources: limits time and bytes, and keeps credentials out of messages.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use ureq::http::{Response, StatusCode, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::contract::{CALL_LIMIT, ErrorKind, SourceError};
use crate::settings::{Settings, SettingsError};

/// Maximum size of a response, bytes.
const ANSWER_BYTES_MAX: u64 = 32 << 20;

/// Accepts any media type (RFC 9110, 12.5.1).
const ANY: &str = "*/*";

/// The trace context of every request (W3C Trace Context, section 3.2): its flag says that the request is not sampled, so that a
/// target that honours it records no span for a scrape.
const UNSAMPLED: &str = "00-706c696d736f6c6c2d65766964656e63-706c696d736f6c6c-00";

/// Header that selects the tenant (Loki, Tempo and Pyroscope, multi-tenancy).
const TENANT: &str = "x-scope-orgid";

/// Maximum length of an error response in messages.
const REFUSAL_CHARS_MAX: usize = 200;

/// HTTP client for one server.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
    /// Base URL without a trailing slash and without credentials.
    base: String,
    authorization: Option<String>,
    tenant: Option<String>,
}

impl Client {
    /// Returns a client for URLs below `base`. `authorization` is the value of that header.
    pub(crate) fn new(base: &str, authorization: Option<String>) -> Client {
        Client::patient(base, authorization, CALL_LIMIT / 2)
    }

    /// Returns a client with another time limit.
    pub(crate) fn patient(base: &str, authorization: Option<String>, limit: Duration) -> Client {
        Client::with_tls(base, authorization, limit, TlsConfig::default())
    }

    /// Returns a client that trusts only the authorities in a PEM text.
    ///
    /// # Errors
    /// The text has no certificate.
    pub(crate) fn trusting(
        base: &str,
        authorization: Option<String>,
        limit: Duration,
        pem: &[u8],
    ) -> Result<Client, &'static str> {
        let items = parse_pem(pem).filter_map(Result::ok);
        let certificates = items.filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        });
        let certificates: Vec<_> = certificates.collect();
        if certificates.is_empty() {
            return Err("the file contains no PEM certificate");
        }
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)).build();
        Ok(Client::with_tls(base, authorization, limit, tls))
    }

    fn with_tls(base: &str, authorization: Option<String>, limit: Duration, tls: TlsConfig) -> Client {
        let config = Agent::config_builder()
            .timeout_global(Some(limit))
            .http_status_as_error(false)
            .max_redirects(3)
            .tls_config(tls)
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .build();
        let (base, authorization) = (base.trim_end_matches('/').to_owned(), authorization);
        Client { agent: config.into(), base, authorization, tenant: None }
    }

    /// Sets the tenant whose data is requested, for servers with several.
    pub(crate) fn of_tenant(self, tenant: Option<&String>) -> Client {
        Client { tenant: tenant.cloned(), ..self }
    }

    /// Base URL.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Requests a path with query parameters, and returns the text.
    ///
    /// # Errors
    /// The server is unreachable, or the response is not 2xx, too long, or not text.
    pub(crate) fn text(&self, path: &str, parameters: &[(&str, &str)]) -> Result<String, SourceError> {
        let mut answer = self.ask(path, parameters, ANY)?;
        let body = ::answer::read_text(answer.body_mut(), ANSWER_BYTES_MAX);
        body.map_err(|error| SourceError::new(format!("GET {}{path}: {error}", self.base)))
    }

    /// Requests a path with a media type, and returns at most `bytes_max` bytes.
    ///
    /// # Errors
    /// The server is unreachable, or the response is not 2xx or too long.
    pub(crate) fn bytes(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        form: &str,
        bytes_max: u64,
    ) -> Result<Vec<u8>, SourceError> {
        let mut answer = self.ask(path, parameters, form)?;
        let body = ::answer::read(answer.body_mut(), bytes_max);
        body.map_err(|error| SourceError::new(format!("GET {}{path}: {error}", self.base)))
    }

    fn ask(
        &self,
        path: &str,
        parameters: &[(&str, &str)],
        form: &str,
    ) -> Result<Response<Body>, SourceError> {
        let url = format!("{}{path}", self.base);
        let mut request = self
            .agent
            .get(&url)
            .query_pairs(parameters.iter().copied())
            .header("accept", form)
            .header("traceparent", UNSAMPLED);
        if let Some(value) = &self.authorization {
            request = request.header("authorization", value);
        }
        if let Some(tenant) = &self.tenant {
            request = request.header(TENANT, tenant);
        }
        let mut answer = request.call().map_err(|error| SourceError::new(format!("GET {url}: {error}")))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let body = ::answer::read_text(answer.body_mut(), ANSWER_BYTES_MAX);
        Err(refused(&url, status, &body.unwrap_or_default()))
    }

    /// Requests a path, and returns the JSON.
    ///
    /// # Errors
    /// As of [`Client::text`], or the response is not JSON.
    pub(crate) fn json(&self, path: &str, parameters: &[(&str, &str)]) -> Result<Value, SourceError> {
        let text = self.text(path, parameters)?;
        serde_json::from_str(&text).map_err(|error| {
            SourceError::new(format!("GET {}{path}: the response is not JSON: {error}", self.base))
        })
    }
}

fn refused(url: &str, status: StatusCode, body: &str) -> SourceError {
    let words = body.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = words.chars().take(REFUSAL_CHARS_MAX).collect();
    let (kind, hint) = match status {
        StatusCode::UNAUTHORIZED => {
            (ErrorKind::Unauthenticated, "; the server requires a user and password, or a token")
        }
        StatusCode::FORBIDDEN => (ErrorKind::Forbidden, "; the user lacks the permission to read this"),
        StatusCode::NOT_FOUND => (ErrorKind::NotFound, ""),
        _ => (ErrorKind::Other, ""),
    };
    let colon = if shown.is_empty() { "" } else { ": " };
    let message = format!("GET {url}: {status}{colon}{shown}{hint}");
    SourceError::classified(kind, message.trim_end_matches('.'))
}

/// Returns the endpoint of a source: base URL and authorization, from the address, the credential, and the user in the address or
/// in the setting `user`.
///
/// # Errors
/// The address is invalid.
pub(crate) fn door(settings: &Settings) -> Result<Door, SettingsError> {
    let (base, user) = address(&settings.address).map_err(|why| settings.wrong("address", why))?;
    let user = settings.values.get("user").cloned().or(user);
    let authorization = authorization(user.as_deref(), settings.credential.as_deref());
    Ok(Door { base, user, authorization })
}

/// Endpoint of a source.
pub(crate) struct Door {
    /// Base URL without a user and without a trailing slash.
    pub(crate) base: String,
    pub(crate) user: Option<String>,
    pub(crate) authorization: Option<String>,
}

/// Returns the value of an `authorization` header: a user and a password (RFC 7617), or a token (RFC 6750) without a user.
pub(crate) fn authorization(user: Option<&str>, credential: Option<&str>) -> Option<String> {
    let credential = credential?;
    Some(match user {
        Some(user) => format!("Basic {}", STANDARD.encode(format!("{user}:{credential}"))),
        None => format!("Bearer {credential}"),
    })
}

/// Splits an address into the URL without user and password, and the user.
///
/// # Errors
/// The text is no `http` or `https` URL, or contains a password, which belongs into an environment variable or a file.
pub(crate) fn address(text: &str) -> Result<(String, Option<String>), &'static str> {
    let uri: Uri = text.parse().map_err(|_| "expected a URL, for example http://localhost:9090")?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme));
    let scheme = scheme.ok_or("expected a URL that begins with http:// or https://")?;
    let authority = uri.authority().ok_or("the host is missing")?.as_str();
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if user.is_some_and(|user| user.contains(':')) {
        return Err("it contains a password; set the password in the environment or in a file");
    }
    let path = uri.path().trim_end_matches('/');
    Ok((format!("{scheme}://{host}{path}"), user.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_become_headers() {
        let header = |user, credential| authorization(user, credential);
        // RFC 7617, 2.
        let basic = header(Some("Aladdin"), Some("open sesame"));
        assert_eq!(basic.as_deref(), Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="));
        assert_eq!(header(None, Some("t0ken")).as_deref(), Some("Bearer t0ken"));
        assert_eq!(header(Some("guest"), None), None);
    }

    #[test]
    fn requests_ask_not_to_be_traced() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = [0_u8; 2048];
            let length = stream.read(&mut request).expect("a request");
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
                .expect("sent");
            String::from_utf8_lossy(&request[..length]).to_lowercase()
        });
        assert_eq!(Client::new(&base, None).text("/metrics", &[]).ok().as_deref(), Some("ok"));
        let request = server.join().expect("a request");
        // W3C Trace Context: version, trace, parent, and the flag for not sampled.
        let context = request.lines().find_map(|line| line.strip_prefix("traceparent: ")).unwrap_or_default();
        let lengths: Vec<usize> = context.split('-').map(str::len).collect();
        assert!(lengths == [2, 32, 16, 2] && context.ends_with("-00"), "{context}");
    }

    #[test]
    fn answers_are_bounded_once_decompressed() {
        let server = testkit::http::start();
        let client = Client::new(&server.url(""), None);
        let bytes = |mib: &str, bytes_max| client.bytes("/bomb", &[("mib", mib)], ANY, bytes_max);
        assert_eq!(bytes("1", 1 << 20).map(|bytes| bytes.len()).ok(), Some(1 << 20));
        assert!(bytes("64", 1 << 20).is_err_and(|error| error.to_string().contains("limit")));
        assert!(
            client.text("/bomb", &[("mib", "64")]).is_err_and(|error| error.to_string().contains("limit"))
        );
    }

    #[test]
    fn addresses_lose_their_users_and_refuse_passwords() {
        assert_eq!(address("http://a@h:1/x/"), Ok(("http://h:1/x".to_owned(), Some("a".to_owned()))));
        assert_eq!(address("https://h"), Ok(("https://h".to_owned(), None)));
        assert!(address("http://a:secret@h").is_err_and(|why| why.contains("environment")));
        assert!(address("h:9090").is_err() && address("ftp://h").is_err() && address("").is_err());
    }
}
