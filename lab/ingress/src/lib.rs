//! The ingress: one, two or three proxies behind a balancer, and behind them one backend that all of them share.
//!
//! The steps are those of an engineering post: with one proxy it is the limit, with two the backend is, and the third changes
//! next to nothing.

mod backend;
mod balance;
mod balancer;
mod faults;
mod limiter;
mod metrics;
mod proxy;
mod server;
mod slots;
#[cfg(test)]
mod tests;

use lab::{Assignment, System, Variant};

/// The system, as the lab lists it.
pub static SYSTEM: System = System {
    name: "ingress",
    summary: "one to three proxies behind a balancer, and a backend that they share",
    variants: &[
        Variant { name: "one", summary: "one proxy, which is the limit" },
        Variant { name: "two", summary: "two proxies, and the backend is the limit" },
        Variant { name: "three", summary: "three proxies, of which one is of no use" },
    ],
    servers: &[&balancer::PROXY_1, &balancer::PROXY_2, &balancer::PROXY_3, &balancer::BALANCER],
    scripts: &["lab/ingress/users.js"],
    serve,
};

/// Serves the part that this process is.
fn serve(assignment: &Assignment) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("start: {error}"))?;
    match assignment.part.as_str() {
        "" => runtime.block_on(backend::run(assignment)),
        part => runtime.block_on(proxy::run(assignment, part)),
    }
}
