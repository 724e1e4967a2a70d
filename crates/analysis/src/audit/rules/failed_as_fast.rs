//! Failed requests that count as fast ones.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Summary};
use crate::laws::table_of;

pub(super) const RULE: Rule =
    Rule { id: AuditRule::FailedAsFast, input: |facts| facts.summaries.len(), judge };

/// How much smaller the median of all may be than that of the successes.
const MEDIAN_SHARE_MIN: f64 = 0.95;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.summaries.iter().filter_map(|all| find(all, facts)).collect()
}

fn find(all: &Summary, facts: &Facts) -> Option<Finding> {
    let failed = all.failed.filter(|failed| *failed > 0.0)?;
    let successes = format!("{}{{expected_response:true}}", all.metric);
    let mut beside = facts.summaries.iter().filter(|other| table_of(&other.place) == table_of(&all.place));
    let successes = beside.find(|other| other.metric.replace(' ', "") == successes);
    let medians =
        all.med.zip(successes.and_then(|it| it.med)).filter(|(all, ok)| *all < ok * MEDIAN_SHARE_MIN);
    let has_zero = all.min == Some(0.0);
    if !has_zero && medians.is_none() {
        return None;
    }
    let mut evidence = vec![Figure::new(FigureLabel::FailedRequests, failed, Unit::Count)];
    evidence.extend(
        all.count
            .map(|count| Figure::new(FigureLabel::ShareOfRequests, failed / count * 100.0, Unit::Percent)),
    );
    evidence.extend(all.min.map(|min| Figure::new(FigureLabel::MinimumTime, min, Unit::Seconds)));
    if let Some((all, ok)) = medians {
        evidence.push(Figure::new(FigureLabel::MedianOfAll, all, Unit::Seconds));
        evidence.push(Figure::new(FigureLabel::MedianOfSuccessful, ok, Unit::Seconds));
    }
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: match medians {
            Some((all_s, successful_s)) => {
                AuditClaim::FailuresLowerMedian { metric: all.metric.clone(), failed, successful_s, all_s }
            }
            None => AuditClaim::FailuresAsZero { metric: all.metric.clone(), failed },
        },
        evidence,
        place: all.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn failures_are_no_fast_answers() {
        let summary = |failed: u32, min: &str, med: &str| {
            format!(
                "metric,count,failed,min,med\nduration,1000,{failed},{min},{med}\n\
                 duration{{expected_response:true}},990,0,4ms,100ms\n"
            )
        };
        check(judge, &summary(10, "0s", "99ms"), true);
        check(judge, &summary(10, "4ms", "94ms"), true);
        check(judge, &summary(10, "4ms", "95ms"), false);
        // Without failures a zero is a fast answer, and nothing that failed.
        check(judge, &summary(0, "0s", "94ms"), false);
    }
}
