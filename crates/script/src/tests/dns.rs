//! `k6/x/dns` against a server with known answers. The expected results are k6's, seen by running it.

use std::net::UdpSocket;

use super::{Left, run_against};

/// A name server on a port of its own: `a.test` has two addresses, `txt.test` a text, and other names do not exist.
fn server() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = socket.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        let mut buffer = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&answer(&buffer[..length]), from);
        }
    });
    port
}

fn answer(question: &[u8]) -> Vec<u8> {
    let kind = question[question.len() - 3];
    let name = &question[12..question.len() - 4];
    let records: Option<Vec<&[u8]>> = match (name, kind) {
        (b"\x01a\x04test\0", 1) => Some(vec![&[10, 0, 0, 1], &[10, 0, 0, 2]]),
        (b"\x01a\x04test\0", _) => Some(Vec::new()),
        (b"\x03txt\x04test\0", 16) => Some(vec![b"\x05hello\x06 world"]),
        _ => None,
    };
    let code = if records.is_some() { 0 } else { 3 };
    let records = records.unwrap_or_default();
    let mut out = question[..2].to_vec();
    out.extend_from_slice(&[0x81, 0x80 | code, 0, 1, 0, records.len() as u8, 0, 0, 0, 0]);
    out.extend_from_slice(&question[12..]);
    for data in records {
        out.extend_from_slice(&[0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        out.extend_from_slice(data);
    }
    out
}

fn run(body: &str) -> Left {
    let source = format!(
        "import dns from 'k6/x/dns';
         const show = async (run) => {{
           try {{ console.log(JSON.stringify(await run())); }} catch (error) {{ console.log(String(error), error.kind); }}
         }};
         export default async function () {{ {body} }}"
    );
    run_against(&format!("127.0.0.1:{}", server()), 1, &source)
}

#[test]
fn answers_and_refusals() {
    let left = run("await show(() => dns.resolve('a.test', 'A', __ENV.BASE));
        await show(() => dns.resolve('a.test', 'AAAA', __ENV.BASE));
        await show(() => dns.resolve('txt.test', 'TXT', __ENV.BASE));
        await show(() => dns.resolve('none.test', 'A', __ENV.BASE));
        await show(() => dns.resolve('a.test', 'MX', __ENV.BASE));
        await show(() => dns.resolve('a.test', 'A', 'localhost:53'));
        await show(() => dns.resolve('a..test', 'A', __ENV.BASE));
        await show(() => dns.lookup('127.0.0.1'));
        await show(() => dns.lookup(''));");
    let expect = [
        "[\"10.0.0.1\",\"10.0.0.2\"]",
        "[]",
        "[\"hello world\"]",
        "NonExistingDomain: DNS query failed 3",
        "Error: resolve operation failed with unsupported record type, MX is an invalid DNS record type: use A, AAAA or TXT undefined",
        "Error: parsing nameserver address failed: invalid nameserver IP address: \"localhost:53\"; expected IP:PORT, for example 127.0.0.1:53 undefined",
        "Error: invalid name \"a..test\": expected labels of 1 to 63 bytes with dots between them, at most 255 bytes undefined",
        "[\"127.0.0.1\"]",
    ];
    assert_eq!(left.logs[..8], expect);
    assert!(left.logs[8].starts_with("LookupFailed: lookup of  failed: "), "{}", left.logs[8]);
    assert_eq!((left.count("dns_resolutions"), left.count("dns_resolution_duration")), (5, 5));
    assert_eq!((left.count("dns_lookups"), left.count("dns_lookup_duration")), (2, 2));
    let failed =
        left.samples.iter().filter(|sample| sample.0 == "dns_resolution_failed").map(|sample| sample.2);
    assert_eq!(failed.collect::<Vec<_>>(), [0.0, 0.0, 0.0, 1.0, 1.0]);
    let tags = left.tags("dns_resolutions")[0];
    for tag in ["query=a.test", "recordType=A", "nameserver=127.0.0.1:"] {
        assert!(tags.contains(tag), "{tags}");
    }
}
