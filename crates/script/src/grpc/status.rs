//! How a call ends, from what came of it.

use grpc::{Code, FrameError, Status, StatusFields, is_grpc_content_type};

use super::connect::explained;

/// Statuses that end a stream, from HTTP/2's reason for it: k6's numbers begin here.
const RESET_CODE: u16 = wire::ErrorCode::HTTP2_STREAM.0 + 1;

/// A frame of a wrong size, on the connection: k6's number. A response of HTTP/1.1 reads as one.
const FRAME_SIZE_CODE: u16 = wire::ErrorCode::HTTP2_CONNECTION.0 + 7;

/// The parts of a response besides its messages.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) http_status: u16,
    pub(super) headers: Option<wire::Fields>,
    pub(super) trailers: Option<wire::Fields>,
}

impl Fields {
    /// The head of a response that is not gRPC's ends the call.
    pub(super) fn take_head(&mut self, http_status: u16, headers: wire::Fields) -> Option<Status> {
        let content_type = headers.get("content-type");
        let is_grpc = content_type.is_some_and(is_grpc_content_type);
        let has_status = headers.get("grpc-status").is_some();
        if (http_status == 200 && is_grpc) || has_status {
            self.http_status = http_status;
            self.headers = Some(headers);
            return None;
        }
        let status = Status::of_http(http_status, wire::status_text(http_status), content_type);
        Some(status)
    }

    /// The status at the end of the stream. A response of one head alone carries it there.
    pub(super) fn status(&mut self) -> Status {
        if self.trailers.is_none()
            && self.headers.as_ref().is_some_and(|head| head.get("grpc-status").is_some())
        {
            self.trailers = self.headers.take();
        }
        let status = self.trailers.as_ref().and_then(|trailers| {
            Status::read(StatusFields {
                status: trailers.get("grpc-status"),
                message: trailers.get("grpc-message"),
                details: trailers.get("grpc-status-details-bin"),
            })
        });
        status.unwrap_or_else(|| {
            Status::new(Code::INTERNAL, "server closed the stream without sending trailers")
        })
    }
}

/// The status of a call that has no connection.
pub(super) fn of_connection(error: &wire::Error) -> Status {
    match error.kind {
        wire::Kind::TimedOut => deadline_exceeded(),
        wire::Kind::Invalid => Status::new(Code::INTERNAL, error.story()),
        _ => Status::new(Code::UNAVAILABLE, explained(error)),
    }
}

/// The status of a call whose stream or connection broke.
pub(super) fn of_break(error: &wire::Error) -> Status {
    let reason = error.code.0.checked_sub(RESET_CODE).filter(|reason| *reason <= 13);
    match reason {
        Some(reason) => {
            let name = error.message.rsplit(' ').next().unwrap_or_default();
            let text = format!("stream terminated by RST_STREAM with error code: {name}");
            Status::new(Code::of_reset(reason.into()), text)
        }
        None => {
            let hint = if error.code.0 == FRAME_SIZE_CODE {
                "; the server does not seem to speak HTTP/2: check the address and the port"
            } else {
                ""
            };
            Status::new(Code::UNAVAILABLE, format!("error reading from server: {}{hint}", error.story()))
        }
    }
}

/// The status of a response whose messages are none.
pub(super) fn of_frame(error: &FrameError) -> Status {
    let code = match error {
        FrameError::TooLarge { .. } => Code::RESOURCE_EXHAUSTED,
        FrameError::Compressed | FrameError::Format(_) => Code::INTERNAL,
    };
    Status::new(code, error.to_string())
}

pub(super) fn deadline_exceeded() -> Status {
    Status::new(Code::DEADLINE_EXCEEDED, "context deadline exceeded")
}
