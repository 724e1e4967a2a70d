//! A script, loaded once; and the VUs made of it.

mod instance;
mod summary_files;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use model::MetricRegistry;
use model::plan::Compat;
use rquickjs::{CatchResultExt, Ctx, Object, Persistent, Value};

pub use self::instance::{Files, ScriptVu};
use crate::callbacks::Log;
use crate::error::{ScriptError, catch};
use crate::event_loop::drive;
use crate::loader;
use crate::memory::{MemoryLimits, MemoryPool};
use crate::outside::{self, Outside, PackageImport};
use crate::secrets::{Redacting, Secrets};
use crate::source::places::Places;
use crate::source::words;
use crate::source::{Sources, Undefined, file_url, normalize};
use crate::state::stop::StopReason;
use crate::state::{InitShared, RunContext, VuBinding, VuState};
use crate::tags::TagCache;
use crate::vm::Vm;

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

/// Input of the first init.
pub struct Settings {
    /// `__ENV`.
    pub env: BTreeMap<String, String>,
    /// The run's metrics, which scripts add to.
    pub metrics: Arc<MetricRegistry>,
    /// Where `console` goes.
    pub log: Arc<dyn Log>,
    /// The secrets behind `k6/secrets`.
    pub secrets: Arc<Secrets>,
    /// Where remote modules and packed files are.
    pub outside: Outside,
    /// Limits of the memory that its VUs hold.
    pub memory: MemoryLimits,
    /// Whether local modules may run programs of this machine.
    pub allows_exec: bool,
    /// Whether it behaves as in k6 where that is worse, from the first init on.
    pub compat: Compat,
}

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
            sources: Sources::new(folder, settings.outside, crate::host::module_names()),
            metrics: settings.metrics,
            log: Arc::new(Redacting { log: settings.log, secrets: settings.secrets.clone() }),
            secrets: settings.secrets,
            schemas: Default::default(),
            env: settings.env,
            env_in_use: Default::default(),
            allows_exec: settings.allows_exec,
            suspects: Default::default(),
            shared_arrays: Default::default(),
            row_cursors: Default::default(),
            shared_values: Default::default(),
            strict: AtomicBool::new(settings.compat == Compat::Strict),
            outcomes: crate::state::outcomes::Outcomes::default(),
            memory: MemoryPool::new(settings.memory),
            reads_options: AtomicBool::new(true),
            has_all_parts: AtomicBool::new(true),
            heap_bytes: AtomicUsize::new(0),
        });
        init.sources.add_text(&url, entry.text.clone());
        let (options_json, exports) = on_coroutine(first_init(init.clone(), url.clone()))?;
        init.sources.lock();
        init.know_words();
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

    /// Every file that was read, by its URL and unchanged: modules, what `open()` read, and files of rows.
    ///
    /// # Errors
    /// A text for the user: a file of rows is too large for an archive, or cannot be read any more.
    pub fn files(&self) -> Result<BTreeMap<String, Arc<[u8]>>, String> {
        self.init.sources.files()
    }

    /// Targets of the script's imports of packages.
    pub fn packages(&self) -> Vec<PackageImport> {
        self.init.sources.packages()
    }

    /// The host's modules that the script and its modules use, in alphabetical order.
    pub fn builtins(&self) -> Vec<&'static str> {
        self.init.sources.builtins()
    }

    /// Missing exports that the script imports by name: the names by module. As in k6, they are
    /// `undefined`.
    pub fn undefined_imports(&self) -> Undefined {
        self.init.sources.undefined()
    }

    /// Makes a VU: a runtime of its own, loaded from the shared bytecode. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// The init code throws (it may do so for some VUs only), or memory is short.
    pub fn instantiate(&self, binding: VuBinding) -> Result<ScriptVu, ScriptError> {
        self.init.strict.store(binding.run.plan.compat == Compat::Strict, Ordering::Relaxed);
        let cache = worker_cache(&binding.run);
        let state = VuState::new(self.init.clone(), cache);
        let id = binding.id_in_test;
        state.stop.memory.set_vu(id);
        state.http.connect(&binding);
        let _ = state.binding.set(binding);
        let vm = Vm::new(state.clone())?;
        let namespace = vm.context.with(|ctx| {
            evaluate(&ctx, &state, &self.url, |ctx| ctx.globals().set("__VU", id as f64))
                .map(|namespace| Persistent::save(&ctx, namespace))
        })?;
        let made = ScriptVu::new(vm, namespace)?;
        vu::shrink_stack();
        Ok(made)
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

impl InitShared {
    /// Has later VUs leave out what no file asks for.
    fn know_words(&self) {
        let texts = self.sources.texts();
        let texts = texts.iter().map(|(_, text)| &**text);
        if texts.clone().any(words::runs_text) {
            return;
        }
        self.has_all_parts.store(crate::js::intrinsics::may_be_counted(texts.clone()), Ordering::Relaxed);
        // The export is one of them.
        let options_count: usize = texts.clone().map(|text| words::count(text, "options")).sum();
        self.reads_options.store(options_count > 1, Ordering::Relaxed);
        if texts.clone().all(|text| words::reads_members_by_name(text, "__ENV")) {
            let is_named = |name: &String| texts.clone().any(|text| words::has(text, name));
            let in_use = self.env.iter().filter(|(name, _)| is_named(name));
            let _ = self.env_in_use.set(in_use.map(|(name, value)| (name.clone(), value.clone())).collect());
        }
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
            if !loader::is_host_module(&init.sources, module) || !init.sources.tolerate(module, name) {
                return result;
            }
        }
    }
}

