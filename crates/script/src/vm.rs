//! One VU's JavaScript: its runtime, its limits, its modules.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use model::SystemClock;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::{Declarations, Declared, Exports, ModuleDef, WriteOptions};
use rquickjs::{Context, Ctx, Exception, Module, Object, Runtime, Value};

use crate::code::{self, Code};
use crate::error::{ScriptError, StopReason};
use crate::js::{self, VuHandle};
use crate::meta;
use crate::places::Places;
use crate::source::{Compiled, Resolved};
use crate::stacks;
use crate::state::VuState;

/// Share of a coroutine's stack that JavaScript may use; the rest is for the natives it calls.
const STACK_SHARE: (usize, usize) = (3, 4);

/// A script that computes for longer lets the other VUs of its thread run before it goes on.
const SLICE_MAX: Duration = Duration::from_millis(5);

/// The engine looks for garbage when the heap has grown to this; its own default.
const GC_THRESHOLD_BYTES_MIN: usize = 256 << 10;

/// VU 0 may have loaded what no other VU does; then its heap says nothing about theirs.
const GC_THRESHOLD_BYTES_MAX: usize = 4 << 20;

/// A runtime with one context. Freed in order: what holds JavaScript values goes before the runtime.
pub(crate) struct Vm {
    pub(crate) state: Rc<VuState>,
    pub(crate) context: Context,
    runtime: Runtime,
}

impl Vm {
    /// Makes the runtime; must be called on the coroutine that will run it.
    pub(crate) fn new(state: Rc<VuState>) -> Result<Vm, ScriptError> {
        let host = |error: rquickjs::Error| ScriptError::Host(error.to_string());
        let runtime = Runtime::new_with_alloc(crate::js::heap::Recycling).map_err(host)?;
        runtime.set_gc_threshold(gc_threshold_bytes(state.init.heap_bytes.load(Ordering::Relaxed)));
        if let Some(stack_bytes) = vu::stack_bytes() {
            runtime.set_max_stack_size(stack_bytes / STACK_SHARE.1 * STACK_SHARE.0);
        }
        runtime.set_loader(HostResolver(state.clone()), HostLoader(state.clone()));
        let for_interrupts = state.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || must_stop(&for_interrupts))));
        let for_rejections = state.clone();
        runtime.set_host_promise_rejection_tracker(Some(Box::new(move |ctx, promise, reason, handled| {
            for_rejections.events.track_rejection(&ctx, promise, reason, handled);
        })));
        let context = Context::full(&runtime).map_err(host)?;
        context
            .with(|ctx| {
                ctx.store_userdata(VuHandle(state.clone())).map_err(|_| rquickjs::Error::Unknown)?;
                crate::globals::install(&ctx, &state)
            })
            .map_err(host)?;
        Ok(Vm { state, context, runtime })
    }

    /// What the engine has allocated. It looks at every object to tell, so this is not for every VU.
    pub(crate) fn heap_bytes(&self) -> usize {
        usize::try_from(self.runtime.memory_usage().malloc_size).unwrap_or(0)
    }
}

/// Where a VU first looks for garbage, given the heap of one whose init has run. Half as much again is where the engine
/// would look next, had it looked at the end of init. On the way there it would look five times at a heap of 1 MB, and find
/// nothing: what init makes, it keeps. That was a fifth of a big VU's start.
fn gc_threshold_bytes(heap_bytes: usize) -> usize {
    heap_bytes.saturating_add(heap_bytes / 2).clamp(GC_THRESHOLD_BYTES_MIN, GC_THRESHOLD_BYTES_MAX)
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.state.forget_values();
        self.context.with(|ctx| {
            let _ = ctx.remove_userdata::<VuHandle>();
        });
    }
}

/// Asked by the engine now and then while JavaScript runs.
fn must_stop(vu: &Rc<VuState>) -> bool {
    let now = SystemClock::now();
    let is_late = vu.seat().is_some_and(|seat| seat.deadline.has_passed(now));
    if is_late || vu::is_interrupted() {
        vu.stop.set(StopReason::Interrupted);
        return true;
    }
    match vu.stop.slice_started.get() {
        Some(started) if now.since(started) < SLICE_MAX => {}
        Some(_) => {
            vu::yield_now();
            vu.stop.slice_started.set(Some(SystemClock::now()));
        }
        None => vu.stop.slice_started.set(Some(now)),
    }
    false
}

