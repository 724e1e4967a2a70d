//! Measures what an exchange costs: `bench URL CONNECTIONS SECONDS [discard]`, one thread, one client per
//! connection, closed loop; with `discard`, bodies are not kept. Prints requests per second and CPU microseconds (user, system) per request.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::plan::{HttpOptions, NetworkOptions, TlsOptions};
use model::{Instant, SystemClock};
use wire::{Client, Method, Request, Shared, Target};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |default: &str| arguments.next().unwrap_or_else(|| default.to_owned());
    let target = Target::parse(&next("http://127.0.0.1:8080/"))?;
    let connections: u64 = next("100").parse()?;
    let seconds: u64 = next("5").parse()?;
    let keep_body = next("keep") != "discard";
    let tls = TlsOptions { insecure_skip_verify: true, ..TlsOptions::default() };
    let shared = Arc::new(Shared::new(&HttpOptions::default(), &NetworkOptions::default(), &tls)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = Rc::new(Cell::new((0, 0, 0)));
    let started = SystemClock::now();
    let end = started + Duration::from_secs(seconds);
    let tasks = tokio::task::LocalSet::new();
    for vu in 1..=connections {
        let client = Client::new(shared.clone(), vu);
        let (target, done) = (target.clone(), done.clone());
        tasks.spawn_local(async move { run(&client, &target, keep_body, end, &done).await });
    }
    let before = cpu_ticks()?;
    runtime.block_on(tasks);
    let after = cpu_ticks()?;
    let (good, bad, late_ns) = done.get();
    let us_per_tick = 10_000.0 / good.max(1) as f64;
    let (user, system) =
        ((after.0 - before.0) as f64 * us_per_tick, (after.1 - before.1) as f64 * us_per_tick);
    let rate = good as f64 / SystemClock::now().since(started).as_secs_f64();
    let late_us = late_ns as f64 / 1e3 / good.max(1) as f64;
    println!(
        "{rate:.0} requests/s, {bad} failed, CPU {:.2} us/request (user {user:.2}, system {system:.2}), late {late_us:.1} us",
        user + system
    );
    Ok(())
}

async fn run(client: &Client, target: &Target, keep_body: bool, end: Instant, done: &Cell<(u64, u64, u64)>) {
    let headers = [("User-Agent", "plimsoll")].map(|(name, value)| (name.into(), value.to_owned()));
    while SystemClock::now() < end {
        let deadline = SystemClock::now() + Duration::from_secs(60);
        let mut request = Request::new(Method::GET, target.clone(), deadline);
        request.headers = headers.to_vec();
        request.keep_body = keep_body;
        let exchange = client.exchange(&request).await;
        let (good, bad, late_ns) = done.get();
        match exchange.result {
            Ok(_) => done.set((good + 1, bad, late_ns + exchange.late_ns)),
            Err(error) => {
                if bad == 0 {
                    println!("{error}");
                }
                done.set((good, bad + 1, late_ns));
            }
        }
    }
}

/// CPU time of this process, user and system, in ticks of 10 ms (Linux).
fn cpu_ticks() -> Result<(u64, u64), Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || fields.next().unwrap_or_default().parse::<u64>();
    Ok((next()?, next()?))
}
