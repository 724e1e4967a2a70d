//! State of a VU besides its JavaScript: its run, its tags, its connections, its pending work.

pub(crate) mod async_groups;
pub(crate) mod check_tags;
pub(crate) mod commonjs;
pub(crate) mod events;
pub(crate) mod flow;
pub(crate) mod flow_metrics;
pub(crate) mod http;
pub(crate) mod kinds;
pub(crate) mod open_streams;
pub(crate) mod outcomes;
pub(crate) mod own_metrics;
pub(crate) mod schemas;
pub(crate) mod stop;
pub(crate) mod stream_metrics;
pub(crate) mod suspects;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use model::{
    Epoch, Instant, LogLevel, LogLine, Mark, Metadata, MetricId, MetricRegistry, Plan, RunProgress,
    ScenarioId, SystemClock, SystemTag, TagInterner, TagSetId,
};
use rquickjs::{Array, Object, Persistent};

use self::async_groups::AsyncGroups;
use self::check_tags::CheckTags;
use self::commonjs::CommonJsFiles;
use self::events::EventLoop;
use self::flow::Tasks;
use self::http::HttpState;
use self::kinds::Kind;
use self::open_streams::OpenStreams;
use self::outcomes::Outcomes;
use self::schemas::Schemas;
use self::stop::{Stop, StopReason};
use self::stream_metrics::StreamMetrics;
use self::suspects::Suspects;
use crate::callbacks::{Control, InterruptDeadline, Log, Notes, Share, Sink, Spans};
use crate::layouts::Layouts;
use crate::memory::{MemoryAccount, MemoryPool};
use crate::rate_gate::RateGate;
use crate::source::Sources;
use crate::tags::{TagCache, VuTags};
use crate::trace_context::TraceSample;

/// Which part of its life a VU is in; what it may call depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Init,
    Setup,
    Iterations,
    Teardown,
    Summary,
}

/// The run of a script: everything that its VUs share once the plan is known.
pub struct RunContext {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The options that replace the script's exported `options`, as JSON.
    pub exported_options_json: String,
    /// All tag sets.
    pub tags: Arc<TagInterner>,
    /// Counters of the run.
    pub progress: Arc<RunProgress>,
    /// The run's anchor to the wall clock.
    pub epoch: Epoch,
    /// Connections' shared part: names, certificates, rules.
    pub network: Arc<wire::Shared>,
    /// Limits the requests of all VUs together, where the options ask for it.
    pub rate: Option<RateGate>,
    /// Puts a share of the requests into traces, where that is asked for.
    pub traces: Option<TraceSample>,
    /// Takes the spans of requests and tasks, where traces are received.
    pub spans: Option<Arc<dyn Spans>>,
    /// This instance's share of what is numbered over the whole test.
    pub share: Arc<dyn Share>,
    /// Aborts and failures.
    pub control: Arc<dyn Control>,
}

/// A VU's place in the run.
pub struct VuBinding {
    /// Number in the whole test, from 1; 0 for setup, teardown and the summary.
    pub id_in_test: u64,
    /// Number in this process, from 1.
    pub id_in_instance: u64,
    /// Where its samples go.
    pub sink: Rc<dyn Sink>,
    /// Where the rest goes that is noted.
    pub notes: Rc<dyn Notes>,
    /// When what it does is to be cut off.
    pub deadline: Rc<dyn InterruptDeadline>,
    /// The run.
    pub run: Arc<RunContext>,
}

/// One iteration to run.
#[derive(Clone, Debug)]
pub struct Call {
    /// Of which scenario.
    pub scenario: ScenarioId,
    /// This VU's iterations before it, over all scenarios: `__ITER`.
    pub vu_iteration: u64,
    /// This VU's iterations of this scenario before it.
    pub iteration_in_scenario: u64,
    /// The scenario's iterations before it, in this process.
    pub iteration_in_instance: u64,
    /// The scenario's iterations before it, in the whole test.
    pub iteration_in_test: u64,
    /// When it should have started; `None` in closed scenarios.
    pub due: Option<Instant>,
}

