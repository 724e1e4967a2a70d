//! `plimsoll collect`: backfills evidence about a past time range from servers that keep history, for a run or without one.

use std::sync::Arc;
use std::time::Duration;

use catalogue::{FileName, RunId};
use evidence::{Moment, Period, Source, SourceState};
use import::RUN_START;
use model::{Epoch, Evidence, Gap, Instant, LogLevel, RecordKind, SystemClock, Window};
use runfile::{Ending, Header, ImportWriter, Reader};
use runs::{Exit, Failure};
use session::Context;
use session::evidence::{AskedFor, open};

use super::import::{EXIT_UNKNOWN, remove};
use crate::flags::CollectFlags;

/// Maximum length of the time range.
const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

/// One window of the time range.
const SECOND: Duration = Duration::from_secs(1);

/// Runs the subcommand.
///
/// # Errors
/// There is no such run or time range, the run is still in progress, no source is configured, or none of them answers.
pub(crate) fn run(flags: &CollectFlags, context: &Context) -> Result<Exit, Failure> {
    let mut sources = open(&session::project::named(&flags.evidence.asked(), context)?)?;
    if sources.is_empty() {
        let text = "failed to collect evidence: no source is named; write [evidence.NAME] into plimsoll.toml, or \
                    --evidence KIND=ADDRESS";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    match (&flags.run, &flags.from) {
        (Some(run), _) => of_run(run, &mut sources, context)?,
        (None, Some(from)) => alone(from, flags, &mut sources, context)?,
        // Unless a run is named, the flag is required.
        (None, None) => {}
    }
    Ok(Exit::Ok)
}

/// Adds evidence about its time to a run.
fn of_run(run: &str, sources: &mut [Box<dyn Source>], context: &Context) -> Result<(), Failure> {
    let catalogue = context.catalogue()?;
    let path = catalogue.find(run).map_err(|error| runs::failed(&error))?;
    let reader = runs::open(&path)?;
    let exemplars = reader.exemplars(0..u32::MAX).map_err(|error| runs::failed(&error))?;
    let mut asked = AskedFor::default();
    asked.add(&exemplars);
    let asked = asked.numbers();
    sources.iter_mut().for_each(|source| source.look_for(&asked));
    let mut collected = ask(sources, &period(&reader)?, context)?;
    // For a source that was sampled during the run, the existing record has more than this single query.
    let records = reader.records().map_err(|error| runs::failed(&error))?;
    let is_known =
        |name: &str| records.iter().any(|record| record.kind == RecordKind::Source && record.source == name);
    collected.records.retain(|record| record.kind != RecordKind::Source || !is_known(&record.source));
    drop(reader);
    runfile::add_evidence(&path, &collected, &context.redactor).map_err(|error| runs::failed(&error))?;
    catalogue.keep(&path).map_err(|error| runs::failed(&error))
}

/// Creates a run from evidence about a time range.
fn alone(
    from: &str,
    flags: &CollectFlags,
    sources: &mut [Box<dyn Source>],
    context: &Context,
) -> Result<(), Failure> {
    let now_ns = context.epoch.wall_unix_ns(SystemClock::now());
    let from_ns = time("--from", from, now_ns)?;
    let to_ns = flags.to.as_deref().map_or(Ok(now_ns), |to| time("--to", to, now_ns))?;
    let length = length(from_ns, to_ns, now_ns)?;
    let epoch = Epoch { at: RUN_START, wall_unix_ns: from_ns };
    let moment = |at: Instant| Moment::new(at, &epoch);
    let period = Period { from: moment(RUN_START), to: moment(RUN_START + length) };
    let collected = ask(sources, &period, context)?;
    let names: Vec<String> = sources.iter().map(|source| source.about().name).collect();
    let id = RunId::random(now_ns.unsigned_abs());
    let header = Header { name: flags.name.clone(), ..runs::evidence_header(&names, from_ns, id.as_str()) };
    let catalogue = context.catalogue()?;
    let path = catalogue.begin(&FileName::new(from_ns, id.clone())).map_err(|error| runs::failed(&error))?;
    let written = write(&path, &header, length).and_then(|()| {
        runfile::add_evidence(&path, &collected, &context.redactor).map_err(|error| runs::failed(&error))
    });
    written.inspect_err(|_| remove(&path))?;
    catalogue.keep(&path).map_err(|error| runs::failed(&error))?;
    context.logger.report(&format!("run: {id}  plimsoll report{} {id}", context.runs_words()));
    Ok(())
}

/// Collects the evidence of every source. One that does not answer leaves a gap.
fn ask(sources: &mut [Box<dyn Source>], period: &Period, context: &Context) -> Result<Evidence, Failure> {
    let mut collected = Evidence::default();
    let mut failures = 0;
    for source in &mut *sources {
        let about = source.about();
        let answer = source.look_back(period);
        let trouble = answer.as_ref().err().map(|error| error.message.clone());
        let failed = u64::from(trouble.is_some());
        failures += failed;
        match answer {
            Ok(evidence) => {
                let points: usize = evidence.signals.iter().map(|signal| signal.points.len()).sum();
                let (series, records) = (evidence.signals.len(), evidence.records.len());
                let traces = match evidence.traces.len() {
                    0 => String::new(),
                    traces => format!(", {traces} traces"),
                };
                let text = format!(
                    "{}: {series} series with {points} points, {records} records{traces}",
                    about.name
                );
                context.logger.print(&format!("{text}\n"));
                collected.append(evidence);
            }
            Err(trouble) => {
                context.logger.say(LogLevel::Warn, format!("no evidence from {}: {trouble}", about.name));
                let (from, to) = (period.from.at, period.to.at);
                collected.gaps.push(Gap { source: about.name.clone(), from, to, reason: trouble.message });
            }
        }
        let state = SourceState { about, answers: 1 - failed, failures: failed, trouble };
        collected.records.push(state.record(period.to.at));
    }
    if failures == sources.len() as u64 {
        return Err(Failure::new(Exit::Other, "failed to collect evidence: no source answered"));
    }
    Ok(collected)
}

/// Returns the time from a run's first window to its last, on both clocks.
fn period(reader: &Reader) -> Result<Period, Failure> {
    let range = reader.range().map_err(|error| runs::failed(&error))?;
    let spans = reader.spans(range).map_err(|error| runs::failed(&error))?;
    let (Some((_, first)), Some((_, last))) = (spans.first(), spans.last()) else {
        return Err(Failure::new(Exit::Other, "failed to collect evidence: the run has no second"));
    };
    let header = reader.header();
    let epoch = Epoch { at: Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    Ok(Period { from: Moment::new(first.start, &epoch), to: Moment::new(last.end, &epoch) })
}

/// Parses a wall-clock time to nanoseconds since 1970: absolute, or relative to now.
fn time(flag: &str, text: &str, now_ns: i64) -> Result<i64, Failure> {
    let ago =
        text.strip_prefix('-').map(|ago| runs::parse_length(flag, ago, Exit::InvalidConfig)).transpose()?;
    let ago_ns = ago.filter(|ago| !ago.is_zero()).and_then(|ago| i64::try_from(ago.as_nanos()).ok());
    let wall_ns = ago_ns.map(|ago_ns| now_ns.saturating_sub(ago_ns)).or_else(|| import::parse_start(text));
    wall_ns.ok_or_else(|| {
        invalid(&format!("read {flag} {text:?}: write a time such as 2026-11-21T19:05:46Z, or -15m"))
    })
}

/// Returns the length of the time range in whole seconds.
fn length(from_ns: i64, to_ns: i64, now_ns: i64) -> Result<Duration, Failure> {
    if to_ns > now_ns {
        return Err(invalid("collect evidence: --to is in the future"));
    }
    let length = Duration::from_nanos(u64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(0));
    if length < SECOND {
        return Err(invalid("collect evidence: the time range is shorter than a second"));
    }
    if length > TIME_MAX {
        let hours = TIME_MAX.as_secs() / 3600;
        return Err(invalid(&format!("collect evidence: the time range is longer than {hours} hours")));
    }
    Ok(Duration::from_secs(length.as_secs()))
}

/// Writes a run of empty seconds, the time axis of the evidence.
fn write(path: &std::path::Path, header: &Header, length: Duration) -> Result<(), Failure> {
    let ending = Ending {
        ended_wall_ns: header.started_wall_ns.saturating_add(i64::try_from(length.as_nanos()).unwrap_or(0)),
        elapsed_ns: u64::try_from(length.as_nanos()).unwrap_or(u64::MAX),
        exit_code: EXIT_UNKNOWN,
        ..Ending::default()
    };
    let write = || {
        let mut writer = ImportWriter::create(path, header, Arc::default(), Arc::default())?;
        for index in 0..u32::try_from(length.as_secs()).unwrap_or(u32::MAX) {
            let start = RUN_START + SECOND * index;
            writer.window(Window { index, start, end: start + SECOND, ..Window::default() })?;
        }
        writer.finish(&ending)
    };
    write().map_err(|error| runs::failed(&error))
}

fn invalid(what: &str) -> Failure {
    Failure::new(Exit::InvalidConfig, format!("failed to {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_NS: i64 = 1_769_486_400_000_000_000;

    #[test]
    fn times_are_written_or_counted_back() {
        let check = |text: &str, expect: Option<i64>| {
            let since = time("--from", text, NOW_NS).ok().map(|ns| (ns - NOW_NS) / 1_000_000_000);
            assert_eq!(since, expect, "{text}");
        };
        check("-15m", Some(-900));
        check("-1h30m", Some(-5400));
        check("2026-01-27T04:00:00Z", Some(0));
        check("2026-01-27T12:59:00+09:00", Some(-60));
        check("yesterday", None);
        check("--15m", None);
        check("15m", None);
    }

    #[test]
    fn a_time_is_over_and_no_longer_than_a_day() {
        let check = |from_s: i64, to_s: i64, expect: Option<u64>| {
            let at = |second: i64| NOW_NS + second * 1_000_000_000;
            let found = length(at(from_s), at(to_s), NOW_NS).ok();
            assert_eq!(found.map(|length| length.as_secs()), expect, "{from_s} {to_s}");
        };
        check(-900, 0, Some(900));
        check(-900, -899, Some(1));
        check(-900, -900, None);
        check(0, -900, None);
        check(-900, 1, None);
        check(-86_400, 0, Some(86_400));
        check(-86_401, 0, None);
    }
}
