//! The tasks of a VU, and what is recorded of each.
//!
//! A poll that says "not yet" was answered from a state that the target had after the poll began; one that says "done" from
//! a state that it had before the answer was read. So a task completed after the *begin* of the last poll that said "not
//! yet" and before the *end* of the first that said "done". The first is the lower bound of its duration, the second the
//! upper one, which is also what a user of the script's own kind has waited.

use std::rc::Rc;

use model::{Instant, Mark, OWN_SERVICE, Span, SpanKind, SpanStatus, SystemClock, TagSetId};

use crate::state::VuState;
use crate::state::flow::{Step, Task, Tasks, Traced};
use crate::state::flow_metrics::Metrics;
use crate::state::outcomes::OUTCOMES_MAX;
use crate::trace_context::{TraceContext, TraceOf};

/// Tasks of one VU under way at once. A script that starts more forgets to await them.
pub(super) const OPEN_MAX: usize = 10_000;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// A poll said so.
    Finished,
    /// It was waited for as long as the script wanted.
    TimedOut,
    /// It was polled as often as the script wanted.
    TooManyPolls,
    /// The target did not take it.
    NotSubmitted,
    /// A function of the script threw.
    Failed,
    /// The iteration ended first.
    Cut,
}

impl End {
    pub(super) const ALL: [End; 6] =
        [End::Finished, End::TimedOut, End::TooManyPolls, End::NotSubmitted, End::Failed, End::Cut];

    /// The tag `end`.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            End::Finished => "finished",
            End::TimedOut => "timed_out",
            End::TooManyPolls => "too_many_polls",
            End::NotSubmitted => "not_submitted",
            End::Failed => "failed",
            End::Cut => "cut",
        }
    }

    /// Mark of a duration that ends so.
    const fn mark(self) -> Mark {
        match self {
            End::Finished => Mark::Measured,
            End::TimedOut | End::TooManyPolls => Mark::TimedOut,
            End::Cut => Mark::Cut,
            End::NotSubmitted | End::Failed => Mark::Failed,
        }
    }
}

/// Result of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Nothing about the task: the request failed.
    Nothing,
    /// It is not done.
    NotYet,
    /// It is.
    Done,
}

/// Name and tags of a task.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) tags: TagSetId,
    /// Without what is secret.
    pub(super) name: Option<String>,
}

impl Tasks {
    /// Starts one and gives its number; `None` when there are too many.
    pub(super) fn begin(
        &self,
        vu: &VuState,
        began: Instant,
        Named { tags, name }: Named,
        declared: Box<[Box<str>]>,
    ) -> Option<u32> {
        let mut open = self.open.borrow_mut();
        if open.len() >= OPEN_MAX {
            return None;
        }
        let id = self.last_id.get().wrapping_add(1).max(1);
        self.last_id.set(id);
        let step = Some(Step { is_submission: true, began: SystemClock::now(), answered: None });
        let context = vu.binding().and_then(|binding| binding.run.traces?.begin());
        let traced = context.map(|context| Traced { context, name });
        self.turn_to(vu, context, true);
        open.insert(id, Task { tags, traced, began, not_yet: None, done: None, polls: 0, step, declared });
        Some(id)
    }

    /// The script no longer submits or polls.
    pub(super) fn left(&self) {
        self.trace_of_request.set(TraceOf::Itself);
    }

    /// Assigns the requests sent from now on to a task.
    fn turn_to(&self, vu: &VuState, context: Option<TraceContext>, is_kept: bool) {
        if vu.binding().is_some_and(|binding| binding.run.traces.is_some()) {
            let of = context.map_or(TraceOf::Nothing, |context| TraceOf::Task { context, is_kept });
            self.trace_of_request.set(of);
        }
    }

    /// The target has taken it.
    pub(super) fn submitted(&self, vu: &VuState, id: u32) {
        self.with(id, |task, metrics| task.end_step(vu, metrics, Mark::Measured));
    }

    /// A poll begins.
    pub(super) fn polling(&self, vu: &VuState, id: u32) {
        self.with(id, |task, metrics| {
            let began = SystemClock::now();
            task.polls = task.polls.saturating_add(1);
            task.step = Some(Step { is_submission: false, began, answered: None });
            // How often it is asked after says nothing of how it is made, and would crowd out those that do.
            self.turn_to(vu, task.traced.as_ref().map(|traced| traced.context), false);
            vu.record(metrics.polls, task.tags, 1.0, Mark::Measured, began);
        });
    }

    /// The poll is over.
    pub(super) fn answered(&self, id: u32) {
        self.with(id, |task, _| {
            if let Some(step) = &mut task.step {
                step.answered = Some(SystemClock::now());
            }
        });
    }

    /// Records the result of the poll.
    pub(super) fn judged(&self, vu: &VuState, id: u32, said: Said) {
        self.with(id, |task, metrics| {
            let Some(step) = task.step else { return };
            match said {
                Said::Nothing => {}
                Said::NotYet => task.not_yet = Some(step.began),
                Said::Done => task.done = step.answered,
            }
            let mark = if said == Said::Nothing { Mark::Failed } else { Mark::Measured };
            task.end_step(vu, metrics, mark);
        });
    }

