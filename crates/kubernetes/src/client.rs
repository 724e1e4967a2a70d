//! A client of the API server: JSON objects, within limits of time and bytes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use ureq::http::Response;
use ureq::tls::{ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::access::{Access, Credentials, Trust, read, run_program};

/// Time limit of a request.
const REQUEST_MAX: Duration = Duration::from_secs(15);

/// Maximum size of an answer, bytes: 1,000 pods with their status have about 8 MB.
const ANSWER_BYTES_MAX: u64 = 64 << 20;

/// Number of objects per page of a list.
const PAGE_OBJECTS: &str = "500";

/// Maximum number of objects of a list.
const OBJECTS_MAX: usize = 5_000;

/// The header with the token of a hub in a pod: the server keeps `authorization` to itself.
pub const POD_TOKEN_HEADER: &str = "x-plimsoll-token";

/// Maximum length of a server's text in messages.
const TEXT_CHARS_MAX: usize = 600;

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The kind of failure.
    pub kind: ApiErrorKind,
    /// The request and the reason, without credentials.
    pub message: String,
}

/// Kinds of failures that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiErrorKind {
    /// The server cannot be reached.
    Unreachable,
    /// The server does not know the user.
    Unauthenticated,
    /// The user lacks a permission, or a quota or policy refuses the object.
    Forbidden,
    /// There is no such object.
    NotFound,
    /// The object exists, or was changed meanwhile.
    Conflict,
    /// The server refuses the object's content.
    Invalid,
    /// Any other failure.
    Other,
}

/// A client of one API server.
pub struct Client {
    access: Access,
    session: Mutex<Session>,
}

/// The connection pool and the header of the present credentials.
#[derive(Clone)]
struct Session {
    agent: Agent,
    authorization: Option<String>,
}

impl Client {
    /// A client with the credentials of `access`. A credential program runs once here, and again when its credentials expire.
    ///
    /// # Errors
    /// A certificate or key is invalid, or the credential program fails.
    pub fn new(access: Access) -> Result<Client, String> {
        let session = Mutex::new(open(&access)?);
        Ok(Client { access, session })
    }

    /// The server and its namespace.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// The path of a kind of objects in the namespace: `root` is `/api/v1` or `/apis/GROUP/VERSION`.
    pub fn path(&self, root: &str, resource: &str) -> String {
        format!("{root}/namespaces/{}/{resource}", self.access.namespace)
    }

