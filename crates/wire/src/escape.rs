//! Percent-encoding of the parts of a URL.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes that Go accepts unencoded in a path that is sent as written (`net/url`, "validEncoded").
const PATH_BYTES: &[u8] = b"-_.~!$&'()*+,;=:@[]/%";

/// Bytes that Go leaves alone when it encodes a path anew ("shouldEscape", path mode).
const PATH_BYTES_ANEW: &[u8] = b"-_.~$&+,/:;=@";

/// A path as Go sends it: as written, unless a byte must not stand there. Then all of it is decoded and encoded anew, which
/// also encodes some that could have stayed, such as brackets. Its escapes must be checked (see [`bad_escape`]).
pub(crate) fn path(written: &str) -> Cow<'_, str> {
    if written.bytes().all(|byte| byte.is_ascii_alphanumeric() || PATH_BYTES.contains(&byte)) {
        return Cow::Borrowed(written);
    }
    let mut text = String::with_capacity(written.len() + 8);
    push(&mut text, &decoded(written), |byte| {
        byte.is_ascii_alphanumeric() || PATH_BYTES_ANEW.contains(&byte)
    });
    Cow::Owned(text)
}

/// Appends `part`, encoding what is not a visible ASCII character.
pub(crate) fn push_graphic(text: &mut String, part: &str) {
    push(text, part.as_bytes(), |byte| byte.is_ascii_graphic());
}

fn push(text: &mut String, part: &[u8], keep: impl Fn(u8) -> bool) {
    for &byte in part {
        if keep(byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
}

/// The first `%` of a path that starts no escape, with what follows it. Queries may hold anything, as in Go.
pub(crate) fn bad_escape(path: &str) -> Option<String> {
    path.match_indices('%').map(|(at, _)| at).find_map(|at| {
        let digits = path.as_bytes().get(at + 1..at + 3);
        let is_escape = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let end = path.len().min(at + 3);
        (!is_escape).then(|| String::from_utf8_lossy(&path.as_bytes()[at..end]).into_owned())
    })
}

/// Percent-decoded; what is no escape is left alone.
fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 3).and_then(|digits| {
            let high = char::from(digits[0]).to_digit(16)?;
            let low = char::from(digits[1]).to_digit(16)?;
            u8::try_from(high * 16 + low).ok()
        });
        match escape {
            Some(byte) if bytes[at] == b'%' => {
                decoded.push(byte);
                at += 3;
            }
            _ => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    decoded
}

/// Percent-decoded text, such as user information.
pub(crate) fn decoded_text(text: &str) -> String {
    String::from_utf8_lossy(&decoded(text)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded_as_go_does() {
        let check = |written: &str, expect: &str| assert_eq!(path(written), expect, "{written}");
        check("/a[1]/(b)*!'c", "/a[1]/(b)*!'c");
        check("/%2f%zz", "/%2f%zz");
        check("/[object Object]", "/%5Bobject%20Object%5D");
        check("/a b%2Fc!(d)", "/a%20b/c%21%28d%29");
        check("/a|b\"c<d>{e}`f^g\\h", "/a%7Cb%22c%3Cd%3E%7Be%7D%60f%5Eg%5Ch");
        check("/é%C3%A9", "/%C3%A9%C3%A9");
        check("", "");
    }

    #[test]
    fn escapes_are_checked() {
        let check =
            |path: &str, expect: Option<&str>| assert_eq!(bad_escape(path).as_deref(), expect, "{path}");
        check("/%41%2f", None);
        check("/%zz", Some("%zz"));
        check("/a%", Some("%"));
    }
}
