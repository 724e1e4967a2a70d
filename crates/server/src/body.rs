//! Reads request bodies within limits.

use std::time::Duration;

use axum::body::Body;
use http::StatusCode;
use http_body_util::{BodyExt, Limited};

/// Timeout for reading a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads a body of at most `bytes_max` bytes.
///
/// # Errors
/// The body is truncated, too long, or too slow: the status and message of the response.
pub(crate) async fn read(body: Body, bytes_max: usize) -> Result<Vec<u8>, (StatusCode, String)> {
    let collected = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, bytes_max).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes().into()),
        Ok(Err(_)) => {
            let why = format!("the body is cut, or longer than {bytes_max} bytes");
            Err((StatusCode::BAD_REQUEST, why))
        }
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body took too long".into())),
    }
}
