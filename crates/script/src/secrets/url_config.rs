//! How a server of secrets is described: by variables, over them by a file, over that by the flag itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use json::Found;
use serde_json::Value;

use super::url::SecretRequest;

/// In front of the names of variables.
const VARIABLE: &str = "K6_SECRET_SOURCE_URL_";

/// In the place of the key.
const KEY: &str = "{key}";

/// The members that are values of their own, with their variables.
const MEMBERS: &[(&str, &str)] = &[
    ("urlTemplate", "URL_TEMPLATE"),
    ("method", "METHOD"),
    ("responsePath", "RESPONSE_PATH"),
    ("timeout", "TIMEOUT"),
    ("requestsPerMinuteLimit", "REQUESTS_PER_MINUTE_LIMIT"),
    ("requestsBurst", "REQUESTS_BURST"),
    ("maxRetries", "MAX_RETRIES"),
    ("retryBackoff", "RETRY_BACKOFF"),
];

/// A configuration file with more bytes is none.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Settings of a secret source of this kind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UrlConfig {
    template: String,
    method: String,
    headers: BTreeMap<String, String>,
    response_path: String,
    timeout: Duration,
    per_minute_max: u32,
    pub(super) burst: u32,
    pub(super) retries_max: u32,
    pub(super) backoff: Duration,
}

impl UrlConfig {
    /// Reads the flag's entries, the file that they name, and the variables.
    ///
    /// # Errors
    /// A text for the user.
    pub(super) fn read(entries: &[String], env: &BTreeMap<String, String>) -> Result<UrlConfig, String> {
        let mut config = UrlConfig {
            template: String::new(),
            method: "GET".into(),
            headers: BTreeMap::new(),
            response_path: String::new(),
            timeout: Duration::from_secs(30),
            per_minute_max: 300,
            burst: 10,
            retries_max: 3,
            backoff: Duration::from_secs(1),
        };
        config.take_variables(env)?;
        let pairs = entries.iter().filter(|entry| !entry.is_empty()).map(|entry| pair(entry));
        let pairs: Vec<(&str, &str)> = pairs.collect::<Result<_, _>>()?;
        for (_, path) in pairs.iter().filter(|(name, _)| *name == "config") {
            config.take_file(path)?;
        }
        for (name, value) in pairs.iter().filter(|(name, _)| *name != "config") {
            config.take(name, value)?;
        }
        config.check()?;
        Ok(config)
    }

    /// The settings as entries of the flag, for one of `processes` that keep the limits together.
    pub(super) fn entries(&self, processes: u32) -> Vec<String> {
        let share = |limit: u32| (limit / processes.max(1)).max(1);
        let headers = self.headers.iter().map(|(name, value)| format!("headers.{name}={value}"));
        let ns = |duration: Duration| format!("{}ns", duration.as_nanos());
        headers
            .chain([
                format!("urlTemplate={}", self.template),
                format!("method={}", self.method),
                format!("responsePath={}", self.response_path),
                format!("timeout={}", ns(self.timeout)),
                format!("requestsPerMinuteLimit={}", share(self.per_minute_max)),
                format!("requestsBurst={}", share(self.burst)),
                format!("maxRetries={}", self.retries_max),
                format!("retryBackoff={}", ns(self.backoff)),
            ])
            .collect()
    }

    /// The values of headers, which may hold credentials.
    pub(super) fn header_values(&self) -> impl Iterator<Item = &String> {
        self.headers.values()
    }

    /// The request for a key.
    pub(super) fn request(&self, key: &str) -> SecretRequest {
        SecretRequest {
            method: self.method.clone(),
            url: self.template.replace(KEY, key),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            timeout: self.timeout,
        }
    }

