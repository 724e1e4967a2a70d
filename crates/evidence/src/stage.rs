//! Test servers: real ones started for the test, and fixed pages.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use lab::{Alone, LabError, Launch, Place, Server};

/// Starts a server for one test; `None` if it is not installed.
pub(crate) fn server(server: &'static dyn Server) -> Option<Alone> {
    if !server.is_installed() {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "{} is not installed", server.name());
        eprintln!("skipped: {} is not installed", server.name());
        return None;
    }
    Some(Alone::start(&[server]).unwrap_or_else(|error| panic!("failed to {error}")))
}

/// Starts a Prometheus that scrapes itself and, twice per second, the page at this address.
pub(crate) fn prometheus_of(page: SocketAddr) -> Option<Alone> {
    // The lab needs a server with static lifetime; a test leaks one.
    server(Box::leak(Box::new(Scraper { page })))
}

/// Waits until a Prometheus has scraped: it discovers targets every five seconds.
pub(crate) fn wait_for_scrapes(lab: &Alone) {
    let client = crate::http::Client::new(&lab.url("prometheus"), None);
    for _ in 0..200 {
        let answer = client.json("/api/v1/query", &[("query", "up")]).expect("it is there");
        if answer["data"]["result"].as_array().is_some_and(|series| !series.is_empty()) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("Prometheus has scraped nothing in 20 s");
}

#[derive(Debug)]
struct Scraper {
    page: SocketAddr,
}

impl Server for Scraper {
    fn name(&self) -> &'static str {
        lab::PROMETHEUS.name()
    }

    fn package(&self) -> &'static str {
        lab::PROMETHEUS.package()
    }

    fn program(&self) -> &'static str {
        lab::PROMETHEUS.program()
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let launches = lab::PROMETHEUS.prepare(place)?;
        let job = |name: &str, port: u16| {
            format!("- job_name: {name}\n  static_configs: [{{ targets: ['127.0.0.1:{port}'] }}]\n")
        };
        let (itself, page) = (job("itself", place.ports[0]), job("page", self.page.port()));
        let settings = format!(
            "global: {{ scrape_interval: 500ms, scrape_timeout: 400ms }}\nscrape_configs:\n{itself}{page}"
        );
        std::fs::write(settings_file(place), settings).expect("a file of the test's own");
        Ok(launches)
    }

    fn is_ready(&self, place: &Place) -> bool {
        lab::PROMETHEUS.is_ready(place)
    }

    fn url(&self, place: &Place) -> String {
        lab::PROMETHEUS.url(place)
    }
}

fn settings_file(place: &Place) -> PathBuf {
    place.directory.join("prometheus.yml")
}

/// A server with responses defined by a test, until it is dropped.
pub(crate) struct Pages {
    pub(crate) address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A response: status and body.
pub(crate) type Reply = (u16, String);

impl Pages {
    /// Starts a server that responds to each path, including parameters, with the result of `answer`.
    pub(crate) fn start(answer: impl Fn(&str) -> Reply + Send + 'static) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if until.load(Ordering::Relaxed) {
                    return;
                }
                // The client may have disconnected.
                let _ = serve(&stream, &answer);
            }
        });
        Pages { address, is_over, thread: Some(thread) }
    }

    /// Returns the URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

fn serve(stream: &TcpStream, answer: &impl Fn(&str) -> Reply) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let (status, body) = answer(first.split(' ').nth(1).unwrap_or_default());
    let head =
        format!("HTTP/1.1 {status} Made\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let mut stream = stream;
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
