//! One GET over TLS. The machine's certificates count (and `SSL_CERT_FILE`, `SSL_CERT_DIR`), and so do `HTTPS_PROXY` and
//! `NO_PROXY`.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use crate::MODULE_BYTES_MAX;

/// So many redirects are followed; k6's limit.
pub(crate) const REDIRECTS_MAX: u32 = 10;

/// Why a server did not give a module.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// The network, or the server's bad day.
    #[error("{0}")]
    Passing(String),
    /// The answer, which will be the same the next time.
    #[error("{0}")]
    Lasting(String),
}

impl Refusal {
    /// Whether it might go better another time, so that an older copy may stand in.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Refusal::Passing(_))
    }
}

/// Fetches modules. Made when the first is wanted: reading the machine's certificates takes a while.
pub(crate) struct Client {
    timeout: Duration,
    agent: OnceLock<Agent>,
}

impl Client {
    pub(crate) fn new(timeout: Duration) -> Client {
        Client { timeout, agent: OnceLock::new() }
    }

    /// The body that a URL gives. It is fetched on a thread of its own, because a script is loaded on a coroutine whose
    /// stack is too small for a TLS handshake.
    pub(crate) fn get(&self, url: &str) -> Result<Vec<u8>, Refusal> {
        let fetch = || get(self.agent.get_or_init(|| agent(self.timeout)), url);
        std::thread::scope(|scope| scope.spawn(fetch).join())
            .unwrap_or_else(|_| Err(Refusal::Lasting("the client failed".into())))
    }
}

fn get(agent: &Agent, url: &str) -> Result<Vec<u8>, Refusal> {
    let mut answer = agent.get(url).call().map_err(|error| refusal(&error))?;
    let status = answer.status();
    match status.as_u16() {
        200..=299 => {}
        404 | 410 => {
            return Err(Refusal::Lasting(format!(
                "the server answered {status}; check the URL and the version in it"
            )));
        }
        401 | 403 => {
            let why = "modules are fetched without credentials; download the file and import it from disk";
            return Err(Refusal::Lasting(format!("the server answered {status}: {why}")));
        }
        408 | 429 | 500..=599 => return Err(Refusal::Passing(format!("the server answered {status}"))),
        _ => return Err(Refusal::Lasting(format!("the server answered {status}"))),
    }
    let read = ::answer::read(answer.body_mut(), MODULE_BYTES_MAX);
    let bytes = read.map_err(|error| refusal(&error))?;
    if std::str::from_utf8(&bytes).is_err() {
        return Err(Refusal::Lasting("what the server sent is not UTF-8 text, and so no script".into()));
    }
    if is_page(&bytes) {
        let why = "what the server sent is a web page and no script; give the URL of the raw file";
        return Err(Refusal::Lasting(why.into()));
    }
    Ok(bytes)
}

/// Code hosts show a page around a file at one URL and the file itself at another.
fn is_page(bytes: &[u8]) -> bool {
    let start: Vec<u8> = bytes.trim_ascii_start().iter().take(14).map(u8::to_ascii_lowercase).collect();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

fn refusal(error: &ureq::Error) -> Refusal {
    match error {
        ureq::Error::BodyExceedsLimit(_) => {
            Refusal::Lasting(format!("it is larger than {MODULE_BYTES_MAX} bytes, which is the limit"))
        }
        ureq::Error::RequireHttpsOnly(url) => {
            Refusal::Lasting(format!("the server redirects to {url}, which is not https://"))
        }
        ureq::Error::TooManyRedirects | ureq::Error::RedirectFailed => {
            Refusal::Lasting(format!("the server redirects more than {REDIRECTS_MAX} times"))
        }
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => Refusal::Lasting(error.to_string()),
        ureq::Error::HostNotFound => {
            Refusal::Passing("its host was not found; check the name, or import a copy on disk".into())
        }
        ureq::Error::Timeout(_) => {
            Refusal::Passing("no answer in time; check the network, or import a copy on disk".into())
        }
        _ => tls_or_network(&error.to_string()),
    }
}

/// A certificate that is not trusted is no matter of the network: an older copy must not hide it.
fn tls_or_network(text: &str) -> Refusal {
    if text.contains("certificate") {
        return Refusal::Lasting(format!("{text}; name the authority's PEM file in SSL_CERT_FILE"));
    }
    Refusal::Passing(format!("{text}; check the network, and HTTPS_PROXY if there is a proxy"))
}

fn agent(timeout: Duration) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .https_only(true)
        .max_redirects(REDIRECTS_MAX)
        .timeout_global(Some(timeout))
        .proxy(Proxy::try_from_env())
        .tls_config(TlsConfig::builder().root_certs(roots()).build())
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
    config.build().new_agent()
}

/// The machine's certificates, shared by every client of this crate; Mozilla's where the machine has none.
pub(crate) fn roots() -> RootCerts {
    let native = rustls_native_certs::load_native_certs().certs;
    if native.is_empty() {
        return RootCerts::WebPki;
    }
    let certificates = native.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    RootCerts::Specific(Arc::new(certificates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_bounded_once_decompressed() {
        let server = testkit::http::start();
        // An agent that needs no https://.
        let fetch = |mib: u64| get(&Agent::new_with_defaults(), &server.url(&format!("/bomb?mib={mib}")));
        assert_eq!(fetch(1).ok().map(|module| module.len()), Some(1 << 20));
        // 64 KB on the network.
        let refused = fetch(64).err().map(|refusal| (refusal.may_pass(), refusal.to_string()));
        assert!(refused.is_some_and(|(may_pass, why)| !may_pass && why.contains("larger than")));
    }

    #[test]
    fn pages_are_no_scripts() {
        for (text, expect) in [
            ("\n <!DOCTYPE html><html>", true),
            ("<HTML lang=en>", true),
            ("export const html = '<html>';", false),
            ("", false),
        ] {
            assert_eq!(is_page(text.as_bytes()), expect, "{text}");
        }
    }
}
