//! Log lines of a process, for assistants: warnings and errors, and what scripts log where the user allows it.

use serde_json::{Value, json};

use crate::program::Printed;

/// Lines that an assistant gets; the rest is counted.
const LINES_MAX: usize = 40;

/// Characters of a line.
const LINE_CHARS_MAX: usize = 2_000;

/// Returns the lines of a process's log.
pub(super) fn lines(printed: &Printed, has_console: bool) -> Vec<Value> {
    let text = String::from_utf8_lossy(&printed.err);
    let mut lines: Vec<Value> = text.lines().filter_map(|line| shown(line, has_console)).collect();
    let beyond = lines.len().saturating_sub(LINES_MAX);
    if beyond > 0 {
        lines.truncate(LINES_MAX);
        lines.push(json!({ "level": "warning", "text": format!("{beyond} more lines") }));
    }
    lines
}

/// One line, if the assistant may read it.
fn shown(line: &str, has_console: bool) -> Option<Value> {
    let short = |text: &str| text.chars().take(LINE_CHARS_MAX).collect::<String>();
    let Ok(entry) = serde_json::from_str::<Value>(line) else {
        let text = line.trim();
        return (!text.is_empty()).then(|| json!({ "level": "error", "text": short(text) }));
    };
    let is_console = entry["source"] == "console";
    let level = entry["level"].as_str().unwrap_or("info");
    let is_problem = level.starts_with("warn") || level == "error" || level == "fatal";
    let is_shown = if is_console { has_console } else { is_problem };
    is_shown.then(|| json!({ "level": level, "text": short(entry["msg"].as_str().unwrap_or_default()) }))
}

/// Returns the reason why a process failed.
pub(super) fn complaint(printed: &Printed, has_console: bool) -> String {
    let lines = lines(printed, has_console);
    let texts: Vec<&str> = lines.iter().filter_map(|line| line["text"].as_str()).collect();
    match (texts.is_empty(), printed.code) {
        (false, _) => texts.join("\n"),
        (true, Some(code)) => format!("the program ended with exit code {code}"),
        (true, None) => "the program was ended by a signal".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(err: &str) -> Printed {
        Printed { code: Some(1), out: Vec::new(), is_out_cut: false, err: err.into(), is_late: false }
    }

    const LOG: &str = "{\"level\":\"info\",\"msg\":\"start\"}\n{\"level\":\"info\",\"msg\":\"said\",\"source\":\"console\"}\n\
                       {\"level\":\"warning\",\"msg\":\"late\"}\nplain\n\n";

    #[test]
    fn scripts_are_heard_only_where_the_user_allows_it() {
        let texts = |has_console| {
            let lines = lines(&printed(LOG), has_console);
            lines.iter().map(|line| line["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(false), ["late", "plain"]);
        assert_eq!(texts(true), ["said", "late", "plain"]);
    }

    #[test]
    fn many_lines_are_counted() {
        let lines = lines(&printed(&"problem\n".repeat(LINES_MAX + 3)), false);
        assert_eq!(
            (lines.len(), lines.last().unwrap()["text"].as_str()),
            (LINES_MAX + 1, Some("3 more lines"))
        );
        assert_eq!(complaint(&printed(""), false), "the program ended with exit code 1");
    }
}
