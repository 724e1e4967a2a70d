//! A script, loaded once; and the VUs made of it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::metric::builtin;
use model::plan::Compat;
use model::{Mark, MetricRegistry, SystemClock, SystemTag};
use rquickjs::function::Args as CallArgs;
use rquickjs::{CatchResultExt, Ctx, Function, Object, Persistent, Value};

use crate::callbacks::Log;
use crate::error::{ScriptError, StopReason, catch, from_reason};
use crate::event_loop::drive;
use crate::outside::{self, Outside, PackageImport};
use crate::secrets::{Redacting, Secrets};
use crate::source::{Sources, Undefined, file_url, normalize};
use crate::state::{Call, End, InitShared, Phase, RunShared, Seat, VuState};
use crate::tags::TagCache;
use crate::vm::{self, Vm};

/// Stack of a VU's coroutine. Only what is touched takes memory.
pub const STACK_BYTES: usize = 1 << 20;

/// Where the entry script comes from.
pub struct Entry {
    /// Its absolute path; for a script from standard input, the current folder and a made-up name; for a remote one, its
    /// `https://` URL.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// What the first init needs.
pub struct Settings {
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// The run's metrics, which scripts add to.
    pub metrics: Arc<MetricRegistry>,
    /// Where `console` goes.
    pub log: Arc<dyn Log>,
    /// What `k6/secrets` gives out.
    pub secrets: Arc<Secrets>,
    /// Where remote modules and packed files are.
    pub outside: Outside,
}

/// What `handleSummary()` wants written: a path (or `stdout`, `stderr`) and the content.
pub type Files = Vec<(String, Vec<u8>)>;

/// A script, compiled, evaluated once, its options read.
pub struct Bundle {
    init: Arc<InitShared>,
    url: String,
    options_json: Option<String>,
    exports: Vec<String>,
}

impl Bundle {
    /// Loads a script with all it imports and evaluates it once, as VU 0.
    ///
    /// # Errors
    /// Something is missing, does not parse, or throws.
    pub fn load(entry: Entry, settings: Settings) -> Result<Bundle, ScriptError> {
        let (url, folder) = place(&entry.path);
        let init = Arc::new(InitShared {
            sources: Sources::new(folder, settings.outside),
            metrics: settings.metrics,
            log: Arc::new(Redacting { log: settings.log, secrets: settings.secrets.clone() }),
            secrets: settings.secrets,
            env: settings.env,
            shared_arrays: Default::default(),
            strict: AtomicBool::new(false),
        });
        init.sources.add_text(&url, entry.text.clone());
        let (options_json, exports) = on_coroutine(first_init(init.clone(), url.clone()))?;
        init.sources.lock();
        Ok(Bundle { init, url, options_json, exports })
    }

    /// The exported `options` as JSON.
    pub fn options_json(&self) -> Option<&str> {
        self.options_json.as_deref()
    }

    /// Names of the exported functions.
    pub fn exports(&self) -> &[String] {
        &self.exports
    }

    /// Whether there is an exported function of this name.
    pub fn has(&self, function: &str) -> bool {
        self.exports.iter().any(|name| name == function)
    }

    /// The script and every module it loaded: URL and text, in order of their URLs.
    pub fn modules(&self) -> Vec<(String, Arc<str>)> {
        self.init.sources.texts()
    }

    /// The entry script's URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Every file that was read, by its URL and unchanged: modules, and what `open()` read.
    pub fn files(&self) -> BTreeMap<String, Arc<[u8]>> {
        self.init.sources.files()
    }

    /// What the script's imports of packages stand for.
    pub fn packages(&self) -> Vec<PackageImport> {
        self.init.sources.packages()
    }

    /// The host's modules that the script and its modules use, in alphabetical order.
    pub fn builtins(&self) -> Vec<&'static str> {
        self.init.sources.builtins()
    }

    /// What the script imports by name from modules that have no such export: the names by module. As in k6, they are
    /// `undefined`.
    pub fn undefined_imports(&self) -> Undefined {
        self.init.sources.undefined()
    }

