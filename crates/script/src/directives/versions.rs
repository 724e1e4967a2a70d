//! Constraints on versions (`>=1.2 <3 || ^5.x`), as Masterminds' semver documents them, which k6 reads them with.

/// A constraint as k6 writes it, however its comparisons were parted: `>1, <3` is `>1 <3`, and `1.0 - 2.0` is
/// `>=1.0 <=2.0`. `None` where it is none.
pub(super) fn canonical(text: &str) -> Option<String> {
    let written = |all: Vec<Comparison<'_>>| {
        let texts: Vec<String> = all.iter().map(|one| format!("{}{}", one.operator, one.version)).collect();
        texts.join(" ")
    };
    Some(alternatives(text)?.into_iter().map(written).collect::<Vec<_>>().join(" || "))
}

/// Whether a version (`2.3.0`) is one that a constraint of [`Asked`](super::Asked) lets be.
pub fn is_met(constraint: &str, version: &str) -> bool {
    let Some(Comparison { low: version, .. }) = Comparison::new("", version) else { return false };
    let alternatives = alternatives(constraint).unwrap_or_default();
    alternatives.iter().any(|all| all.iter().all(|comparison| comparison.holds(version)))
}

/// Comparisons of which all of one list must hold.
fn alternatives(text: &str) -> Option<Vec<Vec<Comparison<'_>>>> {
    text.split("||").map(comparisons).collect()
}

fn comparisons(text: &str) -> Option<Vec<Comparison<'_>>> {
    let mut all = Vec::new();
    let mut rest = text.trim();
    loop {
        let (operator, version, after) = word(rest)?;
        match after.strip_prefix("- ") {
            Some(end) if operator.is_empty() => {
                let (operator, last, after) = word(end)?;
                if !operator.is_empty() {
                    return None;
                }
                all.extend([Comparison::new(">=", version)?, Comparison::new("<=", last)?]);
                rest = after;
            }
            _ => {
                all.push(Comparison::new(operator, version)?);
                rest = after;
            }
        }
        if rest.is_empty() {
            return Some(all);
        }
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

/// An operator, the version behind it, and what follows them.
fn word(text: &str) -> Option<(&str, &str, &str)> {
    let (operator, rest) = text.split_at(text.find(|it| !"<>=!~^".contains(it))?);
    let rest = rest.trim_start();
    let end = rest.find(|it: char| it.is_whitespace() || it == ',').unwrap_or(rest.len());
    Some((operator, &rest[..end], rest[end..].trim_start()))
}

/// A version for comparing: its three numbers, and 0 for what comes before its release (`-rc.1`), 1 for the release.
type Point = [u64; 4];

const END: Point = [u64::MAX; 4];

/// An operator, and the versions that the text behind it names: from `low` to below `high`. `1.2` names all of 1.2.
struct Comparison<'a> {
    operator: &'a str,
    version: &'a str,
    low: Point,
    high: Point,
}

impl<'a> Comparison<'a> {
    fn new(operator: &'a str, version: &'a str) -> Option<Comparison<'a>> {
        if !["", "=", "!=", ">", ">=", "=>", "<", "<=", "=<", "~", "~>", "^"].contains(&operator) {
            return None;
        }
        let text = version.strip_prefix('v').unwrap_or(version);
        let core = text.split(['-', '+']).next().unwrap_or_default();
        let label = &text[core.len()..];
        let numbers = core.split('.').map(number).collect::<Option<Vec<_>>>()?;
        if numbers.len() > 3 || !is_label(label) {
            return None;
        }
        let given: Vec<u64> = numbers.into_iter().map_while(|it| it).collect();
        let mut low: Point = [0; 4];
        low[..given.len()].copy_from_slice(&given);
        let is_whole = given.len() == 3;
        low[3] = u64::from(is_whole && !label.starts_with('-'));
        let last = given.len().checked_sub(1);
        let place = match operator {
            "~" | "~>" => last.map(|last| last.min(1)),
            "^" => given.iter().position(|it| *it > 0).or(last),
            _ if is_whole => Some(3),
            _ => last,
        };
        Some(Comparison { operator, version, low, high: place.map_or(END, |place| after(low, place)) })
    }

    fn holds(&self, version: Point) -> bool {
        match self.operator {
            "!=" => version < self.low || self.high <= version,
            ">" => version >= self.high,
            ">=" | "=>" => version >= self.low,
            "<" => version < self.low,
            "<=" | "=<" => version < self.high,
            _ => self.low <= version && version < self.high,
        }
    }
}

/// A number of a version; none inside where any will do.
fn number(part: &str) -> Option<Option<u64>> {
    match part {
        "*" | "x" | "X" => Some(None),
        _ if part.bytes().all(|it| it.is_ascii_digit()) => part.parse().ok().map(Some),
        _ => None,
    }
}

