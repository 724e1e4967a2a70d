//! Against a real MariaDB, and against servers that lie.

use std::io::Write as _;
use std::net::TcpListener;

use futures_util::future::LocalBoxFuture;
use tokio::net::TcpStream;

use super::*;
use crate::sql::Database;

/// Connects, and cannot encrypt.
struct Plain;

impl Dial for Plain {
    fn open<'a>(&'a self, host: &'a str, port: u16) -> LocalBoxFuture<'a, Result<BoxStream, String>> {
        Box::pin(async move {
            let stream = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
            Ok(Box::new(stream) as BoxStream)
        })
    }

    fn encrypt<'a>(
        &'a self,
        _stream: BoxStream,
        host: &'a str,
        _tls: &'a Tls,
    ) -> LocalBoxFuture<'a, Result<BoxStream, String>> {
        Box::pin(async move { Err(format!("no TLS to {host}")) })
    }
}

fn open(data_source: &str) -> Database {
    Database::open("mysql", data_source, None, Rc::new(Plain)).expect("a data source")
}

/// A server that sends these bytes to each connection, whatever comes.
fn lying(bytes: Vec<u8>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten().take(1) {
            let _ = stream.write_all(&bytes);
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    port
}

#[tokio::test]
async fn servers_that_lie() {
    let packet = |payload: &[u8]| {
        let mut bytes = (payload.len() as u32).to_le_bytes()[..3].to_vec();
        bytes.push(0);
        bytes.extend_from_slice(payload);
        bytes
    };
    for (bytes, expect) in [
        (b"SSH-2.0-x\r\n".to_vec(), "timeout"),
        (packet(b"\x09old"), "does not answer as MySQL does"),
        (packet(b"\x0a8.0\0abc"), "does not answer as MySQL does"),
        (packet(b"\xff\x15\x04#08004Too many connections"), "Error 1045 (08004): Too many connections"),
        (packet(b"\xff\x10\x04Host is blocked"), "Error 1040: Host is blocked"),
        (vec![0xff, 0xff, 0xff, 0], "timeout"),
        (Vec::new(), "timeout"),
    ] {
        let port = lying(bytes);
        let database = open(&format!("u:p@tcp(127.0.0.1:{port})/d?timeout=100ms"));
        let error = database.query("SELECT 1", Vec::new()).await.expect_err("no server").to_string();
        assert!(error.contains(expect), "{error}: {expect}");
    }
}
