//! nginx, configured for the bench: one worker on a core of its own, a port of its own, and its count of requests.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::process;

/// The core of the server. The clients have another.
pub(super) const CORE: &str = "0";

/// How often an attempt to reach the new server is made, 20 ms apart.
const ATTEMPTS_MAX: u32 = 250;

/// A running server; dropping it stops it.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    plain: SocketAddr,
    tls: Option<SocketAddr>,
    http2: Option<SocketAddr>,
    /// How often its counter was asked, which it counts too.
    questions: Cell<u64>,
}

impl Server {
    /// Starts the server with its files in `folder`. Without `openssl` it speaks no TLS.
    pub(super) fn start(folder: &Path) -> anyhow::Result<Server> {
        let (plain, tls, http2) = (free_port()?, free_port()?, free_port()?);
        let (tls, http2) = if make_certificate(folder) { (Some(tls), Some(http2)) } else { (None, None) };
        std::fs::write(folder.join("1mb.bin"), vec![b'x'; 1 << 20]).context("write the file to download")?;
        std::fs::write(folder.join("nginx.conf"), configuration(folder, plain, tls, http2))
            .context("write the server's configuration")?;
        let child = process::pinned(CORE, Path::new("nginx"))
            .args(["-e", "stderr", "-p"])
            .arg(folder)
            .arg("-c")
            .arg(folder.join("nginx.conf"))
            .stdin(Stdio::null())
            .spawn()
            .context("start nginx")?;
        let mut server = Server { child, plain, tls, http2, questions: Cell::new(0) };
        server.wait_until_reachable()?;
        Ok(server)
    }

    /// The address of a path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.plain)
    }

    /// The address of a path over TLS; `None` where the server speaks none.
    pub(super) fn tls_url(&self, path: &str) -> Option<String> {
        self.tls.map(|address| format!("https://{address}{path}"))
    }

    /// The address of a path over TLS and HTTP/2; `None` where the server speaks none.
    pub(super) fn http2_url(&self, path: &str) -> Option<String> {
        self.http2.map(|address| format!("https://{address}{path}"))
    }

    /// Requests the server has seen, but for these questions.
    pub(super) fn requests(&self) -> anyhow::Result<u64> {
        let mut stream = TcpStream::connect(self.plain).context("connect to the server's counter")?;
        stream.write_all(b"GET /status HTTP/1.0\r\n\r\n").context("ask for the server's counter")?;
        let mut text = String::new();
        stream.read_to_string(&mut text).context("read the server's counter")?;
        let counters = text.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1);
        let requests = counters.and_then(|line| line.split_whitespace().nth(2)?.parse::<u64>().ok());
        self.questions.set(self.questions.get() + 1);
        let others = requests.and_then(|requests| requests.checked_sub(self.questions.get()));
        others.with_context(|| format!("find the count of requests in {text:?}"))
    }

    fn wait_until_reachable(&mut self) -> anyhow::Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            if let Some(status) = self.child.try_wait().context("wait for nginx")? {
                bail!("keep nginx running: {status}");
            }
            if TcpStream::connect(self.plain).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("reach nginx at {}", self.plain)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The master ends its worker before itself; killing it outright would leave the worker behind.
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
        let _ = self.child.wait();
    }
}

fn free_port() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("find a free port")?;
    listener.local_addr().context("read the free port")
}

/// Makes a self-signed certificate; `false` where `openssl` cannot.
fn make_certificate(folder: &Path) -> bool {
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1"])
        .arg("-keyout")
        .arg(folder.join("key.pem"))
        .arg("-out")
        .arg(folder.join("cert.pem"))
        .stdin(Stdio::null())
        .output();
    made.is_ok_and(|output| output.status.success())
}

/// 1.2 KB of JSON: what a list of a few things looks like.
fn body() -> String {
    let items = (0..12).map(|id| {
        format!(r#"{{"id":{id},"name":"item number {id}","category":"rope","price_cents":{},"in_stock":true,"tags":["a","b"]}}"#, 1000 + id)
    });
    format!(r#"{{"items":[{}]}}"#, items.collect::<Vec<_>>().join(","))
}

fn configuration(
    folder: &Path,
    plain: SocketAddr,
    tls: Option<SocketAddr>,
    http2: Option<SocketAddr>,
) -> String {
    let folder = folder.display();
    let tls = tls.map_or(String::new(), |address| {
        format!(
            "listen {address} ssl backlog=16384; ssl_certificate cert.pem; ssl_certificate_key key.pem;
             ssl_protocols TLSv1.3; ssl_session_tickets off; ssl_session_cache off;"
        )
    });
    let http2 = http2.map_or(String::new(), |address| format!("listen {address} ssl http2 backlog=16384;"));
    format!(
        "daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
         events {{ worker_connections 20000; }}
         http {{
             access_log off; tcp_nodelay on; sendfile on; default_type application/json;
             keepalive_requests 1000000000; keepalive_timeout 600s;
             client_body_buffer_size 256k; client_max_body_size 1m;
             client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
             uwsgi_temp_path uwsgi; scgi_temp_path scgi; open_file_cache max=10;
             server {{
                 listen {plain} backlog=16384; {tls} {http2} root {folder};
                 location = /list {{ return 200 '{body}'; }}
                 location = /upload {{ return 200 '{{}}'; }}
                 location = /1mb.bin {{ }}
                 location = /status {{ stub_status; }}
             }}
         }}\n",
        body = body(),
    )
}

/// Fails unless the server saw what the client says it sent. A client that ends in the middle of its requests (wrk,
/// oha) may have sent `open_max` more than it counted.
pub(super) fn agree(client: &str, counted: u64, seen: u64, open_max: u64) -> anyhow::Result<()> {
    ensure!(
        (counted..=counted + open_max).contains(&seen),
        "believe {client}: it counted {counted} requests and the server {seen}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_the_size_that_is_told() {
        assert!((1150..1350).contains(&body().len()), "{}", body().len());
    }

    #[test]
    fn counts_must_agree() {
        let check = |counted, seen, open_max, expect: bool| {
            assert_eq!(
                agree("a client", counted, seen, open_max).is_ok(),
                expect,
                "{counted} {seen} {open_max}"
            );
        };
        check(10, 10, 0, true);
        check(10, 11, 0, false);
        check(10, 11, 1, true);
        check(10, 9, 5, false);
    }
}
