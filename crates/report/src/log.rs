//! Log lines in k6's formats.

use std::fmt::Write as _;

use model::{Epoch, Instant, LogLevel, LogLine};

use crate::style::{CYAN, RED, WHITE, YELLOW};
use crate::{Style, escape};

/// How log lines are written (`--log-format`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// Short and coloured on a terminal, `key=value` elsewhere.
    #[default]
    Text,
    /// The message alone.
    Raw,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// The format with k6's name.
    pub fn parse(name: &str) -> Option<LogFormat> {
        Some(match name {
            "text" | "" => LogFormat::Text,
            "raw" => LogFormat::Raw,
            "json" => LogFormat::Json,
            _ => return None,
        })
    }
}

/// Writes log lines; made once per run.
#[derive(Clone, Copy, Debug)]
pub struct LogFormatter {
    /// The format.
    pub format: LogFormat,
    /// With colour, text lines have the short form.
    pub style: Style,
    /// Ties the lines' instants to the wall clock.
    pub epoch: Epoch,
    /// When the program started: the short form counts seconds from here.
    pub started: Instant,
    /// Whether people read the lines as they are: what would steer a terminal is escaped in raw lines, too.
    pub is_terminal: bool,
}

/// The short form pads messages to this many characters, so that fields line up.
const MESSAGE_WIDTH: usize = 44;

impl LogFormatter {
    /// The line as text, ending in a line break.
    pub fn render(&self, line: &LogLine) -> String {
        match self.format {
            LogFormat::Raw => {
                let message = line.message.trim_end_matches('\n');
                if self.is_terminal {
                    escape::terminal_lines(message) + "\n"
                } else {
                    message.to_owned() + "\n"
                }
            }
            LogFormat::Json => self.json(line),
            LogFormat::Text if self.style.colour => self.style.fit(self.short(line)),
            LogFormat::Text => self.text(line),
        }
    }

    fn text(&self, line: &LogLine) -> String {
        let mut text = format!("time=\"{}\" level={}", self.time(line), line.level.as_str());
        if !line.message.is_empty() {
            let _ = write!(text, " msg={}", quoted(&line.message));
        }
        for (key, value) in fields(line) {
            let _ = write!(text, " {key}={}", quoted(value));
        }
        text.push('\n');
        text
    }

    fn short(&self, line: &LogLine) -> String {
        let (colour, level) = match line.level {
            LogLevel::Debug => (WHITE, "DEBU"),
            LogLevel::Info => (CYAN, "INFO"),
            LogLevel::Warn => (YELLOW, "WARN"),
            LogLevel::Error => (RED, "ERRO"),
        };
        let seconds = line.at.since(self.started).as_secs();
        let message = line.message.strip_suffix('\n').unwrap_or(&line.message);
        let message = escape::terminal_lines(message);
        let mut text =
            format!("{}[{seconds:04}] {message:<MESSAGE_WIDTH$} ", self.style.paint(colour, level));
        for (key, value) in fields(line) {
            let _ = write!(text, " {}={}", self.style.paint(colour, key), quoted(value));
        }
        text.push('\n');
        text
    }

    fn json(&self, line: &LogLine) -> String {
        let mut object = serde_json::Map::new();
        for (key, value) in fields(line) {
            object.insert(key.to_owned(), value.into());
        }
        object.insert("level".into(), line.level.as_str().into());
        object.insert("msg".into(), line.message.as_str().into());
        object.insert("time".into(), self.time(line).into());
        escape::json(&serde_json::Value::Object(object).to_string()) + "\n"
    }

    /// RFC 3339 with seconds, UTC.
    fn time(&self, line: &LogLine) -> String {
        let seconds = self.epoch.wall_unix_ns(line.at).div_euclid(1_000_000_000);
        api::rfc3339(seconds.saturating_mul(1_000_000_000))
    }
}

/// The fields with the source, in order of their names.
fn fields(line: &LogLine) -> Vec<(&str, &str)> {
    let mut fields: Vec<(&str, &str)> =
        line.fields.iter().map(|(key, value)| (*key, value.as_str())).collect();
    if !line.source.is_empty() {
        fields.push(("source", line.source));
    }
    fields.sort_unstable();
    fields
}

