//! The condition that a malformed one most likely stands for: `p(95)<500` for `p95 < 500ms`.

use model::MetricKind;

use super::{AGGREGATIONS, Comparison, allowed, nearest, parse_condition};
use crate::Stat;

/// Words for aggregations in other tools.
const SYNONYMS: [(&str, &str); 6] = [
    ("average", "avg"),
    ("mean", "avg"),
    ("maximum", "max"),
    ("minimum", "min"),
    ("median", "med"),
    ("percentile", "p(95)"),
];

/// Operators that k6 does not have, longest first.
const OPERATORS: [(&str, &str); 5] = [("=<", "<="), ("=>", ">="), ("!==", "!="), ("<>", "!="), ("=", "==")];

/// Units that people write behind a limit, with the factor to the unit of thresholds: milliseconds, shares, bytes. Longest first.
const UNITS: [(&str, f64); 14] = [
    ("milliseconds", 1.0),
    ("seconds", 1e3),
    ("msec", 1.0),
    ("min", 6e4),
    ("sec", 1e3),
    ("kb", 1e3),
    ("mb", 1e6),
    ("ms", 1.0),
    ("us", 1e-3),
    ("%", 1e-2),
    ("h", 36e5),
    ("m", 6e4),
    ("s", 1e3),
    ("b", 1.0),
];

/// Returns the well-formed condition that a malformed one most likely stands for.
pub(super) fn meant(source: &str) -> Option<String> {
    let at = source.find(['<', '>', '=', '!'])?;
    let (word, rest) = source.split_at(at);
    let (operator, number) = operator(rest)?;
    let condition = format!("{}{operator}{}", aggregation(word.trim())?, limit(number.trim())?);
    (condition != source && parse_condition(&condition).is_ok()).then_some(condition)
}

/// Returns a condition that kinds with a single aggregation have, for one with another aggregation.
pub(super) fn meant_of_kind(source: &str, kind: MetricKind) -> Option<String> {
    let [only] = Stat::names_in_thresholds(kind) else { return None };
    let rest = &source[source.find(['<', '>', '=', '!'])?..];
    let condition = format!("{only}{}", rest.trim());
    let (stat, _, limit) = parse_condition(&condition).ok()?;
    // A limit of 500 was meant as a time, and no share is above 1.
    let is_possible = kind != MetricKind::Rate || (0.0..=1.0).contains(&limit);
    (is_possible && allowed(stat, kind)).then_some(condition)
}

/// Returns the comparison in k6's spelling, and what follows it.
fn operator(rest: &str) -> Option<(&str, &str)> {
    if let Some((wrong, right)) = OPERATORS.iter().find(|(wrong, _)| rest.starts_with(wrong))
        && !rest.starts_with("==")
    {
        return Some((right, &rest[wrong.len()..]));
    }
    let (written, _) = Comparison::WRITTEN.iter().find(|(written, _)| rest.starts_with(written))?;
    Some((written, &rest[written.len()..]))
}

fn aggregation(word: &str) -> Option<String> {
    if Stat::parse(word).is_some() {
        return Some(word.to_owned());
    }
    let lower = word.to_ascii_lowercase();
    if let Some((_, name)) = SYNONYMS.iter().find(|(synonym, _)| *synonym == lower) {
        return Some((*name).to_owned());
    }
    // p95, P(95), p95%, 95th, p(95
    let number = lower.trim_start_matches('p').trim_end_matches("th");
    let number = number.trim_matches(['(', ')', '%', ' ', '_', '-']);
    let quantile = format!("p({number})");
    if Stat::parse(&quantile).is_some() {
        return Some(quantile);
    }
    nearest(word, AGGREGATIONS.iter().copied())
}

/// Returns a limit without its unit.
fn limit(text: &str) -> Option<String> {
    let plain = text.replace('_', "");
    if plain.parse::<f64>().is_ok() {
        return Some(plain);
    }
    let lower = plain.to_ascii_lowercase();
    let (unit, factor) = UNITS.iter().find(|(unit, _)| lower.ends_with(unit))?;
    let number = lower[..lower.len() - unit.len()].trim().parse::<f64>().ok()?;
    // Products such as 0.29 × 100 have digits that nobody wrote.
    let scaled = format!("{:.9}", number * factor);
    Some(scaled.trim_end_matches('0').trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_repaired() {
        for (source, expect) in [
            ("p(95)<500ms", Some("p(95)<500")),
            ("p(95) < 500 ms", Some("p(95)<500")),
            ("avg<1.5s", Some("avg<1500")),
            ("max<2m", Some("max<120000")),
            ("med<300us", Some("med<0.3")),
            ("rate<1%", Some("rate<0.01")),
            ("rate<29%", Some("rate<0.29")),
            ("p95<500", Some("p(95)<500")),
            ("P(95)<500", Some("p(95)<500")),
            ("p99.9<=500", Some("p(99.9)<=500")),
            ("95th<500", Some("p(95)<500")),
            ("mean<500", Some("avg<500")),
            ("median<500", Some("med<500")),
            ("cuont>5", Some("count>5")),
            ("avg=<5", Some("avg<=5")),
            ("avg=>5", Some("avg>=5")),
            ("avg=5", Some("avg==5")),
            ("avg!==5", Some("avg!=5")),
            ("p(95)<500", None),
            ("count>x", None),
            ("avg<6 && min<3", None),
            ("p(101)<5", None),
            ("avg", None),
            ("", None),
            ("<5", None),
            ("é<1", None),
            ("avg<1é", None),
        ] {
            assert_eq!(meant(source).as_deref(), expect, "{source:?}");
        }
    }

    #[test]
    fn a_kind_with_one_aggregation_names_it() {
        for (source, kind, expect) in [
            ("p(95)<0.1", MetricKind::Rate, Some("rate<0.1")),
            ("avg <= 0.5", MetricKind::Rate, Some("rate<= 0.5")),
            ("p(95)<500", MetricKind::Rate, None),
            ("avg<5", MetricKind::Gauge, Some("value<5")),
            ("avg<5", MetricKind::Counter, None),
        ] {
            assert_eq!(meant_of_kind(source, kind).as_deref(), expect, "{source:?}");
        }
    }
}
