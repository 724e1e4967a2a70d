//! How the events of a socket or a stream reach their object in the script: each as a task of its own on the event loop.

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::IntoArgs;
use rquickjs::{Ctx, Function, Persistent, Value};

use crate::async_groups;
use crate::js;
use crate::state::VuState;
use crate::state::events::Completion;
use crate::state::stop::StopReason;

/// The way to one object: the function that takes its events.
#[derive(Clone)]
pub(crate) struct EventLine {
    pub(crate) vu: Rc<VuState>,
    dispatch: Persistent<Function<'static>>,
    /// The number of the socket or stream in its VU.
    pub(crate) id: u32,
    /// The group in which it was made, where groups are followed.
    group: Option<Arc<str>>,
}

/// A socket or a stream whose events come one after the other.
pub(crate) trait EventSource: 'static {
    type Event;

    /// Waits until an event can be taken.
    async fn ready(&self);

    /// Takes the next event, if there is one.
    fn take_event(&self) -> Option<Self::Event>;

    /// Whether no event follows this one.
    fn is_last(event: &Self::Event) -> bool;

    /// Passes an event to the script.
    ///
    /// # Errors
    /// A handler of the script throws.
    fn deliver(&self, ctx: &Ctx<'_>, line: &EventLine, event: Self::Event) -> rquickjs::Result<()>;
}

impl EventLine {
    /// A line in the present group.
    pub(crate) fn new<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, dispatch: Function<'js>, id: u32) -> EventLine {
        let dispatch = Persistent::save(ctx, dispatch);
        EventLine { vu: vu.clone(), dispatch, id, group: async_groups::current(vu) }
    }

    /// Waits for events and passes them to the script, until the last one or until the source is closed.
    pub(crate) fn listen<S: EventSource>(self, source: Rc<S>) {
        let vu = self.vu.clone();
        vu.events.spawn(Box::pin(async move {
            source.ready().await;
            let completion: Completion = Box::new(move |ctx| self.deliver(ctx, source));
            completion
        }));
    }

    /// Calls the function that takes the events.
    ///
    /// # Errors
    /// It throws.
    pub(crate) fn dispatch<'js, A: IntoArgs<'js>>(&self, ctx: &Ctx<'js>, event: A) -> rquickjs::Result<()> {
        async_groups::resume(&self.vu, self.group.as_ref());
        let dispatch = self.dispatch.clone().restore(ctx)?;
        vu::preempt::in_engine(|| dispatch.call::<_, Value<'js>>(event)).map(drop)
    }

    /// As [`Self::dispatch`], for events that come often.
    ///
    /// # Errors
    /// The function throws.
    pub(crate) fn dispatch_values<'js, const N: usize>(
        &self,
        ctx: &Ctx<'js>,
        event: [&Value<'js>; N],
    ) -> rquickjs::Result<()> {
        async_groups::resume(&self.vu, self.group.as_ref());
        let dispatch = self.dispatch.clone().restore(ctx)?;
        js::call(dispatch.as_value(), event).map(drop)
    }

    fn deliver<S: EventSource>(self, ctx: &Ctx<'_>, source: Rc<S>) -> rquickjs::Result<()> {
        while let Some(event) = source.take_event() {
            let is_last = S::is_last(&event);
            if is_last {
                self.vu.streams.remove(self.id);
            }
            source.deliver(ctx, &self, event)?;
            if is_last {
                return Ok(());
            }
            // Jobs that a handler has queued come before the next event.
            async_groups::run_jobs(ctx, &self.vu);
            if self.vu.stop.reason() != StopReason::None {
                return Ok(());
            }
        }
        if self.vu.streams.contains(self.id) {
            self.listen(source);
        }
        Ok(())
    }
}
