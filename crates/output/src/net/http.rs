//! A small blocking HTTP client for exports: POST, keep-alive, TLS.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use ureq::tls::{Certificate, ClientCert, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::SendError;
use crate::OutputError;

/// Bytes of an answer that are read; an error message is in the first of them.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Characters of an answer that are shown.
const SHOWN_CHARS_MAX: usize = 300;

/// The settings of an endpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HttpSettings {
    /// Whether any certificate will do.
    pub(crate) skips_verification: bool,
    /// The proxy's URL. The environment's proxies are for the load and not for exports, as in k6.
    pub(crate) proxy: Option<String>,
    /// A PEM file with the certificates that are trusted, instead of the machine's.
    pub(crate) authority: Option<String>,
    /// A PEM file with our own certificates, for endpoints that ask for them.
    pub(crate) certificate: Option<String>,
    /// A PEM file with the private key of the first of them.
    pub(crate) key: Option<String>,
}

/// Posts to one endpoint over connections that it keeps.
pub(crate) struct HttpClient {
    agent: Agent,
}

/// An endpoint's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) status: u16,
    /// How long the endpoint asks to wait (`Retry-After` in seconds; RFC 9110, 10.2.3).
    pub(crate) retry_after: Option<Duration>,
    /// The beginning of the body.
    pub(crate) body: String,
}

impl HttpClient {
    /// A client for `url`.
    ///
    /// # Errors
    /// The URL, or the proxy's, is none; or a PEM file cannot be read.
    pub(crate) fn new(url: &str, settings: &HttpSettings) -> Result<HttpClient, OutputError> {
        let refuse = |setting: &str, value: &str| OutputError::Setting {
            setting: setting.into(),
            value: value.into(),
            expected: "a URL such as http://localhost:8086",
        };
        let uri: ureq::http::Uri = url.parse().map_err(|_| refuse("the address", url))?;
        let scheme = uri.scheme_str().unwrap_or_default();
        if !matches!(scheme, "http" | "https") || uri.host().is_none_or(str::is_empty) {
            return Err(refuse("the address", url));
        }
        let proxy = settings.proxy.as_deref();
        let proxy =
            proxy.map(|proxy| Proxy::new(proxy).map_err(|_| refuse("the proxy", proxy))).transpose()?;
        let roots = match &settings.authority {
            Some(path) => RootCerts::Specific(Arc::new(certificates(path)?)),
            None if scheme == "https" => roots(),
            None => RootCerts::WebPki,
        };
        let tls = TlsConfig::builder()
            .root_certs(roots)
            .client_cert(client_certificate(settings)?)
            .disable_verification(settings.skips_verification);
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy)
            .tls_config(tls.build())
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
        Ok(HttpClient { agent: config.build().new_agent() })
    }

    /// Posts `body`.
    ///
    /// # Errors
    /// No answer came.
    pub(crate) fn post(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
        within: Duration,
    ) -> Result<Answer, SendError> {
        let request = self.agent.post(url);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.config().timeout_global(Some(within)).build();
        let mut answer =
            request.send(body).map_err(|error| SendError::Retry { why: error.to_string(), after: None })?;
        let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|text| text.parse().ok()).map(Duration::from_secs);
        let status = answer.status().as_u16();
        // An answer that is too long, or no text, says nothing that could be shown.
        let body = ::answer::read_text(answer.body_mut(), ANSWER_BYTES_MAX);
        Ok(Answer { status, retry_after, body: body.unwrap_or_default() })
    }
}

impl Answer {
    /// Whether the endpoint took the payload, and if not, whether it might another time: 408, 429 and 5xx pass.
    ///
    /// # Errors
    /// It did not take it.
    pub(crate) fn accepted(&self) -> Result<(), SendError> {
        let why = || {
            let shown: String = self.body.trim().chars().take(SHOWN_CHARS_MAX).collect();
            let blank = if shown.is_empty() { "" } else { " " };
            format!("the endpoint answered {}{blank}{}", self.status, shown.escape_debug())
        };
        match self.status {
            200..=299 => Ok(()),
            408 | 429 | 500..=599 => Err(SendError::Retry { why: why(), after: self.retry_after }),
            _ => Err(SendError::Refused { why: why(), lost: None }),
        }
    }
}

/// The certificate that we show; `None` where no file is named.
fn client_certificate(settings: &HttpSettings) -> Result<Option<ClientCert>, OutputError> {
    let (certificate, key_path) = match (&settings.certificate, &settings.key) {
        (None, None) => return Ok(None),
        (Some(certificate), Some(key)) => (certificate, key),
        (Some(path), None) => return Err(refuse_pem(path, "of use without its private key")),
        (None, Some(path)) => return Err(refuse_pem(path, "of use without its certificate")),
    };
    let chain = certificates(certificate)?;
    let key = pem(key_path)?.into_iter().find_map(|item| match item {
        PemItem::PrivateKey(key) => Some(key),
        _ => None,
    });
    let key = key.ok_or_else(|| refuse_pem(key_path, "a PEM file with a private key"))?;
    Ok(Some(ClientCert::new_with_certs(&chain, key)))
}