    /// Requests an object.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub fn get(&self, path: &str, query: &[(&str, &str)]) -> Result<Value, ApiError> {
        self.request("GET", path, query, None)
    }

    /// Requests the objects of a list, page by page, up to a limit.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub fn list(&self, path: &str, query: &[(&str, &str)]) -> Result<Vec<Value>, ApiError> {
        let (mut objects, mut next) = (Vec::new(), String::new());
        loop {
            let mut query: Vec<(&str, &str)> = query.to_vec();
            query.push(("limit", PAGE_OBJECTS));
            if !next.is_empty() {
                query.push(("continue", &next));
            }
            let mut answer = self.get(path, &query)?;
            if let Some(items) = answer["items"].as_array_mut() {
                objects.append(items);
            }
            next = answer["metadata"]["continue"].as_str().unwrap_or_default().to_owned();
            if next.is_empty() || objects.len() >= OBJECTS_MAX {
                return Ok(objects);
            }
        }
    }

    /// Creates an object; with `is_dry` the server only checks it.
    ///
    /// # Errors
    /// The server is unreachable or refuses.
    pub fn create(&self, path: &str, object: &Value, is_dry: bool) -> Result<Value, ApiError> {
        let query: &[(&str, &str)] = if is_dry { &[("dryRun", "All")] } else { &[] };
        self.request("POST", path, query, Some(object))
    }

    /// Sends bytes to a pod, which the server passes on encrypted, and returns the pod's answer.
    ///
    /// # Errors
    /// The server is unreachable or refuses, or the pod does.
    pub fn call(&self, pod: &str, port: u16, token: &str, body: &[u8]) -> Result<Vec<u8>, ApiError> {
        match self.call_once(pod, port, token, body) {
            Err(error) if error.kind == ApiErrorKind::Unauthenticated && self.renew() => {
                self.call_once(pod, port, token, body)
            }
            answer => answer,
        }
    }

    fn call_once(&self, pod: &str, port: u16, token: &str, body: &[u8]) -> Result<Vec<u8>, ApiError> {
        let path = format!("{}/https:{pod}:{port}/proxy/call", self.path("/api/v1", "pods"));
        let url = format!("{}{path}", self.access.server);
        let headers = [(POD_TOKEN_HEADER, token), ("content-type", "application/octet-stream")];
        let mut answer = self.send("POST", &url, &headers, body.to_vec())?;
        if !answer.status().is_success() {
            return Err(parse("POST", &url, &mut answer).err().unwrap_or_else(|| ApiError {
                kind: ApiErrorKind::Other,
                message: format!("POST {url}: {}", answer.status()),
            }));
        }
        answer::read(answer.body_mut(), ANSWER_BYTES_MAX).map_err(|error| ApiError {
            kind: ApiErrorKind::Unreachable,
            message: format!("POST {url}: {error}"),
        })
    }

    /// Deletes an object; the server deletes those that it owns afterwards.
    ///
    /// # Errors
    /// The server is unreachable or refuses. An object that does not exist is no error.
    pub fn delete(&self, path: &str) -> Result<(), ApiError> {
        match self.request("DELETE", path, &[("propagationPolicy", "Background")], None) {
            Ok(_) => Ok(()),
            Err(error) if error.kind == ApiErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        object: Option<&Value>,
    ) -> Result<Value, ApiError> {
        match self.request_once(method, path, query, object) {
            Err(error) if error.kind == ApiErrorKind::Unauthenticated && self.renew() => {
                self.request_once(method, path, query, object)
            }
            answer => answer,
        }
    }

    /// Runs the credential program again. Returns whether there are new credentials.
    fn renew(&self) -> bool {
        if !matches!(self.access.credentials, Credentials::Program(_)) {
            return false;
        }
        let renewed = open(&self.access);
        renewed.is_ok_and(|session| {
            *self.session() = session;
            true
        })
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request_once(
        &self,
        method: &str,
        path: &str,
        query: &[(&str, &str)],
        object: Option<&Value>,
    ) -> Result<Value, ApiError> {
        let url = format!("{}{path}", self.access.server);
        let body = object.map(Value::to_string).unwrap_or_default();
        let of_object: &[(&str, &str)] = match object {
            Some(_) => &[("accept", "application/json"), ("content-type", "application/json")],
            None => &[("accept", "application/json")],
        };
        let mut answer = self.send(method, &with_query(&url, query), of_object, body.into_bytes())?;
        parse(method, &url, &mut answer)
    }

    fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Result<Response<Body>, ApiError> {
        let Session { agent, authorization } = self.session().clone();
        let unreachable = |error: &dyn std::fmt::Display| ApiError {
            kind: ApiErrorKind::Unreachable,
            message: format!("{method} {url}: {error}"),
        };
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let token_file = match &self.access.credentials {
            Credentials::TokenFile(file) => Some(read(file).map_err(|error| unreachable(&error))?),
            _ => None,
        };
        let of_file = token_file.map(|bytes| format!("Bearer {}", String::from_utf8_lossy(&bytes).trim()));
        if let Some(value) = of_file.or(authorization) {
            request = request.header("authorization", value);
        }
        let request = request.body(body).map_err(|error| unreachable(&error))?;
        agent.run(request).map_err(|error| unreachable(&error))
    }
}

/// Appends query parameters, percent-encoded (RFC 3986, 2.1).
fn with_query(url: &str, query: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let one = |byte: u8| if plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") };
        text.bytes().map(one).collect()
    };
    let pairs: Vec<String> =
        query.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    if pairs.is_empty() { url.to_owned() } else { format!("{url}?{}", pairs.join("&")) }
}

