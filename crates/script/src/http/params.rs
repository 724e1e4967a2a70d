//! From what a script passes to a request ready to send.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use model::{GoDuration, Instant, TagSetId};
use rquickjs::{Class, Exception, Object, Value};
use wire::Auth;

use super::expected;
use super::jar::Jar;
use super::url::Url;
use super::{body, form, suspects, url};
use crate::js::{self, Args};
use crate::state::http::{ResponseCallback, SharedJar};
use crate::trace_context::TraceOf;

/// How a response's body reaches the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseType {
    Text,
    Binary,
    None,
}

/// A request ready to send, with all that is needed to count and answer it.
pub(crate) struct Prepared {
    pub(crate) request: wire::Request,
    pub(crate) url: Rc<Url>,
    pub(crate) auth: Auth,
    pub(crate) redirects_max: u32,
    /// Whether reaching the limit deserves a warning: the script did not set it.
    pub(crate) warns_at_redirect_limit: bool,
    pub(crate) response_type: ResponseType,
    pub(crate) callback: ResponseCallback,
    pub(crate) throws: bool,
    /// Tags of this request only; `name` among them is in `name` too.
    pub(crate) tags: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) name: Option<Arc<str>>,
    /// Cookies of this request only: name, value, whether it replaces the jar's.
    pub(crate) cookies: Vec<(String, String, bool)>,
    pub(crate) jar: SharedJar,
    /// The VU's own tags when the request was made.
    pub(crate) base_tags: TagSetId,
    /// When it was due; `None` in closed scenarios.
    pub(crate) due: Option<Instant>,
    pub(crate) timeout: Duration,
    /// Which trace it belongs to, where there are any.
    pub(crate) trace: TraceOf,
    /// Why it cannot be sent at all.
    pub(crate) problem: Option<wire::Error>,
    /// Whether k6 counts it all the same.
    pub(crate) is_counted_problem: bool,
    /// Whether it is one of `k6/x/sse`.
    pub(crate) is_sse: bool,
}

/// k6's default.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(60);

/// Reads the arguments of a request function.
///
/// # Errors
/// A JavaScript exception: called during init, or parameters of the wrong kind. A bad URL is no exception: it becomes
/// [`Prepared::problem`], because k6 answers it with a response.
pub(crate) fn prepare<'js>(
    args: &Args<'_, 'js>,
    method: &str,
    url_value: &Value<'js>,
    body: Option<Value<'js>>,
    params: Option<Value<'js>>,
) -> rquickjs::Result<Box<Prepared>> {
    let vu = args.vu;
    let Some(plan) = vu.plan().filter(|_| vu.is_running()) else {
        return Err(args.error("Making http requests in the init context is not supported"));
    };
    let (url, mut problem) = match url::from_js(args.ctx, url_value)? {
        Ok(url) => (url, None),
        Err(error) => (url::unusable(args.ctx, url_value)?, Some(error)),
    };
    if problem.is_some() || url.is_suspect {
        suspects::warn(args, url_value, &url.tag)?;
    }
    let method = match known_method(method) {
        Ok(method) => method,
        Err(error) => {
            problem.get_or_insert(error);
            wire::Method::GET
        }
    };
    let mut request = wire::Request::new(method, url.target.clone(), Instant::MAX);
    request.user_agent = vu.http.user_agent();
    let discards = plan.http.discard_response_bodies;
    // Boxed, because it is large and would lie on the VU's stack twice, in the result and beside it.
    let mut prepared = Box::new(Prepared {
        request,
        url,
        auth: Auth::Basic,
        redirects_max: plan.http.max_redirects,
        warns_at_redirect_limit: plan.http.max_redirects_is_default,
        response_type: if discards { ResponseType::None } else { ResponseType::Text },
        callback: vu.http.callback.borrow().clone(),
        throws: plan.http.throw,
        tags: Vec::new(),
        name: None,
        cookies: Vec::new(),
        jar: vu.http.jar.borrow().clone(),
        base_tags: vu.tags.borrow_mut().id(&vu.cache),
        due: vu.next_due.get(),
        timeout: TIMEOUT_DEFAULT,
        trace: vu.tasks.trace_of_request(),
        is_counted_problem: problem.as_ref().is_some_and(|error| error.code != wire::ErrorCode::INVALID_URL),
        is_sse: false,
        problem,
    });
    if let Some(body) = body {
        set_body(args, &mut prepared, &body)?;
    }
    // k6 overlooks parameters that are no object.
    if let Some(params) = params.as_ref().and_then(Value::as_object) {
        read_params(args, &mut prepared, params)?;
    }
    prepared.request.keep_body = prepared.response_type != ResponseType::None;
    Ok(prepared)
}

