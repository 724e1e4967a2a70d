//! `URL` and `URLSearchParams` (WHATWG URL), over the crate `url`.

use rquickjs::{Array, Ctx, Value};
use url::{Url, form_urlencoded, quirks};

use crate::js::library::JsLibrary;
use crate::js::registry::LazyGlobal;
use crate::js::{self, Args, NativeFn};

pub(crate) static LIBRARY: JsLibrary =
    JsLibrary::new("globals/url", include_str!("../../js/url.js"), NATIVES);

pub(crate) const URL: LazyGlobal =
    LazyGlobal { name: "URL", build: |ctx, vu| LIBRARY.member(ctx, vu, "URL") };
pub(crate) const SEARCH_PARAMS: LazyGlobal =
    LazyGlobal { name: "URLSearchParams", build: |ctx, vu| LIBRARY.member(ctx, vu, "URLSearchParams") };

const NATIVES: &[(&str, NativeFn)] =
    &[("parse", parse), ("set", set), ("parseForm", parse_form), ("serializeForm", serialize_form)];

/// `parse(url, base?)`: its parts; `undefined` when it is none.
fn parse<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let base = match args.given(1) {
        Some(base) => match Url::parse(&js::to_string(args.ctx, &base)?) {
            Ok(base) => Some(base),
            Err(_) => return args.undefined(),
        },
        None => None,
    };
    match Url::options().base_url(base.as_ref()).parse(&args.string(0)?) {
        Ok(url) => parts(args.ctx, &url),
        Err(_) => args.undefined(),
    }
}

/// The parts of a URL, in the order that the JavaScript side knows.
fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> rquickjs::Result<Value<'js>> {
    let parts = Array::new(ctx.clone())?;
    let origin = quirks::origin(url);
    for (index, part) in [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
        &origin,
    ]
    .into_iter()
    .enumerate()
    {
        parts.set(index, part)?;
    }
    Ok(parts.into_value())
}

/// `set(href, name, value)`: the parts after the setter of that name; `undefined` when it changes nothing.
fn set<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Ok(mut url) = Url::parse(&args.string(0)?) else { return args.undefined() };
    let value = args.string(2)?;
    let done = match args.string(1)?.as_str() {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    if done.is_ok() { parts(args.ctx, &url) } else { args.undefined() }
}

/// `parseForm(text)`: the pairs in `application/x-www-form-urlencoded` text.
fn parse_form<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let pairs = Array::new(args.ctx.clone())?;
    for (index, (name, value)) in form_urlencoded::parse(args.string(0)?.as_bytes()).enumerate() {
        let pair = Array::new(args.ctx.clone())?;
        pair.set(0, &*name)?;
        pair.set(1, &*value)?;
        pairs.set(index, pair)?;
    }
    Ok(pairs.into_value())
}

/// `serializeForm(pairs)`: the text for them.
fn serialize_form<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    let pairs = args.get(0);
    for pair in pairs.as_array().into_iter().flat_map(Array::iter::<Array<'js>>) {
        let pair = pair?;
        let (name, value): (Value<'js>, Value<'js>) = (pair.get(0)?, pair.get(1)?);
        serializer.append_pair(&js::to_string(args.ctx, &name)?, &js::to_string(args.ctx, &value)?);
    }
    Ok(rquickjs::String::from_str(args.ctx.clone(), &serializer.finish())?.into_value())
}
