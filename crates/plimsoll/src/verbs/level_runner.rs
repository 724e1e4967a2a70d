//! Runs the levels of a study, each as a separate run, unless they exist already.

use std::collections::VecDeque;
use std::time::Duration;

use analysis::capacity::search::is_decided;
use catalogue::{Catalogue, RunId};
use engine::{AbortReason, RunControl};
use model::capacity::{LoadUnit, Purpose};
use model::{GoDuration, LogLevel, RunEvent, SystemClock};
use plan::{ConstantLoad, Pace, RATE_TIME_S};
use report::capacity::{self, LevelLine, StudyKind};
use runfile::StudyFacts;
use runs::study::{self, Asked, Gathered, Meter, Read, Stored, parse_all, stored_levels};
use runs::{Exit, Failure};
use session::Context;
use session::signals::{self, Running, Turn};
use session::{Names, Observer};

use super::run::{self, Aside};
use crate::flags::{RecordFlags, ResultFlags, RunFlags, StudyFlags};

/// Number of attempts for a level that proves nothing.
const TRIES: usize = 2;

/// Assumed duration of an iteration before any was measured, seconds.
const ITERATION_S: f64 = 1.0;

/// Factor on the mean number of busy VUs.
const VUS_FACTOR: f64 = 2.0;

/// Minimum number of VUs for a rate.
const VUS_MIN: f64 = 10.0;

/// Maximum of the warm-up of a level and of its other times, seconds.
const TIME_S_MAX: f64 = 24.0 * 3600.0;

/// The specification of a level to run.
#[derive(Clone, Debug)]
pub(super) struct LevelSpec {
    pub(super) load: f64,
    pub(super) purpose: Purpose,
    /// Minimum and maximum measurement time, seconds.
    pub(super) least_s: f64,
    pub(super) most_s: f64,
    /// A variable of `__ENV`, for example `REPLICAS=2`; empty for no change.
    pub(super) change: String,
    /// Bursts at earlier levels, for each objective in order.
    pub(super) bursts: Vec<f64>,
    /// Estimated time left after this level, seconds.
    pub(super) left_s: f64,
}

/// Runs levels one after the other.
pub(super) struct LevelRunner<'a> {
    common: &'a Context,
    /// The context without banner and progress, since a study prints its own.
    quiet: Context,
    catalogue: Catalogue,
    flags: RunFlags,
    facts: StudyFacts,
    pub(super) asked: Vec<Asked>,
    pub(super) warm_up_s: f64,
    unit: LoadUnit,
    vus_max: u64,
    /// Stored levels that were not used yet.
    there: VecDeque<Stored>,
    turn: Turn,
    running: Running,
    control: Option<RunControl>,
    /// Maximum cool-down after a level that violated an SLO.
    rest: Duration,
    /// Whether the last level violated an SLO.
    is_tired: bool,
    /// Mean duration of an iteration at the last level, seconds.
    iteration_s: Option<f64>,
    /// The exit of the last run; no further one starts after one that ended the study.
    pub(super) exit: Exit,
}

