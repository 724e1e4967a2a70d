//! `plimsoll collect`: evidence about a run that is over, from servers that remember.

use evidence::{Moment, Period};
use model::{Epoch, Evidence, Gap, Instant, LogLevel};
use runfile::Reader;

use crate::common::Common;
use crate::evidence::{named, open};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::CollectFlags;
use crate::stored;

/// Runs the verb.
///
/// # Errors
/// There is no such run, it still goes on, no source is named, or none of them answers.
pub(crate) fn run(flags: &CollectFlags, common: &Common) -> Result<Exit, Failure> {
    let mut sources = open(&named(&flags.evidence, common)?)?;
    if sources.is_empty() {
        let text = "failed to collect evidence: no source is named; write [evidence.NAME] into plimsoll.toml, or \
                    --evidence KIND=ADDRESS";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    let catalogue = common.catalogue()?;
    let path = catalogue.find(&flags.run).map_err(|error| stored::failed(&error))?;
    let period = period(&stored::open(&path)?)?;
    let mut told = Evidence::default();
    let mut failures = 0;
    for source in &mut sources {
        let about = source.about();
        match source.look_back(&period) {
            Ok(evidence) => {
                let points: usize = evidence.signals.iter().map(|signal| signal.points.len()).sum();
                let (series, records) = (evidence.signals.len(), evidence.records.len());
                let text = format!("{}: {series} series with {points} points, {records} records", about.name);
                common.logger.print(&format!("{text}\n"));
                told.append(evidence);
            }
            Err(trouble) => {
                failures += 1;
                common.logger.say(LogLevel::Warn, format!("no evidence from {}: {trouble}", about.name));
                let (from, to) = (period.from.at, period.to.at);
                told.gaps.push(Gap { source: about.name, from, to, reason: trouble.0 });
            }
        }
    }
    if failures == sources.len() {
        return Err(Failure::new(Exit::Other, "failed to collect evidence: no source answered"));
    }
    runfile::add_evidence(&path, &told).map_err(|error| stored::failed(&error))?;
    catalogue.keep(&path).map_err(|error| stored::failed(&error))?;
    Ok(Exit::Ok)
}

/// From the run's first window to its last, on both clocks.
fn period(reader: &Reader) -> Result<Period, Failure> {
    let range = reader.range().map_err(|error| stored::failed(&error))?;
    let spans = reader.spans(range).map_err(|error| stored::failed(&error))?;
    let (Some((_, first)), Some((_, last))) = (spans.first(), spans.last()) else {
        return Err(Failure::new(Exit::Other, "failed to collect evidence: the run has no second"));
    };
    let header = reader.header();
    let epoch = Epoch { at: Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    Ok(Period { from: Moment::of(first.start, &epoch), to: Moment::of(last.end, &epoch) })
}
