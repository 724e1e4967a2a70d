//! Outcomes of the suite, as stored and as a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The outcome of a group of hostile inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outcome {
    pub(super) name: String,
    /// Tests or runs.
    pub(super) tests: u64,
    /// Inputs, as far as the tests count them; else tests.
    pub(super) tried: u64,
    /// Tests that failed, or runs with a wrong exit code.
    pub(super) failed: u64,
    pub(super) panics: u64,
    pub(super) hangs: u64,
    pub(super) silent_losses: u64,
    /// Peak of resident memory of the process, KiB.
    pub(super) peak_kib: u64,
    /// Processes by exit code.
    pub(super) exit_codes: BTreeMap<String, u64>,
}

impl Outcome {
    pub(super) fn new(name: &str) -> Outcome {
        Outcome { name: name.to_owned(), ..Outcome::default() }
    }

    /// Adds the outcome of another process of the group.
    pub(super) fn add(&mut self, other: &Outcome) {
        self.tests += other.tests;
        self.tried += other.tried;
        self.failed += other.failed;
        self.panics += other.panics;
        self.hangs += other.hangs;
        self.silent_losses += other.silent_losses;
        self.peak_kib = self.peak_kib.max(other.peak_kib);
        for (code, count) in &other.exit_codes {
            *self.exit_codes.entry(code.clone()).or_default() += count;
        }
    }

    /// Returns true if anything is wrong.
    pub(super) fn is_broken(&self) -> bool {
        self.tried == 0 || self.failed + self.panics + self.hangs + self.silent_losses > 0
    }

    fn row(&self) -> String {
        let codes: Vec<&str> = self.exit_codes.keys().map(String::as_str).collect();
        format!(
            "| {} | {} | {} | {} | {} | {} | {} MiB | {} |\n",
            self.name,
            thousands(self.tried),
            self.failed,
            self.panics,
            self.hangs,
            self.silent_losses,
            thousands(self.peak_kib / 1024),
            codes.join(", ")
        )
    }
}

/// Returns the outcomes as Markdown.
pub(super) fn table(outcomes: &[Outcome]) -> String {
    let titles = "| Group | Tried | Failed | Panics | Hangs | Silent losses | Peak memory | Exit codes |\n";
    let rule = "|---|---:|---:|---:|---:|---:|---:|---|\n";
    let rows: String = outcomes.iter().map(Outcome::row).collect();
    format!("{titles}{rule}{rows}")
}

/// Returns a count with separated thousands.
pub(super) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_added_and_shown() {
        let outcome = |code: &str, peak_kib| Outcome {
            tests: 2,
            tried: 1_234_567,
            peak_kib,
            exit_codes: BTreeMap::from([(code.to_owned(), 1)]),
            ..Outcome::new("parsers")
        };
        let mut sum = outcome("0", 2_048);
        sum.add(&outcome("101", 1_024));
        assert!(!sum.is_broken() && Outcome::new("none").is_broken());
        assert!(table(&[sum]).ends_with("| parsers | 2,469,134 | 0 | 0 | 0 | 0 | 2 MiB | 0, 101 |\n"));
        assert_eq!(
            (thousands(0), thousands(999), thousands(1_000)),
            ("0".into(), "999".into(), "1,000".into())
        );
    }

    #[test]
    fn each_flaw_breaks_an_outcome() {
        let sound = Outcome { tried: 1, ..Outcome::new("x") };
        for broken in [
            Outcome { failed: 1, ..sound.clone() },
            Outcome { panics: 1, ..sound.clone() },
            Outcome { hangs: 1, ..sound.clone() },
            Outcome { silent_losses: 1, ..sound.clone() },
        ] {
            assert!(broken.is_broken() && !sound.is_broken());
        }
    }
}