    /// Makes a VU: a runtime of its own, loaded from the shared bytecode. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// The init code throws (it may do so for some VUs only), or memory is short.
    pub fn instantiate(&self, seat: Seat) -> Result<ScriptVu, ScriptError> {
        self.init.strict.store(seat.run.plan.compat == Compat::Strict, Ordering::Relaxed);
        let cache = worker_cache(&seat.run);
        let state = VuState::new(self.init.clone(), cache);
        let id = seat.id_in_test;
        state.http.connect(&seat);
        let _ = state.seat.set(seat);
        let vm = Vm::new(state.clone())?;
        let namespace = vm.context.with(|ctx| {
            evaluate(&ctx, &state, &self.url, |ctx| ctx.globals().set("__VU", id as f64))
                .map(|namespace| Persistent::save(&ctx, namespace))
        })?;
        let vu = ScriptVu {
            namespace: Some(namespace),
            functions: RefCell::default(),
            setup_data: RefCell::default(),
            scenario: Cell::new(None),
            vm,
        };
        vu.write_options_back()?;
        Ok(vu)
    }
}

/// Runs a closure on a coroutine of its own, with timers; for the first init, which belongs to no worker.
fn on_coroutine<T: 'static>(body: impl FnOnce() -> T + 'static) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime without I/O needs nothing from the system");
    match runtime.block_on(vu::coroutine(STACK_BYTES, body)) {
        Ok(value) => value,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

type FirstInit = Result<(Option<String>, Vec<String>), ScriptError>;

/// Modules of the host and CommonJS files may be asked for names that they do not have: k6 gives `undefined`. The engine
/// refuses to link such an import before anything has run, so the missing name is added and the script loaded anew.
fn first_init(init: Arc<InitShared>, url: String) -> impl FnOnce() -> FirstInit {
    move || {
        loop {
            let result = try_first_init(&init, &url);
            let Err(ScriptError::Exception { message, .. }) = &result else { return result };
            let Some((name, module)) = crate::error::missing_export(message) else { return result };
            if !vm::is_host_module(&init.sources, module) || !init.sources.tolerate(module, name) {
                return result;
            }
        }
    }
}

fn try_first_init(init: &Arc<InitShared>, url: &str) -> FirstInit {
    let state = VuState::new(init.clone(), Rc::default());
    let vm = Vm::new(state.clone())?;
    vm.context.with(|ctx| {
        let namespace = evaluate(&ctx, &state, url, |_| Ok(()))?;
        let described = describe(&ctx, &namespace);
        catch(&ctx, described, &state.stop, vm::source_of(&state.init.sources))
    })
}

/// The URL of the entry script, and the folder that `open()` starts in.
pub(crate) fn place(entry: &std::path::Path) -> (String, PathBuf) {
    if let Some(url) = entry.to_str().filter(|path| outside::is_remote(path)) {
        return (url.to_owned(), PathBuf::from("/"));
    }
    let path = normalize(entry);
    let folder = path.parent().map_or_else(|| PathBuf::from("/"), std::path::Path::to_owned);
    (file_url(&path), folder)
}

fn describe<'js>(ctx: &Ctx<'js>, namespace: &Object<'js>) -> rquickjs::Result<(Option<String>, Vec<String>)> {
    let options: Value<'js> = namespace.get("options")?;
    let options = match ctx.json_stringify(options)? {
        Some(text) => Some(text.to_string()?),
        None => None,
    };
    let mut exports = Vec::new();
    for entry in namespace.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        if value.is_function() {
            exports.push(name);
        }
    }
    Ok((options, exports))
}

/// Evaluates the entry script and everything it imports, and waits for what it awaits.
fn evaluate<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<VuState>,
    url: &str,
    prepare: impl FnOnce(&Ctx<'js>) -> rquickjs::Result<()>,
) -> Result<Object<'js>, ScriptError> {
    let run = || {
        prepare(ctx)?;
        let promise = rquickjs::Module::import(ctx, url)?;
        drive(ctx, state)?;
        promise.finish::<Object<'js>>()
    };
    let result = run();
    // The import's own promise has its error here already.
    state.events.clear();
    if state.stop.reason() == StopReason::Aborted {
        let reason = state.abort_reason.borrow_mut().take().unwrap_or_default();
        let _ = result.catch(ctx);
        return Err(ScriptError::Aborted(reason));
    }
    let namespace = catch(ctx, result, &state.stop, vm::source_of(&state.init.sources));
    let namespace = namespace.map_err(|error| of_missing(error, &state.init.sources.missing()))?;
    unwrap_common_js(ctx, state, url, namespace)
}

