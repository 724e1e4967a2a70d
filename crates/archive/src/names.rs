//! Names of URLs in the tar file.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::ArchiveError;

/// The longest name of a file.
const NAME_BYTES_MAX: usize = 4_096;

/// Characters that are escaped in the path of a URL (RFC 3986, 3.3).
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The name of a URL in the tar file; `None` for URLs that archives do not hold.
pub(crate) fn name_of(url: &str) -> Option<String> {
    if let Some(path) = url.strip_prefix("file:///") {
        return Some(format!("file/{path}"));
    }
    Some(format!("https/{}", url.strip_prefix("https://")?))
}

/// The URL of a name in the tar file; `None` where it says nothing of a file.
pub(crate) fn url_of(name: &str) -> Result<Option<String>, ArchiveError> {
    let bad = || ArchiveError::Name(name.chars().take(200).collect());
    let is_sound = |rest: &str| {
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        name.len() <= NAME_BYTES_MAX
            && !path.is_empty()
            && !rest.contains('\0')
            && path.split('/').all(|part| !["", ".", ".."].contains(&part))
    };
    let name = name.strip_prefix("./").unwrap_or(name);
    if let Some(rest) = name.strip_prefix("file/") {
        // A question mark is a character like others here.
        let parts_are_sound = rest.split('/').all(|part| !["", ".", ".."].contains(&part));
        return if is_sound(rest) && parts_are_sound {
            Ok(Some(format!("file:///{rest}")))
        } else {
            Err(bad())
        };
    }
    if let Some(rest) = name.strip_prefix("https/") {
        return if is_sound(rest) { Ok(Some(format!("https://{rest}"))) } else { Err(bad()) };
    }
    if name.starts_with("files/") || name.starts_with("scripts/") {
        return Err(ArchiveError::Old(name.chars().take(200).collect()));
    }
    Ok(None)
}

/// A `file://` URL with its path escaped, as `metadata.json` has it; others as they are.
pub(crate) fn escaped(url: &str) -> String {
    match url.strip_prefix("file://") {
        Some(path) => format!("file://{}", utf8_percent_encode(path, PATH)),
        None => url.to_owned(),
    }
}

/// The reverse. Older versions wrote a bare path.
pub(crate) fn unescaped(url: &str) -> String {
    match url.strip_prefix("file://") {
        Some(path) => format!("file://{}", percent_decode_str(path).decode_utf8_lossy()),
        None if url.starts_with('/') => format!("file://{url}"),
        None => url.to_owned(),
    }
}

/// A `file://` URL without the name of the user in whose home it lies, because archives are handed on. k6 does the same.
pub fn anonymous(url: &str) -> String {
    for home in ["home", "Users"] {
        let rest = url.strip_prefix("file:///").and_then(|path| path.strip_prefix(home)?.strip_prefix('/'));
        if let Some(rest) = rest {
            let below = rest.find('/').map_or("", |at| &rest[at..]);
            return format!("file:///{home}/nobody{below}");
        }
    }
    url.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_names() {
        for (url, name) in [
            ("file:///srv/a b/é?.js", "file/srv/a b/é?.js"),
            ("https://x.example:8443/a.js?v=1/2#f", "https/x.example:8443/a.js?v=1/2#f"),
            ("file:///C:/x.js", "file/C:/x.js"),
        ] {
            assert_eq!(name_of(url).as_deref(), Some(name));
            assert_eq!(url_of(name).expect("it is sound").as_deref(), Some(url));
        }
        assert_eq!(name_of("http://x.example/a.js"), None);
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in [
            "file/../etc/passwd",
            "file/a/../../b",
            "file//etc/passwd",
            "file/",
            "https/x.example/../y.js",
            "file/a/./b",
            "file/a\0b",
        ] {
            assert!(matches!(url_of(name), Err(ArchiveError::Name(_))), "{name}");
        }
        assert!(matches!(url_of("scripts/_/a.js"), Err(ArchiveError::Old(_))));
        assert_eq!(url_of("something-new").expect("it is skipped"), None);
    }

    #[test]
    fn escapes_are_those_of_urls() {
        let url = "file:///tests/bo b/100%.js";
        assert_eq!(escaped(url), "file:///tests/bo%20b/100%25.js");
        assert_eq!(unescaped(&escaped(url)), url);
        assert_eq!(unescaped("/tests/x.js"), "file:///tests/x.js");
    }

    #[test]
    fn users_are_nobody() {
        for home in ["home", "Users"] {
            let url = |rest: &str| format!("file:///{home}/{rest}");
            assert_eq!(anonymous(&url("ada/x/y.js")), url("nobody/x/y.js"));
            assert_eq!(anonymous(&url("ada")), url("nobody"));
            let elsewhere = format!("file:///srv/{home}/ada/x.js");
            assert_eq!(anonymous(&elsewhere), elsewhere);
        }
        for url in ["file:///homework/ada/x.js", "https://x.example/a.js"] {
            assert_eq!(anonymous(url), url);
        }
    }
}
