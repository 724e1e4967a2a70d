//! Connect times that stand at the steps of TCP's retransmission.

use model::audit::{AuditClaim, ConnectStatistic};
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Summary};
use crate::laws::retransmission;

pub(super) const RULE: Rule =
    Rule { id: AuditRule::SynRetransmission, input: |facts| facts.summaries.len(), judge };

/// Suffix of metrics of connect times: `http_req_connecting`.
const CONNECTING: &str = "connecting";

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.summaries.iter().filter(|summary| summary.metric.ends_with(CONNECTING)).filter_map(find).collect()
}

fn find(summary: &Summary) -> Option<Finding> {
    // The median is the connect time without loss; where it is slow itself, the pattern proves nothing.
    if summary.med.is_some_and(|med| med >= retransmission::FIRST_S / 2.0) {
        return None;
    }
    let figures = [
        (ConnectStatistic::P90, summary.p90),
        (ConnectStatistic::P95, summary.p95),
        (ConnectStatistic::Largest, summary.max),
    ];
    let steps =
        figures.iter().filter_map(|(name, value)| Some((*name, (*value)?, retransmission::step((*value)?)?)));
    let steps: Vec<_> = steps.collect();
    let (statistic, value_s, step) = *steps.first()?;
    let mut evidence: Vec<Figure> = steps
        .iter()
        .map(|(name, value, _)| Figure::new(FigureLabel::ConnectTime(*name), *value, Unit::Seconds))
        .collect();
    evidence.push(Figure::new(FigureLabel::RetransmissionTimeout, step.after_s, Unit::Seconds));
    evidence.push(Figure::new(FigureLabel::LostSyns, f64::from(step.lost), Unit::Count));
    evidence.extend(summary.med.map(|med| Figure::new(FigureLabel::MedianConnectTime, med, Unit::Seconds)));
    Some(Finding {
        severity: Severity::Warning,
        strength: Strength::Pattern,
        claim: AuditClaim::LostSyns { metric: summary.metric.clone(), statistic, value_s, lost: step.lost },
        evidence,
        place: summary.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn steps_of_retransmission_are_known() {
        let summary = |metric: &str, med: &str, max: &str| format!("metric,med,max\n{metric},{med},{max}\n");
        check(judge, &summary("http_req_connecting", "0s", "3.04s"), true);
        check(judge, &summary("http_req_connecting", "0s", "1.03s"), true);
        check(judge, &summary("http_req_connecting", "0s", "2.5s"), false);
        check(judge, &summary("http_req_connecting", "0s", "22.56ms"), false);
        check(judge, &summary("http_req_connecting", "900ms", "3.04s"), false);
        check(judge, &summary("http_req_waiting", "0s", "3.04s"), false);
    }
}