/// State that exists before the plan and is shared by all VUs.
pub(crate) struct InitShared {
    pub(crate) sources: Sources,
    pub(crate) metrics: Arc<MetricRegistry>,
    pub(crate) log: Arc<dyn Log>,
    pub(crate) secrets: Arc<crate::secrets::Secrets>,
    /// Message types that scripts have loaded.
    pub(crate) schemas: Schemas,
    /// `__ENV`
    pub(crate) env: BTreeMap<String, String>,
    /// Of it what scripts can ask for, once all files are known.
    pub(crate) env_in_use: std::sync::OnceLock<BTreeMap<String, String>>,
    /// Whether local modules may run programs of this machine.
    pub(crate) allows_exec: bool,
    /// Places in the script that make URLs with missing values.
    pub(crate) suspects: Suspects,
    pub(crate) shared_arrays: Mutex<HashMap<String, Arc<[Box<str>]>>>,
    /// Cursors over files of rows.
    pub(crate) row_cursors: crate::rows::Cursors,
    /// Counters, queues and maps of all VUs.
    pub(crate) shared_values: crate::shared_values::SharedValues,
    pub(crate) strict: std::sync::atomic::AtomicBool,
    /// Outcomes of the tasks of `plimsoll/flow`.
    pub(crate) outcomes: Outcomes,
    /// The memory of all VUs.
    pub(crate) memory: Arc<MemoryPool>,
    /// Whether some file may read the consolidated options where the script has exported its own.
    pub(crate) reads_options: std::sync::atomic::AtomicBool,
    /// Whether VUs have all parts of the language from the start; so they have until the script is known.
    pub(crate) has_all_parts: std::sync::atomic::AtomicBool,
    /// The heap of a VU whose init has run; 0 until one has.
    pub(crate) heap_bytes: std::sync::atomic::AtomicUsize,
}

/// A VU's state, shared by all its natives.
pub(crate) struct VuState {
    pub(crate) init: Arc<InitShared>,
    pub(crate) binding: OnceCell<VuBinding>,
    pub(crate) phase: Cell<Phase>,
    pub(crate) call: RefCell<Option<Call>>,
    pub(crate) tags: RefCell<VuTags>,
    pub(crate) cache: Rc<TagCache>,
    pub(crate) events: EventLoop,
    pub(crate) http: HttpState,
    pub(crate) grpc_responses: Kind,
    pub(crate) streams: OpenStreams,
    pub(crate) stream_metrics: StreamMetrics,
    /// Connections to brokers of AMQP, by their numbers from 1. One that is in use, or over, is not there.
    pub(crate) amqp: RefCell<Vec<Option<datastore::amqp::Connection>>>,
    /// TLS settings of the script's own for MySQL.
    pub(crate) mysql_tls: RefCell<Option<datastore::Tls>>,
    /// Shared values that this VU has named, by its numbers for them.
    pub(crate) shared_values: RefCell<Vec<Arc<crate::shared_values::Shared>>>,
    pub(crate) tasks: Tasks,
    pub(crate) stop: Stop,
    pub(crate) common_js: CommonJsFiles,
    pub(crate) builtin_objects: RefCell<HashMap<&'static str, Persistent<Object<'static>>>>,
    pub(crate) check_tags: CheckTags,
    /// The bits of the parts of the language that it has; see [`crate::js::intrinsics`].
    pub(crate) parts: Cell<u8>,
    pub(crate) specimens: RefCell<Option<Persistent<Array<'static>>>>,
    pub(crate) parsed_layouts: Layouts,
    pub(crate) check_layouts: Layouts,
    pub(crate) async_groups: AsyncGroups,
    /// Whether scripts read stacks as they were written.
    pub(crate) translates_stacks: Cell<bool>,
    /// `response time` of the next request counts from here; `None` in closed scenarios.
    pub(crate) next_due: Cell<Option<Instant>>,
    metadata: RefCell<Option<Metadata>>,
    pub(crate) script_metadata: RefCell<BTreeMap<Arc<str>, Arc<str>>>,
    /// The reason given to `test.abort()`.
    pub(crate) abort_reason: RefCell<Option<String>>,
    /// Of the generator behind `randomSeed()`.
    pub(crate) random_state: Cell<u64>,
}

impl VuState {
    pub(crate) fn new(init: Arc<InitShared>, cache: Rc<TagCache>) -> Rc<VuState> {
        let stop = Stop::new(MemoryAccount::new(init.memory.clone()));
        Rc::new(VuState {
            init,
            binding: OnceCell::new(),
            phase: Cell::new(Phase::Init),
            call: RefCell::default(),
            tags: RefCell::default(),
            cache,
            events: EventLoop::default(),
            http: HttpState::default(),
            grpc_responses: Kind::default(),
            streams: OpenStreams::default(),
            stream_metrics: StreamMetrics::default(),
            amqp: Default::default(),
            mysql_tls: RefCell::default(),
            shared_values: RefCell::default(),
            tasks: Tasks::default(),
            stop,
            common_js: CommonJsFiles::default(),
            builtin_objects: RefCell::default(),
            check_tags: CheckTags::default(),
            parts: Cell::new(0),
            specimens: RefCell::default(),
            parsed_layouts: Layouts::default(),
            check_layouts: Layouts::default(),
            async_groups: AsyncGroups::default(),
            translates_stacks: Cell::new(false),
            next_due: Cell::new(None),
            metadata: RefCell::default(),
            script_metadata: RefCell::default(),
            abort_reason: RefCell::default(),
            random_state: Cell::new(0),
        })
    }

