//! A client of the API server for nodes and for the checks.

use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use serde_json::Value;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// A client with the token of one user.
#[derive(Clone)]
pub(super) struct Api {
    agent: ureq::Agent,
    url: String,
    token: String,
}

impl Api {
    pub(super) fn new(url: &str, token: &str, ca_pem: &str) -> anyhow::Result<Api> {
        let certificate = Certificate::from_pem(ca_pem.as_bytes()).context("read the authority")?;
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[certificate])).build();
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(20)))
            .http_status_as_error(false)
            .tls_config(tls)
            .build();
        Ok(Api { agent: config.into(), url: url.to_owned(), token: token.to_owned() })
    }

    pub(super) fn is_ready(&self) -> bool {
        self.answer("GET", "/readyz", None, "application/json").is_ok_and(|(status, _)| status == 200)
    }

    pub(super) fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.send("GET", path, None, "application/json")
    }

    /// The objects of a list.
    pub(super) fn list(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        let mut list = self.get(path)?;
        Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    pub(super) fn create(&self, path: &str, object: &Value) -> anyhow::Result<Value> {
        self.send("POST", path, Some(object), "application/json")
    }

    /// Changes a part of an object (RFC 7396).
    pub(super) fn merge(&self, path: &str, change: &Value) -> anyhow::Result<Value> {
        self.send("PATCH", path, Some(change), "application/merge-patch+json")
    }

    pub(super) fn delete(&self, path: &str) -> anyhow::Result<Value> {
        self.send("DELETE", path, None, "application/json")
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>, kind: &str) -> anyhow::Result<Value> {
        let (status, text) = self.answer(method, path, body, kind)?;
        if !(200..300).contains(&status) {
            bail!("{method} {path}: {status}: {text}");
        }
        serde_json::from_str(&text).with_context(|| format!("read the answer to {method} {path}"))
    }

    /// The status and the body of an answer.
    pub(super) fn answer(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        kind: &str,
    ) -> anyhow::Result<(u16, String)> {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", kind)
            .body(body.map(Value::to_string).unwrap_or_default())
            .map_err(|error| anyhow!("{method} {path}: {error}"))?;
        let mut answer = self.agent.run(request).map_err(|error| anyhow!("{method} {path}: {error}"))?;
        let text =
            answer::read_text(answer.body_mut(), 64 << 20).map_err(|error| anyhow!("{path}: {error}"))?;
        Ok((answer.status().as_u16(), text))
    }
}
