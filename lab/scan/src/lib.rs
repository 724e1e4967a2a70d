//! The scanner: a client submits a picture, four steps make an answer of it, and the client polls until the answer is there.
//!
//! The steps wait in queues of RabbitMQ; workers, a canary among them, take from all four, and call a language model twice. An
//! autoscaler starts workers while queues are long. All times are those of an engineering post about such a system, shortened
//! by one factor.

mod broker;
mod consumers;
mod faults;
mod limiter;
mod llm;
mod llm_client;
mod metrics;
mod monitor;
mod scaler;
mod seed;
mod service;
mod stage;
mod store;
mod variant;
mod worker;

use lab::{Assignment, PROMETHEUS, RABBITMQ, REDIS, System};

/// The system, as the lab lists it.
pub static SYSTEM: System = System {
    name: "scan",
    summary: "submit and poll: four steps over RabbitMQ, workers that are scaled, a model that is slow; ten times as fast as life",
    variants: variant::ALL,
    servers: &[RABBITMQ, PROMETHEUS, REDIS],
    scripts: &["lab/scan/polling.js", "lab/scan/trickle.js"],
    serve,
};

/// The name of the process that stands in for the language model.
const LLM: &str = "llm";

/// The worker apart, which is not scaled.
const CANARY: &str = "canary";

/// The names of the workers that are scaled, in the order in which they are started.
const WORKERS: [&str; seed::REPLICAS_MAX] = ["worker-1", "worker-2", "worker-3"];

/// Serves whatever this process is to be, until it is ended.
fn serve(assignment: &Assignment) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("start: {error}"))?;
    match assignment.part.as_str() {
        "" => runtime.block_on(service::run(assignment)),
        LLM => runtime.block_on(llm::run(assignment)),
        _ => runtime.block_on(worker::run(assignment)),
    }
}
