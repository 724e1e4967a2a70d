//! `k6/x/yaml` and `k6/x/toml`: values from texts, and texts from values.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};
use serde_json::Value as Json;

use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(crate) const YAML: Builtin = Builtin {
    name: "k6/x/yaml",
    build: |ctx, vu| YAML_PRELUDE.run(ctx, vu, YAML_NATIVES)?.into_object().ok_or(rquickjs::Error::Exception),
};
pub(crate) const TOML: Builtin =
    Builtin { name: "k6/x/toml", build: |ctx, vu| build(ctx, vu, TOML_FUNCTIONS) };

/// Bytes of a text. Longer ones are data, which `k6/data` and `k6/experimental/csv` share among VUs.
const TEXT_BYTES_MAX: usize = 16 << 20;

static YAML_PRELUDE: Prelude = Prelude::new("k6/x/yaml", include_str!("../../js/yaml.js"));

const YAML_NATIVES: &[(&str, NativeFn)] = &[
    // The value, and pairs of a path and what stands there that JSON cannot say.
    ("parse", |args| {
        let text = limited(args, "yaml")?;
        let found = super::yaml_value::parse(&text).map(|(value, special)| {
            let pairs = special.into_iter().map(|one| Json::from(vec![Json::from(one.path), one.value]));
            Json::from(vec![value, pairs.collect()])
        });
        parsed(args, found)
    }),
    // `write(json)`
    ("write", |args| {
        let value = serde_json::from_str(&args.string(0)?).map_err(|error| args.error(error.to_string()))?;
        written(args, super::yaml_writer::write(&value))
    }),
];

const TOML_FUNCTIONS: &[(&str, NativeFn)] = &[
    ("parse", |args| {
        let text = limited(args, "toml")?;
        let table =
            text.parse::<toml::Table>().map_err(|error| format!("toml: {}", error.to_string().trim_end()));
        parsed(args, table.map(|table| from_toml(toml::Value::Table(table))))
    }),
    ("stringify", |args| {
        let text = toml::to_string(&json(args)?);
        written(args, text.map_err(|error| format!("toml: {error}")))
    }),
];

fn build<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    functions: &[(&'static str, NativeFn)],
) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, functions)?;
    Ok(module)
}

/// The text that argument 0 is, or its bytes are.
pub(super) fn limited(args: &Args<'_, '_>, module: &str) -> rquickjs::Result<String> {
    let text = match js::bytes_of(&args.get(0)) {
        Some(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        None => args.string(0)?,
    };
    if text.len() > TEXT_BYTES_MAX {
        let (has, max) = (text.len() >> 20, TEXT_BYTES_MAX >> 20);
        return Err(args.error(format!("{module}: the text has {has} MiB; at most {max} MiB can be parsed")));
    }
    Ok(text)
}

fn parsed<'js>(args: &Args<'_, 'js>, value: Result<Json, String>) -> rquickjs::Result<Value<'js>> {
    let value = value.map_err(|problem| args.error(problem))?;
    args.json_parse(value.to_string().as_bytes())
}

fn written<'js>(args: &Args<'_, 'js>, text: Result<String, String>) -> rquickjs::Result<Value<'js>> {
    let text = text.map_err(|problem| args.error(problem))?;
    js::string_from_bytes(args.ctx, text.as_bytes())
}

/// Argument 0 as JSON has it.
fn json(args: &Args<'_, '_>) -> rquickjs::Result<Json> {
    let text = vu::preempt::in_engine(|| args.ctx.json_stringify(args.get(0)))?;
    let text = text.map_or_else(|| Ok("null".to_owned()), |text| text.to_string())?;
    serde_json::from_str(&text).map_err(|error| args.error(error.to_string()))
}

/// Dates and times are texts, as in JSON.
fn from_toml(value: toml::Value) -> Json {
    match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => Json::from(number),
        toml::Value::Float(number) => Json::from(number),
        toml::Value::Boolean(flag) => Json::Bool(flag),
        toml::Value::Datetime(time) => Json::String(time.to_string()),
        toml::Value::Array(values) => Json::Array(values.into_iter().map(from_toml).collect()),
        toml::Value::Table(table) => {
            Json::Object(table.into_iter().map(|(name, value)| (name, from_toml(value))).collect())
        }
    }
}
