//! Bodies of requests, read within limits.

use std::time::Duration;

use axum::body::Body;
use http::StatusCode;
use http_body_util::{BodyExt, Limited};

/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// # Errors
/// It is cut, too long, or too slow: the status and the reason to answer with.
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
