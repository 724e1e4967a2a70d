//! A small gRPC client for exports: one unary call at a time, over plain HTTP/2 or TLS, on a connection of its own.
//!
//! Exports call every few seconds, so an open connection would be idle nearly always, and no task would answer the
//! server's pings. The wire is the gRPC specification's ("gRPC over HTTP2", doc/PROTOCOL-HTTP2.md): a message behind five
//! bytes, and the status in the trailers.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, Request, StatusCode};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::{HttpSettings, SendError};
use crate::OutputError;

/// Bytes of an answer that are read: the answers of receivers are counts and a sentence.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Characters of a server's message that are shown.
const SHOWN_CHARS_MAX: usize = 300;

/// Where calls go, as `host:port`.
pub(crate) struct GrpcClient {
    runtime: tokio::runtime::Runtime,
    address: String,
    /// The host, and what speaks TLS with it; `None` where nothing does.
    tls: Option<(ServerName<'static>, TlsConnector)>,
}

/// One call.
pub(crate) struct Call<'a> {
    /// `/package.Service/Method`
    pub(crate) path: &'a str,
    /// Headers beside those of gRPC.
    pub(crate) headers: &'a [(String, String)],
    /// The message.
    pub(crate) message: &'a [u8],
    /// Whether it is compressed with gzip.
    pub(crate) is_compressed: bool,
}

impl GrpcClient {
    /// A client of `host:port`.
    ///
    /// # Errors
    /// It is no address, a PEM file cannot be read, or the system has no runtime to give.
    pub(crate) fn new(
        address: &str,
        is_plain: bool,
        settings: &HttpSettings,
    ) -> Result<GrpcClient, OutputError> {
        let refuse = |expected: &'static str| OutputError::Setting {
            setting: "the address".into(),
            value: address.into(),
            expected,
        };
        let host = address.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
        let host = host.map(|(host, _)| host).filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| refuse("a host and port such as localhost:4317"))?;
        let tls = match is_plain {
            true => None,
            false => {
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned());
                let name = name.map_err(|_| refuse("a host that a certificate can name"))?;
                Some((name, TlsConnector::from(Arc::new(tls_config(settings)?))))
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(OutputError::Thread)?;
        Ok(GrpcClient { runtime, address: address.to_owned(), tls })
    }

    /// Makes a call and reads how it went.
    ///
    /// # Errors
    /// No answer came, or one that says no.
    pub(crate) fn call(&self, call: &Call<'_>, within: Duration) -> Result<(), SendError> {
        let exchange = async { tokio::time::timeout(within, self.exchange(call)).await };
        self.runtime.block_on(exchange).unwrap_or_else(|_| Err(retry(format!("no answer within {within:?}"))))
    }

    async fn exchange(&self, call: &Call<'_>) -> Result<(), SendError> {
        let request = self.request(call)?;
        let tcp = TcpStream::connect(&self.address).await.map_err(|error| retry(error.to_string()))?;
        // A call is a few small frames, each of which would wait for the one before.
        tcp.set_nodelay(true).map_err(|error| retry(error.to_string()))?;
        let frame = frame(call.message, call.is_compressed);
        match &self.tls {
            None => unary(tcp, request, frame).await,
            Some((name, connector)) => {
                let stream = connector.connect(name.clone(), tcp).await;
                unary(stream.map_err(|error| retry(error.to_string()))?, request, frame).await
            }
        }
    }

    fn request(&self, call: &Call<'_>) -> Result<Request<()>, SendError> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let mut request = Request::post(format!("{scheme}://{}{}", self.address, call.path))
            .header("te", "trailers")
            .header("content-type", "application/grpc+proto")
            .header("user-agent", concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
        if call.is_compressed {
            request = request.header("grpc-encoding", "gzip");
        }
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let refused = |error: http::Error| SendError::Refused { why: error.to_string(), lost: None };
        request.body(()).map_err(refused)
    }
}

fn tls_config(settings: &HttpSettings) -> Result<ClientConfig, OutputError> {
    let mut roots = RootCertStore::empty();
    match &settings.authority {
        Some(path) => {
            roots.add_parsable_certificates(certificates(path)?);
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    // The provider's own versions are those that it has.
    let builder = builder.map_err(|_| refuse_pem("TLS", "something that this build has"))?;
    let builder = builder.with_root_certificates(roots);
    let mut config = match (&settings.certificate, &settings.key) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificate), Some(key)) => {
            let private = PrivateKeyDer::from_pem_file(key);
            let private = private.map_err(|_| refuse_pem(key, "a PEM file with a private key"))?;
            let config = builder.with_client_auth_cert(certificates(certificate)?, private);
            config.map_err(|_| refuse_pem(certificate, "the certificate of its private key"))?
        }
        (Some(path), None) => return Err(refuse_pem(path, "of use without its private key")),
        (None, Some(path)) => return Err(refuse_pem(path, "of use without its certificate")),
    };
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(config)
}

