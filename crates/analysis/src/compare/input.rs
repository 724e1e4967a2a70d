//! The input of a comparison.

use std::collections::HashMap;

use model::{Fault, Grade};
use stats::Sheet;

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Facts about the run.
    pub facts: Facts,
    /// Its load, second by second; as long as its series.
    pub load: Vec<LoadSecond>,
    /// Its series of durations in milliseconds, each with every second of the run.
    pub series: Vec<Series>,
}

/// Facts about a run besides its measurements.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Display name.
    pub name: String,
    /// The hash of its script and of what it imports.
    pub script_hash: Option<String>,
    /// How long it was to last, in seconds.
    pub planned_s: Option<f64>,
    /// Validity grade of the load generator.
    pub grade: Grade,
    /// The faults of its measurement, the worst first.
    pub faults: Vec<Fault>,
    /// The version of the target.
    pub target_version: Option<String>,
    /// The number of VUs, if they are the load: closed executors.
    pub closed_vus: Option<u64>,
    /// The planned load over time; `None` if it is not known.
    pub plan: Option<PlannedLoad>,
}

/// The planned load of a run over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedLoad {
    /// The executors with their stages, rates and times: runs whose texts are equal have the same load at the same time.
    pub text: String,
    /// The seconds at which stages begin, from the start of the scenarios.
    pub stages: Vec<usize>,
    /// Whether the load is the same at all times.
    pub is_constant: bool,
}

/// The load of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadSecond {
    /// Iterations started.
    pub started: u64,
    /// Iterations finished.
    pub finished: u64,
    /// Iterations that were to start by plan; `None` for closed executors.
    pub offered: Option<f64>,
}

/// One series of durations, such as the requests of an endpoint.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Display name, by which the sides are matched.
    pub name: String,
    /// The successes in milliseconds second by second; failures and timeouts are its censored values, which rank above
    /// every success.
    pub sheet: Sheet,
}

impl Series {
    /// A series without seconds.
    pub fn new(name: impl Into<String>) -> Series {
        Series { name: name.into(), sheet: Sheet::new() }
    }
}

impl Run {
    /// How many seconds there are.
    pub(super) fn seconds(&self) -> usize {
        let of_series = self.series.iter().map(|series| series.sheet.len());
        of_series.max().unwrap_or(self.load.len())
    }

    /// The mean duration over all series, second by second; a second without any takes the one before.
    pub(super) fn levels(&self) -> Vec<f64> {
        let mut sums = vec![(0.0, 0u64); self.seconds()];
        for series in &self.series {
            let means = series.sheet.means();
            for ((sum, mean), (measured, _)) in sums.iter_mut().zip(means).zip(series.sheet.counts()) {
                sum.0 += mean * measured as f64;
                sum.1 += measured;
            }
        }
        let mut last =
            sums.iter().find(|(_, count)| *count > 0).map_or(0.0, |(sum, count)| sum / *count as f64);
        let level = |(sum, count): (f64, u64)| {
            if count > 0 {
                last = sum / count as f64;
            }
            last
        };
        sums.into_iter().map(level).collect()
    }

    /// The mean planned rate over some seconds; `None` if a second has none.
    pub(super) fn offered(&self, seconds: std::ops::Range<usize>) -> Option<f64> {
        let load = self.load.get(seconds.start..seconds.end.min(self.load.len()))?;
        let sum = load.iter().map(|second| second.offered).sum::<Option<f64>>()?;
        (!load.is_empty()).then(|| sum / load.len() as f64)
    }
}

/// A run with the places of its series by name: looking at each of ten thousand names for each of them takes seconds.
pub(super) struct Indexed<'a> {
    pub(super) run: &'a Run,
    places: HashMap<&'a str, usize>,
}

impl<'a> Indexed<'a> {
    pub(super) fn new(run: &'a Run) -> Indexed<'a> {
        // Of equal names the first counts.
        let names = run.series.iter().enumerate().rev();
        Indexed { run, places: names.map(|(place, series)| (series.name.as_str(), place)).collect() }
    }

    /// The series of a name.
    pub(super) fn series(&self, name: &str) -> Option<&'a Series> {
        self.run.series.get(*self.places.get(name)?)
    }
}
