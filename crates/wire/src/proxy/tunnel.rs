//! Through a proxy to a server: `CONNECT` (RFC 9110, 9.3.6) and SOCKS5 (RFC 1928, RFC 1929).

use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{Proxy, ProxyKind};
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::fault::first_line;
use crate::head::find_head_end;
use crate::target::Target;

/// Bytes of a proxy's answer to `CONNECT`.
const ANSWER_BYTES_MAX: usize = 16 << 10;
/// Headers of a proxy's answer.
const ANSWER_HEADERS_MAX: usize = 128;

/// Makes `stream`, which is connected to `proxy`, lead to `target`.
///
/// # Errors
/// The proxy refuses, ends the connection, or does not make sense.
pub(crate) async fn tunnel(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    proxy: &Proxy,
    target: &Target,
) -> Result<(), Error> {
    match proxy.kind {
        ProxyKind::Http => connect(stream, proxy, target).await,
        ProxyKind::Socks5 => socks(stream, proxy, target).await,
    }
}

async fn connect(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    proxy: &Proxy,
    target: &Target,
) -> Result<(), Error> {
    let host = target.host();
    let authority = if host.contains(':') {
        format!("[{host}]:{}", target.port())
    } else {
        format!("{host}:{}", target.port())
    };
    let mut head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n");
    if let Some(authorization) = proxy.authorization() {
        head.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await.map_err(|error| broken(&error))?;
    let mut answer = Vec::new();
    let end = loop {
        if let Some(end) = find_head_end(&answer, 0) {
            break end;
        }
        if answer.len() > ANSWER_BYTES_MAX {
            return Err(refused(Kind::TooLarge, format!("proxy's answer exceeds {ANSWER_BYTES_MAX} bytes")));
        }
        if stream.read_buf(&mut answer).await.map_err(|error| broken(&error))? == 0 {
            return Err(ended());
        }
    };
    let mut room = [httparse::EMPTY_HEADER; ANSWER_HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut room);
    let is_read = parsed.parse(&answer[..end]).is_ok_and(|status| status.is_complete());
    match parsed.code.filter(|_| is_read) {
        // Nothing may follow: a server behind the proxy says nothing before we do.
        Some(200) if end == answer.len() => Ok(()),
        Some(200) => Err(refused(Kind::Malformed, "proxy sent more than an answer".to_owned())),
        Some(code) => {
            let reason = parsed.reason.filter(|reason| !reason.is_empty());
            Err(refused(
                Kind::Unconnected,
                reason.map_or_else(|| format!("proxy answered {code}"), str::to_owned),
            ))
        }
        None => Err(refused(Kind::Malformed, format!("malformed HTTP response {:?}", first_line(&answer)))),
    }
}

const SOCKS_VERSION: u8 = 5;
const NO_AUTHENTICATION: u8 = 0;
const NAME_AND_PASSWORD: u8 = 2;
/// The server gives its refusal as a number; RFC 1928, 6, names them.
const REPLIES: [&str; 9] = [
    "succeeded",
    "general SOCKS server failure",
    "connection not allowed by ruleset",
    "network unreachable",
    "host unreachable",
    "connection refused",
    "TTL expired",
    "command not supported",
    "address type not supported",
];

async fn socks(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    proxy: &Proxy,
    target: &Target,
) -> Result<(), Error> {
    let user = proxy.target.user();
    let methods: &[u8] =
        if user.is_some() { &[NO_AUTHENTICATION, NAME_AND_PASSWORD] } else { &[NO_AUTHENTICATION] };
    let greeting = [&[SOCKS_VERSION, methods.len() as u8][..], methods].concat();
    let [version, method] = ask(stream, &greeting).await?;
    match (version, method, user) {
        (SOCKS_VERSION, NO_AUTHENTICATION, _) => {}
        (SOCKS_VERSION, NAME_AND_PASSWORD, Some((name, password))) => {
            let login = [&[1][..], &*counted(name)?, &*counted(password)?].concat();
            let [_, status] = ask(stream, &login).await?;
            if status != 0 {
                return Err(socks_refused("name and password are not accepted"));
            }
        }
        (SOCKS_VERSION, ..) => return Err(socks_refused("no acceptable authentication method")),
        _ => return Err(socks_refused("it does not speak SOCKS5")),
    }
    let address = match target.ip() {
        Some(IpAddr::V4(ip)) => [&[1][..], &ip.octets()[..]].concat(),
        Some(IpAddr::V6(ip)) => [&[4][..], &ip.octets()[..]].concat(),
        None => [&[3][..], &*counted(target.host())?].concat(),
    };
    let request = [&[SOCKS_VERSION, 1, 0][..], &*address, &target.port().to_be_bytes()[..]].concat();
    let [_, reply, _, address_type] = ask(stream, &request).await?;
    if reply != 0 {
        return Err(socks_refused(REPLIES.get(usize::from(reply)).unwrap_or(&"unknown reply")));
    }
    let address_bytes = match address_type {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await.map_err(|error| broken(&error))?),
        _ => return Err(socks_refused("unknown address type")),
    };
    // Where the proxy's own end is does not matter; it is read away with its port.
    let mut own_end = vec![0; address_bytes + 2];
    stream.read_exact(&mut own_end).await.map_err(|error| broken(&error))?;
    Ok(())
}