/// Whether this may follow a version's numbers: nothing, `-rc.1`, `+build`.
fn is_label(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.'))
    };
    let text = match text.split_once('+') {
        Some((_, build)) if !is_part(build) => return false,
        Some((before, _)) => before,
        None => text,
    };
    text.strip_prefix('-').map_or(text.is_empty(), is_part)
}

/// The first version after all that have the numbers of this one up to a place.
fn after(version: Point, place: usize) -> Point {
    let mut after: Point = [0; 4];
    after[..=place].copy_from_slice(&version[..=place]);
    after[place] = after[place].saturating_add(1);
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `k6 deps` of v2.2 for the same texts.
    #[test]
    fn constraints_are_read_as_k6_reads_them() {
        let check = |text: &str, expect: &str| assert_eq!(canonical(text).as_deref(), Some(expect), "{text}");
        check("> 1, < 3 || ^5.x", ">1 <3 || ^5.x");
        check("^ 2 , > 1", "^2 >1");
        check(">= 1.0 <3", ">=1.0 <3");
        check("1.0 - 2.0 || 3", ">=1.0 <=2.0 || 3");
        check("9 - 10 <10", ">=9 <=10 <10");
        check("  >= v1.2.3-rc.1+b , x", ">=v1.2.3-rc.1+b x");
        check("1.0-3.0", "1.0-3.0");
        check("01.2", "01.2");
        check("x.1", "x.1");
        check("=>2 =<3 ~>4", "=>2 =<3 ~>4");
    }

    #[test]
    fn what_is_no_constraint_is_none() {
        for text in [
            "",
            ">=",
            "latest",
            "==2.2",
            "! 2",
            "<>1",
            "> = 1",
            "1.0 -3.0",
            ">=1.0<3.0",
            ">=9 - 10",
            "9 - >10",
            "9 -",
            ">=10||",
            "||>=10",
            ">=10,,<11",
            ">=10,",
            ",>=10",
            "2.2.0.1",
            "1..2",
            "9.1.2-",
            "9.1.2-a_b",
            "9.1.2+",
            ">=99999999999999999999",
            "1.é",
            "é - é",
        ] {
            assert_eq!(canonical(text), None, "{text}");
        }
    }

    #[track_caller]
    fn check(constraint: &str, met: &[&str], unmet: &[&str]) {
        for version in met {
            assert!(is_met(constraint, version), "{version} should meet {constraint}");
        }
        for version in unmet {
            assert!(!is_met(constraint, version), "{version} should not meet {constraint}");
        }
    }

    /// The examples of the documentation of Masterminds' semver, and what k6 v2.2 ran.
    #[test]
    fn versions_meet_constraints() {
        check("*", &["0.0.1", "2.3.0"], &[]);
        check("2.*.1", &["2.2.0"], &["3.0.0"]);
        check(">=9", &["9.0.0", "10.1.0"], &["8.9.9", "2.3.0"]);
        check(">=1.2.x", &["1.2.0", "1.3.0"], &["1.1.9"]);
        check("<=2.x", &["2.9.9", "1.0.0"], &["3.0.0"]);
        check(">1.2", &["1.3.0"], &["1.2.9"]);
        check(">1.2.3", &["1.2.4"], &["1.2.3"]);
        check("<2.3", &["2.2.9"], &["2.3.0"]);
        check("2.3", &["2.3.0", "2.3.9"], &["2.4.0", "2.2.9"]);
        check("=2.3.0", &["2.3.0"], &["2.3.1"]);
        check("!=2.3", &["2.4.0"], &["2.3.0", "2.3.7"]);
        check("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0", "1.2.2"]);
        check("~1", &["1.9.0"], &["2.0.0"]);
        check("~> 2.3", &["2.3.5"], &["2.4.0"]);
        check("^1.2.3", &["1.9.0"], &["2.0.0", "1.2.2"]);
        check("^0.2.3", &["0.2.9"], &["0.3.0"]);
        check("^0.0.3", &["0.0.3"], &["0.0.4"]);
        check("^0.0", &["0.0.9"], &["0.1.0"]);
        check("^0", &["0.9.0"], &["1.0.0"]);
        check(">1 <3 || ^5.x", &["2.0.0", "5.1.0"], &["1.0.0", "1.5.0", "3.0.0", "6.0.0"]);
        check("1.0 - 3.0", &["1.0.0", "2.2.0", "3.0.9"], &["3.1.0"]);
        check("1.0-3.0", &[], &["2.2.0"]);
        check("v2.3.0", &["2.3.0"], &["2.3.1"]);
        check(">2.3.0-rc.1", &["2.3.0"], &["2.2.9"]);
        check("<=2.3.0-rc.1", &["2.2.9"], &["2.3.0"]);
        check(">=2.3.0+build", &["2.3.0"], &["2.2.9"]);
        check("nonsense", &[], &["2.3.0"]);
    }
}