impl<'a> LevelRunner<'a> {
    /// Prepares to run levels, and finds stored ones.
    ///
    /// # Errors
    /// The flags are invalid, or the stored levels belong to another study.
    pub(super) fn new(
        flags: &StudyFlags,
        kind: StudyKind,
        unit: LoadUnit,
        common: &'a Context,
    ) -> Result<LevelRunner<'a>, Failure> {
        refuse(flags)?;
        let level = &flags.level;
        let asked = parse_all(&level.slo)?;
        // Errors in conditions on built-in metrics are reported before anything is loaded.
        let known = model::MetricRegistry::default();
        asked.iter().try_for_each(|asked| asked.held(&known).map(|_| ()))?;
        let warm_up_s = seconds("--warm-up", &level.warm_up)?;
        let random = || RunId::random(SystemClock::now().as_ns()).to_string();
        let catalogue = common.catalogue()?;
        let mut facts = StudyFacts {
            name: level.study.clone().unwrap_or_else(random),
            kind: kind.as_str().to_owned(),
            started_unix_s: common.epoch.wall_unix_ns(SystemClock::now()) / 1_000_000_000,
            unit: unit.as_str().to_owned(),
            warm_up_ns: (warm_up_s * 1e9) as u64,
            objectives: asked.iter().map(|asked| asked.text.clone()).collect(),
            head_room: level.head_room,
            ..StudyFacts::default()
        };
        let there = match &level.study {
            Some(name) => stored_levels(name, i64::MIN / 2, &catalogue)?,
            None => Vec::new(),
        };
        let script = flags.script.script.display().to_string();
        if let Some(other) = there.iter().find(|it| it.script != script || it.facts.unit != facts.unit) {
            let text = format!(
                "failed to continue the study {}: its steps are of {} in {}; choose another name with --study",
                facts.name, other.script, other.facts.unit
            );
            return Err(Failure::new(Exit::InvalidConfig, text));
        }
        if let Some(first) = there.first() {
            facts.started_unix_s = first.facts.started_unix_s;
        }
        facts.number = there.iter().map(|level| level.facts.number).max().unwrap_or(0);
        let (turn, running) = (Turn::default(), Running::default());
        signals::listen(turn.clone(), running.clone(), common.logger.clone());
        Ok(LevelRunner {
            common,
            quiet: common.quiet(),
            catalogue,
            flags: run_flags(flags),
            facts,
            asked,
            warm_up_s,
            unit,
            vus_max: level.vus_max,
            there: there.into(),
            turn,
            running,
            control: None,
            rest: Duration::from_secs_f64(seconds("--rest", &level.rest)?),
            is_tired: false,
            iteration_s: None,
            exit: Exit::Ok,
        })
    }

    /// Returns an empty study for these levels.
    pub(super) fn gathered(&self, kind: StudyKind) -> Gathered {
        let script = self.flags.script.script.display().to_string();
        Gathered::new(&self.facts.name, kind, &script, self.unit, self.facts.head_room)
    }

    /// Returns the name of the study.
    pub(super) fn name(&self) -> &str {
        &self.facts.name
    }

    /// Returns the key of a level's variant.
    pub(super) fn variant(&self, change: &str) -> String {
        study::variant(change, self.flags.record.target_version.as_deref().unwrap_or_default())
    }

    /// Runs a level, or reads a stored one; `None` if the study must stop. A level that proves nothing is repeated once, and
    /// counts as unknown after that. If its repetition ends the study, what it showed first is the last result.
    ///
    /// # Errors
    /// The first run could not begin, or a run cannot be read.
    pub(super) fn measure(&mut self, spec: &LevelSpec) -> Result<Option<Read>, Failure> {
        let mut last = None;
        for attempt in 1..=TRIES {
            let Some(read) = self.one(spec)? else { break };
            let level = &read.observed.level;
            self.iteration_s = level.mean_s.or(self.iteration_s);
            self.report(&capacity::level_line(&LevelLine {
                level,
                sights: &read.observed.sights,
                objectives: &read.objectives,
                unit: self.unit,
                change: &spec.change,
                left_s: spec.left_s,
            }));
            if !read.is_partial && !read.is_useless() {
                return Ok(Some(read));
            }
            let word = read.grade().as_str();
            let next = match read.is_useless() {
                _ if attempt < TRIES => "the step is repeated",
                true => "it counts as unknown",
                false => "only the SLOs that this does not affect count, with less weight",
            };
            self.warn(&format!("the measurement of this step is {word}: {next}"));
            last = Some(read);
        }
        Ok(last)
    }

    /// Marks that no further level follows.
    pub(super) fn end(&self) {
        self.turn.end();
    }

    /// Prints the study's progress, if it is shown.
    pub(super) fn report(&self, text: &str) {
        if !self.common.is_quiet {
            self.common.logger.report(text);
        }
    }

    /// Prints a warning.
    pub(super) fn warn(&self, text: &str) {
        self.common.logger.say(LogLevel::Warn, text.to_owned());
    }

    fn one(&mut self, spec: &LevelSpec) -> Result<Option<Read>, Failure> {
        let version = self.flags.record.target_version.clone().unwrap_or_default();
        let is_it = |stored: &Stored| {
            stored.facts.load == spec.load
                && stored.facts.purpose == spec.purpose.as_str()
                && stored.facts.variant == spec.change
                && stored.target_version == version
        };
        while let Some(at) = self.there.iter().position(is_it) {
            let Some(stored) = self.there.remove(at) else { break };
            let read = study::read(&stored.path, &stored.facts, &self.asked)?;
            // A search continues from its earlier results; a level that the user chose is repeated until it is valid.
            if !read.is_useless() || spec.purpose != Purpose::Asked {
                return Ok(Some(read));
            }
        }
        self.make(spec)
    }

    fn make(&mut self, spec: &LevelSpec) -> Result<Option<Read>, Failure> {
        let control = match &self.control {
            None => self.turn.first(),
            Some(_) => self.turn.next(),
        };
        let is_first = self.control.replace(control.clone()).is_none();
        if self.is_tired {
            control.rest(self.rest);
        }
        if control.is_stopped() {
            self.exit = Exit::Signal;
        }
        if self.exit != Exit::Ok {
            return Ok(None);
        }
        self.facts.number += 1;
        let facts = StudyFacts {
            load: spec.load,
            purpose: spec.purpose.as_str().to_owned(),
            variant: spec.change.clone(),
            ..self.facts.clone()
        };
        let flags = self.level_flags(spec);
        let aside = Aside {
            study: Some(facts.clone()),
            observer: Some(self.observer(spec, &control)),
            ..Aside::default()
        };
        let made = run::one(&flags, &self.quiet, control, self.running.clone(), aside);
        let finished = match made {
            Ok(finished) => finished,
            Err(failure) if is_first => return Err(failure),
            Err(failure) => {
                self.exit = crate::report(&failure, self.common);
                return Ok(None);
            }
        };
        self.exit = finished.exit;
        let Some(id) =
            finished.id.filter(|_| finished.exit == Exit::Ok || finished.exit == Exit::MarkedFailed)
        else {
            return Ok(None);
        };
        self.exit = Exit::Ok;
        let path = self.catalogue.find(id.as_str()).map_err(|error| runs::failed(&error))?;
        let read = study::read(&path, &facts, &self.asked)?;
        self.is_tired =
            read.observed.sights.iter().any(|sight| sight.holds().is_some_and(|holds| holds < 0.5));
        Ok(Some(read))
    }

    /// Returns the flags of a level's run.
    fn level_flags(&self, spec: &LevelSpec) -> RunFlags {
        let mut flags = self.flags.clone();
        let duration_s = self.warm_up_s + spec.most_s;
        flags.options.constant = Some(ConstantLoad {
            pace: self.pace(spec.load),
            duration: GoDuration::from_ms(duration_s * 1e3).unwrap_or_default(),
            graceful_stop: GoDuration::from_ms(study::patience_s(&self.asked) * 1e3).unwrap_or_default(),
        });
        flags.script.env.extend((!spec.change.is_empty()).then(|| spec.change.clone()));
        flags.record.name = Some(capacity::level_name(spec.load, self.unit, &spec.change));
        flags
    }

    fn pace(&self, load: f64) -> Pace {
        if self.unit == LoadUnit::Vus {
            return Pace::Vus(load.round() as u64);
        }
        // A system at its limit takes about as long as the SLO allows, and needs VUs for that.
        let known = model::MetricRegistry::default();
        let held = self.asked.iter().filter_map(|asked| asked.held(&known).ok().flatten());
        let limits_s = held.filter(study::Held::is_time).map(|held| held.condition.limit / 1e3);
        let iteration_s = limits_s.fold(self.iteration_s.unwrap_or(ITERATION_S), f64::max);
        let vus_max = self.vus_max as f64;
        let least = VUS_MIN.max(f64::from(self.flags.agents.agents.unwrap_or(1)));
        let vus = (load * iteration_s * VUS_FACTOR).max(least).min(vus_max).ceil();
        Pace::Rate {
            iterations: (load * f64::from(RATE_TIME_S)).round() as u64,
            vus: vus as u64,
            vus_max: (vus * VUS_FACTOR).min(vus_max) as u64,
        }
    }

    /// Returns an observer that ends a level's run as soon as the result is certain.
    fn observer(&self, spec: &LevelSpec, control: &RunControl) -> Observer {
        let mut meter = Meter::new(&self.asked, self.warm_up_s, self.warm_up_s + spec.most_s);
        let (purpose, least_s, control) = (spec.purpose, spec.least_s, control.clone());
        let bursts = spec.bursts.clone();
        Box::new(move |event: &RunEvent, names: &Names| match event {
            RunEvent::ScenariosStarted { at } => meter.begin(*at),
            RunEvent::Window(window) => {
                if let Err(failure) = meter.add(window, &names.metrics, &names.tags) {
                    let why = failure.text.trim_start_matches("failed to ");
                    control.stop(AbortReason::Listener(format!("it cannot {why}").into()));
                } else if meter.measured_s() >= least_s
                    && (purpose == Purpose::Ramp && meter.is_far()
                        || is_decided(purpose, &meter.sights(), &bursts))
                {
                    control.stop(AbortReason::Enough);
                }
            }
            _ => {}
        })
    }
}

