//! A run as a row of a list.

use catalogue::Entry;
use runfile::Reader;
use serde::Serialize;

/// A run in the list as JSON.
#[derive(Debug, Serialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Absent if the source of an imported run does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// `passed`, `failed`, `partial` or `live`.
    pub status: &'static str,
    /// The exit code of a run that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The format of another tool's run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<String>,
    /// The script as named on the command line.
    pub script: String,
    /// Its name, if it was given one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version of the target, if it was stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_version: Option<String>,
    /// Length, seconds.
    pub seconds: f64,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// Its tags.
    pub tags: std::collections::BTreeMap<String, String>,
    /// The file.
    pub path: String,
}

impl Row {
    /// Returns the row of a run.
    pub fn of(entry: &Entry, reader: &Reader) -> Row {
        let header = reader.header();
        let seconds = match reader.ending() {
            Some(ending) => ending.elapsed_ns as f64 / 1e9,
            None => reader.range().map_or(0.0, |range| range.len() as f64),
        };
        let is_start_known = header.imported.as_ref().is_none_or(|imported| imported.is_start_known);
        Row {
            id: header.run_id.clone(),
            started: is_start_known
                .then(|| api::rfc3339(header.started_wall_ns / 1_000_000_000 * 1_000_000_000)),
            status: crate::state_word(reader),
            exit_code: reader.ending().filter(|_| header.imported.is_none()).map(|ending| ending.exit_code),
            imported: header.imported.as_ref().map(|imported| imported.source.clone()),
            script: header.script.clone(),
            name: header.name.clone(),
            target_version: header.target_version.clone(),
            seconds,
            bytes: entry.bytes,
            tags: header.tags.clone(),
            path: reader.path().display().to_string(),
        }
    }

    /// Returns the length in words; imported runs do not always state it.
    pub fn length(&self) -> String {
        if self.imported.is_some() && self.seconds == 0.0 {
            "unknown".to_owned()
        } else {
            format!("{:.0}s", self.seconds)
        }
    }
}

/// Formats a count: `1 run`, `2 runs`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Formats a size with a unit.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_in_the_right_number() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "run")), ["0 runs", "1 run", "2 runs"]);
    }

    #[test]
    fn sizes_are_for_people() {
        for (bytes, expect) in
            [(0, "0.0 kB"), (999_999, "1000.0 kB"), (1_500_000, "1.5 MB"), (2_000_000_000, "2.0 GB")]
        {
            assert_eq!(size(bytes), expect);
        }
    }
}
