//! Where scripts come from: specifiers, files, and what has been compiled from them.

mod builtin;
mod nearest;
mod node;
mod package;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::node::Found;
pub(crate) use self::node::{Asked, is_in_package};
pub(crate) use self::package::is_json;
use crate::outside::{self, Outside};
use crate::places::{self, Generated};

/// A script may read this much in all; more is a data set that belongs elsewhere.
const FILES_BYTES_MAX: u64 = 2 << 30;

/// The URL of a module that has nothing in it: what a package asks for and can do without.
pub(crate) const EMPTY_URL: &str = "empty://module";

/// Sources that maps brought along are kept up to this many bytes.
const MAPPED_TEXT_BYTES_MAX: usize = 64 << 20;

/// So many different imports of what does not exist are remembered, to be told together.
const MISSING_MAX: usize = 64;

/// In front of the names of modules that stand for what could not be found.
const MISSING: &str = "missing:";

/// What modules of the host and CommonJS files were asked for and do not have: names by module.
pub(crate) type Undefined = BTreeMap<String, BTreeSet<String>>;

/// Bytecode of one file, shared by all VUs.
#[derive(Clone)]
pub(crate) enum Compiled {
    Module(Arc<[u8]>),
    CommonJs(Arc<[u8]>),
}

/// All files of a script. Filled by the first init, then locked: later VUs see what the first one saw.
pub(crate) struct Sources {
    /// Folder of the entry script; `open()` and `require()` start here.
    folder: PathBuf,
    outside: Outside,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    texts: HashMap<String, Arc<str>>,
    files: HashMap<PathBuf, Arc<[u8]>>,
    remote: HashMap<String, Arc<[u8]>>,
    builtins: BTreeSet<&'static str>,
    missing: Vec<String>,
    undefined: Undefined,
    compiled: HashMap<String, Compiled>,
    /// What bare specifiers mean, and those in packages: by folder, specifier and who asks.
    resolved: HashMap<(PathBuf, String, Asked), Result<Resolved, String>>,
    /// Looked up when a position is first asked for, and what the host itself generated.
    generated: HashMap<String, Generated>,
    mapped_texts: HashMap<String, Arc<str>>,
    mapped_text_bytes: usize,
    bytes: u64,
    is_locked: bool,
}

/// What a specifier stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// A module of the host.
    Builtin(&'static str),
    /// A file, by its URL.
    File(String),
}

