//! The file that an import with a wrong name probably meant.

use std::path::{Path, PathBuf};

/// A folder with more entries is not searched for similar names.
const ENTRIES_MAX: usize = 1000;

/// Suffixes that are tried after a name as it was written.
const ENDINGS: &[&str] = &[".js", ".ts", ".mjs", ".cjs", ".json", "/index.js", "/index.ts"];

/// The specifier that leads to a file, for one that leads to nothing at `path`.
pub(super) fn specifier(specifier: &str, path: &Path) -> Option<String> {
    let folder_part = specifier.rfind('/').map_or("", |at| &specifier[..=at]);
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let exists = |candidate: &String| folder.join(candidate).is_file();
    let written_on = ENDINGS.iter().map(|ending| format!("{name}{ending}"));
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let replaced = ENDINGS.iter().map(|ending| format!("{stem}{ending}"));
    let without = std::iter::once(stem.to_owned());
    let found = written_on.chain(replaced).chain(without).find(exists).or_else(|| similar(folder, name))?;
    Some(format!("{folder_part}{found}"))
}

/// The module of the host whose name is the most similar, if any is.
pub(super) fn builtin<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    const SIMILARITY_MIN: f64 = 0.7;
    // What all extensions begin with says nothing about which one is meant.
    let own = |name: &str| name.strip_prefix(super::foreign::EXTENSIONS).map(str::to_owned);
    let similarity = |known: &str| match (own(name), own(known)) {
        (Some(name), Some(known)) => strsim::normalized_damerau_levenshtein(&name, &known),
        _ => strsim::normalized_damerau_levenshtein(name, known),
    };
    let rated = known.iter().map(|known| (similarity(known), *known));
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= SIMILARITY_MIN).then_some(best.1)
}

/// The path that leads to a file of this name or of a similar one, for a path that leads to nothing: in the same folder, in the
/// one above, and in those below, which is where people look who start at another folder than the script's.
pub(super) fn file(path: &Path) -> Option<PathBuf> {
    let (name, folder) = (path.file_name()?, path.parent()?);
    if let Some(found) = similar(folder, name.to_str()?) {
        return Some(folder.join(found));
    }
    let above = folder.parent().map(|above| above.join(name)).filter(|path| path.is_file());
    above.or_else(|| {
        let entries = std::fs::read_dir(folder).ok()?.take(ENTRIES_MAX).filter_map(Result::ok);
        entries.map(|entry| entry.path().join(name)).find(|path| path.is_file())
    })
}

/// The file of the folder whose name is the most similar, if any is.
fn similar(folder: &Path, name: &str) -> Option<String> {
    /// Letters that may differ.
    const DISTANCE_MAX: usize = 2;
    let entries: Vec<_> =
        std::fs::read_dir(folder).ok()?.take(ENTRIES_MAX + 1).filter_map(Result::ok).collect();
    if entries.len() > ENTRIES_MAX {
        return None;
    }
    let files = entries.iter().filter(|entry| entry.path().is_file());
    let names = files.filter_map(|entry| entry.file_name().into_string().ok());
    let rated =
        names.map(|other| (strsim::damerau_levenshtein(&other.to_lowercase(), &name.to_lowercase()), other));
    rated.filter(|(distance, _)| *distance <= DISTANCE_MAX).min().map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, expect: Option<&str>) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fixtures/packages");
        assert_eq!(specifier(given, &folder.join(given)).as_deref(), expect, "{given}");
    }

    #[test]
    fn suggestions() {
        check("./lib/util", Some("./lib/util.js"));
        check("./lib/util.ts", Some("./lib/util.js"));
        check("./lib/utl.js", Some("./lib/util.js"));
        check("./lib/Util.js", Some("./lib/util.js"));
        check("./lib", Some("./lib/index.js"));
        check("./lib/something.js", None);
        check("./nowhere/x.js", None);
    }

    #[test]
    fn modules_of_the_host_are_suggested() {
        let known = ["k6", "k6/http", "k6/html", "k6/encoding", "plimsoll/flow", "k6/x/faker", "k6/x/sse"];
        for (name, expect) in [
            ("k6/htttp", Some("k6/http")),
            ("k6/encodin", Some("k6/encoding")),
            ("plimsoll/flwo", Some("plimsoll/flow")),
            ("k6/something", None),
            ("k6/x/fakr", Some("k6/x/faker")),
            ("k6/x/ssh", None),
        ] {
            assert_eq!(builtin(name, &known), expect, "{name}");
        }
    }

    #[test]
    fn files_are_suggested_where_people_look() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fixtures/packages");
        let check = |given: &str, expect: Option<&str>| {
            assert_eq!(file(&folder.join(given)), expect.map(|path| folder.join(path)), "{given}");
        };
        check("lib/utl.js", Some("lib/util.js"));
        check("util.js", Some("lib/util.js"));
        check("lib/nowhere/util.js", Some("lib/util.js"));
        check("lib/something.json", None);
    }
}
