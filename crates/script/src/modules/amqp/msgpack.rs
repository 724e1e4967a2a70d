//! JSON as MessagePack, the way k6's library writes it: numbers are floats of 64 bits.

use serde_json::Value;

/// A JSON text as MessagePack.
///
/// # Errors
/// A text for the user: it is no JSON.
pub(super) fn encode(json: &[u8]) -> Result<Vec<u8>, String> {
    let value = serde_json::from_slice(json)
        .map_err(|error| format!("the body of a message of application/x-msgpack is no JSON: {error}"))?;
    let mut out = Vec::new();
    push(&mut out, &value);
    Ok(out)
}

fn push(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(0xc0),
        Value::Bool(flag) => out.push(0xc2 | u8::from(*flag)),
        Value::Number(number) => {
            out.push(0xcb);
            out.extend_from_slice(&number.as_f64().unwrap_or_default().to_be_bytes());
        }
        Value::String(text) => push_text(out, text),
        Value::Array(values) => {
            push_count(out, values.len(), 0x90, 0xdc);
            values.iter().for_each(|value| push(out, value));
        }
        Value::Object(fields) => {
            push_count(out, fields.len(), 0x80, 0xde);
            for (name, value) in fields {
                push_text(out, name);
                push(out, value);
            }
        }
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    match text.len() {
        short @ 0..=31 => out.push(0xa0 | short as u8),
        middle @ 32..=255 => out.extend_from_slice(&[0xd9, middle as u8]),
        long @ 256..=0xffff => {
            out.push(0xda);
            out.extend_from_slice(&(long as u16).to_be_bytes());
        }
        longest => {
            out.push(0xdb);
            out.extend_from_slice(&(longest as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text.as_bytes());
}

/// The head of an array or a map: a few members, thousands, or more.
fn push_count(out: &mut Vec<u8>, count: usize, few: u8, many: u8) {
    match count {
        0..=15 => out.push(few | count as u8),
        16..=0xffff => {
            out.push(many);
            out.extend_from_slice(&(count as u16).to_be_bytes());
        }
        _ => {
            out.push(many + 1);
            out.extend_from_slice(&(count as u32).to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let bytes = encode(b"{\"a\":1,\"b\":[true,null,\"x\"]}").expect("JSON");
        let expect = b"\x82\xa1a\xcb\x3f\xf0\0\0\0\0\0\0\xa1b\x93\xc3\xc0\xa1x";
        assert_eq!(bytes, expect);
        assert!(encode(b"x").expect_err("no JSON").contains("no JSON"));
        let long = encode(format!("\"{}\"", "x".repeat(300)).as_bytes()).expect("JSON");
        assert_eq!(long[..3], [0xda, 1, 44]);
    }
}
