//! The banner at the start of a run.

use crate::Style;
use crate::escape;
use crate::style::{BOLD, CYAN};

/// The text of the banner.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// The program's version.
    pub version: &'a str,
    /// The script as it was named; `-` for standard input.
    pub script: &'a str,
    /// Descriptions of the exports; none shows `-`.
    pub outputs: &'a [String],
    /// Where traces are received, if they are.
    pub traces: Option<&'a str>,
    /// One line for all scenarios (`(100.00%) 1 scenario, 10 max VUs, …`), then one line each; written by the crate `plan`.
    pub scenarios: (&'a str, &'a [String]),
}

/// The banner as text, ending in a blank line.
pub fn render(header: &Header<'_>, style: Style) -> String {
    let outputs = if header.outputs.is_empty() { "-".to_owned() } else { header.outputs.join(", ") };
    let (total, scenarios) = header.scenarios;
    let field =
        |name: &str, value: &str| format!("{name:>14}: {}\n", style.paint(CYAN, &escape::terminal(value)));
    let mut text = format!("\n  {} {}\n\n", style.paint(BOLD, "plimsoll"), header.version);
    text += &field("execution", "local");
    text += &field("script", header.script);
    text += &field("output", &outputs);
    text.extend(header.traces.map(|place| field("traces", place)));
    text += "\n";
    text += &field("scenarios", total);
    text.extend(
        scenarios.iter().map(|scenario| format!("{}* {}\n", " ".repeat(14), escape::terminal(scenario))),
    );
    style.fit(text + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_will_run() {
        let scenarios =
            ["default: 1 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)".into()];
        let header = Header {
            version: "0.1.0",
            script: "a\x1b.js",
            outputs: &[],
            traces: Some("at home"),
            scenarios: (
                "(100.00%) 1 scenario, 1 max VUs, 10m30s max duration (incl. graceful stop):",
                &scenarios,
            ),
        };
        let expect = r"
  plimsoll 0.1.0

     execution: local
        script: a\u{1b}.js
        output: -
        traces: at home

     scenarios: (100.00%) 1 scenario, 1 max VUs, 10m30s max duration (incl. graceful stop):
              * default: 1 iterations shared among 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)

";
        assert_eq!(render(&header, Style::PLAIN), expect);
    }
}
