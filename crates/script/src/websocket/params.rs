//! From what a script passes to a connection ready to open.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use model::{SystemClock, TagSetId};
use rquickjs::{Class, Object, Value};

use crate::http::Jar;
use crate::js::{self, Args};
use crate::state::http::SharedJar;

/// k6's limit for the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection ready to open.
pub(super) struct Prepared {
    /// As the script wrote it; samples carry it.
    pub(super) url: Arc<str>,
    pub(super) request: wire::Request,
    pub(super) jar: SharedJar,
    pub(super) offers_deflate: bool,
    pub(super) tags: Vec<(Arc<str>, Arc<str>)>,
    pub(super) base_tags: TagSetId,
    /// Whether it is a `WebSocket` object's: then samples carry the tag `name`, and a failed handshake is no session.
    pub(super) is_browser: bool,
}

/// The target of a `ws` or `wss` URL.
pub(super) fn target_of(url: &str) -> Result<wire::Target, wire::Error> {
    let (scheme, rest) = url.split_once(':').unwrap_or(("", url));
    let http = match () {
        () if scheme.eq_ignore_ascii_case("ws") => format!("http:{rest}"),
        () if scheme.eq_ignore_ascii_case("wss") => format!("https:{rest}"),
        () => String::new(),
    };
    if http.is_empty() {
        let message = "malformed ws or wss URL";
        return Err(wire::Error::new(
            wire::ErrorCode::INVALID_URL,
            wire::Stage::Prepare,
            wire::Kind::Invalid,
            message,
        ));
    }
    wire::Target::parse(&http)
}

/// Reads `params`; a `WebSocket` object refuses what it does not know.
///
/// # Errors
/// A JavaScript exception: a parameter of the wrong kind.
pub(super) fn prepare<'js>(
    args: &Args<'_, 'js>,
    url: &str,
    target: wire::Target,
    params: Option<Value<'js>>,
    is_browser: bool,
) -> rquickjs::Result<Prepared> {
    let vu = args.vu;
    if vu.plan().is_none() || !vu.is_running() {
        return Err(args.error("using websockets in the init context is not supported"));
    }
    let mut request = wire::Request::new(wire::Method::GET, target, SystemClock::now() + HANDSHAKE_TIMEOUT);
    request.user_agent = vu.http.user_agent();
    let mut prepared = Prepared {
        url: url.into(),
        request,
        jar: vu.http.jar(),
        offers_deflate: false,
        tags: Vec::new(),
        base_tags: vu.tags.borrow_mut().id(&vu.cache),
        is_browser,
    };
    let Some(params) = params else { return Ok(prepared) };
    let Some(params) = params.as_object() else {
        return Err(args.type_error("the parameters of a WebSocket must be an object"));
    };
    for entry in params.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        if value.is_undefined() || value.is_null() {
            continue;
        }
        match key.as_str() {
            "headers" => {
                if let Some(headers) = value.as_object() {
                    read_headers(args, &mut prepared, headers)?;
                }
            }
            "tags" => prepared.tags = crate::js::tags::from_js(args.ctx, &value)?,
            "jar" => {
                if let Some(jar) = value.as_object().and_then(Class::<Jar>::from_object) {
                    prepared.jar = jar.borrow().0.clone();
                }
            }
            "compression" => {
                let name = js::to_string(args.ctx, &value)?;
                match name.trim() {
                    "" => {}
                    "deflate" => prepared.offers_deflate = true,
                    other => {
                        return Err(args.error(format!(
                            "unsupported compression algorithm '{other}', supported algorithm is 'deflate'"
                        )));
                    }
                }
            }
            other if is_browser => return Err(args.error(format!("unknown WebSocket's option {other}"))),
            _ => {}
        }
    }
    Ok(prepared)
}

fn read_headers<'js>(
    args: &Args<'_, 'js>,
    prepared: &mut Prepared,
    headers: &Object<'js>,
) -> rquickjs::Result<()> {
    for entry in headers.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        prepared.set_header(&name, js::to_string(args.ctx, &value)?);
    }
    Ok(())
}

impl Prepared {
    /// Sets a header, replacing one of the same name.
    pub(super) fn set_header(&mut self, name: &str, value: String) {
        let headers = &mut self.request.headers;
        headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        headers.push((Cow::Owned(wire::canonical_name(name).into_owned()), value));
    }

    /// Counts the time for the handshake from now.
    pub(super) fn begin(&mut self) {
        self.request.deadline = SystemClock::now() + HANDSHAKE_TIMEOUT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_socket_urls_are_targets() {
        let check = |url: &str, expect: Option<&str>| {
            let target = target_of(url).ok();
            assert_eq!(target.as_ref().map(wire::Target::as_str), expect, "{url}");
        };
        check("ws://a.b/c?d", Some("http://a.b/c?d"));
        check("WSS://a.b:1/", Some("https://a.b:1/"));
        check("http://a.b/", None);
        check("nonsense", None);
        check("ws:", None);
        check("", None);
    }
}
