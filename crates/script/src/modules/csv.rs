//! `k6/experimental/csv`: records of files that `k6/experimental/fs` has opened.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::rc::Rc;
use std::sync::Arc;

use csv::{Reader, ReaderBuilder, StringRecord};
use rquickjs::{Array, Ctx, Object, Value};

use crate::js::library::JsLibrary;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/experimental/csv", build };

pub(crate) static LIBRARY: JsLibrary =
    JsLibrary::new("modules/csv", include_str!("../../js/csv.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] =
    &[("parse", parse), ("reader", reader), ("isRunning", super::fs::is_running)];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for name in ["parse", "Parser"] {
        module.set(name, LIBRARY.member(ctx, vu, name)?)?;
    }
    Ok(module)
}

/// Records of one file, each with as many fields as the first.
struct Records {
    reader: Reader<Cursor<Arc<[u8]>>>,
    fields: Option<usize>,
}

impl Records {
    /// The records from byte `at` on.
    fn open(args: &Args<'_, '_>) -> rquickjs::Result<Records> {
        let path = args.string(0)?;
        let bytes = crate::opening::read(args, &path).map_err(|problem| args.error(problem))?;
        let at = js::to_number(args.ctx, &args.get(1))?;
        let delimiter = args.string(2)?.bytes().next().unwrap_or(b',');
        let mut cursor = Cursor::new(bytes);
        cursor.set_position(at as u64);
        let mut builder = ReaderBuilder::new();
        let reader = builder.has_headers(false).flexible(true).delimiter(delimiter).from_reader(cursor);
        Ok(Records { reader, fields: None })
    }

    /// The next one; `None` at the end.
    ///
    /// # Errors
    /// k6's text for a record that is not like the others or not UTF-8.
    fn next(&mut self) -> Result<Option<StringRecord>, String> {
        let mut record = StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(false) => return Ok(None),
            Ok(true) => {}
            Err(error) => return Err(error.to_string()),
        }
        let line = record.position().map_or(0, csv::Position::line);
        if *self.fields.get_or_insert(record.len()) != record.len() {
            return Err(format!("record on line {line}: wrong number of fields"));
        }
        Ok(Some(record))
    }
}

/// `reader(path, at, delimiter)`: a function that returns the next record's fields, `null` at the end.
fn reader<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let records = std::cell::RefCell::new(Records::open(args)?);
    let next = move |ctx: Ctx<'js>| -> rquickjs::Result<Value<'js>> {
        let record = records.borrow_mut().next().map_err(|problem| js::go_error(&ctx, &problem))?;
        let Some(record) = record else { return Ok(Value::new_null(ctx)) };
        let fields = Array::new(ctx)?;
        for (index, field) in record.iter().enumerate() {
            fields.set(index, field)?;
        }
        Ok(fields.into_value())
    };
    Ok(crate::js::closure(args.ctx, next)?.into_value())
}

/// The lines to read from a file, and their form.
#[derive(Debug)]
struct RecordRange {
    skips_first: bool,
    as_objects: bool,
    from_line: u64,
    /// 0 for all.
    to_line: u64,
}

/// `parse(path, at, delimiter, skipFirstLine, asObjects, fromLine, toLine)`: its records as a shared array. The first VU
/// that asks reads the file, the others find the records.
fn parse<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let line = |index: usize| js::to_number(args.ctx, &args.get(index)).map(|line| line as u64);
    let wanted = RecordRange {
        skips_first: js::to_bool(&args.get(3)),
        as_objects: js::to_bool(&args.get(4)),
        from_line: line(5)?,
        to_line: line(6)?,
    };
    // No script can give this name: a path has no zero byte.
    let name = format!("csv\0{}\0{}\0{}\0{wanted:?}", args.string(0)?, args.string(1)?, args.string(2)?);
    let known = super::data::lock(args.vu).get(&name).cloned();
    let elements = match known {
        Some(elements) => elements,
        None => {
            let made = elements(Records::open(args)?, &wanted).map_err(|problem| args.error(problem))?;
            super::data::lock(args.vu).entry(name).or_insert(made).clone()
        }
    };
    super::data::proxy(args.ctx, elements)
}

/// The records as JSON: arrays of fields, or objects with the names of the first record.
fn elements(mut records: Records, wanted: &RecordRange) -> Result<Arc<[Box<str>]>, String> {
    let has_first = wanted.skips_first || wanted.as_objects;
    let mut header = None;
    if has_first {
        let first = records.next().map_err(|problem| format!("failed to read record; reason: {problem}"))?;
        header = Some(
            first
                .ok_or("failed to create a new parser; reason: failed to read the first line; reason: EOF")?,
        );
    }
    let header = header.filter(|_| wanted.as_objects);
    let mut line = u64::from(has_first);
    let mut elements = Vec::new();
    while wanted.to_line == 0 || line <= wanted.to_line {
        let record = records.next().map_err(|problem| format!("failed to read record; reason: {problem}"))?;
        let Some(record) = record else { break };
        if line >= wanted.from_line {
            elements.push(element(header.as_ref(), &record).into_boxed_str());
        }
        line += 1;
    }
    Ok(elements.into())
}

fn element(header: Option<&StringRecord>, record: &StringRecord) -> String {
    let json = match header {
        // In the order of their names, as k6 has them.
        Some(header) => serde_json::to_string(&header.iter().zip(record).collect::<BTreeMap<_, _>>()),
        None => serde_json::to_string(&record.iter().collect::<Vec<_>>()),
    };
    json.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: RecordRange, expect: Result<&str, &str>) {
        let reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(Cursor::new(Arc::<
            [u8],
        >::from(
            text.as_bytes(),
        )));
        let got = elements(Records { reader, fields: None }, &wanted).map(|elements| elements.join(" "));
        assert_eq!(
            got.as_deref(),
            expect.map_err(|text| text.to_owned()).as_ref().map(|text| *text),
            "{wanted:?}"
        );
    }

    fn wanted(skips_first: bool, as_objects: bool, from_line: u64, to_line: u64) -> RecordRange {
        RecordRange { skips_first, as_objects, from_line, to_line }
    }

    #[test]
    fn records_as_k6_reads_them() {
        let text = "name,age\nAnn,30\n\"B, Jr\",\"4\"\"1\"\n";
        check(text, wanted(false, false, 0, 0), Ok(r#"["name","age"] ["Ann","30"] ["B, Jr","4\"1"]"#));
        check(text, wanted(true, false, 0, 0), Ok(r#"["Ann","30"] ["B, Jr","4\"1"]"#));
        check(text, wanted(false, true, 0, 1), Ok(r#"{"age":"30","name":"Ann"}"#));
        check(text, wanted(false, false, 1, 1), Ok(r#"["Ann","30"]"#));
        check(
            "a,b\n1,2\n3\n",
            wanted(false, false, 0, 0),
            Err("failed to read record; reason: record on line 3: wrong number of fields"),
        );
    }
}
