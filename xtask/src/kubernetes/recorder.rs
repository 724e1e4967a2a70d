//! A proxy that keeps the exchanges of the program with the API server, for tests that replay them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use serde_json::{Value, json};

use super::api::Api;
use crate::workspace;

/// The folder of the recordings.
const FOLDER: &str = "crates/plimsoll/tests/front_door/kubernetes";

/// The largest body of a request, bytes.
const BODY_BYTES_MAX: usize = 1 << 20;

/// A proxy on loopback. It speaks without TLS, and adds the user's token.
pub(super) struct Recorder {
    pub(super) url: String,
    name: String,
    namespace: String,
    exchanges: Arc<Mutex<Vec<Value>>>,
}

impl Recorder {
    pub(super) fn start(name: &str, namespace: &str, api: Api) -> anyhow::Result<Recorder> {
        let listener = TcpListener::bind("127.0.0.1:0").context("listen for the program")?;
        let url = format!("http://{}", listener.local_addr().context("listen for the program")?);
        let exchanges = Arc::<Mutex<Vec<Value>>>::default();
        let kept = exchanges.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                let (api, kept) = (api.clone(), kept.clone());
                std::thread::spawn(move || {
                    if let Err(error) = serve(&stream, &api, &kept) {
                        eprintln!("recorder: {error:#}");
                    }
                });
            }
        });
        Ok(Recorder { url, name: name.to_owned(), namespace: namespace.to_owned(), exchanges })
    }

    /// Writes the recording.
    pub(super) fn save(self) -> anyhow::Result<()> {
        let exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = workspace::root().join(FOLDER);
        std::fs::create_dir_all(&folder).context("create the folder of recordings")?;
        let lines: Vec<String> = exchanges.iter().map(Value::to_string).collect();
        let (release, namespace) = (super::servers::RELEASE, &self.namespace);
        let text = format!(
            "{{\"release\": \"{release}\", \"namespace\": \"{namespace}\", \"exchanges\": [\n{}\n]}}\n",
            lines.join(",\n")
        );
        std::fs::write(folder.join(format!("{}.json", self.name)), text).context("write a recording")
    }
}

/// Serves the requests of one connection.
fn serve(stream: &TcpStream, api: &Api, kept: &Mutex<Vec<Value>>) -> anyhow::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).context("read a request")? == 0 {
            return Ok(());
        }
        let mut words = line.split_whitespace();
        let (method, path) =
            (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).context("read a header")?;
            let Some((name, value)) = header.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse::<usize>().context("read a length")?.min(BODY_BYTES_MAX);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).context("read a body")?;
        let object = serde_json::from_slice::<Value>(&body).ok();
        let (status, text) = api.answer(&method, &path, object.as_ref(), "application/json")?;
        let mut writer = stream;
        write!(
            writer,
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{text}",
            text.len()
        )
        .context("answer")?;
        let mut answer = slim(serde_json::from_str(&text).unwrap_or_default());
        if path.contains("labelSelector") {
            // Of the run's own pods, the program reads the status.
            answer["items"].as_array_mut().into_iter().flatten().for_each(|pod| pod["spec"] = Value::Null);
        }
        let exchange = json!({"method": method, "path": path, "status": status, "answer": answer});
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        // Answers that repeat add nothing: the last one of each request is replayed again and again.
        let last =
            kept.iter().rev().find(|it| it["method"] == exchange["method"] && it["path"] == exchange["path"]);
        if last != Some(&exchange) {
            kept.push(exchange);
        }
    }
}

/// An answer without parts that change with every request and that the program does not read.
fn slim(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for field in ["managedFields", "resourceVersion", "generation"] {
                fields.remove(field);
            }
            // The token of a run, although that run is over.
            for secret in ["data", "stringData"] {
                if fields.contains_key(secret) && fields.get("kind") == Some(&json!("Secret")) {
                    fields.remove(secret);
                }
            }
            fields.values_mut().for_each(|field| *field = slim(field.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = slim(item.take())),
        _ => {}
    }
    value
}
