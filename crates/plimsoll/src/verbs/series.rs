//! `plimsoll run --repeat`, `--interleave` and `--observer-effect`: several runs in a row, judged together.

use std::collections::{BTreeMap, HashMap};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use catalogue::{Catalogue, RunId};
use model::{LogLevel, SystemClock};
use report::repeats::{self, RepeatedRun};
use report::{Lang, comparison};
use runfile::{Header, State};
use runs::{Exit, Failure, validity};
use session::Context;
use session::signals::{Running, Turn};
use session::{env, logger};

use super::run::{self, Aside};
use super::{compare, observer};
use crate::flags::{RunFlags, SeriesFlags};

/// Default number of runs per side: from three on, `compare` accounts for the variation between runs.
const REPEATS_INTERLEAVED: u16 = 3;

/// Tags of the stored runs: the name of the series, the side, and the number of the round from 1.
const SERIES: &str = "series";
const SIDE: &str = "side";
const ROUND: &str = "round";

/// The names of the sides.
const SIDES: [&str; 2] = ["A", "B"];

/// Exits of a run that completed, so that it can be compared.
const WHOLE: [Exit; 4] = [Exit::Ok, Exit::ThresholdsFailed, Exit::MarkedFailed, Exit::NotValid];

/// The position of a run in a series: side and round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Slot {
    side: usize,
    round: u16,
}

/// The runs of a series.
struct Series<'a> {
    context: &'a Context,
    catalogue: Catalogue,
    /// The flags of each side; one side if nothing is compared.
    sides: Vec<RunFlags>,
    name: String,
    slots: Vec<Slot>,
    /// Completed runs.
    runs: Vec<(Slot, PathBuf, RepeatedRun)>,
    exit: Exit,
}

/// Runs the subcommand.
///
/// # Errors
/// The flags are contradictory, the first run could not begin, or the runs cannot be read.
pub(super) fn run(
    flags: &RunFlags,
    context: &Context,
    turn: &Turn,
    running: &Running,
) -> Result<Exit, Failure> {
    refuse(flags, context)?;
    // Invalid options are reported before the first run, not after the last.
    let options = compare::options(&flags.series.judge)?;
    let sides = if flags.series.observer_effect { observer::sides(flags, context)? } else { sides(flags)? };
    let repeats = flags.series.repeat.unwrap_or(if sides.len() > 1 { REPEATS_INTERLEAVED } else { 1 });
    let random = || RunId::random(SystemClock::now().as_ns()).to_string();
    let mut series = Series {
        context,
        catalogue: context.catalogue()?,
        name: flags.series.series.clone().unwrap_or_else(random),
        slots: slots(sides.len(), repeats),
        sides,
        runs: Vec::new(),
        exit: Exit::Ok,
    };
    series.make(flags.series.series.is_some(), turn, running)?;
    turn.end();
    series.judge(&flags.series, options)
}

