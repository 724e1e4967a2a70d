//! TLS: handshakes that do not end, and what comes instead of one.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{Case, SMALL_KIB, check, drip, flood, keeps, wait};

/// A record with a piece of a handshake (RFC 8446, 5.1 and 4): a ServerHello of 16 MB, which is never all there.
const HUGE_HELLO: &[u8] = &[22, 3, 3, 0x40, 0, 2, 0xff, 0xff, 0xff];

/// Shakes hands, choosing `protocol`.
pub(super) fn shaken(
    stream: TcpStream,
    protocol: Option<&[u8]>,
    tickets: usize,
) -> std::io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.expect("versions").with_no_client_auth();
    let mut config = builder.with_single_cert(vec![made.cert.der().clone()], key).expect("a pair");
    config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
    config.send_tls13_tickets = tickets;
    let connection = ServerConnection::new(Arc::new(config)).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    stream.conn.complete_io(&mut stream.sock)?;
    Ok(stream)
}

/// Reads the start of a ClientHello.
fn listen(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.read_exact(&mut [0; 64])
}

fn say(mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    listen(&stream)?;
    stream.write_all(bytes)?;
    wait();
    Ok(())
}

fn say_and_flood(mut stream: TcpStream, start: &[u8], again: &[u8]) -> std::io::Result<()> {
    listen(&stream)?;
    stream.write_all(start)?;
    flood(&mut stream, again)
}

/// Asks for new keys without end (RFC 8446, 4.6.3).
fn update_keys(stream: TcpStream) -> std::io::Result<()> {
    let mut stream = shaken(stream, None, 0)?;
    loop {
        stream.conn.refresh_traffic_keys().map_err(std::io::Error::other)?;
        stream.flush()?;
    }
}

fn cases() -> Vec<Case> {
    vec![
        keeps("silence", "1050 TimedOut Tls", SMALL_KIB, |stream| say(stream, b"")),
        keeps("close", "1220 Cut Tls", SMALL_KIB, |stream| listen(&stream)),
        keeps("plain HTTP", "130", SMALL_KIB, |stream| say(stream, b"HTTP/1.1 400 Bad Request\r\n\r\n")),
        keeps("noise without end", "130", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", b"\x00\xff\x17noise")
        }),
        keeps("handshake that drips", "1050 TimedOut Tls", SMALL_KIB, |stream| {
            let mut stream = stream;
            listen(&stream)?;
            drip(&mut stream, &[22, 3, 3, 1, 0, 2, 0, 0, 252, 3])
        }),
        keeps("hello of 16 MB", "130", SMALL_KIB, |stream| {
            let record = [HUGE_HELLO, &[0; 0x4000 - 4]].concat();
            say_and_flood(stream, &record, &[&[22, 3, 3, 0x40, 0][..], &[0; 0x4000]].concat())
        }),
        keeps("empty records", "130", SMALL_KIB, |stream| say_and_flood(stream, b"", &[22, 3, 3, 0, 0])),
        keeps("warnings without end", "1300", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &[21, 3, 3, 0, 2, 1, 90])
        }),
        keeps("changes of cipher without end", "130", SMALL_KIB, |stream| {
            say_and_flood(stream, b"", &[20, 3, 3, 0, 1, 1])
        }),
        keeps("record of 64 KB", "130", SMALL_KIB, |stream| {
            say_and_flood(stream, &[22, 3, 3, 0xff, 0xff], b"x")
        }),
        keeps("new keys without end", "1300", SMALL_KIB, update_keys),
        keeps("ten thousand tickets", "1", SMALL_KIB, |stream| {
            let _stream = shaken(stream, None, 10_000)?;
            wait();
            Ok(())
        }),
    ]
}

#[test]
fn hostile_tls_servers() {
    check("hostile::tls::hostile_tls_servers", "https", cases());
}
