//! Compares nGrinder's figures from file to file.

use std::path::Path;

use import::ngrinder::{Change, Indicator, Table, changes, indicators};
use report::escape;

/// Renders one column of figures per table, each but the first followed by the change from the previous one.
pub(super) fn render(tables: &[(&Path, Table)]) -> String {
    let columns: Vec<Vec<Indicator>> = tables.iter().map(|(_, table)| indicators(&table.rows)).collect();
    let mut lines = vec![head(tables)];
    let rows = columns.first().map_or(0, Vec::len);
    for row in 0..rows {
        let mut cells = vec![columns[0][row].name.clone()];
        for (number, column) in columns.iter().enumerate() {
            cells.push(value(&column[row]));
            if let Some(before) = number.checked_sub(1) {
                let change = changes(&columns[before][row..=row], &column[row..=row]);
                cells.push(change.first().map_or_else(String::new, shown));
            }
        }
        lines.push(cells);
    }
    aligned(&lines)
}

fn head(tables: &[(&Path, Table)]) -> Vec<String> {
    let mut cells = vec!["FIGURE".to_owned()];
    for (number, (path, _)) in tables.iter().enumerate() {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        cells.push(escape::terminal(&name));
        if number > 0 {
            cells.push("CHANGE".to_owned());
        }
    }
    cells
}

fn value(indicator: &Indicator) -> String {
    let Some(value) = indicator.value else { return "n/a".to_owned() };
    match indicator.unit {
        "" => format!("{value:.0}"),
        unit => format!("{value:.2} {unit}"),
    }
}

/// Formats a change, for example `+32.89 % better`.
fn shown(change: &Change) -> String {
    let mark = change.is_better.map_or("", |is_better| if is_better { " better" } else { " worse" });
    match change.percent {
        Some(percent) => format!("{percent:+.2} %{mark}"),
        None => format!("n/a{mark}"),
    }
}

fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.iter().map(Vec::len).max().unwrap_or(0);
    let cell_width =
        |line: &Vec<String>, column: usize| line.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> = (0..columns)
        .map(|column| lines.iter().map(|line| cell_width(line, column)).max().unwrap_or(0))
        .collect();
    let line = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(line).collect()
}
