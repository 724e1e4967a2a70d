//! A VU: what it runs, and what is counted of that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::metric::builtin;
use model::{Instant, IterationEnd, SystemClock, SystemTag};
use rquickjs::{CatchResultExt, Ctx, Function, Object, Persistent, Value};

use super::summary_files::{self, SummaryFiles};
use crate::error::{ScriptError, catch, from_reason};
use crate::event_loop::drive;
use crate::js;
use crate::setup_data::{self, SetupData};
use crate::source::places::Places;
use crate::state::{Call, Phase, VuState};
use crate::vm::Vm;

/// Files of `handleSummary()`: a path (or `stdout`, `stderr`) and the content.
pub type Files = Vec<(String, Vec<u8>)>;

/// A VU: the script in a runtime of its own.
pub struct ScriptVu {
    namespace: Option<Persistent<Object<'static>>>,
    functions: RefCell<BTreeMap<Arc<str>, Persistent<Function<'static>>>>,
    /// The result of `setup()`, in this VU's own copy.
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
    /// A VU whose init has run.
    pub(super) fn new(vm: Vm, namespace: Persistent<Object<'static>>) -> Result<ScriptVu, ScriptError> {
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

    /// Runs one iteration to its end, and says when that was. Must be called on the VU's coroutine.
    pub fn iterate(&mut self, call: &Call, setup_data: Option<&Arc<str>>) -> (IterationEnd, Instant) {
        self.begin_iteration(call);
        let result = self.call_exec(call, setup_data);
        self.finish_iteration(result)
    }

    // Not inlined, like others here: its locals would lie on the stack while the script runs.
    #[inline(never)]
    fn begin_iteration(&self, call: &Call) {
        let state = &self.vm.state;
        state.stop.begin();
        state.phase.set(Phase::Iterations);
        self.enter_scenario(call);
        state.next_due.set(call.due);
        state.http.begin_iteration(state);
        *state.call.borrow_mut() = Some(call.clone());
        state.refresh_metadata();
    }

    #[inline(never)]
    fn finish_iteration(&self, result: Result<(), ScriptError>) -> (IterationEnd, Instant) {
        let state = &self.vm.state;
        state.events.clear();
        let ended = self.end_iteration(state);
        let end = match result {
            Ok(()) => IterationEnd::Completed,
            Err(ScriptError::Interrupted) => IterationEnd::Interrupted,
            Err(ScriptError::Aborted(_)) => IterationEnd::Aborted,
            Err(error) => {
                self.note(&error);
                self.report(&error);
                IterationEnd::Failed
            }
        };
        (end, ended)
    }

    /// Whether the last iteration reached a memory limit. The VU holds what it did then, and its objects may be half made.
    pub fn is_spent(&self) -> bool {
        self.vm.state.stop.memory.reached().is_some()
    }

    fn call_exec(&self, call: &Call, setup_data: Option<&Arc<str>>) -> Result<(), ScriptError> {
        let scenario = usize::from(call.scenario.0);
        let exec = self.vm.state.plan().map_or("default", |plan| &plan.scenarios[scenario].exec);
        self.run(exec, |ctx| self.setup_argument(ctx, setup_data)).map(|_| ())
    }

    /// Emits the samples of each iteration, also of failed and interrupted ones; returns their time.
    fn end_iteration(&self, state: &Rc<VuState>) -> Instant {
        state.streams.end_all();
        state.tasks.cut_all(state);
        let (sent, received) = state.http.take_bytes();
        let tags = state.tags.borrow_mut().id(&state.cache);
        let at = SystemClock::now();
        let traffic = [(builtin::DATA_SENT, sent as f64), (builtin::DATA_RECEIVED, received as f64)];
        state.record_many(tags, &traffic, at);
        state.http.end_iteration(state);
        at
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
        self.end_iteration(&self.vm.state);
        let result = result.inspect_err(|error| self.note(error));
        let value = result?;
        self.vm.context.with(|ctx| {
            let state = &self.vm.state;
            let written = value.restore(&ctx).and_then(|value| setup_data::write(&ctx, state, value));
            match catch(&ctx, written, &state.stop, Places::new(&state.init.sources))? {
                SetupData::Nothing => Ok(None),
                SetupData::Text(text) => Ok(Some(text.into())),
                SetupData::Refused(why) => Err(ScriptError::SetupData(why)),
            }
        })
    }

    /// `teardown(data)`. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// It throws or is cut off.
    pub fn teardown(&mut self, setup_data: Option<&Arc<str>>) -> Result<(), ScriptError> {
        self.begin_special(Phase::Teardown, "::teardown");
        let result = self.run("teardown", |ctx| self.setup_argument(ctx, setup_data));
        self.end_iteration(&self.vm.state);
        result.map(|_| ()).inspect_err(|error| self.note(error))
    }

    /// `handleSummary(data)`: what to write, and where; `None` where it returns nothing, which keeps the default
    /// summary. Must be called on the VU's coroutine.
    ///
    /// # Errors
    /// It throws, is cut off, or returns what cannot be written.
    pub fn handle_summary(&mut self, data_json: &str) -> Result<Option<Files>, ScriptError> {
        self.begin_special(Phase::Summary, "");
        let value = self.run("handleSummary", |ctx| ctx.json_parse(data_json).map(Some))?;
        self.vm.context.with(|ctx| {
            let state = &self.vm.state;
            let read = value.restore(&ctx).and_then(|value| summary_files::read(&ctx, &value));
            match catch(&ctx, read, &state.stop, Places::new(&state.init.sources))? {
                SummaryFiles::Default => Ok(None),
                SummaryFiles::Files(files) => Ok(Some(files)),
                SummaryFiles::Refused(why) => Err(ScriptError::Summary(why)),
            }
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
                let value = match argument(&ctx)? {
                    Some(argument) => js::call(&function, [&argument])?,
                    None => js::call(&function, [])?,
                };
                drive(&ctx, state)?;
                Ok(value)
            };
            let returned = call();
            self.outcome(&ctx, returned)
        })
    }

