//! A file as the engine gets it: types stripped, CommonJS wrapped, JSON as a value.

use std::rc::Rc;
use std::sync::Arc;

use model::LogLevel;
use rquickjs::module::Declared;
use rquickjs::{Ctx, Exception, Module};
use transpile::{Output, SyntaxError};

use super::commonjs;
use crate::source::places::{self, Generated};
use crate::source::{EMPTY_URL, is_in_package, is_json};
use crate::state::VuState;

/// Code to compile.
pub(crate) enum Code {
    Module(Arc<str>),
    CommonJs(String),
}

/// Why a file is no code.
pub(crate) enum Refusal {
    /// A text for the user.
    Unusable(String),
    Syntax(SyntaxError),
}

impl Refusal {
    /// Throws it, with the place as its stack.
    pub(crate) fn throw(self, ctx: &Ctx<'_>, url: &str) -> rquickjs::Error {
        let error = match self {
            Refusal::Unusable(text) => return Exception::throw_message(ctx, &text),
            Refusal::Syntax(error) => error,
        };
        let help = error.help.map(|help| format!(" ({help})")).unwrap_or_default();
        let thrown = Exception::throw_syntax(ctx, &format!("{}{help}", error.message));
        let value = ctx.catch();
        if let Some(object) = value.as_object() {
            // Without it the message is still there.
            let _ = object.set("stack", format!("    at {url}:{}:{}\n", error.line, error.column));
        }
        ctx.throw(value);
        thrown
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Refusal {
        Refusal::Unusable(text)
    }
}

/// Reads a file and makes it what the engine understands; notes what leads back to what was written.
pub(crate) fn prepare(vu: &Rc<VuState>, url: &str) -> Result<Code, Refusal> {
    let sources = &vu.init.sources;
    if url == EMPTY_URL {
        return Ok(Code::CommonJs(commonjs::wrap("").0));
    }
    if url.ends_with(".json") && !is_in_package(url) {
        let text = format!("\"{url}\" cannot be imported; read it with JSON.parse(open(\"./file.json\"))");
        return Err(Refusal::Unusable(text));
    }
    let text = sources.read_text(url)?;
    if places::names_a_map(&text) {
        sources.set_mapped();
    }
    if let Some(note) = places::missing_map(url, &text) {
        vu.log(LogLevel::Debug, "", note);
    }
    if url.ends_with(".json") {
        return json(url, &text);
    }
    let stripped = strip(url, &text)?;
    let mut generated = Generated::default();
    let text: Arc<str> = match stripped {
        Some(Output { code, map }) => {
            generated.map = Some(Arc::new(map));
            sources.set_mapped();
            code.into()
        }
        None => text,
    };
    let is_package = is_in_package(url);
    if crate::syntax::is_module(&text) {
        if generated.map.is_some() {
            sources.add_generated(url, generated);
        }
        return Ok(Code::Module(if is_package { without_process(text) } else { text }));
    }
    let (code, first_line_chars) =
        if is_package { commonjs::wrap_package(&text) } else { commonjs::wrap(&text) };
    sources.add_generated(url, Generated { first_line_chars, ..generated });
    Ok(Code::CommonJs(code))
}

/// Declares a module again that did not compile because it declares a function twice, which k6 accepts; warns of it.
pub(crate) fn declare_without_redeclared<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    url: &str,
    text: &str,
    error: rquickjs::Error,
) -> rquickjs::Result<Module<'js, Declared>> {
    let thrown = ctx.catch();
    let message = thrown.as_object().and_then(|object| object.get::<_, String>("message").ok());
    let may_be = message.is_some_and(|message| message.contains(REDEFINITION));
    let Some((code, redeclared)) = may_be.then(|| transpile::without_redeclared(text)).flatten() else {
        ctx.throw(thrown);
        return Err(error);
    };
    let module = Module::declare(ctx.clone(), url, code.as_bytes())?;
    for function in redeclared {
        let lines: Vec<String> = function.lines.iter().map(ToString::to_string).collect();
        vu.warn(format!(
            "{}() is declared {} times at the top level of {url}, in lines {}: the last declaration counts, as in k6; remove \
             the others",
            function.name,
            lines.len(),
            lines.join(", ")
        ));
    }
    Ok(module)
}

/// Part of the engine's message about names that are declared twice.
const REDEFINITION: &str = "invalid redefinition";

/// Part of the engine's message about names that are exported twice.
const EXPORTED_TWICE: &str = "duplicate exported name";

/// Says what is the matter with a file that did not compile, if it is TypeScript under a name that does not say so.
pub(crate) fn explain(ctx: &Ctx<'_>, vu: &Rc<VuState>, url: &str, error: rquickjs::Error) -> rquickjs::Error {
    let is_typescript = |text: Arc<str>| matches!(transpile::strip_types(url, &text), Ok(Some(_)));
    if !url.ends_with(".js") || !vu.init.sources.text(url).is_some_and(is_typescript) {
        return error;
    }
    let value = ctx.catch();
    if let Some(object) = value.as_object()
        && let Ok(message) = object.get::<_, String>("message")
        && ![REDEFINITION, EXPORTED_TWICE].iter().any(|part| message.contains(part))
    {
        // Without the addition it is still the right error.
        let _ = object
            .set("message", format!("{message} (this is TypeScript: the file's name must end in \".ts\")"));
    }
    ctx.throw(value)
}

/// k6's rule: the types of `.ts` files are stripped, and of what comes from standard input.
pub(crate) fn strip(url: &str, text: &str) -> Result<Option<Output>, Refusal> {
    if url.ends_with(".ts") || url.ends_with("/-") {
        return transpile::strip_types(url, text).map_err(Refusal::Syntax);
    }
    let is_other = [".mts", ".cts", ".tsx", ".jsx"].iter().any(|extension| url.ends_with(extension));
    if is_other && !matches!(transpile::strip_types(url, text), Ok(None)) {
        let text = format!(
            "\"{url}\" is not JavaScript, and types are stripped from files that end in \".ts\" only"
        );
        return Err(Refusal::Unusable(text));
    }
    Ok(None)
}

/// JSON as the CommonJS module that packages expect it to be.
fn json(url: &str, text: &str) -> Result<Code, Refusal> {
    if !is_json(text) {
        return Err(Refusal::Unusable(format!("\"{url}\" is not JSON")));
    }
    Ok(Code::CommonJs(commonjs::wrap(&format!("module.exports = {text};")).0))
}

/// A package's module with the one question about Node.js answered that bundlers answer, too.
fn without_process(text: Arc<str>) -> Arc<str> {
    const QUESTION: &str = "process.env.NODE_ENV";
    if text.contains(QUESTION) { text.replace(QUESTION, "\"production\"").into() } else { text }
}
