//! Resolution of specifiers.

use std::path::{Path, PathBuf};

use super::node::{self, Asked, Found, is_in_package};
use super::{EMPTY_URL, Resolved, Sources, file_url, is_builtin_name, nearest, normalize};
use crate::outside;

impl Sources {
    /// Resolves `specifier` in an `import` of the file `base`.
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
        if is_builtin_name(specifier) {
            let name = self.builtin(specifier)?;
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
            return self.packed(&folder, specifier, asked).ok_or_else(|| {
                format!(
                    "the archive does not say which file \"{specifier}\" stands for in {}; make it again from the \
                     script, or bundle the script before it is archived",
                    folder.display()
                )
            });
        } else {
            return self.resolve_in_packages(folder, specifier, asked, |folder| {
                node::package(folder, specifier, asked)
            });
        };
        let path = normalize(&path);
        if is_in_package(base) && self.outside.packed.is_some() {
            // Other hands pack whole names only, and say nothing of them.
            let known = self.packed(&folder, specifier, asked);
            return Ok(known.unwrap_or_else(|| Resolved::File(file_url(&path))));
        }
        if is_in_package(base) {
            return self.resolve_in_packages(folder, specifier, asked, |_| node::file(&path));
        }
        self.must_exist(specifier, &path)?;
        Ok(Resolved::File(file_url(&path)))
    }

    /// Resolves an import in a package, or of one, from the archive's index.
    fn packed(&self, folder: &Path, specifier: &str, asked: Asked) -> Option<Resolved> {
        let key = (folder.to_owned(), specifier.to_owned(), asked);
        self.inner().resolved.get(&key).and_then(|resolved| resolved.clone().ok())
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
}
