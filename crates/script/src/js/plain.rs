//! JSON of small plain objects, without the engine's own writer, which costs several times as much for a few properties.

use rquickjs::Value;
use rquickjs::atom::PredefinedAtom;

use super::{each_property, is_plain_object, with_text};

/// Bytes beyond which the engine's own writer takes over: it lets other VUs run meanwhile.
const BYTES_MAX: usize = 4 << 10;

/// Objects inside of each other.
const DEPTH_MAX: u32 = 4;

/// Writes what `JSON.stringify(value)` gives, where the value is a plain object of texts, numbers, booleans, `null`s, lists and
/// plain objects. Returns false, with anything in `out`, where it is not.
///
/// # Errors
/// A getter throws.
pub(crate) fn write(value: &Value<'_>, out: &mut Vec<u8>) -> rquickjs::Result<bool> {
    if value.is_object() { write_value(value, out, 0) } else { Ok(false) }
}

fn write_value(value: &Value<'_>, out: &mut Vec<u8>, depth: u32) -> rquickjs::Result<bool> {
    if out.len() > BYTES_MAX || depth > DEPTH_MAX {
        return Ok(false);
    }
    if let Some(boolean) = value.as_bool() {
        out.extend_from_slice(if boolean { b"true" } else { b"false" });
    } else if value.is_null() {
        out.extend_from_slice(b"null");
    } else if let Some(integer) = value.as_int() {
        out.extend_from_slice(integer.to_string().as_bytes());
    } else if value.is_string() {
        return with_text(value.ctx(), value, |text| write_text(text, out));
    } else if let Some(list) = value.as_array() {
        return write_list(list, out, depth);
    } else if is_plain_object(value) {
        return write_object(value, out, depth);
    } else {
        return Ok(false);
    }
    Ok(true)
}

fn write_text(text: &str, out: &mut Vec<u8>) -> bool {
    if text.len() > BYTES_MAX {
        return false;
    }
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
    true
}

fn write_list(list: &rquickjs::Array<'_>, out: &mut Vec<u8>, depth: u32) -> rquickjs::Result<bool> {
    if has_own_json(list.as_value())? {
        return Ok(false);
    }
    out.push(b'[');
    for index in 0..list.len() {
        if index > 0 {
            out.push(b',');
        }
        if !write_value(&list.get::<Value<'_>>(index)?, out, depth + 1)? {
            return Ok(false);
        }
    }
    out.push(b']');
    Ok(true)
}

fn write_object(value: &Value<'_>, out: &mut Vec<u8>, depth: u32) -> rquickjs::Result<bool> {
    if has_own_json(value)? {
        return Ok(false);
    }
    out.push(b'{');
    let (mut is_first, mut is_plain) = (true, true);
    each_property(value, |name, value| {
        if !is_plain {
            return Ok(());
        }
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        is_plain = write_text(&name.to_text()?, out);
        out.push(b':');
        is_plain = is_plain && write_value(&value, out, depth + 1)?;
        Ok(())
    })?;
    out.push(b'}');
    Ok(is_plain)
}

/// Whether the value says itself what it is as JSON.
fn has_own_json(value: &Value<'_>) -> rquickjs::Result<bool> {
    let Some(object) = value.as_object() else { return Ok(false) };
    Ok(!object.get::<_, Value<'_>>(PredefinedAtom::ToJSON)?.is_undefined())
}
