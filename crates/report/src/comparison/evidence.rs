//! Server evidence of both sides in words of a language: facts without a verdict.

use analysis::compare::{EvidenceRow, Fact, Reading, WorkUnit};
use model::Unit;

use crate::{Lang, number};

fn work(per: WorkUnit, lang: Lang) -> &'static str {
    match per {
        WorkUnit::Request => lang.comparison_request(),
        WorkUnit::Task => lang.comparison_task(),
    }
}

/// The name of a figure.
pub(super) fn fact(fact: Fact, per: WorkUnit, lang: Lang) -> String {
    let work = work(per, lang);
    match fact {
        Fact::CpuTime => lang.comparison_fact_cpu(work),
        Fact::Queries => lang.comparison_fact_queries(work),
        Fact::TracedQueries => lang.comparison_fact_traced_queries(work),
        Fact::Spans => lang.comparison_fact_spans(work),
        Fact::PoolInUse => lang.comparison_fact_pool().to_owned(),
        Fact::PoolWait => lang.comparison_fact_wait(work),
    }
}

/// A side's value in its unit, with its limit.
pub(super) fn reading(fact: Fact, reading: Option<Reading>, lang: Lang) -> String {
    let Some(Reading { value, limit }) = reading else { return "–".to_owned() };
    let shown = |value: f64| match fact {
        Fact::CpuTime | Fact::PoolWait => number::duration(value, None),
        Fact::Queries | Fact::TracedQueries | Fact::Spans | Fact::PoolInUse => {
            words::diagnosis::number(value, Unit::Count)
        }
    };
    match limit {
        Some(limit) => lang.comparison_of_limit(shown(value), shown(limit)),
        None => shown(value),
    }
}

/// `×0.561`, or the only side that has the figure.
pub(super) fn change(row: &EvidenceRow, letter_b: char, lang: Lang) -> String {
    match (row.a, row.b) {
        (Some(_), None) => lang.comparison_only_in('A'),
        (None, Some(_)) => lang.comparison_only_in(letter_b),
        _ => row.ratio().map_or_else(|| "–".to_owned(), |ratio| format!("×{ratio:.3}")),
    }
}

/// The rows of each service, database or pool.
pub(super) fn by_subject(rows: &[EvidenceRow]) -> impl Iterator<Item = &[EvidenceRow]> {
    rows.chunk_by(|one, next| one.subject == next.subject)
}