/// Whatever the engine made of imports that lead nowhere, they are the reason, and all of them are told.
fn of_missing(error: ScriptError, missing: &[String]) -> ScriptError {
    match &error {
        ScriptError::Exception { message, .. }
            if !missing.is_empty()
                && (crate::error::missing_export(message).is_some()
                    || missing.iter().any(|text| message.contains(text.as_str()))) =>
        {
            ScriptError::Missing(missing.join("\n\t"))
        }
        _ => error,
    }
}

/// A CommonJS entry exports through one object; its properties are what the host looks for.
fn unwrap_common_js<'js>(
    ctx: &Ctx<'js>,
    state: &Rc<VuState>,
    url: &str,
    namespace: Object<'js>,
) -> Result<Object<'js>, ScriptError> {
    let Some(crate::source::Compiled::CommonJs(bytecode)) = state.init.sources.compiled(url) else {
        return Ok(namespace);
    };
    let exports = crate::cjs::load(ctx, state, url, &bytecode);
    let exports = catch(ctx, exports, &state.stop, vm::source_of(&state.init.sources))?;
    Ok(exports.into_object().unwrap_or(namespace))
}

thread_local! {
    static WORKER_CACHE: RefCell<Option<Rc<TagCache>>> = const { RefCell::new(None) };
}

/// The worker thread's tag cache; a new run on the same thread starts a new one.
fn worker_cache(run: &RunShared) -> Rc<TagCache> {
    WORKER_CACHE.with_borrow_mut(|slot| match slot {
        Some(cache) if cache.is_of(&run.tags) => cache.clone(),
        _ => slot.insert(TagCache::new(run.tags.clone())).clone(),
    })
}

/// A VU: the script in a runtime of its own.
pub struct ScriptVu {
    namespace: Option<Persistent<Object<'static>>>,
    functions: RefCell<BTreeMap<Arc<str>, Persistent<Function<'static>>>>,
    /// What `setup()` returned, in this VU's own copy.
    setup_data: RefCell<Option<Persistent<Value<'static>>>>,
    /// The scenario whose tags and environment are in place.
    scenario: Cell<Option<model::ScenarioId>>,
    vm: Vm,
}

impl Drop for ScriptVu {
    fn drop(&mut self) {
        // Before the runtime, which must not be freed under them.
        self.namespace = None;
        self.functions.borrow_mut().clear();
        self.setup_data.borrow_mut().take();
    }
}

impl ScriptVu {
    /// Runs one iteration to its end. Must be called on the VU's coroutine.
    pub fn iterate(&mut self, call: &Call, setup_data: Option<&Arc<str>>) -> End {
        let state = self.vm.state.clone();
        state.stop.begin();
        state.phase.set(Phase::Iterations);
        self.enter_scenario(call);
        state.next_due.set(call.due);
        state.http.begin_iteration(&state);
        *state.call.borrow_mut() = Some(call.clone());
        state.refresh_metadata();
        let result = self.call_exec(call, setup_data);
        state.events.clear();
        self.end_iteration(&state);
        match result {
            Ok(()) => End::Completed,
            Err(ScriptError::Interrupted) => End::Interrupted,
            Err(ScriptError::Aborted(_)) => End::Aborted,
            Err(error) => {
                self.note(&error);
                self.report(&error);
                End::Failed
            }
        }
    }

    fn call_exec(&self, call: &Call, setup_data: Option<&Arc<str>>) -> Result<(), ScriptError> {
        let plan = self.vm.state.plan().cloned();
        let exec = plan.as_ref().map_or("default", |plan| &plan.scenarios[usize::from(call.scenario.0)].exec);
        self.run(exec, |ctx| self.setup_argument(ctx, setup_data)).map(|_| ())
    }

    /// Emits what is counted per iteration, also of iterations that failed or were cut off.
    fn end_iteration(&self, state: &Rc<VuState>) {
        state.websockets.end_all();
        let (sent, received) = state.http.take_bytes();
        let tags = state.tags.borrow_mut().id(&state.cache);
        let at = SystemClock::now();
        for (metric, bytes) in [(builtin::DATA_SENT, sent), (builtin::DATA_RECEIVED, received)] {
            state.record(metric, tags, bytes as f64, Mark::Measured, at);
        }
        state.http.end_iteration(state);
    }

    /// The tags that samples of this VU carry now, as the script may have changed them.
    pub fn tags(&self) -> model::TagSetId {
        let state = &self.vm.state;
        state.tags.borrow_mut().id(&state.cache)
    }

