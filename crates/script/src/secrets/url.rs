//! Secrets from an HTTP server: the source `url`, as k6's
//! [documentation](https://grafana.com/docs/k6/latest/using-k6/secret-source/url/) has it.
//!
//! A secret is asked for once per run, however many VUs want it: who comes second waits for the first one's answer.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::SystemClock;
use tokio::sync::OnceCell;

use super::url_config::UrlConfig;
use super::{KNOWN_MAX, SecretsError};

/// The largest answer that is read.
pub const SECRET_BYTES_MAX: u64 = 1 << 20;

/// No pause between two attempts is longer, whatever `retryBackoff` to the power of the attempt says.
const PAUSE_MAX: Duration = Duration::from_secs(300);

/// A random part is added to each pause, so that many who failed together do not return together.
const JITTER_MAX_MS: u64 = 1_000;

/// One request for a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretRequest {
    /// `GET`
    pub method: String,
    /// The template with the key in it.
    pub url: String,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// For all of it.
    pub timeout: Duration,
}

/// Reply of a server: the status, and not more than [`SECRET_BYTES_MAX`] of a body.
pub type SecretReply = (u16, Vec<u8>);

/// Carries requests to servers of secrets. It may block: it is called on a thread of its own.
pub trait SecretServer: Send + Sync {
    /// Sends a request and returns the server's reply.
    ///
    /// # Errors
    /// A text for the user: there was no answer.
    fn send(&self, request: &SecretRequest) -> Result<SecretReply, String>;
}

/// No server at all, where scripts are only looked at.
pub struct NoSecretServer;

impl SecretServer for NoSecretServer {
    fn send(&self, _request: &SecretRequest) -> Result<SecretReply, String> {
        Err("secrets cannot be fetched here".into())
    }
}

/// A server of secrets, and what it has given out.
pub(crate) struct UrlSource {
    config: UrlConfig,
    server: Arc<dyn SecretServer>,
    known: Mutex<HashMap<String, Arc<OnceCell<String>>>>,
    /// When the next request is due if they came evenly, on the run's clock.
    next_ns: Mutex<u64>,
}

impl UrlSource {
    pub(super) fn new(
        entries: &[String],
        env: &BTreeMap<String, String>,
        server: Arc<dyn SecretServer>,
    ) -> Result<UrlSource, SecretsError> {
        let config = UrlConfig::read(entries, env).map_err(SecretsError::Url)?;
        Ok(UrlSource { config, server, known: Mutex::default(), next_ns: Mutex::default() })
    }

    /// Its settings for another process, as entries of the flag.
    pub(super) fn entries(&self, processes: u32) -> Vec<String> {
        self.config.entries(processes)
    }

    pub(super) fn header_values(&self) -> impl Iterator<Item = &String> {
        self.config.header_values()
    }

    /// A secret.
    ///
    /// # Errors
    /// A text for the user: the server does not give it.
    pub(crate) async fn get(self: Arc<Self>, key: String) -> Result<String, String> {
        let cell = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= KNOWN_MAX && !known.contains_key(&key) {
                return Err("too many secrets".into());
            }
            known.entry(key.clone()).or_default().clone()
        };
        cell.get_or_try_init(|| self.fetch(&key)).await.cloned()
    }

    async fn fetch(&self, key: &str) -> Result<String, String> {
        let request = self.config.request(key);
        let mut attempt = 0;
        loop {
            tokio::time::sleep(self.wait_for_turn()).await;
            let (server, sent) = (self.server.clone(), request.clone());
            let answer = tokio::task::spawn_blocking(move || server.send(&sent)).await;
            let problem = match answer.unwrap_or_else(|_| Err("the client failed".into())) {
                Ok((200..=299, body)) => return self.config.secret_in(&String::from_utf8_lossy(&body)),
                Ok((status @ (429 | 500..=599), _)) => refused(status),
                Ok((status, _)) => return Err(refused(status)),
                Err(problem) => problem,
            };
            if attempt == self.config.retries_max {
                return Err(problem);
            }
            attempt += 1;
            tokio::time::sleep(self.pause(attempt)).await;
        }
    }

    /// How long this request has to wait, so that there are no more than the limit says; a burst goes at once.
    fn wait_for_turn(&self) -> Duration {
        let now_ns = SystemClock::now().as_ns();
        let mut next_ns = self.next_ns.lock().unwrap_or_else(PoisonError::into_inner);
        let spacing_ns = self.config.spacing_ns();
        let free_ns = spacing_ns.saturating_mul(u64::from(self.config.burst) - 1);
        let wait_ns = next_ns.saturating_sub(free_ns).saturating_sub(now_ns);
        *next_ns = (*next_ns).max(now_ns).saturating_add(spacing_ns);
        Duration::from_nanos(wait_ns)
    }

    fn pause(&self, attempt: u32) -> Duration {
        let mut random = [0; 2];
        crypto::random::fill(&mut random);
        let jitter_ms = u64::from(u16::from_le_bytes(random)) * JITTER_MAX_MS / u64::from(u16::MAX);
        let base_s = self.config.backoff.as_secs_f64().powi(attempt.try_into().unwrap_or(i32::MAX));
        let base = Duration::try_from_secs_f64(base_s).unwrap_or(PAUSE_MAX);
        base.min(PAUSE_MAX) + Duration::from_millis(jitter_ms)
    }
}

