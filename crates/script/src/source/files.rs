//! Reading: modules' texts, and what `open()` asks for.

use std::io::{Cursor, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Sources, nearest, normalize, path_of, without_mark};
use crate::outside;
use crate::rows::RowSource;

/// A script may read this much in all; more is a data set that belongs elsewhere.
const FILES_BYTES_MAX: u64 = 2 << 30;

/// The largest file that `open()` reads: no longer text fits into a string of JavaScript.
const OPEN_BYTES_MAX: u64 = 1 << 30;

/// The largest module; that of a script too. Compiling takes up to twenty times as much memory.
pub const MODULE_BYTES_MAX: u64 = 64 << 20;

impl Sources {
    /// Reads a module's text, once.
    pub(crate) fn read_text(&self, url: &str) -> Result<Arc<str>, String> {
        if let Some(text) = self.text(url) {
            return Ok(text);
        }
        let bytes = match outside::is_remote(url) {
            true => self.read_remote(url)?,
            false => self.read(&path_of(url), MODULE_BYTES_MAX)?,
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
        self.read(&normalize(&folder.unwrap_or(&self.folder).join(path)), OPEN_BYTES_MAX)
    }

    /// The full path of a file; relative paths as in [`Self::open_in`].
    pub(crate) fn path_in(&self, folder: Option<&Path>, path: &str) -> PathBuf {
        normalize(&folder.unwrap_or(&self.folder).join(path.strip_prefix("file://").unwrap_or(path)))
    }

    /// Opens a file whose rows are read one after the other, however large it is.
    pub(crate) fn stream(&self, path: PathBuf) -> Result<RowSource, String> {
        let mut inner = self.inner();
        if let Some(bytes) = inner.files.get(&path) {
            return Ok(RowSource::Packed(Cursor::new(bytes.clone())));
        }
        if inner.is_locked {
            return Err(not_of_first_vu(&path.display().to_string()));
        }
        if self.outside.packed.is_some() {
            return Err(not_packed(&path));
        }
        let file = files::open_regular(&path).map_err(|error| not_readable(&path, &error))?;
        inner.streamed.insert(path);
        Ok(RowSource::File(file))
    }

    /// Reads the files that are read row by row, for an archive.
    pub(super) fn read_streamed(&self) -> Result<(), String> {
        let streamed = self.inner().streamed.clone();
        for path in streamed {
            if self.inner().files.contains_key(&path) {
                continue;
            }
            let bytes_left = FILES_BYTES_MAX.saturating_sub(self.inner().bytes);
            let bytes: Arc<[u8]> = files::read_regular(&path, bytes_left)
                .map_err(|error| format!("\"{}\" cannot be packed: {error}", path.display()))?
                .into();
            let mut inner = self.inner();
            inner.bytes += bytes.len() as u64;
            inner.files.insert(path, bytes);
        }
        Ok(())
    }

    /// Where `open()` of the entry script looks for a path.
    pub(crate) fn path_of(&self, path: &str) -> PathBuf {
        normalize(&self.folder.join(path.strip_prefix("file://").unwrap_or(path)))
    }

    fn read(&self, path: &Path, bytes_max: u64) -> Result<Arc<[u8]>, String> {
        let mut inner = self.inner();
        if let Some(bytes) = inner.files.get(path) {
            return Ok(bytes.clone());
        }
        if inner.is_locked {
            return Err(not_of_first_vu(&path.display().to_string()));
        }
        if self.outside.packed.is_some() {
            return Err(not_packed(path));
        }
        let bytes_left = FILES_BYTES_MAX.saturating_sub(inner.bytes);
        let bytes =
            files::read_regular(path, bytes_max.min(bytes_left)).map_err(|error| match error.kind() {
                ErrorKind::IsADirectory => {
                    format!("\"{}\" is a directory, and only files can be read", path.display())
                }
                ErrorKind::FileTooLarge if bytes_left < bytes_max => {
                    format!(
                        "\"{}\" would bring the script's files above {FILES_BYTES_MAX} bytes",
                        path.display()
                    )
                }
                _ => not_readable(path, &error),
            })?;
        let bytes: Arc<[u8]> = bytes.into();
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

fn not_packed(path: &Path) -> String {
    format!("the archive has no file \"{}\"; make it again from the script", path.display())
}

fn not_of_first_vu(name: &str) -> String {
    format!("\"{name}\" was not read by the first VU: files and modules must not depend on the VU's number")
}

fn not_readable(path: &Path, error: &std::io::Error) -> String {
    let mut text = format!("the file \"{}\" couldn't be read: {error}", path.display());
    if error.kind() == ErrorKind::NotFound {
        text = format!("the file \"{}\" couldn't be found on local disk", path.display());
        if let Some(meant) = nearest::file(path) {
            text.push_str(&format!("; did you mean \"{}\"?", meant.display()));
        } else if path.extension().is_none() {
            text.push_str("; the extension (\".js\") must be written out");
        }
    }
    text
}