impl Prepared {
    /// Notes a parameter that k6 answers with a failed response, not with an exception.
    fn complain(&mut self, text: impl Into<String>) {
        let error = wire::Error::new(wire::ErrorCode(0), wire::Stage::Prepare, wire::Kind::Invalid, text);
        self.problem.get_or_insert(error);
    }
}

/// Go takes no method for `GET`.
fn known_method(name: &str) -> Result<wire::Method, wire::Error> {
    if name.is_empty() { Ok(wire::Method::GET) } else { wire::Method::parse(name) }
}

fn set_body<'js>(args: &Args<'_, 'js>, prepared: &mut Prepared, body: &Value<'js>) -> rquickjs::Result<()> {
    if body.is_array() {
        prepared.complain("unknown type of a request's body: array");
        return Ok(());
    }
    let bytes = if body.is_string() {
        body::of_text(args, body)?
    } else if let Some(bytes) = js::with_bytes(body, body::of_bytes) {
        bytes
    } else if let Some((bytes, content_type)) = super::fetch_globals::body_of(args.vu, body)? {
        if let Some(content_type) = content_type {
            set_header(&mut prepared.request, "Content-Type", content_type);
        }
        Bytes::from(bytes)
    } else if let Some(object) = body.as_object().filter(|_| !body.is_function()) {
        let form = form::encode(args, object)?;
        set_header(&mut prepared.request, "Content-Type", form.content_type);
        Bytes::from(form.body)
    } else {
        prepared.complain(format!("unknown type of a request's body: {}", body.type_name()));
        return Ok(());
    };
    prepared.request.body = wire::Body::Bytes(bytes);
    Ok(())
}

/// Sets a header, replacing one of the same name.
pub(crate) fn set_header(request: &mut wire::Request, name: &str, value: String) {
    let name = wire::canonical_name(name);
    match request.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(&name)) {
        Some((_, known)) => *known = value,
        None => request.headers.push((Cow::Owned(name.into_owned()), value)),
    }
}

fn read_params<'js>(
    args: &Args<'_, 'js>,
    prepared: &mut Prepared,
    params: &Object<'js>,
) -> rquickjs::Result<()> {
    for entry in params.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        if value.is_undefined() || value.is_null() {
            match key.as_str() {
                // k6 refuses to guess what these mean when a script names them and gives nothing.
                "timeout" | "compression" | "responseType" => {
                    prepared.complain(format!("invalid {key}: {}", crate::console::format_value(&value)));
                }
                "responseCallback" => prepared.callback = ResponseCallback::Off,
                _ => {}
            }
            continue;
        }
        match key.as_str() {
            "headers" => read_headers(args, prepared, &value)?,
            "cookies" => read_cookies(args, prepared, &value)?,
            "jar" => {
                let jar = value.as_object().and_then(Class::<Jar>::from_object);
                if let Some(jar) = jar {
                    prepared.jar = jar.borrow().0.clone();
                }
            }
            "tags" => read_tags(args, prepared, &value)?,
            "timeout" => read_timeout(args, prepared, &value)?,
            "redirects" => {
                prepared.redirects_max = js::to_number(args.ctx, &value)?.max(0.0) as u32;
                prepared.warns_at_redirect_limit = false;
            }
            "compression" => compress(prepared, &js::to_string(args.ctx, &value)?),
            "responseType" => read_response_type(prepared, &js::to_string(args.ctx, &value)?),
            "auth" => prepared.auth = auth(args, &js::to_string(args.ctx, &value)?)?,
            "throw" => prepared.throws = js::to_bool(&value),
            "responseCallback" => match expected::statuses_of(&value) {
                Some(callback) => prepared.callback = callback,
                None => prepared.complain("unsupported responseCallback"),
            },
            // k6 ignores what it does not know.
            _ => {}
        }
    }
    Ok(())
}

fn read_headers<'js>(
    args: &Args<'_, 'js>,
    prepared: &mut Prepared,
    value: &Value<'js>,
) -> rquickjs::Result<()> {
    let Some(headers) = value.as_object() else { return Ok(()) };
    for entry in headers.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        set_header(&mut prepared.request, &name, js::to_string(args.ctx, &value)?);
    }
    Ok(())
}

