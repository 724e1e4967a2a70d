//! A comparison as JSON, in the shape that `docs/format/comparison.schema.json` describes.

use analysis::compare::{
    Comparability, EvidenceComparison, EvidenceRow, Fact, Measure, Method, More, Row, Verdict, Why, WorkUnit,
};
use analysis::steady::Steady;
use api::Number;
use api::comparison::{
    Bounds, ComparedEvidence, ComparedEvidenceRow, ComparedRun, Comparison, ComparisonFinding,
    ComparisonOptions, ComparisonRow, SCHEMA_VERSION, SteadySeconds,
};

use super::{ComparisonReport, Tally, sentences};
use crate::{Lang, escape};

/// The comparison as JSON text, indented, ending in a line break. Names are as the script wrote them: who shows them has to
/// escape them.
pub fn render(report: &ComparisonReport) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document(report)).unwrap_or_default()) + "\n"
}

/// Converts a comparison into the public types of the crate `api`.
pub fn document(report: &ComparisonReport) -> Comparison {
    let comparison = &report.comparison;
    let lang = Lang::En;
    let finding = |finding: &Comparability| ComparisonFinding {
        kind: kind(finding),
        refuses: finding.refusal().is_some() && !report.options.despite_unequal_load,
        sentence: sentences::finding(finding, report, lang, &str::to_owned),
    };
    Comparison {
        schema_version: SCHEMA_VERSION,
        verdict: Tally::count(&comparison.rows).verdict(),
        sentence: sentences::answer(report, lang, &str::to_owned),
        options: options(&report.options),
        a: runs(&report.a, &comparison.steady_a),
        b: runs(&report.b, &comparison.steady_b),
        findings: comparison.findings.iter().map(finding).collect(),
        within_run_only: comparison.within_run_only,
        paired_seconds: comparison.paired_s.map(|seconds| seconds as u64),
        rows: comparison.rows.iter().map(row).collect(),
        evidence: evidence(&report.evidence),
        endpoints_left_out: report.endpoints_left_out as u64,
    }
}

fn evidence(found: &EvidenceComparison) -> ComparedEvidence {
    let row = |row: &EvidenceRow| ComparedEvidenceRow {
        subject: row.subject.clone(),
        figure: fact(row.fact),
        unit: match row.fact {
            Fact::CpuTime | Fact::PoolWait => "ms",
            Fact::Queries | Fact::TracedQueries | Fact::Spans | Fact::PoolInUse => "count",
        },
        a: row.a.map(|reading| Number(reading.value)),
        b: row.b.map(|reading| Number(reading.value)),
        limit_a: row.a.and_then(|reading| reading.limit).map(Number),
        limit_b: row.b.and_then(|reading| reading.limit).map(Number),
        ratio: row.ratio().map(Number),
    };
    ComparedEvidence {
        per: match found.per {
            WorkUnit::Request => "request",
            WorkUnit::Task => "task",
        },
        rows: found.rows.iter().map(row).collect(),
        left_out: found.left_out as u64,
    }
}

fn fact(fact: Fact) -> &'static str {
    match fact {
        Fact::CpuTime => "cpu_time",
        Fact::Queries => "queries",
        Fact::TracedQueries => "traced_queries",
        Fact::Spans => "spans",
        Fact::PoolInUse => "pool_in_use",
        Fact::PoolWait => "pool_wait",
    }
}

fn options(options: &analysis::compare::Options) -> ComparisonOptions {
    ComparisonOptions {
        confidence: Number(options.confidence),
        margin: Number(options.margin),
        margin_ms: Number(options.margin_ms),
        slo_ms: options.slo_ms.map(Number),
        despite_unequal_load: options.despite_unequal_load,
        despite_no_steady_part: options.despite_no_steady_part,
    }
}

fn runs(runs: &[super::ComparedRun], steady: &[Steady]) -> Vec<ComparedRun> {
    let run = |(run, steady): (&super::ComparedRun, &Steady)| ComparedRun {
        id: run.id.clone(),
        name: run.name.clone(),
        script: run.script.clone(),
        started: api::rfc3339(run.started_unix_ns),
        target_version: run.target_version.clone(),
        seconds: run.seconds as u64,
        steady: steady.seconds().map(|part| SteadySeconds { from: part.start as u64, to: part.end as u64 }),
    };
    runs.iter().zip(steady).map(run).collect()
}