    /// The result of a function of the script, or why it has none.
    #[inline(never)]
    fn outcome<'js>(
        &self,
        ctx: &Ctx<'js>,
        returned: rquickjs::Result<Value<'js>>,
    ) -> Result<Persistent<Value<'static>>, ScriptError> {
        let state = &self.vm.state;
        let value = catch(ctx, returned, &state.stop, Places::new(&state.init.sources))?;
        if let Some(reason) = state.events.take_rejection(ctx) {
            return Err(from_reason(&reason, Places::new(&state.init.sources)));
        }
        let value = match value.as_promise() {
            Some(promise) => promise
                .result::<Value<'_>>()
                .and_then(Result::ok)
                .unwrap_or_else(|| Value::new_undefined(ctx.clone())),
            None => value,
        };
        Ok(Persistent::save(ctx, value))
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
    #[inline(never)]
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
        let before = self.scenario.replace(Some(call.scenario));
        if before != Some(call.scenario) {
            self.change_scenario(call.scenario, before.is_none());
        }
    }

    #[inline(never)]
    fn change_scenario(&self, id: model::ScenarioId, is_first: bool) {
        let state = &self.vm.state;
        let Some(plan) = state.plan() else { return };
        let scenario = &plan.scenarios[usize::from(id.0)];
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
            if is_first {
                let _ = crate::globals::install_iteration(&ctx, state);
            }
            // `__ENV` is a plain object that scripts may have replaced; then theirs stays.
            let Ok(env) = ctx.globals().get::<_, Object<'_>>("__ENV") else { return };
            for (name, value) in &scenario.env {
                let _ = env.set(name.as_str(), value.as_str());
            }
        });
    }

    /// Writes the consolidated options into the script's own object, where k6 puts them too, if the script can look at them there.
    fn write_options_back(&self) -> Result<(), ScriptError> {
        let state = &self.vm.state;
        let Some(binding) = state.binding() else { return Ok(()) };
        if !state.init.reads_options.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.vm.context.with(|ctx| {
            let write = || {
                let namespace =
                    self.namespace.clone().expect("present until the VU is dropped").restore(&ctx)?;
                let Some(options) = namespace.get::<_, Value<'_>>("options")?.into_object() else {
                    return Ok(());
                };
                let consolidated = ctx.json_parse(binding.run.exported_options_json.as_bytes())?;
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
    #[cold]
    fn note(&self, error: &ScriptError) {
        let (ScriptError::Exception { message, .. } | ScriptError::Memory(message)) = error else { return };
        if let Some(binding) = self.vm.state.binding() {
            let message = self.vm.state.init.secrets.redact(message);
            binding.notes.error(0, &message, self.tags(), &|| message.clone().into_owned());
        }
    }

    #[cold]
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