/// Parses a time of a flag, seconds.
///
/// # Errors
/// The text is no duration, negative or longer than a day.
pub(super) fn seconds(flag: &str, text: &str) -> Result<f64, Failure> {
    let time_s = runs::parse_length(flag, text, Exit::InvalidConfig)?.as_secs_f64();
    if time_s <= TIME_S_MAX {
        return Ok(time_s);
    }
    let text = format!("failed to read {flag} {text:?}: write a time up to a day, such as 30s");
    Err(Failure::new(Exit::InvalidConfig, text))
}

/// Returns the flags that all levels share.
fn run_flags(flags: &StudyFlags) -> RunFlags {
    let mut options = flags.options.clone();
    // The flag listed the loads, and each level has one of them.
    options.vus = None;
    RunFlags {
        script: flags.script.clone(),
        options,
        results: ResultFlags {
            summary_mode: Some("disabled".to_owned()),
            no_thresholds: Some(true),
            ..ResultFlags::default()
        },
        record: RecordFlags {
            no_store: Some(false),
            target_version: flags.level.target_version.clone(),
            ..RecordFlags::default()
        },
        evidence: flags.evidence.clone(),
        otlp: flags.otlp.clone(),
        agents: flags.agents.clone(),
        workers: flags.level.workers,
        linger: Some(false),
        no_page: Some(true),
        ..RunFlags::default()
    }
}

