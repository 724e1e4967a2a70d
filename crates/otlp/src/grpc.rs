//! OTLP over gRPC. tonic handles the frames; this crate decodes the message inside.

use std::future::{Ready, ready};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use bytes::{Buf, Bytes};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceResponse;
use prost::Message;
use tonic::codec::{Codec, CompressionEncoding, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Status};

use crate::http::{BODY_BYTES_MAX, NOT_KEPT, partial};
use crate::receiver::ReceiverState;

/// The paths of the three services (opentelemetry/proto/collector).
pub(crate) const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
pub(crate) const METRICS: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
pub(crate) const LOGS: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/// Takes spans.
pub(crate) async fn traces(State(state): State<Arc<ReceiverState>>, request: Request) -> Response {
    let response = answer(Export(state.clone()), request).await;
    let refusal = Status::from_header_map(response.headers()).map(|status| status.code());
    match refusal.filter(|code| *code != Code::Ok) {
        None => response,
        Some(code) => {
            state.refused();
            // What tonic says of a message that is too large means that it may be sent again (OTLP specification 1.x, failures).
            let is_too_large = matches!(code, Code::OutOfRange | Code::ResourceExhausted);
            if is_too_large { refuse(Status::invalid_argument("the message is too large")) } else { response }
        }
    }
}

/// Takes what is not kept, and says so. The answers of the three services have the same bytes.
pub(crate) async fn ignored(State(state): State<Arc<ReceiverState>>, request: Request) -> Response {
    answer(Ignore(state), request).await
}

/// Whether a request says that it is one of gRPC.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    kind.is_some_and(|kind| kind.starts_with(b"application/grpc"))
}

/// An answer that is a refusal.
pub(crate) fn refuse(status: Status) -> Response {
    status.into_http::<Body>()
}

async fn answer<S>(service: S, request: Request) -> Response
where
    S: UnaryService<Bytes, Response = ExportTraceServiceResponse>,
{
    let mut grpc =
        Grpc::new(Raw).accept_compressed(CompressionEncoding::Gzip).max_decoding_message_size(BODY_BYTES_MAX);
    grpc.unary(service, request).await.map(Body::new)
}

struct Export(Arc<ReceiverState>);

impl UnaryService<Bytes> for Export {
    type Response = ExportTraceServiceResponse;
    type Future = Ready<Result<tonic::Response<ExportTraceServiceResponse>, Status>>;

    fn call(&mut self, request: tonic::Request<Bytes>) -> Self::Future {
        let refused = self.0.receive(|decoder| decoder.protobuf(request.get_ref()));
        let response = refused.map(|refused| tonic::Response::new(partial(refused)));
        ready(response.map_err(|error| Status::invalid_argument(format!("failed to {error}"))))
    }
}

struct Ignore(Arc<ReceiverState>);

impl UnaryService<Bytes> for Ignore {
    type Response = ExportTraceServiceResponse;
    type Future = Ready<Result<tonic::Response<ExportTraceServiceResponse>, Status>>;

    fn call(&mut self, _: tonic::Request<Bytes>) -> Self::Future {
        self.0.ignored();
        ready(Ok(tonic::Response::new(NOT_KEPT.into())))
    }
}

/// Hands messages over as they are, so that they are bounded before they become anything.
struct Raw;

impl Codec for Raw {
    type Encode = ExportTraceServiceResponse;
    type Decode = Bytes;
    type Encoder = Raw;
    type Decoder = Raw;

    fn encoder(&mut self) -> Raw {
        Raw
    }

    fn decoder(&mut self) -> Raw {
        Raw
    }
}

impl Encoder for Raw {
    type Item = ExportTraceServiceResponse;
    type Error = Status;

    fn encode(&mut self, item: Self::Item, target: &mut EncodeBuf<'_>) -> Result<(), Status> {
        item.encode(target).map_err(|error| Status::internal(error.to_string()))
    }
}

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(source.copy_to_bytes(source.remaining())))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use model::{Epoch, SystemClock};

    use super::*;
    use crate::keep::Pace;
    use crate::receiver::Settings;

    fn state() -> Arc<ReceiverState> {
        let pace = Pace { began: SystemClock::now(), expected: Duration::ZERO, quiet: Duration::ZERO };
        let settings = Settings { addresses: Vec::new(), token: None, pace };
        Arc::new(ReceiverState::new(&settings, Epoch::anchor(&SystemClock)))
    }

    /// A message in a frame (gRPC over HTTP/2, Length-Prefixed-Message).
    fn frame(is_compressed: bool, length: usize, message: &[u8]) -> Vec<u8> {
        [&[u8::from(is_compressed)][..], &(length as u32).to_be_bytes(), message].concat()
    }

    /// Exports a body, checks the code, and returns the number of received spans.
    fn check(coding: &str, body: Vec<u8>, expect: Code) -> u64 {
        let state = state();
        let request = axum::http::Request::post(TRACES).header("grpc-encoding", coding);
        let request = request.body(Body::from(body)).expect("a request");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let response = runtime.block_on(traces(State(state.clone()), request));
        let code = Status::from_header_map(response.headers()).map_or(Code::Ok, |status| status.code());
        assert_eq!(code, expect, "{coding}");
        assert_eq!(state.counts().requests_refused, u64::from(expect != Code::Ok));
        state.counts().spans_received
    }

    #[test]
    fn payloads_recorded_from_sdks_are_received_plain_and_in_gzip() {
        let node = include_bytes!("../tests/fixtures/node-express.grpc.pb");
        let go = include_bytes!("../tests/fixtures/go-pgx.grpc.pb");
        for (message, spans) in [(&node[..], 38), (&go[..], 19)] {
            assert_eq!(check("identity", frame(false, message.len(), message), Code::Ok), spans);
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(message).expect("memory");
            let packed = packed.finish().expect("memory");
            assert_eq!(check("gzip", frame(true, packed.len(), &packed), Code::Ok), spans);
        }
    }

    #[test]
    fn refusals_say_whether_the_same_may_be_sent_again() {
        let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
        bomb.write_all(&vec![0; BODY_BYTES_MAX + 1]).expect("memory");
        let bomb = bomb.finish().expect("memory");
        check("identity", frame(false, 0, b""), Code::Ok);
        check("identity", frame(false, 2, b"\x0a\x05"), Code::InvalidArgument);
        check("identity", frame(false, BODY_BYTES_MAX + 1, b""), Code::InvalidArgument);
        check("gzip", frame(true, bomb.len(), &bomb), Code::InvalidArgument);
        check("br", frame(true, 0, b""), Code::Unimplemented);
    }
}
