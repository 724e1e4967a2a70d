//! The feed: people who are logged in read posts and like them, through NGINX, from a backend with one worker.
//!
//! The steps are those of an engineering post: the same load, stress and spike with pages from the store, and then from Redis.
//! Every request in flight costs the worker a little of every other, so throughput falls once they pile up.

mod cache;
mod data;
mod door;
mod downstream;
mod faults;
mod front;
mod keys;
mod link;
mod metrics;
mod service;
mod sessions;
mod state;
#[cfg(test)]
mod tests;
mod worker;

use lab::{System, Variant};

/// The system, as the lab lists it.
pub static SYSTEM: System = System {
    name: "feed",
    summary: "posts that people read and like, through NGINX, from a backend with one worker",
    variants: &[
        Variant { name: "plain", summary: "every page comes from the store" },
        Variant { name: "cached", summary: "pages come from Redis, and from the store where it has none" },
    ],
    servers: &[&cache::CACHE, &front::FRONT],
    scripts: &["lab/feed/load.js", "lab/feed/stress.js", "lab/feed/spike.js", "lab/feed/steady.js"],
    serve: service::serve,
};
