//! Metadata between JavaScript and the fields of a request or a response.

use rquickjs::Value;

use super::params::Unfit;
use super::response::write_text;
use crate::js::{self, Args};

/// Fields of a request, ready to send, with keys in lower case.
pub(super) type Metadata = Vec<(String, String)>;

/// Keys of one call; servers refuse more.
const KEYS_MAX: usize = 1_000;

/// Fields that gRPC itself writes.
const OWN: [&str; 6] =
    ["content-type", "te", "user-agent", "grpc-timeout", "grpc-encoding", "grpc-message-type"];

/// Reads an object of texts; the values of keys that end in `-bin` may be bytes.
pub(super) fn read<'js>(args: &Args<'_, 'js>, name: &str, value: &Value<'js>) -> Result<Metadata, Unfit> {
    let Some(object) = value.as_object().filter(|_| !value.is_array() && !value.is_function()) else {
        return Err(Unfit::Text(format!("invalid {name} param: must be an object with key-value pairs")));
    };
    let mut metadata = Metadata::new();
    for entry in object.props::<String, Value<'js>>() {
        let (key, value) = entry?;
        let lower = key.to_ascii_lowercase();
        let text = if lower.ends_with("-bin") {
            let bytes = match js::bytes_of(&value) {
                Some(bytes) => bytes,
                None if value.is_string() => js::to_string(args.ctx, &value)?.into_bytes(),
                None => {
                    let text = format!("invalid {name} param: \"{key}\" value must be binary");
                    return Err(Unfit::Text(text));
                }
            };
            grpc::encode_binary(&bytes)
        } else if value.is_string() {
            js::to_string(args.ctx, &value)?
        } else {
            return Err(Unfit::Text(format!("invalid {name} param: \"{key}\" value must be a string")));
        };
        grpc::check_metadata(&lower, text.as_bytes())
            .map_err(|why| Unfit::Text(format!("invalid {name} param: {why}")))?;
        if metadata.len() >= KEYS_MAX {
            return Err(Unfit::Text(format!("invalid {name} param: more than {KEYS_MAX} keys")));
        }
        if !OWN.contains(&lower.as_str()) {
            metadata.push((lower, text));
        }
    }
    Ok(metadata)
}

/// Headers or trailers as JSON: lists by key. Binary values become texts, as in k6.
pub(super) fn json(fields: Option<&wire::Fields>, hidden: &[&str]) -> Vec<u8> {
    let mut json = vec![b'{'];
    let mut is_first = true;
    for (name, values) in fields.into_iter().flat_map(wire::Fields::iter) {
        if hidden.contains(&name) {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            json.push(b',');
        }
        write_text(&mut json, name);
        json.extend_from_slice(b":[");
        for (index, value) in values.enumerate() {
            if index > 0 {
                json.push(b',');
            }
            let decoded = grpc::decode_binary(name, value);
            write_text(&mut json, &String::from_utf8_lossy(decoded.as_deref().unwrap_or(value)));
        }
        json.push(b']');
    }
    json.push(b'}');
    json
}
