//! An endpoint for tests: it answers by a script and keeps the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request that came in.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The request line and the headers.
    pub(crate) head: String,
    /// The body, as it was sent.
    pub(crate) body: Vec<u8>,
}

/// A listening endpoint. Its thread ends with the process of the test.
pub(crate) struct HttpFixture {
    /// `http://127.0.0.1:PORT`
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl HttpFixture {
    /// Gives these answers one after the other, and the last one for ever.
    pub(crate) fn start(answers: Vec<String>) -> HttpFixture {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                serve(&stream, &answers, &kept);
            }
        });
        HttpFixture { url, received }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Received> {
        self.received.lock().expect("no panic inside").clone()
    }
}

/// Answers the requests of one connection; `None` once it ends.
fn serve(stream: &TcpStream, answers: &[String], kept: &Mutex<Vec<Received>>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            (reader.read_line(&mut head).ok()? > 0).then_some(())?;
        }
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let number = {
            let mut kept = kept.lock().expect("no panic inside");
            kept.push(Received { head, body });
            kept.len() - 1
        };
        let answer = answers.get(number).or(answers.last())?;
        { stream }.write_all(answer.as_bytes()).ok()?;
    }
}
