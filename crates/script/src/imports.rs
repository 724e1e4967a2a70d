//! The imports of a script, without running any of it.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{CatchResultExt, Context, Ctx, Exception, Module, Runtime};

use crate::bundle::{Entry, place};
use crate::directives::{Asked, DirectiveError, asked};
use crate::error::ScriptError;
use crate::outside::Outside;
use crate::source::{Resolved, Sources};

/// Stack that the compiler may use: nesting in hostile text ends there and not in a crash.
const COMPILER_STACK_BYTES: usize = 1 << 20;

/// Imports of a script and its modules by `import` and `export … from`, each once and in alphabetical order. Calls of
/// `require()` are known only when they run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imports {
    /// The script itself, other files by their URLs, and modules of the host.
    pub found: Vec<String>,
    /// Modules by k6's names that are not here: extensions, mostly.
    pub absent: Vec<String>,
    /// Version constraints from the directives of all files, where they are valid.
    pub asked: Result<Asked, DirectiveError>,
}

/// Follows the imports of a script.
///
/// # Errors
/// A file cannot be read or does not parse.
pub fn imports(entry: Entry, outside: Outside) -> Result<Imports, ScriptError> {
    // The compiler's stack limit counts from its entry, and the parent process chooses the size of the main thread's stack.
    let thread = std::thread::Builder::new().stack_size(4 * COMPILER_STACK_BYTES);
    let thread = thread.spawn(move || follow(&entry, outside));
    let thread = thread.map_err(|error| ScriptError::Host(error.to_string()))?;
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn follow(entry: &Entry, outside: Outside) -> Result<Imports, ScriptError> {
    let host = |error: rquickjs::Error| ScriptError::Host(error.to_string());
    let (url, folder) = place(&entry.path);
    let sources = Rc::new(Sources::new(folder, outside, crate::host::module_names()));
    sources.add_text(&url, entry.text.clone());
    let absent = Rc::<std::cell::RefCell<BTreeSet<String>>>::default();
    let runtime = Runtime::new().map_err(host)?;
    runtime.set_max_stack_size(COMPILER_STACK_BYTES);
    runtime.set_loader(Follower(sources.clone(), absent.clone()), Follower(sources.clone(), absent.clone()));
    let context = Context::full(&runtime).map_err(host)?;
    context.with(|ctx| {
        let text = sources.read_text(&url).map_err(ScriptError::Missing)?;
        match declare(&ctx, &url, &text).catch(&ctx) {
            Ok(_) => Ok(()),
            Err(error) => Err(ScriptError::Missing(error.to_string())),
        }
    })?;
    let texts = sources.texts();
    let asked = asked(texts.iter().map(|(url, text)| (&**url, &**text)));
    let files = texts.into_iter().map(|(url, _)| url);
    let mut found: Vec<String> = files.chain(sources.builtins().into_iter().map(str::to_owned)).collect();
    found.sort();
    let absent = absent.borrow().iter().cloned().collect();
    Ok(Imports { found, absent, asked })
}

/// Compiling a module loads its imports. A CommonJS file imports nothing that is known before it runs.
fn declare<'js>(ctx: &Ctx<'js>, url: &str, text: &Arc<str>) -> rquickjs::Result<Module<'js, Declared>> {
    if url.ends_with(".json") {
        return Module::declare(ctx.clone(), url, "");
    }
    let stripped = crate::loader::code::strip(url, text).map_err(|refusal| refusal.throw(ctx, url))?;
    let text = stripped.as_ref().map_or(&**text, |stripped| &stripped.code);
    Module::declare(ctx.clone(), url, if crate::syntax::is_module(text) { text } else { "" })
}

struct Follower(Rc<Sources>, Rc<std::cell::RefCell<BTreeSet<String>>>);

impl Resolver for Follower {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        match self.0.resolve(base, name) {
            Ok(Resolved::Builtin(name)) => Ok(name.to_owned()),
            Ok(Resolved::File(url)) => Ok(url),
            Err(_) if name.starts_with("k6/") => {
                self.1.borrow_mut().insert(name.to_owned());
                Ok(name.to_owned())
            }
            Err(text) => Err(Exception::throw_message(ctx, &text)),
        }
    }
}

impl Loader for Follower {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        if crate::source::is_builtin_name(name) || name == crate::source::EMPTY_URL {
            return Module::declare(ctx.clone(), name, "");
        }
        let text = self.0.read_text(name).map_err(|text| Exception::throw_message(ctx, &text))?;
        declare(ctx, name, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outside::PackedFiles;

    fn imports_of(text: &str, files: &[(&str, &str)]) -> Result<Imports, ScriptError> {
        let packed: PackedFiles =
            files.iter().map(|(path, text)| ((*path).into(), text.as_bytes().into())).collect();
        let entry = Entry { path: "/t/s.js".into(), text: text.to_owned() };
        imports(entry, Outside { packed: Some(packed), ..Outside::default() })
    }

    #[track_caller]
    fn check(text: &str, files: &[(&str, &str)], found: &[&str], absent: &[&str]) {
        let imports = imports_of(text, files).expect("it parses");
        assert_eq!((imports.found, imports.absent), (owned(found), owned(absent)));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn imports_are_followed_and_nothing_runs() {
        check(
            "import http from 'k6/http'; import './lib/a.js'; import x from 'k6/x/kafka'; throw new Error('it ran');",
            &[("/t/lib/a.js", "export * from '../b.js'"), ("/t/b.js", "exports.b = require('k6/x/redis')")],
            &["file:///t/b.js", "file:///t/lib/a.js", "file:///t/s.js", "k6/http"],
            &["k6/x/kafka"],
        );
        check(
            "import './a.ts'",
            &[("/t/a.ts", "import { check } from 'k6'; export const a: number = check(1, {}) ? 1 : 2;")],
            &["file:///t/a.ts", "file:///t/s.js", "k6"],
            &[],
        );
        let refused =
            imports_of("import 'lodash'", &[]).expect_err("nothing is said of packages").to_string();
        assert!(refused.contains("does not say which file \"lodash\""), "{refused}");
        let inside = [("/t/node_modules/a/i.js", "import './j.js'"), ("/t/node_modules/a/j.js", "")];
        let urls = ["file:///t/node_modules/a/i.js", "file:///t/node_modules/a/j.js", "file:///t/s.js"];
        check("import './node_modules/a/i.js'", &inside, &urls, &[]);
        check("exports.default = () => {}", &[], &["file:///t/s.js"], &[]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = imports_of("import './gone.js'", &[]).expect_err("it is not there").to_string();
        assert!(error.contains("/t/gone.js"), "{error}");
        let error = imports_of("import 'lodash'", &[]).expect_err("it is not there").to_string();
        assert!(error.contains("lodash"), "{error}");
        assert!(imports_of("export default (", &[]).is_err());
        let deep = format!("export default {}", "[".repeat(200_000));
        assert!(imports_of(&deep, &[]).is_err());
    }
}
