//! The document of a whole run with its diagnosis, its study, and the comparison with the run before.

use analysis::compare::Options;
use catalogue::Catalogue;
use report::{Lang, RunReport};
use runfile::Reader;

use crate::{Failure, comparison, diagnosis, document, history, study, whole};

/// A document, and why it lacks the comparison with the run before, if that failed: it is complete without it.
pub type Complete = (RunReport, Option<Failure>);

/// Returns the document of a run with its diagnosis, the comparison with the run before, and the study that it is a step of.
///
/// # Errors
/// The run's file is damaged.
pub fn complete(reader: &Reader, catalogue: &Catalogue, lang: Lang) -> Result<Complete, Failure> {
    let (window, elapsed) = whole(reader)?;
    let mut report = document(reader, &window, elapsed, None)?;
    let why_not = add_all(&mut report, reader, catalogue, lang)?;
    Ok((report, why_not))
}

/// Adds the same to a document of a whole run.
///
/// # Errors
/// The run's file is damaged.
pub fn add_all(
    report: &mut RunReport,
    reader: &Reader,
    catalogue: &Catalogue,
    lang: Lang,
) -> Result<Option<Failure>, Failure> {
    report.diagnosis = Some(diagnosis::of_run(reader, lang)?);
    report.capacity =
        study::of_run(reader.path(), catalogue)?.map(|study| report::capacity::document(&study, lang));
    let compared = history::before(reader, catalogue).and_then(|before| {
        let Some(before) = before else { return Ok(None) };
        comparison::judged(&[before], &[reader.path().to_owned()], Options::default()).map(Some)
    });
    match compared {
        Ok(previous) => {
            report.previous = previous;
            Ok(None)
        }
        Err(failure) => {
            report.not_compared = Some(failure.text.clone());
            Ok(Some(failure))
        }
    }
}
