//! CommonJS: files without `import` or `export`, and `require()`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rquickjs::{Ctx, Exception, Function, Object, Persistent, Value};

use crate::js::{self, Args};
use crate::source::Resolved;
use crate::state::VuState;
use crate::vm::File;

/// The `module.exports` of files that have run, by URL.
#[derive(Default)]
pub(crate) struct Cache(RefCell<HashMap<String, Persistent<Object<'static>>>>, RefCell<Vec<String>>);

impl Cache {
    pub(crate) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    /// Runs something on behalf of a file that was required.
    fn during<T>(&self, url: &str, body: impl FnOnce() -> T) -> T {
        self.1.borrow_mut().push(url.to_owned());
        let value = body();
        self.1.borrow_mut().pop();
        value
    }

    /// The file that runs right now, because something required it.
    pub(crate) fn running(&self) -> Option<String> {
        self.1.borrow().last().cloned()
    }
}

/// Wraps a file as Node.js does. The newline before the end keeps a trailing `//` comment from eating it.
pub(crate) fn wrap(source: &str) -> String {
    format!("(function (exports, module, require) {{{source}\n}})")
}

/// Runs a CommonJS file once and returns its `module.exports`.
pub(crate) fn load<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    url: &str,
    bytecode: &std::sync::Arc<[u8]>,
) -> rquickjs::Result<Value<'js>> {
    if let Some(module) = vu.cjs.0.borrow().get(url).cloned() {
        return module.restore(ctx)?.get("exports");
    }
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    // Known before it runs, so that a circle of requires finds what is there so far, as in Node.js.
    vu.cjs.0.borrow_mut().insert(url.to_owned(), Persistent::save(ctx, module.clone()));
    let function: Function<'js> =
        js::run_script(ctx, bytecode)?.into_function().ok_or(rquickjs::Error::Exception)?;
    let require = require_from(ctx, vu, url)?;
    vu.cjs.during(url, || function.call::<_, Value<'js>>((exports, module.clone(), require)))?;
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
    Function::new(ctx.clone(), move |ctx: Ctx<'js>, specifier: String| require(&ctx, &vu, &url, &specifier))?
        .with_name("require")
}

/// The global `require`, for ES modules that use it.
pub(crate) fn global_require<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let specifier = args.string(0)?;
    require(args.ctx, args.vu, "", &specifier)
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
    let resolved =
        vu.init.sources.resolve(base, specifier).map_err(|text| Exception::throw_message(ctx, &text))?;
    match resolved {
        Resolved::Builtin(name) => Ok(crate::modules::object(ctx, vu, name)?.into_value()),
        Resolved::File(url) => match crate::vm::file(ctx, vu, &url)? {
            File::CommonJs(bytecode) => load(ctx, vu, &url, &bytecode),
            // Declared above, so that importing it finds it.
            File::Declared(_) => {
                vu.cjs.during(&url, || crate::vm::namespace(ctx, &url)).map(Object::into_value)
            }
        },
    }
}
