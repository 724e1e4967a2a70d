//! `/history`: past runs of a script.

use catalogue::Catalogue;
use runs::history::of_script;
use server::{PageError, Question};

use super::{limit, not_found};

/// Maximum number of runs searched, unless the question asks for fewer.
const RUNS_MAX: usize = 200;

pub(super) fn answer(catalogue: &Catalogue, question: &Question) -> Result<String, PageError> {
    let script = question.get("script").unwrap_or("@last");
    if script.ends_with(catalogue::SUFFIX) {
        // A path would be read as a file, wherever it is.
        return Err(PageError::Invalid(format!("failed to read script={script:?}: write a script or an id")));
    }
    let limit = limit(question, RUNS_MAX)?.unwrap_or(RUNS_MAX);
    Ok(of_script(script, limit, catalogue, |_| {}).map_err(not_found)?.json())
}
