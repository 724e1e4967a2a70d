//! The time of requests and tasks: its unit, its stages, and the numbers that methods start from.

use model::diagnosis::{StageName, TimeBasis, TimedUnit};

use super::numbers::{count, rate, whole};
use crate::{Lang, text};

/// Returns the unit of work.
pub fn timed_unit(lang: Lang, unit: TimedUnit) -> String {
    match unit {
        TimedUnit::Request => text!(lang, "a request", "요청"),
        TimedUnit::Task => text!(lang, "a task", "작업"),
    }
}

/// Returns the name of a stage. Names of operations and queues stay as they are.
pub fn stage(lang: Lang, stage: &StageName) -> String {
    match stage {
        StageName::Named(name) => name.clone(),
        StageName::Polling => text!(lang, "polling for the result", "결과 폴링"),
        StageName::Queues => text!(lang, "queues", "큐"),
        StageName::Work => text!(lang, "work", "처리"),
        StageName::Unattributed => text!(lang, "not covered by any metric", "지표에 없는 시간"),
    }
}

/// Returns the numbers that a method is computed from.
pub fn basis(lang: Lang, basis: TimeBasis) -> String {
    match basis {
        TimeBasis::Traces { count } => {
            let traces = whole(count as f64);
            text!(lang, "{traces} traces", "트레이스 {traces}개")
        }
        TimeBasis::Queue { waiting, through_per_s } => {
            let (waiting, through) = (count(waiting), rate(through_per_s));
            text!(lang, "{waiting} waiting / {through}", "대기 {waiting}개 / {through}")
        }
        TimeBasis::TaskTimes => {
            text!(lang, "mean task times; the remainder is waiting", "작업 시간의 평균, 나머지는 대기")
        }
    }
}
