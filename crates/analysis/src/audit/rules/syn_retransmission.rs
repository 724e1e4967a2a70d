//! Connect times that stand at the steps of TCP's retransmission.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Summary};
use crate::laws::retransmission;

pub(super) const RULE: Rule = Rule {
    name: "syn-retransmission",
    about: "connect times are at 1, 3 or 7 s, the delays of SYN retransmissions",
    judge,
};

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
    let figures = [("p90", summary.p90), ("p95", summary.p95), ("largest", summary.max)];
    let steps =
        figures.iter().filter_map(|(name, value)| Some((*name, (*value)?, retransmission::step((*value)?)?)));
    let steps: Vec<_> = steps.collect();
    let (name, value, step) = *steps.first()?;
    let mut evidence: Vec<Figure> = steps
        .iter()
        .map(|(name, value, _)| Figure::new(format!("{name} connect time"), *value, Unit::Seconds))
        .collect();
    evidence.push(Figure::new("cumulative retransmission timeout", step.after_s, Unit::Seconds));
    evidence.push(Figure::new("lost SYNs", f64::from(step.lost), Unit::Count));
    evidence.extend(summary.med.map(|med| Figure::new("median connect time", med, Unit::Seconds)));
    Some(Finding {
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Pattern,
        claim: format!(
            "{}: {name} of {} matches {} lost and retransmitted SYN{}, not slow application code",
            summary.metric,
            say(value, Unit::Seconds),
            step.lost,
            if step.lost == 1 { "" } else { "s" }
        ),
        evidence,
        implies: "connection attempts were dropped below the application: accept queue overflow, full conntrack table or packet loss. Request durations exclude connecting and do not show it"
            .to_owned(),
        remedy: "check ListenOverflows, ListenDrops and TCPSynRetrans on both sides, and nf_conntrack. Raise the listen backlog (somaxconn) or enable keep-alive to open fewer connections"
            .to_owned(),
        caveats: vec!["only retransmissions with an initial timeout of 1 s, the Linux default, are recognised (RFC 6298)".to_owned()],
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
