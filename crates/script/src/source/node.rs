//! Packages from `node_modules`, and how files inside of them name each other.
//!
//! The rules are those of [Node.js](https://nodejs.org/api/modules.html#all-together), and bundlers' where Node.js is not
//! what scripts run on: the `browser` field and condition, `module`, and names without an extension in ES modules too.

use std::path::{Path, PathBuf};

use super::package::{Package, Target, subpath_target};
use super::{builtin, file_url, normalize};

/// A `package.json` with more bytes is none.
const PACKAGE_BYTES_MAX: u64 = 4 << 20;

/// Suffixes that are tried after a name without an extension, in this order.
const EXTENSIONS: &[&str] = &[".js", ".json", ".cjs", ".mjs"];

/// Which statement asks; packages may give different files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    Import,
    Require,
}

impl Asked {
    fn conditions(self) -> &'static [&'static str] {
        match self {
            Asked::Import => &["import", "browser", "default"],
            Asked::Require => &["require", "browser", "default"],
        }
    }
}

/// Target of a specifier.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    File(PathBuf),
    /// The package does without it where there is no Node.js.
    Empty,
}

/// Whether a file belongs to a package.
pub(crate) fn is_in_package(path: &str) -> bool {
    path.contains("/node_modules/")
}

/// Resolves a relative or absolute specifier in a package's file: `path` is where it points.
pub(super) fn file(path: &Path) -> Result<Found, String> {
    let Some(found) = probe(path) else {
        return Err(format!("the file \"{}\" couldn't be found on local disk", path.display()));
    };
    Ok(replaced_file(found))
}

/// Resolves a bare specifier in a file of `folder`.
pub(super) fn package(folder: &Path, specifier: &str, asked: Asked) -> Result<Found, String> {
    if let Some(replaced) = replaced_package(folder, specifier) {
        return Ok(replaced);
    }
    if specifier.starts_with('#') {
        return own_import(folder, specifier, asked);
    }
    let (name, subpath) = split(specifier);
    let root = (!specifier.starts_with("node:")).then(|| installed(folder, name)).flatten();
    match root {
        Some(root) => in_package(&root, specifier, subpath, asked),
        None => Err(builtin::refuse(specifier).unwrap_or_else(|| not_installed(folder, specifier, name))),
    }
}

/// `@scope/name/sub/path` → `@scope/name` and `sub/path`.
fn split(specifier: &str) -> (&str, &str) {
    let slashes = usize::from(specifier.starts_with('@'));
    match specifier.match_indices('/').nth(slashes) {
        Some((at, _)) => (&specifier[..at], &specifier[at + 1..]),
        None => (specifier, ""),
    }
}

/// The nearest `node_modules` with this package. Links are followed, because package managers link packages to where
/// their own dependencies are.
fn installed(folder: &Path, name: &str) -> Option<PathBuf> {
    if name.is_empty() || name.contains("..") {
        return None;
    }
    let candidates = folder.ancestors().map(|folder| folder.join("node_modules").join(name));
    candidates.filter(|candidate| candidate.is_dir()).find_map(|candidate| candidate.canonicalize().ok())
}

fn not_installed(folder: &Path, specifier: &str, name: &str) -> String {
    if folder.join(specifier).is_file() {
        return format!("\"{specifier}\" is neither a k6 module nor a path; did you mean \"./{specifier}\"?");
    }
    format!(
        "\"{specifier}\" is neither a k6 module nor a path, and no package of this name is installed; write \
         \"./{specifier}\" for a file beside the script, or run \"npm install {name}\", or import it from https://"
    )
}

fn in_package(root: &Path, specifier: &str, subpath: &str, asked: Asked) -> Result<Found, String> {
    let package = read(root).unwrap_or_default();
    if package.exports != Target::None {
        let key = if subpath.is_empty() { ".".to_owned() } else { format!("./{subpath}") };
        let target = subpath_target(&package.exports, &key, asked.conditions()).or_else(|| {
            subpath_target(&package.exports, &key, &["import", "require", "module", "node", "default"])
        });
        let found = target.and_then(|target| inside(root, &target));
        return found.map(replaced_file).ok_or_else(|| {
            format!(
                "the package of \"{specifier}\" does not export \"{key}\" ({})",
                root.join("package.json").display()
            )
        });
    }
    let found = if subpath.is_empty() { main(root, &package, asked) } else { probe(&root.join(subpath)) };
    found
        .map(replaced_file)
        .ok_or_else(|| format!("\"{specifier}\" is not in the package at {}", root.display()))
}

fn main(root: &Path, package: &Package, asked: Asked) -> Option<PathBuf> {
    let module = match asked {
        Asked::Import => package.module.path(),
        Asked::Require => None,
    };
    let named = [package.browser.path(), module, package.main.path()].into_iter().flatten();
    named.filter_map(|name| probe(&root.join(name))).next().or_else(|| index(root))
}

/// A name as it is, with an extension, or as a folder.
fn probe(path: &Path) -> Option<PathBuf> {
    let path = normalize(path);
    if path.is_file() {
        return Some(path);
    }
    let name = path.file_name()?.to_str()?.to_owned();
    let with_extension = EXTENSIONS.iter().map(|extension| path.with_file_name(format!("{name}{extension}")));
    if let Some(found) = with_extension.into_iter().find(|candidate| candidate.is_file()) {
        return Some(found);
    }
    if !path.is_dir() {
        return None;
    }
    let main = read(&path).and_then(|package| package.main.path().map(str::to_owned));
    // A main that is the folder itself would lead here again.
    let main = main.map(|main| normalize(&path.join(main))).filter(|main| *main != path);
    main.and_then(|main| if main.is_file() { Some(main) } else { probe(&main) }).or_else(|| index(&path))
}

