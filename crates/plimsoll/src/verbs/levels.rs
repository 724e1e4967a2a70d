//! Levels of a study: each a run of its own, made where it is not there already.

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

use super::run::{self, Aside};
use crate::flags::{RecordFlags, ResultFlags, RunFlags, StudyFlags};
use session::Context;
use session::signals::{self, Running, Turn};
use session::{Names, Observer};

/// A level that is of no use is made again so often.
const TRIES: usize = 2;

/// How long iterations may run on after the end of a level. What takes longer is cut, and would not count.
const GRACEFUL_STOP_S: u32 = 3;

/// The time of an iteration of which nothing is known yet, in seconds.
const ITERATION_S: f64 = 1.0;

/// VUs beyond those that are busy on average.
const VUS_FACTOR: f64 = 2.0;

/// VUs that a rate has at least.
const VUS_MIN: f64 = 10.0;

/// How long a signal may go unheeded while the target rests.
const REST_SLICE: Duration = Duration::from_millis(50);

/// The warm-up of a level, and any other of its times, at most.
const TIME_S_MAX: f64 = 24.0 * 3600.0;

/// A level to be made.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) load: f64,
    pub(super) purpose: Purpose,
    /// How long it is looked at, at least and at most.
    pub(super) least_s: f64,
    pub(super) most_s: f64,
    /// A variable of __ENV for it: `REPLICAS=2`; empty where nothing is changed.
    pub(super) change: String,
    /// The bursts that earlier levels told of, of each objective in order.
    pub(super) bursts: Vec<f64>,
    /// About how long everything takes after it.
    pub(super) left_s: f64,
}

/// Makes levels, one after the other.
pub(super) struct Levels<'a> {
    common: &'a Context,
    /// The same without banner and progress, which a study has its own of.
    quiet: Context,
    catalogue: Catalogue,
    flags: RunFlags,
    facts: StudyFacts,
    pub(super) asked: Vec<Asked>,
    pub(super) warm_up_s: f64,
    unit: LoadUnit,
    vus_max: u64,
    /// Levels that are there and were not asked for yet.
    there: VecDeque<Stored>,
    turn: Turn,
    running: Running,
    control: Option<RunControl>,
    /// How long the target may rest after a level that broke what is asked.
    rest: Duration,
    /// Whether the last level did.
    is_tired: bool,
    /// The mean time of an iteration at the last level, in seconds.
    iteration_s: Option<f64>,
    /// How the last run ended.
    pub(super) exit: Exit,
}

