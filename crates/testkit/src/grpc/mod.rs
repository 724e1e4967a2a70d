//! gRPC: the four kinds of call, health and reflection, beside the HTTP routes of every server.
//!
//! Requests over HTTP/2 whose content type is gRPC's are answered here; without TLS a connection speaks HTTP/2 where it
//! begins with HTTP/2's preface. `proto/testkit/echo.proto` says what the server answers.

mod answers;
mod call;
mod messages;
mod reflection;

use std::path::PathBuf;

use call::Call;
use h2::RecvStream;
use h2::server::SendResponse;

use crate::seen::{Counters, Remembered};

/// The folder that `testkit/echo.proto` is relative to.
pub fn import_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("proto")
}

/// The file of the service, relative to [`import_path`].
pub const PROTO: &str = "testkit/echo.proto";

/// [`PROTO`] and all that it imports as a serialized `FileDescriptorSet`.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!("../../proto/testkit.binpb");

/// Whether a request is gRPC's.
pub(crate) fn is_grpc(message: &http::Request<RecvStream>) -> bool {
    let content_type = message.headers().get(http::header::CONTENT_TYPE);
    content_type.is_some_and(|content_type| content_type.as_bytes().starts_with(b"application/grpc"))
}

/// Answers one call. It is counted with the method `GRPC` and gRPC's status.
pub(crate) async fn answer(
    message: http::Request<RecvStream>,
    respond: SendResponse<bytes::Bytes>,
    counters: &Counters,
) {
    counters.begin();
    let path = message.uri().path().to_owned();
    let (parts, stream) = message.into_parts();
    let mut call = Call::new(parts.headers, stream, respond);
    let status = match path.as_str() {
        "/testkit.Echo/Unary" => answers::unary(&mut call).await,
        "/testkit.Echo/ServerStream" => answers::server_stream(&mut call).await,
        "/testkit.Echo/ClientStream" => answers::client_stream(&mut call).await,
        "/testkit.Echo/BothStreams" => answers::both_streams(&mut call).await,
        "/grpc.health.v1.Health/Check" => answers::health(&mut call).await,
        path if reflection::is_path(path) => reflection::answer(path, &mut call).await,
        path => {
            let text = format!("unknown method {path}");
            call.end(answers::UNIMPLEMENTED, &text, &[]).await
        }
    };
    Remembered::default().count(counters, "GRPC", &path, status.unwrap_or(0));
    counters.end();
}
