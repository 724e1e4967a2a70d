//! Throughput and latency of a closed loop, reported as independent results.

use model::{Figure, Finding, Severity, Strength, Unit};

use super::{Rule, say};
use crate::audit::kinds::{Facts, Run};
use crate::laws::little;

pub(super) const RULE: Rule = Rule {
    name: "closed-loop",
    about: "throughput and latency of a closed loop are reported as independent results",
    judge,
};

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
        rule: RULE.name,
        severity: Severity::Warning,
        strength: Strength::Arithmetic,
        claim: format!(
            "{}: closed loop: throughput × latency is {}, equal to the {} threads; they are one result, not two",
            run.run,
            say(busy, Unit::Count),
            say(vus, Unit::Count)
        ),
        evidence: vec![
            Figure::new("threads", vus, Unit::Count),
            Figure::new("throughput", throughput, Unit::PerSecond),
            Figure::new("mean latency", latency, Unit::Seconds),
            Figure::new("throughput × latency", busy, Unit::Count),
            Figure::new("unexplained time per request", residual, Unit::Seconds),
        ],
        implies: "in a closed loop throughput is threads ÷ latency, so one does not confirm the other; a stall reduces the offered load instead of growing the queue (coordinated omission)"
            .to_owned(),
        remedy: "report only one of them; to measure both, use a fixed arrival rate and measure response time from the due time"
            .to_owned(),
        caveats: Vec::new(),
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
