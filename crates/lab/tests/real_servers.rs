//! Every kind of server that a system can ask for, as Debian packs it: it answers in time, ends in time, and what it stored is
//! gone.

use std::time::Duration;

use lab::{Alone, NGINX, POSTGRES, PROMETHEUS, RABBITMQ, REDIS, Server};
use model::SystemClock;

const UP_LIMIT: Duration = Duration::from_secs(15);
const DOWN_LIMIT: Duration = Duration::from_secs(5);

#[test]
fn all_servers_answer_in_time_and_end_in_time() {
    // The one that takes longest first.
    let all = [RABBITMQ, POSTGRES, PROMETHEUS, NGINX, REDIS];
    let (installed, missing): (Vec<&'static dyn Server>, Vec<&'static dyn Server>) =
        all.into_iter().partition(|server| server.is_installed());
    for server in missing {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", server.name());
        eprintln!("skipped: {} is not installed, so it is not started", server.name());
    }
    // The limits are for a machine that does nothing else: they hold when one of three attempts keeps them.
    let mut took = Vec::new();
    for _ in 0..3 {
        let (up, down) = up_and_down(&installed);
        if up < UP_LIMIT && down < DOWN_LIMIT {
            return;
        }
        took.push((up, down));
    }
    panic!("to answer and to end they took {took:?}");
}

/// How long they take to answer and to end.
fn up_and_down(servers: &[&'static dyn Server]) -> (Duration, Duration) {
    let began = SystemClock::now();
    let running = Alone::start(servers).unwrap_or_else(|error| panic!("failed to {error}"));
    let up = SystemClock::now().since(began);
    let folder = running.directory().to_owned();
    assert!(
        servers.iter().all(|server| running.url(server.name()).contains("127.0.0.1:")) && folder.is_dir()
    );
    let began = SystemClock::now();
    drop(running);
    assert!(!folder.exists());
    (up, SystemClock::now().since(began))
}
