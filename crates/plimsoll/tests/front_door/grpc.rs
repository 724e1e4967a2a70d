//! gRPC from the command line: counts on both sides, archives, and what is said of calls that cannot be.

use std::io::{Read, Write};
use std::net::TcpListener;

use testkit::{Identity, Listen, Server};

use crate::harness::{plimsoll, verb};

/// A client that has loaded the test server's types, and a call.
fn script(body: &str) -> String {
    let protos = testkit::grpc::import_path();
    format!(
        "import grpc from 'k6/net/grpc';
         import {{ Counter }} from 'k6/metrics';
         const sent = new Counter('sent');
         const client = new grpc.Client();
         client.load([{protos:?}], 'testkit/echo.proto');
         const address = __ENV.URL.replace(/https?:../, '');
         export default async () => {{ {body} }}"
    )
}

const CALLS: &str = "
    if (__ITER === 0) client.connect(address, { plaintext: __ENV.URL.startsWith('http:') });
    const res = client.invoke('testkit.Echo/Unary', { text: 'x' });
    if (res.status !== grpc.StatusOK) throw new Error(res.error.message);
    const stream = new grpc.Stream(client, 'testkit.Echo/BothStreams');
    const ended = new Promise((resolve) => stream.on('end', resolve));
    stream.write({ text: 'a' }); stream.write({ text: 'b' }); stream.end();
    await ended;
    sent.add(2);";

#[test]
fn what_was_called_was_seen() {
    let check = |listen: Listen, flags: &str, iterations: u64| {
        let server = Server::start(testkit::http::Counting::new(), listen).expect("a server");
        let mut run = plimsoll(&script(CALLS)).against(&server).flags(flags);
        if let Some(files) = server.tls_files() {
            run = run.env("SSL_CERT_FILE", &files.ca().display().to_string());
        }
        let ran = run.flags("--summary-trend-stats count").run().exits(0);
        let seen = server.settled();
        assert_eq!((ran.count("sent"), seen.total), (iterations * 2, iterations * 2), "{}", ran.err);
        assert_eq!(ran.count("grpc_streams"), iterations);
        assert_eq!(ran.count("grpc_streams_msgs_sent"), iterations * 2);
        assert_eq!(ran.count("grpc_streams_msgs_received"), iterations * 2);
        assert_eq!(ran.value("grpc_req_duration", "count"), Some(iterations as f64 * 2.0));
        assert!(ran.count("data_sent") > iterations * 100);
    };
    check(Listen::default(), "-u 1 -i 5", 5);
    check(Listen::default(), "-u 20 -i 200", 200);
    check(Listen { tls: Some(Identity::Valid), ..Listen::http2() }, "-u 10 -i 50", 50);
}

#[test]
fn an_archive_has_the_types() {
    let server = testkit::http::start();
    let body = "client.connect(address, { plaintext: true });
                console.log(client.invoke('testkit.Echo/Unary', { text: 'packed' }).message.text);";
    let protos = testkit::grpc::import_path();
    let copied = format!("cp -r {}/testkit .", protos.display());
    let source = script(body).replace(&format!("{protos:?}"), "'.'");
    let made = verb("archive").word("-e").word(&format!("URL={}", server.url(""))).before(&copied);
    let made = made.file("s.js", &source).flags("s.js").run().exits(0);
    std::fs::remove_dir_all(made.folder().join("testkit")).expect("the files");
    made.and("run archive.tar").run().exits(0).says("packed");
}

#[test]
fn nothing_is_missing() {
    verb("inspect").file("s.js", &script("")).flags("-e URL=http://x s.js").run().exits(0);
}

#[test]
fn servers_of_other_protocols_are_explained() {
    let check = |server: &Server, params: &str, expect: &str| {
        let body = format!(
            "client.connect(address, {params}); const res = client.invoke('testkit.Echo/Unary', {{}}, {{ timeout: '5s' }});
             throw new Error(`${{res.status}} ${{res.error.message}}`);"
        );
        plimsoll(&script(&body)).against(server).env("URL", &server.url("")).run().exits(107).says(expect);
    };
    let plain = testkit::http::start();
    check(&plain, "{ timeout: '5s' }", "pass { plaintext: true }");
    let tls = Server::start(testkit::http::Counting::new(), Listen::tls(Identity::Valid)).expect("a server");
    check(&tls, "{ plaintext: true }", "14 error reading from server");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut socket in listener.incoming().flatten() {
            let _ = socket.read(&mut [0; 256]);
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            kept.push(socket);
        }
    });
    let body = "client.connect(address, { plaintext: true, reflect: true, timeout: '5s' });";
    let run = plimsoll(&script(body)).env("URL", &url).run().exits(107);
    run.says("the server does not seem to speak HTTP/2: check the address and the port");
}
