//! Batches points for a few seconds.

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Instant, Signal, SignalName};

/// Time for which points are queued. Points of one batch share the name, labels and query of their series.
const WAIT: Duration = Duration::from_secs(5);

/// The queued series of one source.
#[derive(Debug)]
pub(crate) struct Gathered {
    series: BTreeMap<(SignalName, BTreeMap<String, String>), Signal>,
    series_max: usize,
    /// Arrival of the first queued point.
    since: Option<Instant>,
    /// Number of points dropped because their series exceeded the limit.
    pub(crate) dropped: u64,
}

impl Gathered {
    /// Returns an empty batch of at most `series_max` series.
    pub(crate) fn new(series_max: usize) -> Gathered {
        Gathered { series: BTreeMap::new(), series_max, since: None, dropped: 0 }
    }

    /// Adds points. Points that are not later than the series' last one are duplicates.
    pub(crate) fn add(&mut self, mut signal: Signal) {
        let key = (signal.name.clone(), signal.labels.clone());
        if let Some(known) = self.series.get_mut(&key) {
            let last = known.points.last().map(|(at, _)| *at);
            signal.points.retain(|(at, _)| last.is_none_or(|last| *at > last));
            known.points.append(&mut signal.points);
            self.since = self.since.or(known.points.first().map(|(at, _)| *at));
            return;
        }
        if self.series.len() >= self.series_max {
            self.dropped += signal.points.len() as u64;
            return;
        }
        self.since = self.since.or(signal.points.first().map(|(at, _)| *at));
        self.series.insert(key, signal);
    }

    /// Returns the batch if it is due.
    pub(crate) fn take_due(&mut self, now: Instant) -> Vec<Signal> {
        let is_due = self.since.is_some_and(|since| now.since(since) >= WAIT);
        if is_due { self.take() } else { Vec::new() }
    }

    /// Returns the batch.
    pub(crate) fn take(&mut self) -> Vec<Signal> {
        self.since = None;
        let evidence = self.series.values_mut().filter(|signal| !signal.points.is_empty());
        evidence
            .map(|signal| Signal { points: std::mem::take(&mut signal.points), ..signal.clone() })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, second: u64) -> Signal {
        Signal {
            source: "made".to_owned(),
            name: name.into(),
            labels: BTreeMap::new(),
            unit: String::new(),
            query: "made".to_owned(),
            step: Duration::from_secs(1),
            points: vec![(Instant::from_ns(second * 1_000_000_000), 1.0)],
        }
    }

    #[test]
    fn points_of_one_series_come_together() {
        let mut gathered = Gathered::new(2);
        for second in [1, 2, 2, 3] {
            gathered.add(point("a", second));
        }
        gathered.add(point("b", 3));
        gathered.add(point("c", 3));
        assert_eq!(gathered.dropped, 1);
        assert_eq!(gathered.take_due(Instant::from_ns(5_000_000_000)), []);
        let evidence = gathered.take_due(Instant::from_ns(6_000_000_000));
        let lengths: Vec<(&str, usize)> =
            evidence.iter().map(|signal| (signal.name.as_str(), signal.points.len())).collect();
        assert_eq!(lengths, [("a", 3), ("b", 1)]);
        assert_eq!(gathered.take(), []);
        gathered.add(point("a", 9));
        assert_eq!(gathered.take().len(), 1);
    }
}