/// A value as logfmt has it: bare where that is unambiguous, else in quotes with escapes.
fn quoted(value: &str) -> String {
    let bare = |glyph: char| glyph.is_ascii_alphanumeric() || "-._/@^+".contains(glyph);
    if value.chars().all(bare) && !value.is_empty() {
        return value.to_owned();
    }
    let mut text = String::from('"');
    for glyph in value.chars() {
        match glyph {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\u{b}' => text.push_str("\\v"),
            '\u{c}' => text.push_str("\\f"),
            control if control.is_ascii_control() => {
                let _ = write!(text, "\\x{:02x}", control as u32);
            }
            unseen if escape::is_unseen(unseen) => {
                let (number, width) = (unseen as u32, if unseen as u32 > 0xffff { 8 } else { 4 });
                let _ = write!(text, "\\{}{number:0width$x}", if width == 8 { 'U' } else { 'u' });
            }
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(level: LogLevel, message: &str, source: &'static str) -> LogLine {
        let at = Instant::from_ns(1_500_000_000);
        LogLine { at, level, message: message.into(), source, fields: vec![] }
    }

    #[track_caller]
    fn check(format: LogFormat, colour: bool, line: &LogLine, expect: &str) {
        let style = Style { colour, unicode: true };
        // 2026-11-21T09:33:57Z at the origin of the clock.
        let epoch = Epoch { at: Instant::ZERO, wall_unix_ns: 1_795_253_637_000_000_000 };
        let formatter = LogFormatter { format, style, epoch, started: Instant::ZERO, is_terminal: colour };
        assert_eq!(formatter.render(line), expect);
    }

    #[test]
    fn hostile_messages_reorder_nothing() {
        let hidden = "user\u{202e}nimda\u{200b}\u{2066}\u{e0041}\u{ad}";
        let line = line(LogLevel::Info, hidden, "console");
        check(
            LogFormat::Text,
            false,
            &line,
            "time=\"2026-11-21T09:33:58Z\" level=info msg=\"user\\u202enimda\\u200b\\u2066\\U000e0041\\u00ad\" source=console\n",
        );
        for (format, is_terminal) in
            [(LogFormat::Text, true), (LogFormat::Raw, true), (LogFormat::Json, false)]
        {
            let style = Style { colour: false, unicode: true };
            let epoch = Epoch { at: Instant::ZERO, wall_unix_ns: 0 };
            let formatter = LogFormatter { format, style, epoch, started: Instant::ZERO, is_terminal };
            let text = formatter.render(&line);
            assert!(!text.trim_end().contains(escape::is_unseen), "{text:?}");
        }
    }

    #[test]
    fn lines_are_those_k6_prints() {
        let hello = line(LogLevel::Info, "hello \"w\" { a: 1 }", "console");
        let strange = line(LogLevel::Error, "tab\there\nnl ünï \u{7}", "console");
        let mut thrown =
            line(LogLevel::Error, "Error: boom \"q\"\n\tat default (a.js:3:328(58))\n", "stacktrace");
        thrown.fields = vec![
            ("scenario", "default".into()),
            ("executor", "shared-iterations".into()),
            ("hint", "script exception".into()),
        ];
        let text = |line: &LogLine, expect: &str| {
            check(LogFormat::Text, false, line, &format!("time=\"2026-11-21T09:33:58Z\" {expect}\n"));
        };
        text(&hello, r#"level=info msg="hello \"w\" { a: 1 }" source=console"#);
        text(&strange, r#"level=error msg="tab\there\nnl ünï \a" source=console"#);
        text(&line(LogLevel::Info, "", "console"), "level=info source=console");
        text(&line(LogLevel::Warn, "a=b", "console"), r#"level=warning msg="a=b" source=console"#);
        text(&line(LogLevel::Debug, "dbg", ""), "level=debug msg=dbg");
        text(
            &thrown,
            r#"level=error msg="Error: boom \"q\"\n\tat default (a.js:3:328(58))\n" executor=shared-iterations hint="script exception" scenario=default source=stacktrace"#,
        );

        check(LogFormat::Raw, true, &hello, "hello \"w\" { a: 1 }\n");
        check(
            LogFormat::Json,
            false,
            &strange,
            "{\"level\":\"error\",\"msg\":\"tab\\there\\nnl ünï \\u0007\",\"source\":\"console\",\"time\":\"2026-11-21T09:33:58Z\"}\n",
        );
        check(
            LogFormat::Text,
            true,
            &hello,
            "\x1b[36mINFO\x1b[0m[0001] hello \"w\" { a: 1 }                            \x1b[36msource\x1b[0m=console\n",
        );
        let steering = line(LogLevel::Info, "a\x1b[2Jb\r\n\tc", "console");
        check(
            LogFormat::Text,
            true,
            &steering,
            "\x1b[36mINFO\x1b[0m[0001] a\\u{1b}[2Jb\\r\n\tc                              \x1b[36msource\x1b[0m=console\n",
        );
        check(
            LogFormat::Text,
            true,
            &thrown,
            "\x1b[31mERRO\x1b[0m[0001] Error: boom \"q\"\n\tat default (a.js:3:328(58))  \x1b[31mexecutor\x1b[0m=shared-iterations \x1b[31mhint\x1b[0m=\"script exception\" \x1b[31mscenario\x1b[0m=default \x1b[31msource\x1b[0m=stacktrace\n",
        );
    }
}
