//! The other side: asks and tells a run that is served somewhere.

use std::time::Duration;

use api::rest::{Document, Errors, Metric, Resource, Status, StatusChange};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Request, Response};

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Bytes of an answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Why a run did not answer as hoped.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody is there.
    #[error("connect to a test at {address}: {why}; check that the test runs with --address {address}")]
    Unreachable {
        /// Where it should be.
        address: String,
        /// What the network said.
        why: String,
    },
    /// It does not do what it was asked.
    #[error("change the test at {address}: {detail}")]
    Refused {
        /// Where it is.
        address: String,
        /// In its words.
        detail: String,
    },
    /// What came is no answer of a REST API like k6's.
    #[error("read the response from {address}: {why}")]
    Foreign {
        /// Where it is.
        address: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Asks the run at one address.
#[derive(Debug)]
pub struct Client {
    agent: Agent,
    address: String,
    token: Option<String>,
}

impl Client {
    /// `address` is a host and a port; a token goes along where the server wants one.
    pub fn new(address: &str, token: Option<&str>) -> Client {
        // A proxy of the environment is for the outside, and reaches no loopback.
        let config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None);
        Client { agent: config.build().into(), address: address.to_owned(), token: token.map(str::to_owned) }
    }

    /// How the run stands.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn status(&self) -> Result<Status, ClientError> {
        let document: Document<Resource<Status>> = self.call("GET", "/v1/status", None)?;
        Ok(document.data.attributes)
    }

    /// Changes it, and gives how it stands then.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn change(&self, change: &StatusChange) -> Result<Status, ClientError> {
        let body = Document { data: Resource::<_, ()>::new("status", "default", *change) };
        let document: Document<Resource<Status>> = self.call("PATCH", "/v1/status", Some(json(&body)))?;
        Ok(document.data.attributes)
    }

    /// Its metrics so far.
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
        let bytes = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
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
