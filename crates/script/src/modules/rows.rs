//! `plimsoll/data`: rows of CSV and NDJSON files of any size, handed to all VUs through one cursor.

use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use rquickjs::{Array, Ctx, Object, Value};

use crate::js::registry::Builtin;
use crate::js::{self, Args};
use crate::rows::{AtEnd, CURSORS_MAX, Cursor, Form, Header, Next, Order, Row, Rules};
use crate::state::{Phase, VuState};

pub(crate) const MODULE: Builtin = Builtin { name: "plimsoll/data", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("rows", js::native(ctx, vu, "rows", rows)?)?;
    Ok(module)
}

/// Options as a script gives them.
const OPTIONS: [&str; 5] = ["format", "delimiter", "header", "order", "end"];

/// `rows(path, options?)`: the cursor over a file's rows; the same one for every VU that asks for the same.
fn rows<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let vu = args.vu;
    if vu.phase.get() != Phase::Init {
        return Err(
            args.error("rows() opens a file: call it in the init context, and next() in the iterations")
        );
    }
    let path = args.string(0)?;
    let (form, rules) = read_options(args, &path)?;
    // Asked first: another module may have opened the file.
    crate::opening::caller(args.ctx, vu).may_read(&path).map_err(|text| args.error(text))?;
    let folder = crate::opening::folder(args.ctx, vu, &path);
    let full = vu.init.sources.path_in(folder.as_deref(), &path);
    let key = format!("{}\0{form:?}\0{rules:?}", full.display());
    let cursor = match vu.init.row_cursors.get(&key) {
        Some(cursor) => cursor,
        None => {
            let source = vu.init.sources.stream(full).map_err(|text| args.error(text))?;
            let cursor = Cursor::open(&path, source, form, rules).map_err(|text| args.error(text))?;
            vu.init.row_cursors.add(key, cursor).ok_or_else(|| {
                args.error(format!("rows() has opened {CURSORS_MAX} files: open each one once"))
            })?
        }
    };
    let made = Object::new(args.ctx.clone())?;
    let vu = vu.clone();
    let next = move |ctx: Ctx<'js>| next(&ctx, &vu, &path, &cursor);
    made.set("next", js::closure(args.ctx, next)?)?;
    Ok(made.into_value())
}

fn read_options<'js>(args: &Args<'_, 'js>, path: &str) -> rquickjs::Result<(Form, Rules)> {
    let empty = Object::new(args.ctx.clone())?;
    let options = match args.given(1) {
        None => empty,
        Some(given) => {
            given.into_object().ok_or_else(|| args.type_error("the options of rows() must be an object"))?
        }
    };
    for key in options.keys::<String>() {
        let key = key?;
        if !OPTIONS.contains(&key.as_str()) {
            return Err(
                args.type_error(format!("rows() has no option \"{key}\"; it has {}", OPTIONS.join(", ")))
            );
        }
    }
    let text = |name: &str| -> rquickjs::Result<Option<String>> {
        let value: Value<'js> = options.get(name)?;
        if value.is_undefined() || value.is_null() {
            Ok(None)
        } else {
            js::to_string(args.ctx, &value).map(Some)
        }
    };
    let form = form(args, path, &text("format")?, &text("delimiter")?, options.get("header")?)?;
    let order = one_of(args, "order", text("order")?, &Order::NAMES, Order::Sequential)?;
    let default_end = if order == Order::Unique { AtEnd::Stop } else { AtEnd::Recycle };
    let end = one_of(args, "end", text("end")?, &AtEnd::NAMES, default_end)?;
    if order == Order::Unique && end == AtEnd::Recycle {
        return Err(args.type_error(
            "end: \"recycle\" hands rows out again, which order: \"unique\" excludes; use end: \"stop\" or \"error\"",
        ));
    }
    if order == Order::Random && end != AtEnd::Recycle {
        return Err(args.type_error(
            "order: \"random\" hands out any row again, so its rows have no end: leave end out",
        ));
    }
    Ok((form, Rules { order, end }))
}

