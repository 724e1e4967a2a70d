//! Sends log lines to Grafana Loki, as k6's `--log-output loki=…`: periodic pushes with labels for level and source.
//!
//! <https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs>

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use model::{Epoch, Instant, LogLevel, LogLine, SystemClock};
use plan::GoDuration;
use serde_json::{Value, json};
use ureq::Agent;

/// Maximum number of lines that wait for the next push; further ones are lost and counted.
const QUEUE_LINES_MAX: usize = 16_384;

/// Timeout of a push, and the maximum wait at the end of the process.
const PUSH_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of lines per push, whatever `limit` says.
const LIMIT_MAX: usize = 1_000_000;

/// The configuration after `loki=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LokiConfig {
    url: String,
    labels: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    /// Names of allowed labels; others are appended to the message. All are allowed if unset.
    allowed: Option<Vec<String>>,
    /// Maximum number of lines per push.
    limit: usize,
    least: LogLevel,
    push_period: Duration,
    message_bytes_max: usize,
}

impl LokiConfig {
    /// Parses `URL,label.NAME=VALUE,header.NAME=VALUE,allowedLabels=[A,B],limit=100,level=info,pushPeriod=1s,msgMaxSize=1048576`.
    ///
    /// # Errors
    /// The reason as a fragment that follows the text.
    pub fn parse(text: &str) -> Result<LokiConfig, String> {
        let mut parts = split(text).into_iter();
        let url = parts.next().filter(|url| !url.is_empty());
        let mut config = LokiConfig {
            url: url.unwrap_or("http://127.0.0.1:3100/loki/api/v1/push").to_owned(),
            labels: Vec::new(),
            headers: Vec::new(),
            allowed: None,
            limit: 100,
            least: LogLevel::Debug,
            push_period: Duration::from_secs(1),
            message_bytes_max: 1 << 20,
        };
        if !config.url.starts_with("http://") && !config.url.starts_with("https://") {
            return Err(format!("has no URL of a server: {:?}", config.url));
        }
        for part in parts {
            let (key, value) =
                part.split_once('=').ok_or_else(|| format!("has {part:?}, which is no key=value"))?;
            config.set(key, value).map_err(|why| format!("has {key}={value}, which {why}"))?;
        }
        Ok(config)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        let positive = || value.parse::<usize>().ok().filter(|it| *it > 0).ok_or("is no positive number");
        match key {
            "limit" => self.limit = positive()?.min(LIMIT_MAX),
            "msgMaxSize" => self.message_bytes_max = positive()?,
            "level" => self.least = level(value).ok_or("is no level")?,
            "pushPeriod" => {
                let period = GoDuration::parse(value).ok_or("is no duration")?.to_std();
                self.push_period = Some(period).filter(|it| !it.is_zero()).ok_or("is no period")?;
            }
            "allowedLabels" => {
                let list = value.trim_start_matches('[').trim_end_matches(']');
                self.allowed = Some(list.split(',').map(|it| it.trim().to_owned()).collect());
            }
            _ => match key.split_once('.') {
                Some(("label", name)) => self.labels.push((name.to_owned(), value.to_owned())),
                Some(("header", name)) => self.headers.push((name.to_owned(), value.to_owned())),
                _ => return Err("is no setting of Loki's"),
            },
        }
        Ok(())
    }
}

/// Parses a level by its name in logrus.
fn level(name: &str) -> Option<LogLevel> {
    Some(match name.to_ascii_lowercase().as_str() {
        "trace" | "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "warn" | "warning" => LogLevel::Warn,
        "error" | "fatal" | "panic" => LogLevel::Error,
        _ => return None,
    })
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_u32, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// A client that sends lines from a separate thread.
pub struct Loki {
    lines: Mutex<Option<SyncSender<LogLine>>>,
    lost: AtomicU64,
    thread: Mutex<Option<JoinHandle<u64>>>,
}

impl Loki {
    /// Starts the sending thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(config: LokiConfig, epoch: Epoch) -> std::io::Result<Loki> {
        let (lines, queue) = sync_channel(QUEUE_LINES_MAX);
        let send = move || Sender::new(config, epoch).run(&queue);
        let thread = std::thread::Builder::new().name("loki".into()).spawn(send)?;
        Ok(Loki { lines: Mutex::new(Some(lines)), lost: AtomicU64::new(0), thread: Mutex::new(Some(thread)) })
    }

    /// Queues a line; counts it as lost if the queue is full.
    pub fn log(&self, line: &LogLine) {
        let lines = self.lines.lock().expect("no panic inside");
        if let Some(Err(TrySendError::Full(_))) = lines.as_ref().map(|lines| lines.try_send(line.clone())) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Sends the remaining lines, and returns the number of lines lost.
    pub fn finish(&self) -> u64 {
        *self.lines.lock().expect("no panic inside") = None;
        let thread = self.thread.lock().expect("no panic inside").take();
        let unsent = thread.and_then(|thread| thread.join().ok()).unwrap_or(0);
        self.lost.swap(0, Ordering::Relaxed) + unsent
    }
}

/// The sending side of the thread.
struct Sender {
    config: LokiConfig,
    epoch: Epoch,
    agent: Agent,
    /// Number of lines that the server did not accept.
    unsent: u64,
    has_complained: bool,
}

impl Sender {
    fn new(config: LokiConfig, epoch: Epoch) -> Sender {
        let agent = Agent::config_builder().timeout_global(Some(PUSH_TIMEOUT)).build().into();
        Sender { config, epoch, agent, unsent: 0, has_complained: false }
    }

    fn run(mut self, queue: &Receiver<LogLine>) -> u64 {
        let mut is_over = false;
        while !is_over {
            let until = SystemClock::now() + self.config.push_period;
            let (mut batch, mut dropped) = (Vec::new(), 0_u64);
            loop {
                match queue.recv_timeout(until.since(SystemClock::now())) {
                    Ok(line) if line.level < self.config.least => {}
                    Ok(line) if batch.len() < self.config.limit => batch.push(line),
                    Ok(_) => dropped += 1,
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        is_over = true;
                        break;
                    }
                }
            }
            self.push(batch, dropped);
        }
        self.unsent
    }

    fn push(&mut self, mut batch: Vec<LogLine>, dropped: u64) {
        if dropped > 0 {
            self.unsent += dropped;
            let text = format!(
                "{dropped} log lines were dropped: they were above the limit of {} in {:?}",
                self.config.limit, self.config.push_period
            );
            batch.push(LogLine::new(SystemClock::now(), LogLevel::Warn, text));
        }
        if batch.is_empty() {
            return;
        }
        let body = self.config.body(&batch, |at| self.epoch.wall_unix_ns(at)).to_string();
        let mut request = self.agent.post(&self.config.url).header("content-type", "application/json");
        for (name, value) in &self.config.headers {
            request = request.header(name, value);
        }
        let Err(error) = request.send(body) else { return };
        self.unsent += batch.len() as u64;
        if !std::mem::replace(&mut self.has_complained, true) {
            crate::terminal::print_error(&format!(
                "failed to send log lines to {}: {error}",
                self.config.url
            ));
        }
    }
}