fn refused(status: u16) -> String {
    format!("status code {status}: failed to get secret")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Answers with one status after the other, the last one for ever.
    struct Statuses(Vec<u16>, AtomicUsize);

    impl SecretServer for Statuses {
        fn send(&self, _request: &SecretRequest) -> Result<SecretReply, String> {
            let count = self.1.fetch_add(1, Ordering::Relaxed);
            match self.0[count.min(self.0.len() - 1)] {
                0 => Err("no answer".into()),
                status => Ok((status, b"hidden".to_vec())),
            }
        }
    }

    fn source(statuses: &[u16], entries: &[&str]) -> (Arc<UrlSource>, Arc<Statuses>) {
        let server = Arc::new(Statuses(statuses.to_vec(), AtomicUsize::new(0)));
        let template = ["urlTemplate=http://h/{key}"];
        let entries: Vec<String> = template.iter().chain(entries).map(|entry| (*entry).to_owned()).collect();
        (Arc::new(UrlSource::new(&entries, &BTreeMap::new(), server.clone()).unwrap()), server)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[track_caller]
    fn check(statuses: &[u16], entries: &[&str], expect: Result<&str, &str>, requests: usize) {
        let (source, server) = source(statuses, entries);
        let got = block_on(source.get("k".into()));
        assert_eq!(got.as_deref().map_err(String::as_str), expect, "{statuses:?}");
        assert_eq!(server.1.load(Ordering::Relaxed), requests, "{statuses:?}");
    }

    #[test]
    fn failures_that_pass_are_tried_again() {
        check(&[200], &[], Ok("hidden"), 1);
        check(&[503, 429, 0, 200], &[], Ok("hidden"), 4);
        check(&[503], &["maxRetries=1"], Err("status code 503: failed to get secret"), 2);
        check(&[0], &["maxRetries=0"], Err("no answer"), 1);
        check(&[404, 200], &[], Err("status code 404: failed to get secret"), 1);
    }

    #[test]
    fn a_secret_is_asked_for_once() {
        let (source, server) = source(&[200], &[]);
        block_on(async {
            let (one, two) = tokio::join!(source.clone().get("k".into()), source.clone().get("k".into()));
            assert_eq!((one.as_deref(), two.as_deref()), (Ok("hidden"), Ok("hidden")));
            source.get("other".into()).await.unwrap();
        });
        assert_eq!(server.1.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn requests_beyond_the_burst_wait() {
        let (source, _) = source(&[200], &["requestsPerMinuteLimit=60", "requestsBurst=2"]);
        let waits: Vec<u64> = (0..4).map(|_| source.wait_for_turn().as_millis() as u64).collect();
        assert_eq!(&waits[..2], [0, 0]);
        assert!((900..=1000).contains(&waits[2]) && (1900..=2000).contains(&waits[3]), "{waits:?}");
    }
}
