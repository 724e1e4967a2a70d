//! The spellings of a secret: as it is, and as URLs, JSON, base64 and hexadecimal digits have it.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Letters that stay as they are in one segment of a path or one value of a query, and in a path of several segments.
const KEPT_IN: [&str; 2] = ["-_.~", "-_.~!$&'()*+,;=:@/?"];

/// Fewest characters of a spelling in base64 that are searched for: shorter ones are parts of words.
const BASE64_CHARS_MIN: usize = 8;

/// All spellings of a secret that are worth a search, each once.
pub(crate) fn spellings(secret: &str) -> Vec<String> {
    let mut all = in_text(secret);
    all.extend(in_base64(secret.as_bytes()));
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    all.extend([hex.to_uppercase(), hex]);
    all.sort_unstable();
    all.dedup();
    all
}

/// The spellings that keep a secret's letters: as it is, in URLs and in JSON.
pub(crate) fn in_text(secret: &str) -> Vec<String> {
    let mut all = vec![secret.to_owned()];
    for kept in KEPT_IN {
        for blank in ["%20", "+"] {
            all.extend([in_url(secret, blank, kept, false), in_url(secret, blank, kept, true)]);
        }
    }
    let quoted = serde_json::Value::from(secret).to_string();
    let json = quoted[1..quoted.len() - 1].to_owned();
    let ascii = in_ascii(&json);
    all.extend([json.replace('/', "\\/"), ascii.replace('/', "\\/"), ascii, json]);
    all.sort_unstable();
    all.dedup();
    all
}

fn in_url(secret: &str, blank: &str, kept: &str, is_lower: bool) -> String {
    let bytes = secret.bytes().map(|byte| match char::from(byte) {
        ' ' => blank.to_owned(),
        letter if letter.is_ascii_alphanumeric() || kept.contains(letter) => letter.to_string(),
        _ if is_lower => format!("%{byte:02x}"),
        _ => format!("%{byte:02X}"),
    });
    bytes.collect()
}

/// JSON of writers that keep to ASCII, in UTF-16's units (RFC 8259, 7).
fn in_ascii(json: &str) -> String {
    let mut shown = String::new();
    for letter in json.chars() {
        if letter.is_ascii() {
            shown.push(letter);
        } else {
            let mut units = [0; 2];
            shown.extend(letter.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    shown
}

/// The characters that the secret alone decides, behind 0, 1 and 2 bytes of other text: `user:secret` is encoded as a whole.
fn in_base64(secret: &[u8]) -> Vec<String> {
    let mut all = Vec::new();
    for before in 0..3 {
        let padded = [&b"\0\0"[..before], secret].concat();
        // Six bits a character; the first and the last may hold bits of others.
        let (start, end) = ((before * 8).div_ceil(6), padded.len() * 8 / 6);
        for text in [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)] {
            all.extend(text.get(start..end).filter(|core| core.len() >= BASE64_CHARS_MIN).map(str::to_owned));
        }
    }
    all
}
