//! Tables as JSON.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::limit::{COLUMNS_MAX, Collector};
use crate::{Read, TableError};

/// All tables of a text.
pub(crate) fn read(name: &str, text: &str) -> Result<Read, TableError> {
    let value = serde_json::from_str(text).map_err(TableError::Json)?;
    let mut collector = Collector::default();
    let is_table = match &value {
        Value::Array(rows) => add(&mut collector, name, None, rows),
        Value::Object(object) => add_object(&mut collector, name, object),
        _ => false,
    };
    if is_table { Ok(collector.finish()) } else { Err(TableError::Shape) }
}

fn add_object(collector: &mut Collector, name: &str, object: &Map<String, Value>) -> bool {
    if let (Some(Value::String(kind)), Some(Value::Array(rows))) = (object.get("table"), object.get("rows")) {
        return add(collector, name, Some(kind), rows);
    }
    if !object.values().any(|value| value.is_array() || value.is_object()) {
        return add(collector, name, None, std::slice::from_ref(&Value::Object(object.clone())));
    }
    let mut any = false;
    for (kind, value) in object {
        let Value::Array(rows) = value else { continue };
        any |= add(collector, &format!("{name}: {kind}"), Some(kind), rows);
    }
    any
}

/// Adds an array of objects; `false` if it is none.
fn add(collector: &mut Collector, name: &str, kind: Option<&str>, rows: &[Value]) -> bool {
    if rows.is_empty() || !rows.iter().all(Value::is_object) {
        return false;
    }
    let objects = rows.iter().filter_map(Value::as_object);
    let columns: BTreeSet<&String> = objects.clone().flat_map(Map::keys).collect();
    if !collector.begin(
        name,
        kind.map(|kind| crate::limit::cut(kind).0),
        columns.iter().map(|name| (*name).clone()),
    ) {
        return true;
    }
    for object in objects {
        let cells: Vec<String> =
            columns.iter().take(COLUMNS_MAX).map(|column| cell(collector, object.get(*column))).collect();
        collector.row(cells);
    }
    true
}

fn cell(collector: &mut Collector, value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Array(_) | Value::Object(_)) => {
            collector.lose_cell();
            String::new()
        }
    }
}
