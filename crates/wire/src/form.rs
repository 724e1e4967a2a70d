//! Form bodies: `application/x-www-form-urlencoded` and `multipart/form-data`.

use std::fmt::Write as _;

/// The `Content-Type` of [`encode_form`].
pub const FORM_CONTENT_TYPE: &str = "application/x-www-form-urlencoded";

/// The media type of a file that has none.
const FILE_CONTENT_TYPE: &str = "application/octet-stream";

/// Random bytes in a boundary: enough that no body contains it by chance. k6's is as long.
const BOUNDARY_BYTES: usize = 30;

/// Names and values as `application/x-www-form-urlencoded`.
///
/// As k6 (Go's `url.Values.Encode`): sorted by name, values of one name in the order they were given, spaces as `+`,
/// and everything but letters, digits and `-._~` percent-encoded.
pub fn encode_form<K: AsRef<str>, V: AsRef<str>>(pairs: &[(K, V)]) -> String {
    let mut sorted: Vec<(&str, &str)> =
        pairs.iter().map(|(name, value)| (name.as_ref(), value.as_ref())).collect();
    sorted.sort_by_key(|(name, _)| *name);
    let mut form = String::new();
    for (name, value) in sorted {
        if !form.is_empty() {
            form.push('&');
        }
        push_escaped(&mut form, name);
        form.push('=');
        push_escaped(&mut form, value);
    }
    form
}

/// One part of a `multipart/form-data` body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormPart<'a> {
    /// A plain field.
    Field {
        /// Its name.
        name: &'a str,
        /// Its value.
        value: &'a str,
    },
    /// A file.
    File {
        /// The field's name.
        name: &'a str,
        /// The file's name.
        filename: &'a str,
        /// Its media type; `application/octet-stream` where it is empty.
        content_type: &'a str,
        /// Its bytes.
        data: &'a [u8],
    },
}

/// A `multipart/form-data` body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multipart {
    /// Its bytes.
    pub body: Vec<u8>,
    /// The `Content-Type` that says how to read it.
    pub content_type: String,
}

/// `parts`, in their order, as `multipart/form-data` (RFC 7578) with a random boundary.
///
/// Quotes and backslashes in names are escaped with a backslash as Go does. Line breaks in names become `%0D%0A` as
/// HTML says (multipart encoding algorithm); k6 lets those of file names through and breaks the body.
pub fn encode_multipart(parts: &[FormPart<'_>]) -> Multipart {
    encode_with_boundary(parts, &boundary())
}

fn encode_with_boundary(parts: &[FormPart<'_>], boundary: &str) -> Multipart {
    let mut body = Vec::new();
    for part in parts {
        let (head, data) = match part {
            FormPart::Field { name, value } => (format!("name=\"{}\"", quoted(name)), value.as_bytes()),
            FormPart::File { name, filename, content_type, data } => {
                let content_type = media_type(content_type);
                let (name, filename) = (quoted(name), quoted(filename));
                let head =
                    format!("name=\"{name}\"; filename=\"{filename}\"\r\nContent-Type: {content_type}");
                (head, *data)
            }
        };
        let start = format!("--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n");
        body.reserve(start.len() + data.len() + 2);
        body.extend_from_slice(start.as_bytes());
        body.extend_from_slice(data);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Multipart { body, content_type: format!("multipart/form-data; boundary={boundary}") }
}

fn boundary() -> String {
    crate::random::hex(BOUNDARY_BYTES)
}

/// `text` inside of a quoted string of a part's head.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\r' => quoted.push_str("%0D"),
            '\n' => quoted.push_str("%0A"),
            c => quoted.push(c),
        }
    }
    quoted
}

/// A media type that stays on its line.
fn media_type(content_type: &str) -> String {
    if content_type.is_empty() {
        return FILE_CONTENT_TYPE.to_owned();
    }
    content_type.chars().filter(|c| !c.is_control()).collect()
}

fn push_escaped(form: &mut String, text: &str) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                form.push(char::from(byte))
            }
            b' ' => form.push('+'),
            // Writing to a `String` cannot fail.
            _ => _ = write!(form, "%{byte:02X}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_are_encoded_as_k6_does() {
        let check = |pairs: &[(&str, &str)], expect: &str| assert_eq!(encode_form(pairs), expect);
        check(&[], "");
        // Taken from a request that k6 v2.2 sent.
        check(
            &[
                ("z", "1"),
                ("a", "x y&=+~*-_.!'()/é\n"),
                ("arr", "q"),
                ("arr", "p"),
                ("num", "1.5"),
                ("k ey", "v"),
                ("A", "up"),
                ("e", ""),
            ],
            "A=up&a=x+y%26%3D%2B~%2A-_.%21%27%28%29%2F%C3%A9%0A&arr=q&arr=p&e=&k+ey=v&num=1.5&z=1",
        );
    }

    #[test]
    fn multipart_bodies_are_encoded_as_go_does() {
        let parts = [
            FormPart::File {
                name: "f",
                filename: "na\"me\\x\r\n.txt",
                content_type: "text/x",
                data: b"DATA",
            },
            FormPart::Field { name: "q\"k\r\n", value: "line\r\nbreak" },
            FormPart::File { name: "i", filename: "é.png", content_type: "", data: b"\x00\xff" },
            FormPart::File { name: "j", filename: "", content_type: "a/b\r\nX: y", data: b"" },
        ];
        let multipart = encode_with_boundary(&parts, "BB");
        let expect =
            b"--BB\r\nContent-Disposition: form-data; name=\"f\"; filename=\"na\\\"me\\\\x%0D%0A.txt\"\r\n\
            Content-Type: text/x\r\n\r\nDATA\r\n\
            --BB\r\nContent-Disposition: form-data; name=\"q\\\"k%0D%0A\"\r\n\r\nline\r\nbreak\r\n\
            --BB\r\nContent-Disposition: form-data; name=\"i\"; filename=\"\xc3\xa9.png\"\r\n\
            Content-Type: application/octet-stream\r\n\r\n\x00\xff\r\n\
            --BB\r\nContent-Disposition: form-data; name=\"j\"; filename=\"\"\r\n\
            Content-Type: a/bX: y\r\n\r\n\r\n--BB--\r\n";
        assert_eq!(String::from_utf8_lossy(&multipart.body), String::from_utf8_lossy(expect));
        assert_eq!(multipart.content_type, "multipart/form-data; boundary=BB");
    }

    #[test]
    fn boundaries_are_long_and_new_each_time() {
        let (one, other) = (encode_multipart(&[]), encode_multipart(&[]));
        assert_eq!(one.content_type.len(), "multipart/form-data; boundary=".len() + 2 * BOUNDARY_BYTES);
        assert_ne!(one.content_type, other.content_type);
    }

    proptest! {
        #[test]
        fn names_never_leave_their_line(name: String, filename: String, content_type: String) {
            let part = FormPart::File { name: &name, filename: &filename, content_type: &content_type, data: b"" };
            let body = encode_with_boundary(&[part], "B").body;
            prop_assert_eq!(body.iter().filter(|byte| **byte == b'\n').count(), 6);
        }
    }
}
