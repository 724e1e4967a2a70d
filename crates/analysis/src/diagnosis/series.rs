//! Signals as numbers: means, peaks, and what they were while so much went through.

use model::signal::label;
use model::{Datum, Instant, Record, Signal};
use stats::student_quantile;

use super::case::Level;

/// Returns the mean over the run's time; `None` without points in it.
pub(crate) fn mean(level: &Level, signal: &Signal) -> Option<f64> {
    let inside = inside(level, signal);
    (!inside.is_empty()).then(|| inside.iter().map(|(_, value)| value).sum::<f64>() / inside.len() as f64)
}

/// Returns the interval of a mean that was sampled: a state that changes from one reading to the next is known the less, the fewer
/// readings there are. `None` with fewer than two of them.
pub(super) fn mean_interval(level: &Level, signal: &Signal, confidence: f64) -> Option<(f64, f64)> {
    let (inside, mean) = (inside(level, signal), mean(level, signal)?);
    let degrees = inside.len() as f64 - 1.0;
    let squares: f64 = inside.iter().map(|(_, value)| (value - mean).powi(2)).sum();
    let half = student_quantile(0.5 + confidence / 2.0, degrees.max(1.0))
        * (squares / degrees / inside.len() as f64).sqrt();
    (inside.len() > 1).then_some((mean - half, mean + half))
}

/// The mean of what was read before and after the run: the level of a machine's counter without the run. None where nothing was.
pub(super) fn background(level: &Level, signal: &Signal) -> Option<f64> {
    let (from, to) = (level.from(), level.to());
    let outside = signal.points.iter().filter(|(at, _)| *at < from || *at > to).map(|(_, value)| *value);
    let (sum, count) = outside.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// The highest point in the run's time.
pub(super) fn peak(level: &Level, signal: &Signal) -> Option<f64> {
    inside(level, signal).iter().map(|(_, value)| *value).reduce(f64::max)
}

/// The last point in the run's time.
pub(super) fn last(level: &Level, signal: &Signal) -> Option<f64> {
    inside(level, signal).last().map(|(_, value)| *value)
}

/// The share of the points in the run's time that `is_so`.
pub(super) fn share(level: &Level, signal: &Signal, is_so: impl Fn(f64) -> bool) -> Option<f64> {
    let inside = inside(level, signal);
    let count = inside.iter().filter(|(_, value)| is_so(*value)).count();
    (!inside.is_empty()).then(|| count as f64 / inside.len() as f64)
}

/// The points in the run's time.
pub(super) fn inside<'a>(level: &Level, signal: &'a Signal) -> &'a [(Instant, f64)] {
    let (from, to) = (level.from(), level.to());
    let first = signal.points.partition_point(|(at, _)| *at < from);
    let end = signal.points.partition_point(|(at, _)| *at <= to);
    signal.points.get(first..end).unwrap_or(&[])
}

/// Requests per second and the signal's value, for each of its points: the value is of the step before it.
pub(super) fn against_load(level: &Level, signal: &Signal) -> Vec<(f64, f64)> {
    let step_ns = signal.step.as_nanos().max(1_000_000_000) as u64;
    let pair = |(at, value): &(Instant, f64)| {
        let from = Instant::from_ns(at.as_ns().saturating_sub(step_ns));
        let first = level.seconds.partition_point(|second| second.to <= from);
        let end = level.seconds.partition_point(|second| second.from < *at);
        let seconds = level.seconds.get(first..end).filter(|seconds| !seconds.is_empty())?;
        let length_s: f64 = seconds.iter().map(|second| second.length_s()).sum();
        let finished: u64 = seconds.iter().map(|second| second.finished).sum();
        (length_s > 0.0 && value.is_finite()).then(|| (finished as f64 / length_s, *value))
    };
    inside(level, signal).iter().filter_map(pair).collect()
}

/// A label, by the first of these names that it has.
pub(crate) fn label<'a>(signal: &'a Signal, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| signal.labels.get(*name)).map(String::as_str).filter(|text| !text.is_empty())
}

/// Returns the subject of a signal in a word or two: its most specific label, otherwise its source.
pub(super) fn place(signal: &Signal) -> &str {
    let names = [
        label::CONTAINER,
        label::POD,
        label::QUEUE,
        label::POOL,
        label::CORE,
        label::PROGRAM,
        label::INSTANCE,
        label::JOB,
    ];
    label(signal, &names).unwrap_or(&signal.source)
}

/// The number that a record has.
pub(crate) fn number(record: &Record, name: &str) -> Option<f64> {
    match record.fields.get(name) {
        Some(Datum::Number(number)) if number.is_finite() => Some(*number),
        _ => None,
    }
}

/// The text that a record has.
pub(super) fn text<'a>(record: &'a Record, name: &str) -> Option<&'a str> {
    match record.fields.get(name) {
        Some(Datum::Text(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{level, signal};
    use super::*;

    #[test]
    fn only_what_was_told_in_the_runs_time_counts() {
        let level = level(4, 10, 0.1);
        let signal = signal("cpu", &[], &[(-3.0, 9.0), (1.0, 1.0), (2.0, 3.0), (9.0, 9.0)]);
        assert_eq!((mean(&level, &signal), peak(&level, &signal)), (Some(2.0), Some(3.0)));
        assert_eq!(
            (last(&level, &signal), share(&level, &signal, |value| value > 2.0)),
            (Some(3.0), Some(0.5))
        );
        assert_eq!(mean(&level, &Signal { points: Vec::new(), ..signal }), None);
    }

    #[test]
    fn a_point_goes_with_the_load_of_the_step_before_it() {
        let mut level = level(4, 10, 0.1);
        level.seconds[1].finished = 50;
        let signal = signal("cpu", &[], &[(1.0, 0.1), (2.0, 0.5), (3.0, 0.1)]);
        assert_eq!(against_load(&level, &signal), [(10.0, 0.1), (50.0, 0.5), (10.0, 0.1)]);
    }
}
