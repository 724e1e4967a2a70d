//! `plimsoll sweep`: runs a script at several loads that the user chose.

use model::capacity::{LoadUnit, Purpose, Verdict};
use report::capacity::{StudyKind, StudyReport};
use runs::study::Read;
use runs::{Exit, Failure};
use session::Context;
use session::env;

use super::capacity::{answer, exit};
use super::level_runner::{LevelRunner, LevelSpec, seconds};
use crate::flags::SweepFlags;

/// Maximum number of levels of a sweep, over all variants.
const LEVELS_MAX: usize = 200;

/// Runs the subcommand.
///
/// # Errors
/// The flags are invalid, the first level could not begin, or a run cannot be read.
pub(crate) fn run(flags: &SweepFlags, context: &Context) -> Result<Exit, Failure> {
    let (unit, loads) = loads(flags)?;
    let changes = env::variants(flags.over.as_deref()).map_err(fail)?;
    if loads.len() * changes.len() > LEVELS_MAX {
        return Err(fail(format!("make {} levels: at most {LEVELS_MAX}", loads.len() * changes.len())));
    }
    let hold_s = seconds("--hold", &flags.hold)?;
    let mut levels = LevelRunner::new(&flags.study, StudyKind::Sweep, unit, context)?;
    let mut gathered = levels.gathered(StudyKind::Sweep);
    let level_s = levels.warm_up_s + hold_s;
    'variants: for (nth, change) in changes.iter().enumerate() {
        let variant = levels.variant(change);
        for (at, load) in loads.iter().enumerate() {
            let left = (changes.len() - nth - 1) * loads.len() + loads.len() - at - 1;
            let spec = LevelSpec {
                load: *load,
                purpose: Purpose::Asked,
                least_s: hold_s,
                most_s: hold_s,
                change: change.clone(),
                bursts: Vec::new(),
                left_s: left as f64 * level_s,
            };
            let Some(read) = levels.measure(&spec)? else { break 'variants };
            gathered.add(&variant, &read);
            if at + 1 < loads.len() && has_collapsed(&gathered.report(), &variant, &read) {
                levels.report("throughput fell: higher load steps are skipped");
                break;
            }
        }
    }
    levels.end();
    let report = gathered.report();
    answer(&report, &levels, flags.study.level.json, context);
    Ok(exit(&report, levels.exit, !flags.study.level.slo.is_empty()))
}

fn has_collapsed(report: &StudyReport, variant: &str, read: &Read) -> bool {
    let part = report.parts.iter().find(|part| part.variant == variant);
    let mut levels = part.into_iter().flat_map(|part| &part.levels);
    levels.any(|level| level.run == read.observed.level.run && level.verdict == Verdict::Collapse)
}

/// Returns the loads, the lowest first.
fn loads(flags: &SweepFlags) -> Result<(LoadUnit, Vec<f64>), Failure> {
    let (unit, flag, text) = match (&flags.study.options.vus, &flags.rate) {
        (Some(vus), None) => (LoadUnit::Vus, "--vus", vus),
        (None, Some(rate)) => (LoadUnit::PerSecond, "--rate", rate),
        (Some(_), Some(_)) => {
            return Err(fail("sweep VUs and rates at once: use either --vus or --rate".to_owned()));
        }
        (None, None) => {
            return Err(fail("sweep nothing: name loads, as --vus 50,100,200 or --rate 10,20".to_owned()));
        }
    };
    let is_load = |load: &f64| match unit {
        LoadUnit::Vus => *load >= 1.0 && load.fract() == 0.0 && *load <= plan::VUS_MAX as f64,
        LoadUnit::PerSecond => *load >= 0.001 && *load <= 1e6,
    };
    let load = |text: &str| text.trim().parse().ok().filter(is_load);
    let loads: Option<Vec<f64>> = text.split(',').map(load).collect();
    let mut loads =
        loads.ok_or_else(|| fail(format!("read {flag} {text:?}: write numbers, as 50,100,200")))?;
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    Ok((unit, loads))
}

fn fail(what: String) -> Failure {
    Failure::new(Exit::InvalidConfig, format!("failed to {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_sorted_numbers() {
        let read = |vus: Option<&str>, rate: Option<&str>| {
            let mut flags = SweepFlags { rate: rate.map(str::to_owned), ..SweepFlags::default() };
            flags.study.options.vus = vus.map(str::to_owned);
            loads(&flags).ok()
        };
        assert_eq!(read(Some("100, 50,100"), None), Some((LoadUnit::Vus, vec![50.0, 100.0])));
        assert_eq!(read(None, Some("0.5,40")), Some((LoadUnit::PerSecond, vec![0.5, 40.0])));
        for (vus, rate) in [
            (None, None),
            (Some("1"), Some("1")),
            (Some("1.5"), None),
            (Some("0"), None),
            (Some(""), None),
            (Some("1,x"), None),
            (None, Some("NaN")),
            (None, Some("-1")),
        ] {
            assert_eq!(read(vus, rate), None, "{vus:?} {rate:?}");
        }
    }
}
