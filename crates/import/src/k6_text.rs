//! k6's summary as it stood on the terminal: v2's layouts and the one before.
//!
//! The texts are made for people, so what is read is what all versions have in common: a metric's name, dots, a colon and its
//! values; marks in front of checks and thresholds; the line that counts iterations.

mod block;
mod row;

use block::Block;

use crate::{Figure, ImportError, Kind, Stated};

/// Maximum number of summaries in one file; more are refused.
const SUMMARIES_MAX: usize = 100;

pub(crate) use row::is_metric;

/// Reads every summary in a text, one after the other: a page about a test often holds several.
///
/// # Errors
/// There is none, or there are more than anybody means to import.
pub fn read_text(text: &str) -> Result<Vec<Stated>, ImportError> {
    let nothing = |why: String| ImportError::Nothing { kind: Kind::K6Text, why: Some(why) };
    let mut done: Vec<Block> = Vec::new();
    let mut block = Block::default();
    for line in text.trim_start_matches(crate::kind::BOM).lines() {
        let line = without_colours(line);
        if block.is_ended_by(&line) {
            let next = block.split();
            done.push(std::mem::replace(&mut block, next));
            if done.len() >= SUMMARIES_MAX {
                return Err(nothing(format!("it holds more than {SUMMARIES_MAX} summaries")));
            }
        }
        block.take(&line);
    }
    done.push(block);
    let all: Vec<Stated> = done.into_iter().filter(Block::has_metrics).map(Block::into_stated).collect();
    if all.is_empty() {
        return Err(nothing("no line of it is a metric's".to_owned()));
    }
    Ok(all)
}

/// A line without the colours of a terminal (ECMA-48, SGR).
fn without_colours(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    text
}

/// A check that always held: k6 prints no count beside it.
fn held(path: &str, name: &str) -> Figure {
    let name = if path.is_empty() { format!("check: {name}") } else { format!("check: {path}::{name}") };
    Figure::new(name, 100.0, "%", "always held; the source does not say how often it was made")
}