impl Sources {
    pub(crate) fn new(folder: PathBuf, outside: Outside) -> Sources {
        // Known from the start, so that nobody asks the disk whether they exist.
        let packed = outside.packed.iter().flatten();
        let files = packed.map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
        Sources { folder, outside, inner: Mutex::new(Inner { files, ..Inner::default() }) }
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

    /// Every file that has been read, by its URL: modules as they were before anything was done to their text, and what
    /// `open()` read.
    pub(crate) fn files(&self) -> BTreeMap<String, Arc<[u8]>> {
        let inner = self.inner();
        let local = inner.files.iter().map(|(path, bytes)| (file_url(path), bytes.clone()));
        local.chain(inner.remote.iter().map(|(url, bytes)| (url.clone(), bytes.clone()))).collect()
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

    /// What a module that [`Self::miss`] named stands for.
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

    /// What modules were asked for and do not have.
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

    /// What leads from the code that runs as `url` to what was written; a map that it names is read now.
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

    /// What `specifier` in an `import` of the file `base` means.
    ///
    /// # Errors
    /// A text for the user: what is wrong and what would be right.
    pub(crate) fn resolve(&self, base: &str, specifier: &str) -> Result<Resolved, String> {
        self.resolve_as(base, specifier, Asked::Import)
    }

    /// The same for a `require()`.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn resolve_required(&self, base: &str, specifier: &str) -> Result<Resolved, String> {
        self.resolve_as(base, specifier, Asked::Require)
    }

    fn resolve_as(&self, base: &str, specifier: &str, asked: Asked) -> Result<Resolved, String> {
        if specifier == "k6" || specifier.starts_with("k6/") {
            let name = crate::modules::find(specifier)?;
            self.inner().builtins.insert(name);
            return Ok(Resolved::Builtin(name));
        }
        if let Some(url) = outside::resolve(base, specifier)? {
            return Ok(Resolved::File(url));
        }
        let folder = match base.strip_prefix("file://").map(Path::new).and_then(Path::parent) {
            Some(parent) => parent.to_owned(),
            None => self.folder.clone(),
        };
        let path = if let Some(path) = specifier.strip_prefix("file://") {
            PathBuf::from(path)
        } else if specifier.starts_with('/') {
            PathBuf::from(specifier)
        } else if specifier.starts_with("./") || specifier.starts_with("../") {
            folder.join(specifier)
        } else if self.outside.packed.is_some() {
            return Err(format!(
                "\"{specifier}\" is looked for in node_modules, which archives do not hold; bundle the script before it \
                 is archived"
            ));
        } else {
            return self.resolve_in_packages(folder, specifier, asked, |folder| {
                node::package(folder, specifier, asked)
            });
        };
        let path = normalize(&path);
        if is_in_package(base) && self.outside.packed.is_none() {
            return self.resolve_in_packages(folder, specifier, asked, |_| node::file(&path));
        }
        self.must_exist(specifier, &path)?;
        Ok(Resolved::File(file_url(&path)))
    }

    /// Asks the file system what a specifier means, once per folder; after the first VU, no more.
    fn resolve_in_packages(
        &self,
        folder: PathBuf,
        specifier: &str,
        asked: Asked,
        find: impl FnOnce(&Path) -> Result<Found, String>,
    ) -> Result<Resolved, String> {
        let key = (folder, specifier.to_owned(), asked);
        let mut inner = self.inner();
        if let Some(known) = inner.resolved.get(&key) {
            return known.clone();
        }
        if inner.is_locked {
            return Err(format!(
                "\"{specifier}\" was not asked for by the first VU: modules must not depend on the VU's number"
            ));
        }
        let resolved = find(&key.0).map(|found| match found {
            Found::File(path) => Resolved::File(file_url(&path)),
            Found::Empty => Resolved::File(EMPTY_URL.to_owned()),
        });
        inner.resolved.insert(key, resolved.clone());
        resolved
    }

    /// Names the file that was meant while it is known how the script called it. What has been read, exists; an archive
    /// answers for itself when it is read, and its scripts learn nothing of this machine's disk.
    fn must_exist(&self, specifier: &str, path: &Path) -> Result<(), String> {
        if self.outside.packed.is_some() {
            return Ok(());
        }
        let inner = self.inner();
        if inner.is_locked || inner.texts.contains_key(&file_url(path)) || inner.files.contains_key(path) {
            return Ok(());
        }
        drop(inner);
        let is_folder = path.is_dir();
        if !is_folder && path.exists() {
            return Ok(());
        }
        let mut text = if is_folder {
            format!("\"{specifier}\" is a directory, and only files can be imported")
        } else {
            format!("\"{specifier}\" couldn't be found on local disk ({})", path.display())
        };
        if let Some(meant) = nearest::specifier(specifier.trim_end_matches('/'), path) {
            text.push_str(&format!("; did you mean \"{meant}\"?"));
        }
        Err(text)
    }

    /// Reads a module's text, once.
    pub(crate) fn read_text(&self, url: &str) -> Result<Arc<str>, String> {
        if let Some(text) = self.text(url) {
            return Ok(text);
        }
        let bytes = match outside::is_remote(url) {
            true => self.read_remote(url)?,
            false => self.read(&path_of(url))?,
        };
        let name = url.strip_prefix("file://").unwrap_or(url);
        let text = std::str::from_utf8(&bytes).map_err(|_| format!("\"{name}\" is not UTF-8 text"))?;
        let text: Arc<str> = without_mark(text).into();
        self.inner().texts.insert(url.to_owned(), text.clone());
        Ok(text)
    }

    /// Reads a file for `open()`, once; relative paths start at `folder`, or else at the entry script's.
    pub(crate) fn open_in(&self, folder: Option<&Path>, path: &str) -> Result<Arc<[u8]>, String> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.is_empty() {
            return Err("open() can't be used with an empty filename".into());
        }
        self.read(&normalize(&folder.unwrap_or(&self.folder).join(path)))
    }