    /// Records the end of a task, and returns the bounds of its duration in milliseconds: no upper one without an observed
    /// end. `None` for tasks that are over already.
    pub(super) fn end(
        &self,
        vu: &VuState,
        id: u32,
        how: End,
        outcome: Option<&str>,
    ) -> Option<(f64, Option<f64>)> {
        self.left();
        let mut task = self.open.borrow_mut().remove(&id)?;
        let metrics = self.metrics.get()?;
        // The submission that was refused, or what threw.
        task.abandon_step(vu, &metrics, Mark::Failed);
        task.record(vu, &metrics, how, outcome);
        Some((task.lower_ms(), task.upper_ms()))
    }

    /// The iteration is over: whatever is under way never came to its end.
    pub(crate) fn cut_all(&self, vu: &Rc<VuState>) {
        self.left();
        if self.open.borrow().is_empty() {
            return;
        }
        let Some(metrics) = self.metrics.get() else { return };
        for mut task in std::mem::take(&mut *self.open.borrow_mut()).into_values() {
            task.abandon_step(vu, &metrics, Mark::Cut);
            task.record(vu, &metrics, End::Cut, None);
        }
    }

    fn with(&self, id: u32, change: impl FnOnce(&mut Task, &Metrics)) {
        if let (Some(task), Some(metrics)) = (self.open.borrow_mut().get_mut(&id), self.metrics.get()) {
            change(task, &metrics);
        }
    }
}

impl Task {
    fn lower_ms(&self) -> f64 {
        self.not_yet.map_or(0.0, |not_yet| not_yet.ms_since(self.began))
    }

    fn upper_ms(&self) -> Option<f64> {
        self.done.map(|done| done.ms_since(self.began))
    }

    /// The same where the task ends in the midst of it; what was answered has its time all the same.
    fn abandon_step(&mut self, vu: &VuState, metrics: &Metrics, mark: Mark) {
        let is_answered = self.step.is_some_and(|step| step.answered.is_some());
        self.end_step(vu, metrics, if is_answered { Mark::Measured } else { mark });
    }

    /// Records the submission or poll that is going on, if there is one.
    fn end_step(&mut self, vu: &VuState, metrics: &Metrics, mark: Mark) {
        let Some(step) = self.step.take() else { return };
        let at = step.answered.unwrap_or_else(SystemClock::now);
        let metric = if step.is_submission { metrics.submit_duration } else { metrics.poll_duration };
        vu.record(metric, self.tags, at.ms_since(step.began), mark, at);
    }

    fn record(&self, vu: &VuState, metrics: &Metrics, how: End, outcome: Option<&str>) {
        let at = SystemClock::now();
        let is_finished = how == End::Finished;
        let outcome = outcome.filter(|_| is_finished).map(|outcome| self.counted(vu, outcome));
        let with_outcome = |tags| match &outcome {
            Some(outcome) => vu.cache.with_tag(tags, "outcome", outcome),
            None => tags,
        };
        let measured = |metric, tags, value| vu.record(metric, tags, value, Mark::Measured, at);
        measured(metrics.tasks, with_outcome(vu.cache.with_tag(self.tags, "end", how.as_str())), 1.0);
        measured(metrics.finished, self.tags, f64::from(is_finished));
        measured(metrics.polls_per_task, self.tags, self.polls.into());
        for declared in &self.declared {
            let is_it = outcome.as_deref() == Some(&**declared);
            let tags = vu.cache.with_tag(self.tags, "outcome", declared);
            measured(metrics.outcomes, tags, f64::from(is_it));
        }
        let waited_ms = at.ms_since(self.began);
        let bounds = [
            (metrics.duration, self.upper_ms().unwrap_or(waited_ms)),
            (metrics.duration_lower, self.lower_ms()),
        ];
        for (metric, value) in bounds {
            vu.record(metric, with_outcome(self.tags), value, how.mark(), at);
        }
        if let (Some(traced), Some(spans)) =
            (&self.traced, vu.binding().and_then(|binding| binding.run.spans.as_ref()))
        {
            let ended = self.done.unwrap_or(at);
            spans.add(traced.context.trace, self.span(traced, ended, how, outcome.as_deref()));
        }
    }

    /// The span of the whole task, as its user waits for it; the spans of servers are below it.
    fn span(&self, traced: &Traced, ended: Instant, how: End, outcome: Option<&str>) -> Span {
        let name = traced.name.as_deref().map_or_else(|| "task".to_owned(), |name| format!("task {name}"));
        let mut attributes = vec![
            ("plimsoll.task".into(), how.as_str().to_owned()),
            ("plimsoll.polls".into(), self.polls.to_string()),
        ];
        attributes.extend(outcome.map(|outcome| ("plimsoll.outcome".into(), outcome.to_owned())));
        Span {
            id: traced.context.span,
            parent: None,
            kind: SpanKind::Client,
            service: OWN_SERVICE.into(),
            operation: name.into(),
            start_ns: i64::try_from(self.began.as_ns()).unwrap_or(i64::MAX),
            duration: ended.since(self.began),
            status: if how == End::Finished { SpanStatus::Unset } else { SpanStatus::Error },
            attributes,
            links: Vec::new(),
        }
    }

    /// The outcome that this one is counted as.
    fn counted(&self, vu: &VuState, outcome: &str) -> String {
        let outcome = vu.init.secrets.redact(outcome);
        let counted = vu.init.outcomes.count(&outcome, &self.declared);
        if counted.is_first_beyond {
            vu.warn(format!(
                "tasks ended with more than {OUTCOMES_MAX} different outcomes; \"{outcome}\" and further ones are \
                 counted as \"other\": have done() return what kind of end it is, not what is in it"
            ));
        }
        counted.as_outcome.into_owned()
    }
}
