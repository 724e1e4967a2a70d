//! Packs: known exporters, the metric that reveals each, and the queries for its signals.
//!
//! A row states a measure, not a query. A Prometheus is queried with PromQL and a metrics page is read directly, with the same
//! result.

use model::SignalId;

mod selector;
mod table;

pub(crate) use selector::Selector;
pub(crate) use table::PACKS;

/// An exporter that is recognised by a metric.
#[derive(Debug)]
pub(crate) struct Pack {
    /// Name in documents and checks.
    pub(crate) name: &'static str,
    /// The metric by which the exporter is recognised.
    pub(crate) reveals: &'static str,
    /// Signals. Rows of one signal are alternatives: the first one with data is used.
    pub(crate) rows: &'static [Row],
}

/// One signal of a pack.
#[derive(Debug)]
pub(crate) struct Row {
    /// The signal of the catalogue, which defines the unit.
    pub(crate) signal: SignalId,
    /// Measure.
    pub(crate) measure: Measure,
    /// Labels that are kept; the values are aggregated over all others.
    pub(crate) by: &'static [&'static str],
}

/// Measure of a signal; the texts are PromQL selectors.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Measure {
    /// Sum of values.
    Sum(&'static str),
    /// Maximum. For values that several exporters report alike, whose sum would count them twice.
    Most(&'static str),
    /// Number of series.
    Count(&'static str),
    /// Maximum of values above zero; zero and less mean that there is no limit.
    Limit(&'static str),
    /// Sum of values above zero; zero and less mean that a part has no limit of its own.
    Limits(&'static str),
    /// Difference.
    Less(&'static str, &'static str),
    /// Quotient.
    Quotient(&'static str, &'static str),
    /// Rate of counters.
    Rate(&'static str),
    /// Rate of counters of a part of the unit, of which so many are one: 1000 for milliseconds, as seconds per second.
    RateOfParts(&'static str, u32),
    /// Ratio of two counters' rates.
    Ratio(&'static str, &'static str),
}

impl Pack {
    /// Returns true if the metric that reveals the exporter is present.
    pub(crate) fn is_revealed_by(&self, has: &dyn Fn(&str) -> bool) -> bool {
        has(self.reveals)
    }
}

impl Row {
    /// Returns the query in PromQL. Rates are over `window`, and `also` narrows every selector.
    pub(crate) fn promql(&self, window: &str, also: &str) -> String {
        let by = self.by.join(", ");
        let part = |fold: &str, what: String| format!("{fold} by ({by}) ({what})");
        let sum = |text: &str| part("sum", narrowed(text, also));
        let rate = |text: &str| part("sum", format!("rate({}[{window}])", narrowed(text, also)));
        match self.measure {
            Measure::Sum(one) => sum(one),
            Measure::Most(one) => part("max", narrowed(one, also)),
            Measure::Count(one) => part("count", narrowed(one, also)),
            Measure::Limit(one) => part("max", format!("{} > 0", narrowed(one, also))),
            Measure::Limits(one) => part("sum", format!("{} > 0", narrowed(one, also))),
            Measure::Less(one, other) => format!("{} - {}", sum(one), sum(other)),
            Measure::Quotient(one, other) => format!("{} / {}", sum(one), sum(other)),
            Measure::Rate(one) => rate(one),
            Measure::RateOfParts(one, parts) => format!("{} / {parts}", rate(one)),
            Measure::Ratio(one, other) => format!("{} / {}", rate(one), rate(other)),
        }
    }

    /// Returns the metrics that the row needs.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &'static str> {
        self.measure.selectors().into_iter().map(name_of)
    }
}

impl Measure {
    /// Returns the selectors in order.
    pub(crate) fn selectors(self) -> Vec<&'static str> {
        match self {
            Measure::Sum(one) | Measure::Most(one) | Measure::Count(one) => vec![one],
            Measure::Limit(one) | Measure::Limits(one) => vec![one],
            Measure::Rate(one) | Measure::RateOfParts(one, _) => vec![one],
            Measure::Less(one, other) | Measure::Quotient(one, other) | Measure::Ratio(one, other) => {
                vec![one, other]
            }
        }
    }
}

/// Returns the metric of a selector.
fn name_of(selector: &'static str) -> &'static str {
    selector.split_once('{').map_or(selector, |(name, _)| name)
}

/// Adds a condition to a selector.
fn narrowed(selector: &str, also: &str) -> String {
    match selector.strip_suffix('}') {
        _ if also.is_empty() => selector.to_owned(),
        Some(open) => format!("{open},{also}}}"),
        None => format!("{selector}{{{also}}}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write;

    use super::*;

    #[track_caller]
    fn check(measure: Measure, also: &str, expect: &str) {
        let row = Row { signal: SignalId::Cpu, measure, by: &["pod", "container"] };
        assert_eq!(row.promql("60s", also), expect);
    }

    #[test]
    fn measures_become_promql() {
        check(Measure::Sum("a"), "", "sum by (pod, container) (a)");
        check(Measure::Limit("a{b!=\"\"}"), "", "max by (pod, container) (a{b!=\"\"} > 0)");
        check(Measure::Rate("a"), "n=\"shop\"", "sum by (pod, container) (rate(a{n=\"shop\"}[60s]))");
        check(Measure::RateOfParts("a", 1000), "", "sum by (pod, container) (rate(a[60s])) / 1000");
        check(
            Measure::Ratio("a{c!=\"\"}", "b"),
            "n=\"shop\"",
            "sum by (pod, container) (rate(a{c!=\"\",n=\"shop\"}[60s])) / sum by (pod, container) \
             (rate(b{n=\"shop\"}[60s]))",
        );
    }

    #[test]
    fn every_row_can_be_asked_for() {
        let mut packs = BTreeSet::new();
        for pack in PACKS {
            assert!(packs.insert(pack.name), "{} is there twice", pack.name);
            assert!(!pack.rows.is_empty(), "{}", pack.name);
            for row in pack.rows {
                let selectors = row.measure.selectors().into_iter().map(Selector::parse);
                let selectors: Option<Vec<Selector>> = selectors.collect();
                assert!(
                    selectors.is_some_and(|all| !all.is_empty()),
                    "{}: {}",
                    pack.name,
                    row.signal.as_str()
                );
            }
        }
    }

    /// Pods have a cgroup of their own, which contains those of their containers: a sum would count them twice (a recorded sum was
    /// 1.8 cores under a limit of one).
    #[test]
    fn control_groups_are_never_counted_twice() {
        let selectors = PACKS.iter().flat_map(|pack| pack.rows).flat_map(|row| row.measure.selectors());
        for selector in selectors.filter(|selector| selector.starts_with("container_")) {
            assert!(selector.contains("container!=\"\"") && selector.contains("image!=\"\""), "{selector}");
        }
    }

    #[test]
    fn the_guide_shows_the_table() {
        let mut table = String::new();
        for pack in PACKS {
            let _ = writeln!(table, "\n### {}\n\nDetected by `{}`.\n", pack.name, pack.reveals);
            table.push_str("| Signal | Unit | PromQL |\n|---|---|---|\n");
            for row in pack.rows {
                let (signal, unit) = (row.signal.as_str(), row.signal.unit());
                let unit = if unit.is_empty() { String::new() } else { format!("`{unit}`") };
                let promql = row.promql("$window", "").replace('|', "\\|");
                let _ = writeln!(table, "| `{signal}` | {unit} | `{promql}` |");
            }
        }
        let guide = include_str!("../../../../docs/guide/prometheus.md");
        assert!(guide.contains(&table), "docs/guide/prometheus.md must hold this:\n{table}");
    }
}