/// Refuses flags that make no sense for several levels.
pub(super) fn refuse(flags: &StudyFlags) -> Result<(), Failure> {
    let options = &flags.options;
    let script = flags.script.script.as_os_str();
    let refusals = [
        (script == "-", "a script from standard input", "it can be read only once; use a file"),
        (options.duration.is_some(), "--duration", "each step has its own length"),
        (options.iterations.is_some(), "--iterations", "steps have a duration"),
        (!options.stages.is_empty(), "--stage", "the load of a step is constant"),
        (options.once, "--once", "steps have a duration"),
        (options.paused.is_some(), "--paused", "no step would start"),
        (
            flags.agents.are_started_by_users(),
            "--agents-listen",
            "agents of other machines leave at the end of each step; leave it out to use processes of this machine",
        ),
    ];
    if let Some((_, what, why)) = refusals.into_iter().find(|(holds, ..)| *holds) {
        let text = format!("failed to measure load steps with {what}: {why}");
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let head_room = flags.level.head_room;
    if !(head_room > 0.0 && head_room <= 1.0) {
        let text = format!("failed to read --head-room {head_room}: expected a number above 0 and at most 1");
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_bounded() {
        for (text, expect) in [
            ("30s", Some(30.0)),
            ("0s", Some(0.0)),
            ("1m30s", Some(90.0)),
            ("25h", None),
            ("-1s", None),
            ("x", None),
            ("30", None),
        ] {
            assert_eq!(seconds("--hold", text).ok(), expect, "{text}");
        }
    }

    #[test]
    fn what_has_no_meaning_for_levels_is_refused() {
        let with = |change: fn(&mut StudyFlags)| {
            let mut flags = StudyFlags::default();
            flags.script.script = "a.js".into();
            flags.level.head_room = 0.8;
            change(&mut flags);
            refuse(&flags).is_ok()
        };
        assert!(with(|_| {}));
        assert!(with(|flags| flags.options.vus = Some("1,2".to_owned())));
        assert!(!with(|flags| flags.script.script = "-".into()));
        assert!(with(|flags| flags.agents.agents = Some(2)));
        assert!(!with(|flags| flags.agents.agents_listen = Some("0.0.0.0:7000".to_owned())));
        assert!(!with(|flags| flags.options.duration = Some("5s".to_owned())));
        assert!(!with(|flags| flags.level.head_room = 1.1));
        assert!(!with(|flags| flags.level.head_room = f64::NAN));
    }
}