    /// Where `open()` of the entry script looks for a path.
    pub(crate) fn path_of(&self, path: &str) -> PathBuf {
        normalize(&self.folder.join(path.strip_prefix("file://").unwrap_or(path)))
    }

    fn read(&self, path: &Path) -> Result<Arc<[u8]>, String> {
        let mut inner = self.inner();
        if let Some(bytes) = inner.files.get(path) {
            return Ok(bytes.clone());
        }
        if inner.is_locked {
            return Err(not_of_first_vu(&path.display().to_string()));
        }
        if self.outside.packed.is_some() {
            return Err(format!(
                "the archive has no file \"{}\"; make it again from the script",
                path.display()
            ));
        }
        let metadata = std::fs::metadata(path).map_err(|error| not_readable(path, &error))?;
        if metadata.is_dir() {
            return Err(format!("\"{}\" is a directory, and only files can be read", path.display()));
        }
        if inner.bytes + metadata.len() > FILES_BYTES_MAX {
            return Err(format!(
                "\"{}\" would bring the script's files above {FILES_BYTES_MAX} bytes",
                path.display()
            ));
        }
        let bytes: Arc<[u8]> = std::fs::read(path).map_err(|error| not_readable(path, &error))?.into();
        inner.bytes += bytes.len() as u64;
        inner.files.insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }

    fn read_remote(&self, url: &str) -> Result<Arc<[u8]>, String> {
        let is_locked = {
            let inner = self.inner();
            if let Some(bytes) = inner.remote.get(url) {
                return Ok(bytes.clone());
            }
            inner.is_locked
        };
        if is_locked {
            return Err(not_of_first_vu(url));
        }
        let fetch = self.outside.fetch.as_ref();
        let fetch =
            fetch.ok_or_else(|| format!("\"{url}\" is a remote module, and none can be loaded here"))?;
        let bytes: Arc<[u8]> = fetch.fetch(outside::without_fragment(url))?.into();
        let mut inner = self.inner();
        if inner.bytes + bytes.len() as u64 > FILES_BYTES_MAX {
            return Err(format!("\"{url}\" would bring the script's files above {FILES_BYTES_MAX} bytes"));
        }
        inner.bytes += bytes.len() as u64;
        inner.remote.insert(url.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

fn not_of_first_vu(name: &str) -> String {
    format!("\"{name}\" was not read by the first VU: files and modules must not depend on the VU's number")
}

/// Editors on Windows put a byte order mark in front, which no JavaScript engine wants to see.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn path_of(url: &str) -> PathBuf {
    PathBuf::from(url.strip_prefix("file://").unwrap_or(url))
}

fn not_readable(path: &Path, error: &std::io::Error) -> String {
    let mut text = format!("the file \"{}\" couldn't be read: {error}", path.display());
    if error.kind() == std::io::ErrorKind::NotFound {
        text = format!("the file \"{}\" couldn't be found on local disk", path.display());
        if path.extension().is_none() {
            text.push_str("; the extension (\".js\") must be written out");
        }
    }
    text
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
        let sources = Sources::new("/tests".into(), Outside::default());
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
        let sources = Sources::new("/tests".into(), Outside::default());
        let name = sources.miss("no x").expect("there is room");
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
        let sources = Sources::new("/nowhere".into(), Outside { packed: Some(packed), fetch: None });
        assert_eq!(&*sources.open_in(None, "./a.txt").expect("it is packed"), b"A");
        assert!(sources.open_in(None, "/etc/hostname").unwrap_err().contains("the archive has no file"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let sources = Sources::new("/nowhere".into(), Outside::default());
        assert!(
            sources
                .open_in(None, "./data.json")
                .unwrap_err()
                .contains("\"/nowhere/data.json\" couldn't be found")
        );
    }
}