    /// Whether the script must stop; gives the thread away after a slice. Asked by the engine now and then while JavaScript runs, and
    /// by natives between two pieces of long work.
    pub(crate) fn must_stop(&self) -> bool {
        if self.stop.reason() == StopReason::Memory {
            return true;
        }
        let now = SystemClock::now();
        let is_late = self.binding().is_some_and(|binding| binding.deadline.has_passed(now));
        if is_late || vu::is_interrupted() {
            self.stop.set(StopReason::Interrupted);
            return true;
        }
        vu::yield_after_slice(now);
        false
    }

    /// The binding; only the very first init has none.
    pub(crate) fn binding(&self) -> Option<&VuBinding> {
        self.binding.get()
    }

    /// The plan, once there is one.
    pub(crate) fn plan(&self) -> Option<&Arc<Plan>> {
        self.binding.get().map(|binding| &binding.run.plan)
    }

    /// Whether functions that need a running VU may be called.
    pub(crate) fn is_running(&self) -> bool {
        self.phase.get() != Phase::Init
    }

    /// Whether k6's own numbers are wanted, even where they mislead.
    pub(crate) fn is_strict(&self) -> bool {
        self.init.strict.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// A step of the iteration ended: the next request is due now, where due times exist.
    pub(crate) fn step_ended(&self) {
        if self.next_due.get().is_some() {
            self.next_due.set(Some(SystemClock::now()));
        }
    }

    /// The scenario it works for; none in `setup()` and `teardown()`.
    pub(crate) fn scenario(&self) -> Option<ScenarioId> {
        self.call.borrow().as_ref().map(|call| call.scenario)
    }

    /// Emits one sample.
    pub(crate) fn record(&self, metric: MetricId, tags: TagSetId, value: f64, mark: Mark, at: Instant) {
        if let Some(binding) = self.binding() {
            binding.sink.record(metric, tags, value, mark, at, self.metadata.borrow().as_ref());
        }
    }

    /// Emits measured samples of one tag set.
    pub(crate) fn record_many(&self, tags: TagSetId, samples: &[(MetricId, f64)], at: Instant) {
        if let Some(binding) = self.binding() {
            binding.sink.record_many(tags, samples, at, self.metadata.borrow().as_ref());
        }
    }

    /// Recomputes what goes along with samples: `vu` and `iter` where asked for, and what the script has set.
    pub(crate) fn refresh_metadata(&self) {
        let Some(plan) = self.plan() else { return };
        let mut entries: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        if plan.system_tags.has(SystemTag::Iter)
            && let Some(call) = self.call.borrow().as_ref()
        {
            entries.push(("iter".into(), call.vu_iteration.to_string().into()));
        }
        if plan.system_tags.has(SystemTag::Vu)
            && let Some(binding) = self.binding()
        {
            entries.push(("vu".into(), binding.id_in_test.to_string().into()));
        }
        entries.extend(self.script_metadata.borrow().iter().map(|(k, v)| (k.clone(), v.clone())));
        *self.metadata.borrow_mut() = if entries.is_empty() { None } else { Some(entries.into()) };
    }

    /// Says something.
    pub(crate) fn log(&self, level: LogLevel, source: &'static str, message: String) {
        self.init.log.log(LogLine { at: SystemClock::now(), level, message, source, fields: Vec::new() });
    }

    /// Warns on behalf of the runner.
    pub(crate) fn warn(&self, message: impl Into<String>) {
        self.log(LogLevel::Warn, "", message.into());
    }

    /// Drops everything that holds JavaScript values, so that the runtime can go.
    pub(crate) fn forget_values(&self) {
        self.events.clear();
        self.builtin_objects.borrow_mut().clear();
        self.parsed_layouts.clear();
        self.check_layouts.clear();
        self.common_js.clear();
        self.check_tags.forget();
        self.specimens.borrow_mut().take();
        self.async_groups.forget_values();
        self.http.forget_values();
        self.grpc_responses.forget_values();
    }
}
