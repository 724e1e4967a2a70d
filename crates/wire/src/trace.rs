//! The stamps of an exchange while it runs.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::sync::Arc;

use model::Instant;

use crate::error::{Error, Stage};
use crate::exchange::Phases;
use crate::tls_facts::TlsFacts;

/// The known facts about a running exchange. It lives outside the future that does the work, so that it still shows
/// how far that got when the deadline drops it.
pub(crate) struct Trace {
    pub(crate) started: Instant,
    stage: Cell<Stage>,
    stage_since: Cell<Instant>,
    stage_ns: Cell<[u64; 7]>,
    pub(crate) reused: Cell<bool>,
    pub(crate) remote: Cell<Option<SocketAddr>>,
    pub(crate) tls: RefCell<Option<Arc<TlsFacts>>>,
    /// When the last bytes could be read.
    pub(crate) received_at: Cell<Instant>,
    pub(crate) late_ns: Cell<u64>,
    /// How often the request was sent again.
    pub(crate) repeats: Cell<u32>,
    /// The server said that it did not look at the request.
    pub(crate) unprocessed: Cell<bool>,
}

impl Trace {
    pub(crate) fn new(started: Instant) -> Trace {
        Trace {
            started,
            stage: Cell::new(Stage::Prepare),
            stage_since: Cell::new(started),
            stage_ns: Cell::new([0; 7]),
            reused: Cell::new(false),
            remote: Cell::new(None),
            tls: RefCell::new(None),
            received_at: Cell::new(started),
            late_ns: Cell::new(0),
            repeats: Cell::new(0),
            unprocessed: Cell::new(false),
        }
    }

    /// Where the exchange is.
    pub(crate) fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// Since when it is there.
    pub(crate) fn stage_since(&self) -> Instant {
        self.stage_since.get()
    }

    /// When the request began to be sent, once something of its response came.
    pub(crate) fn sent_from(&self) -> Instant {
        let ns = self.stage_ns.get();
        let before_ns = ns[Stage::Send as usize] + ns[Stage::Wait as usize];
        Instant::from_ns(self.stage_since.get().as_ns().saturating_sub(before_ns))
    }

    /// The exchange went on to `stage` at `now`; what passed since belongs to the stage before.
    pub(crate) fn enter(&self, stage: Stage, now: Instant) {
        self.leave(now);
        self.stage.set(stage);
    }

    /// The request begins again at `now` on another connection. What the dead one took was time without a connection.
    pub(crate) fn begin_again(&self, now: Instant) {
        self.enter(Stage::Prepare, now);
        let mut ns = self.stage_ns.get();
        for stage in [Stage::Send, Stage::Wait] {
            ns[Stage::Prepare as usize] += std::mem::take(&mut ns[stage as usize]);
        }
        self.stage_ns.set(ns);
        self.reused.set(false);
        self.unprocessed.set(false);
        self.repeats.set(self.repeats.get() + 1);
    }

    /// The exchange ended at `now`.
    pub(crate) fn phases(&self, now: Instant) -> Phases {
        self.leave(now);
        let ns = self.stage_ns.get();
        let of = |stage: Stage| ns[stage as usize];
        Phases {
            blocked_ns: of(Stage::Prepare) + of(Stage::Lookup) + of(Stage::Connect) + of(Stage::Tls),
            looking_up_ns: of(Stage::Lookup),
            connecting_ns: of(Stage::Connect),
            tls_ns: of(Stage::Tls),
            sending_ns: of(Stage::Send),
            waiting_ns: of(Stage::Wait),
            receiving_ns: of(Stage::Receive),
        }
    }

    /// An error of the present stage.
    pub(crate) fn failed(&self, mut error: Error) -> Error {
        error.stage = self.stage();
        error
    }

    fn leave(&self, now: Instant) {
        let mut ns = self.stage_ns.get();
        ns[self.stage.get() as usize] += now.as_ns().saturating_sub(self.stage_since.get().as_ns());
        self.stage_ns.set(ns);
        self.stage_since.set(now.max(self.stage_since.get()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_add_up_to_the_whole() {
        let at = Instant::from_ns;
        let trace = Trace::new(at(100));
        trace.enter(Stage::Lookup, at(110));
        trace.enter(Stage::Connect, at(130));
        trace.enter(Stage::Send, at(160));
        trace.enter(Stage::Wait, at(200));
        // A stamp before the one before it moves nothing backwards.
        trace.enter(Stage::Receive, at(190));
        assert_eq!(trace.sent_from(), at(160));
        let phases = trace.phases(at(260));
        assert_eq!(
            (phases.blocked_ns, phases.looking_up_ns, phases.connecting_ns, phases.tls_ns),
            (60, 20, 30, 0)
        );
        assert_eq!((phases.sending_ns, phases.waiting_ns, phases.receiving_ns), (40, 0, 60));
        assert_eq!(phases.blocked_ns + phases.duration_ns(), 160);
    }

    #[test]
    fn a_dead_connection_blocks() {
        let at = Instant::from_ns;
        let trace = Trace::new(at(100));
        trace.enter(Stage::Send, at(110));
        trace.enter(Stage::Wait, at(130));
        trace.begin_again(at(160));
        trace.enter(Stage::Send, at(200));
        trace.enter(Stage::Wait, at(201));
        let phases = trace.phases(at(205));
        assert_eq!((phases.blocked_ns, phases.sending_ns, phases.waiting_ns), (100, 1, 4));
    }
}
