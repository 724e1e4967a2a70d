//! How a VU's modules are found, compiled and linked: ES modules, CommonJS files, modules of the host.

pub(crate) mod code;
pub(crate) mod commonjs;
mod meta;

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declarations, Declared, Exports, ModuleDef, WriteOptions};
use rquickjs::{Ctx, Exception, Module, Object, Value};

use self::code::Code;
use crate::js;
use crate::opening::{Caller, caller};
use crate::source::{Compiled, Resolved, Sources};
use crate::stacks;
use crate::state::VuState;

pub(crate) struct HostResolver(pub(crate) Rc<VuState>);

impl Resolver for HostResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        // Without a name the host asks itself, for the entry script.
        let is_of_module = base.is_empty() || base.starts_with("file://") || crate::outside::is_remote(base);
        let resolved = match is_of_module {
            true => self.0.init.sources.resolve(base, name),
            false => self.resolve_for_code(ctx, name),
        };
        match resolved {
            Ok(Resolved::Builtin(name)) => Ok(name.to_owned()),
            Ok(Resolved::File(url)) => Ok(url),
            Err(text) => self.0.init.sources.miss(&text).ok_or_else(|| Exception::throw_message(ctx, &text)),
        }
    }
}

impl HostResolver {
    /// Resolves an `import()` in code that was made from a text, as by `new Function()`: its callers decide what it may load.
    fn resolve_for_code(&self, ctx: &Ctx<'_>, name: &str) -> Result<Resolved, String> {
        let sources = &self.0.init.sources;
        match caller(ctx, &self.0) {
            Caller::Remote(url) => sources.resolve(&url, name),
            caller => {
                let resolved = sources.resolve("", name)?;
                if matches!(&resolved, Resolved::File(url) if url.starts_with("file://")) {
                    caller.may_read(name)?;
                }
                Ok(resolved)
            }
        }
    }
}

pub(crate) struct HostLoader(pub(crate) Rc<VuState>);

impl HostLoader {
    /// Why there is no such file, if there is none.
    fn missing(&self, name: &str) -> Option<String> {
        let sources = &self.0.init.sources;
        if !name.starts_with("file://") && !crate::outside::is_remote(name) {
            return sources.missed(name);
        }
        let text = sources.read_text(name).err()?;
        sources.miss(&text).map(|_| text)
    }

    fn declare<'js>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js, Declared>> {
        if self.0.init.sources.is_builtin(name) {
            return Module::declare_def::<HostModule, _>(ctx.clone(), name);
        }
        if let Some(text) = self.missing(name) {
            return declare_missing(ctx, name, &text);
        }
        match file(ctx, &self.0, name)? {
            File::Declared(module) => Ok(module),
            File::CommonJs(bytecode) => {
                // Run before it is linked: its exports' names must be known by then.
                commonjs::load(ctx, &self.0, name, &bytecode)?;
                Module::declare_def::<HostModule, _>(ctx.clone(), name)
            }
        }
    }
}

impl Loader for HostLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        vu::preempt::out_of_engine(|| self.declare(ctx, name))
    }
}

/// A module in place of one that could not be found, so that the search goes on for others that cannot: it has no exports,
/// and throws if it is ever run.
fn declare_missing<'js>(ctx: &Ctx<'js>, name: &str, text: &str) -> rquickjs::Result<Module<'js, Declared>> {
    let text = serde_json::Value::from(text).to_string();
    Module::declare(ctx.clone(), name, format!("throw new Error({text});"))
}

/// Whether a module's exports are the properties of an object: those of the host, and CommonJS files.
pub(crate) fn is_host_module(sources: &Sources, name: &str) -> bool {
    sources.is_builtin(name) || matches!(sources.compiled(name), Some(Compiled::CommonJs(_)))
}

/// A file, ready to be linked or run.
pub(crate) enum File<'js> {
    /// An ES module; its imports are loaded too.
    Declared(Module<'js, Declared>),
    /// A CommonJS file.
    CommonJs(Arc<[u8]>),
}

/// Loads a file from its bytecode; the first VU compiles it and leaves the bytecode for the others.
pub(crate) fn file<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, url: &str) -> rquickjs::Result<File<'js>> {
    let file = load_or_compile(ctx, vu, url)?;
    stacks::follow_maps(ctx, vu)?;
    Ok(file)
}

