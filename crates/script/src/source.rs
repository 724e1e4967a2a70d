//! Where scripts come from: specifiers, files, and what has been compiled from them.

mod builtin;
mod nearest;
mod node;
mod package;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::node::Found;
pub(crate) use self::node::{Asked, is_in_package};
pub(crate) use self::package::is_json;
use crate::places::{self, Generated};

/// A script may read this much in all; more is a data set that belongs elsewhere.
const FILES_BYTES_MAX: u64 = 2 << 30;

/// The URL of a module that has nothing in it: what a package asks for and can do without.
pub(crate) const EMPTY_URL: &str = "empty://module";

/// Sources that maps brought along are kept up to this many bytes.
const MAPPED_TEXT_BYTES_MAX: usize = 64 << 20;

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
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    texts: HashMap<String, Arc<str>>,
    files: HashMap<PathBuf, Arc<[u8]>>,
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
    pub(crate) fn new(folder: PathBuf) -> Sources {
        Sources { folder, inner: Mutex::default() }
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
        self.inner().texts.insert(url.to_owned(), text.into());
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
            return crate::modules::find(specifier).map(Resolved::Builtin);
        }
        if specifier.starts_with("https://") || specifier.starts_with("http://") {
            return Err(format!(
                "\"{specifier}\" is a remote module, which cannot be loaded yet; download it and import the file"
            ));
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
        } else {
            return self.resolve_in_packages(folder, specifier, asked, |folder| {
                node::package(folder, specifier, asked)
            });
        };
        let path = normalize(&path);
        if is_in_package(base) {
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

    /// Names the file that was meant while it is known how the script called it. What has been read, exists.
    fn must_exist(&self, specifier: &str, path: &Path) -> Result<(), String> {
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
        let path = PathBuf::from(url.strip_prefix("file://").unwrap_or(url));
        let bytes = self.read(&path)?;
        let text = String::from_utf8(bytes.to_vec())
            .map_err(|_| format!("\"{}\" is not UTF-8 text", path.display()))?;
        // Editors on Windows put a byte order mark in front, which no JavaScript engine wants to see.
        let text: Arc<str> = text.strip_prefix('\u{feff}').unwrap_or(&text).into();
        self.inner().texts.insert(url.to_owned(), text.clone());
        Ok(text)
    }

    /// Reads a file for `open()`, once; relative paths start at the entry script's folder.
    pub(crate) fn open(&self, path: &str) -> Result<Arc<[u8]>, String> {
        let path = path.strip_prefix("file://").unwrap_or(path);
        if path.is_empty() {
            return Err("open() can't be used with an empty filename".into());
        }
        self.read(&self.path_of(path))
    }

    /// Where `open()` looks for a path.
    pub(crate) fn path_of(&self, path: &str) -> PathBuf {
        normalize(&self.folder.join(path.strip_prefix("file://").unwrap_or(path)))
    }

    fn read(&self, path: &Path) -> Result<Arc<[u8]>, String> {
        let mut inner = self.inner();
        if let Some(bytes) = inner.files.get(path) {
            return Ok(bytes.clone());
        }
        if inner.is_locked {
            return Err(format!(
                "\"{}\" was not read by the first VU: files and modules must not depend on the VU's number",
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
        let sources = Sources::new("/tests".into());
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
        check("https://jslib.k6.io/x.js", Err("remote module"));
    }

    #[test]
    fn a_missing_file_is_named() {
        let sources = Sources::new("/nowhere".into());
        assert!(
            sources.open("./data.json").unwrap_err().contains("\"/nowhere/data.json\" couldn't be found")
        );
    }
}