impl Series<'_> {
    /// Makes the missing runs, until all exist or one ends in a way that the next would, too.
    fn make(&mut self, may_be_there: bool, turn: &Turn, running: &Running) -> Result<(), Failure> {
        let there = if may_be_there { self.there()? } else { HashMap::new() };
        let mut control = turn.first();
        for (number, slot) in (1..).zip(self.slots.clone()) {
            if let Some(path) = there.get(&slot) {
                self.take(number, slot, path.clone())?;
                continue;
            }
            let aside = Aside { tags: self.tags(slot), ..Aside::default() };
            let made =
                run::one(&self.sides[slot.side], self.context, control.clone(), running.clone(), aside);
            let finished = match made {
                Ok(finished) => finished,
                Err(failure) if self.runs.is_empty() => return Err(failure),
                Err(failure) => {
                    self.exit = self.exit.or_worse(crate::report(&failure, self.context));
                    break;
                }
            };
            control = turn.next();
            self.exit = self.exit.or_worse(finished.exit);
            let Some(id) = finished.id.filter(|_| WHOLE.contains(&finished.exit)) else {
                self.explain_end(number, finished.exit);
                break;
            };
            let path = self.catalogue.find(id.as_str()).map_err(|error| runs::failed(&error))?;
            self.take(number, slot, path)?;
        }
        Ok(())
    }

    /// Adds a completed run, and prints its result.
    fn take(&mut self, number: usize, slot: Slot, path: PathBuf) -> Result<(), Failure> {
        let reader = runs::open(&path)?;
        let (window, _) = runs::whole(&reader)?;
        let repeated = RepeatedRun {
            side: if self.sides.len() > 1 { SIDES[slot.side] } else { "" },
            run: runs::history::historic(&reader)?,
            grade: validity::of_stored(&reader, &window, None)?.grade,
        };
        session::terminal::print(&repeats::line(number, self.slots.len(), &repeated, Lang::En));
        self.runs.push((slot, path, repeated));
        Ok(())
    }

    fn explain_end(&self, number: usize, exit: Exit) {
        let of = self.slots.len();
        let why = match exit {
            Exit::Signal => "it was interrupted".to_owned(),
            exit if WHOLE.contains(&exit) => "it could not be stored".to_owned(),
            exit => format!("it ended with exit code {}, and the next would, too", exit.code()),
        };
        let text =
            format!("run {number} of {of} is the last one, and is excluded from the comparison: {why}");
        self.context.logger.say(LogLevel::Warn, text);
    }

    fn tags(&self, slot: Slot) -> BTreeMap<String, String> {
        let round = slot.round.to_string();
        let mut tags = BTreeMap::from([(SERIES.to_owned(), self.name.clone()), (ROUND.to_owned(), round)]);
        if self.sides.len() > 1 {
            tags.insert(SIDE.to_owned(), SIDES[slot.side].to_owned());
        }
        tags
    }

    /// Returns the completed runs of this series that are stored already.
    fn there(&self) -> Result<HashMap<Slot, PathBuf>, Failure> {
        let mut there = HashMap::new();
        for entry in self.catalogue.list().map_err(|error| runs::failed(&error))? {
            let path = self.catalogue.bring(&entry).map_err(|error| runs::failed(&error))?;
            // Unreadable files are skipped here; `plimsoll runs` lists them.
            let Ok(reader) = runs::open(&path) else { continue };
            let code = reader.ending().map(|ending| ending.exit_code);
            let is_whole = reader.state() == State::Complete
                && WHOLE.iter().any(|exit| Some(i32::from(exit.code())) == code);
            let slot = self.slots.iter().find(|slot| self.has_tags(reader.header(), **slot));
            if let Some(slot) = slot.filter(|_| is_whole) {
                there.insert(*slot, path);
            }
        }
        Ok(there)
    }

    fn has_tags(&self, header: &Header, slot: Slot) -> bool {
        let is_side_right = self.sides.len() > 1 || !header.tags.contains_key(SIDE);
        is_side_right && self.tags(slot).iter().all(|(name, value)| header.tags.get(name) == Some(value))
    }

    /// Prints the combined result of the runs.
    fn judge(self, flags: &SeriesFlags, options: analysis::compare::Options) -> Result<Exit, Failure> {
        let style = logger::style(self.context.may_colour && std::io::stdout().is_terminal());
        let of_side = |side: usize| self.runs.iter().filter(move |(slot, ..)| slot.side == side);
        if self.sides.len() == 1 {
            let runs: Vec<RepeatedRun> = of_side(0).map(|(_, _, repeated)| repeated.clone()).collect();
            session::terminal::print(&format!("\n{}", repeats::text(&runs, Lang::En, style)));
            self.tell_tag();
            return Ok(self.exit);
        }
        let paths = |side| of_side(side).map(|(_, path, _)| path.clone()).collect::<Vec<_>>();
        let (a, b) = (paths(0), paths(1));
        if a.is_empty() || b.is_empty() {
            let text = "nothing to compare: one side has no complete run";
            self.context.logger.say(LogLevel::Error, text);
            return Ok(if self.exit == Exit::Ok { Exit::Other } else { self.exit });
        }
        let report = runs::comparison::judged(&a, &b, options)?;
        session::terminal::print(&format!("\n{}", comparison::text(&report, Lang::En, style)));
        if flags.observer_effect {
            let rows = observer::levels(&report, &a, &b)?;
            session::terminal::print(&format!("\n{}", comparison::levels(&rows, Lang::En, style)));
        }
        self.tell_tag();
        Ok(self.exit.or_worse(compare::exit(std::slice::from_ref(&report), &flags.judge)))
    }

    /// Prints the command that finds these runs.
    fn tell_tag(&self) {
        if self.context.is_quiet {
            return;
        }
        let ids = |side: usize| {
            let runs = self.runs.iter().filter(|(slot, ..)| slot.side == side);
            runs.map(|(_, _, repeated)| repeated.run.id.as_str()).collect::<Vec<_>>().join(",")
        };
        let again = match self.sides.len() {
            1 => format!("plimsoll runs --tag {SERIES}={}", self.name),
            _ => format!("plimsoll compare {} {}", ids(0), ids(1)),
        };
        self.context.logger.report(&format!("series: {}  {again}", self.name));
    }
}