    /// `setup()`: its result as JSON. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// It throws, is cut off, or returns what JSON cannot hold.
    pub fn setup(&mut self) -> Result<Option<Arc<str>>, ScriptError> {
        self.begin_special(Phase::Setup, "::setup");
        let result = self.run("setup", |_| Ok(None));
        self.end_iteration(&self.vm.state.clone());
        let result = result.inspect_err(|error| self.note(error));
        let value = result?;
        self.vm.context.with(|ctx| {
            let text = || {
                let value = value.restore(&ctx)?;
                let replacer = Function::new(ctx.clone(), after_setup)?;
                ctx.json_stringify_replacer(value, replacer)?.map(|text| text.to_string()).transpose()
            };
            let state = &self.vm.state;
            let text = catch(&ctx, text(), &state.stop, vm::source_of(&state.init.sources))?;
            Ok(text.map(Arc::from))
        })
    }

    /// `teardown(data)`. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// It throws or is cut off.
    pub fn teardown(&mut self, setup_data: Option<&Arc<str>>) -> Result<(), ScriptError> {
        self.begin_special(Phase::Teardown, "::teardown");
        let result = self.run("teardown", |ctx| self.setup_argument(ctx, setup_data));
        self.end_iteration(&self.vm.state.clone());
        result.map(|_| ()).inspect_err(|error| self.note(error))
    }

    /// `handleSummary(data)`: what to write, and where; `None` where it returns no object, which keeps the default
    /// summary. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// It throws or is cut off.
    pub fn handle_summary(&mut self, data_json: &str) -> Result<Option<Files>, ScriptError> {
        self.begin_special(Phase::Summary, "");
        let value = self.run("handleSummary", |ctx| ctx.json_parse(data_json).map(Some))?;
        self.vm.context.with(|ctx| {
            let state = &self.vm.state;
            let files = value.restore(&ctx).and_then(|value| files_of(&ctx, &value));
            catch(&ctx, files, &state.stop, vm::source_of(&state.init.sources))
        })
    }

    fn begin_special(&self, phase: Phase, group: &str) {
        let state = &self.vm.state;
        state.stop.begin();
        state.phase.set(phase);
        state.next_due.set(None);
        state.http.begin_iteration(state);
        if let Some(plan) = state.plan() {
            let tags =
                plan.tags.iter().map(|(name, value)| (Arc::from(name.as_str()), Arc::from(value.as_str())));
            state.tags.borrow_mut().reset(tags.collect(), group, plan.system_tags.has(SystemTag::Group));
        }
        state.refresh_metadata();
    }