    /// The secret in an answer.
    ///
    /// # Errors
    /// k6's text: it is not there.
    pub(super) fn secret_in(&self, body: &str) -> Result<String, String> {
        let path = &self.response_path;
        if path.is_empty() {
            return Ok(body.to_owned());
        }
        let kind = match json::find(body, path) {
            None => return Err(format!("failed to extract secret: path \"{path}\" not found in response")),
            Some(Found::Text(secret)) => return Ok(secret),
            Some(Found::Number(_)) => "Number",
            Some(Found::Bool(true)) => "True",
            Some(Found::Bool(false)) => "False",
            Some(Found::Null) => "Null",
            Some(Found::Json(_)) => "JSON",
        };
        Err(format!("failed to extract secret: secret value at path \"{path}\" is not a string (got {kind})"))
    }

    /// The time between two requests at the limit.
    pub(super) fn spacing_ns(&self) -> u64 {
        60_000_000_000 / u64::from(self.per_minute_max)
    }

    fn take_variables(&mut self, env: &BTreeMap<String, String>) -> Result<(), String> {
        for (variable, value) in env.range(VARIABLE.to_owned()..).filter(|(_, value)| !value.is_empty()) {
            let Some(name) = variable.strip_prefix(VARIABLE) else { break };
            if let Some(header) = name.strip_prefix("HEADER_") {
                // Variables cannot hold a hyphen, and names of headers are the same in capitals.
                self.set_header(&header.replace('_', "-"), value);
            } else if let Some((member, _)) = MEMBERS.iter().find(|(_, known)| *known == name) {
                self.take(member, value).map_err(|why| format!("{variable}: {why}"))?;
            }
        }
        Ok(())
    }

