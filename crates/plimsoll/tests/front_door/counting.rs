//! Sent = `http_reqs`, which with `http_req_repeats` equals the server's count, for any failures and any number of VUs.

use crate::harness::plimsoll;

/// Requests by the script's own count, and repeats.
struct Sent {
    requests: u64,
    repeats: u64,
}

/// Runs `body`, which counts its requests in `sent`, and compares with the server's count.
#[track_caller]
fn check(body: &str, flags: &str) {
    let sent = run(body, flags);
    assert_eq!(sent.repeats, 0, "a server that keeps its connections gets nothing twice");
}

/// Like [`check`], for a server that reads requests and then closes a reused connection: it counts those twice.
#[track_caller]
fn run(body: &str, flags: &str) -> Sent {
    let server = testkit::http::start();
    let script = format!(
        "import http from 'k6/http';
         import {{ sleep }} from 'k6';
         import {{ Counter }} from 'k6/metrics';
         const sent = new Counter('sent');
         const url = __ENV.URL;
         {body}"
    );
    let ran = plimsoll(&script).against(&server).flags(flags).run().exits(0);
    let seen = server.settled().total;
    let (sent, counted) = (ran.count("sent"), ran.count("http_reqs"));
    let repeats = ran.count("http_req_repeats");
    assert_eq!(
        (sent + repeats, counted),
        (seen, sent),
        "sent and repeated = seen, and http_reqs, of {flags}"
    );
    assert!(sent > 0, "nothing was sent: {}", ran.err);
    Sent { requests: sent, repeats }
}

/// Flags for several concurrencies.
const LOADS: [&str; 4] = ["-u 1 -i 5", "-u 7 -i 70", "-u 50 -i 300", "-u 200 -i 600"];

/// Runs [`check`] at several concurrencies.
#[track_caller]
fn check_all(body: &str) {
    LOADS.iter().for_each(|flags| check(body, flags));
}

#[test]
fn plain_requests() {
    check_all("export default () => { http.get(`${url}/json`); sent.add(1); }");
}

#[test]
fn posts_with_bodies() {
    check_all(
        "export default () => {
           http.post(`${url}/post`, { a: 'x'.repeat(3000), b: ['1', '2'] });
           http.request('PUT', `${url}/put`, 'y'.repeat(100000));
           http.del(`${url}/delete`);
           sent.add(3);
         }",
    );
}

#[test]
fn redirects_count_each_hop() {
    check_all(
        "export default () => {
           http.get(`${url}/redirect/3`);
           http.get(`${url}/redirect/5`, { redirects: 2 });
           http.get(`${url}/redirect-loop`);
           sent.add(4 + 3 + 11);
         }",
    );
}

#[test]
fn batches_and_promises() {
    check_all(
        "export default async () => {
           http.batch(Array.from({ length: 30 }, (_, i) => ['GET', `${url}/bytes/${i}`]));
           http.batch({ a: `${url}/json`, b: { method: 'POST', url: `${url}/post`, body: 'x' } });
           await Promise.all([http.asyncRequest('GET', `${url}/json`), http.asyncRequest('GET', `${url}/gzip`)]);
           sent.add(34);
         }",
    );
}

#[test]
fn resets_and_cuts() {
    let body = "export default () => {
           http.get(`${url}/json`);
           for (const path of ['reset', 'reset-after-head', 'cut', 'cut-chunked', 'empty', 'json', 'close', 'http10']) {
             http.get(`${url}/${path}`);
           }
           http.post(`${url}/reset`, 'body');
           sent.add(10);
         }";
    for flags in LOADS {
        let sent = run(body, flags);
        // One per iteration: the request that resets the connection left by the previous one.
        assert_eq!(sent.repeats, sent.requests / 10, "{flags}");
    }
}

#[test]
fn connections_that_close_without_a_word() {
    let body = "export default () => { http.get(`${url}/early-close-idle`); sent.add(1); }";
    for flags in ["-u 1 -i 2000", "-u 20 -i 4000"] {
        let server = testkit::http::start();
        let script = format!(
            "import http from 'k6/http'; import {{ Counter }} from 'k6/metrics';
             const sent = new Counter('sent'); const url = __ENV.URL; {body}"
        );
        let ran = plimsoll(&script).against(&server).flags(flags).run().exits(0);
        let sent = ran.count("sent");
        assert_eq!(ran.value("http_req_failed", "passes"), Some(0.0), "{}", ran.out);
        // The server closes before it reads a second request, so it counts each once, however often it was sent.
        assert_eq!((ran.count("http_reqs"), server.settled().total), (sent, sent), "{flags}");
        let strict = plimsoll(&script).against(&server).flags("-u 1 -i 200 --compat strict").run().exits(0);
        assert_eq!(strict.value("http_req_repeats", "count"), None, "k6 has no such metric");
    }
}

#[test]
fn resets_and_redirects_in_batches() {
    let body = "export default () => {
           const one = ['reset', 'redirect/2', 'json', 'cut', 'malformed', 'delay/5', 'redirect/1', 'empty'];
           http.batch(one.map((path) => ['GET', `${url}/${path}`]));
           sent.add(one.length + 3);
         }";
    for flags in LOADS {
        // Which connections the requests of a batch reuse is random.
        run(body, flags);
    }
}

#[test]
fn timeouts() {
    check(
        "export default () => {
           http.get(`${url}/hang`, { timeout: 200 });
           http.get(`${url}/hang-after-head`, { timeout: '200ms' });
           http.get(`${url}/json`);
           sent.add(3);
         }",
        "-u 20 -i 40",
    );
}

#[test]
fn new_connections() {
    check(
        "export default () => { http.get(`${url}/json`); sent.add(1); }",
        "-u 20 -i 200 --no-connection-reuse",
    );
    check(
        "export default () => { http.get(`${url}/json`); http.get(`${url}/json`); sent.add(2); }",
        "-u 20 -i 200 --no-vu-connection-reuse",
    );
}

#[test]
fn setup_and_teardown() {
    check(
        "export function setup() { http.get(`${url}/json`); sent.add(1); return { n: 1 }; }
         export default (data) => { http.get(`${url}/bytes/${data.n}`); sent.add(1); }
         export function teardown() { http.get(`${url}/json`); sent.add(1); }",
        "-u 5 -i 20",
    );
}

#[test]
fn requests_that_the_end_cuts_off() {
    check(
        "export const options = { scenarios: { s: {
           executor: 'constant-vus', vus: 20, duration: '1s', gracefulStop: '0s' } } };
         export default () => { sent.add(1); http.get(`${url}/delay/70`); }",
        "",
    );
    check(
        "export const options = { scenarios: { s: {
           executor: 'ramping-vus', startVUs: 30, stages: [{ duration: '1s', target: 0 }],
           gracefulRampDown: '0s' } } };
         export default () => { sent.add(1); http.get(`${url}/delay/70`); }",
        "",
    );
}

#[test]
fn requests_under_a_limit() {
    check("export default () => { http.get(`${url}/json`); sent.add(1); }", "-u 10 -i 100 --rps 200");
}

#[test]
fn arrivals() {
    check(
        "export const options = { scenarios: { s: {
           executor: 'constant-arrival-rate', rate: 300, duration: '2s', preAllocatedVUs: 50 } } };
         export default () => { http.get(`${url}/json`); sent.add(1); sleep(0.01); }",
        "",
    );
}