/// The certificates in a PEM file, at least one.
fn certificates(path: &str) -> Result<Vec<Certificate<'static>>, OutputError> {
    let certificates: Vec<_> = pem(path)?
        .into_iter()
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(refuse_pem(path, "a PEM file with certificates"));
    }
    Ok(certificates)
}

fn pem(path: &str) -> Result<Vec<PemItem<'static>>, OutputError> {
    let bytes = std::fs::read(path).map_err(|_| refuse_pem(path, "a file that can be read"))?;
    let items: Result<Vec<_>, _> = parse_pem(&bytes).collect();
    items.map_err(|_| refuse_pem(path, "a PEM file"))
}

fn refuse_pem(path: &str, expected: &'static str) -> OutputError {
    OutputError::Setting { setting: "a certificate".into(), value: path.into(), expected }
}

/// The machine's certificates, or Mozilla's where it has none.
fn roots() -> RootCerts {
    let native = rustls_native_certs::load_native_certs().certs;
    if native.is_empty() {
        return RootCerts::WebPki;
    }
    let certificates = native.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    RootCerts::Specific(Arc::new(certificates))
}

/// The bytes in gzip (RFC 1952), fast rather than small: lines of one export repeat themselves.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 8), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory takes every byte")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::testing::HttpFixture;

    #[track_caller]
    fn check(status: u16, body: &str, expect: Result<(), SendError>) {
        let fixture = HttpFixture::start(vec![format!(
            "HTTP/1.1 {status} X\r\nRetry-After: 7\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )]);
        let client = HttpClient::new(&fixture.url, &HttpSettings::default()).expect("a URL");
        let answer = client.post(&fixture.url, &[("X-A", "b")], b"hello", Duration::from_secs(5));
        assert_eq!(answer.expect("an answer").accepted(), expect);
        let request = fixture.requests().remove(0);
        assert!(request.head.to_lowercase().contains("x-a: b"), "{}", request.head);
        assert_eq!(request.body, b"hello");
    }

    #[test]
    fn answers_decide_whether_to_try_again() {
        let after = Some(Duration::from_secs(7));
        let retry = |why: &str| Err(SendError::Retry { why: why.into(), after });
        check(200, "x", Ok(()));
        check(503, "busy", retry("the endpoint answered 503 busy"));
        check(429, "", retry("the endpoint answered 429"));
        let why = r"the endpoint answered 400 no\u{1b}[31m".into();
        check(400, "no\x1b[31m", Err(SendError::Refused { why, lost: None }));
    }

    #[test]
    fn answers_are_bounded_once_decompressed() {
        let server = testkit::http::start();
        // 32 KB on the network, less than an answer may have.
        let url = server.url("/bomb?mib=32");
        let client = HttpClient::new(&url, &HttpSettings::default()).expect("a URL");
        let answer = client.post(&url, &[], b"", Duration::from_secs(20)).expect("an answer");
        assert_eq!((answer.status, answer.body.len()), (200, 0), "nothing of it is kept");
    }

    #[test]
    fn silence_is_tried_again() {
        let client = HttpClient::new("http://127.0.0.1:1", &HttpSettings::default()).expect("a URL");
        let answer = client.post("http://127.0.0.1:1/", &[], b"", Duration::from_secs(5));
        assert!(matches!(answer, Err(SendError::Retry { .. })), "{answer:?}");
    }

    #[test]
    fn certificates_are_read_before_the_run() {
        let folder = std::env::temp_dir().join(format!("plimsoll-pem-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("a file");
            Some(path.display().to_string())
        };
        let block = |what: &str| format!("-----BEGIN {what}-----\nAAAA\n-----END {what}-----\n");
        let certificate = file("cert.pem", &block("CERTIFICATE"));
        let key = file("key.pem", &block("PRIVATE KEY"));
        let empty = file("empty.pem", "");
        let check =
            |authority: &Option<String>, certificate: &Option<String>, key: &Option<String>, expect| {
                let (authority, certificate, key) = (authority.clone(), certificate.clone(), key.clone());
                let settings = HttpSettings { authority, certificate, key, ..HttpSettings::default() };
                assert_eq!(HttpClient::new("https://x", &settings).is_ok(), expect, "{settings:?}");
            };
        check(&certificate, &certificate, &key, true);
        check(&empty, &None, &None, false);
        check(&Some("/nonexistent".into()), &None, &None, false);
        check(&None, &empty, &key, false);
        check(&None, &certificate, &certificate, false);
        check(&None, &certificate, &None, false);
        check(&None, &None, &key, false);
        std::fs::remove_dir_all(&folder).expect("the folder");
    }

    #[test]
    fn addresses_are_checked_before_the_run() {
        for url in ["", "localhost:8086", "ftp://x", "http://", "http://a b"] {
            assert!(HttpClient::new(url, &HttpSettings::default()).is_err(), "{url}");
        }
        let settings = HttpSettings { proxy: Some("::".into()), ..HttpSettings::default() };
        assert!(HttpClient::new("https://x", &settings).is_err());
        assert!(HttpClient::new("https://x", &HttpSettings::default()).is_ok());
    }
}
