//! Tags that scripts give as JavaScript objects.

use std::sync::Arc;

use rquickjs::{Ctx, Exception, Value};

use super::{to_string, vu_of};

/// Reads tags from a JavaScript object: strings, numbers and booleans become text.
///
/// # Errors
/// One of its values is something else; thrown as a `TypeError`.
pub(crate) fn from_js<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> rquickjs::Result<Vec<(Arc<str>, Arc<str>)>> {
    // Anything but an object has no tags, as in k6.
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let vu = vu_of(ctx);
    let mut tags = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (name, value) = entry?;
        if value.is_object() || value.is_symbol() || value.is_null() || value.is_undefined() {
            let text = format!("the value of tag \"{name}\" must be a string, a number or a boolean");
            return Err(Exception::throw_type(ctx, &text));
        }
        let text = to_string(ctx, &value)?;
        tags.push((name.into(), vu.init.secrets.redact(&text).into()));
    }
    Ok(tags)
}
