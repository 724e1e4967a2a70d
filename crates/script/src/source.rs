//! Where scripts come from: specifiers, files, and what has been compiled from them.

mod builtin;
mod files;
mod foreign;
mod nearest;
mod node;
mod package;
pub(crate) mod places;
mod resolve;
pub(crate) mod words;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use self::files::MODULE_BYTES_MAX;
pub(crate) use self::node::{Asked, is_in_package};
pub(crate) use self::package::is_json;
use self::places::Generated;
use crate::outside::{self, Outside, PackageImport};

/// The URL of a module that has nothing in it: what a package asks for and can do without.
pub(crate) const EMPTY_URL: &str = "empty://module";

/// Sources that maps brought along are kept up to this many bytes.
const MAPPED_TEXT_BYTES_MAX: usize = 64 << 20;

/// Maximum number of missing imports that one error lists.
const MISSING_MAX: usize = 64;

/// In front of the names of modules that stand for what could not be found.
const MISSING: &str = "missing:";

/// Missing exports that scripts import from modules of the host and CommonJS files: names by module.
pub(crate) type Undefined = BTreeMap<String, BTreeSet<String>>;

/// Bytecode of one file, shared by all VUs.
#[derive(Clone)]
pub(crate) enum Compiled {
    /// An ES module, and whether it asks for `import.meta`.
    Module(Arc<[u8]>, bool),
    CommonJs(Arc<[u8]>),
}

/// All files of a script. Filled by the first init, then locked: later VUs see what the first one saw.
pub(crate) struct Sources {
    /// Folder of the entry script; `open()` and `require()` start here.
    folder: PathBuf,
    outside: Outside,
    /// Names of the host's modules.
    builtins: Vec<&'static str>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    texts: HashMap<String, Arc<str>>,
    files: HashMap<PathBuf, Arc<[u8]>>,
    /// Files that are read row by row.
    streamed: BTreeSet<PathBuf>,
    remote: HashMap<String, Arc<[u8]>>,
    builtins: BTreeSet<&'static str>,
    missing: Vec<String>,
    undefined: Undefined,
    compiled: HashMap<String, Compiled>,
    /// Names that modules of the host export, once all files are known.
    exports: HashMap<String, Arc<[String]>>,
    /// Targets of bare specifiers, and of those in packages: by folder, specifier and kind of import.
    resolved: HashMap<InPackages, Result<Resolved, String>>,
    /// Looked up when a position is first asked for, and what the host itself generated.
    generated: HashMap<String, Generated>,
    mapped_texts: HashMap<String, Arc<str>>,
    mapped_text_bytes: usize,
    /// Whether any file has a map.
    is_mapped: bool,
    bytes: u64,
    is_locked: bool,
}

/// A question to the packages: the folder of the file that asks, what it asks for, and how.
type InPackages = (PathBuf, String, Asked);

fn of_package(known: &PackageImport) -> (InPackages, Result<Resolved, String>) {
    let asked = if known.required { Asked::Require } else { Asked::Import };
    let key = (known.folder.clone(), known.specifier.clone(), asked);
    (key, Ok(Resolved::File(known.file.clone())))
}

/// Whether a specifier names a module of the host, existing or not.
pub(crate) fn is_builtin_name(specifier: &str) -> bool {
    ["k6", "plimsoll"].contains(&specifier.split_once('/').map_or(specifier, |(first, _)| first))
}

/// Target of a specifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// A module of the host.
    Builtin(&'static str),
    /// A file, by its URL.
    File(String),
}

impl Sources {
    pub(crate) fn new(folder: PathBuf, outside: Outside, builtins: Vec<&'static str>) -> Sources {
        // Known from the start, so that the disk is not asked whether they exist.
        let packed = outside.packed.iter().flatten();
        let files = packed.map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
        let resolved = outside.packages.iter().map(of_package).collect();
        Sources {
            folder,
            outside,
            builtins,
            inner: Mutex::new(Inner { files, resolved, ..Inner::default() }),
        }
    }

