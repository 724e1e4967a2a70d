//! A stored run as the summary that its terminal showed.

use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use catalogue::Catalogue;
use model::Window;
use model::plan::{Compat, ThresholdSpec, TimeUnit};
use report::summary::{SummaryFacts, SummaryInput};
use runfile::{Header, Reader, State};
use tally::{Thresholds, Totals};

use super::failed;
use super::window_range::WindowRange;
use crate::{Exit, Failure};

/// Opens a run file.
///
/// # Errors
/// The file is not a run, or cannot be read.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    Reader::open(path).map_err(|error| failed(&error))
}

/// A run, or a part of it, with its sum, as subcommands show it.
pub struct Shown {
    /// The reader of the run's file.
    pub reader: Reader,
    /// The sum of the seconds.
    pub window: Window,
    /// The length of the seconds.
    pub elapsed: Duration,
    /// The selected windows, if not all.
    pub range: Option<Range<u32>>,
}

/// Finds a run and sums up the part that `--window` names, or the whole run.
///
/// # Errors
/// There is no such run or part, or the file cannot be read.
pub fn find(run: &str, window: Option<&str>, catalogue: &Catalogue) -> Result<Shown, Failure> {
    let asked = window.map(WindowRange::parse).transpose()?;
    let path = catalogue.find(run).map_err(|error| failed(&error))?;
    let reader = open(&path)?;
    let range = asked.map(|asked| asked.range(&reader)).transpose()?;
    let (window, elapsed) = match &range {
        Some(range) => part(&reader, range.clone())?,
        None => whole(&reader)?,
    };
    Ok(Shown { reader, window, elapsed, range })
}

/// Returns the state of a run in one word.
pub fn state_word(reader: &Reader) -> &'static str {
    if reader.header().imported.is_some() {
        // How the other tool's process ended is unknown.
        return "imported";
    }
    match (reader.state(), reader.ending()) {
        (State::Live, _) => "live",
        (State::Complete, Some(ending)) if ending.exit_code == 0 => "passed",
        (State::Complete, Some(_)) => "failed",
        (State::Partial | State::Complete, _) => "partial",
    }
}

/// Returns the facts that determine the rows of the summary.
pub fn summary_facts(header: &Header) -> SummaryFacts {
    SummaryFacts {
        trend_stats: header.report.trend_stats.clone(),
        compat: if header.compat_strict { Compat::Strict } else { Compat::Honest },
        // For runs of other tools the executor is unknown.
        is_closed: !header.report.has_open_scenario() && header.imported.is_none(),
    }
}

/// Returns the unit that all times are shown in, if the plan sets one.
pub fn time_unit(header: &Header) -> Option<TimeUnit> {
    let word = header.report.time_unit.as_deref()?;
    let all = [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds];
    all.into_iter().find(|unit| unit_word(*unit) == word)
}

/// Returns k6's word for a unit of time.
pub const fn unit_word(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Seconds => "s",
        TimeUnit::Milliseconds => "ms",
        TimeUnit::Microseconds => "us",
    }
}

/// Returns the command that repeats a run, quoted for a shell.
pub fn quoted_command(header: &Header) -> String {
    let rest = header.command_line.iter().skip(1).map(|word| super::quoted(word));
    std::iter::once("plimsoll".to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
}

/// Sums up every second of a run, and returns its length.
///
/// # Errors
/// The file is damaged.
pub fn whole(reader: &Reader) -> Result<(Window, Duration), Failure> {
    let (window, length) = part(reader, reader.range().map_err(|error| failed(&error))?)?;
    // The terminal counted from the start of setup to the end of teardown. Without an ending only the windows are known.
    let elapsed = reader.ending().map(|ending| Duration::from_nanos(ending.elapsed_ns));
    Ok((window, elapsed.unwrap_or(length)))
}

/// Sums up some seconds of a run, and returns their length.
///
/// # Errors
/// The file is damaged.
pub(super) fn part(reader: &Reader, range: Range<u32>) -> Result<(Window, Duration), Failure> {
    if range.is_empty() {
        return Ok((Window::default(), Duration::ZERO));
    }
    let window = reader.sum(range).map_err(|error| failed(&error))?;
    let length = window.end.since(window.start);
    Ok((window, length))
}

/// Returns the summary of a sum, computed by the same code as in the terminal.
///
/// # Errors
/// The file's thresholds cannot be read.
pub fn summary_of(reader: &Reader, window: &Window, elapsed: Duration) -> Result<SummaryInput, Failure> {
    if let Some(stated) = reader.header().imported.as_ref().and_then(|imported| imported.summary.as_ref()) {
        return Ok(super::imported::summary_input(stated, elapsed));
    }
    let totals = totals_of(reader, window, elapsed)?;
    Ok(SummaryInput::from_view(&totals.view(elapsed), &summary_facts(reader.header()), None))
}

/// Returns the totals of a sum, with every threshold evaluated.
///
/// # Errors
/// The file's thresholds cannot be read.
pub(super) fn totals_of(reader: &Reader, window: &Window, elapsed: Duration) -> Result<Totals, Failure> {
    let header = reader.header();
    let specs: Vec<ThresholdSpec> = header.thresholds.iter().map(ThresholdSpec::from).collect();
    let thresholds = Thresholds::parse(&specs, reader.registry()).map_err(|errors| {
        let first = errors.first().map_or_else(String::new, ToString::to_string);
        Failure::new(Exit::Other, format!("failed to read the thresholds of the run: {first}"))
    })?;
    let mut totals = Totals::new(reader.registry().clone(), reader.tags().clone(), thresholds);
    totals.absorb(window);
    totals.evaluate_at_end(elapsed);
    Ok(totals)
}
