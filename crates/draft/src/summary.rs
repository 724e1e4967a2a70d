//! The summary of a conversion, for people.

use std::fmt::Write;

use crate::Draft;

/// Secrets, notes and hosts that are shown; the script has all secrets.
const SHOWN_MAX: usize = 12;

impl Draft {
    /// The summary of a conversion; `script` is the path that the script was written to.
    pub fn summary(&self, script: &str) -> String {
        let mut out = String::new();
        let counts = &self.counts;
        let correlated = match counts.correlated {
            0 => String::new(),
            number => format!(", {} taken from responses", plural(number, "value")),
        };
        let groups = match counts.groups {
            0 => String::new(),
            number => format!(" in {}", plural(number, "group")),
        };
        let _ = writeln!(out, "wrote {script}: {}{groups}{correlated}", plural(counts.requests, "request"));
        for file in &self.files {
            let _ = writeln!(out, "wrote {}", file.name);
        }
        self.left_out(&mut out);
        let secrets = self
            .secrets
            .iter()
            .map(|secret| format!("{} ({})", secret.variable, crate::js::label(&secret.place)));
        list(&mut out, "secrets, not in the script; set each with -e NAME=VALUE:", secrets.collect());
        let unset =
            self.unset.iter().map(|(variable, place)| format!("{variable} ({})", crate::js::label(place)));
        list(&mut out, "without a value; set each with -e NAME=VALUE:", unset.collect());
        list(&mut out, "not converted, or to be done:", self.notes.clone());
        let all = self
            .secrets
            .iter()
            .map(|secret| &secret.variable)
            .chain(self.unset.iter().map(|(variable, _)| variable));
        let variables = variables(all);
        let _ = writeln!(out, "try it once: plimsoll run --iterations 1 {variables}{script}");
        out
    }

    fn left_out(&self, out: &mut String) {
        let left_out = &self.left_out;
        if left_out.static_assets > 0 {
            let _ = writeln!(
                out,
                "left out: {} (--keep-static keeps them)",
                plural(left_out.static_assets, "static asset")
            );
        }
        if left_out.third_party > 0 {
            let shown: Vec<&str> = left_out.hosts.iter().take(SHOWN_MAX).map(String::as_str).collect();
            let more = left_out.hosts.len().saturating_sub(SHOWN_MAX);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let _ = writeln!(
                out,
                "left out: {} to other sites (--keep-third-parties keeps them): {}{more}",
                plural(left_out.third_party, "request"),
                shown.join(", ")
            );
        }
        if left_out.redirected > 0 {
            let _ = writeln!(
                out,
                "left out: {} after redirects, which the script follows by itself",
                plural(left_out.redirected, "request")
            );
        }
        if left_out.other > 0 {
            let _ = writeln!(
                out,
                "left out: {} without a response or of another scheme, preflights",
                plural(left_out.other, "request")
            );
        }
    }
}

/// Flags of the first variables that have to be set.
pub(crate) fn variables<'a>(names: impl Iterator<Item = &'a String>) -> String {
    const FLAGS_MAX: usize = 4;
    let names: Vec<&String> = names.collect();
    let more = if names.len() > FLAGS_MAX { "… " } else { "" };
    let flags: String = names.iter().take(FLAGS_MAX).map(|name| format!("-e {name}=… ")).collect();
    flags + more
}

fn plural(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn list(out: &mut String, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "{title}");
    for line in lines.iter().take(SHOWN_MAX) {
        let _ = writeln!(out, "  {line}");
    }
    if lines.len() > SHOWN_MAX {
        let _ = writeln!(out, "  and {} more", lines.len() - SHOWN_MAX);
    }
}
