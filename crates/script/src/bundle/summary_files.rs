//! The result of `handleSummary()`: `{ "stdout" | "stderr" | path: string | ArrayBuffer }`.

use rquickjs::{Ctx, Object, Value};

use super::Files;
use crate::js;

/// Result of `handleSummary()`.
pub(super) enum SummaryFiles {
    /// It returned nothing: the default summary is written.
    Default,
    /// The files to write.
    Files(Files),
    /// As in k6, one value that cannot be written keeps all from being written.
    Refused(String),
}

/// Reads it as k6 does.
///
/// # Errors
/// A getter throws.
pub(super) fn read<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<SummaryFiles> {
    if !js::to_bool(value) {
        return Ok(SummaryFiles::Default);
    }
    let Some(object) = value.as_object().filter(|object| is_plain(object)) else {
        let what = "an object of texts by the names of files is expected, such as { \"summary.json\": … }";
        return Ok(SummaryFiles::Refused(what.to_owned()));
    };
    let mut files = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (path, content) = entry?;
        let Some(bytes) = bytes_of(ctx, &content)? else {
            let hint = if content.is_object() { "; JSON.stringify() makes a text of it" } else { "" };
            let what =
                format!("{path:?} is neither a text nor an ArrayBuffer but {}{hint}", content.type_name());
            return Ok(SummaryFiles::Refused(what));
        };
        files.push((path, bytes));
    }
    Ok(SummaryFiles::Files(files))
}

/// Whether k6's host side takes it for names with values.
fn is_plain(object: &Object<'_>) -> bool {
    let class =
        || object.get::<_, Object<'_>>("constructor").and_then(|class| class.get::<_, String>("name"));
    let is_list = object.is_array() || object.as_typed_array::<u8>().is_some();
    !is_list && !object.is_function() && !matches!(class().as_deref(), Ok("Map" | "Set" | "Date"))
}

fn bytes_of<'js>(ctx: &Ctx<'js>, content: &Value<'js>) -> rquickjs::Result<Option<Vec<u8>>> {
    if content.is_string() {
        return js::to_string(ctx, content).map(|text| Some(text.into_bytes()));
    }
    let Some(object) = content.as_object() else { return Ok(None) };
    let is_bytes = object.as_array_buffer().is_some() || object.as_typed_array::<u8>().is_some();
    Ok(if is_bytes { js::bytes_of(content) } else { None })
}