    /// Whether the host has a module of this name.
    pub(crate) fn is_builtin(&self, name: &str) -> bool {
        self.builtins.contains(&name)
    }

    /// The module's own name.
    ///
    /// # Errors
    /// A text for the user: there is no such module, and which ones there are.
    fn builtin(&self, name: &str) -> Result<&'static str, String> {
        if let Some(known) = self.builtins.iter().find(|known| **known == name) {
            return Ok(known);
        }
        if let Some(advice) = foreign::advice(name) {
            return Err(format!("\"{name}\" is not supported: {advice}"));
        }
        if let Some(meant) = nearest::builtin(name, &self.builtins) {
            return Err(format!("unknown module: {name}; did you mean \"{meant}\"?"));
        }
        let is_extension = |known: &&&str| known.starts_with(foreign::EXTENSIONS);
        if name.starts_with(foreign::EXTENSIONS) {
            let here: Vec<&str> = self.builtins.iter().filter(is_extension).copied().collect();
            return Err(format!(
                "\"{name}\" is not supported: it is an extension of k6 that is not built in; run this script with k6, or \
                 use one of {}",
                here.join(", ")
            ));
        }
        Err(format!("unknown module: {name}; available: {}", self.builtins.join(", ")))
    }

    /// Targets of the imports of packages, in order.
    pub(crate) fn packages(&self) -> Vec<PackageImport> {
        let inner = self.inner();
        let found =
            inner.resolved.iter().filter_map(|((folder, specifier, asked), resolved)| match resolved {
                Ok(Resolved::File(file)) => Some(PackageImport {
                    folder: folder.clone(),
                    specifier: specifier.clone(),
                    required: *asked == Asked::Require,
                    file: file.clone(),
                }),
                _ => None,
            });
        let mut found: Vec<PackageImport> = found.collect();
        found.sort_by(|a, b| {
            (&a.folder, &a.specifier, a.required).cmp(&(&b.folder, &b.specifier, b.required))
        });
        found
    }

    /// Whether remote modules have been loaded. Their code may ask for files.
    pub(crate) fn has_remote(&self) -> bool {
        !self.inner().remote.is_empty()
    }

    /// Whether files come from an archive, so that scripts learn nothing of this machine's disk.
    pub(crate) fn is_packed(&self) -> bool {
        self.outside.packed.is_some()
    }

    /// No file that has not been read so far may be read from now on.
    pub(crate) fn lock(&self) {
        self.inner().is_locked = true;
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Gives the entry script, which may come from standard input, its place among the files.
    pub(crate) fn add_text(&self, url: &str, text: String) {
        let mut inner = self.inner();
        let bytes: Arc<[u8]> = text.as_bytes().into();
        match outside::is_remote(url) {
            true => inner.remote.insert(url.to_owned(), bytes),
            false => inner.files.insert(path_of(url), bytes),
        };
        inner.texts.insert(url.to_owned(), without_mark(&text).into());
    }

    /// Every file that has been read, by its URL: modules as they were before anything was done to their text, what `open()`
    /// read, and what is read row by row.
    ///
    /// # Errors
    /// A text for the user: a file that is read row by row is too large to be in memory.
    pub(crate) fn files(&self) -> Result<BTreeMap<String, Arc<[u8]>>, String> {
        self.read_streamed()?;
        let inner = self.inner();
        let local = inner.files.iter().map(|(path, bytes)| (file_url(path), bytes.clone()));
        Ok(local.chain(inner.remote.iter().map(|(url, bytes)| (url.clone(), bytes.clone()))).collect())
    }

    /// The host's modules that something was resolved to.
    pub(crate) fn builtins(&self) -> Vec<&'static str> {
        self.inner().builtins.iter().copied().collect()
    }

    /// Remembers that an import leads nowhere, so that a script with three of them hears of all three, and names a module
    /// that throws `text` should it run. `None` when there are too many to remember.
    pub(crate) fn miss(&self, text: &str) -> Option<String> {
        let mut inner = self.inner();
        let known = inner.missing.iter().position(|it| it == text);
        if known.is_none() && inner.missing.len() == MISSING_MAX {
            return None;
        }
        let index = known.unwrap_or(inner.missing.len());
        if known.is_none() {
            inner.missing.push(text.to_owned());
        }
        Some(format!("{MISSING}{index}"))
    }

    /// The error behind a module that [`Self::miss`] named.
    pub(crate) fn missed(&self, name: &str) -> Option<String> {
        self.inner().missing.get(name.strip_prefix(MISSING)?.parse::<usize>().ok()?).cloned()
    }

    /// All imports that led nowhere, in the order in which they were met.
    pub(crate) fn missing(&self) -> Vec<String> {
        self.inner().missing.clone()
    }

    /// Has `module` export `name` as `undefined` from now on. False when it did already, or when there are too many.
    pub(crate) fn tolerate(&self, module: &str, name: &str) -> bool {
        let mut inner = self.inner();
        let count: usize = inner.undefined.values().map(BTreeSet::len).sum();
        count < MISSING_MAX && inner.undefined.entry(module.to_owned()).or_default().insert(name.to_owned())
    }

    /// Missing exports that scripts import.
    pub(crate) fn undefined(&self) -> Undefined {
        self.inner().undefined.clone()
    }

    /// The same of one module.
    pub(crate) fn undefined_of(&self, module: &str) -> BTreeSet<String> {
        self.inner().undefined.get(module).cloned().unwrap_or_default()
    }

    /// The text of a file that has been read.
    pub(crate) fn text(&self, url: &str) -> Option<Arc<str>> {
        self.inner().texts.get(url).cloned()
    }

    /// All texts that have been read, in order of their URLs.
    pub(crate) fn texts(&self) -> Vec<(String, Arc<str>)> {
        let mut texts: Vec<_> =
            self.inner().texts.iter().map(|(url, text)| (url.clone(), text.clone())).collect();
        texts.sort();
        texts
    }

    /// Of the `members` of a module of the host those that scripts can import: all until all files are known, then those that are words in
    /// them, or all again where a file imports modules whole.
    pub(crate) fn exports_of(&self, module: &str, members: impl FnOnce() -> Vec<String>) -> Arc<[String]> {
        let mut inner = self.inner();
        if let Some(known) = inner.exports.get(module) {
            return known.clone();
        }
        let mut names = members();
        if !inner.is_locked {
            return names.into();
        }
        if !inner.texts.values().any(|text| words::imports_whole(text) || words::runs_text(text)) {
            names.retain(|name| inner.texts.values().any(|text| words::has(text, name)));
        }
        let names: Arc<[String]> = names.into();
        inner.exports.insert(module.to_owned(), names.clone());
        names
    }

    pub(crate) fn compiled(&self, url: &str) -> Option<Compiled> {
        self.inner().compiled.get(url).cloned()
    }

    pub(crate) fn add_compiled(&self, url: &str, compiled: Compiled) {
        self.inner().compiled.insert(url.to_owned(), compiled);
    }

    /// How a file's code came to be.
    pub(crate) fn add_generated(&self, url: &str, generated: Generated) {
        self.inner().generated.insert(url.to_owned(), generated);
    }

    /// Some file runs in another form than it was written in.
    pub(crate) fn set_mapped(&self) {
        self.inner().is_mapped = true;
    }

    /// Whether any does.
    pub(crate) fn is_mapped(&self) -> bool {
        self.inner().is_mapped
    }

    /// The mapping of the code that runs as `url` to its source; a map that it names is read now.
    pub(crate) fn generated(&self, url: &str) -> Generated {
        let mut inner = self.inner();
        let known = inner.generated.get(url).cloned();
        if let Some(known) = known.clone().filter(|known| known.map.is_some() || known.is_looked_up) {
            return known;
        }
        let text = inner.texts.get(url).cloned();
        let map = text.and_then(|text| places::map_of(url, &text)).map(Arc::new);
        let generated = Generated { map, is_looked_up: true, ..known.unwrap_or_default() };
        if inner.texts.contains_key(url) {
            inner.generated.insert(url.to_owned(), generated.clone());
        }
        generated
    }

    /// Keeps the text of a source that a map brought along, for pictures of errors.
    pub(crate) fn add_mapped_text(&self, file: &str, text: &str) {
        let mut inner = self.inner();
        let bytes = inner.mapped_text_bytes + text.len();
        if bytes <= MAPPED_TEXT_BYTES_MAX && !inner.mapped_texts.contains_key(file) {
            inner.mapped_text_bytes = bytes;
            inner.mapped_texts.insert(file.to_owned(), text.into());
        }
    }

    /// Such a text.
    pub(crate) fn mapped_text(&self, file: &str) -> Option<Arc<str>> {
        self.inner().mapped_texts.get(file).cloned()
    }
}

