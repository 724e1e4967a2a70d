//! Tables become facts: the kind is found, columns are matched, cells are read with their units.

use std::collections::BTreeMap;

use model::Table;

use super::kinds::{Column, Facts, KINDS, Kind};
use super::moment;
use super::quantity::{self, Family, Measure, Quantity};

/// Remarks kept; further ones are counted.
pub const REMARKS_MAX: usize = 100;

/// Remarks on ignored input, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// The first ones.
    pub texts: Vec<String>,
    /// How many more there were.
    pub beyond: u64,
}

impl Remarks {
    /// Adds one.
    pub fn add(&mut self, text: String) {
        if self.texts.len() < REMARKS_MAX {
            self.texts.push(text);
        } else {
            self.beyond += 1;
        }
    }
}

/// Adds the tables' values to the facts. Columns with unknown names are listed in the remarks and not used.
pub fn gather(tables: &[Table], facts: &mut Facts, remarks: &mut Remarks) {
    for table in tables {
        match kind_of(table) {
            Ok(kind) => read(table, kind, facts, remarks),
            Err(remark) => remarks.add(format!("{}: {remark}", table.name)),
        }
    }
}

/// A row of a table, seen through its kind.
pub(super) struct Row<'a> {
    table: &'a Table,
    number: usize,
    /// By column: its place in the table and the unit in its name.
    places: &'a BTreeMap<&'static str, Place>,
    columns: &'static [Column],
}

#[derive(Clone, Copy)]
struct Place {
    index: usize,
    unit: Option<(Family, f64)>,
}

impl Row<'_> {
    pub(super) fn place(&self) -> String {
        format!("{}, row {}", self.table.name, self.number + 1)
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        Some(self.cell(column)?.to_owned())
    }

    pub(super) fn measure(&self, column: &str) -> Option<Measure> {
        let quantity = self.columns.iter().find(|known| known.name == column)?.quantity;
        quantity::parse(self.cell(column)?, quantity, self.places.get(column)?.unit)
    }

    pub(super) fn number(&self, column: &str) -> Option<f64> {
        Some(self.measure(column)?.value)
    }

    pub(super) fn moment(&self, column: &str) -> Option<f64> {
        moment::parse(self.cell(column)?)
    }

    fn cell(&self, column: &str) -> Option<&str> {
        let cell = self.table.rows.get(self.number)?.get(self.places.get(column)?.index)?;
        (!quantity::is_missing(cell)).then_some(cell.as_str())
    }

    /// Whether a cell has something in it that its column cannot hold.
    fn is_unread(&self, column: &Column) -> bool {
        let is_read = match column.quantity {
            Quantity::Text => true,
            Quantity::Moment => self.moment(column.name).is_some(),
            _ => self.measure(column.name).is_some(),
        };
        self.cell(column.name).is_some() && !is_read
    }
}

/// The kind that the author named, or the one whose required columns are all there. Of several such, the one that knows most
/// of the columns; a tie gives none.
fn kind_of(table: &Table) -> Result<&'static Kind, String> {
    if let Some(name) = &table.kind {
        let kind = KINDS.iter().find(|kind| kind.name == name);
        return kind.ok_or_else(|| format!("there is no kind of table called {name:?}; it was ignored"));
    }
    let fits = |kind: &&Kind| {
        let places = places(table, kind);
        kind.columns.iter().filter(|column| column.is_required).all(|column| places.contains_key(column.name))
    };
    let mut best: Vec<(usize, &Kind)> =
        KINDS.iter().filter(fits).map(|kind| (places(table, kind).len(), kind)).collect();
    best.sort_by_key(|(known, _)| std::cmp::Reverse(*known));
    match best.as_slice() {
        [] => Err("no kind of table has these columns; it was ignored".to_owned()),
        [(first, one), (second, other), ..] if first == second => Err(format!(
            "it could be {} or {}, so it was ignored; `table: KIND` decides",
            one.name, other.name
        )),
        [(_, kind), ..] => Ok(kind),
    }
}

