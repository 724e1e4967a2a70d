//! Converts two readings of a page to signals: levels unchanged, counters as rates.

use std::collections::{BTreeMap, HashMap};

use model::SignalName;

use super::exposition::{Page, Sample, SampleKind};
use crate::packs::{Measure, PACKS, Pack, Row, Selector};

/// Labels of a value.
pub(super) type Labels = BTreeMap<String, String>;

/// A value of a signal.
#[derive(Debug, PartialEq)]
pub(super) struct Value {
    pub(super) signal: SignalName,
    pub(super) unit: &'static str,
    pub(super) labels: Labels,
    /// Equivalent PromQL.
    pub(super) query: String,
    pub(super) value: f64,
}

/// The counters of the previous page.
#[derive(Debug)]
pub(super) struct Rates {
    packs: Vec<ReadyPack>,
    before: HashMap<String, HashMap<Labels, f64>>,
}

/// A pack with parsed selectors.
#[derive(Debug)]
struct ReadyPack {
    pack: &'static Pack,
    rows: Vec<(&'static Row, Vec<Selector>)>,
}

/// A reading, with increases of counters since the previous one.
struct Reading<'a> {
    page: &'a Page,
    by_name: HashMap<&'a str, Vec<usize>>,
    /// Increases by sample; `None` for a sample that is new.
    grown: Vec<Option<f64>>,
    elapsed_s: f64,
}

impl Rates {
    /// Returns the state before the first reading.
    pub(super) fn new() -> Rates {
        let ready = |pack: &'static Pack| ReadyPack {
            pack,
            rows: pack.rows.iter().filter_map(|row| Some((row, selectors(row)?))).collect(),
        };
        Rates { packs: PACKS.iter().map(ready).collect(), before: HashMap::new() }
    }

    /// Returns the packs that a page reveals.
    pub(super) fn packs_of(page: &Page) -> Vec<&'static str> {
        let has = |name: &str| page.samples.iter().any(|sample| sample.name == name);
        PACKS.iter().filter(|pack| pack.is_revealed_by(&has)).map(|pack| pack.name).collect()
    }

    /// Returns the values of this page, `elapsed_s` after the previous one. The first page has no rates.
    pub(super) fn read(&mut self, page: Page, elapsed_s: f64) -> Vec<Value> {
        let values = self.values(&page, elapsed_s);
        self.before.clear();
        for sample in page.samples {
            self.before.entry(sample.name).or_default().insert(sample.labels, sample.value);
        }
        values
    }

    fn values(&self, page: &Page, elapsed_s: f64) -> Vec<Value> {
        let reading = self.reading(page, elapsed_s);
        let mut values = Vec::new();
        let mut is_told = vec![false; page.samples.len()];
        let has = |name: &str| reading.by_name.contains_key(name);
        for ready in self.packs.iter().filter(|ready| ready.pack.is_revealed_by(&has)) {
            for (row, selectors) in &ready.rows {
                values.extend(reading.row(row, selectors));
                let evidence = selectors.iter().flat_map(|selector| reading.named(&selector.name));
                evidence.for_each(|place| is_told[*place] = true);
            }
        }
        let rest = (0..page.samples.len()).filter(|place| !is_told[*place]);
        values.extend(rest.filter_map(|place| reading.plain(place)));
        values
    }

    fn reading<'a>(&self, page: &'a Page, elapsed_s: f64) -> Reading<'a> {
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, sample) in page.samples.iter().enumerate() {
            by_name.entry(&sample.name).or_default().push(place);
        }
        let grown = |sample: &Sample| {
            let before = self.before.get(&sample.name)?.get(&sample.labels)?;
            // A counter that decreased restarted at zero, as Prometheus assumes.
            Some(if sample.value < *before { sample.value } else { sample.value - before })
        };
        Reading { page, by_name, grown: page.samples.iter().map(grown).collect(), elapsed_s }
    }
}

