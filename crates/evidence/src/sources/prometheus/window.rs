//! Time range and step of queries.

use std::collections::BTreeMap;
use std::time::Duration;

use model::GoDuration;

use crate::contract::{Moment, Period};
use crate::http::Client;
use crate::wall;

/// Maximum points per series, a limit of Prometheus.
const POINTS_MAX: u128 = 11_000;

/// Scrapes per rate window: two make a rate, and it must survive a late or lost one.
const SCRAPES_PER_RATE: u32 = 4;

/// The time range of queries.
#[derive(Debug)]
pub(super) struct Window {
    /// The time range on both clocks.
    pub(super) period: Period,
    /// Start and end, in UTC.
    pub(super) start: String,
    pub(super) end: String,
    /// Time between two points.
    pub(super) step: Duration,
    pub(super) step_text: String,
    /// Time between two scrapes.
    pub(super) interval: Duration,
    /// Time range of rates.
    pub(super) rate_window: Duration,
    /// Time range of rates in PromQL.
    pub(super) rate: String,
}

impl Window {
    /// Returns the time of a run, extended by one scrape at both ends except into the future, with a point per scrape up to the
    /// maximum.
    pub(super) fn around(run: &Period, interval: Duration, wall_now_ns: i64) -> Window {
        let mut period = run.padded(interval);
        // The future has no data, and a rate that includes it seems to fall.
        if period.to.wall_ns > wall_now_ns {
            let beyond_ns = wall_now_ns.saturating_sub(run.to.wall_ns).max(0);
            let beyond = Duration::from_nanos(beyond_ns.unsigned_abs());
            period.to = Moment { at: run.to.at + beyond, wall_ns: run.to.wall_ns.saturating_add(beyond_ns) };
        }
        let length = Duration::from_nanos(period.to.wall_ns.abs_diff(period.from.wall_ns));
        let step_least_ms = length.as_millis() / POINTS_MAX + 1;
        let step_least = Duration::from_millis(u64::try_from(step_least_ms).unwrap_or(u64::MAX));
        let step = interval.max(step_least);
        // Steps longer than the rate window would leave gaps.
        let rate_window = (interval * SCRAPES_PER_RATE).max(step);
        Window {
            period,
            start: wall::utc(period.from.wall_ns),
            end: wall::utc(period.to.wall_ns),
            step,
            step_text: text(step),
            interval,
            rate_window,
            rate: text(rate_window),
        }
    }

    /// Formats a query with its range.
    pub(super) fn asked(&self, promql: &str) -> String {
        format!("{promql} [start={} end={} step={}]", self.start, self.end, self.step_text)
    }
}

/// Formats a duration in PromQL.
pub(super) fn text(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms % 1_000 == 0 => format!("{}s", ms / 1_000),
        ms => format!("{ms}ms"),
    }
}

/// Returns the most frequent scrape interval of the targets, or else the one configured for all.
pub(super) fn interval(client: &Client) -> Option<Duration> {
    let of_targets = client.json("/api/v1/targets", &[("state", "active")]).ok().and_then(|answer| {
        let targets = answer["data"]["activeTargets"].as_array()?;
        most_frequent(targets.iter().filter_map(|target| target["scrapeInterval"].as_str()))
    });
    of_targets.or_else(|| {
        let answer = client.json("/api/v1/status/config", &[]).ok()?;
        configured(answer["data"]["yaml"].as_str()?)
    })
}

/// Returns the most frequent interval; the shorter one of equals, so that no point is left out.
fn most_frequent<'a>(intervals: impl Iterator<Item = &'a str>) -> Option<Duration> {
    let mut counts = BTreeMap::new();
    for interval in intervals.filter_map(parse) {
        *counts.entry(interval).or_insert(0) += 1;
    }
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(interval, _)| interval)
}

/// Returns the global interval: Prometheus writes `global` first when it shows its configuration.
fn configured(yaml: &str) -> Option<Duration> {
    yaml.lines().find_map(|line| line.trim().strip_prefix("scrape_interval:")).and_then(parse)
}

fn parse(text: &str) -> Option<Duration> {
    let duration = GoDuration::parse(text.trim())?.to_std();
    (!duration.is_zero()).then_some(duration)
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::*;
    fn run(length_s: u64) -> Period {
        let moment = |second: u64| Moment {
            at: Instant::from_ns(second * 1_000_000_000),
            wall_ns: 1_769_486_100_000_000_000 + second as i64 * 1_000_000_000,
        };
        Period { from: moment(100), to: moment(100 + length_s) }
    }

    #[track_caller]
    fn check(length_s: u64, interval_s: u64, expect: &str) {
        let run = run(length_s);
        let window = Window::around(&run, Duration::from_secs(interval_s), run.to.wall_ns + 60_000_000_000);
        assert_eq!(window.asked(&format!("rate(a[{}])", window.rate)), expect);
    }

    #[test]
    fn a_window_is_padded_and_kept_with_the_question() {
        check(240, 15, "rate(a[60s]) [start=2026-01-27T03:56:25Z end=2026-01-27T04:00:55Z step=15s]");
        check(20, 1, "rate(a[4s]) [start=2026-01-27T03:56:39Z end=2026-01-27T03:57:01Z step=1s]");
        // A day of seconds exceeds the maximum, and rates cover all the time between two points.
        check(86_400, 1, "rate(a[7855ms]) [start=2026-01-27T03:56:39Z end=2026-01-28T03:56:41Z step=7855ms]");
    }

    #[test]
    fn nothing_is_asked_about_what_is_still_to_come() {
        let run = run(240);
        let end = |after_ms: i64| {
            let now_ns = run.to.wall_ns + after_ms * 1_000_000;
            let window = Window::around(&run, Duration::from_secs(15), now_ns);
            (window.end, window.period.to.at.since(run.to.at))
        };
        assert_eq!(end(20_000), ("2026-01-27T04:00:55Z".to_owned(), Duration::from_secs(15)));
        assert_eq!(end(2_500), ("2026-01-27T04:00:42.5Z".to_owned(), Duration::from_millis(2_500)));
        // A clock that is behind must not shorten the run.
        assert_eq!(end(-9_000), ("2026-01-27T04:00:40Z".to_owned(), Duration::ZERO));
    }

    #[test]
    fn intervals_are_those_of_most_targets() {
        let of = |intervals: &[&str]| most_frequent(intervals.iter().copied());
        assert_eq!(of(&["5s", "1m0s", "1m0s"]), Some(Duration::from_secs(60)));
        assert_eq!(of(&["5s", "1m"]), Some(Duration::from_secs(5)));
        assert_eq!(of(&["0s", "soon"]), None);
        let yaml = "global:\n  scrape_interval: 30s\n  scrape_timeout: 10s\nscrape_configs:\n- scrape_interval: 1s\n";
        assert_eq!(configured(yaml), Some(Duration::from_secs(30)));
        assert_eq!(configured("global: {}"), None);
    }
}
