//! Required and aimed figures, as data.

use super::stats::Estimate;

/// Which side of a bar is good.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    AtLeast,
    AtMost,
}

/// A figure that must reach a bar. The bound of the estimate counts, not the estimate.
#[derive(Clone, Copy, Debug)]
struct Bar {
    name: &'static str,
    side: Side,
    required: f64,
    aim: f64,
    unit: &'static str,
}

const BARS: &[Bar] = &[
    at_least("k6, 100 VUs", 6.0, 10.0, "×"),
    at_least("k6, 1000 VUs", 3.5, 6.0, "×"),
    at_least("k6, TLS", 4.5, 6.0, "×"),
    at_least("k6, gRPC", 5.0, 6.0, "×"),
    at_least("wrk, 100 VUs", 0.6, 0.85, "×"),
    at_most("memory, small script", 150.0, 110.0, "KB"),
    at_most("memory, big script", 1300.0, 600.0, "KB"),
    at_most("ready, 10,000 VUs", 10.0, 10.0, "s"),
    at_most("ready, 10,000 big VUs", 30.0, 30.0, "s"),
    at_most("memory growth, minute 1 to 10", 2048.0, 2048.0, "KB"),
    at_most("lateness p99 at half load", 1.0, 1.0, "ms"),
    at_most("error of p95 beside a VU that computes", 0.5, 0.1, "ms"),
    at_most("error of p99 beside a VU that computes", 0.5, 0.1, "ms"),
    at_most("two workers against one", 1.1, 1.1, "×"),
    at_most("stored against not stored", 1.05, 1.05, "×"),
    at_most("all sources against none", 1.053, 1.02, "×"),
    at_most("page's first paint", 300.0, 150.0, "ms"),
    at_most("page opens an hour of 500 series", 1000.0, 500.0, "ms"),
    at_most("page zooms", 100.0, 50.0, "ms"),
    at_most("page zooms into most of an hour", 100.0, 50.0, "ms"),
    at_most("page's heap, half an hour later", 1.5, 0.5, "MB"),
    at_most("page left open, of the generator's core", 1.0, 0.5, "%"),
];

const fn at_least(name: &'static str, required: f64, aim: f64, unit: &'static str) -> Bar {
    Bar { name, side: Side::AtLeast, required, aim, unit }
}

const fn at_most(name: &'static str, required: f64, aim: f64, unit: &'static str) -> Bar {
    Bar { name, side: Side::AtMost, required, aim, unit }
}

/// A figure beside its bar.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    /// Whether the required bar is reached.
    pub(super) passed: bool,
    /// The verdict in one line.
    pub(super) line: String,
}

/// Compares the estimate's bound on the bad side with the bar of this name.
///
/// # Panics
/// There is no bar of this name: a bug in the case.
pub(super) fn judge(name: &str, found: Estimate) -> Verdict {
    let bar = BARS.iter().find(|bar| bar.name == name).unwrap_or_else(|| panic!("no bar is called {name:?}"));
    let (bound, word) = match bar.side {
        Side::AtLeast => (found.lower, "at least"),
        Side::AtMost => (found.upper, "at most"),
    };
    let reaches = |limit: f64| match bar.side {
        Side::AtLeast => bound >= limit,
        Side::AtMost => bound <= limit,
    };
    let passed = reaches(bar.required);
    let word_found = if reaches(bar.aim) {
        "pass, aim reached"
    } else if passed {
        "pass"
    } else {
        "MISS"
    };
    let (required, aim, unit) = (bar.required, bar.aim, bar.unit);
    let line = format!(
        "**{word_found}**: {name}: {:.2} {unit}, with 95 % confidence {word} {bound:.2} {unit}; required {required} {unit}, aim {aim} {unit}",
        found.mean
    );
    Verdict { passed, line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_counts() {
        let check = |name: &str, mean: f64, lower: f64, upper: f64, expect: bool| {
            let verdict = judge(name, Estimate { mean, lower, upper });
            assert_eq!(verdict.passed, expect, "{}", verdict.line);
        };
        check("k6, 100 VUs", 7.0, 6.0, 8.0, true);
        check("k6, 100 VUs", 7.0, 5.9, 8.0, false);
        check("memory, small script", 140.0, 130.0, 150.0, true);
        check("memory, small script", 140.0, 130.0, 151.0, false);
    }
}
