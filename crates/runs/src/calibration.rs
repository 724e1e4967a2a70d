//! The result of `plimsoll calibrate`, stored in the user's data folder until the machine changes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use model::metric::builtin::HTTP_REQS;
use model::{Aggregate, Window};
use runfile::{Calibration, Host};
use serde::{Deserialize, Serialize};

use crate::bounded::read_limited;
use crate::{Exit, Failure, machine};

/// Name of the calibration file in the user's data folder.
pub const FILE: &str = "calibration.json";

/// Maximum size of the calibration file, bytes.
const BYTES_MAX: u64 = 64 << 10;

/// Share of the machine's measured maximum from which a run is warned.
const SHARE_NEAR: f64 = 0.8;

/// Minimum length of a window to have a rate: the last window of a run may be shorter.
pub const WINDOW_MIN: Duration = Duration::from_millis(500);

/// A calibration and the machine that it was measured on.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    host: Host,
    calibration: Calibration,
}

/// Reads the calibration of this machine for `workers` worker threads from `path`. Returns `None` if there is none, or if the
/// machine or the program has changed since.
pub fn load(path: Option<&Path>, workers: usize) -> Option<Calibration> {
    let text = read_limited(path?, BYTES_MAX).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    let is_same = kept.host == machine::facts(workers, None) && kept.calibration.version == version();
    (is_same && kept.calibration.rate_per_s > 0).then_some(kept.calibration)
}

/// Writes the calibration for `workers` worker threads to `path`, and returns the path.
///
/// # Errors
/// There is no data folder, or the file cannot be written.
pub fn keep(path: Option<PathBuf>, workers: usize, calibration: Calibration) -> Result<PathBuf, Failure> {
    let path = path.ok_or_else(|| {
        let text = "failed to find a place for the calibration: neither XDG_DATA_HOME nor HOME is set";
        Failure::new(Exit::InvalidConfig, text)
    })?;
    let kept = Kept { host: machine::facts(workers, None), calibration };
    let write = || -> std::io::Result<()> {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, serde_json::to_string_pretty(&kept)? + "\n")
    };
    write().map_err(|error| {
        Failure::new(Exit::Other, format!("failed to keep the calibration in {}: {error}", path.display()))
    })?;
    Ok(path)
}

/// Returns the requests per second of a window; `None` for a window that is too short to have a rate.
pub fn requests_per_s(window: &Window) -> Option<f64> {
    let length = window.end.since(window.start);
    let of_series = |(key, aggregate): &(model::SeriesKey, Aggregate)| match aggregate {
        Aggregate::Counter(counter) if key.metric == HTTP_REQS => counter.count,
        _ => 0,
    };
    let requests: u64 = window.series.iter().map(of_series).sum();
    (length >= WINDOW_MIN).then(|| requests as f64 / length.as_secs_f64())
}

/// Returns the warning for a run whose busiest second came near the machine's measured maximum.
pub fn warning(busiest_per_s: f64, calibration: &Calibration) -> Option<String> {
    let share = busiest_per_s / calibration.rate_per_s.max(1) as f64;
    (share >= SHARE_NEAR && !calibration.is_lower_bound).then(|| {
        format!(
            "the busiest second had {busiest_per_s:.0} requests, {:.0} % of the {} per second that this machine can              send by `plimsoll calibrate`",
            share * 100.0,
            calibration.rate_per_s
        )
    })
}

/// Returns the version of the program.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_near_is_told() {
        let calibration = Calibration { rate_per_s: 10_000, ..Calibration::default() };
        assert_eq!(warning(7_900.0, &calibration), None);
        assert!(warning(8_500.0, &calibration).is_some_and(|text| text.contains("85 % of the 10000")));
        let more = Calibration { is_lower_bound: true, ..calibration };
        assert_eq!(warning(8_500.0, &more), None, "its limit is unknown");
        assert!(warning(1.0, &Calibration::default()).is_some(), "nothing can be sent, and something was");
    }
}
