//! Files from outside of this machine's disk: remote modules, and the files of an archive.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use url::Url;

/// Brings remote modules. It is asked once per URL while the script is loaded, and may block.
pub trait Fetch: Send + Sync {
    /// The bytes at an `https://` URL (without its fragment).
    ///
    /// # Errors
    /// A text for the user: what is wrong and what would be right.
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String>;
}

/// The files of an archive by their absolute paths. Where there are any, the disk is not asked.
pub type PackedFiles = BTreeMap<PathBuf, Arc<[u8]>>;

/// Target of an import that is neither a path nor a URL, or is a path inside of a package, where names may be short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageImport {
    /// Folder of the file that asks.
    pub folder: PathBuf,
    /// As it is written there.
    pub specifier: String,
    /// Whether `require()` asks; packages may give another file then.
    pub required: bool,
    /// URL of the file.
    pub file: String,
}

/// Where files and modules are that are not on the disk.
#[derive(Clone, Default)]
pub struct Outside {
    /// Brings remote modules; without it they cannot be imported.
    pub fetch: Option<Arc<dyn Fetch>>,
    /// Files in place of the disk.
    pub packed: Option<PackedFiles>,
    /// Targets of package imports, where there is no `node_modules` to search.
    pub packages: Vec<PackageImport>,
}

/// Whether a module's name is a URL of another machine.
pub(crate) fn is_remote(url: &str) -> bool {
    url.starts_with("https://")
}

/// The URL of a remote module, if `specifier` in the module `base` means one. Relative specifiers go by the URL that was
/// written, also where the server redirected: k6 does so, and the same script must load the same files.
///
/// # Errors
/// It means a remote module that cannot be loaded, and the text says why.
pub(crate) fn resolve(base: &str, specifier: &str) -> Result<Option<String>, String> {
    if let Some(rest) = specifier.strip_prefix("http://") {
        return Err(format!(
            "\"{specifier}\" would come over a connection that anyone on the way can change; write \
             \"https://{rest}\", or download it and import the file"
        ));
    }
    if let Some(site) = ["github.com/", "cdnjs.com/"].iter().find(|site| specifier.starts_with(**site)) {
        let site = site.trim_end_matches('/');
        return Err(format!(
            "\"{specifier}\" is a short form that k6 once had for {site}; write the https:// URL of the script itself \
             (the \"raw\" one)"
        ));
    }
    if is_remote(specifier) {
        let url = Url::parse(specifier).map_err(|error| format!("\"{specifier}\" is no URL: {error}"))?;
        return Ok(Some(url.to_string()));
    }
    if !is_remote(base) {
        return Ok(None);
    }
    if specifier.starts_with("file:") {
        return Err(format!(
            "the remote module {base} asks for the local file \"{specifier}\", which remote modules may not read"
        ));
    }
    if !["./", "../", "/"].iter().any(|start| specifier.starts_with(start)) {
        return Err(format!(
            "\"{specifier}\" in {base} is neither a k6 module nor a URL; the module needs a build that has its \
             packages bundled"
        ));
    }
    let joined = Url::parse(base).and_then(|base| base.join(specifier));
    let url = joined.map_err(|error| format!("\"{specifier}\" in {base} is no URL: {error}"))?;
    match url.scheme() {
        "https" => Ok(Some(url.to_string())),
        _ => Err(format!("\"{specifier}\" in {base} leaves https://")),
    }
}

/// The URL that is requested: fragments are not sent (RFC 9110, 7.1).
pub(crate) fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(base: &str, specifier: &str, expect: Result<Option<&str>, &str>) {
        match (resolve(base, specifier), expect) {
            (Ok(url), Ok(expect)) => assert_eq!(url.as_deref(), expect),
            (Err(text), Err(expect)) => assert!(text.contains(expect), "{text}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn specifiers_of_local_modules() {
        let base = "file:///tests/a.js";
        check(base, "https://x.example/a/../b.js?v=1#f", Ok(Some("https://x.example/b.js?v=1#f")));
        check(base, "./b.js", Ok(None));
        check(base, "http://x.example/b.js", Err("\"https://x.example/b.js\""));
        check(base, "github.com/a/b.js", Err("raw"));
        check(base, "cdnjs.com/libraries/x", Err("cdnjs.com"));
        check(base, "https://", Err("is no URL"));
    }

    #[test]
    fn specifiers_of_remote_modules() {
        let base = "https://x.example:8443/lib/a.js?v=1";
        check(base, "./b.js", Ok(Some("https://x.example:8443/lib/b.js")));
        check(base, "../../../b.js", Ok(Some("https://x.example:8443/b.js")));
        check(base, "/b.js", Ok(Some("https://x.example:8443/b.js")));
        check(base, "//y.example/b.js", Ok(Some("https://y.example/b.js")));
        check(base, "file:///etc/passwd", Err("may not read"));
        check(base, "lodash", Err("bundled"));
    }

    #[test]
    fn fragments_are_not_sent() {
        assert_eq!(without_fragment("https://x/a.js?b#c#d"), "https://x/a.js?b");
        assert_eq!(without_fragment("https://x/a.js"), "https://x/a.js");
    }
}
