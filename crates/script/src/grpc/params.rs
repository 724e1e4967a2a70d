//! Parameters of connections and calls, with k6's words for what does not fit.

use std::sync::Arc;
use std::time::Duration;

use model::GoDuration;
use rquickjs::Value;

use super::connect::properties;
use super::metadata::{self, Metadata};
use crate::js::{self, Args};

/// k6's limit for a call.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// Why parameters cannot be read.
pub(super) enum Unfit {
    /// A text for the user.
    Text(String),
    /// JavaScript threw.
    Js(rquickjs::Error),
}

impl From<rquickjs::Error> for Unfit {
    fn from(error: rquickjs::Error) -> Unfit {
        Unfit::Js(error)
    }
}

impl Unfit {
    /// The exception, with words before it.
    pub(super) fn thrown(self, args: &Args<'_, '_>, before: &str) -> rquickjs::Error {
        match self {
            Unfit::Text(text) => args.error(format!("{before}: {text}")),
            Unfit::Js(error) => error,
        }
    }
}

/// Parameters of a call or a stream.
#[derive(Default)]
pub(super) struct CallParams {
    pub(super) metadata: Metadata,
    pub(super) tags: Vec<(Arc<str>, Arc<str>)>,
    pub(super) timeout: Option<Duration>,
    pub(super) discards: bool,
}

/// Reads the parameters of a call.
pub(super) fn read_call<'js>(args: &Args<'_, 'js>, params: Option<Value<'js>>) -> Result<CallParams, Unfit> {
    let mut read = CallParams::default();
    let Some(params) = params.and_then(Value::into_object) else { return Ok(read) };
    for entry in properties(&params) {
        let (key, value) = entry?;
        match key.as_str() {
            "metadata" => read.metadata = metadata::read(args, "metadata", &value)?,
            "tags" => read.tags = js::tags::from_js(args.ctx, &value)?,
            "timeout" => read.timeout = Some(duration(args, &value)?),
            "discardResponseMessage" => read.discards = js::to_bool(&value),
            other => return Err(Unfit::Text(format!("unknown param: {other:?}"))),
        }
    }
    Ok(read)
}

pub(super) fn boolean(name: &str, value: &Value<'_>) -> Result<bool, Unfit> {
    value.as_bool().ok_or_else(|| {
        Unfit::Text(format!("invalid {name} value: '{}', it needs to be boolean", shown(value)))
    })
}

/// Bytes of a message.
pub(super) fn size(name: &str, value: &Value<'_>) -> Result<usize, Unfit> {
    let number = value.as_number().filter(|number| number.fract() == 0.0);
    let Some(number) = number else {
        return Err(Unfit::Text(format!(
            "invalid {name} value: '{}', it needs to be an integer",
            shown(value)
        )));
    };
    if number < 0.0 {
        let text = format!("invalid {name} value: '{}', it needs to be a positive integer", shown(value));
        return Err(Unfit::Text(text));
    }
    Ok(number as usize)
}

/// Milliseconds, or a text such as `1m30s`.
pub(super) fn duration<'js>(args: &Args<'_, 'js>, value: &Value<'js>) -> Result<Duration, Unfit> {
    /// Far beyond any run, and far from overflowing.
    const TIMEOUT_MS_MAX: f64 = 1e12;
    let parsed = match value.as_number() {
        Some(ms) => GoDuration::from_ms(ms.min(TIMEOUT_MS_MAX)),
        None if value.is_string() => GoDuration::parse(&js::to_string(args.ctx, value)?),
        None => None,
    };
    match parsed.filter(|duration| duration.ns >= 0) {
        Some(duration) => Ok(duration.to_std()),
        None => Err(Unfit::Text(format!(
            "invalid timeout value: {}; give milliseconds or a text like \"30s\"",
            shown(value)
        ))),
    }
}

/// A text or a list of texts; `None` for anything else.
pub(super) fn read_texts<'js>(
    args: &Args<'_, 'js>,
    value: &Value<'js>,
) -> rquickjs::Result<Option<Vec<String>>> {
    if value.is_undefined() || value.is_null() {
        return Ok(Some(Vec::new()));
    }
    if value.is_string() {
        return Ok(Some(vec![js::to_string(args.ctx, value)?]));
    }
    let Some(list) = value.as_array() else { return Ok(None) };
    let mut texts = Vec::with_capacity(list.len());
    for item in list.iter::<Value<'js>>() {
        let item = item?;
        if !item.is_string() {
            return Ok(None);
        }
        texts.push(js::to_string(args.ctx, &item)?);
    }
    Ok(Some(texts))
}

/// A value as messages quote it.
pub(super) fn shown(value: &Value<'_>) -> String {
    if value.is_string() {
        return format!("{:?}", js::to_string(value.ctx(), value).unwrap_or_default());
    }
    crate::console::format_value(value)
}