impl Reading<'_> {
    fn named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns the values of a pack's row.
    fn row(&self, row: &'static Row, selectors: &[Selector]) -> Vec<Value> {
        let level = |place: usize| Some(self.page.samples[place].value);
        let above_zero = |place: usize| level(place).filter(|value| *value > 0.0);
        let rate = |place: usize| Some(self.grown[place]? / self.elapsed_s).filter(|rate| rate.is_finite());
        let fold = |selector: usize, of: &dyn Fn(usize) -> Option<f64>, with: fn(f64, f64) -> f64| {
            self.fold(&selectors[selector], row.by, of, with)
        };
        let sum = |one: f64, other: f64| one + other;
        let values = match row.measure {
            Measure::Sum(_) => fold(0, &level, sum),
            Measure::Most(_) => fold(0, &level, f64::max),
            Measure::Count(_) => fold(0, &|_| Some(1.0), sum),
            Measure::Limit(_) => fold(0, &above_zero, f64::max),
            Measure::Limits(_) => fold(0, &above_zero, sum),
            Measure::Less(..) => joined(fold(0, &level, sum), &fold(1, &level, sum), |a, b| a - b),
            Measure::Quotient(..) => joined(fold(0, &level, sum), &fold(1, &level, sum), |a, b| a / b),
            Measure::Rate(_) => fold(0, &rate, sum),
            Measure::RateOfParts(_, parts) => fold(0, &|place| Some(rate(place)? / f64::from(parts)), sum),
            Measure::Ratio(..) => joined(fold(0, &rate, sum), &fold(1, &rate, sum), |a, b| a / b),
        };
        let values = values.into_iter().filter(|(_, value)| value.is_finite());
        values
            .map(|(labels, value)| {
                self.value(row.signal.into(), row.signal.unit(), labels, row.promql("$step", ""), value)
            })
            .collect()
    }

    /// Aggregates the series of a selector by the labels that are kept.
    fn fold(
        &self,
        selector: &Selector,
        by: &[&str],
        of: &dyn Fn(usize) -> Option<f64>,
        with: fn(f64, f64) -> f64,
    ) -> BTreeMap<Labels, f64> {
        let mut folded = BTreeMap::new();
        for place in self.named(&selector.name) {
            let sample = &self.page.samples[*place];
            let Some(value) = of(*place).filter(|_| selector.matches(&sample.labels)) else { continue };
            let kept =
                by.iter().filter_map(|label| Some(((*label).to_owned(), sample.labels.get(*label)?.clone())));
            folded.entry(kept.collect()).and_modify(|so_far| *so_far = with(*so_far, value)).or_insert(value);
        }
        folded
    }

    /// Returns the value of a sample that no pack covers.
    fn plain(&self, place: usize) -> Option<Value> {
        let sample = &self.page.samples[place];
        let (name, labels) = (sample.name.clone(), sample.labels.clone());
        let rate = || Some(self.grown[place]? / self.elapsed_s).filter(|rate| rate.is_finite());
        match self.page.part(sample) {
            SampleKind::Aside => None,
            SampleKind::Level => {
                Some(self.value(name.as_str().into(), unit_of(&name), labels, name, sample.value))
            }
            SampleKind::Counter | SampleKind::Count => {
                let query = format!("rate({name}[$step])");
                Some(self.value(name.into(), "/s", labels, query, rate()?))
            }
            SampleKind::Sum => {
                let metric = name.strip_suffix("_sum")?;
                let count = self.named(&format!("{metric}_count")).iter();
                let count = count.copied().find(|place| self.page.samples[*place].labels == sample.labels)?;
                let mean = self.grown[place]? / self.grown[count].filter(|count| *count > 0.0)?;
                let query = format!("rate({metric}_sum[$step]) / rate({metric}_count[$step])");
                Some(self.value(format!("{metric}_mean").into(), unit_of(metric), labels, query, mean))
            }
        }
    }

    fn value(
        &self,
        signal: SignalName,
        unit: &'static str,
        labels: Labels,
        query: String,
        value: f64,
    ) -> Value {
        Value { signal, unit, labels, query, value }
    }
}

