//! Running totals of every series since the run began, for exports whose receivers expect those.
//!
//! Running totals heal: where one message is lost, the next one carries everything that it said.

use std::collections::HashMap;
use std::sync::Arc;

use model::{Aggregate, Metric, MetricId, MetricRegistry, SeriesKey, TagInterner, TagSet, Window};

/// Names and values in the order of their names.
pub(crate) type Labels = Arc<[(String, String)]>;

/// How the tags of a series are written by an export.
pub(crate) type Labeling = Box<dyn Fn(&TagSet) -> Labels + Send>;

/// The running totals of all series.
///
/// Series whose tags are written alike are one series here: receivers refuse two values of one series at one time. There are
/// never more than the run itself keeps, whose limit is [`model::tags::TAG_SETS_MAX`].
pub(crate) struct Totals {
    metrics: Arc<MetricRegistry>,
    tags: Arc<TagInterner>,
    labeling: Labeling,
    /// Where a series of the run is in `totals`.
    places: HashMap<SeriesKey, usize>,
    by_labels: HashMap<(MetricId, Labels), usize>,
    totals: Vec<Total>,
}

/// The running total of one series.
pub(crate) struct Total {
    /// Its metric.
    pub(crate) metric: Metric,
    /// Its tags, as they are written.
    pub(crate) labels: Labels,
    /// The sum of its samples so far.
    pub(crate) sum: Aggregate,
    has_changed: bool,
}

impl Totals {
    /// Nothing yet.
    pub(crate) fn new(metrics: Arc<MetricRegistry>, tags: Arc<TagInterner>, labeling: Labeling) -> Totals {
        let (places, by_labels) = Default::default();
        Totals { metrics, tags, labeling, places, by_labels, totals: Vec::new() }
    }

    /// Adds a second of the run.
    pub(crate) fn add(&mut self, window: &Window) {
        for (key, aggregate) in &window.series {
            let place = self.place(*key);
            let total = &mut self.totals[place];
            total.sum.merge(aggregate);
            total.has_changed = true;
        }
    }

    /// Every series, in the order in which they first came.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Total> {
        self.totals.iter()
    }

    /// The series that had samples since the last [`Totals::pushed`].
    pub(crate) fn changed(&self) -> impl Iterator<Item = &Total> {
        self.totals.iter().filter(|total| total.has_changed)
    }

    /// Records that all totals so far were pushed.
    pub(crate) fn pushed(&mut self) {
        self.totals.iter_mut().for_each(|total| total.has_changed = false);
    }

    /// Records that a push did not arrive: all totals are pushed again.
    pub(crate) fn push_failed(&mut self) {
        self.totals.iter_mut().for_each(|total| total.has_changed = true);
    }

    fn place(&mut self, key: SeriesKey) -> usize {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let labels = (self.labeling)(&self.tags.get(key.tags));
        let next = self.totals.len();
        let place = *self.by_labels.entry((key.metric, labels.clone())).or_insert(next);
        if place == next {
            let metric = self.metrics.get(key.metric);
            let sum = Aggregate::empty(metric.kind);
            self.totals.push(Total { metric, labels, sum, has_changed: false });
        }
        self.places.insert(key, place);
        place
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use model::{Instant, Mark};

    use super::*;
    use crate::Context;

    /// A window in which each of these was recorded once: metric, tags (`a=b,c=d`), value, mark.
    pub(crate) fn window(context: &Context, index: u32, samples: &[(&str, &str, f64, Mark)]) -> Window {
        let start = Instant::ZERO + Duration::from_secs(u64::from(index));
        let end = start + Duration::from_secs(1);
        let mut series: HashMap<SeriesKey, Aggregate> = HashMap::new();
        for (metric, tags, value, mark) in samples {
            let metric = context.metrics.find(metric).expect("a declared metric");
            let pairs = tags.split(',').filter_map(|tag| tag.split_once('='));
            let tags = TagSet::new(pairs.map(|(name, value)| (name.into(), value.into())));
            let key = SeriesKey { metric: metric.id, tags: context.tags.intern(tags) };
            let aggregate = series.entry(key).or_insert_with(|| Aggregate::empty(metric.kind));
            aggregate.record(*value, *mark, start);
        }
        let mut series: Vec<_> = series.into_iter().collect();
        series.sort_by_key(|(key, _)| *key);
        Window { index, start, end, series, ..Window::default() }
    }

    /// A window of so many series of one metric.
    pub(crate) fn window_of_series(context: &Context, count: usize) -> Window {
        let tags: Vec<String> = (0..count).map(|number| format!("i={number}")).collect();
        let samples: Vec<_> = tags.iter().map(|tags| ("http_reqs", &**tags, 1.0, Mark::Measured)).collect();
        window(context, 0, &samples)
    }

    fn without_empty(tags: &TagSet) -> Labels {
        let kept = tags.iter().filter(|(_, value)| !value.is_empty());
        kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn counts<'a>(totals: impl Iterator<Item = &'a Total>) -> Vec<(usize, f64)> {
        let count = |total: &Total| match &total.sum {
            Aggregate::Counter(counter) => counter.sum.value(),
            other => panic!("{other:?} is no counter"),
        };
        totals.map(|total| (total.labels.len(), count(total))).collect()
    }

    #[test]
    fn series_that_are_written_alike_are_one() {
        let context = crate::csv::tests::context(&[]);
        let mut totals = Totals::new(context.metrics.clone(), context.tags.clone(), Box::new(without_empty));
        let one = ("http_reqs", "group=,status=200", 1.0, Mark::Measured);
        totals.add(&window(&context, 0, &[one, ("http_reqs", "status=200", 1.0, Mark::Measured)]));
        assert_eq!(counts(totals.changed()), [(1, 2.0)]);
        totals.pushed();
        assert_eq!(counts(totals.changed()), []);
        totals.add(&window(&context, 1, &[("http_reqs", "", 5.0, Mark::Measured)]));
        assert_eq!(counts(totals.changed()), [(0, 5.0)]);
        assert_eq!(counts(totals.all()), [(1, 2.0), (0, 5.0)]);
        totals.pushed();
        totals.push_failed();
        assert_eq!(counts(totals.changed()), [(1, 2.0), (0, 5.0)]);
    }
}
