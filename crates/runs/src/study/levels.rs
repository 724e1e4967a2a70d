//! The levels of a study that are stored.

use std::path::{Path, PathBuf};

use analysis::capacity::demand::usages;
use analysis::capacity::{LEVELS_MAX, Observed};
use catalogue::Catalogue;
use model::Grade;
use model::capacity::{Level, LoadUnit, Objective, Purpose, Verdict};
use runfile::{Reader, State, StudyFacts};

use super::meter::Meter;
use super::objective::Asked;
use crate::Offered;
use crate::validity;
use crate::{Exit, Failure};

/// How a level's run ends that went its way.
const WHOLE: [Exit; 4] = [Exit::Ok, Exit::ThresholdsFailed, Exit::MarkedFailed, Exit::NotValid];

/// The clock of another machine may be this much behind, in seconds.
const CLOCK_SLACK_S: i64 = 600;

/// A level that is stored.
pub struct Stored {
    /// Its run file.
    pub path: PathBuf,
    /// Its place in the study.
    pub facts: StudyFacts,
    /// The version of what was tested.
    pub target_version: String,
    /// The script as it was named.
    pub script: String,
}

/// What a stored level says.
pub struct Read {
    /// Its measurements, as analysis takes them.
    pub observed: Observed,
    /// The objectives as its metrics know them.
    pub objectives: Vec<Objective>,
    /// How long its load was, its beginning included.
    pub spent_s: f64,
}

/// The whole levels of a study, in the order in which they were made. Runs that began before it are not even opened.
///
/// # Errors
/// The catalogue cannot be read.
pub fn stored_levels(name: &str, started_unix_s: i64, catalogue: &Catalogue) -> Result<Vec<Stored>, Failure> {
    let mut levels = Vec::new();
    let entries = catalogue.list().map_err(|error| crate::failed(&error))?;
    let is_late = |entry: &&catalogue::Entry| entry.name.started_unix_s() >= started_unix_s - CLOCK_SLACK_S;
    for entry in entries.iter().filter(is_late) {
        let path = catalogue.bring(entry).map_err(|error| crate::failed(&error))?;
        // A file that cannot be read is none of these; `plimsoll runs` names it.
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

fn is_whole(reader: &Reader) -> bool {
    let code = reader.ending().map(|ending| ending.exit_code);
    reader.state() == State::Complete && WHOLE.iter().any(|exit| Some(i32::from(exit.code())) == code)
}

/// Reads what a level's run measured.
///
/// # Errors
/// The file is damaged, or a condition does not fit its metric.
pub fn read(path: &Path, facts: &StudyFacts, asked: &[Asked]) -> Result<Read, Failure> {
    let reader = crate::open(path)?;
    let header = reader.header();
    let planned_s = Offered::of(header).and_then(|offered| offered.planned_s()).unwrap_or(f64::INFINITY);
    let marks = reader.marks().map_err(|error| crate::failed(&error))?;
    let at = |kind: &str| marks.iter().find(|mark| mark.kind == kind).map(|mark| mark.at);
    let (began, ended) = (at("scenarios_started"), at("scenarios_ended"));
    let loaded_s = began.zip(ended).map_or(planned_s, |(began, ended)| ended.since(began).as_secs_f64());
    let warm_up_s = facts.warm_up_ns as f64 / 1e9;
    let mut meter = Meter::new(asked, warm_up_s, planned_s.min(loaded_s));
    began.into_iter().for_each(|at| meter.begin(at));
    let range = reader.range().map_err(|error| crate::failed(&error))?;
    for window in reader.windows_of(range, &meter.metrics(reader.registry())) {
        let window = window.map_err(|error| crate::failed(&error))?;
        meter.add(&window, reader.registry(), reader.tags())?;
    }
    let (sum, _) = crate::whole(&reader)?;
    let validity = validity::of_stored(&reader, &sum, None)?;
    let measured = meter.finish();
    let unit = unit(facts);
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
        decides: super::decides(&validity) && measured.measured_s > 0.0,
        measured: Vec::new(),
        verdict: Verdict::Unknown,
    };
    let usages = measured.span.map_or_else(Vec::new, |span| usages(&signals, &span));
    Ok(Read {
        observed: Observed { level, sights: measured.sights, usages },
        objectives: meter.nouns(),
        spent_s: loaded_s.min(planned_s),
    })
}

/// What the loads of a study are counted in.
pub(super) fn unit(facts: &StudyFacts) -> LoadUnit {
    if facts.unit == LoadUnit::PerSecond.as_str() { LoadUnit::PerSecond } else { LoadUnit::Vus }
}

impl Read {
    /// Whether the level is worth no look: neither valid nor what the target made of it.
    pub fn is_useless(&self) -> bool {
        !self.observed.level.decides
    }

    /// What its measurement is worth.
    pub fn grade(&self) -> Grade {
        self.observed.level.grade.unwrap_or_default()
    }
}
