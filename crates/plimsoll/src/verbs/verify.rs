//! `plimsoll runs --verify`: compares files of runs with their checksums.

use runs::verification::{VerifiedRow, exit, line, row, subjects, total, verify};
use runs::{Exit, Failure};
use session::Context;
use session::terminal::print;

use crate::flags::RunsListFlags;

/// Verifies the named runs, or all. In text, each line is printed as soon as its file is verified.
///
/// # Errors
/// The runs cannot be listed.
pub(super) fn run(flags: &RunsListFlags, context: &Context) -> Result<Exit, Failure> {
    let catalogue = context.catalogue()?;
    let lang = flags.lang.lang();
    let subjects = subjects(&flags.verified, &catalogue)?;
    let mut all = Vec::new();
    for subject in subjects {
        let verified = verify(subject, &catalogue);
        if !flags.json {
            print(&format!("{}\n", line(&verified, lang)));
        }
        all.push(verified);
    }
    if flags.json {
        let rows: Vec<VerifiedRow> = all.iter().map(row).collect();
        let text = serde_json::to_string_pretty(&rows).expect("rows are texts and numbers");
        print(&format!("{text}\n"));
    } else if all.is_empty() {
        context.logger.print(&format!("{}\n", lang.verified_none(catalogue.place())));
    } else if all.len() > 1 {
        context.logger.print(&format!("{}\n", total(&all, lang)));
    }
    Ok(exit(&all))
}