fn one_of<T: Copy>(
    args: &Args<'_, '_>,
    option: &str,
    given: Option<String>,
    known: &[(&str, T)],
    default: T,
) -> rquickjs::Result<T> {
    let Some(given) = given else { return Ok(default) };
    let found = known.iter().find(|(name, _)| *name == given).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        args.type_error(format!("invalid {option} {given:?}: use {}", names.join(", ")))
    })
}

fn form<'js>(
    args: &Args<'_, 'js>,
    path: &str,
    format: &Option<String>,
    delimiter: &Option<String>,
    header: Value<'js>,
) -> rquickjs::Result<Form> {
    let ending = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    let format = match (format.as_deref(), ending.as_str()) {
        (Some(format), _) => format,
        (None, "ndjson" | "jsonl") => "ndjson",
        (None, "csv" | "tsv" | "txt") => "csv",
        (None, _) => {
            return Err(args.type_error(format!(
                "the name of \"{path}\" does not say what it is: set format to \"csv\" or \"ndjson\""
            )));
        }
    };
    match format {
        "ndjson" => Ok(Form::Ndjson),
        "csv" => {
            let default = if ending == "tsv" { "\t" } else { "," };
            let delimiter = delimiter.as_deref().unwrap_or(default);
            let &[delimiter] = delimiter.as_bytes() else {
                return Err(
                    args.type_error(format!("invalid delimiter {delimiter:?}: use one ASCII character"))
                );
            };
            Ok(Form::Csv { delimiter, header: header_of(args, header)? })
        }
        other => Err(args.type_error(format!("invalid format {other:?}: use \"csv\" or \"ndjson\""))),
    }
}

fn header_of<'js>(args: &Args<'_, 'js>, header: Value<'js>) -> rquickjs::Result<Header> {
    if header.is_undefined() || header.as_bool() == Some(true) {
        return Ok(Header::First);
    }
    if header.as_bool() == Some(false) {
        return Ok(Header::None);
    }
    match header.as_array() {
        Some(names) => Ok(Header::Given(names.iter::<String>().collect::<Result<_, _>>()?)),
        None => Err(args.type_error("invalid header: use true, false, or a list of names")),
    }
}

/// `next()`: the next row.
fn next<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    path: &str,
    cursor: &Mutex<Cursor>,
) -> rquickjs::Result<Value<'js>> {
    let Some(binding) = vu.binding().filter(|_| vu.is_running()) else {
        return Err(js::go_error(
            ctx,
            "next() hands out rows to iterations: it cannot be called in the init context",
        ));
    };
    let next = cursor
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .next(&|index| binding.run.share.index_in_test(index));
    match next {
        Next::Row(row) => row_value(ctx, path, row),
        Next::Unusable(text) => Err(js::go_error(ctx, &text)),
        Next::End { rows, end: AtEnd::Stop } => {
            let reason = format!("all {rows} rows of {path} are used, and its end is \"stop\"");
            binding.run.control.abort(&reason);
            *vu.abort_reason.borrow_mut() = Some(reason);
            Err(crate::error::unwind(ctx, &vu.stop, crate::state::stop::StopReason::Aborted))
        }
        Next::End { rows, .. } => Err(js::go_error(
            ctx,
            &format!("all {rows} rows of {path} are used; add rows, or set end to \"recycle\""),
        )),
    }
}

fn row_value<'js>(ctx: &Ctx<'js>, path: &str, row: Row) -> rquickjs::Result<Value<'js>> {
    match row {
        Row::Json { text, line } => match vu::preempt::in_engine(|| ctx.json_parse(&*text)) {
            Err(rquickjs::Error::Exception) => {
                ctx.catch();
                Err(js::go_error(ctx, &format!("{path}, line {line}: not JSON")))
            }
            parsed => parsed,
        },
        Row::Fields { fields, names: None } => {
            let made = Array::new(ctx.clone())?;
            for (index, field) in fields.iter().enumerate() {
                made.set(index, field)?;
            }
            Ok(made.into_value())
        }
        Row::Fields { fields, names: Some(names) } => {
            let made = Object::new(ctx.clone())?;
            for (name, field) in names.iter().zip(fields.iter()) {
                made.set(name.as_str(), field)?;
            }
            Ok(made.into_value())
        }
    }
}
