//! Cookies as scripts see them: `http.cookieJar()`, `new http.CookieJar()`, `res.cookies`.

use model::{Clock, SystemClock};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Array, Class, Ctx, Object, Value};
use wire::{CookieAttributes, SetCookie};

use super::response::Facts;
use crate::js::{self, Args, NativeFn, js_lifetime};
use crate::state::http::SharedJar;

/// The cookies that went along with a request: name, value, and that they replaced nothing.
pub(super) fn sent_cookies(jar: &SharedJar, target: &wire::Target) -> Vec<(String, String, bool)> {
    let jar = jar.cookies().borrow();
    if jar.is_empty() {
        return Vec::new();
    }
    let cookies = jar.cookies_for(target, now_unix_ms()).into_iter();
    cookies.map(|(name, value)| (name.to_owned(), value.to_owned(), false)).collect()
}

/// The JavaScript object.
pub(crate) struct Jar(pub(crate) SharedJar);
js_lifetime!(Jar);

impl<'js> Trace<'js> for Jar {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Jar {
    const NAME: &'static str = "CookieJar";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

const METHODS: &[(&str, NativeFn)] =
    &[("cookiesForURL", cookies_for_url), ("set", set), ("clear", clear), ("delete", delete)];

fn object<'js>(args: &Args<'_, 'js>, jar: SharedJar) -> rquickjs::Result<Value<'js>> {
    let object = Class::instance(args.ctx.clone(), Jar(jar))?.into_inner();
    js::set_natives(&object, args.vu, METHODS)?;
    Ok(object.into_value())
}

/// `cookieJar()`: the VU's own.
pub(super) fn current<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if !args.vu.is_running() {
        return Err(args.error("Getting the cookie jar in the init context is not supported"));
    }
    let jar = args.vu.http.jar.borrow().clone();
    object(args, jar)
}

/// `new CookieJar()`: an empty one.
pub(super) fn construct<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    object(args, SharedJar::default())
}

fn this_jar(args: &Args<'_, '_>) -> rquickjs::Result<SharedJar> {
    let object = args.this().into_object();
    match object.as_ref().and_then(Class::<Jar>::from_object) {
        Some(jar) => Ok(jar.borrow().0.clone()),
        None => Err(args.type_error("this is not a CookieJar")),
    }
}

fn target(args: &Args<'_, '_>) -> rquickjs::Result<wire::Target> {
    let url = args.string(0)?;
    wire::Target::parse(&url).map_err(|error| args.error(error.story()))
}

fn now_unix_ms() -> i64 {
    SystemClock.wall_unix_ns() / 1_000_000
}

/// `cookiesForURL(url)`: names and lists of values.
fn cookies_for_url<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let jar = this_jar(args)?;
    let target = target(args)?;
    let object = Object::new(args.ctx.clone())?;
    let jar = jar.cookies().borrow();
    for (name, value) in jar.cookies_for(&target, now_unix_ms()) {
        let values = match object.get::<_, Option<Array<'js>>>(name)? {
            Some(values) => values,
            None => Array::new(args.ctx.clone())?,
        };
        values.set(values.len(), value)?;
        object.set(name, values)?;
    }
    Ok(object.into_value())
}

/// `set(url, name, value, options?)`
fn set<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let jar = this_jar(args)?;
    let target = target(args)?;
    let mut attributes = CookieAttributes::default();
    if let Some(options) = args.given(3).and_then(Value::into_object) {
        for entry in options.props::<String, Value<'js>>() {
            let (name, value) = entry?;
            let text = js::to_string(args.ctx, &value)?;
            match name.to_ascii_lowercase().as_str() {
                "domain" => attributes.domain = text,
                "path" => attributes.path = text,
                "expires" => match wire::parse_expires(&text) {
                    Some(expires) => attributes.expires_unix_ms = Some(expires),
                    None => {
                        return Err(args.error(format!(
                            "unable to parse \"expires\" date string \"{text}\"; write it as Mon, 02 Jan 2006 15:04:05 GMT"
                        )));
                    }
                },
                "max_age" => attributes.max_age_s = js::to_number(args.ctx, &value)? as i64,
                "secure" => attributes.secure = js::to_bool(&value),
                "http_only" => attributes.http_only = js::to_bool(&value),
                _ => {}
            }
        }
    }
    jar.cookies().borrow_mut().set(&target, &args.string(1)?, &args.string(2)?, &attributes, now_unix_ms());
    Ok(Value::new_bool(args.ctx.clone(), true))
}

