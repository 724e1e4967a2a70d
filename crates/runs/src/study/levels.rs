//! The stored levels of a study.

use std::path::{Path, PathBuf};

use analysis::capacity::demand::usages;
use analysis::capacity::sight::Sight;
use analysis::capacity::{LEVELS_MAX, Observed};
use catalogue::Catalogue;
use model::Grade;
use model::capacity::{Level, LoadUnit, Objective, Purpose, Verdict};
use runfile::{Reader, State, StudyFacts};

use super::degraded::{disturbed, weighed};
use super::meter::Meter;
use super::objective::Asked;
use crate::Offered;
use crate::validity;
use crate::{Exit, Failure};

/// Exits of a level that was measured completely.
const WHOLE: [Exit; 4] = [Exit::Ok, Exit::ThresholdsFailed, Exit::MarkedFailed, Exit::NotValid];

/// Tolerance for the clock of another machine that is behind, seconds.
const CLOCK_SLACK_S: i64 = 600;

/// A stored level.
pub struct Stored {
    /// The level's run file.
    pub path: PathBuf,
    /// The level's place in the study.
    pub facts: StudyFacts,
    /// The version of the target.
    pub target_version: String,
    /// The script as the user named it.
    pub script: String,
}

/// The content of a stored level.
pub struct Read {
    /// The level's measurements, as input of analysis.
    pub observed: Observed,
    /// The objectives with their metrics.
    pub objectives: Vec<Objective>,
    /// The length of the load including warm-up, seconds.
    pub spent_s: f64,
    /// Whether a fault of the measurement touches an objective: another try may show more.
    pub is_partial: bool,
}

/// Returns the complete levels of a study in the order of their creation. Older runs are not opened.
///
/// # Errors
/// The catalogue cannot be read.
pub fn stored_levels(name: &str, started_unix_s: i64, catalogue: &Catalogue) -> Result<Vec<Stored>, Failure> {
    let mut levels = Vec::new();
    let entries = catalogue.list().map_err(|error| crate::failed(&error))?;
    let is_late = |entry: &&catalogue::Entry| entry.name.started_unix_s() >= started_unix_s - CLOCK_SLACK_S;
    for entry in entries.iter().filter(is_late) {
        let path = catalogue.bring(entry).map_err(|error| crate::failed(&error))?;
        // Unreadable files are skipped here; `plimsoll runs` lists them.
        let Ok(reader) = crate::open(&path) else { continue };
        let Some(facts) = reader.header().study.as_deref().filter(|facts| facts.name == name) else {
            continue;
        };
        if !is_whole(&reader) {
            continue;
        }
        let header = reader.header();
        levels.push(Stored {
            facts: facts.clone(),
            target_version: header.target_version.clone().unwrap_or_default(),
            script: header.script.clone(),
            path,
        });
        if levels.len() >= LEVELS_MAX {
            break;
        }
    }
    levels.sort_by_key(|level| level.facts.number);
    Ok(levels)
}

/// Whether the run of a level was measured completely.
pub(super) fn is_whole(reader: &Reader) -> bool {
    let code = reader.ending().map(|ending| ending.exit_code);
    reader.state() == State::Complete && WHOLE.iter().any(|exit| Some(i32::from(exit.code())) == code)
}

/// Reads the measurements of a level's run.
///
/// # Errors
/// The file is damaged, or a condition does not fit its metric.
pub fn read(path: &Path, facts: &StudyFacts, asked: &[Asked]) -> Result<Read, Failure> {
    let reader = crate::open(path)?;
    let header = reader.header();
    let planned_s =
        Offered::from_header(header).and_then(|offered| offered.planned_s()).unwrap_or(f64::INFINITY);
    let marks = reader.marks().map_err(|error| crate::failed(&error))?;
    let at = |kind: &str| marks.iter().find(|mark| mark.kind == kind).map(|mark| mark.at);
    let (began, ended) = (at("scenarios_started"), at("scenarios_ended"));
    let loaded_s = began.zip(ended).map_or(planned_s, |(began, ended)| ended.since(began).as_secs_f64());
    let warm_up_s = facts.warm_up_ns as f64 / 1e9;
    let mut meter = Meter::new(asked, warm_up_s, planned_s.min(loaded_s));
    began.into_iter().for_each(|at| meter.begin(at));
    let (sum, _) = crate::whole(&reader)?;
    let validity = validity::of_stored(&reader, &sum, None)?;
    let disturbed = disturbed(&validity);
    let range = reader.range().map_err(|error| crate::failed(&error))?;
    for window in reader.windows_of(range, &meter.metrics(reader.registry())) {
        let window = window.map_err(|error| crate::failed(&error))?;
        if !(disturbed.contains(&window.index) && meter.counts(&window)) {
            meter.add(&window, reader.registry(), reader.tags())?;
        }
    }
    let measured = meter.finish();
    let unit = unit(facts);
    let is_full = super::decides(&validity);
    let sights: Vec<Sight> = match is_full {
        true => measured.sights,
        false => {
            let sights = measured.sights.into_iter().zip(meter.held());
            sights.map(|(sight, held)| weighed(sight, held, &validity, unit, !disturbed.is_empty())).collect()
        }
    };
    let known = sights.iter().filter(|sight| sight.holds().is_some()).count();
    let signals = reader.signals().map_err(|error| crate::failed(&error))?;
    let level = Level {
        load: facts.load,
        purpose: Purpose::named(&facts.purpose).unwrap_or_default(),
        run: header.run_id.clone(),
        name: header.name.clone().unwrap_or_default(),
        vus: Some(if unit == LoadUnit::Vus { facts.load } else { measured.busy_vus }),
        throughput_per_s: measured.throughput_per_s,
        requests_per_s: Some(measured.requests_per_s),
        time_s: measured.time_s,
        mean_s: measured.mean_s,
        failed_share: measured.failed_share,
        measured_s: Some(measured.measured_s),
        grade: Some(validity.grade),
        decides: (is_full || known > 0) && measured.measured_s > 0.0,
        measured: Vec::new(),
        verdict: Verdict::Unknown,
    };
    let usages = measured.span.map_or_else(Vec::new, |span| usages(&signals, &span));
    Ok(Read {
        observed: Observed { level, sights, usages },
        objectives: meter.nouns(),
        is_partial: !is_full && known < asked.len(),
        spent_s: loaded_s.min(planned_s),
    })
}

/// Returns the unit of a study's loads.
pub fn unit(facts: &StudyFacts) -> LoadUnit {
    if facts.unit == LoadUnit::PerSecond.as_str() { LoadUnit::PerSecond } else { LoadUnit::Vus }
}

impl Read {
    /// Returns true if the level proves nothing: its faults touch all objectives, and are not the target's.
    pub fn is_useless(&self) -> bool {
        !self.observed.level.decides
    }

    /// Returns the validity grade of the level.
    pub fn grade(&self) -> Grade {
        self.observed.level.grade.unwrap_or_default()
    }
}
