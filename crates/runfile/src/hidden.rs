//! Redaction: secrets that must not be in a file that people mail to each other.
//!
//! Variables keep their values only where name and shape show that they hold no secret, or where the user asks for it. Options and
//! settings with names that sound like secrets, credentials in addresses and header lines lose their values. Values that are known to
//! be secret are hidden wherever else they occur: in the command line, options, the script's text, names and tags of series,
//! thresholds, log lines, errors, exemplars and remarks, in every spelling that [`redact::Redactor`] knows.

use redact::{HIDDEN, Redactor, SET, assignments_hidden, is_secret_name, is_storable};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::header::{EnvVar, Header};

/// The flags whose values are `NAME=value` of a variable.
const VARIABLE_FLAGS: &[&str] = &["--env", "--interleave"];

/// The header without secrets, and what hides their values elsewhere.
pub(crate) fn header(header: &Header) -> (Header, Redactor) {
    let mut header = header.clone();
    let redactor = header.redactor.clone();
    let rule = Rule { declared: &header.secret_names, stored: &header.stored_names };
    for variable in &mut header.environment {
        let Some(value) = &variable.value else { continue };
        if rule.learn(&variable.name, value, &redactor) {
            variable.value = None;
        }
    }
    header.command_line = rule.command_line(&header.command_line, &redactor);
    if let Some(study) = &mut header.study {
        rule.hide_assignment(&mut study.variant, &redactor);
    }
    header.options_json = rule.options(&header.options_json, &redactor);
    let hide = |text: &mut String| redactor.hide(text);
    header.command_line.iter_mut().for_each(hide);
    [&mut header.name, &mut header.target_version].into_iter().flatten().for_each(hide);
    hide(&mut header.script);
    header.environment.iter_mut().filter_map(|variable| variable.value.as_mut()).for_each(hide);
    for module in &mut header.modules {
        if module.sha256.is_empty() {
            module.sha256 = hex(&Sha256::digest(module.text.as_bytes()));
        }
        hide(&mut module.path);
        hide(&mut module.text);
    }
    header.report.scenarios.iter_mut().for_each(|scenario| hide(&mut scenario.name));
    for threshold in &mut header.thresholds {
        hide(&mut threshold.selector);
        threshold.conditions.iter_mut().for_each(|condition| hide(&mut condition.source));
    }
    if let Some(study) = &mut header.study {
        [&mut study.name, &mut study.variant].into_iter().chain(&mut study.objectives).for_each(hide);
    }
    header.tags = std::mem::take(&mut header.tags)
        .iter()
        .map(|(name, value)| (redactor.scrub(name).into_owned(), redactor.scrub(value).into_owned()))
        .collect();
    (header, redactor)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Which variables keep their values.
struct Rule<'a> {
    /// Names that are secret whatever they are called.
    declared: &'a [String],
    /// Names that are stored because the user asks for it.
    stored: &'a [String],
}