struct HostResolver(Rc<VuState>);

impl Resolver for HostResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        match self.0.init.sources.resolve(base, name) {
            Ok(Resolved::Builtin(name)) => Ok(name.to_owned()),
            Ok(Resolved::File(url)) => Ok(url),
            Err(text) => self.0.init.sources.miss(&text).ok_or_else(|| Exception::throw_message(ctx, &text)),
        }
    }
}

struct HostLoader(Rc<VuState>);

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
}

impl Loader for HostLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        if crate::modules::find(name).is_ok() {
            return Module::declare_def::<HostModule, _>(ctx.clone(), name);
        }
        if let Some(text) = self.missing(name) {
            return declare_missing(ctx, name, &text);
        }
        match file(ctx, &self.0, name)? {
            File::Declared(module) => Ok(module),
            File::CommonJs(bytecode) => {
                // Run before it is linked: its exports' names must be known by then.
                crate::cjs::load(ctx, &self.0, name, &bytecode)?;
                Module::declare_def::<HostModule, _>(ctx.clone(), name)
            }
        }
    }
}

/// A module in place of one that could not be found, so that the search goes on for others that cannot: it has no exports,
/// and throws if it is ever run.
fn declare_missing<'js>(ctx: &Ctx<'js>, name: &str, text: &str) -> rquickjs::Result<Module<'js, Declared>> {
    let text = serde_json::Value::from(text).to_string();
    Module::declare(ctx.clone(), name, format!("throw new Error({text});"))
}

/// Whether a module's exports are the properties of an object: those of the host, and CommonJS files.
pub(crate) fn is_host_module(sources: &crate::source::Sources, name: &str) -> bool {
    crate::modules::find(name).is_ok() || matches!(sources.compiled(name), Some(Compiled::CommonJs(_)))
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
    let module = Module::declare(ctx.clone(), url, text.as_bytes()).map_err(explain)?;
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
        if crate::modules::find(name).is_ok() {
            return Ok(crate::modules::object(ctx, &vu, name)?.into_value());
        }
        match vu.init.sources.compiled(name) {
            Some(Compiled::CommonJs(bytecode)) => crate::cjs::load(ctx, &vu, name, &bytecode),
            _ => Err(Exception::throw_message(ctx, &format!("\"{name}\" is not loaded"))),
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
        let undefined = js::vu_of(module.ctx()).init.sources.undefined_of(&name);
        for name in HostModule::names(&object).into_iter().chain(undefined) {
            declarations.declare(name)?;
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> rquickjs::Result<()> {
        let name: String = exports.module().name()?;
        let value = HostModule::object(ctx, &name)?;
        for name in HostModule::names(&value) {
            let Some(object) = value.as_object() else { continue };
            let property: Value<'js> = object.get(name.as_str())?;
            exports.export(name, property)?;
        }
        exports.export("default", default_of(value)?)?;
        Ok(())
    }
}

/// What `import x from` a CommonJS file means: bundlers mark files that were modules once.
fn default_of(value: Value<'_>) -> rquickjs::Result<Value<'_>> {
    let Some(object) = value.as_object() else { return Ok(value) };
    let was_module: bool = object.get::<_, Option<bool>>("__esModule")?.unwrap_or(false);
    if was_module && object.contains_key("default")? {
        return object.get("default");
    }
    Ok(value)
}

/// Where code was written, for stacks and pictures of errors.
pub(crate) fn source_of(sources: &crate::source::Sources) -> Places<'_> {
    Places::of(sources)
}

/// Kept for the entry's exports.
pub(crate) fn namespace<'js>(ctx: &Ctx<'js>, url: &str) -> rquickjs::Result<Object<'js>> {
    Module::import(ctx, url)?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_looked_for_beyond_what_init_keeps() {
        let check = |heap_bytes: usize, expect: usize| {
            assert_eq!(gc_threshold_bytes(heap_bytes), expect, "{heap_bytes}");
        };
        check(0, 256 << 10);
        check(100 << 10, 256 << 10);
        check(1 << 20, 3 << 19);
        check(100 << 20, 4 << 20);
        check(usize::MAX, 4 << 20);
    }
}