/// Returns the order of the runs, A B B A A B …, so that drift over time and the first position favour neither side.
fn slots(sides: usize, repeats: u16) -> Vec<Slot> {
    let round = |round: u16| {
        let mut order: Vec<usize> = (0..sides).collect();
        if round.is_multiple_of(2) {
            order.reverse();
        }
        order.into_iter().map(move |side| Slot { side, round })
    };
    (1..=repeats).flat_map(round).collect()
}

/// Returns the flags of each side: the test as typed and, for a comparison, the test with the changes.
fn sides(flags: &RunFlags) -> Result<Vec<RunFlags>, Failure> {
    let changes = &flags.series.interleave;
    if changes.is_empty() {
        return Ok(vec![flags.clone()]);
    }
    let mut changed = flags.clone();
    let mut has_script = false;
    for change in changes {
        if is_variable(change) {
            changed.script.env.push(change.clone());
        } else if std::mem::replace(&mut has_script, true) {
            let text = format!(
                "failed to read --interleave {change:?}: it is the second script, and there is one change"
            );
            return Err(Failure::new(Exit::InvalidConfig, text));
        } else {
            changed.script.script = change.into();
        }
    }
    Ok(vec![flags.clone(), changed])
}

/// Returns true if a change is `NAME=VALUE`; anything else is the path of a script.
fn is_variable(change: &str) -> bool {
    change.split_once('=').is_some_and(|(name, _)| env::is_name(name))
}

/// Refuses flags that make no sense for several runs.
fn refuse(flags: &RunFlags, context: &Context) -> Result<(), Failure> {
    let is_on = |flag: Option<bool>, name: &str| {
        Ok::<bool, Failure>(flag.or(context.env.switch(name)?).unwrap_or(false))
    };
    let overwrites = "each run would overwrite the files of the previous run; write them from stored runs with `plimsoll report` or `plimsoll export`";
    let is_file = |text: &String| text.starts_with("json=") || text.starts_with("csv=");
    let export = flags.results.summary_export.is_some() || context.env.setting("SUMMARY_EXPORT").is_some();
    let refusals = [
        (flags.script.script == Path::new("-"), "-", "standard input can be read only once; use a file"),
        (is_on(flags.record.no_store, "NO_STORE")?, "--no-store", "the comparison needs stored runs"),
        (is_on(flags.linger, "LINGER")?, "--linger", "the next run would never begin"),
        (export, "--summary-export", overwrites),
        (!flags.record.report.is_empty(), "--report", overwrites),
        (run::output_texts(&flags.results, context).iter().any(is_file), "--out", overwrites),
    ];
    if let Some((_, what, why)) = refusals.into_iter().find(|(holds, ..)| *holds) {
        let text = format!("cannot repeat runs with {what}: {why}");
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    if flags.series.judge.fail_on.is_some() && !flags.series.has_sides() {
        let text =
            "--fail-on needs --interleave, which compares runs; use `plimsoll compare` for stored runs";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_take_turns() {
        let order = |sides, repeats| -> Vec<String> {
            slots(sides, repeats).iter().map(|slot| format!("{}{}", SIDES[slot.side], slot.round)).collect()
        };
        assert_eq!(order(2, 3), ["A1", "B1", "B2", "A2", "A3", "B3"]);
        assert_eq!(order(1, 2), ["A1", "A2"]);
    }

    #[test]
    fn a_change_is_a_variable_or_a_script() {
        for (change, expect) in [
            ("HOST=https://new.example/?a=b,c", true),
            ("_x1=", true),
            ("new.js", false),
            ("./a=b.js", false),
            ("1A=b", false),
            ("=b", false),
        ] {
            assert_eq!(is_variable(change), expect, "{change}");
        }
    }

    #[test]
    fn the_second_side_is_the_first_with_the_changes() {
        let with = |changes: &[&str]| {
            let mut flags = RunFlags::default();
            flags.script.script = "a.js".into();
            flags.script.env = vec!["HOST=a".to_owned()];
            flags.series.interleave = changes.iter().map(|change| (*change).to_owned()).collect();
            sides(&flags)
        };
        assert_eq!(with(&[]).expect("one side").len(), 1);
        let both = with(&["HOST=b", "b.js"]).expect("two sides");
        assert_eq!(
            (both[0].script.script.as_path(), &both[0].script.env[..]),
            (Path::new("a.js"), &["HOST=a".to_owned()][..])
        );
        assert_eq!(both[1].script.script, Path::new("b.js"));
        assert_eq!(both[1].script.env, ["HOST=a", "HOST=b"], "the last one counts");
        assert!(with(&["b.js", "c.js"]).is_err());
    }
}