impl Rule<'_> {
    /// Returns whether a variable loses its value, and learns what is secret in it.
    fn learn(&self, name: &str, value: &str, redactor: &Redactor) -> bool {
        let contains = |names: &[String]| names.iter().any(|known| known == name);
        if contains(self.declared) {
            redactor.add_guessed([value.to_owned()]);
            return true;
        }
        if contains(self.stored) {
            return false;
        }
        redactor.add_variable(name, value);
        !is_storable(name, value)
    }

    /// The words of a command line: those that set variables keep plain values, and all lose secret settings.
    fn command_line(&self, words: &[String], redactor: &Redactor) -> Vec<String> {
        let mut sets_variable = false;
        let mut shown = Vec::with_capacity(words.len());
        for word in words {
            let mut word = word.clone();
            if sets_variable || assignment_start(&word) > 0 {
                self.hide_assignment(&mut word, redactor);
                sets_variable = false;
            } else {
                sets_variable = VARIABLE_FLAGS.contains(&word.as_str()) || is_short_env(&word);
                self.hide_setting(&mut word, redactor);
            }
            shown.push(word);
        }
        shown
    }

    /// Hides the value in `NAME=value`, `--env=NAME=value` and `-eNAME=value`.
    fn hide_assignment(&self, word: &mut String, redactor: &Redactor) {
        let start = assignment_start(word);
        let Some(equals) = word[start..].find('=').map(|at| start + at) else { return };
        if self.learn(&word[start..equals], &word[equals + 1..], redactor) {
            word.replace_range(equals + 1.., SET);
        }
    }

    /// Hides secret settings in a word that sets no variable: `token=…`, and credentials in addresses.
    fn hide_setting(&self, word: &mut String, redactor: &Redactor) {
        if let Some((name, value)) = word.split_once('=')
            && (is_secret_name(name) && !name.starts_with('-')
                || self.declared.iter().any(|known| known == name))
        {
            redactor.add_guessed([value.to_owned()]);
            *word = format!("{name}={HIDDEN}");
            return;
        }
        *word = assignments_hidden(word).into_owned();
    }

    /// Options without the texts under secret names. What is no JSON is nothing we wrote, and is not kept.
    fn options(&self, json: &str, redactor: &Redactor) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(json) else { return String::new() };
        self.hide_values(&mut value, "", redactor);
        value.to_string()
    }

    /// Only texts are searched: digits of a number that is a secret by chance would leave no JSON. `parent` is the name of the
    /// member that the value is.
    fn hide_values(&self, value: &mut Value, parent: &str, redactor: &Redactor) {
        match value {
            Value::Object(members) => {
                let hidden = std::mem::take(members).into_iter().map(|(name, mut member)| {
                    let is_declared = self.declared.contains(&name);
                    match &mut member {
                        Value::String(text) if parent == "env" => {
                            if self.learn(&name, text, redactor) {
                                *text = SET.into();
                            }
                        }
                        Value::String(text) if is_declared || is_secret_name(&name) => *text = HIDDEN.into(),
                        member => self.hide_values(member, &name, redactor),
                    }
                    (redactor.scrub(&name).into_owned(), member)
                });
                members.extend(hidden.collect::<Vec<_>>());
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_values(item, parent, redactor)),
            Value::String(text) => redactor.hide(text),
            _ => {}
        }
    }
}

/// Where `NAME=value` begins in a word that is a flag and its value; 0 for others.
fn assignment_start(word: &str) -> usize {
    let long = VARIABLE_FLAGS.iter().find_map(|flag| word.strip_prefix(flag)?.strip_prefix('='));
    let short = || word.strip_prefix("-e").filter(|rest| rest.contains('='));
    long.or_else(short).map_or(0, |rest| word.len() - rest.len())
}

/// `-e`, and `-qe` of several flags in one word: the next word is the value.
fn is_short_env(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('e') && word.len() <= 4
}

