//! How requests to the store are made: with the small blocking client that other exports use, on threads of their own.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};

/// A request may take this long, with its part of a file.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);

/// A connection may take this long.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// No answer is longer: parts of files are asked for, and pages of a listing.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Makes clients.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(REQUEST_TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .build();
        Ok(HttpClient::new(Service(config.into())))
    }
}

#[derive(Debug)]
struct Service(ureq::Agent);

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let agent = self.0.clone();
        let called = tokio::task::spawn_blocking(move || call(&agent, head, &body)).await;
        called.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?
    }
}

fn call(agent: &ureq::Agent, head: http::request::Parts, body: &Bytes) -> Result<HttpResponse, HttpError> {
    let answered = if body.is_empty() && head.method != http::Method::PUT && head.method != http::Method::POST
    {
        agent.run(http::Request::from_parts(head, ()))
    } else {
        agent.run(http::Request::from_parts(head, &body[..]))
    };
    let (head, mut body) = answered.map_err(failure)?.into_parts();
    let bytes = answer::read(&mut body, ANSWER_BYTES_MAX).map_err(failure)?;
    Ok(HttpResponse::from_parts(head, HttpResponseBody::from(bytes)))
}

/// Classifies an error by whether the request is repeated.
fn failure(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
