//! `plimsoll export`: converts a stored run for other programs.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use api::WindowRow;
use export::ExportError;
use model::Epoch;
use runfile::Reader;
use runs::{Exit, Failure};
use session::Context;

use crate::destination;
use crate::flags::{ExportFlags, ExportFormat};

/// Runs the subcommand.
///
/// # Errors
/// The run does not exist or cannot be read, or the export cannot be written.
pub(crate) fn run(flags: &ExportFlags, context: &Context) -> Result<Exit, Failure> {
    let path = context.catalogue()?.find(&flags.run).map_err(|error| runs::failed(&error))?;
    if flags.format == ExportFormat::Plimsoll {
        return match flags.output.as_deref() {
            Some(to) if destination::is_stdout(to) => snapshot_to_stdout(&path),
            to => snapshot(&path, to, context),
        };
    }
    let reader = runs::open(&path)?;
    if reader.header().imported.as_ref().is_some_and(|imported| imported.summary.is_some()) {
        let text = "this run was imported from a summary: it has no one-second data to export";
        context.logger.say(model::LogLevel::Warn, text.to_owned());
    }
    match destination::file(flags.output.as_deref()) {
        Some(to) => to_file(&reader, flags.format, to)?,
        None if flags.format == ExportFormat::Parquet && std::io::stdout().is_terminal() => {
            let text = "failed to write Parquet to a terminal; name a file with -o";
            return Err(Failure::new(Exit::Other, text));
        }
        None => {
            let mut to = std::io::BufWriter::new(std::io::stdout());
            match write(&reader, flags.format, &mut to) {
                // A closed pipe (`| head`) is no error.
                Err(ExportError::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
                written => written.map_err(|error| runs::failed(&error))?,
            }
        }
    }
    Ok(Exit::Ok)
}

/// Copies the file as it is now to standard output, by way of a file beside it: a copy is made in no order.
fn snapshot_to_stdout(path: &Path) -> Result<Exit, Failure> {
    if std::io::stdout().is_terminal() {
        let text = "failed to write a run's file to a terminal; name a file with -o";
        return Err(Failure::new(Exit::Other, text));
    }
    let fail = |error: std::io::Error| Failure::new(Exit::Other, format!("failed to copy the run: {error}"));
    let folder = tempfile::tempdir().map_err(fail)?;
    let copy = folder.path().join("run.plimsoll");
    runfile::snapshot(path, &copy).map_err(|error| runs::failed(&error))?;
    let mut file = std::fs::File::open(&copy).map_err(fail)?;
    match std::io::copy(&mut file, &mut std::io::stdout()) {
        // A closed pipe (`| head`) is no error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        copied => drop(copied.map_err(fail)?),
    }
    Ok(Exit::Ok)
}

/// Copies the file as it is now; the copy is consistent even while the run is in progress.
fn snapshot(path: &Path, to: Option<&Path>, context: &Context) -> Result<Exit, Failure> {
    let own_name = || path.file_name().map_or_else(|| PathBuf::from("run.plimsoll"), PathBuf::from);
    let to = to.map_or_else(own_name, Path::to_owned);
    runfile::snapshot(path, &to).map_err(|error| runs::failed(&error))?;
    context.logger.print(&format!("wrote {}\n", to.display()));
    Ok(Exit::Ok)
}

/// Writes a temporary file and renames it when it is complete.
fn to_file(reader: &Reader, format: ExportFormat, to: &Path) -> Result<(), Failure> {
    let fail = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Other, format!("failed to write {}: {error}", to.display()))
    };
    let mut partial = to.as_os_str().to_owned();
    partial.push(".part");
    let file = std::fs::File::create(&partial).map_err(|error| fail(&error))?;
    let mut buffered = std::io::BufWriter::new(file);
    let written = write(reader, format, &mut buffered).and_then(|()| Ok(buffered.flush()?));
    let moved = written.and_then(|()| Ok(std::fs::rename(&partial, to)?));
    moved.map_err(|error| {
        // An incomplete file is useless.
        let _ = std::fs::remove_file(&partial);
        fail(&error)
    })
}

fn write(reader: &Reader, format: ExportFormat, to: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    let all = reader.range().map_err(|error| ExportError::Read(error.into()))?;
    let rows = rows(reader, all);
    match format {
        ExportFormat::Csv => export::write_csv(rows, to),
        ExportFormat::Parquet => export::write_parquet(rows, to),
        ExportFormat::Json | ExportFormat::Plimsoll => {
            let report = runs::whole(reader)
                .and_then(|(window, elapsed)| runs::document(reader, &window, elapsed, None))
                .map_err(|failure| ExportError::Read(failure.text.trim_start_matches("failed to ").into()))?;
            export::write_json(&report::json::render(&report), rows, to)
        }
    }
}

/// Writes the rows of all windows, one window after the other.
fn rows(
    reader: &Reader,
    all: std::ops::Range<u32>,
) -> impl Iterator<Item = Result<Vec<WindowRow>, ExportError>> {
    let header = reader.header();
    let epoch =
        Epoch { at: model::Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns };
    let of_window = move |window: Result<model::Window, runfile::ReadError>| {
        let window = window.map_err(|error| ExportError::Read(error.into()))?;
        let wall_unix_ns = epoch.wall_unix_ns(window.start);
        Ok(export::rows(&window, wall_unix_ns, reader.registry(), reader.tags()))
    };
    reader.windows(all).map(of_window)
}
