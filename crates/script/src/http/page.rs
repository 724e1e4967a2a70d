//! A response as a page: `html()`, `clickLink()`, `submitForm()`.

use rquickjs::{Function, Value};

use super::response;
use crate::js::prelude::Prelude;
use crate::js::{Args, NativeFn};
use crate::modules::{fail, resolve, select_page};

static PAGE: Prelude = Prelude::new("k6/http/page", include_str!("page.js"));

const NATIVES: &[(&str, NativeFn)] =
    &[("encode", encode), ("fail", fail), ("request", super::request), ("resolve", resolve)];

/// `html(selector?)`
pub(super) fn html<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let page = page(args)?;
    if args.given(0).is_none() {
        return Ok(page);
    }
    let Some(page) = page.into_object() else { return args.undefined() };
    let find: Function<'js> = page.get("find")?;
    find.call((rquickjs::function::This(page), args.string(0)?))
}

/// `clickLink({ selector, params }?)`
pub(super) fn click_link<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    act(args, "clickLink")
}

/// `submitForm({ formSelector, submitSelector, fields, params }?)`
pub(super) fn submit_form<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    act(args, "submitForm")
}

fn act<'js>(args: &Args<'_, 'js>, name: &str) -> rquickjs::Result<Value<'js>> {
    let page = page(args)?;
    // Few scripts click, and those that do wait for an answer: what it takes is not kept.
    let acts = PAGE.run(args.ctx, args.vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Unknown)?;
    acts.get::<_, Function<'js>>(name)?.call((page, args.get(0)))
}

/// The body parsed, as a selection of the document.
fn page<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some((body, url)) = response::page_of(args)? else {
        return Err(args.error(
            "the body is null so we can't transform it to HTML - this likely was because of a request error getting the response",
        ));
    };
    select_page(args.ctx, args.vu, &String::from_utf8_lossy(&body), &url)
}

/// `encode(text)`: for a query.
fn encode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let encoded = wire::encode_form(&[(args.string(0)?.as_str(), "")]);
    Ok(rquickjs::String::from_str(args.ctx.clone(), encoded.trim_end_matches('='))?.into_value())
}
