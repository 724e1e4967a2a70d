//! The lab's ingress: injected faults are visible, and a proxy that ends is named and skipped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::eventually;
use crate::lab::{Labs, get, kill, part, pids, runs};
use crate::lab_faults::{judge, text, watch};

/// Number of users without think time.
const PEOPLE: usize = 12;

#[test]
fn each_fault_of_the_ingress_moves_its_own_indicator_and_no_other() {
    let Some(labs) = Labs::open_with(&[lab::NGINX]) else { return };
    labs.lab("up ingress --variant three").exits(0).prints("ingress (three) is up at http://127.0.0.1:");
    let status = labs.status();
    let (url, control) = (text(&status["url"]), text(&status["control_url"]));
    let load = |lasts: Duration| load(&url, lasts);
    let mut wrong = judge("ingress", "nothing", &watch(&control, &load), None);
    for fault in lab::faults_of("ingress") {
        labs.lab(&format!("fault ingress {} on", fault.name)).exits(0);
        let readings = watch(&control, &load);
        labs.lab(&format!("fault ingress {} off", fault.name)).exits(0);
        wrong.extend(judge("ingress", &fault.name, &readings, Some(&fault.indicator)));
    }
    wrong.extend(judge("ingress", "nothing any more", &watch(&control, &load), None));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));

    // The balancer skips a proxy that has ended.
    kill(part(&status, "proxy-2")["identity"]["pid"].as_i64().expect("a number") as i32);
    eventually("its end is noted", || part(&labs.status(), "proxy-2")["ended"].is_string());
    labs.lab("status").exits(255).prints("proxy-2      is gone: it was ended by signal 9");
    load(Duration::from_millis(100));
    labs.lab("fault ingress head-of-line on").exits(255).says("failed to have ingress turn head-of-line on");
    labs.lab("down ingress").exits(0);
    assert!(!pids(&status).into_iter().any(runs) && labs.is_empty() && !labs.is_inhabited());
}

#[test]
fn one_proxy_is_all_there_is_of_one() {
    let Some(labs) = Labs::open_with(&[lab::NGINX]) else { return };
    labs.lab("up ingress").exits(0).prints("ingress (one) is up");
    let status = labs.status();
    let names = status["parts"].as_array().expect("parts").iter().map(|part| text(&part["name"]));
    assert_eq!(names.collect::<Vec<_>>(), ["proxy-1", "nginx", "ingress"]);
    let url = text(&status["url"]);
    let ask = |path: &str| get(&format!("{url}{path}")).0;
    assert_eq!((ask("/rooms/0/messages"), ask("/rooms/0/export")), (200, 200));
    assert_eq!((ask("/rooms/100/messages"), ask("/elsewhere")), (404, 404));
    labs.lab("fault ingress replica-imbalance on").exits(255).says("this variant has one proxy");
    kill(part(&status, "proxy-1")["identity"]["pid"].as_i64().expect("a number") as i32);
    eventually("the balancer has no proxy left", || ask("/rooms/0/messages") == 502);
}

/// Users wait for the time that responses ask for, and report it, as in the script.
fn load(url: &str, lasts: Duration) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for person in 0..PEOPLE {
            let is_over = &is_over;
            scope.spawn(move || {
                let agent = ureq::Agent::config_builder().timeout_global(Some(Duration::from_secs(30)));
                let agent = agent.build().new_agent();
                let mut burnt_ms = "0".to_owned();
                for round in (0..10_000).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    let what = if (round + person) % 20 == 0 { "export" } else { "messages" };
                    let look = agent.get(format!("{url}/rooms/{person}/{what}"));
                    let mut answer = look.header("x-lab-burnt-ms", &burnt_ms).call().expect("an answer");
                    answer.body_mut().read_to_vec().expect("a body");
                    burnt_ms = answer
                        .headers()
                        .get("x-lab-burn-ms")
                        .map_or("0".to_owned(), |asked| asked.to_str().expect("a number").to_owned());
                    std::thread::sleep(Duration::from_millis(burnt_ms.parse().expect("a number")));
                }
            });
        }
        std::thread::sleep(lasts);
        is_over.store(true, Ordering::Relaxed);
    });
}
