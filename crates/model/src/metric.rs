//! Metrics: a name, a kind and a unit, and the table of those that are built in.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// A metric's number in its run's [`MetricRegistry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MetricId(pub u16);

/// How the values of a metric add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetricKind {
    /// A sum.
    Counter,
    /// The last value, with the smallest and largest seen.
    Gauge,
    /// The share of non-zero values.
    Rate,
    /// A distribution.
    Trend,
}

impl MetricKind {
    /// k6's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Rate => "rate",
            MetricKind::Trend => "trend",
        }
    }
}

/// The quantity that a metric's values measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// A plain number.
    Default,
    /// Milliseconds.
    Time,
    /// Bytes.
    Data,
}

impl ValueKind {
    /// k6's word for it (`contains` in its JSON).
    pub const fn as_str(self) -> &'static str {
        match self {
            ValueKind::Default => "default",
            ValueKind::Time => "time",
            ValueKind::Data => "data",
        }
    }
}

/// A metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its number.
    pub id: MetricId,
    /// Its name, as k6 spells it.
    pub name: Arc<str>,
    /// How its values add up.
    pub kind: MetricKind,
    /// The quantity that its values measure.
    pub contains: ValueKind,
}

/// The built-in metrics. Those of k6 have its names and units; [`builtin::OWN`] are Plimsoll's own.
pub mod builtin {
    use std::ops::RangeInclusive;

    use super::{MetricId, MetricKind, ValueKind};
    use MetricKind::{Counter, Gauge, Rate, Trend};
    use ValueKind::{Data, Default, Time};

