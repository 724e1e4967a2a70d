//! The few requests that the lab makes of its own parts.

use std::time::Duration;

/// An answer of one of the lab's own parts is no longer than this.
const BODY_BYTES_MAX: u64 = 4 << 20;

/// Returns the answer of `url` within `limit`: the status and the body.
///
/// # Errors
/// There is no answer; the text says why.
pub(crate) fn get(url: &str, authorization: Option<&str>, limit: Duration) -> Result<(u16, String), String> {
    let mut request = agent(limit).get(url);
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    read(request.call())
}

/// Returns the answer of `url` to a PUT of this body.
///
/// # Errors
/// There is no answer; the text says why.
pub(crate) fn put(url: &str, body: &str, limit: Duration) -> Result<(u16, String), String> {
    read(agent(limit).put(url).send(body))
}

fn agent(limit: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder().timeout_global(Some(limit)).http_status_as_error(false);
    // A proxy of the environment must not stand between the parts of one machine.
    config.proxy(None).build().new_agent()
}

fn read(answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<(u16, String), String> {
    let mut answer = answer.map_err(|error| error.to_string())?;
    let status = answer.status().as_u16();
    let body = ::answer::read_text(answer.body_mut(), BODY_BYTES_MAX);
    Ok((status, body.map_err(|error| error.to_string())?))
}
