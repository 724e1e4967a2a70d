//! How workers call the language model.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::{Deserialize, Serialize};

use crate::stage::Stage;
use crate::store::Store;

/// A model that has not said by then where it is does not come any more.
const FIND_TRIES: u32 = 200;
const FIND_PERIOD: Duration = Duration::from_millis(50);

/// A call that takes longer has failed.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// An answer is no longer than this.
const ANSWER_BYTES_MAX: usize = 4096;

/// The model's answer to a call: all that the other steps need of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// How long the call waited because of the rate limit.
    pub(crate) waited_s: f64,
    /// How long the model then took.
    pub(crate) took_s: f64,
}

/// Connections to the model; as many as there are calls at once.
#[derive(Clone, Debug)]
pub(crate) struct LlmClient {
    client: Client<HttpConnector, Body>,
    url: String,
}

impl LlmClient {
    /// Waits until the model has said where it is.
    ///
    /// # Errors
    /// It does not, or Redis is gone.
    pub(crate) async fn find(store: &Store) -> Result<LlmClient, String> {
        for _ in 0..FIND_TRIES {
            if let Some(url) = store.llm().await? {
                let mut connector = HttpConnector::new();
                connector.set_nodelay(true);
                return Ok(LlmClient { client: Client::builder(TokioExecutor::new()).build(connector), url });
            }
            tokio::time::sleep(FIND_PERIOD).await;
        }
        Err("find the model: it has not said where it is".to_owned())
    }

    /// Has the model do a step.
    ///
    /// # Errors
    /// It does not answer in time, or not as it should; the text reads after "failed to".
    pub(crate) async fn call(&self, stage: Stage, traceparent: &str) -> Result<Answer, String> {
        let called = tokio::time::timeout(CALL_LIMIT, self.exchange(stage, traceparent)).await;
        called
            .unwrap_or_else(|_| Err(format!("it did not answer within {} s", CALL_LIMIT.as_secs())))
            .map_err(|why| format!("call the model: {why}"))
    }

    async fn exchange(&self, stage: Stage, traceparent: &str) -> Result<Answer, String> {
        let request = Request::post(format!("{}/{}", self.url, stage.name()));
        let request = request.header("traceparent", traceparent).body(Body::empty());
        let response = self.client.request(request.map_err(|error| error.to_string())?).await;
        let body = Body::new(response.map_err(|error| error.to_string())?.into_body());
        let bytes = to_bytes(body, ANSWER_BYTES_MAX).await.map_err(|error| error.to_string())?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }
}