fn read(table: &Table, kind: &'static Kind, facts: &mut Facts, remarks: &mut Remarks) {
    let places = places(table, kind);
    let missing =
        kind.columns.iter().filter(|column| column.is_required && !places.contains_key(column.name));
    let missing: Vec<&str> = missing.map(|column| column.name).collect();
    if !missing.is_empty() {
        remarks.add(format!("{}: {} needs the columns {}", table.name, kind.name, missing.join(", ")));
        return;
    }
    for (index, name) in table.columns.iter().enumerate() {
        if !places.values().any(|place| place.index == index) {
            remarks.add(format!("{}: {} has no column {name:?}; it was ignored", table.name, kind.name));
        }
    }
    let mut unread = BTreeMap::new();
    let mut silent = 0u64;
    for number in 0..table.rows.len() {
        let row = Row { table, number, places: &places, columns: kind.columns };
        let mut is_understood = true;
        for column in kind.columns.iter().filter(|column| row.is_unread(column)) {
            unread.entry(column.name).or_insert((0u64, number)).0 += 1;
            is_understood = false;
        }
        silent += u64::from(!(kind.add)(facts, &row) && is_understood);
    }
    for (column, (count, first)) in unread {
        let row = Row { table, number: first, places: &places, columns: kind.columns };
        let example = row.text(column).unwrap_or_default();
        remarks.add(format!(
            "{}: {count} cells of {column} could not be read, the first is {example:?}; a number needs its unit, there or in \
             the column's name, and a point in time its date and zone",
            table.name
        ));
    }
    if silent > 0 {
        remarks.add(format!("{}: {silent} rows lack a required cell and were ignored", table.name));
    }
}

/// Where the kind's columns stand in a table. Of two columns with one meaning the first counts.
fn places(table: &Table, kind: &Kind) -> BTreeMap<&'static str, Place> {
    let mut places = BTreeMap::new();
    for (index, name) in table.columns.iter().enumerate() {
        if let Some((column, unit)) = matched(&normal(name), kind) {
            places.entry(column).or_insert(Place { index, unit });
        }
    }
    places
}

/// A column by its name, alone or followed by a unit.
fn matched(name: &str, kind: &Kind) -> Option<(&'static str, Option<(Family, f64)>)> {
    if let Some(column) = kind.columns.iter().find(|column| column.name == name) {
        return Some((column.name, None));
    }
    kind.columns.iter().find_map(|column| {
        let unit = name.strip_prefix(column.name)?.strip_prefix('_')?;
        Some((column.name, Some(column.quantity.unit(unit)?)))
    })
}

/// `P95 (ms)` and `p95-ms` are `p95_ms`.
fn normal(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|glyph: char| !glyph.is_alphanumeric() && !matches!(glyph, '%' | '/'));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::super::testing::table;
    use super::*;

    fn gathered(text: &str) -> (Facts, Remarks) {
        let (mut facts, mut remarks) = Default::default();
        gather(&[table(text)], &mut facts, &mut remarks);
        (facts, remarks)
    }

    #[test]
    fn kinds_are_found_by_their_columns() {
        let (facts, remarks) = gathered("Resource,Usage (cores),limit\npod,1.84,1 core\n");
        assert_eq!(remarks, Remarks::default());
        let usage = &facts.usages[0];
        assert_eq!((usage.usage.value, usage.limit.value, usage.place.as_str()), (1.84, 1.0, "test, row 1"));
        assert_eq!(usage.usage.family, usage.limit.family);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let check = |text: &str, expect: &str| {
            let (_, remarks) = gathered(text);
            assert_eq!(remarks.texts.len(), 1, "{text:?}: {remarks:?}");
            assert!(remarks.texts[0].contains(expect), "{text:?}: {remarks:?}");
        };
        check("a,b\n1,2\n", "no kind of table has these columns");
        check("# table: nonsense\na\n1\n", "no kind of table called \"nonsense\"");
        check("# table: usages\nresource\npod\n", "usages needs the columns usage, limit");
        check("what,sent,recorded,colour\nx,1,1,red\n", "no column \"colour\"");
        check("series,step,span_s\nx,30,243\n", "1 cells of step could not be read, the first is \"30\"");
        check("what,sent,recorded\nx,1,\n", "1 rows lack a required cell");
    }

    #[test]
    fn remarks_are_bounded() {
        let columns: Vec<String> = (0..200).map(|number| format!("c{number}")).collect();
        let (_, remarks) = gathered(&format!("what,sent,recorded,{}\nx,1,1\n", columns.join(",")));
        assert_eq!((remarks.texts.len(), remarks.beyond), (REMARKS_MAX, 100));
    }
}
