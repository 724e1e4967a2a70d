//! A client that inspects and controls a run through its REST API.

use std::time::Duration;

use api::rest::{Document, Errors, Metric, Resource, Status, StatusChange};
use redact::RedactedUrl;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Request, Response};

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response, bytes.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// An error of a request to a run.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No server listens at the address.
    #[error(
        "connect to a test at {0}: {why}; check that the test runs with --address {0}",
        RedactedUrl(address)
    )]
    Unreachable {
        /// The address.
        address: String,
        /// The reason that the network reports.
        why: String,
    },
    /// The run refused the request.
    #[error("change the test at {}: {detail}", RedactedUrl(address))]
    Refused {
        /// The address.
        address: String,
        /// The server's message.
        detail: String,
    },
    /// The response is not from a REST API like k6's.
    #[error("read the response from {}: {why}", RedactedUrl(address))]
    Foreign {
        /// The address.
        address: String,
        /// The defect of the response.
        why: String,
    },
}

/// A client for the run at one address.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    address: String,
    token: Option<String>,
}

impl Client {
    /// Returns a client for `address`, a host and a port. The token is sent if it is set.
    pub fn new(address: &str, token: Option<&str>) -> Client {
        // Proxies of the environment are for other hosts and cannot reach loopback.
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None);
        Client { agent: config.build().into(), address: address.to_owned(), token: token.map(str::to_owned) }
    }

    /// Returns the status of the run.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn status(&self) -> Result<Status, ClientError> {
        let document: Document<Resource<Status>> = self.call("GET", "/v1/status", None)?;
        Ok(document.data.attributes)
    }

    /// Changes the run, and returns its new status.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn change(&self, change: &StatusChange) -> Result<Status, ClientError> {
        let body = Document { data: Resource::<_, ()>::new("status", "default", *change) };
        let document: Document<Resource<Status>> = self.call("PATCH", "/v1/status", Some(json(&body)))?;
        Ok(document.data.attributes)
    }

    /// Returns the metrics so far.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn metrics(&self) -> Result<Vec<Metric>, ClientError> {
        let document: Document<Vec<Metric>> = self.call("GET", "/v1/metrics", None)?;
        Ok(document.data)
    }

    fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<T, ClientError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.with_host()))
            .header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(body.unwrap_or_default()).map_err(|error| self.unreachable(&error))?;
        let answer = self.agent.run(request).map_err(|error| self.unreachable(&error))?;
        self.read(answer)
    }

    fn read<T: DeserializeOwned>(&self, mut answer: Response<ureq::Body>) -> Result<T, ClientError> {
        let address = self.address.clone();
        let foreign = |why: String| ClientError::Foreign { address: address.clone(), why };
        let bytes = ::answer::read(answer.body_mut(), ANSWER_BYTES_MAX);
        let bytes = bytes.map_err(|error| foreign(error.to_string()))?;
        if answer.status().is_success() {
            return serde_json::from_slice(&bytes).map_err(|error| foreign(error.to_string()));
        }
        match serde_json::from_slice::<Errors>(&bytes) {
            Ok(errors) => {
                let details: Vec<String> = errors.errors.into_iter().map(|it| it.detail).collect();
                Err(ClientError::Refused { address, detail: details.join("; ") })
            }
            Err(_) => Err(foreign(format!("it says {}", answer.status()))),
        }
    }

    fn with_host(&self) -> String {
        if self.address.starts_with(':') {
            format!("localhost{}", self.address)
        } else {
            self.address.clone()
        }
    }

    fn unreachable(&self, error: &dyn std::fmt::Display) -> ClientError {
        ClientError::Unreachable { address: self.address.clone(), why: error.to_string() }
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("texts, numbers and truths")
}
