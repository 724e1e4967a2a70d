//! The stand-in for the language model: it takes as long as the seed's did, and allows no more calls.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use lab::Assignment;
use labkit::{Attribute, Metrics, SpanKind, Timed, Tracer};
use model::SystemClock;
use tokio::sync::watch;

use crate::faults;
use crate::limiter::{Limit, Limiter};
use crate::llm_client::Answer;
use crate::metrics;
use crate::seed::{LLM_CALLS_PER_SECOND, Times};
use crate::stage::Stage;
use crate::store::{Beat, Store};

/// How often it reads which faults are to act.
const BEAT: Duration = Duration::from_millis(50);

/// Calls at once after a rest: more than all workers can make.
const BURST: u32 = 100;

/// The share of the limit that remains while that is the fault.
const FEW: Limit = Limit { per_second: 12.0, burst: 1 };

/// So many times longer does a call take while that is the fault.
const SLOWNESS: f64 = 2.0;

/// How calls are treated.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rules {
    limit: Limit,
    slowness: f64,
}

impl Rules {
    fn from_faults(faults: &str) -> Rules {
        let plain = Limit { per_second: LLM_CALLS_PER_SECOND, burst: BURST };
        Rules {
            limit: if faults::has(faults, faults::RATE_LIMIT) { FEW } else { plain },
            slowness: if faults::has(faults, faults::SLOW_DOWNSTREAM) { SLOWNESS } else { 1.0 },
        }
    }
}

struct Llm {
    rules: watch::Sender<Rules>,
    limiter: Mutex<Limiter>,
    tracer: Tracer,
}

/// Answers until the process is ended, or Redis is.
pub(crate) async fn run(assignment: &Assignment) -> Result<(), String> {
    let store = Store::connect(assignment.server("redis")?).await?;
    let tracer =
        Tracer::new(assignment.otlp.as_deref(), "scan-llm", Arc::new(Metrics::new(metrics::OF_PARTS)));
    let rules = watch::Sender::new(Rules::from_faults(""));
    let llm = Arc::new(Llm { rules, limiter: Mutex::default(), tracer });
    let listen = |error: std::io::Error| format!("listen: {error}");
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    let router = Router::new().route("/{stage}", post(call)).with_state(llm.clone());
    store.set_llm(&format!("http://{address}")).await?;
    tokio::select! {
        served = axum::serve(listener, router).into_future() => served.map_err(|error| format!("serve: {error}")),
        followed = follow(&store, &llm) => followed,
    }
}

/// Reports its state to the store, and applies the orders from there.
async fn follow(store: &Store, llm: &Llm) -> Result<(), String> {
    let mut beat = Beat::default();
    loop {
        let ordered = store.beat(crate::LLM, &beat, &Default::default()).await?;
        if ordered != beat.faults {
            *llm.limiter.lock().unwrap_or_else(PoisonError::into_inner) = Limiter::default();
            llm.rules.send_replace(Rules::from_faults(&ordered));
            beat.faults = ordered;
            continue;
        }
        tokio::time::sleep(BEAT).await;
    }
}

impl Llm {
    /// Waits for the turn of a call. A call that waits while the limit changes queues again.
    async fn admit(&self) -> Rules {
        let mut changes = self.rules.subscribe();
        loop {
            let rules = *changes.borrow_and_update();
            let now = SystemClock::now();
            let wait = self.limiter.lock().unwrap_or_else(PoisonError::into_inner).turn(now, rules.limit);
            if wait.is_zero() {
                return rules;
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => return rules,
                _ = changes.changed() => {}
            }
        }
    }
}

async fn call(
    State(llm): State<Arc<Llm>>,
    Path(stage): Path<String>,
    headers: HeaderMap,
) -> Result<String, StatusCode> {
    let stage = [Stage::Vision, Stage::Answer].into_iter().find(|known| known.name() == stage);
    let stage = stage.ok_or(StatusCode::NOT_FOUND)?;
    let traceparent = headers.get("traceparent").and_then(|value| value.to_str().ok());
    let (began, trace) = (SystemClock::now(), llm.tracer.trace(traceparent));
    let rules = llm.admit().await;
    let admitted = SystemClock::now();
    tokio::time::sleep(Times::for_stage(stage).draw(fastrand::f64()).mul_f64(rules.slowness)).await;
    let ended = SystemClock::now();
    let waited_ms = i64::try_from(admitted.since(began).as_millis()).unwrap_or(i64::MAX);
    trace.end(Timed {
        name: stage.name().into(),
        kind: SpanKind::Server,
        began,
        ended,
        attributes: vec![("plimsoll.rate_limit_wait_ms", Attribute::Number(waited_ms))],
        is_error: false,
    });
    let answer =
        Answer { waited_s: admitted.since(began).as_secs_f64(), took_s: ended.since(admitted).as_secs_f64() };
    Ok(serde_json::to_string(&answer).unwrap_or_default())
}
