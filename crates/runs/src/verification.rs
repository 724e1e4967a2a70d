//! Files of runs compared with their checksums, and the line that says what came of each.

use std::path::{Path, PathBuf};

use catalogue::{Catalogue, Entry, RunReference};
use report::{Lang, escape};
use runfile::{Damage, Unverified, Verification};
use serde::Serialize;

use crate::{Exit, Failure, failed};

/// Maximum number of tables and of unreadable parts that one line names.
const NAMED_MAX: usize = 3;

/// A file to verify.
#[derive(Debug)]
pub struct Subject {
    /// The run's id, or the path as given.
    name: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Stored(Entry),
    Path(PathBuf),
    /// No such run, and why.
    Unknown(String),
}

/// The result for one file.
#[derive(Debug)]
pub struct Verified {
    name: String,
    /// `None` if the file was not found.
    path: Option<PathBuf>,
    result: Result<Verification, String>,
}

/// A result as JSON.
#[derive(Debug, Serialize)]
pub struct VerifiedRow {
    run: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    state: &'static str,
    /// The number of checked pages of a whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damages: Vec<DamageRow>,
    /// Parts that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
    message: String,
}

#[derive(Debug, Serialize)]
struct DamageRow {
    table: String,
    first_page: u64,
    pages: u64,
    affects_numbers: bool,
}

/// Returns the named runs, or all that are stored, the newest first.
///
/// # Errors
/// The runs cannot be listed.
pub fn subjects(named: &[String], catalogue: &Catalogue) -> Result<Vec<Subject>, Failure> {
    let stored = |entry: Entry| Subject { name: entry.name.id.to_string(), place: Place::Stored(entry) };
    if named.is_empty() {
        let entries = catalogue.list().map_err(|error| failed(&error))?;
        return Ok(entries.into_iter().rev().map(stored).collect());
    }
    let subject = |text: &String| match RunReference::parse(text) {
        RunReference::Path(path) => Subject { name: text.clone(), place: Place::Path(path) },
        reference => match catalogue.choose(&reference) {
            Ok(entry) => stored(entry),
            Err(error) => Subject { name: text.clone(), place: Place::Unknown(failed(&error).text) },
        },
    };
    Ok(named.iter().map(subject).collect())
}

/// Compares a file with its checksums.
pub fn verify(subject: Subject, catalogue: &Catalogue) -> Verified {
    let Subject { name, place } = subject;
    let (path, result) = match place {
        Place::Unknown(why) => (None, Err(why)),
        Place::Path(path) => {
            let result = verify_file(&path);
            (Some(path), result)
        }
        Place::Stored(entry) => match verify_stored(&entry, catalogue) {
            Ok((path, verification)) => (Some(path), verification),
            Err(error) => (None, Err(failed(&error).text)),
        },
    };
    Verified { name, path, result }
}

fn verify_file(path: &Path) -> Result<Verification, String> {
    runfile::verify(path).map_err(|error| failed(&error).text)
}

/// Verifies a run of the store. If it was read from a copy that is damaged, the run is fetched anew: only the copy may be damaged.
fn verify_stored(
    entry: &Entry,
    catalogue: &Catalogue,
) -> Result<(PathBuf, Result<Verification, String>), catalogue::CatalogueError> {
    let path = catalogue.bring(entry)?;
    let result = verify_file(&path);
    if matches!(result, Ok(Verification::Damaged { .. }) | Err(_))
        && let Some(path) = catalogue.bring_anew(entry)?
    {
        let result = verify_file(&path);
        return Ok((path, result));
    }
    Ok((path, result))
}

/// Returns the exit code of several files: that of the worst.
pub fn exit(all: &[Verified]) -> Exit {
    let exit = |verified: &Verified| match &verified.result {
        Ok(Verification::Damaged { .. }) => Exit::AuditFailed,
        Ok(Verification::Sound { .. } | Verification::Unverified(_)) => Exit::Ok,
        Err(_) => Exit::Other,
    };
    all.iter().map(exit).fold(Exit::Ok, Exit::or_worse)
}