fn certificates(path: &str) -> Result<Vec<CertificateDer<'static>>, OutputError> {
    let all = CertificateDer::pem_file_iter(path).and_then(|items| items.collect::<Result<Vec<_>, _>>());
    let all = all.map_err(|_| refuse_pem(path, "a PEM file with certificates"))?;
    if all.is_empty() { Err(refuse_pem(path, "a PEM file with certificates")) } else { Ok(all) }
}

fn refuse_pem(path: &str, expected: &'static str) -> OutputError {
    OutputError::Setting { setting: "a certificate".into(), value: path.into(), expected }
}

/// A message as gRPC frames it: whether it is compressed, its length, itself.
fn frame(message: &[u8], is_compressed: bool) -> Bytes {
    let mut frame = BytesMut::with_capacity(5 + message.len());
    frame.put_u8(u8::from(is_compressed));
    // Exports cut what they send long before.
    frame.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    frame.put_slice(message);
    frame.freeze()
}

/// One request on a connection that ends with it.
async fn unary(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    request: Request<()>,
    frame: Bytes,
) -> Result<(), SendError> {
    let broken = |error: h2::Error| retry(error.to_string());
    let (mut sender, connection) = h2::client::handshake(stream).await.map_err(broken)?;
    let exchange = async {
        let (response, mut body) = sender.send_request(request, false).map_err(broken)?;
        // It is kept until the receiver's window opens, which is why the connection is driven.
        body.send_data(frame, true).map_err(broken)?;
        answer(response.await.map_err(broken)?).await
    };
    tokio::select! {
        answered = exchange => answered,
        ended = connection => Err(retry(match ended {
            Ok(()) => "the connection was closed before an answer".to_owned(),
            Err(error) => error.to_string(),
        })),
    }
}

/// The status is in the trailers, or in the head where there is nothing else.
async fn answer(response: http::Response<h2::RecvStream>) -> Result<(), SendError> {
    let broken = |error: h2::Error| retry(error.to_string());
    let (head, mut body) = response.into_parts();
    if head.status != StatusCode::OK {
        let why = format!("the endpoint answered {}", head.status.as_u16());
        return Err(match head.status.as_u16() {
            429 | 502 | 503 | 504 => retry(why),
            _ => SendError::Refused { why, lost: None },
        });
    }
    if let Some(outcome) = outcome(&head.headers) {
        return outcome;
    }
    let mut length = 0;
    while let Some(chunk) = body.data().await {
        let chunk = chunk.map_err(broken)?;
        length += chunk.len();
        if length > ANSWER_BYTES_MAX {
            return Err(SendError::Refused { why: "the endpoint's answer is too long".into(), lost: None });
        }
        body.flow_control().release_capacity(chunk.len()).map_err(broken)?;
    }
    let trailers = body.trailers().await.map_err(broken)?.unwrap_or_default();
    outcome(&trailers).unwrap_or_else(|| Err(retry("the endpoint's answer has no status of gRPC".into())))
}

/// The status of the call in headers or trailers; `None` where they have none.
///
/// Which codes may pass is the specification of OTLP ("OTLP/gRPC response").
fn outcome(headers: &HeaderMap) -> Option<Result<(), SendError>> {
    let code = headers.get("grpc-status")?.to_str().ok()?;
    if code == "0" {
        return Some(Ok(()));
    }
    let message = headers.get("grpc-message").map(|value| String::from_utf8_lossy(value.as_bytes()));
    let message = message.unwrap_or_default();
    let message = percent_encoding::percent_decode_str(&message).decode_utf8_lossy();
    let shown: String = message.trim().chars().take(SHOWN_CHARS_MAX).collect();
    let blank = if shown.is_empty() { "" } else { " " };
    let why = format!("the endpoint answered gRPC {}{blank}{}", code.escape_debug(), shown.escape_debug());
    // Cancelled, deadline exceeded, resource exhausted, aborted, out of range, unavailable, data loss.
    Some(Err(match code {
        "1" | "4" | "8" | "10" | "11" | "14" | "15" => retry(why),
        _ => SendError::Refused { why, lost: None },
    }))
}

fn retry(why: String) -> SendError {
    SendError::Retry { why, after: None }
}

#[cfg(test)]
pub(crate) mod tests;