impl LokiConfig {
    /// Returns the body of a push: lines grouped by labels, in order of first appearance.
    fn body(&self, lines: &[LogLine], wall_unix_ns: impl Fn(Instant) -> i64) -> Value {
        let mut streams: Vec<(BTreeMap<&str, String>, Vec<Value>)> = Vec::new();
        for line in lines {
            let (labels, message) = self.labelled(line);
            let value = json!([wall_unix_ns(line.at).to_string(), self.cut(message)]);
            match streams.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, values)) => values.push(value),
                None => streams.push((labels, vec![value])),
            }
        }
        let streams: Vec<Value> = streams
            .into_iter()
            .map(|(stream, values)| json!({ "stream": stream, "values": values }))
            .collect();
        json!({ "streams": streams })
    }

    /// Returns a line's labels, and its message followed by labels that are not allowed.
    fn labelled<'a>(&'a self, line: &'a LogLine) -> (BTreeMap<&'a str, String>, String) {
        let own = self.labels.iter().map(|(name, value)| (name.as_str(), value.clone()));
        let source = Some(("source", line.source.to_owned())).filter(|(_, source)| !source.is_empty());
        let fields = line.fields.iter().map(|(name, value)| (*name, value.clone()));
        let all = own.chain([("level", line.level.as_str().to_owned())]).chain(source).chain(fields);
        let (mut labels, mut message) = (BTreeMap::new(), line.message.clone());
        for (name, value) in all {
            match &self.allowed {
                Some(allowed) if !allowed.iter().any(|it| it == name) => {
                    message += &format!(" {name}={value}");
                }
                _ => {
                    labels.insert(name, value);
                }
            }
        }
        (labels, message)
    }

    fn cut(&self, mut message: String) -> String {
        if message.len() > self.message_bytes_max {
            message.truncate(message.floor_char_boundary(self.message_bytes_max));
            message.push('…');
        }
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[(LogLevel, &'static str, &str)], expect: Value) {
        let config = LokiConfig::parse(text).expect("it can be read");
        let line = |(at, (level, source, message)): (u64, &(LogLevel, &'static str, &str))| LogLine {
            source,
            ..LogLine::new(Instant::from_ns(at), *level, *message)
        };
        let lines: Vec<LogLine> = (1..).zip(lines).map(line).collect();
        assert_eq!(config.body(&lines, |at| at.as_ns() as i64), expect, "{text}");
    }

    #[test]
    fn lines_are_sent_by_their_labels() {
        let (info, warn) = (LogLevel::Info, LogLevel::Warn);
        let lines = [(info, "console", "a"), (warn, "", "b"), (info, "console", "c")];
        let console =
            json!({"stream": {"source": "console", "level": "info"}, "values": [["1", "a"], ["3", "c"]]});
        let own = json!({"stream": {"level": "warning"}, "values": [["2", "b"]]});
        check("", &lines, json!({ "streams": [console, own] }));
        let labelled = json!({"stream": {"level": "info", "x": "y"}, "values": [["1", "a source=console"]]});
        check("http://l/p,label.x=y,allowedLabels=[level,x]", &lines[..1], json!({ "streams": [labelled] }));
        let long = [(info, "", "aé")];
        let cut = json!({"stream": {"level": "info"}, "values": [["1", "a…"]]});
        check("http://l/p,msgMaxSize=2", &long, json!({ "streams": [cut] }));
    }

    #[test]
    fn settings_are_read() {
        let config = LokiConfig::parse("https://l/p,header.X-Scope-OrgID=1,limit=7,level=warn,pushPeriod=5m");
        let config = config.expect("k6 reads it, too");
        assert_eq!((config.url.as_str(), config.limit, config.least), ("https://l/p", 7, LogLevel::Warn));
        assert_eq!(config.headers, [("X-Scope-OrgID".to_owned(), "1".to_owned())]);
        assert_eq!(config.push_period, Duration::from_secs(300));
        let wrong =
            ["ftp://x", "http://l,bogus=1", "http://l,limit=0", "http://l,level=zz", "http://l,profile"];
        for text in wrong {
            LokiConfig::parse(text).expect_err(text);
        }
    }
}