impl<'a> Levels<'a> {
    /// Prepares to make levels, and finds those that are there.
    ///
    /// # Errors
    /// The flags cannot be understood, or the levels that are there are of something else.
    pub(super) fn new(
        flags: &StudyFlags,
        kind: StudyKind,
        unit: LoadUnit,
        common: &'a Context,
    ) -> Result<Levels<'a>, Failure> {
        refuse(flags)?;
        let level = &flags.level;
        let asked = parse_all(&level.slo)?;
        // What is wrong with a condition on a built-in metric is told before anything is loaded.
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
                "failed to go on with the study {}: its levels are of {} in {}; name another with --study",
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
        Ok(Levels {
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

    /// A study of these levels.
    pub(super) fn gathered(&self, kind: StudyKind) -> Gathered {
        let script = self.flags.script.script.display().to_string();
        Gathered::new(&self.facts.name, kind, &script, self.unit, self.facts.head_room)
    }

    /// The name of the study.
    pub(super) fn name(&self) -> &str {
        &self.facts.name
    }

    /// What tells a level's variant from others.
    pub(super) fn variant(&self, change: &str) -> String {
        study::variant(change, self.flags.record.target_version.as_deref().unwrap_or_default())
    }

    /// Measures a level, or takes it from what is there; `None` where no further level is to be made. One that is of no use is
    /// made once more, and counts as unknown after that.
    ///
    /// # Errors
    /// The first run could not begin, or a run cannot be read.
    pub(super) fn measure(&mut self, wanted: &Wanted) -> Result<Option<Read>, Failure> {
        let mut last = None;
        for attempt in 1..=TRIES {
            let Some(read) = self.one(wanted)? else { break };
            let level = &read.observed.level;
            self.iteration_s = level.mean_s.or(self.iteration_s);
            self.tell(&capacity::level_line(&LevelLine {
                level,
                sights: &read.observed.sights,
                objectives: &read.objectives,
                unit: self.unit,
                change: &wanted.change,
                left_s: wanted.left_s,
            }));
            if !read.is_useless() {
                return Ok(Some(read));
            }
            let word = read.grade().as_str();
            let next = if attempt < TRIES { "it is made once more" } else { "it counts as unknown" };
            self.common
                .logger
                .say(LogLevel::Warn, format!("the measurement of this level is {word}: {next}"));
            last = Some(read);
        }
        Ok(last)
    }

    /// No further level follows.
    pub(super) fn end(&self) {
        self.turn.end();
    }

    /// Tells how the study stands, where that is wanted.
    pub(super) fn tell(&self, text: &str) {
        if !self.common.is_quiet {
            self.common.logger.tell(text);
        }
    }

    fn one(&mut self, wanted: &Wanted) -> Result<Option<Read>, Failure> {
        let version = self.flags.record.target_version.clone().unwrap_or_default();
        let is_it = |stored: &Stored| {
            stored.facts.load == wanted.load
                && stored.facts.purpose == wanted.purpose.as_str()
                && stored.facts.variant == wanted.change
                && stored.target_version == version
        };
        while let Some(at) = self.there.iter().position(is_it) {
            let Some(stored) = self.there.remove(at) else { break };
            let read = study::read(&stored.path, &stored.facts, &self.asked)?;
            // A search goes on from what it knew then; what somebody chose is made again until it is of use.
            if !read.is_useless() || wanted.purpose != Purpose::Asked {
                return Ok(Some(read));
            }
        }
        self.make(wanted)
    }

    fn make(&mut self, wanted: &Wanted) -> Result<Option<Read>, Failure> {
        let control = match &self.control {
            None => self.turn.first(),
            Some(_) => self.turn.next(),
        };
        let is_first = self.control.replace(control.clone()).is_none();
        if self.is_tired {
            rest(self.rest, &control);
        }
        if control.is_stopped() {
            self.exit = Exit::Signal;
            return Ok(None);
        }
        self.facts.number += 1;
        let facts = StudyFacts {
            load: wanted.load,
            purpose: wanted.purpose.as_str().to_owned(),
            variant: wanted.change.clone(),
            ..self.facts.clone()
        };
        let flags = self.level_flags(wanted);
        let aside = Aside {
            study: Some(facts.clone()),
            observer: Some(self.observer(wanted, &control)),
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

    /// The flags of a level's run.
    fn level_flags(&self, wanted: &Wanted) -> RunFlags {
        let mut flags = self.flags.clone();
        let duration_s = self.warm_up_s + wanted.most_s;
        flags.options.constant = Some(ConstantLoad {
            pace: self.pace(wanted.load),
            duration: GoDuration::from_ms(duration_s * 1e3).unwrap_or_default(),
            graceful_stop: GoDuration::from_secs(GRACEFUL_STOP_S),
        });
        flags.script.env.extend((!wanted.change.is_empty()).then(|| wanted.change.clone()));
        flags.record.name = Some(capacity::level_name(wanted.load, self.unit, &wanted.change));
        flags
    }

    fn pace(&self, load: f64) -> Pace {
        if self.unit == LoadUnit::Vus {
            return Pace::Vus(load.round() as u64);
        }
        // A system at its limit takes about as long as the limit says, and needs VUs for that.
        let known = model::MetricRegistry::default();
        let held = self.asked.iter().filter_map(|asked| asked.held(&known).ok().flatten());
        let limits_s = held.filter(study::Held::is_time).map(|held| held.condition.limit / 1e3);
        let iteration_s = limits_s.fold(self.iteration_s.unwrap_or(ITERATION_S), f64::max);
        let vus_max = self.vus_max as f64;
        let vus = (load * iteration_s * VUS_FACTOR).max(VUS_MIN).min(vus_max).ceil();
        Pace::Rate {
            iterations: (load * f64::from(RATE_TIME_S)).round() as u64,
            vus: vus as u64,
            vus_max: (vus * VUS_FACTOR).min(vus_max) as u64,
        }
    }

    /// Looks at a level while it runs, and ends it where it is decided.
    fn observer(&self, wanted: &Wanted, control: &RunControl) -> Observer {
        let mut meter = Meter::new(&self.asked, self.warm_up_s, self.warm_up_s + wanted.most_s);
        let (purpose, least_s, control) = (wanted.purpose, wanted.least_s, control.clone());
        let bursts = wanted.bursts.clone();
        Box::new(move |event: &RunEvent, names: &Names| match event {
            RunEvent::ScenariosStarted { at } => meter.begin(*at),
            RunEvent::Window(window) => {
                if let Err(failure) = meter.add(window, &names.metrics, &names.tags) {
                    let why = failure.text.trim_start_matches("failed to ");
                    control.stop(AbortReason::Listener(format!("it cannot {why}").into()));
                } else if meter.measured_s() >= least_s && is_decided(purpose, &meter.sights(), &bursts) {
                    control.stop(AbortReason::Enough);
                }
            }
            _ => {}
        })
    }
}

/// Waits, unless the study is stopped.
fn rest(time: Duration, control: &RunControl) {
    let mut left = time;
    while !left.is_zero() && !control.is_stopped() {
        let slice = left.min(REST_SLICE);
        std::thread::sleep(slice);
        left -= slice;
    }
}

/// A time of a flag in seconds.
///
/// # Errors
/// It is none, negative or longer than a day.
pub(super) fn seconds(flag: &str, text: &str) -> Result<f64, Failure> {
    let time_s = GoDuration::parse(text).map(|time| time.ns as f64 / 1e9);
    time_s.filter(|time_s| (0.0..=TIME_S_MAX).contains(time_s)).ok_or_else(|| {
        let text = format!("failed to read {flag} {text:?}: write a time up to a day, such as 30s");
        Failure::new(Exit::InvalidConfig, text)
    })
}

/// The flags that all levels have in common.
fn run_flags(flags: &StudyFlags) -> RunFlags {
    let mut options = flags.options.clone();
    // It said which loads there are, and each level has one of them.
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
        workers: flags.level.workers,
        linger: Some(false),
        no_page: Some(true),
        ..RunFlags::default()
    }
}

/// What makes no sense for several levels.
fn refuse(flags: &StudyFlags) -> Result<(), Failure> {
    let options = &flags.options;
    let script = flags.script.script.as_os_str();
    let refusals = [
        (script == "-", "no file of a script", "name one; standard input can be read once"),
        (options.duration.is_some(), "--duration", "each level has its own length"),
        (options.iterations.is_some(), "--iterations", "levels last for a time"),
        (!options.stages.is_empty(), "--stage", "the load of a level stays the same"),
        (options.once, "--once", "levels last for a time"),
        (options.paused.is_some(), "--paused", "no level would begin"),
    ];
    if let Some((_, what, why)) = refusals.into_iter().find(|(holds, ..)| *holds) {
        let text = format!("failed to measure levels of load with {what}: {why}");
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let head_room = flags.level.head_room;
    if !(head_room > 0.0 && head_room <= 1.0) {
        let text = format!("failed to read --head-room {head_room}: it is a share above 0, up to 1");
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
        assert!(!with(|flags| flags.options.duration = Some("5s".to_owned())));
        assert!(!with(|flags| flags.level.head_room = 1.1));
        assert!(!with(|flags| flags.level.head_room = f64::NAN));
    }
}
