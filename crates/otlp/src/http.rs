//! OTLP over HTTP (OTLP specification 1.x, OTLP/HTTP): protobuf and JSON, plain and in gzip.

use std::future::poll_fn;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use flate2::read::MultiGzDecoder;
use http_body::Body as _;
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::json;
use tonic::Code;

use crate::receiver::ReceiverState;

/// A body once it is plain.
pub(crate) const BODY_BYTES_MAX: usize = 32 << 20;
/// A body in gzip.
const GZIP_BYTES_MAX: usize = 4 << 20;
/// A body in JSON once it is plain: it becomes a tree before its spans can be counted, which is a hundred times as large as the
/// shortest text of it.
const JSON_BYTES_MAX: usize = 4 << 20;

/// Of a body that is refused, at most so much is read.
const READ_BYTES_MAX: usize = 64 << 20;

/// The answer to senders of metrics and logs.
pub(crate) const NOT_KEPT: NotKept = NotKept("plimsoll keeps traces; metrics and logs were ignored");

/// Why nothing was refused and nothing kept either.
#[derive(Clone, Copy)]
pub(crate) struct NotKept(&'static str);

/// Takes spans.
pub(crate) async fn traces(State(state): State<Arc<ReceiverState>>, request: Request) -> Response {
    let Some(form) = Form::from_headers(request.headers()) else { return unsupported(&state) };
    let body = match body(form, request).await {
        Ok(body) => body,
        Err(refusal) => return refusal.respond(form, &state),
    };
    let received = state.receive(|decoder| match form {
        Form::Protobuf => decoder.protobuf(&body),
        Form::Json => decoder.json(&body),
    });
    match received {
        Ok(refused) => form.success(&partial(refused)),
        Err(error) => {
            state.refused();
            form.refuse(StatusCode::BAD_REQUEST, &format!("failed to {error}"))
        }
    }
}

/// Takes what is not kept, and says so.
pub(crate) async fn ignored(State(state): State<Arc<ReceiverState>>, request: Request) -> Response {
    let Some(form) = Form::from_headers(request.headers()) else { return unsupported(&state) };
    if let Err(refusal) = body(form, request).await {
        return refusal.respond(form, &state);
    }
    state.ignored();
    form.success(&NOT_KEPT.into())
}

/// The answer for this number of refused spans. Without any, it is empty, as the specification requires.
pub(crate) fn partial(refused: u64) -> ExportTraceServiceResponse {
    let refused = i64::try_from(refused).unwrap_or(i64::MAX);
    let message =
        "spans need a trace id of 16 bytes and a span id of 8, not all zero, and at most 1 MiB each";
    let partial = ExportTracePartialSuccess { rejected_spans: refused, error_message: message.to_owned() };
    ExportTraceServiceResponse { partial_success: (refused > 0).then_some(partial) }
}

impl From<NotKept> for ExportTraceServiceResponse {
    fn from(NotKept(why): NotKept) -> ExportTraceServiceResponse {
        let partial = ExportTracePartialSuccess { rejected_spans: 0, error_message: why.to_owned() };
        ExportTraceServiceResponse { partial_success: Some(partial) }
    }
}

/// How messages are written, both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Protobuf,
    Json,
}

impl Form {
    fn from_headers(headers: &HeaderMap) -> Option<Form> {
        let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
        match kind.split(';').next()?.trim().to_ascii_lowercase().as_str() {
            "application/x-protobuf" => Some(Form::Protobuf),
            "application/json" => Some(Form::Json),
            _ => None,
        }
    }

    fn success(self, response: &ExportTraceServiceResponse) -> Response {
        let json = || match &response.partial_success {
            None => json!({}),
            // Numbers of 64 bits are texts in JSON (protobuf, JSON mapping).
            Some(partial) if partial.rejected_spans > 0 => json!({"partialSuccess": {
                "rejectedSpans": partial.rejected_spans.to_string(), "errorMessage": partial.error_message}}),
            Some(partial) => json!({"partialSuccess": {"errorMessage": partial.error_message}}),
        };
        match self {
            Form::Protobuf => self.respond(StatusCode::OK, response.encode_to_vec()),
            Form::Json => self.respond(StatusCode::OK, json().to_string().into_bytes()),
        }
    }

    /// A refusal, with a `google.rpc.Status` as its body.
    fn refuse(self, status: StatusCode, message: &str) -> Response {
        let code = Code::InvalidArgument as i32;
        let body = match self {
            Form::Protobuf => Status { code, message: message.to_owned() }.encode_to_vec(),
            Form::Json => json!({"code": code, "message": message}).to_string().into_bytes(),
        };
        self.respond(status, body)
    }

    fn respond(self, status: StatusCode, body: Vec<u8>) -> Response {
        let kind = match self {
            Form::Protobuf => "application/x-protobuf",
            Form::Json => "application/json",
        };
        (status, [(header::CONTENT_TYPE, kind)], body).into_response()
    }
}

/// `google.rpc.Status` without its details.
#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// Why a body cannot be had.
enum Refusal {
    TooLarge,
    Coding,
    Damaged(std::io::Error),
}

impl Refusal {
    fn respond(self, form: Form, state: &ReceiverState) -> Response {
        state.refused();
        match self {
            Refusal::TooLarge => form.refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large"),
            Refusal::Coding => form.refuse(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "the content coding is neither gzip nor identity",
            ),
            Refusal::Damaged(error) => {
                form.refuse(StatusCode::BAD_REQUEST, &format!("failed to read the body: {error}"))
            }
        }
    }
}

fn unsupported(state: &ReceiverState) -> Response {
    state.refused();
    let text = "the content type is neither application/x-protobuf nor application/json";
    (StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response()
}

/// The plain body.
async fn body(form: Form, request: Request) -> Result<Bytes, Refusal> {
    let plain_max = match form {
        Form::Protobuf => BODY_BYTES_MAX,
        Form::Json => JSON_BYTES_MAX,
    };
    let coding = request.headers().get(header::CONTENT_ENCODING).map(|value| value.as_bytes().to_vec());
    match coding.as_deref() {
        None | Some(b"identity" | b"") => read(request.into_body(), plain_max).await,
        Some(b"gzip") => inflate(&read(request.into_body(), GZIP_BYTES_MAX).await?, plain_max),
        Some(_) => Err(Refusal::Coding),
    }
}

/// A body that is too large is read on and not kept, up to a limit: a sender that still writes would see a broken connection and not the
/// refusal. One that leaves in the middle of its body does not hear what is answered.
async fn read(mut body: Body, bytes_max: usize) -> Result<Bytes, Refusal> {
    let (mut kept, mut seen) = (BytesMut::new(), 0);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|_| Refusal::TooLarge)?;
        let Ok(data) = frame.into_data() else { continue };
        seen += data.len();
        match seen {
            seen if seen <= bytes_max => kept.extend_from_slice(&data),
            seen if seen <= READ_BYTES_MAX => kept = BytesMut::new(),
            _ => return Err(Refusal::TooLarge),
        }
    }
    if seen > bytes_max { Err(Refusal::TooLarge) } else { Ok(kept.freeze()) }
}

fn inflate(body: &[u8], bytes_max: usize) -> Result<Bytes, Refusal> {
    let mut plain = Vec::new();
    let read = MultiGzDecoder::new(body).take(bytes_max as u64 + 1).read_to_end(&mut plain);
    read.map_err(Refusal::Damaged)?;
    if plain.len() > bytes_max { Err(Refusal::TooLarge) } else { Ok(plain.into()) }
}