    fn take_file(&mut self, path: &str) -> Result<(), String> {
        let failed = |why: String| format!("the config file {path}: {why}");
        let bytes =
            files::read_given(Path::new(path), FILE_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
        let members: serde_json::Map<String, Value> =
            serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
        for (name, value) in &members {
            match (name.as_str(), value) {
                (_, Value::Null) => {}
                ("headers", Value::Object(headers)) => {
                    headers.iter().for_each(|(name, value)| self.set_header(name, &text(value)));
                }
                _ if MEMBERS.iter().any(|(known, _)| known == name) => self.take(name, &text(value))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "urlTemplate" => self.template = value.to_owned(),
            "method" => self.method = value.to_owned(),
            "responsePath" => self.response_path = value.to_owned(),
            "timeout" => self.timeout = duration(name, value)?,
            "requestsPerMinuteLimit" => self.per_minute_max = positive(name, value)?,
            "requestsBurst" => self.burst = positive(name, value)?,
            "maxRetries" => self.retries_max = number(name, value)?,
            "retryBackoff" => self.backoff = duration(name, value)?,
            _ => match name.strip_prefix("headers.") {
                Some(header) => self.set_header(header, value),
                None => return Err(format!("unknown configuration key: {name:?}")),
            },
        }
        Ok(())
    }

    /// One header of a name, however it is spelt: what is said later wins.
    fn set_header(&mut self, name: &str, value: &str) {
        self.headers.retain(|known, _| !known.eq_ignore_ascii_case(name));
        self.headers.insert(name.to_owned(), value.to_owned());
    }

    fn check(&self) -> Result<(), String> {
        if self.template.is_empty() {
            return Err("urlTemplate is required".into());
        }
        if !self.template.contains(KEY) {
            return Err(format!("urlTemplate must contain {KEY}, which stands for the secret's name"));
        }
        Ok(())
    }
}

fn pair(entry: &str) -> Result<(&str, &str), String> {
    entry.split_once('=').ok_or_else(|| format!("invalid setting {entry:?}; expected KEY=VALUE"))
}

/// A member of a file as the flag would have it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn duration(name: &str, value: &str) -> Result<Duration, String> {
    let parsed = model::GoDuration::parse(value).filter(|duration| duration.ns > 0);
    parsed
        .map(model::GoDuration::to_std)
        .ok_or_else(|| format!("invalid {name} {value:?}; expected a duration such as 30s"))
}

fn number(name: &str, value: &str) -> Result<u32, String> {
    value.parse().map_err(|_| format!("{name} must be a whole number from 0"))
}

fn positive(name: &str, value: &str) -> Result<u32, String> {
    number(name, value)?
        .checked_sub(1)
        .map(|less| less + 1)
        .ok_or_else(|| format!("{name} must be greater than 0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: &str, env: &[(&str, &str)]) -> Result<UrlConfig, String> {
        let entries: Vec<String> = config.split(',').map(str::to_owned).collect();
        let env = env.iter().map(|(name, value)| (format!("{VARIABLE}{name}"), (*value).to_owned()));
        UrlConfig::read(&entries, &env.collect())
    }

    #[test]
    fn what_is_said_later_wins() {
        let path = std::env::temp_dir().join(format!("plimsoll-secrets-{}.json", std::process::id()));
        std::fs::write(
            &path,
            r#"{"method":"PUT","timeout":"2s","maxRetries":7,"headers":{"X-A":"file"},"x":1}"#,
        )
        .expect("written");
        let env =
            [("URL_TEMPLATE", "http://h/{key}"), ("HEADER_X_A", "env"), ("TIMEOUT", "9s"), ("OTHER", "1")];
        let config = read(&format!("config={},method=POST", path.display()), &env).expect("it is sound");
        std::fs::remove_file(&path).expect("it was there");
        let request = config.request("a b");
        assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", "http://h/a b"));
        assert_eq!(request.headers, [("X-A".to_owned(), "file".to_owned())]);
        assert_eq!((request.timeout, config.retries_max), (Duration::from_secs(2), 7));
        assert_eq!((config.burst, config.spacing_ns()), (10, 200_000_000));
    }

    #[test]
    fn another_process_reads_the_same_settings() {
        let config =
            read("urlTemplate=https://h/{key}?a=1,timeout=1500ms,headers.X-A=a=b,responsePath=d.v", &[]);
        let config = config.expect("it is sound");
        let again = UrlConfig::read(&config.entries(1), &BTreeMap::new());
        assert_eq!(again.as_ref(), Ok(&config));
        let third = UrlConfig::read(&config.entries(3), &BTreeMap::new()).expect("it is sound");
        assert_eq!((third.burst, third.spacing_ns()), (3, 600_000_000));
    }

    #[track_caller]
    fn check(config: &str, expect: &str) {
        let why = read(config, &[]).expect_err("it makes no sense");
        assert!(why.contains(expect), "{config}: {why}");
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        check("", "urlTemplate is required");
        check("urlTemplate=http://h/", "must contain {key}");
        check("urlTemplate=http://h/{key},nope=1", "unknown configuration key: \"nope\"");
        check("urlTemplate=http://h/{key},timeout=x", "invalid timeout");
        check("urlTemplate=http://h/{key},maxRetries=-1", "maxRetries");
        check("urlTemplate=http://h/{key},requestsBurst=0", "requestsBurst must be greater than 0");
        check(
            "urlTemplate=http://h/{key},requestsPerMinuteLimit=0",
            "requestsPerMinuteLimit must be greater",
        );
        check("config=/nowhere/x.json", "/nowhere/x.json");
        check("urlTemplate", "expected KEY=VALUE");
    }

    #[track_caller]
    fn check_answer(path: &str, body: &str, expect: Result<&str, &str>) {
        let config =
            read(&format!("urlTemplate=http://h/{{key}},responsePath={path}"), &[]).expect("it is sound");
        let got = config.secret_in(body);
        match expect {
            Ok(secret) => assert_eq!(got.as_deref(), Ok(secret)),
            Err(part) => assert!(got.as_ref().is_err_and(|why| why.contains(part)), "{got:?}"),
        }
    }

    #[test]
    fn the_secret_in_an_answer() {
        check_answer("", "whole\n", Ok("whole\n"));
        check_answer("data.value", r#"{"data":{"value":"s"}}"#, Ok("s"));
        check_answer("data", r#"{"data":5}"#, Err("is not a string (got Number)"));
        check_answer("data", r#"{"data":{}}"#, Err("is not a string (got JSON)"));
        check_answer("data.x", r#"{"data":{}}"#, Err("path \"data.x\" not found in response"));
        check_answer("data", "no JSON", Err("not found in response"));
    }
}
