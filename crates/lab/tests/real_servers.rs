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
    let (installed, missing): (Vec<&dyn Server>, Vec<&dyn Server>) =
        all.into_iter().partition(|server| server.is_installed());
    for server in missing {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", server.name());
        eprintln!("skipped: {} is not installed, so it is not started", server.name());
    }
    let began = SystemClock::now();
    let servers = Alone::start(&installed).unwrap_or_else(|error| panic!("failed to {error}"));
    let took = SystemClock::now().since(began);
    assert!(took < UP_LIMIT, "they took {took:?} to answer");
    let ports: Vec<String> = installed.iter().map(|server| servers.url(server.name())).collect();
    let folder = servers.directory().to_owned();
    assert!(ports.iter().all(|url| url.contains("127.0.0.1:")) && folder.is_dir());
    let began = SystemClock::now();
    drop(servers);
    let took = SystemClock::now().since(began);
    assert!(took < DOWN_LIMIT, "they took {took:?} to end");
    assert!(!folder.exists());
}
