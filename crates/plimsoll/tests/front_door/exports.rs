//! Exports over the network: all samples arrive, and an unresponsive endpoint costs no load.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};

use crate::harness::{Ran, plimsoll};

const ONE_REQUEST: &str =
    "import http from 'k6/http'; export default () => { http.get(`${__ENV.URL}/json`); };";

/// Starts an InfluxDB stub that accepts and drops everything.
fn willing() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/db", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut received = Vec::new();
                let mut bytes = [0; 64 * 1024];
                while let Ok(length @ 1..) = stream.read(&mut bytes) {
                    received.extend_from_slice(&bytes[..length]);
                    while let Some(length) = request_bytes(&received) {
                        received.drain(..length);
                        if stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    url
}

/// Returns the length of the first request once it is complete.
fn request_bytes(received: &[u8]) -> Option<usize> {
    let head = received.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&received[..head]).ok()?.to_lowercase();
    let (_, rest) = text.split_once("content-length:")?;
    let body: usize = rest.lines().next()?.trim().parse().ok()?;
    (received.len() >= head + body).then_some(head + body)
}

/// Starts an endpoint that accepts connections and never responds.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/db", listener.local_addr().expect("it is bound"));
    (listener, url)
}

fn run(flags: &str) -> Ran {
    let server = testkit::http::start();
    plimsoll(ONE_REQUEST).against(&server).flags(flags).run().exits(0)
}

#[test]
fn several_exports_get_the_same_samples() {
    let statsd = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = statsd.local_addr().expect("it is bound");
    let url = willing();
    let ran = run(&format!(
        "-u 5 -i 500 --out influxdb={url} --out statsd={address} --out json=points.json --out csv=points.csv"
    ));
    let points = ran.read("points.json").lines().filter(|line| line.contains("\"Point\"")).count();
    assert_eq!(ran.read("points.csv").lines().count(), points + 1);
    let ran = ran.says(&format!("influxdb ({url}): {points} samples sent = {points} stored"));
    let ran = ran.says(&format!("statsd ({address}): {points} samples sent in "));
    assert!(!ran.err.contains("missing"), "{}", ran.err);
}

#[test]
fn a_silent_endpoint_costs_no_load_and_its_losses_are_told() {
    let rate = "-u 5 --duration 4s";
    let alone = run(rate).count("iterations");
    let (listener, url) = silent();
    let ran = run(&format!("{rate} --out influxdb={url}"));
    drop(listener);
    let exported = ran.count("iterations");
    eprintln!("{alone} iterations without an export, {exported} with one that hangs");
    // Passing samples on costs part of a core; waiting for the endpoint would leave almost nothing.
    assert!(exported > alone / 3, "{exported} iterations instead of {alone}");
    let ran =
        ran.says("failed to send: timeout").says("samples are missing from the export").says("db): 0 of ");
    assert!(ran.elapsed.as_secs() < 40, "the end waited {:?}", ran.elapsed);
}

#[test]
fn what_is_wrong_with_an_export_is_told_before_the_run() {
    for (out, expect) in [
        ("influxdb=ftp://x/db", "is not a URL such as http://localhost:8086"),
        ("statsd=nowhere", "is not an address such as localhost:8125"),
        ("datadog", "use --out statsd with K6_STATSD_ENABLE_TAGS=true"),
    ] {
        plimsoll(ONE_REQUEST).flags(&format!("--out {out}")).run().exits(255).says(expect);
    }
}