fn parse(method: &str, url: &str, answer: &mut Response<Body>) -> Result<Value, ApiError> {
    let status = answer.status();
    let text = answer::read_text(answer.body_mut(), ANSWER_BYTES_MAX).map_err(|error| ApiError {
        kind: ApiErrorKind::Unreachable,
        message: format!("{method} {url}: {error}"),
    })?;
    let value = serde_json::from_str::<Value>(&text);
    if status.is_success() {
        return value.map_err(|error| ApiError {
            kind: ApiErrorKind::Other,
            message: format!("{method} {url}: the answer is no JSON: {error}; is it an API server?"),
        });
    }
    // Errors are a `Status` with a message for people.
    let said = value.ok().and_then(|status| status["message"].as_str().map(str::to_owned)).unwrap_or(text);
    let said: String =
        said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TEXT_CHARS_MAX).collect();
    let kind = match status.as_u16() {
        401 => ApiErrorKind::Unauthenticated,
        403 => ApiErrorKind::Forbidden,
        404 => ApiErrorKind::NotFound,
        409 => ApiErrorKind::Conflict,
        400 | 422 => ApiErrorKind::Invalid,
        _ => ApiErrorKind::Other,
    };
    let said = if said.is_empty() { status.to_string() } else { said };
    Err(ApiError { kind, message: format!("{said} ({method} {url}: {})", status.as_u16()) })
}

/// Opens a session with the credentials of the moment.
fn open(access: &Access) -> Result<Session, String> {
    let credentials = match &access.credentials {
        Credentials::Program(exec) => run_program(exec)?,
        credentials => credentials.clone(),
    };
    let mut tls = TlsConfig::builder();
    tls = match &access.trust {
        Trust::Public => tls,
        Trust::Own(pem) => {
            let certificates = certificates(pem);
            if certificates.is_empty() {
                return Err("the certificate authority of the cluster has no PEM certificate".to_owned());
            }
            tls.root_certs(RootCerts::new_with_certs(&certificates))
        }
        Trust::Unchecked => tls.disable_verification(true),
    };
    let authorization = match &credentials {
        Credentials::Token(token) => Some(format!("Bearer {}", token.trim())),
        Credentials::Basic(name, password) => {
            Some(format!("Basic {}", STANDARD.encode(format!("{name}:{password}"))))
        }
        Credentials::Certificate { certificate, key } => {
            let chain = certificates(certificate);
            let key =
                PrivateKey::from_pem(key).map_err(|_| "the client key is no PEM private key".to_owned())?;
            if chain.is_empty() {
                return Err("the client certificate has no PEM certificate".to_owned());
            }
            tls = tls.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
            None
        }
        Credentials::None | Credentials::TokenFile(_) | Credentials::Program(_) => None,
    };
    let mut config = Agent::config_builder()
        .timeout_global(Some(REQUEST_MAX))
        .http_status_as_error(false)
        .max_redirects(0)
        .allow_non_standard_methods(false)
        .tls_config(tls.build())
        .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
    if let Some(url) = &access.proxy {
        let proxy =
            ureq::Proxy::new(url).map_err(|_| "the proxy-url of the cluster is invalid".to_owned())?;
        config = config.proxy(Some(proxy));
    }
    Ok(Session { agent: config.build().into(), authorization })
}

fn certificates(pem: &[u8]) -> Vec<ureq::tls::Certificate<'static>> {
    let items = parse_pem(pem).filter_map(Result::ok);
    let certificates = items.filter_map(|item| match item {
        PemItem::Certificate(certificate) => Some(certificate),
        _ => None,
    });
    certificates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_encoded() {
        let query = [("labelSelector", "a=b,c in (d)")];
        assert_eq!(with_query("http://h/x", &query), "http://h/x?labelSelector=a%3Db%2Cc%20in%20%28d%29");
        assert_eq!(with_query("http://h/x", &[]), "http://h/x");
    }
}
