//! The lab's feed: injected faults are visible, and parts that end are named.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::harness::eventually;
use crate::lab::{Labs, kill, part, pids, runs};
use crate::lab_faults::{judge, text, watch};

/// Number of users without think time.
const PEOPLE: usize = 5;

/// The client sends a dropped SYN again after 1, 3 and 7 seconds, and Linux since 6.5 each second at first.
const PATIENCE: Duration = Duration::from_secs(30);

#[test]
fn each_fault_of_the_feed_moves_its_own_indicator_and_no_other() {
    let Some(labs) = Labs::open_with(&[lab::NGINX, lab::REDIS]) else { return };
    labs.lab("up feed --variant cached").exits(0).prints("feed (cached) is up at http://127.0.0.1:");
    let status = labs.status();
    let (url, control) = (text(&status["url"]), text(&status["control_url"]));
    let people: Vec<Person> = (0..PEOPLE).map(|number| Person::log_in(&url, number)).collect();
    let load = |lasts: Duration| load(&people, lasts);
    // The cache is warm, and connections are open.
    load(Duration::from_millis(700));
    let mut wrong = judge("feed", "nothing", &watch(&control, &load), None);
    for fault in lab::faults_of("feed") {
        labs.lab(&format!("fault feed {} on", fault.name)).exits(0);
        let readings = watch(&control, &load);
        labs.lab(&format!("fault feed {} off", fault.name)).exits(0);
        wrong.extend(judge("feed", &fault.name, &readings, Some(&fault.indicator)));
    }
    wrong.extend(judge("feed", "nothing any more", &watch(&control, &load), None));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));

    // Without its cache the service reads from the store, and reports the missing part.
    kill(part(&status, "redis")["identity"]["pid"].as_i64().expect("a number") as i32);
    eventually("its end is noted", || part(&labs.status(), "redis")["ended"].is_string());
    labs.lab("status").exits(255).prints("redis        is gone: it was ended by signal 9");
    load(Duration::from_millis(100));
    labs.lab("fault feed memory-limit on").exits(255).says("failed to have feed turn memory-limit on");
    labs.lab("down feed").exits(0);
    assert!(!pids(&status).into_iter().any(runs) && labs.is_empty() && !labs.is_inhabited());
}

#[test]
fn a_feed_without_a_cache_starts_none() {
    let Some(labs) = Labs::open_with(&[lab::NGINX, lab::REDIS]) else { return };
    labs.lab("up feed").exits(0).prints("feed (plain) is up");
    let status = labs.status();
    let names = status["parts"].as_array().expect("parts").iter().map(|part| text(&part["name"]));
    assert_eq!(names.collect::<Vec<_>>(), ["nginx", "feed"]);
    let url = text(&status["url"]);
    let ask = |path: &str| crate::lab::get(&format!("{url}{path}")).0;
    assert_eq!((ask("/feed"), ask("/posts/100"), ask("/elsewhere")), (401, 404, 404));
    load(&[Person::log_in(&url, 0)], Duration::from_millis(100));
    labs.lab("fault feed memory-limit on").exits(255).says("this variant has no cache");
}

/// A logged-in user.
struct Person {
    agent: ureq::Agent,
    url: String,
    cookie: String,
    number: usize,
}

impl Person {
    fn log_in(url: &str, number: usize) -> Person {
        let agent = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).build().new_agent();
        let answer = agent.post(format!("{url}/login")).send_empty().expect("an answer");
        let cookie = answer.headers()["set-cookie"].to_str().expect("a text");
        let cookie = cookie.split(';').next().expect("a cookie").to_owned();
        Person { agent, url: url.to_owned(), cookie, number }
    }

    /// Reads the feed and one post, and likes it. No other user likes that post.
    fn click(&self, round: usize) {
        let post = self.number * 20 + round % 20;
        self.look("/feed");
        self.look(&format!("/posts/{post}"));
        self.look(&format!("/posts/{post}/comments"));
        let like = self.agent.post(format!("{}/posts/{post}/likes", self.url));
        like.header("cookie", &self.cookie).send_empty().expect("an answer");
    }

    fn look(&self, path: &str) {
        let look = self.agent.get(format!("{}{path}", self.url)).header("cookie", &self.cookie);
        let mut answer = look.call().expect("an answer");
        assert!(answer.body_mut().read_to_vec().expect("a body").len() > 1000);
    }
}

fn load(people: &[Person], lasts: Duration) {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for person in people {
            let is_over = &is_over;
            let rounds = (0..10_000).take_while(|_| !is_over.load(Ordering::Relaxed));
            scope.spawn(move || rounds.for_each(|round| person.click(round)));
        }
        std::thread::sleep(lasts);
        is_over.store(true, Ordering::Relaxed);
    });
}
