//! `/logs`: log lines of a run.

use api::Number;
use api::page::{Fact, LogRow, Logs};
use model::{Epoch, Instant, LogLevel, LogLine};
use runfile::StoredLog;
use server::{PageError, Question};

use super::scope::Scope;
use super::{damaged, json, limit as asked_limit, number};

/// Lines per answer, unless the question asks for fewer.
const LINES_MAX: usize = 1_000;

/// Lines per read: a log may be larger than memory.
const BATCH: u64 = 2_000;

pub(super) fn answer(scope: &Scope, question: &Question) -> Result<String, PageError> {
    let after: u64 = number(question, "after")?.unwrap_or(0);
    let limit = asked_limit(question, LINES_MAX)?.unwrap_or(LINES_MAX);
    let least = question.get("level").map(level).transpose()?;
    let part = question.get("q").map(str::to_lowercase);
    let total = scope.reader.log_count().map_err(damaged)?;
    let span = scope.span()?;
    let is_asked_for = |line: &StoredLog| {
        least.is_none_or(|least| line.level >= least)
            && part.as_ref().is_none_or(|part| line.message.to_lowercase().contains(part))
            && span.contains(&scope.t(line.at))
    };
    let epoch = epoch(scope);
    let (mut rows, mut id, mut has_more): (Vec<LogRow>, u64, bool) = (Vec::new(), after, false);
    while !has_more {
        let lines = scope.reader.log_after(id, BATCH).map_err(damaged)?;
        if lines.is_empty() {
            break;
        }
        for line in &lines {
            id = id.saturating_add(1);
            if !is_asked_for(line) {
                continue;
            }
            if rows.len() >= limit {
                has_more = true;
                break;
            }
            rows.push(row(scope, &epoch, id, line));
        }
    }
    let next = if has_more { rows.last().map(|row| row.id) } else { None };
    let lost = scope.reader.ending().map_or(0, |ending| ending.log_lines_lost);
    json(&Logs { lines: rows, next, total, lost })
}

fn level(text: &str) -> Result<LogLevel, PageError> {
    let all = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error];
    all.into_iter().find(|level| level.as_str() == text).ok_or_else(|| {
        PageError::Invalid(format!("failed to read level={text:?}: write debug, info, warning or error"))
    })
}

fn epoch(scope: &Scope) -> Epoch {
    let header = scope.reader.header();
    Epoch { at: Instant::from_ns(header.started_ns), wall_unix_ns: header.started_wall_ns }
}

fn row(scope: &Scope, epoch: &Epoch, id: u64, line: &StoredLog) -> LogRow {
    let fact = |(name, value): &(String, String)| Fact { name: name.clone(), value: value.clone() };
    LogRow {
        id,
        t: Number(scope.t(line.at)),
        at: api::rfc3339(epoch.wall_unix_ns(line.at)),
        level: line.level.as_str(),
        source: line.source.clone(),
        message: line.message.clone(),
        fields: line.fields.iter().map(fact).collect(),
    }
}

/// Returns the row of a line from a live run.
pub(super) fn of_live(line: &LogLine, id: u64, t: f64, epoch: &Epoch) -> LogRow {
    let fact = |(name, value): &(&str, String)| Fact { name: (*name).to_owned(), value: value.clone() };
    LogRow {
        id,
        t: Number(t),
        at: api::rfc3339(epoch.wall_unix_ns(line.at)),
        level: line.level.as_str(),
        source: line.source.to_owned(),
        message: line.message.clone(),
        fields: line.fields.iter().map(fact).collect(),
    }
}
