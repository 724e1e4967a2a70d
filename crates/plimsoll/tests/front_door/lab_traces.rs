//! Traces of requests joined with spans of real servers, a short form of the lab's app store: the client's side, the service, its
//! database, and four parts that add up to the whole.

use analysis::traces::{Component, Tree, answer_path, attribute, request};
use model::{Span, SpanKind, Trace};
use runfile::Reader;

use crate::harness::{free_address, plimsoll};
use crate::lab::{Labs, get};
use crate::receiving::stored_file;

const REQUESTS: usize = 30;

const SCRIPT: &str = "
import http from 'k6/http';
export const options = { vus: 3, iterations: 30 };
export default () => http.get(`${__ENV.APPSTORE}/apps/first-page/FIELD`, { tags: { name: 'first page' } });";

#[test]
fn each_sampled_request_has_its_service_and_its_database_below_it() {
    let Some(labs) = Labs::open() else { return };
    let address = free_address();
    labs.lab(&format!("up appstore --variant two-queries --otlp http://{address}")).exits(0);
    let status = labs.status();
    let url = status["url"].as_str().expect("a URL");
    let flags = format!("--otlp={address} --trace-sample 100%");
    let ran = plimsoll(SCRIPT).env("APPSTORE", url).flags(&flags).run().exits(0);
    let (_, metrics) = get(&format!("{}/metrics", status["control_url"].as_str().expect("a URL")));
    let answered = metrics.lines().find_map(|line| line.strip_prefix("http_server_requests_total "));
    assert_eq!(answered, Some(REQUESTS.to_string().as_str()), "the server counts what was sent");
    let reader = Reader::open(&stored_file(&ran)).expect("a run");
    let traces = reader.traces().expect("traces");
    assert_eq!(traces.len(), REQUESTS);
    traces.iter().for_each(is_whole);
    let exemplars = reader.exemplars(0..u32::MAX).expect("exemplars");
    let kept = |id: &u128| traces.iter().any(|trace| trace.id == *id);
    assert!(!exemplars.is_empty() && exemplars.iter().all(|one| one.trace_id.as_ref().is_some_and(kept)));
    let markdown = ran.and("report @last --format md").run().exits(0);
    for part in ["`network` ", "`target` ", "`database` "] {
        assert!(markdown.out.contains(part), "{part} is not in {}", markdown.out);
    }
    labs.lab("down appstore").exits(0);
}

fn is_whole(trace: &Trace) {
    let tree = Tree::new(trace);
    let client = &trace.spans[tree.root().expect("spans")];
    assert_eq!((request(client), &*client.operation), (Some("measured"), "first page"), "{client:?}");
    let is_server = |span: &&Span| span.kind == SpanKind::Server;
    let servers: Vec<&Span> = trace.spans.iter().filter(is_server).collect();
    let [server] = servers[..] else { panic!("one server's span: {trace:?}") };
    assert_eq!((&*server.service, server.parent), ("appstore", Some(client.id)));
    let whole = attribute(&tree, &answer_path(&tree), None);
    assert_eq!(u128::from(whole.total_ns()), client.duration.as_nanos());
    let shares = [Component::Network, Component::Connecting, Component::Target, Component::Database]
        .map(|part| whole.part_ns(part));
    assert_eq!(shares.iter().sum::<u64>(), whole.total_ns(), "{whole:?}");
    assert!(whole.part_ns(Component::Database) > 0 && whole.part_ns(Component::Network) > 0, "{whole:?}");
    let outside_ns = client.duration.saturating_sub(server.duration).as_nanos();
    let network_ns = whole.part_ns(Component::Network) + whole.part_ns(Component::Connecting);
    assert_eq!(u128::from(network_ns), outside_ns, "by lengths alone");
}