fn selectors(row: &Row) -> Option<Vec<Selector>> {
    row.measure.selectors().into_iter().map(Selector::parse).collect()
}

fn joined(
    ones: BTreeMap<Labels, f64>,
    others: &BTreeMap<Labels, f64>,
    with: fn(f64, f64) -> f64,
) -> BTreeMap<Labels, f64> {
    let both = ones.into_iter().filter_map(|(labels, one)| {
        let other = *others.get(&labels)?;
        Some((labels, with(one, other)))
    });
    both.collect()
}

/// Returns the unit in a metric's name, by Prometheus' conventions.
fn unit_of(name: &str) -> &'static str {
    let units =
        [("_seconds", "s"), ("_milliseconds", "ms"), ("_bytes", "By"), ("_ratio", "1"), ("_percent", "%")];
    units.iter().find(|(suffix, _)| name.ends_with(suffix)).map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the values of the second page, two seconds after the first, as `signal{labels} value unit`.
    #[track_caller]
    fn check(first: &str, second: &str, expect: &[&str]) {
        let mut rates = Rates::new();
        rates.read(Page::parse(first), 0.0);
        let values = rates.read(Page::parse(second), 2.0);
        let shown = |value: &Value| {
            let labels: Vec<String> =
                value.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{}{{{}}} {} {}", value.signal, labels.join(","), value.value, value.unit)
        };
        let values: Vec<String> = values.iter().map(shown).collect();
        assert_eq!(values, expect);
    }

    #[test]
    fn counters_become_rates_and_levels_stay() {
        check("a_total 10\n", "a_total 14\n", &["a_total{} 2 /s"]);
        check("a_total 10\n", "a_total 4\n", &["a_total{} 2 /s"]);
        check("", "a_total 4\n", &[]);
        check("", "pool_size_bytes{pool=\"x\"} 4\n", &["pool_size_bytes{pool=x} 4 By"]);
    }

    #[test]
    fn histograms_become_a_rate_and_a_mean() {
        let page = |count, sum| {
            format!(
                "# TYPE t_seconds histogram\nt_seconds_bucket{{le=\"1\"}} 9\nt_seconds_sum {sum}\nt_seconds_count {count}\n"
            )
        };
        check(&page(2, 1.0), &page(6, 3.0), &["t_seconds_mean{} 0.5 s", "t_seconds_count{} 2 /s"]);
        check(&page(2, 1.0), &page(2, 1.0), &["t_seconds_count{} 0 /s"]);
    }

    #[test]
    fn packs_name_what_they_know() {
        let heap = "jvm_memory_used_bytes{area=\"heap\",id=\"eden\"} 3\njvm_memory_used_bytes{area=\"heap\",id=\"old\"} 4\n\
                    jvm_memory_used_bytes{area=\"nonheap\",id=\"x\"} 9\njvm_memory_max_bytes{area=\"heap\",id=\"eden\"} -1\n\
                    jvm_memory_max_bytes{area=\"heap\",id=\"old\"} 100\nother 1\n";
        check("", heap, &["jvm_heap{} 7 By", "jvm_heap_limit{} 100 By", "other{} 1 "]);
        let container = |throttled, all| {
            let labels = "container=\"app\",image=\"i\",namespace=\"n\",pod=\"p\"";
            format!(
                "container_cpu_usage_seconds_total{{{labels}}} 1\n\
                 container_cpu_usage_seconds_total{{namespace=\"n\",pod=\"p\"}} 1\n\
                 container_cpu_cfs_throttled_periods_total{{{labels}}} {throttled}\n\
                 container_cpu_cfs_periods_total{{{labels}}} {all}\n"
            )
        };
        check(
            &container(1, 10),
            &container(6, 30),
            &[
                "container_cpu{container=app,namespace=n,pod=p} 0 {cpu}",
                "container_throttled{container=app,namespace=n,pod=p} 0.25 1",
            ],
        );
    }
}
