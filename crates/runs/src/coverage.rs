//! Checks that the segments of a test cover it exactly once.

use plan::segment::Fraction;

/// The end of the whole test.
const END: Fraction = (1, 1);

/// Returns one sentence for each gap or overlap of the segments. Runs of whole tests have no segment and no flaw.
pub fn coverage_flaws<'a>(segments: impl Iterator<Item = &'a str>) -> Vec<String> {
    let parsed = segments.filter(|segment| !segment.is_empty()).map(plan::parse_segment);
    // The text comes from a file; an invalid segment is skipped, since it proves nothing about the others.
    let mut parsed: Vec<(Fraction, Fraction)> = parsed.filter_map(Result::ok).collect();
    if parsed.is_empty() {
        return Vec::new();
    }
    parsed.sort_by(|a, b| order(a.0, b.0).then(order(a.1, b.1)));
    parsed.push((END, END));
    let mut flaws = Vec::new();
    let mut covered = (0, 1);
    for (from, to) in parsed {
        if order(covered, from).is_lt() {
            flaws.push(format!(
                "the execution segment {} is missing: the merged run lacks it",
                interval(covered, from)
            ));
        }
        let twice_to = if order(to, covered).is_lt() { to } else { covered };
        if order(from, twice_to).is_lt() {
            flaws.push(format!(
                "the execution segment {} is there more than once: the merged run counts each",
                interval(from, twice_to)
            ));
        }
        if order(covered, to).is_lt() {
            covered = to;
        }
    }
    flaws
}

fn order(a: Fraction, b: Fraction) -> std::cmp::Ordering {
    (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
}

fn interval(from: Fraction, to: Fraction) -> String {
    let bound =
        |(over, under): Fraction| if under == 1 { over.to_string() } else { format!("{over}/{under}") };
    format!("{}:{}", bound(from), bound(to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(segments: &[&str], expect: &[&str]) {
        let flaws = coverage_flaws(segments.iter().copied());
        let short: Vec<String> =
            flaws.iter().map(|flaw| flaw.replace("the execution segment ", "")).collect();
        assert_eq!(short.len(), expect.len(), "{short:?}");
        for (flaw, expect) in short.iter().zip(expect) {
            assert!(flaw.starts_with(expect), "{flaw} for {segments:?}");
        }
    }

    #[test]
    fn gaps_and_overlaps_are_told() {
        check(&["", ""], &[]);
        check(&["2/3:1", "0:1/3", "1/3:2/3"], &[]);
        check(&["0:1/3", "2/3:1"], &["1/3:2/3 is missing"]);
        check(&["1/3:2/3"], &["0:1/3 is missing", "2/3:1 is missing"]);
        check(&["0:1/2", "0:1/2", "1/2:1"], &["0:1/2 is there more than once"]);
        check(&["0:2/3", "1/3:1"], &["1/3:2/3 is there more than once"]);
        check(&["0:1", "1/4:1/2"], &["1/4:1/2 is there more than once"]);
        check(&["0:1/2", "nonsense"], &["1/2:1 is missing"]);
    }
}
