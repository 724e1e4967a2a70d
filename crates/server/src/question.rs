//! Questions to `/api/v1`.

use std::collections::BTreeMap;

/// Maximum length of a query, bytes.
const QUERY_BYTES_MAX: usize = 4096;

/// Prefix of all questions.
pub(crate) const ROOT: &str = "/api/v1/";

macro_rules! views {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal;)*) => {
        /// The kind of answer that a question requests.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum View { $($(#[doc = $doc])* $variant,)* }

        impl View {
            /// All views.
            pub const ALL: &[View] = &[$(View::$variant,)*];

            /// Returns the path below `/api/v1/`, with `*` for the run and a further one for a part of it.
            pub const fn pattern(self) -> &'static str {
                match self { $(View::$variant => $name,)* }
            }
        }
    };
}

views! {
    /// The program and the page's rights.
    About = "about";
    /// All runs.
    Runs = "runs";
    /// One run.
    Run = "runs/*";
    /// Columns over time.
    Series = "runs/*/series";
    /// Requests as a tree.
    Requests = "runs/*/requests";
    /// The distribution of values.
    Distribution = "runs/*/distribution";
    /// Errors.
    Errors = "runs/*/errors";
    /// Log lines.
    Logs = "runs/*/logs";
    /// The load generator.
    Generator = "runs/*/generator";
    /// Validity of the measurement.
    Validity = "runs/*/validity";
    /// The agents that made the load.
    Fleet = "runs/*/fleet";
    /// Measurement errors that arithmetic shows.
    Audit = "runs/*/audit";
    /// The maximum load that the target sustains.
    Capacity = "runs/*/capacity";
    /// Thresholds over time.
    Thresholds = "runs/*/thresholds";
    /// Stored traces.
    Traces = "runs/*/traces";
    /// One trace.
    Trace = "runs/*/traces/*";
    /// Services and the calls between them.
    Services = "runs/*/services";
    /// Server-side metrics.
    Evidence = "runs/*/evidence";
    /// The bottleneck.
    Diagnosis = "runs/*/diagnosis";
    /// The whole report.
    Report = "runs/*/report";
    /// A comparison of two sides of runs.
    Compare = "compare";
    /// The runs of a script.
    History = "history";
}

/// A view with its run and parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Question {
    /// The requested view.
    pub view: View,
    /// The run as named in the path; empty if the path has none.
    pub run: String,
    /// The part of the run in the path, a trace; empty for the whole run.
    pub part: String,
    /// Parameters; the last of several with one name.
    pub query: BTreeMap<String, String>,
}

impl Question {
    /// Parses a path and a query; `None` if they are no question.
    pub fn parse(path: &str, query: &str) -> Option<Question> {
        let path = path.strip_prefix(ROOT)?;
        if query.len() > QUERY_BYTES_MAX {
            return None;
        }
        let (view, (run, part)) =
            View::ALL.iter().find_map(|view| Some((*view, matched(view.pattern(), path)?)))?;
        let query = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Some(Question { view, run: run.to_owned(), part: part.to_owned(), query })
    }

    /// Returns a question about a run.
    pub fn of_run(view: View, run: &str, query: &[(&str, &str)]) -> Question {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Question { view, run: run.to_owned(), part: String::new(), query: query.collect() }
    }

    /// Returns a question about a part of a run that has a path.
    pub fn of_part(view: View, run: &str, part: &str) -> Question {
        Question { part: part.to_owned(), ..Question::of_run(view, run, &[]) }
    }

    /// Returns true if a text can name a run here.
    pub fn names_run(text: &str) -> bool {
        is_run(text)
    }

    /// Returns a parameter; `None` if it is empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Returns the path with its parameters sorted by name.
    pub fn path(&self) -> String {
        let path = self.view.pattern().replacen('*', &self.run, 1).replacen('*', &self.part, 1);
        let path = format!("{ROOT}{path}");
        if self.query.is_empty() {
            return path;
        }
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        format!("{path}?{query}")
    }
}

/// Returns the segments at the stars of a pattern; empty for those that it lacks.
fn matched<'a>(pattern: &str, path: &'a str) -> Option<(&'a str, &'a str)> {
    let Some((before, after)) = pattern.split_once('*') else {
        return (pattern == path).then_some(("", ""));
    };
    let rest = path.strip_prefix(before)?;
    let (run, part) = match after.strip_suffix('*') {
        Some(between) => rest.split_once(between)?,
        None => (rest.strip_suffix(after)?, ""),
    };
    let is_part = after.ends_with('*') == is_part(part);
    (is_run(run) && is_part).then_some((run, part))
}

/// Returns true if a text can name a part of a run: a trace id.
fn is_part(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true if a text can name a run: an id, a prefix of one, or a word for the latest runs. Paths are refused, because a
/// client must not choose which files are read.
pub(crate) fn is_run(text: &str) -> bool {
    let is_id = (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id || text == "@last" || text == "@prev"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expect: Option<(View, &str)>) {
        let question = Question::parse(path, "");
        assert_eq!(question.as_ref().map(|it| (it.view, it.run.as_str())), expect, "{path}");
        if let Some(question) = question {
            assert_eq!(question.path(), path);
        }
    }

    #[test]
    fn paths_are_read() {
        check("/api/v1/runs", Some((View::Runs, "")));
        check("/api/v1/runs/ab12cd34", Some((View::Run, "ab12cd34")));
        check("/api/v1/runs/@last/series", Some((View::Series, "@last")));
        check("/api/v1/compare", Some((View::Compare, "")));
        check("/api/v1/runs/@last/traces", Some((View::Traces, "@last")));
        check("/api/v1/runs/ab12/traces/0123456789abcdef0123456789ABCDEF", Some((View::Trace, "ab12")));
        check("/api/v1/runs/ab12/traces/", None);
        check("/api/v1/runs/ab12/traces/0123", None);
        check("/api/v1/runs/ab12/traces/..%2f..%2f..%2f..%2f..%2fetc%2fpass", None);
        check("/api/v1/runs/", None);
        check("/api/v1/runs/ab12cd34/", None);
        check("/api/v1/runs/ab12cd34/nope", None);
        check("/api/v1/nope", None);
        check("/api/v2/runs", None);
    }

    #[test]
    fn no_path_of_a_file_names_a_run() {
        for run in ["..", "x.plimsoll", "a%2fb", "..%2f..%2fetc%2fpasswd", "@other", "ab12cd34ab12cd345"] {
            check(&format!("/api/v1/runs/{run}"), None);
            assert!(!is_run(run), "{run}");
        }
        assert!(!is_run("/etc/passwd") && !is_run(""));
    }

    #[test]
    fn queries_are_read_and_written_in_order() {
        let question =
            Question::parse("/api/v1/runs/@last/series", "to=9&tags=a%3Ab+c&from=").expect("a question");
        assert_eq!(
            (question.get("to"), question.get("tags"), question.get("from")),
            (Some("9"), Some("a:b c"), None)
        );
        assert_eq!(question.path(), "/api/v1/runs/@last/series?from=&tags=a%3Ab+c&to=9");
        assert_eq!(Question::parse("/api/v1/runs", &"x".repeat(5000)), None);
    }
}
