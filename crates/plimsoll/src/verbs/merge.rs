//! `plimsoll merge`: merges the segments of a test into one run.

use std::path::{Path, PathBuf};

use catalogue::{Catalogue, FileName, RunId};
use model::SystemClock;
use runfile::{MergeOptions, Reader};
use runs::{Exit, Failure};
use session::Context;

use crate::destination;
use crate::flags::MergeFlags;

/// Runs the subcommand.
///
/// # Errors
/// A run does not exist, the runs do not belong together, or the result cannot be written.
pub(crate) fn run(flags: &MergeFlags, context: &Context) -> Result<Exit, Failure> {
    let catalogue = context.catalogue()?;
    let open = |text: &String| runs::open(&catalogue.find(text).map_err(|error| runs::failed(&error))?);
    let readers: Vec<Reader> = flags.segments.iter().map(open).collect::<Result<_, _>>()?;
    if let Some(imported) = readers.iter().find(|reader| reader.header().imported.is_some()) {
        let text = format!(
            "failed to merge: run {} was imported, and is not a segment of a test",
            imported.header().run_id
        );
        return Err(Failure::new(Exit::Other, text));
    }
    for reader in readers.iter().filter(|reader| reader.ending().is_none()) {
        let text = format!(
            "run {} is {}: its missing data is missing in the merged run, too",
            reader.header().run_id,
            runs::state_word(reader)
        );
        context.logger.say(model::LogLevel::Warn, text);
    }
    for flaw in runs::coverage_flaws(readers.iter().map(|reader| reader.header().segment.as_str())) {
        context.logger.say(model::LogLevel::Warn, flaw);
    }
    let inputs: Vec<&Reader> = readers.iter().collect();
    let options = MergeOptions { force: flags.force };
    if flags.output.as_deref().is_some_and(destination::is_stdout) {
        let text =
            "failed to merge into \"-\": a merged run is written in no order; name a file, or omit --output";
        return Err(Failure::new(Exit::Other, text));
    }
    let id = match &flags.output {
        Some(path) => runfile::merge(&inputs, path, options).map_err(|error| runs::failed(&error))?,
        None => into_catalogue(&inputs, options, &catalogue, context)?,
    };
    let shown = flags.output.as_ref().map_or_else(|| id.clone(), |path| path.display().to_string());
    context.logger.report(&format!("run: {id}  plimsoll show {shown}"));
    Ok(Exit::Ok)
}

/// Merges into the catalogue. The new file's name contains id and start, which are known only after merging: it is renamed then.
fn into_catalogue(
    inputs: &[&Reader],
    options: MergeOptions,
    catalogue: &Catalogue,
    context: &Context,
) -> Result<String, Failure> {
    let now = context.epoch.wall_unix_ns(SystemClock::now());
    let written = begin(catalogue, &FileName::new(now, RunId::random(now.unsigned_abs())))?;
    let id = runfile::merge(inputs, &written, options).map_err(|error| runs::failed(&error))?;
    let started = runs::open(&written)?.header().started_wall_ns;
    let path = match RunId::parse(&id) {
        Some(id) => rename(&written, begin(catalogue, &FileName::new(started, id))?)?,
        None => written,
    };
    catalogue.keep(&path).map_err(|error| runs::failed(&error))?;
    Ok(id)
}

fn begin(catalogue: &Catalogue, name: &FileName) -> Result<PathBuf, Failure> {
    catalogue.begin(name).map_err(|error| runs::failed(&error))
}

fn rename(from: &Path, to: PathBuf) -> Result<PathBuf, Failure> {
    std::fs::rename(from, &to).map_err(|error| {
        Failure::new(Exit::Other, format!("failed to name the merged run {}: {error}", to.display()))
    })?;
    Ok(to)
}