    macro_rules! builtins {
        ($($(#[$doc:meta])* $constant:ident = $name:literal, $kind:expr, $contains:expr;)*) => {
            #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "only numbers the constants below")]
            enum Number { $($constant),* }
            $($(#[$doc])* pub const $constant: MetricId = MetricId(Number::$constant as u16);)*
            /// Name, kind and unit of every built-in metric, by number.
            pub const TABLE: &[(&str, MetricKind, ValueKind)] = &[$(($name, $kind, $contains)),*];
        };
    }

    builtins! {
        /// Active VUs, each second.
        VUS = "vus", Gauge, Default;
        /// Initialised VUs, each second.
        VUS_MAX = "vus_max", Gauge, Default;
        /// Full iterations.
        ITERATIONS = "iterations", Counter, Default;
        /// Time of a full iteration.
        ITERATION_DURATION = "iteration_duration", Trend, Time;
        /// Iterations due but never started.
        DROPPED_ITERATIONS = "dropped_iterations", Counter, Default;
        /// Passed and failed checks.
        CHECKS = "checks", Rate, Default;
        /// Time of a group.
        GROUP_DURATION = "group_duration", Trend, Time;
        /// HTTP requests, one per hop.
        HTTP_REQS = "http_reqs", Counter, Default;
        /// Share of failed HTTP requests.
        HTTP_REQ_FAILED = "http_req_failed", Rate, Default;
        /// Sending + waiting + receiving.
        HTTP_REQ_DURATION = "http_req_duration", Trend, Time;
        /// Waiting for a connection, with DNS, connect and TLS of a new one.
        HTTP_REQ_BLOCKED = "http_req_blocked", Trend, Time;
        /// TCP connect.
        HTTP_REQ_CONNECTING = "http_req_connecting", Trend, Time;
        /// TLS handshake.
        HTTP_REQ_TLS_HANDSHAKING = "http_req_tls_handshaking", Trend, Time;
        /// Writing the request.
        HTTP_REQ_SENDING = "http_req_sending", Trend, Time;
        /// From the last byte written to the first byte read.
        HTTP_REQ_WAITING = "http_req_waiting", Trend, Time;
        /// From the first byte read to the last.
        HTTP_REQ_RECEIVING = "http_req_receiving", Trend, Time;
        /// Bytes written to sockets.
        DATA_SENT = "data_sent", Counter, Data;
        /// Bytes read from sockets.
        DATA_RECEIVED = "data_received", Counter, Data;
        /// Name resolution (k6 hides it in `blocked`).
        HTTP_REQ_LOOKING_UP = "http_req_looking_up", Trend, Time;
        /// Finished − due of a request, where a due time exists. Failures rank above every success.
        HTTP_REQ_RESPONSE_TIME = "http_req_response_time", Trend, Time;
        /// Finished − due of an iteration of an arrival-rate scenario.
        ITERATION_RESPONSE_TIME = "iteration_response_time", Trend, Time;
        /// Started − due: the generator's own delay.
        ITERATION_LATENESS = "iteration_lateness", Trend, Time;
        /// Share of iterations that ended in an exception.
        ITERATION_FAILED = "iteration_failed", Rate, Default;
        /// Requests sent once more, because the server had closed the kept connection they went out on.
        HTTP_REQ_REPEATS = "http_req_repeats", Counter, Default;
        /// WebSocket sessions begun, whether they came about or not.
        WS_SESSIONS = "ws_sessions", Counter, Default;
        /// WebSocket messages sent.
        WS_MSGS_SENT = "ws_msgs_sent", Counter, Default;
        /// WebSocket messages received.
        WS_MSGS_RECEIVED = "ws_msgs_received", Counter, Default;
        /// From a WebSocket ping to its pong.
        WS_PING = "ws_ping", Trend, Time;
        /// From the begin of a WebSocket session to its end.
        WS_SESSION_DURATION = "ws_session_duration", Trend, Time;
        /// From the begin of a WebSocket session to the answer of the handshake.
        WS_CONNECTING = "ws_connecting", Trend, Time;
        /// From the begin of a gRPC call to its status.
        GRPC_REQ_DURATION = "grpc_req_duration", Trend, Time;
        /// gRPC streams begun.
        GRPC_STREAMS = "grpc_streams", Counter, Default;
        /// Messages sent on gRPC streams.
        GRPC_STREAMS_MSGS_SENT = "grpc_streams_msgs_sent", Counter, Default;
        /// Messages received on gRPC streams.
        GRPC_STREAMS_MSGS_RECEIVED = "grpc_streams_msgs_received", Counter, Default;
    }

    /// Where in [`TABLE`] the metrics are that k6 does not have.
    pub const OWN: RangeInclusive<usize> = HTTP_REQ_LOOKING_UP.0 as usize..=HTTP_REQ_REPEATS.0 as usize;
}

/// A metric was declared twice with different kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricConflict {
    /// The name in question.
    pub name: Arc<str>,
    /// The kind under which it was first declared.
    pub is: (MetricKind, ValueKind),
}

/// All metrics of a run. Declared during init, read everywhere.
#[derive(Debug)]
pub struct MetricRegistry {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    metrics: Vec<Metric>,
    by_name: HashMap<Arc<str>, MetricId>,
}

/// More metrics than this in one run are refused: a script that declares metrics in a loop is a mistake.
pub const METRICS_MAX: usize = 10_000;

impl Default for MetricRegistry {
    fn default() -> Self {
        let registry = MetricRegistry { inner: RwLock::default() };
        for (name, kind, contains) in builtin::TABLE {
            registry.register(name, *kind, *contains).expect("built-in metrics have distinct names");
        }
        registry
    }
}

impl MetricRegistry {
    /// Declares a metric, or finds the one already declared with the same kind and unit.
    ///
    /// # Errors
    /// The metric exists with another kind or unit, or there are [`METRICS_MAX`] already.
    pub fn register(
        &self,
        name: &str,
        kind: MetricKind,
        contains: ValueKind,
    ) -> Result<MetricId, MetricConflict> {
        let mut inner = self.inner.write().expect("no panic while declaring");
        if let Some(&id) = inner.by_name.get(name) {
            let known = &inner.metrics[usize::from(id.0)];
            if known.kind == kind && known.contains == contains {
                return Ok(id);
            }
            return Err(MetricConflict { name: known.name.clone(), is: (known.kind, known.contains) });
        }
        if inner.metrics.len() >= METRICS_MAX {
            return Err(MetricConflict { name: name.into(), is: (kind, contains) });
        }
        let id = MetricId(u16::try_from(inner.metrics.len()).expect("below METRICS_MAX"));
        let name: Arc<str> = name.into();
        inner.metrics.push(Metric { id, name: name.clone(), kind, contains });
        inner.by_name.insert(name, id);
        Ok(id)
    }

    /// The metric with this number. Numbers come from [`MetricRegistry::register`] or [`builtin`] alone.
    pub fn get(&self, id: MetricId) -> Metric {
        self.inner.read().expect("no panic while declaring").metrics[usize::from(id.0)].clone()
    }

    /// The metric with this name.
    pub fn find(&self, name: &str) -> Option<Metric> {
        let inner = self.inner.read().expect("no panic while declaring");
        inner.by_name.get(name).map(|id| inner.metrics[usize::from(id.0)].clone())
    }

    /// Every metric, by number.
    pub fn all(&self) -> Vec<Metric> {
        self.inner.read().expect("no panic while declaring").metrics.clone()
    }
}