fn index(folder: &Path) -> Option<PathBuf> {
    EXTENSIONS.iter().map(|extension| folder.join(format!("index{extension}"))).find(|path| path.is_file())
}

/// A target of `exports`, which must not lead out of the package.
fn inside(root: &Path, target: &str) -> Option<PathBuf> {
    let path = normalize(&root.join(target.strip_prefix("./")?));
    (path.starts_with(root) && path.is_file()).then_some(path)
}

fn read(root: &Path) -> Option<Package> {
    serde_json::from_slice(&files::read_regular(&root.join("package.json"), PACKAGE_BYTES_MAX).ok()?).ok()
}

/// The package that a file or folder belongs to.
fn owner(path: &Path) -> Option<(&Path, Package)> {
    if !is_in_package(&file_url(path)) {
        return None;
    }
    let inside = path.ancestors().take_while(|folder| !folder.ends_with("node_modules"));
    inside.filter_map(|folder| Some((folder, read(folder)?))).next()
}

/// The replacement of a file by the `browser` field of its own package.
fn replaced_file(found: PathBuf) -> Found {
    let replacement = owner(&found).and_then(|(root, package)| {
        let name = found.strip_prefix(root).ok()?.to_str()?;
        let names = [format!("./{name}"), format!("./{}", name.trim_end_matches(".js"))];
        let target = names.iter().find_map(|name| package.browser.get(name))?;
        replacement(root, target)
    });
    replacement.unwrap_or(Found::File(found))
}

/// The replacement of another package by the `browser` field of the importing package.
fn replaced_package(folder: &Path, specifier: &str) -> Option<Found> {
    let (root, package) = owner(folder)?;
    replacement(root, package.browser.get(specifier)?)
}

fn replacement(root: &Path, target: &Target) -> Option<Found> {
    match target {
        Target::Empty => Some(Found::Empty),
        Target::Path(path) if path.starts_with('.') => probe(&root.join(path)).map(Found::File),
        Target::Path(name) => package(root, name, Asked::Require).ok(),
        _ => None,
    }
}

/// `#name`: what a package calls a file of its own.
fn own_import(folder: &Path, specifier: &str, asked: Asked) -> Result<Found, String> {
    let missing =
        || format!("\"{specifier}\" is not among the imports of the package at {}", folder.display());
    let (root, package) = owner(folder).ok_or_else(missing)?;
    let target = subpath_target(&package.imports, specifier, asked.conditions()).ok_or_else(missing)?;
    match target.strip_prefix("./") {
        Some(_) => inside(root, &target).map(Found::File).ok_or_else(missing),
        None if target.starts_with('#') => Err(missing()),
        None => self::package(root, &target, asked),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixtures() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fixtures/packages").canonicalize().unwrap()
    }

    fn check(specifier: &str, asked: Asked, expect: &str) {
        check_from("", specifier, asked, expect);
    }

    fn check_from(folder: &str, specifier: &str, asked: Asked, expect: &str) {
        let found = package(&fixtures().join(folder), specifier, asked);
        let got = match &found {
            Ok(Found::File(path)) => path.strip_prefix(fixtures()).unwrap().display().to_string(),
            Ok(Found::Empty) => "empty".into(),
            Err(text) => text.clone(),
        };
        assert!(got == expect || found.is_err() && got.contains(expect), "{specifier}: {got}");
    }

    #[test]
    fn packages() {
        use Asked::{Import, Require};
        check("plain", Require, "node_modules/plain/index.js");
        check("plain/deep", Require, "node_modules/plain/deep.js");
        check("plain/data.json", Require, "node_modules/plain/data.json");
        check("plain/missing", Require, "not in the package");
        check("dual", Import, "node_modules/dual/dual.mjs");
        check("dual", Require, "node_modules/dual/dual.cjs");
        check("dual/sub", Import, "node_modules/dual/sub/browser.js");
        check("dual/hidden.js", Import, "does not export \"./hidden.js\"");
        check("dual/escape", Import, "does not export");
        check("@scope/fields", Import, "node_modules/@scope/fields/module.js");
        check("@scope/fields", Require, "node_modules/@scope/fields/main.js");
        check_from("lib", "plain", Require, "node_modules/plain/index.js");
    }

    #[test]
    fn what_is_not_there() {
        check("absent", Asked::Import, "npm install absent");
        check("@scope/absent/x", Asked::Import, "npm install @scope/absent\"");
        check("fs", Asked::Import, "module of Node.js");
        check("lib/util.js", Asked::Import, "did you mean \"./lib/util.js\"?");
        check("../lib", Asked::Import, "neither");
        check("#own", Asked::Import, "not among the imports");
    }

    #[test]
    fn a_package_has_its_own_view() {
        let folder = "node_modules/@scope/fields";
        check_from(folder, "fs", Asked::Require, "empty");
        check_from(folder, "swapped", Asked::Require, "node_modules/plain/index.js");
        check_from(folder, "#own", Asked::Import, "node_modules/@scope/fields/own.js");
        let file_of = |name: &str| file(&fixtures().join(folder).join(name)).unwrap();
        assert_eq!(file_of("server"), Found::File(fixtures().join(folder).join("client.js")));
        assert_eq!(file_of("folder"), Found::File(fixtures().join(folder).join("folder/index.js")));
    }
}
