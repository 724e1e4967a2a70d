//! Compares k6's behaviour with Plimsoll's, given lists of intentional differences and of known defects.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

/// One difference.
#[derive(Debug)]
pub(crate) struct Difference {
    /// Path of the value: `exit`, `console/3`, `samples/http_reqs{…}`.
    pub(crate) path: String,
    /// k6's value; null if absent.
    pub(crate) k6: Value,
    /// Plimsoll's value; null if absent.
    pub(crate) ours: Value,
    /// The entry that expects the difference.
    pub(crate) known: Option<usize>,
}

/// The expected differences.
#[derive(Debug)]
pub(crate) struct Known {
    own_metrics: Vec<String>,
    entries: Vec<Entry>,
}

/// An expected difference. In `case` and `path`, `*` matches anything.
#[derive(Debug)]
struct Entry {
    case: String,
    path: String,
    /// Plimsoll's value; any value if absent.
    ours: Option<Value>,
    /// Whether the difference is intentional; otherwise it is a known defect.
    is_meant: bool,
}

/// Reads a JSON file.
pub(crate) fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Known {
    /// Reads `differences.json`; no difference is expected if k6 itself is run.
    pub(crate) fn read(path: &Path, as_k6: bool) -> Known {
        let all = read(path);
        let own_metrics = list(&all["own_metrics"]).iter().map(text).collect();
        let of = |key: &str, is_meant| list(&all[key]).iter().map(move |entry| Entry::read(entry, is_meant));
        // Intentional differences match before known defects.
        let entries = of("differences", true).chain(of("repairs", false)).collect();
        Known { own_metrics, entries: if as_k6 { Vec::new() } else { entries } }
    }

    /// Returns every difference of a case, with the entry that expects it.
    pub(crate) fn differences(&self, case: &str, k6: &Value, ours: &Value) -> Vec<Difference> {
        let mut differences = Vec::new();
        collect("", k6, ours, &mut differences);
        differences.retain(|difference| !self.is_our_own(difference) && !is_further_warning(difference));
        for difference in &mut differences {
            difference.known = self.entries.iter().position(|entry| entry.expects(case, difference));
        }
        differences
    }

    /// Returns true if some of the differences are known defects.
    pub(crate) fn waits(&self, differences: &[Difference]) -> bool {
        differences.iter().any(|difference| difference.known.is_some_and(|at| !self.entries[at].is_meant))
    }

    /// Returns the entries about the executed cases that matched no difference.
    pub(crate) fn vanished<'a>(
        &self,
        cases: impl Iterator<Item = &'a str>,
        outcomes: &[Result<Vec<Difference>, String>],
    ) -> Vec<String> {
        let used: BTreeSet<usize> =
            outcomes.iter().flatten().flatten().filter_map(|difference| difference.known).collect();
        let cases: Vec<&str> = cases.collect();
        let ran = |entry: &Entry| cases.iter().any(|case| matches(&entry.case, case));
        let unused = self.entries.iter().enumerate().filter(|(at, entry)| !used.contains(at) && ran(entry));
        unused.map(|(_, entry)| format!("{} {}", entry.case, entry.path)).collect()
    }

    /// Returns true for metrics that k6 does not have.
    fn is_our_own(&self, difference: &Difference) -> bool {
        let series = difference.path.strip_prefix("samples/").unwrap_or_default();
        let metric = series.split('{').next().unwrap_or_default();
        difference.k6.is_null() && self.own_metrics.iter().any(|name| name == metric)
    }
}

/// Returns true for additional warnings, which are allowed.
fn is_further_warning(difference: &Difference) -> bool {
    difference.path == "warned" && difference.ours == Value::Bool(true)
}

impl Entry {
    fn read(value: &Value, is_meant: bool) -> Entry {
        assert!(value["reason"].is_string(), "a difference has no reason: {value}");
        let (case, path) = (text(&value["case"]), text(&value["path"]));
        Entry { case, path, ours: value.get("ours").cloned(), is_meant }
    }

    fn expects(&self, case: &str, difference: &Difference) -> bool {
        matches(&self.case, case)
            && matches(&self.path, &difference.path)
            && self.ours.as_ref().is_none_or(|ours| *ours == difference.ours)
    }
}