fn try_first_init(init: &Arc<InitShared>, url: &str) -> FirstInit {
    let state = VuState::new(init.clone(), Rc::default());
    state.stop.memory.use_whole_pool();
    let vm = Vm::new(state.clone())?;
    let described = vm.context.with(|ctx| {
        let namespace = evaluate(&ctx, &state, url, |_| Ok(()))?;
        let described = describe(&ctx, &namespace);
        catch(&ctx, described, &state.stop, Places::new(&state.init.sources))
    })?;
    init.heap_bytes.store(vm.heap_bytes(), Ordering::Relaxed);
    Ok(described)
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
        let promise = vu::preempt::in_engine(|| rquickjs::Module::import(ctx, url))?;
        drive(ctx, state)?;
        promise.finish::<Object<'js>>()
    };
    let result = run();
    // The import's own promise has its error here already.
    state.events.clear();
    let ended: Option<fn(String) -> ScriptError> = match state.stop.reason() {
        StopReason::Aborted => Some(ScriptError::Aborted),
        StopReason::Crashed => Some(ScriptError::Crashed),
        _ => None,
    };
    if let Some(ended) = ended {
        let reason = state.abort_reason.borrow_mut().take().unwrap_or_default();
        let _ = result.catch(ctx);
        return Err(ended(reason));
    }
    let namespace = catch(ctx, result, &state.stop, Places::new(&state.init.sources));
    let namespace = namespace.map_err(|error| of_missing(error, &state.init.sources.missing()))?;
    unwrap_common_js(ctx, state, url, namespace)
}

/// Replaces the engine's error by the list of all imports that could not be found, where they caused it.
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
    let exports = loader::commonjs::load(ctx, state, url, &bytecode);
    let exports = catch(ctx, exports, &state.stop, Places::new(&state.init.sources))?;
    Ok(exports.into_object().unwrap_or(namespace))
}

thread_local! {
    static WORKER_CACHE: RefCell<Option<Rc<TagCache>>> = const { RefCell::new(None) };
}

/// The worker thread's tag cache; a new run on the same thread starts a new one.
fn worker_cache(run: &RunContext) -> Rc<TagCache> {
    WORKER_CACHE.with_borrow_mut(|slot| match slot {
        Some(cache) if cache.is_of(&run.tags) => cache.clone(),
        _ => slot.insert(TagCache::new(run.tags.clone())).clone(),
    })
}
