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

/// Opens a run.
///
/// # Errors
/// It is none, or cannot be read.
pub fn open(path: &Path) -> Result<Reader, Failure> {
    Reader::open(path).map_err(|error| failed(&error))
}

/// What a verb shows of a run.
pub struct Shown {
    /// The run's file.
    pub reader: Reader,
    /// Its seconds added up.
    pub window: Window,
    /// How long they were.
    pub elapsed: Duration,
    /// Which seconds, where not all of them were asked for.
    pub range: Option<Range<u32>>,
}

/// Finds a run and adds up the part of it that `--window` names, or all of it.
///
/// # Errors
/// There is no such run or no such part, or the file cannot be read.
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

/// How a run stands, in a word.
pub fn state_word(reader: &Reader) -> &'static str {
    if reader.header().imported.is_some() {
        // How its process ended was not seen here.
        return "imported";
    }
    match (reader.state(), reader.ending()) {
        (State::Live, _) => "live",
        (State::Complete, Some(ending)) if ending.exit_code == 0 => "passed",
        (State::Complete, Some(_)) => "failed",
        (State::Partial | State::Complete, _) => "partial",
    }
}

/// What decides about the summary's rows.
pub fn summary_facts(header: &Header) -> SummaryFacts {
    SummaryFacts {
        trend_stats: header.report.trend_stats.clone(),
        compat: if header.compat_strict { Compat::Strict } else { Compat::Honest },
        // Of another tool's run nobody here knows how its iterations were started.
        is_closed: !header.report.has_open_scenario() && header.imported.is_none(),
    }
}

/// The unit that all times are shown in, if there is one.
pub fn time_unit(header: &Header) -> Option<TimeUnit> {
    let word = header.report.time_unit.as_deref()?;
    let all = [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds];
    all.into_iter().find(|unit| unit_word(*unit) == word)
}

/// k6's word for a unit of time.
pub const fn unit_word(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Seconds => "s",
        TimeUnit::Milliseconds => "ms",
        TimeUnit::Microseconds => "us",
    }
}

/// How a run is made again, as a line for a shell.
pub fn quoted_command(header: &Header) -> String {
    let rest = header.command_line.iter().skip(1).map(|word| super::quoted(word));
    std::iter::once("plimsoll".to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
}

/// Every second of a run added up, and how long it was.
///
/// # Errors
/// The file is damaged.
pub fn whole(reader: &Reader) -> Result<(Window, Duration), Failure> {
    let (window, length) = part(reader, reader.range().map_err(|error| failed(&error))?)?;
    // The terminal counted from the start of setup to the end of teardown. Without an ending, the windows are all there is.
    let elapsed = reader.ending().map(|ending| Duration::from_nanos(ending.elapsed_ns));
    Ok((window, elapsed.unwrap_or(length)))
}

/// Some seconds of a run added up, and how long they were.
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

/// The summary of what was added up: exactly the path that the terminal's numbers take.
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

/// What was added up, with every threshold judged.
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
