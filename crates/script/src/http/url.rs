//! URLs as scripts give them, checked once and remembered.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Ctx, Object, Value};
use rustc_hash::FxHashMap;

use super::suspects;
use crate::js::{self, Args};

/// A URL with the two tags that come from it.
#[derive(Debug)]
pub(crate) struct Url {
    /// Its number on this worker thread.
    pub(crate) id: u32,
    pub(crate) target: wire::Target,
    /// Value of the tags `url` and `name`: the URL with credentials masked, or a template.
    pub(crate) tag: Arc<str>,
    /// Whether a part of it looks like a value that is missing.
    pub(crate) is_suspect: bool,
}

/// URLs remembered per worker thread. Beyond it they are forgotten and numbered on.
const URLS_MAX: usize = 4096;

#[derive(Default)]
struct Known {
    urls: FxHashMap<Box<str>, Rc<Url>>,
    next_id: u32,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Checks `url`, or finds it checked.
pub(crate) fn find(url: &str) -> Result<Rc<Url>, wire::Error> {
    KNOWN.with_borrow_mut(|known| {
        if let Some(found) = known.urls.get(url) {
            return Ok(found.clone());
        }
        let target = wire::Target::parse(url)?;
        let tag = masked(url, &target).into();
        let found = known.number(target, tag, suspects::word(url).is_some());
        if known.urls.len() >= URLS_MAX {
            known.urls.clear();
        }
        known.urls.insert(url.into(), found.clone());
        Ok(found)
    })
}

/// A URL whose tags say something else than the URL itself.
pub(crate) fn named(url: &str, name: &str) -> Result<Rc<Url>, wire::Error> {
    let key = format!("{name}\0{url}");
    KNOWN.with_borrow_mut(|known| {
        if let Some(found) = known.urls.get(key.as_str()) {
            return Ok(found.clone());
        }
        let found = known.number(wire::Target::parse(url)?, name.into(), suspects::word(url).is_some());
        if known.urls.len() >= URLS_MAX {
            known.urls.clear();
        }
        known.urls.insert(key.into(), found.clone());
        Ok(found)
    })
}

/// Stands in for a URL that is none, in a request that is never sent; its tags and the script see what was given.
pub(crate) fn unusable<'js>(ctx: &Ctx<'js>, given: &Value<'js>) -> rquickjs::Result<Rc<Url>> {
    let text = if given.is_string() { js::to_string(ctx, given)?.replace(' ', "%20") } else { String::new() };
    // Go forgets the slashes of a URL that has nothing after them.
    let text = text.strip_suffix("://").map_or(text.clone(), |scheme| format!("{scheme}:"));
    let target = wire::Target::never(&text);
    Ok(KNOWN.with_borrow_mut(|known| known.number(target, text.into(), false)))
}

impl Known {
    fn number(&mut self, target: wire::Target, tag: Arc<str>, is_suspect: bool) -> Rc<Url> {
        self.next_id = self.next_id.wrapping_add(1);
        Rc::new(Url { id: self.next_id, target, tag, is_suspect })
    }
}

/// The URL as k6 shows it, its user information masked.
fn masked(url: &str, target: &wire::Target) -> String {
    let shown = target.shown();
    let Some((scheme, rest)) = shown.split_once("://").filter(|_| target.user().is_some()) else {
        return shown.to_owned();
    };
    let given = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = &given[..given.find(['/', '?', '#']).unwrap_or(given.len())];
    let has_password = authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    format!("{scheme}://{}@{rest}", if has_password { "****:****" } else { "****" })
}

/// ``http.url`https://host/${id}` ``: the URL with its template as the name.
pub(crate) fn template<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(parts) = args.get(0).into_array() else {
        return Err(args.type_error("http.url is a template tag: write http.url`https://…`"));
    };
    let mut url = String::new();
    let mut name = String::new();
    for (index, part) in parts.iter::<String>().enumerate() {
        let part = part?;
        url.push_str(&part);
        name.push_str(&part);
        if index + 1 < parts.len() {
            url.push_str(&args.string(index + 1)?);
            name.push_str("${}");
        }
    }
    let object = Object::new(args.ctx.clone())?;
    object.set(TEMPLATE_URL, url.as_str())?;
    object.set(TEMPLATE_NAME, name)?;
    let to_string = crate::js::closure(args.ctx, move || url.clone())?;
    object.set("toString", to_string)?;
    Ok(object.into_value())
}

const TEMPLATE_URL: &str = "url";
const TEMPLATE_NAME: &str = "name";

/// A URL argument: a string, or what [`template`] made. The outer error is an exception, the inner a bad URL.
pub(crate) fn from_js<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> rquickjs::Result<Result<Rc<Url>, wire::Error>> {
    if let Some(object) = value.as_object()
        && let Some(url) = object.get::<_, Option<String>>(TEMPLATE_URL)?
        && let Some(name) = object.get::<_, Option<String>>(TEMPLATE_NAME)?
    {
        return Ok(named(&url, &name));
    }
    if !value.is_string() {
        let text =
            format!("invalid request URL: a string is expected, not {}", crate::console::format_value(value));
        return Ok(Err(wire::Error::new(
            wire::ErrorCode::INVALID_URL,
            wire::Stage::Prepare,
            wire::Kind::Invalid,
            text,
        )));
    }
    js::with_text(ctx, value, find)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked() {
        let check = |url: &str, expect: &str| {
            assert_eq!(masked(url, &wire::Target::parse(url).unwrap()), expect);
        };
        check("http://a.b/c?d=e@f", "http://a.b/c?d=e@f");
        check("http://user:secret@a.b/c", "http://****:****@a.b/c");
        check("http://user@a.b", "http://****@a.b");
        check("HTTP://a.b?c=d e#", "http://a.b?c=d e");
        check("http://a.b/[c d]#e f", "http://a.b/%5Bc%20d%5D#e%20f");
    }

    #[test]
    fn a_url_is_checked_once() {
        let first = find("http://once.example/x").unwrap();
        assert!(Rc::ptr_eq(&first, &find("http://once.example/x").unwrap()));
        let other = named("http://once.example/x", "http://once.example/${}").unwrap();
        assert_ne!(first.id, other.id);
    }
}