/// `clear(url)`: forgets the cookies of a URL.
fn clear<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    this_jar(args)?.cookies().borrow_mut().clear(&target(args)?);
    args.undefined()
}

/// `delete(url, name)`: forgets one of them.
fn delete<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let name = args.string(1)?;
    this_jar(args)?.cookies().borrow_mut().delete(&target(args)?, &name);
    args.undefined()
}

/// One cookie of `res.cookies`; a class of its own, because `setup()` gives it other names (see [`after_setup`]).
struct ResponseCookie(SetCookie);
js_lifetime!(ResponseCookie);

impl<'js> Trace<'js> for ResponseCookie {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for ResponseCookie {
    const NAME: &'static str = "HTTPCookie";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// k6's value for a cookie without a date: Go's zero time, overflowed.
const NO_EXPIRES_MS: i64 = -6_795_364_578_871;

/// `res.cookies`: names and lists of cookies.
pub(super) fn response_cookies<'js>(ctx: &Ctx<'js>, facts: &Facts) -> rquickjs::Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    let Ok(response) = &facts.exchange.result else { return Ok(object.into_value()) };
    for cookie in SetCookie::parse_all(&response.headers) {
        let values = match object.get::<_, Option<Array<'js>>>(cookie.name.as_str())? {
            Some(values) => values,
            None => Array::new(ctx.clone())?,
        };
        let name = cookie.name.clone();
        let made = Class::instance(ctx.clone(), ResponseCookie(cookie))?;
        let shown = made.as_inner().clone();
        let cookie = &made.borrow().0;
        shown.set("name", cookie.name.as_str())?;
        shown.set("value", cookie.value.as_str())?;
        shown.set("domain", cookie.domain.as_str())?;
        shown.set("path", cookie.path.as_str())?;
        shown.set("http_only", cookie.http_only)?;
        shown.set("secure", cookie.secure)?;
        shown.set("max_age", cookie.max_age_s as f64)?;
        shown.set("expires", cookie.expires_unix_ms.unwrap_or(NO_EXPIRES_MS) as f64)?;
        values.set(values.len(), shown)?;
        object.set(name, values)?;
    }
    Ok(object.into_value())
}

/// A value as it looks after a passage through `setup()`: itself, but a cookie gets the names of k6's own structure,
/// because scripts rely on them.
pub(crate) fn after_setup(value: Value<'_>) -> rquickjs::Result<Value<'_>> {
    let Some(cookie) = value.as_object().and_then(Class::<ResponseCookie>::from_object) else {
        return Ok(value);
    };
    let cookie = &cookie.borrow().0;
    let renamed = Object::new(value.ctx().clone())?;
    renamed.set("Name", cookie.name.as_str())?;
    renamed.set("Value", cookie.value.as_str())?;
    renamed.set("Domain", cookie.domain.as_str())?;
    renamed.set("Path", cookie.path.as_str())?;
    renamed.set("HTTPOnly", cookie.http_only)?;
    renamed.set("Secure", cookie.secure)?;
    renamed.set("MaxAge", cookie.max_age_s as f64)?;
    renamed.set("Expires", cookie.expires_unix_ms.unwrap_or(NO_EXPIRES_MS) as f64)?;
    Ok(renamed.into_value())
}