/// Editors on Windows put a byte order mark in front, which no JavaScript engine wants to see.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn path_of(url: &str) -> PathBuf {
    PathBuf::from(url.strip_prefix("file://").unwrap_or(url))
}

/// `file:///folder/name.js`
pub(crate) fn file_url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Takes `.` and `..` out of a path without asking the file system, as k6 does.
pub(crate) fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(specifier: &str, expect: Result<&str, &str>) {
        let sources = Sources::new("/tests".into(), Outside::default(), crate::host::module_names());
        for url in ["file:///tests/lib/b.js", "file:///tests/c.js", "file:///x/d.js", "file:///y/e.js"] {
            sources.add_text(url, String::new());
        }
        match (sources.resolve("file:///tests/lib/a.js", specifier), expect) {
            (Ok(Resolved::File(url)), Ok(expect)) => assert_eq!(url, expect),
            (Ok(Resolved::Builtin(name)), Ok(expect)) => assert_eq!(name, expect),
            (Err(text), Err(expect)) => assert!(text.contains(expect), "{text}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn specifiers() {
        check("./b.js", Ok("file:///tests/lib/b.js"));
        check("../c.js", Ok("file:///tests/c.js"));
        check("/x/./d.js", Ok("file:///x/d.js"));
        check("file:///y/e.js", Ok("file:///y/e.js"));
        check("k6/http", Ok("k6/http"));
        check("lodash", Err("write \"./lodash\""));
        check("./absent.js", Err("\"./absent.js\" couldn't be found on local disk (/tests/lib/absent.js)"));
        check("/", Err("\"/\" is a directory"));
        check("k6/htpt", Err("k6/http"));
        check("https://jslib.k6.io/x.js", Ok("https://jslib.k6.io/x.js"));
    }

    #[test]
    fn imports_that_lead_nowhere_are_remembered_once() {
        let sources = Sources::new("/tests".into(), Outside::default(), Vec::new());
        let name = sources.miss("no x").expect("the list is not full");
        assert_eq!(sources.miss("no x"), Some(name.clone()));
        assert_eq!(sources.missed(&name).as_deref(), Some("no x"));
        assert_eq!(sources.missed("file:///x.js"), None);
        for index in 0..MISSING_MAX {
            sources.miss(&index.to_string());
        }
        assert_eq!(sources.miss("one too many"), None);
        assert_eq!(sources.missing().len(), MISSING_MAX);
    }

    #[test]
    fn an_archive_stands_in_place_of_the_disk() {
        let packed = [(PathBuf::from("/nowhere/a.txt"), Arc::from(*b"A"))].into();
        let sources = Sources::new(
            "/nowhere".into(),
            Outside { packed: Some(packed), ..Outside::default() },
            Vec::new(),
        );
        assert_eq!(&*sources.open_in(None, "./a.txt").expect("it is packed"), b"A");
        assert!(sources.open_in(None, "/etc/hostname").unwrap_err().contains("the archive has no file"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let sources = Sources::new("/nowhere".into(), Outside::default(), Vec::new());
        assert!(
            sources
                .open_in(None, "./data.json")
                .unwrap_err()
                .contains("\"/nowhere/data.json\" couldn't be found")
        );
    }
}