fn load_or_compile<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, url: &str) -> rquickjs::Result<File<'js>> {
    let sources = &vu.init.sources;
    match sources.compiled(url) {
        Some(Compiled::Module(bytecode, asks_for_meta)) => {
            let module = js::load_module(ctx, &bytecode)?;
            if asks_for_meta {
                meta::install(vu, url, &module)?;
            }
            return Ok(File::Declared(module));
        }
        Some(Compiled::CommonJs(bytecode)) => return Ok(File::CommonJs(bytecode)),
        None => {}
    }
    let code = code::prepare(vu, url).map_err(|error| error.throw(ctx, url))?;
    let explain = |error| code::explain(ctx, vu, url, error);
    let text = match code {
        Code::CommonJs(text) => {
            let bytecode = js::compile_script(ctx, url, &text).map_err(explain)?;
            sources.add_compiled(url, Compiled::CommonJs(bytecode.clone()));
            return Ok(File::CommonJs(bytecode));
        }
        Code::Module(text) => text,
    };
    let declared = Module::declare(ctx.clone(), url, text.as_bytes());
    let module = declared
        .or_else(|error| code::declare_without_redeclared(ctx, vu, url, &text, error))
        .map_err(explain)?;
    let bytecode = module.write(WriteOptions { strip_source: true, ..Default::default() })?;
    let asks_for_meta = meta::is_asked_for(&text);
    sources.add_compiled(url, Compiled::Module(bytecode.into(), asks_for_meta));
    if asks_for_meta {
        meta::install(vu, url, &module)?;
    }
    Ok(File::Declared(module))
}

/// A module of the host, or a CommonJS file seen as one: its exports are the properties of an object, and `default`
/// is the object itself.
struct HostModule;

impl HostModule {
    fn object<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Value<'js>> {
        let vu = js::vu_of(ctx);
        if vu.init.sources.is_builtin(name) {
            let module = vu::preempt::out_of_engine(|| js::registry::module(ctx, &vu, name));
            return Ok(module?.into_value());
        }
        match vu.init.sources.compiled(name) {
            Some(Compiled::CommonJs(bytecode)) => commonjs::load(ctx, &vu, name, &bytecode),
            _ => Err(Exception::throw_message(ctx, &format!("\"{name}\" is not loaded"))),
        }
    }

    /// The names that it exports. Each takes memory in every VU, so that a module of the host exports no more than the script can ask
    /// for; its object has all members.
    fn exports(vu: &VuState, name: &str, object: &Value<'_>) -> Arc<[String]> {
        let sources = &vu.init.sources;
        match sources.is_builtin(name) {
            true => sources.exports_of(name, || HostModule::names(object)),
            false => HostModule::names(object).into(),
        }
    }

    fn names(object: &Value<'_>) -> Vec<String> {
        let Some(object) = object.as_object() else { return Vec::new() };
        object.keys::<String>().filter_map(Result::ok).filter(|name| name != "default").collect()
    }
}

impl ModuleDef for HostModule {
    fn declare(declarations: &Declarations<'_>) -> rquickjs::Result<()> {
        let module = declarations.module();
        let name: String = module.name()?;
        let object = HostModule::object(module.ctx(), &name)?;
        declarations.declare("default")?;
        let vu = js::vu_of(module.ctx());
        let undefined = vu.init.sources.undefined_of(&name);
        for name in HostModule::exports(&vu, &name, &object).iter().chain(&undefined) {
            declarations.declare(name.as_str())?;
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> rquickjs::Result<()> {
        let name: String = exports.module().name()?;
        let value = HostModule::object(ctx, &name)?;
        for name in HostModule::exports(&js::vu_of(ctx), &name, &value).iter() {
            let Some(object) = value.as_object() else { continue };
            let property: Value<'js> = object.get(name.as_str())?;
            exports.export(name.as_str(), property)?;
        }
        exports.export("default", default_of(value)?)?;
        Ok(())
    }
}

/// The default export of a CommonJS file: bundlers mark files that were modules once.
fn default_of(value: Value<'_>) -> rquickjs::Result<Value<'_>> {
    let Some(object) = value.as_object() else { return Ok(value) };
    let was_module: bool = object.get::<_, Option<bool>>("__esModule")?.unwrap_or(false);
    if was_module && object.contains_key("default")? {
        return object.get("default");
    }
    Ok(value)
}

/// Kept for the entry's exports.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, url: &str) -> rquickjs::Result<Object<'js>> {
    Module::import(ctx, url)?.finish()
}