impl EnvVar {
    /// A variable with its value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> EnvVar {
        EnvVar { name: name.into(), value: Some(value.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_secret_once_is_hidden_everywhere() {
        let redactor = Redactor::default();
        redactor.add_declared(["pin".to_owned(), "a/b c d e".to_owned()]);
        let facts = Header {
            name: Some("with pin".into()),
            options_json: r#"{"vus":1,"tags":{"n":"xpinx","m":"pin"},"pins":["a/b c d e"]}"#.into(),
            thresholds: vec![crate::ThresholdFacts { selector: "m{n:pin}".into(), ..Default::default() }],
            modules: vec![crate::Module { text: "const p = 'pin'".into(), ..Default::default() }],
            tags: [("pin".to_owned(), "pin".to_owned())].into(),
            redactor,
            ..Header::default()
        };
        let (hidden, redactor) = header(&facts);
        assert_eq!(hidden.name.as_deref(), Some("with (hidden)"));
        let expect = r#"{"vus":1,"tags":{"n":"xpinx","m":"(hidden)"},"pins":["(hidden)"]}"#;
        let parsed = |json: &str| serde_json::from_str::<Value>(json).expect("JSON");
        assert_eq!(parsed(&hidden.options_json), parsed(expect));
        assert_eq!(hidden.thresholds[0].selector, "m{n:(hidden)}");
        assert_eq!(hidden.modules[0].text, "const p = '(hidden)'");
        // Of the text as it was, so that it can be compared with the user's own file.
        assert!(hidden.modules[0].sha256.starts_with(&hex(&Sha256::digest("const p = 'pin'"))));
        assert_eq!(hidden.tags, [("(hidden)".to_owned(), "(hidden)".to_owned())].into());
        for text in ["/a%2Fb%20c%20d%20e?", "/a%2Fb+c+d+e?", "/a/b%20c%20d%20e?", "/a/b c d e?"] {
            assert_eq!(redactor.scrub(text), "/(hidden)?", "{text}");
        }
    }

    #[test]
    fn an_address_hides_no_urls() {
        for (value, expect) in [
            ("https://login.example.com", "GET https://login.example.com/a"),
            ("https://me:pass@login.example.com", "GET (hidden)/a"),
            ("https://login.example.com?token=1", "GET (hidden)/a"),
        ] {
            let environment = vec![EnvVar::new("AUTH_URL", value)];
            let (header, redactor) = header(&Header { environment, ..Header::default() });
            assert_eq!(header.environment[0].value, None);
            assert_eq!(redactor.scrub(&format!("GET {value}/a")), expect);
        }
    }

    #[track_caller]
    fn check_variable(name: &str, value: &str, expect: Option<&str>) {
        let environment = vec![EnvVar::new(name, value)];
        let stored_names = vec!["ASKED_TOKEN".to_owned()];
        let (header, _) = header(&Header { environment, stored_names, ..Header::default() });
        assert_eq!(header.environment[0].value.as_deref(), expect, "{name}={value}");
    }

    #[test]
    fn variables_keep_values_that_can_hold_no_secret() {
        for name in ["DB_PASS", "PGPASS", "DB_PWD", "JWT", "BEARER", "CREDS", "ANYTHING"] {
            check_variable(name, "plain-text", None);
        }
        check_variable("DATABASE_URL", "postgres://u:pw@h", None);
        check_variable("RATE", "20", Some("20"));
        check_variable("DURATION", "30s", Some("30s"));
        check_variable("PROFILE", "smoke", Some("smoke"));
        check_variable("BASE_URL", "http://127.0.0.1:8080", Some("http://127.0.0.1:8080"));
        check_variable("ASKED_TOKEN", "by-name", Some("by-name"));
    }

    #[test]
    fn a_header_loses_its_secrets() {
        let words = [
            "run",
            "-e",
            "MY_TOKEN=abcdefgh",
            "--env=SEED=s3cr3t!!",
            "-eA=1",
            "-qe",
            "WORD=hello",
            "--env",
            "A=2",
            "--interleave",
            "PGPASS=quietly-so",
            "--tag",
            "token=evening-tag",
            "--out",
            "influxdb=http://u:passw0rd@h/db",
            "abcdefgh.js",
        ];
        let options = r#"{"vus":1.5,"tlsAuth":[{"key":"PEM"}],
            "scenarios":{"keys":{"env":{"SEED":"x","A":"1","B":"word"}}}}"#;
        let (header, redactor) = header(&Header {
            environment: vec![EnvVar::new("SEED", "s3cr3t!!"), EnvVar::new("A", "1")],
            secret_names: vec!["SEED".into()],
            command_line: words.map(String::from).to_vec(),
            options_json: options.into(),
            ..Header::default()
        });
        assert_eq!(header.environment[0].value, None);
        assert_eq!(header.environment[1].value.as_deref(), Some("1"));
        let expect = [
            "run",
            "-e",
            "MY_TOKEN=(set)",
            "--env=SEED=(set)",
            "-eA=1",
            "-qe",
            "WORD=(set)",
            "--env",
            "A=2",
            "--interleave",
            "PGPASS=(set)",
            "--tag",
            "token=(hidden)",
            "--out",
            "influxdb=http://u:(hidden)@h/db",
            "(hidden).js",
        ];
        assert_eq!(header.command_line, expect);
        let hidden: Value = serde_json::from_str(&header.options_json).expect("JSON");
        let expect = r#"{"vus":1.5,"tlsAuth":[{"key":"(hidden)"}],
            "scenarios":{"keys":{"env":{"SEED":"(set)","A":"1","B":"(set)"}}}}"#;
        assert_eq!(hidden, serde_json::from_str::<Value>(expect).expect("JSON"));
        assert_eq!(redactor.scrub("s3cr3t!! quietly-so word"), "(hidden) (hidden) word");
    }
}