async fn ask<const N: usize>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    question: &[u8],
) -> Result<[u8; N], Error> {
    stream.write_all(question).await.map_err(|error| broken(&error))?;
    let mut answer = [0; N];
    stream.read_exact(&mut answer).await.map_err(|error| broken(&error))?;
    Ok(answer)
}

/// A text with its length before it.
fn counted(text: &str) -> Result<Vec<u8>, Error> {
    let length = u8::try_from(text.len()).map_err(|_| socks_refused("a name is longer than 255 bytes"))?;
    Ok([&[length], text.as_bytes()].concat())
}

fn socks_refused(why: &str) -> Error {
    refused(Kind::Unconnected, format!("socks connect: {why}"))
}

fn refused(kind: Kind, message: String) -> Error {
    Error::new(ErrorCode::OTHER, Stage::Connect, kind, message)
}

fn ended() -> Error {
    refused(Kind::Cut, "unexpected EOF".to_owned())
}

fn broken(error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return ended();
    }
    refused(Kind::Cut, format!("proxyconnect tcp: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::local;

    /// The result of a tunnel whose proxy answers so, and the request that it got.
    async fn dug(proxy: &str, url: &str, answers: &[&[u8]]) -> (Result<(), Error>, Vec<u8>) {
        let proxy = Proxy::parse("HTTP_PROXY", proxy).unwrap();
        let (mut ours, mut theirs) = tokio::io::duplex(1 << 16);
        let target = Target::parse(url).unwrap();
        let serving = async {
            let mut asked = Vec::with_capacity(1 << 12);
            for answer in answers {
                theirs.read_buf(&mut asked).await.unwrap();
                theirs.write_all(answer).await.unwrap();
            }
            drop(theirs);
            asked
        };
        tokio::join!(tunnel(&mut ours, &proxy, &target), serving)
    }

    #[test]
    fn proxies_connect_or_say_why_not() {
        let check = |answer: &'static [u8], expect: &'static str| {
            local(async move {
                let (result, asked) = dug("http://u:w@p", "https://h/x", &[answer]).await;
                let head = "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic dTp3\r\n\r\n";
                assert_eq!(String::from_utf8_lossy(&asked), head);
                assert_eq!(result.err().map_or_else(|| "ok".to_owned(), |error| error.message), expect);
            });
        };
        check(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "ok");
        check(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "Proxy Authentication Required");
        check(b"HTTP/1.1 502 \r\n\r\n", "proxy answered 502");
        check(b"HTTP/1.1 200 OK\r\n\r\nx", "proxy sent more than an answer");
        check(b"junk\r\n\r\n", "malformed HTTP response \"junk\"");
        check(b"HTTP/1.1 200 OK\r\n", "unexpected EOF");
    }

    #[test]
    fn socks_is_spoken() {
        let check = |proxy: &'static str,
                     url: &'static str,
                     answers: &'static [&'static [u8]],
                     asked: &'static [u8],
                     expect: &'static str| {
            local(async move {
                let (result, seen) = dug(proxy, url, answers).await;
                assert_eq!(result.err().map_or_else(|| "ok".to_owned(), |error| error.message), expect);
                assert_eq!(seen, asked);
            });
        };
        let fine: &[&[u8]] = &[&[5, 0], &[5, 0, 0, 1, 1, 2, 3, 4, 0, 9]];
        check("socks5://p", "http://h:81/", fine, b"\x05\x01\x00\x05\x01\x00\x03\x01h\x00\x51", "ok");
        check(
            "socks5://p",
            "http://1.2.3.4/",
            fine,
            b"\x05\x01\x00\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50",
            "ok",
        );
        let login: &[&[u8]] = &[&[5, 2], &[1, 0], &[5, 5, 0, 1]];
        let asked = b"\x05\x02\x00\x02\x01\x01u\x01w\x05\x01\x00\x03\x01h\x01\xbb";
        check("socks5://u:w@p", "https://h/", login, asked, "socks connect: connection refused");
        check(
            "socks5://p",
            "http://h/",
            &[&[4, 0]],
            b"\x05\x01\x00",
            "socks connect: it does not speak SOCKS5",
        );
        check(
            "socks5://p",
            "http://h/",
            &[&[5, 255]],
            b"\x05\x01\x00",
            "socks connect: no acceptable authentication method",
        );
    }
}