fn read_cookies<'js>(
    args: &Args<'_, 'js>,
    prepared: &mut Prepared,
    value: &Value<'js>,
) -> rquickjs::Result<()> {
    let Some(cookies) = value.as_object() else { return Ok(()) };
    for entry in cookies.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        if value.is_null() || value.is_undefined() {
            continue;
        }
        let cookie = match value.as_object() {
            Some(object) => {
                let replace: Value<'js> = object.get("replace")?;
                let content: Value<'js> = object.get("value")?;
                (name, js::to_string(args.ctx, &content)?, js::to_bool(&replace))
            }
            None => (name, js::to_string(args.ctx, &value)?, false),
        };
        prepared.cookies.push(cookie);
    }
    Ok(())
}

fn read_tags<'js>(args: &Args<'_, 'js>, prepared: &mut Prepared, value: &Value<'js>) -> rquickjs::Result<()> {
    match crate::js::tags::from_js(args.ctx, value) {
        Ok(tags) => prepared.tags = tags,
        Err(rquickjs::Error::Exception) => {
            let thrown = args.ctx.catch().into_object().and_then(Exception::from_object);
            let message = thrown.and_then(|thrown| thrown.message()).unwrap_or_default();
            prepared.complain(format!("invalid tags: {message}"));
        }
        Err(error) => return Err(error),
    }
    prepared.name = prepared.tags.iter().find(|(name, _)| &**name == "name").map(|(_, value)| value.clone());
    Ok(())
}

/// A timeout: milliseconds, or text such as `1m30s`.
fn read_timeout<'js>(
    args: &Args<'_, 'js>,
    prepared: &mut Prepared,
    value: &Value<'js>,
) -> rquickjs::Result<()> {
    let timeout = match value.as_number() {
        Some(ms) => timeout_of_ms(ms),
        None => parse_timeout(&js::to_string(args.ctx, value)?),
    };
    match timeout {
        Some(timeout) => prepared.timeout = timeout,
        None => prepared.complain(format!(
            "invalid timeout {}: give milliseconds or a text like \"30s\"",
            crate::console::format_value(value)
        )),
    }
    Ok(())
}

/// So many milliseconds, at most 31 years; `None` for what is no length of time.
fn timeout_of_ms(ms: f64) -> Option<Duration> {
    /// Far beyond any request, and far from overflowing.
    const TIMEOUT_MS_MAX: f64 = 1e12;
    not_negative(GoDuration::from_ms(ms.min(TIMEOUT_MS_MAX))?)
}

fn parse_timeout(text: &str) -> Option<Duration> {
    not_negative(GoDuration::parse(text)?)
}

fn not_negative(duration: GoDuration) -> Option<Duration> {
    (duration.ns >= 0).then(|| duration.to_std())
}

fn compress(prepared: &mut Prepared, list: &str) {
    match wire::encode(prepared.request.body.as_bytes(), list) {
        Ok(Some(encoded)) => {
            prepared.request.body = wire::Body::Bytes(encoded.body.into());
            set_header(&mut prepared.request, "Content-Encoding", encoded.content_encoding);
        }
        Ok(None) => {}
        Err(error) => prepared.complain(error.to_string()),
    }
}

fn read_response_type(prepared: &mut Prepared, name: &str) {
    prepared.response_type = match name {
        "text" => ResponseType::Text,
        "binary" => ResponseType::Binary,
        "none" => ResponseType::None,
        _ => {
            prepared.complain(format!("{name} is not a valid ResponseType; use text, binary or none"));
            return;
        }
    };
}

fn auth(args: &Args<'_, '_>, name: &str) -> rquickjs::Result<Auth> {
    Auth::parse(name).map_err(|error| args.error(error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts() {
        let check = |got: Option<Duration>, expect_ms: Option<u64>| {
            assert_eq!(got, expect_ms.map(Duration::from_millis));
        };
        check(parse_timeout("1m30s"), Some(90_000));
        check(parse_timeout("250"), Some(250));
        check(parse_timeout("-1s"), None);
        check(parse_timeout("5 apples"), None);
        check(timeout_of_ms(2_000.0), Some(2_000));
        check(timeout_of_ms(f64::INFINITY), Some(1_000_000_000_000));
        check(timeout_of_ms(-1.0), None);
        check(timeout_of_ms(f64::NEG_INFINITY), None);
    }
}