fn collect(path: &str, k6: &Value, ours: &Value, differences: &mut Vec<Difference>) {
    if k6 == ours {
        return;
    }
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}/{key}") };
    match (k6, ours) {
        // The values of a sample are compared as one.
        (Value::Object(left), Value::Object(right)) if path.matches('/').count() < 1 => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let of = |side: &serde_json::Map<String, Value>| side.get(key).cloned().unwrap_or_default();
                collect(&below(key), &of(left), &of(right), differences);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (k6, ours)) in left.iter().zip(right).enumerate() {
                collect(&below(&at.to_string()), k6, ours, differences);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for (sign, line) in changes(left, right) {
                let place = below(&format!("{sign} {}", text(line)));
                let (k6, ours) =
                    if sign == '-' { (line.clone(), Value::Null) } else { (Value::Null, line.clone()) };
                differences.push(Difference { path: place, k6, ours, known: None });
            }
        }
        _ => differences.push(Difference {
            path: path.to_owned(),
            k6: k6.clone(),
            ours: ours.clone(),
            known: None,
        }),
    }
}

/// Returns the line changes: `-` for lines that only k6 has, `+` for lines that only Plimsoll has.
fn changes<'a>(k6: &'a [Value], ours: &'a [Value]) -> Vec<(char, &'a Value)> {
    // Length of the longest common subsequence of the rests from each pair of positions.
    let mut common = vec![vec![0_usize; ours.len() + 1]; k6.len() + 1];
    for (at, line) in k6.iter().enumerate().rev() {
        for (other_at, other) in ours.iter().enumerate().rev() {
            common[at][other_at] = if line == other {
                common[at + 1][other_at + 1] + 1
            } else {
                common[at + 1][other_at].max(common[at][other_at + 1])
            };
        }
    }
    let (mut at, mut other_at) = (0, 0);
    let mut changes = Vec::new();
    while at < k6.len() || other_at < ours.len() {
        if at < k6.len() && other_at < ours.len() && k6[at] == ours[other_at] {
            (at, other_at) = (at + 1, other_at + 1);
        } else if at < k6.len()
            && (other_at == ours.len() || common[at + 1][other_at] >= common[at][other_at + 1])
        {
            changes.push(('-', &k6[at]));
            at += 1;
        } else {
            changes.push(('+', &ours[other_at]));
            other_at += 1;
        }
    }
    changes
}

/// Returns true if a text contains the pattern's parts between `*` in order.
fn matches(pattern: &str, subject: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == subject };
    let Some(rest) = subject.strip_prefix(head) else { return false };
    tail.is_empty() || rest.char_indices().any(|(at, _)| matches(tail, &rest[at..])) || matches(tail, "")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn patterns_match() {
    for (pattern, subject, expect) in [
        ("a", "a", true),
        ("a", "ab", false),
        ("a*", "ab", true),
        ("*b", "ab", true),
        ("a*c*e", "abcde", true),
        ("a*c*e", "abde", false),
        ("*", "", true),
        ("a*b", "a", false),
    ] {
        assert_eq!(matches(pattern, subject), expect, "{pattern} {subject}");
    }
}

#[test]
fn differences_are_found_and_expected() {
    let known = Known {
        own_metrics: vec!["mine".into()],
        entries: vec![Entry {
            case: "c*".into(),
            path: "exit".into(),
            ours: Some(107.into()),
            is_meant: true,
        }],
    };
    let k6 = serde_json::json!({"exit": 0, "console": ["a", "b"], "samples": {"x{}": {"count": 1}}, "warned": false});
    let ours = serde_json::json!({"exit": 107, "console": ["a"], "samples": {"x{}": {"count": 2}, "mine{}": {}}, "warned": true});
    let found = known.differences("case", &k6, &ours);
    let paths: Vec<_> = found.iter().map(|difference| (difference.path.as_str(), difference.known)).collect();
    assert_eq!(paths, [("console/- b", None), ("exit", Some(0)), ("samples/x{}", None)]);
    assert_eq!(known.vanished(["case"].into_iter(), &[Ok(found)]), Vec::<String>::new());
    assert_eq!(known.vanished(["case"].into_iter(), &[Ok(vec![])]), ["c* exit"]);
}