/// Returns the result as a line.
pub fn line(verified: &Verified, lang: Lang) -> String {
    escape::terminal(&format!("{}  {}", verified.name, message(verified, lang)))
}

fn message(verified: &Verified, lang: Lang) -> String {
    match &verified.result {
        Ok(Verification::Sound { pages }) => lang.verified_whole(pages),
        Ok(Verification::Damaged { damages, lost }) => {
            let place = verified.path.as_deref().unwrap_or(Path::new(&verified.name));
            damaged(damages, lost, place, lang)
        }
        Ok(Verification::Unverified(why)) => match why {
            Unverified::Live => lang.verified_live().to_owned(),
            Unverified::Partial => lang.verified_partial().to_owned(),
            Unverified::OldFormat(format) => lang.verified_old(format),
            Unverified::NotSealed => lang.verified_unsealed().to_owned(),
        },
        Err(why) => lang.not_verified(why),
    }
}

fn damaged(damages: &[Damage], lost: &[String], path: &Path, lang: Lang) -> String {
    let pages: Vec<String> = damages.iter().map(|damage| pages(damage, lang)).collect();
    let mut what: Vec<String> = some(&pages, lang).into_iter().collect();
    what.extend(some(lost, lang).map(|lost| lang.verified_lost(lost)));
    let is_harmless = lost.is_empty() && damages.iter().all(Damage::is_harmless);
    let next = match is_harmless {
        true => lang.verified_harmless().to_owned(),
        false if runfile::Reader::open(path).is_ok() => lang.verified_restore(path.display()),
        false => lang.verified_restore_all(path.display()),
    };
    lang.verified_damaged(what.join("; "), next)
}

fn pages(damage: &Damage, lang: Lang) -> String {
    let Damage { table, first_page, pages } = damage;
    match pages {
        _ if damage.is_harmless() => lang.verified_free(pages, first_page),
        _ if damage.is_header() => lang.verified_header().to_owned(),
        1 => lang.verified_page(table, first_page),
        _ => lang.verified_pages(pages, table, first_page),
    }
}

/// Joins the first few texts, and counts the others; `None` if there are none.
fn some(texts: &[String], lang: Lang) -> Option<String> {
    let (first, rest) = texts.split_at(texts.len().min(NAMED_MAX));
    let more = (!rest.is_empty()).then(|| lang.verified_more(rest.len()));
    let all: Vec<String> = first.iter().cloned().chain(more).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Returns the counts of several results as a line.
pub fn total(all: &[Verified], lang: Lang) -> String {
    let count = |state: &str| all.iter().filter(|verified| state_of(verified) == state).count();
    let [whole, damaged, failed] = ["whole", "damaged", "not_verified"].map(count);
    lang.verified_total(all.len(), whole, damaged, all.len() - whole - damaged - failed, failed)
}

fn state_of(verified: &Verified) -> &'static str {
    match &verified.result {
        Ok(Verification::Sound { .. }) => "whole",
        Ok(Verification::Damaged { .. }) => "damaged",
        Ok(Verification::Unverified(Unverified::Live)) => "live",
        Ok(Verification::Unverified(Unverified::Partial)) => "partial",
        Ok(Verification::Unverified(Unverified::OldFormat(_) | Unverified::NotSealed)) => "without_checksums",
        Err(_) => "not_verified",
    }
}

/// Returns the result as JSON.
pub fn row(verified: &Verified) -> VerifiedRow {
    let (damages, unreadable) = match &verified.result {
        Ok(Verification::Damaged { damages, lost }) => (damages.as_slice(), lost.clone()),
        _ => (&[][..], Vec::new()),
    };
    let damage = |damage: &Damage| DamageRow {
        table: damage.table.clone(),
        first_page: damage.first_page,
        pages: damage.pages,
        affects_numbers: !damage.is_harmless(),
    };
    let pages = match verified.result {
        Ok(Verification::Sound { pages }) => Some(pages),
        _ => None,
    };
    VerifiedRow {
        run: verified.name.clone(),
        path: verified.path.as_ref().map(|path| path.display().to_string()),
        state: state_of(verified),
        pages,
        damages: damages.iter().map(damage).collect(),
        unreadable,
        message: message(verified, Lang::En),
    }
}
