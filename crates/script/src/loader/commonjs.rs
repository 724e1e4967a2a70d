//! CommonJS: files without `import` or `export`, and `require()`.

use std::rc::Rc;

use rquickjs::{Ctx, Exception, Function, Object, Value};

use super::{File, file, namespace};
use crate::js::{self, Args};
use crate::opening::{Caller, caller};
use crate::outside::is_remote;
use crate::source::{Resolved, is_builtin_name};
use crate::state::VuState;

/// Text in front of a CommonJS file's own.
const BEFORE: &str = "(function (exports, module, require) {";

/// The same for a file of a package that asks for `process`: the little of it that libraries look at to find out how to
/// behave. It is around the function, so that a `"use strict"` stays the first thing in it.
const BEFORE_WITH_PROCESS: &str = "(process => function (exports, module, require) {";

/// The `process` of packages: that of bundles for browsers.
const PROCESS: &str = r#"{ env: { NODE_ENV: "production" }, browser: true, version: "", versions: {}, argv: [], platform: "browser", cwd: () => "/", nextTick: (f, ...a) => { Promise.resolve().then(() => f(...a)); } }"#;

/// Wraps a file as Node.js does, and says how many characters its first line has more now. The newline before the end
/// keeps a trailing `//` comment from eating it.
pub(crate) fn wrap(source: &str) -> (String, usize) {
    (format!("{BEFORE}{source}\n}})"), BEFORE.len())
}

/// The same for a file that may ask for `process`.
pub(crate) fn wrap_package(source: &str) -> (String, usize) {
    if !source.contains("process") {
        return wrap(source);
    }
    (format!("{BEFORE_WITH_PROCESS}{source}\n}})({PROCESS})"), BEFORE_WITH_PROCESS.len())
}

/// Runs a CommonJS file once and returns its `module.exports`.
pub(crate) fn load<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    url: &str,
    bytecode: &std::sync::Arc<[u8]>,
) -> rquickjs::Result<Value<'js>> {
    if let Some(module) = vu.common_js.module(url) {
        return module.restore(ctx)?.get("exports");
    }
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    // Known before it runs, so that a circle of requires finds what is there so far, as in Node.js.
    vu.common_js.add(ctx, url, module.clone());
    let function: Function<'js> =
        js::run_script(ctx, bytecode)?.into_function().ok_or(rquickjs::Error::Exception)?;
    let require = require_from(ctx, vu, url)?;
    let call = || function.call::<_, Value<'js>>((exports, module.clone(), require));
    vu.common_js.during(url, || vu::preempt::in_engine(call))?;
    module.get("exports")
}

/// A `require` that resolves from the file `url`.
pub(crate) fn require_from<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    url: &str,
) -> rquickjs::Result<Function<'js>> {
    let vu = vu.clone();
    let url = url.to_owned();
    crate::js::closure(ctx, move |ctx: Ctx<'js>, specifier: String| require(&ctx, &vu, &url, &specifier))?
        .with_name("require")
}

/// Whether a specifier means something on this machine's disk.
fn is_local(specifier: &str) -> bool {
    !is_builtin_name(specifier) && !is_remote(specifier)
}

/// The global `require`, for ES modules that use it.
pub(crate) fn global_require<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let specifier = args.string(0)?;
    let base = match caller(args.ctx, args.vu) {
        Caller::Local => String::new(),
        // As an import of that module: relative to its URL, and to no local file.
        Caller::Remote(url) => url,
        Caller::Unknown if is_local(&specifier) => {
            let refused = Caller::Unknown.may_read(&specifier);
            return refused.map_err(|text| args.error(text)).and_then(|()| args.undefined());
        }
        Caller::Unknown => String::new(),
    };
    require(args.ctx, args.vu, &base, &specifier)
}

fn require<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    base: &str,
    specifier: &str,
) -> rquickjs::Result<Value<'js>> {
    if vu.is_running() {
        return Err(Exception::throw_message(
            ctx,
            "the \"require\" function is only available in the init stage (i.e. the global scope)",
        ));
    }
    let resolved = vu
        .init
        .sources
        .resolve_required(base, specifier)
        .map_err(|text| Exception::throw_message(ctx, &text))?;
    match resolved {
        Resolved::Builtin(name) => Ok(js::registry::module(ctx, vu, name)?.into_value()),
        Resolved::File(url) => match file(ctx, vu, &url)? {
            File::CommonJs(bytecode) => load(ctx, vu, &url, &bytecode),
            // Declared above, so that importing it finds it.
            File::Declared(_) => vu.common_js.during(&url, || namespace(ctx, &url)).map(Object::into_value),
        },
    }
}