    /// Calls an exported function and runs the event loop until nothing is left.
    fn run<'a, F>(&self, function: &str, argument: F) -> Result<Persistent<Value<'static>>, ScriptError>
    where
        F: for<'js> FnOnce(&Ctx<'js>) -> rquickjs::Result<Option<Value<'js>>> + 'a,
    {
        let state = &self.vm.state;
        self.vm.context.with(|ctx| {
            let call = || {
                let function = self.function(&ctx, function)?;
                let mut args = CallArgs::new(ctx.clone(), 1);
                if let Some(argument) = argument(&ctx)? {
                    args.push_arg(argument)?;
                }
                let value: Value<'_> = function.call_arg(args)?;
                drive(&ctx, state)?;
                Ok(value)
            };
            let value = catch(&ctx, call(), &state.stop, vm::source_of(&state.init.sources))?;
            if let Some(reason) = state.events.take_rejection(&ctx) {
                return Err(from_reason(&reason, vm::source_of(&state.init.sources)));
            }
            let value = match value.as_promise() {
                Some(promise) => promise
                    .result::<Value<'_>>()
                    .and_then(Result::ok)
                    .unwrap_or_else(|| Value::new_undefined(ctx.clone())),
                None => value,
            };
            Ok(Persistent::save(&ctx, value))
        })
    }

    fn function<'js>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Function<'js>> {
        if let Some(known) = self.functions.borrow().get(name).cloned() {
            return known.restore(ctx);
        }
        let namespace = self.namespace.clone().expect("present until the VU is dropped").restore(ctx)?;
        let function: Function<'js> = namespace.get(name)?;
        self.functions.borrow_mut().insert(name.into(), Persistent::save(ctx, function.clone()));
        Ok(function)
    }

    /// This VU's own copy of what `setup()` returned; made once, so that changes last as in k6.
    fn setup_argument<'js>(
        &self,
        ctx: &Ctx<'js>,
        data: Option<&Arc<str>>,
    ) -> rquickjs::Result<Option<Value<'js>>> {
        let Some(data) = data else { return Ok(Some(Value::new_undefined(ctx.clone()))) };
        let known = self.setup_data.borrow().clone();
        if let Some(known) = known {
            return known.restore(ctx).map(Some);
        }
        let value = ctx.json_parse(data.as_bytes())?;
        *self.setup_data.borrow_mut() = Some(Persistent::save(ctx, value.clone()));
        Ok(Some(value))
    }

    /// Puts a scenario's tags and environment in place.
    fn enter_scenario(&self, call: &Call) {
        let state = &self.vm.state;
        let Some(plan) = state.plan() else { return };
        let before = self.scenario.replace(Some(call.scenario));
        if before == Some(call.scenario) {
            return;
        }
        let scenario = &plan.scenarios[usize::from(call.scenario.0)];
        let mut tags: BTreeMap<Arc<str>, Arc<str>> = plan
            .tags
            .iter()
            .chain(&scenario.tags)
            .map(|(k, v)| (k.as_str().into(), v.as_str().into()))
            .collect();
        if plan.system_tags.has(SystemTag::Scenario) {
            tags.insert("scenario".into(), scenario.name.clone());
        }
        state.tags.borrow_mut().reset(tags, "", plan.system_tags.has(SystemTag::Group));
        self.vm.context.with(|ctx| {
            if before.is_none() {
                let _ = crate::globals::install_iteration(&ctx, state);
            }
            // `__ENV` is a plain object that scripts may have replaced; then theirs stays.
            let Ok(env) = ctx.globals().get::<_, Object<'_>>("__ENV") else { return };
            for (name, value) in &scenario.env {
                let _ = env.set(name.as_str(), value.as_str());
            }
        });
    }

    /// Writes the consolidated options into the script's own object, where k6 puts them too.
    fn write_options_back(&self) -> Result<(), ScriptError> {
        let state = &self.vm.state;
        let Some(seat) = state.seat() else { return Ok(()) };
        self.vm.context.with(|ctx| {
            let write = || {
                let namespace =
                    self.namespace.clone().expect("present until the VU is dropped").restore(&ctx)?;
                let Some(options) = namespace.get::<_, Value<'_>>("options")?.into_object() else {
                    return Ok(());
                };
                let consolidated = ctx.json_parse(seat.run.exported_options_json.as_bytes())?;
                let Some(consolidated) = consolidated.as_object() else { return Ok(()) };
                for entry in consolidated.props::<String, Value<'_>>() {
                    let (name, value) = entry?;
                    options.set(name, value)?;
                }
                Ok(())
            };
            // A frozen options object stays as it is.
            let _ = write().catch(&ctx);
        });
        Ok(())
    }

    /// Counts an exception by its first line; the stack is the example.
    fn note(&self, error: &ScriptError) {
        let ScriptError::Exception { message, .. } = error else { return };
        if let Some(seat) = self.vm.state.seat() {
            let message = self.vm.state.init.secrets.redact(message);
            seat.notes.error(0, &message, self.tags(), &|| message.clone().into_owned());
        }
    }

    fn report(&self, error: &ScriptError) {
        let state = &self.vm.state;
        let mut text = error.to_string();
        if let ScriptError::Exception { excerpt, hint, .. } = error {
            for part in [excerpt, hint].into_iter().flatten() {
                text.push('\n');
                text.push_str(part);
            }
        }
        state.log(model::LogLevel::Error, "stacktrace", text);
    }
}

/// What `handleSummary` returned: `{ "stdout" | "stderr" | path: string | ArrayBuffer }`.
fn files_of<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Option<Files>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    let mut files = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (path, content) = entry?;
        let bytes = match crate::js::bytes_of(&content) {
            Some(bytes) => bytes,
            None => crate::js::to_string(ctx, &content)?.into_bytes(),
        };
        files.push((path, bytes));
    }
    Ok(Some(files))
}

/// The replacer for what `setup()` returned.
fn after_setup<'js>(_key: Value<'js>, value: Value<'js>) -> rquickjs::Result<Value<'js>> {
    crate::http::after_setup(value)
}
