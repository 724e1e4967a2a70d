//! `console`, and how it prints values.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

use model::LogLevel;
use rquickjs::{Ctx, Object, Type, Value};

use crate::js::registry::LazyGlobal;
use crate::js::{self, Args, NativeFn};
use crate::source::places::Places;
use crate::state::VuState;

/// Nesting printed before `[Object]` stands for the rest.
const DEPTH_MAX: usize = 12;
/// A printed value ends here.
const TEXT_BYTES_MAX: usize = 1 << 20;

pub(crate) const CONSOLE: LazyGlobal = LazyGlobal { name: "console", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Value<'js>> {
    let console = Object::new(ctx.clone())?;
    js::set_natives(&console, vu, FUNCTIONS)?;
    Ok(console.into_value())
}

const FUNCTIONS: &[(&str, NativeFn)] =
    &[("log", info), ("info", info), ("debug", debug), ("warn", warn), ("error", error)];

fn info<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    print(args, LogLevel::Info)
}
fn debug<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    print(args, LogLevel::Debug)
}
fn warn<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    print(args, LogLevel::Warn)
}
fn error<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    print(args, LogLevel::Error)
}

fn print<'js>(args: &Args<'_, 'js>, level: LogLevel) -> rquickjs::Result<Value<'js>> {
    let texts: Vec<String> = (0..args.len()).map(|index| format_value(&args.get(index))).collect();
    let text = texts.join(" ");
    // A printed stack shows positions in the original source, like the stack of an uncaught error.
    let text = match Places::new(&args.vu.init.sources).shown(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(translated) => translated,
    };
    args.vu.log(level, "console", text);
    args.undefined()
}

/// A value as `console.log` prints it: strings bare at the top, everything else as k6 (and Node.js) shows it.
pub(crate) fn format_value(value: &Value<'_>) -> String {
    if value.is_string() {
        return js::to_string(value.ctx(), value).unwrap_or_default();
    }
    if value.is_symbol() {
        return description(value).unwrap_or_default();
    }
    let mut text = String::new();
    write_value(&mut text, value, &mut Vec::new());
    text
}

fn write_value<'js>(out: &mut String, value: &Value<'js>, parents: &mut Vec<Value<'js>>) {
    if out.len() > TEXT_BYTES_MAX {
        return;
    }
    match value.type_of() {
        Type::String => {
            let _ = write!(out, "\"{}\"", js::to_string(value.ctx(), value).unwrap_or_default());
        }
        // k6 prints through JSON below the top, where there is no `undefined`.
        Type::Undefined if !parents.is_empty() => out.push_str("null"),
        Type::Symbol | Type::Undefined | Type::Null | Type::Bool | Type::Int | Type::Float | Type::BigInt => {
            out.push_str(&primitive(value));
        }
        Type::Function | Type::Constructor => out.push_str("[object Function]"),
        _ => match value.as_object() {
            Some(object) => write_object(out, value, object, parents),
            None => out.push_str(&primitive(value)),
        },
    }
}

fn primitive(value: &Value<'_>) -> String {
    if value.is_symbol() {
        return format!("Symbol({})", description(value).unwrap_or_default());
    }
    js::to_string(value.ctx(), value).unwrap_or_default()
}

/// The description of a symbol.
fn description(symbol: &Value<'_>) -> Option<String> {
    let description = symbol.as_symbol()?.description().ok()?;
    js::to_string(description.ctx(), &description).ok().filter(|_| description.is_string())
}

fn write_object<'js>(
    out: &mut String,
    value: &Value<'js>,
    object: &Object<'js>,
    parents: &mut Vec<Value<'js>>,
) {
    if object.is_error() {
        out.push_str(&thrown_text(value));
        return;
    }
    if parents.contains(value) {
        out.push_str("[Circular]");
        return;
    }
    if parents.len() >= DEPTH_MAX {
        out.push_str(if value.is_array() { "[Array]" } else { "[Object]" });
        return;
    }
    if let Some(text) = special(object) {
        out.push_str(&text);
        return;
    }
    parents.push(value.clone());
    match value.as_array() {
        Some(array) => write_items(out, array.iter::<Value<'js>>().filter_map(Result::ok), parents),
        None => write_properties(out, object, parents),
    }
    parents.pop();
}

/// Name and message of an error.
pub(crate) fn error_text(object: &Object<'_>) -> String {
    let get = |key: &str| object.get::<_, Option<String>>(key).ok().flatten();
    let name = get("name").unwrap_or_else(|| "Error".into());
    match get("message").filter(|message| !message.is_empty()) {
        Some(message) if name.is_empty() => message,
        Some(message) => format!("{name}: {message}"),
        None => name,
    }
}

/// A thrown value as k6 prints it: errors by name and message, everything else by content.
pub(crate) fn thrown_text(value: &Value<'_>) -> String {
    match value.as_object() {
        Some(object) if object.is_error() => error_text(object),
        _ => format_value(value),
    }
}

/// Dates and binary data have a form of their own.
fn special(object: &Object<'_>) -> Option<String> {
    let name: String = object.get::<_, Object<'_>>("constructor").ok()?.get("name").ok()?;
    match name.as_str() {
        "Date" => {
            let to_iso: rquickjs::Function<'_> = object.get("toISOString").ok()?;
            let text: String = to_iso.call((rquickjs::function::This(object.clone()),)).ok()?;
            Some(format!("\"{text}\""))
        }
        "ArrayBuffer" => {
            let bytes = js::bytes_of(object.as_value())?;
            let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            Some(format!(
                "ArrayBuffer {{ [Uint8Contents]: <{}>, byteLength: {} }}",
                hex.join(" "),
                bytes.len()
            ))
        }
        name if name.ends_with("Array") && name != "Array" => {
            let length: usize = object.get("length").ok()?;
            let items: Vec<String> = (0..length as u32)
                .filter_map(|i| object.get::<_, Value<'_>>(i).ok())
                .map(|v| format_value(&v))
                .collect();
            Some(format!("{name}({length}) [ {} ]", items.join(", ")))
        }
        _ => None,
    }
}

fn write_items<'js>(
    out: &mut String,
    items: impl Iterator<Item = Value<'js>>,
    parents: &mut Vec<Value<'js>>,
) {
    let mut is_first = true;
    for item in items {
        out.push_str(if is_first { "[ " } else { ", " });
        is_first = false;
        write_value(out, &item, parents);
    }
    out.push_str(if is_first { "[]" } else { " ]" });
}

fn write_properties<'js>(out: &mut String, object: &Object<'js>, parents: &mut Vec<Value<'js>>) {
    let mut is_first = true;
    for (name, value) in object.props::<String, Value<'js>>().filter_map(Result::ok) {
        out.push_str(if is_first { "{ " } else { ", " });
        is_first = false;
        let _ = write!(out, "{name}: ");
        write_value(out, &value, parents);
    }
    out.push_str(if is_first { "{}" } else { " }" });
}