fn kind(finding: &Comparability) -> &'static str {
    match finding {
        Comparability::NoRun(_) => "no_run",
        Comparability::UnequalRate { .. } => "unequal_rate",
        Comparability::UnequalVus { .. } => "unequal_vus",
        Comparability::UnequalPlan => "unequal_plan",
        Comparability::OpenAndClosed => "open_and_closed",
        Comparability::Untrusted { .. } => "untrusted",
        Comparability::NoSteadyPart { .. } => "no_steady_part",
        Comparability::DifferentScripts { .. } => "different_scripts",
        Comparability::DifferentDurations { .. } => "different_durations",
        Comparability::LoadUnknown => "load_unknown",
        Comparability::ClosedLoop => "closed_loop",
        Comparability::TargetVersions { .. } => "target_versions",
        Comparability::Hosts { .. } => "hosts",
        Comparability::OnlyOn { .. } => "only_on",
    }
}

fn row(row: &Row) -> ComparisonRow {
    let (ratio, errors) = (row.ratio.as_ref(), row.errors.as_ref());
    let more = match row.verdict {
        Verdict::Inconclusive(more) => more,
        _ => None,
    };
    let ratio_of_errors = || errors.and_then(|errors| errors.ratio);
    let interval = ratio
        .map(|ratio| ratio.interval)
        .or(errors.filter(|errors| errors.ratio.is_some()).map(|errors| errors.ratio_interval));
    ComparisonRow {
        series: row.series.clone(),
        figure: figure(row.measure),
        unit: match row.measure {
            Measure::Mean | Measure::Quantile(_) => "ms",
            Measure::ErrorShare => "share",
            Measure::Goodput | Measure::Throughput => "per_second",
        },
        a: row.a.map(Number),
        b: row.b.map(Number),
        ratio: ratio.map(|ratio| ratio.ratio).or_else(ratio_of_errors).map(Number),
        ratio_interval: interval.map(|interval| bounds(interval.lower, interval.upper)),
        difference: errors.map(|errors| Number(errors.difference)),
        difference_interval: errors
            .map(|errors| bounds(errors.difference_interval.lower, errors.difference_interval.upper)),
        q_value: row.q_value.map(Number),
        verdict: verdict_word(row.verdict),
        method: match row.method {
            Method::Interval => "interval",
            Method::Ranks => "ranks",
            Method::MarginMs => "margin_ms",
        },
        why: match row.verdict {
            Verdict::NotAvailable(why) => Some(why_not(why)),
            _ => None,
        },
        more_minutes: match more {
            Some(More::Minutes(minutes)) => Some(Number(minutes)),
            _ => None,
        },
        more_runs: match more {
            Some(More::Runs(runs)) => Some(runs),
            _ => None,
        },
    }
}

fn bounds(lower: f64, upper: f64) -> Bounds {
    let finite = |bound: f64| bound.is_finite().then_some(Number(bound));
    Bounds { lower: finite(lower), upper: finite(upper) }
}

fn figure(measure: Measure) -> String {
    match measure {
        Measure::Mean => "mean".to_owned(),
        Measure::Quantile(quantile) => sentences::quantile_name(quantile),
        Measure::ErrorShare => "error_share".to_owned(),
        Measure::Goodput => "goodput".to_owned(),
        Measure::Throughput => "throughput".to_owned(),
    }
}

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Improved => "improved",
        Verdict::Regressed => "regressed",
        Verdict::Equivalent => "equivalent",
        Verdict::Inconclusive(_) => "inconclusive",
        Verdict::NotAvailable(_) => "not_available",
    }
}

fn why_not(why: Why) -> &'static str {
    match why {
        Why::NoSteadyPart => "no_steady_part",
        Why::TooShort => "too_short",
        Why::UnequalLoad => "unequal_load",
        Why::Unsupported { .. } => "unsupported",
        Why::Censored => "censored",
        Why::BelowMargin => "below_margin",
        Why::NoValues => "no_values",
    }
}
