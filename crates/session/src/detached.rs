//! Calls into the script outside the load: `handleSummary()`, and a `teardown()` that is requested afterwards.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use model::{Instant, Mark, Metadata, MetricId, SystemClock, TagSetId};
use script::{Bundle, RunContext, ScriptError, ScriptVu};

/// Time after the limit in which an interrupted call unwinds. Then it is left to the end of the process: it computes in a native
/// function that cannot be interrupted.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls `work` with a separate VU and a time limit, on a thread of its own. Its samples come too late for the run and are
/// dropped.
pub(crate) fn call<T: Send + 'static>(
    bundle: &Arc<Bundle>,
    run: &Arc<RunContext>,
    limit: Duration,
    work: impl FnOnce(ScriptVu) -> Result<T, ScriptError> + Send + 'static,
) -> Result<T, ScriptError> {
    let (bundle, run) = (bundle.clone(), run.clone());
    let (sender, result) = sync_channel(1);
    let body = move || {
        // The receiver is gone when the time is up.
        let _ = sender.send(call_here(bundle, run, limit, work));
    };
    let thread = std::thread::Builder::new().name("script".into()).spawn(body);
    let thread = thread.map_err(|error| ScriptError::Host(format!("start a thread: {error}")))?;
    match result.recv_timeout(limit.saturating_add(PATIENCE)) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(ScriptError::Interrupted),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(ScriptError::Interrupted),
        },
    }
}

fn call_here<T: 'static>(
    bundle: Arc<Bundle>,
    run: Arc<RunContext>,
    limit: Duration,
    work: impl FnOnce(ScriptVu) -> Result<T, ScriptError> + 'static,
) -> Result<T, ScriptError> {
    let binding = script::VuBinding {
        id_in_test: 0,
        id_in_instance: 0,
        sink: Rc::new(NoSink),
        notes: Rc::new(NoSink),
        deadline: Rc::new(FixedDeadline(SystemClock::now() + limit)),
        run,
    };
    let host = |error: std::io::Error| ScriptError::Host(error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(host)?;
    let called = vu::coroutine(script::STACK_BYTES, move || work(bundle.instantiate(binding)?));
    let interrupter = called.interrupter();
    let ended = tokio::task::LocalSet::new().block_on(&runtime, async {
        let mut called = pin!(called);
        if let Ok(ended) = tokio::time::timeout(limit, &mut called).await {
            return ended;
        }
        interrupter.interrupt();
        called.await
    });
    ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

struct NoSink;

impl script::Sink for NoSink {
    fn record(&self, _: MetricId, _: TagSetId, _: f64, _: Mark, _: Instant, _: Option<&Metadata>) {}
}

impl script::Notes for NoSink {}

struct FixedDeadline(Instant);

impl script::InterruptDeadline for FixedDeadline {
    fn has_passed(&self, now: Instant) -> bool {
        self.0 <= now
    }
}
