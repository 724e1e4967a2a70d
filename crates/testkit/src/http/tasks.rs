//! Tasks that take a known time: one request starts a task, others ask for its state.
//!
//! A task's name says when it was submitted and how long it takes, so that the server keeps nothing: it can have any number
//! of them, and the name shows a test when a task was done.

use std::time::Duration;

use model::Instant;
use serde_json::json;

use super::Route;
use crate::reply::Reply;
use crate::request::Request;

/// The longest time a task can take, and the longest that a poll can be held.
const MAX_TIME: Duration = Duration::from_secs(600);

pub(super) const ROUTES: &[Route] =
    &[Route { segment: "submit", answer: submit }, Route { segment: "poll", answer: poll }];

/// `/submit?ms=N`: a task that takes N milliseconds from the moment this request was read.
fn submit(request: &Request, _: &[&str]) -> Reply {
    let time = ms(request, "ms");
    let done_at = request.read_at + time;
    let id = format!("{}-{}", request.read_at.as_ns(), done_at.as_ns());
    Reply::json(202, &json!({"id": id, "ms": time.as_millis() as u64}))
}

/// `/poll/ID?before=B&after=A`: the task's state B milliseconds after this request was read, A milliseconds before the
/// answer leaves.
fn poll(request: &Request, rest: &[&str]) -> Reply {
    let times = rest.first().and_then(|id| id.split_once('-'));
    let times = times.and_then(|(began, done)| Some((began.parse().ok()?, done.parse().ok()?)));
    let Some((submitted_ns, done_ns)) = times else { return Reply::text(404, "no such task\n") };
    let (before, after) = (ms(request, "before"), ms(request, "after"));
    let looked_at = request.read_at + before;
    let state = if looked_at >= Instant::from_ns(done_ns) { "done" } else { "pending" };
    let elapsed = looked_at.since(Instant::from_ns(submitted_ns)).as_millis() as u64;
    Reply::json(200, &json!({"state": state, "elapsed_ms": elapsed})).after(before + after)
}

fn ms(request: &Request, name: &str) -> Duration {
    Duration::from_millis(request.query_number(name, 0)).min(MAX_TIME)
}

#[cfg(test)]
mod tests {
    use crate::client::Client;
    use crate::http::start;

    #[test]
    fn a_task_is_done_when_its_name_says() {
        let server = start();
        let mut client = Client::new(&server);
        let task = client.request("POST /submit?ms=60 HTTP/1.1\r\nhost: t\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(task.status, 202);
        let id = task.json()["id"].as_str().expect("a name").to_owned();
        let mut state = |query: &str| client.get(&format!("/poll/{id}{query}")).json()["state"].clone();
        assert_eq!(state(""), "pending");
        // The state is that of before the wait, or of after it.
        assert_eq!(state("?after=60"), "pending");
        assert_eq!(state(""), "done");
        let later = client.get("/submit?ms=40").json()["id"].as_str().expect("a name").to_owned();
        assert_eq!(client.get(&format!("/poll/{later}?before=40")).json()["state"], "done");
        assert_eq!(client.get("/poll/nonsense").status, 404);
        assert_eq!(client.get("/poll/1-x").status, 404);
    }
}
