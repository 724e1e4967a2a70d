//! HTTP/2, and `--http-debug`.

use crate::harness::plimsoll;

const SCRIPT: &str = "import http from 'k6/http';
    import { Counter } from 'k6/metrics';
    const sent = new Counter('sent');
    const url = __ENV.URL;
    export const options = { insecureSkipTLSVerify: true, batchPerHost: 20 };";

#[test]
fn sent_is_seen_over_http2() {
    let check = |body: &str, flags: &str, expect: u64| {
        let server = testkit::http::start_http2();
        let ran = plimsoll(&format!("{SCRIPT}\n{body}")).against(&server).flags(flags).run().exits(0);
        let seen = server.settled();
        let (sent, repeats) = (ran.count("sent"), ran.count("http_req_repeats"));
        assert_eq!((sent, ran.count("http_reqs")), (expect, expect), "{flags}: {}", ran.err);
        assert_eq!(sent + repeats, seen.total, "{flags}");
        // Handshakes may be cut: of concurrent connections, the first one serves all requests.
        assert_eq!(seen.malformed, 0);
    };
    for (flags, iterations) in [("-u 1 -i 5", 5), ("-u 7 -i 70", 70), ("-u 50 -i 100", 100)] {
        check(
            "export default () => {
               const all = http.batch(Array(20).fill(`${url}/json`));
               if (all.some((res) => res.proto !== 'HTTP/2.0')) throw new Error('not HTTP/2');
               sent.add(20);
             }",
            flags,
            iterations * 20,
        );
        check(
            "export default () => {
               http.get(`${url}/reset-stream/8`);
               http.get(`${url}/reset-stream/7`);
               http.get(`${url}/hang`, { timeout: '300ms' });
               http.post(`${url}/post`, 'x'.repeat(100000));
               http.get(`${url}/go-away/2`);
               sent.add(5);
             }",
            flags,
            iterations * 5,
        );
    }
}

#[test]
fn requests_are_printed() {
    let server = testkit::http::start();
    let script = "import http from 'k6/http';
        export default () => { http.post(`${__ENV.URL}/post`, 'bo=dy', { headers: { 'X-Own': 'yes' } }); };";
    let run = |flags: &str| plimsoll(script).against(&server).flags(flags).run().exits(0);
    let heads = run("--http-debug");
    for words in [
        "Request:\\nPOST /post HTTP/1.1\\nHost: ",
        "X-Own: yes",
        "Response:\\nHTTP/1.1 200 OK",
        "source=http-debug",
    ] {
        assert!(heads.err.contains(words), "{words}: {}", heads.err);
    }
    assert!(!heads.err.contains("bo=dy") && run("--http-debug=full").err.contains("bo=dy"));
    assert!(!run("").err.contains("http-debug"));
}
