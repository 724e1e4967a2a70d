//! `import.meta`, of which k6 has one member: `resolve()`.

use std::rc::Rc;

use rquickjs::{Ctx, Module, Value};
use url::Url;

use crate::js;
use crate::outside;
use crate::source::{Resolved, Sources, is_builtin_name};
use crate::state::VuState;

/// Whether a module asks for it. Most do not, and every VU would pay.
pub(crate) fn is_asked_for(text: &str) -> bool {
    text.contains("import.meta")
}

/// Puts it into the module of the file `url`.
pub(crate) fn install<'js, T>(vu: &Rc<VuState>, url: &str, module: &Module<'js, T>) -> rquickjs::Result<()> {
    let meta = module.meta()?;
    let (vu, base) = (vu.clone(), url.to_owned());
    let resolve = move |ctx: Ctx<'js>, specifier: rquickjs::function::Opt<Value<'js>>| {
        let given = specifier.0.filter(|value| !value.is_undefined() && !value.is_null());
        let specifier = given.map_or(Ok(String::new()), |value| js::to_string(&ctx, &value))?;
        resolve(&vu.init.sources, &base, &specifier).map_err(|why| js::go_error(&ctx, &why))
    };
    meta.set("resolve", crate::js::closure(meta.ctx(), resolve)?.with_name("resolve")?)
}

/// The URL that `specifier` in the file `base` stands for, whether there is anything or not.
///
/// # Errors
/// A text for the user: it stands for no URL.
fn resolve(sources: &Sources, base: &str, specifier: &str) -> Result<String, String> {
    if specifier.is_empty() {
        return Err("import.meta.resolve() can't be used with an empty specifier".into());
    }
    if is_builtin_name(specifier) {
        return Err(format!("\"{specifier}\" is a module of the program, and has no URL"));
    }
    if let Some(url) = outside::resolve(base, specifier)? {
        return Ok(url);
    }
    let no_url = || format!("\"{specifier}\" in {base} is no URL");
    let is_path = ["./", "../", "/", "file://"].iter().any(|start| specifier.starts_with(start));
    if is_path || specifier == "." || specifier == ".." {
        let joined = file(base).and_then(|base| base.join(specifier).ok());
        return joined.map(String::from).ok_or_else(no_url);
    }
    match sources.resolve(base, specifier)? {
        Resolved::File(url) => file(&url).map(String::from).ok_or_else(no_url),
        Resolved::Builtin(_) => Err(no_url()),
    }
}

/// The URL of a file by our own, which has the path as it is.
fn file(url: &str) -> Option<Url> {
    Url::from_file_path(url.strip_prefix("file://")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::Outside;

    #[track_caller]
    fn check(base: &str, specifier: &str, expect: Result<&str, &str>) {
        let sources = Sources::new("/a b".into(), Outside::default(), Vec::new());
        match (resolve(&sources, base, specifier), expect) {
            (Ok(url), Ok(expect)) => assert_eq!(url, expect),
            (Err(text), Err(expect)) => assert!(text.contains(expect), "{text}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn specifiers_become_urls() {
        let base = "file:///a b/s.js";
        check(base, "./x.js", Ok("file:///a%20b/x.js"));
        check(base, "../ü.js", Ok("file:///%C3%BC.js"));
        check(base, ".", Ok("file:///a%20b/"));
        check(base, "/abs/x.js", Ok("file:///abs/x.js"));
        check(base, "file:///y.js", Ok("file:///y.js"));
        check(base, "https://x.example/a.js?b#c", Ok("https://x.example/a.js?b#c"));
        check("https://x.example/lib/a.js", "./b.js", Ok("https://x.example/lib/b.js"));
        check(base, "http://x.example/a.js", Err("https://x.example/a.js"));
        check(base, "k6/http", Err("module of the program"));
        check(base, "absent", Err("npm install absent"));
        check(base, "", Err("empty"));
    }
}
