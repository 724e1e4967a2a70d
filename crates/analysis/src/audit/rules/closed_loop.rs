//! Throughput and latency of a closed loop, reported as independent results.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength, Unit};

use super::Rule;
use crate::audit::kinds::{Facts, Run};
use crate::laws::little;

pub(super) const RULE: Rule = Rule { id: AuditRule::ClosedLoop, input: |facts| facts.runs.len(), judge };

/// How far throughput × latency may be from the number of threads and still be the same number.
const OFF_SHARE_MAX: f64 = 0.05;

fn judge(facts: &Facts) -> Vec<Finding> {
    let closed = facts.runs.iter().filter(|run| run.model.as_deref() == Some("closed"));
    closed.filter_map(find).collect()
}

fn find(run: &Run) -> Option<Finding> {
    let (vus, throughput, latency) = (run.vus?, run.throughput?, run.avg?);
    let busy = little::in_flight(throughput, latency + run.think.unwrap_or(0.0));
    if vus <= 0.0 || (busy / vus - 1.0).abs() > OFF_SHARE_MAX {
        return None;
    }
    let residual = vus / throughput - latency - run.think.unwrap_or(0.0);
    Some(Finding {
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: AuditClaim::OneResult { run: run.run.clone(), in_flight: busy, threads: vus },
        evidence: vec![
            Figure::new(FigureLabel::Threads, vus, Unit::Count),
            Figure::new(FigureLabel::Throughput, throughput, Unit::PerSecond),
            Figure::new(FigureLabel::MeanLatency, latency, Unit::Seconds),
            Figure::new(FigureLabel::ThroughputTimesLatency, busy, Unit::Count),
            Figure::new(FigureLabel::UnexplainedTime, residual, Unit::Seconds),
        ],
        place: run.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn the_product_is_the_threads() {
        let run = |model: &str, avg_ms: u32| {
            format!("run,model,vus,throughput_per_s,avg_ms\na,{model},300,300,{avg_ms}\n")
        };
        check(judge, &run("closed", 951), true);
        check(judge, &run("closed", 1049), true);
        check(judge, &run("closed", 949), false);
        check(judge, &run("closed", 1051), false);
        check(judge, &run("open", 1000), false);
        check(judge, "run,model,vus,think_s,throughput_per_s,avg_ms\na,closed,300,1,150,1000\n", true);
    }
}
