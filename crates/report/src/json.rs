//! A run as JSON, in the shape that `docs/format/report.schema.json` describes.

use std::time::Duration;

use analysis::traces::{Attribution, Component};
use api::report::{
    Report, ReportCheck, ReportDrop, ReportEndpoint, ReportError, ReportExemplar, ReportExemplarPart,
    ReportFact, ReportFigure, ReportGenerator, ReportImport, ReportLog, ReportMetric, ReportOutcome,
    ReportPart, ReportReason, ReportRun, ReportSeconds, ReportThreshold, ReportValidity, ReportValue,
    ReportVerdict, ReportWindow, SCHEMA_VERSION,
};
use api::{Number, Ordered};
use model::plan::Compat;
use model::{ExemplarKind, Grade, Reason, Validity, ValueKind};

use crate::document::{Endpoint, ErrorEntry, ExemplarEntry, Imported, Judged, RunState, StatedFigure};
use crate::summary::{
    CheckSummary, GroupSummary, MetricSummary, Options, ScenarioSummary, Statistic, Values, sorted,
    statistic_text,
};
use crate::{Lang, RunReport, comparison, escape, headline};

/// The relative error that a quantile of a histogram has at most.
const RELATIVE_ERROR_MAX: f64 = 0.001;

/// Points of a series of evidence: peaks, starts and ends are those of all points.
const EVIDENCE_POINTS_MAX: usize = 300;

/// The run as JSON text, indented, ending in a line break. Names are as the script wrote them: who shows them
/// has to escape them.
pub fn render(report: &RunReport) -> String {
    let collected = &report.evidence;
    let document = Report {
        evidence: (!collected.is_empty()).then(|| collected.shown(Lang::En, EVIDENCE_POINTS_MAX)),
        diagnosis: report.diagnosis.clone(),
        capacity: report.capacity.clone(),
        previous: report.previous.as_ref().map(comparison::json::document),
        ..document(report)
    };
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(&document).unwrap_or_default()) + "\n"
}

/// Converts the run into the public types of the crate `api`, without the attachments that the page requests separately.
pub fn document(report: &RunReport) -> Report {
    document_in(report, Lang::En)
}

/// The same with its sentences in another language; keys, words for machines and numbers stay.
pub fn document_in(report: &RunReport, lang: Lang) -> Report {
    let shape = Shape { options: report.number_options() };
    let summary = &report.summary;
    let groups = match summary.root_group.groups.is_empty() {
        true => &summary.groups_outside,
        false => &summary.root_group.groups,
    };
    Report {
        schema_version: SCHEMA_VERSION,
        validity: summary.validity.as_ref().map(|it| validity(it, lang)),
        verdict: ReportVerdict {
            verdict: report.verdict().0.as_str(),
            sentence: headline::sentence(report, lang, &str::to_owned, &escape::short),
        },
        run: run(report),
        outcome: report
            .outcome
            .as_ref()
            .map(|outcome| ReportOutcome { exit_code: outcome.exit_code, message: outcome.message.clone() }),
        thresholds: thresholds(report),
        metrics: shape.metrics(&summary.metrics),
        checks: checks(&summary.checks),
        scenarios: summary.scenarios.iter().map(|scenario| shape.scenario(scenario)).collect(),
        groups: groups.iter().map(|group| shape.group(group)).collect(),
        endpoints: report.endpoints.iter().map(|endpoint| shape.endpoint(endpoint)).collect(),
        errors: errors(&report.errors.distinct),
        errors_beyond: report.errors.beyond,
        exemplars: exemplars(report),
        generator: generator(report),
        environment: environment(report, lang),
        options: report.options.clone(),
        log: ReportLog { before: report.log.before, lines: report.log.lines.clone() },
        evidence: None,
        diagnosis: None,
        capacity: None,
        previous: None,
    }
}

/// The thresholds alone.
pub fn thresholds(report: &RunReport) -> Vec<ReportThreshold> {
    let shape = Shape { options: report.number_options() };
    report.judged().iter().map(|judged| shape.threshold(judged)).collect()
}

/// The exemplars alone.
pub fn exemplars(report: &RunReport) -> Vec<ReportExemplar> {
    let shape = Shape { options: report.number_options() };
    report.exemplars.iter().map(|exemplar| shape.exemplar(exemplar)).collect()
}

/// The facts about host and environment alone.
pub fn environment(report: &RunReport, lang: Lang) -> Vec<ReportFact> {
    facts(&report.facts(lang))
}

/// Converts the validity of the measurement into the public types of the crate `api`.
pub fn validity(validity: &Validity, lang: Lang) -> ReportValidity {
    let reason = |reason: &Reason| ReportReason {
        fault: reason.fault.as_str(),
        grade: reason.grade.as_str(),
        observed: Number(reason.observed.value()),
        limit: Number(reason.limit.value()),
        unit: reason.observed.unit(),
        seconds: reason.windows.iter().map(|range| [range.start, range.end - 1]).collect(),
    };
    let count = |grade| validity.count(grade) as u64;
    ReportValidity {
        grade: validity.grade.as_str(),
        line: crate::validity::line(validity, lang),
        reasons: validity.reasons.iter().map(reason).collect(),
        unmeasured: validity.unmeasured.iter().map(|fault| fault.as_str()).collect(),
        seconds: ReportSeconds {
            valid: count(Grade::Valid),
            unmeasured: count(Grade::Unmeasured),
            degraded: count(Grade::Degraded),
            invalid: count(Grade::Invalid),
        },
    }
}

fn run(report: &RunReport) -> ReportRun {
    let identity = &report.identity;
    ReportRun {
        id: identity.id.clone(),
        name: identity.name.clone(),
        script: identity.script.clone(),
        state: match report.state {
            RunState::Complete => "complete",
            RunState::Partial => "partial",
            RunState::Live => "live",
        },
        started: api::rfc3339(identity.started_unix_ns),
        elapsed_ms: ms(identity.elapsed),
        window: report.window.map(|part| ReportWindow { from_ms: ms(part.from), to_ms: ms(part.to) }),
        plimsoll_version: identity.plimsoll_version.clone(),
        commit: identity.commit.clone(),
        dirty: identity.is_dirty,
        target_version: identity.target_version.clone(),
        tags: facts(&identity.tags),
        notes: identity.notes.clone(),
        imported: report.imported.as_ref().map(imported),
    }
}

fn imported(from: &Imported) -> ReportImport {
    let figure = |one: &StatedFigure| ReportFigure {
        name: one.name.clone(),
        value: Number(one.value),
        unit: one.unit.clone(),
        note: one.note.clone(),
    };
    ReportImport {
        source: from.source.clone(),
        file: from.file.clone(),
        is_start_known: from.is_start_known,
        gaps: from.gaps.clone(),
        figures: from.figures.iter().map(figure).collect(),
    }
}

fn ms(time: Duration) -> Number {
    Number(time.as_nanos() as f64 / 1e6)
}

fn facts(pairs: &[(String, String)]) -> Vec<ReportFact> {
    pairs.iter().map(|(name, value)| ReportFact { name: name.clone(), value: value.clone() }).collect()
}

fn checks(checks: &[CheckSummary]) -> Vec<ReportCheck> {
    let check =
        |one: &CheckSummary| ReportCheck { name: one.name.clone(), passes: one.passes, fails: one.fails };
    checks.iter().map(check).collect()
}

fn errors(distinct: &[ErrorEntry]) -> Vec<ReportError> {
    let mut sorted: Vec<&ErrorEntry> = distinct.iter().collect();
    sorted.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.message.cmp(&b.message)));
    let error = |one: &ErrorEntry| ReportError {
        code: one.code,
        message: one.message.clone(),
        count: one.count,
        example: one.example.clone(),
    };
    sorted.into_iter().map(error).collect()
}

fn generator(report: &RunReport) -> ReportGenerator {
    let drops = report.drops.iter().map(|drop| ReportDrop {
        scenario: drop.scenario.clone(),
        cause: drop.cause.as_str(),
        count: drop.count,
    });
    ReportGenerator {
        workers: report.generator.workers,
        workers_lost: report.generator.workers_lost,
        samples_lost: report.generator.samples_lost,
        windows_lost: report.generator.windows_lost,
        drops: drops.collect(),
    }
}

/// Turns what was measured into its shape.
struct Shape {
    options: Options,
}

impl Shape {
    fn threshold(&self, judged: &Judged<'_>) -> ReportThreshold {
        let (statistic, observed) = &judged.threshold.observed;
        ReportThreshold {
            metric: judged.metric.name.clone(),
            condition: judged.threshold.source.clone(),
            ok: judged.threshold.ok,
            statistic: statistic.clone(),
            observed: self.value(*observed, statistic, judged.metric),
            limit: judged.limit.map(Number),
            limit_text: judged.limit_text(),
            margin: judged.margin.map(|margin| Number(margin.value)),
            margin_share: judged.margin.and_then(|margin| margin.share).map(Number),
        }
    }

    fn metrics(&self, metrics: &[MetricSummary]) -> Vec<ReportMetric> {
        let is_shown = |metric: &&MetricSummary| self.options.compat == Compat::Honest || !metric.is_own();
        sorted(metrics).into_iter().filter(is_shown).map(|metric| self.metric(metric)).collect()
    }

    fn metric(&self, metric: &MetricSummary) -> ReportMetric {
        let (exact, untimed) = match &metric.values {
            Values::Trend { exact, untimed, .. } => (*exact, Some(*untimed)),
            _ => (None, None),
        };
        ReportMetric {
            name: metric.name.clone(),
            kind: metric.kind().as_str(),
            contains: metric.contains.as_str(),
            values: self.values(metric),
            precision: exact.map(|is_exact| if is_exact { "exact" } else { "histogram" }),
            relative_error_max: (exact == Some(false)).then_some(Number(RELATIVE_ERROR_MAX)),
            untimed,
            not_applicable: match metric.values {
                Values::NotApplicable(why) => Some(why),
                _ => None,
            },
        }
    }

    fn values(&self, metric: &MetricSummary) -> Ordered<ReportValue> {
        let number =
            |name: &str, value: f64| (name.to_owned(), self.value(Statistic::Number(value), name, metric));
        let count = |name: &str, value: u64| {
            let value =
                ReportValue { value: Some(Number(value as f64)), text: value.to_string(), censored: None };
            (name.to_owned(), value)
        };
        let values = match &metric.values {
            Values::Counter { count, rate } => vec![number("count", *count), number("rate", *rate)],
            Values::Gauge { value, min, max } => {
                vec![number("value", *value), number("min", *min), number("max", *max)]
            }
            Values::Rate { passes, total } => {
                let share = if *total == 0 { 0.0 } else { *passes as f64 / *total as f64 };
                let fails = total.saturating_sub(*passes);
                vec![number("rate", share), count("passes", *passes), count("fails", fails)]
            }
            Values::Trend { stats, .. } => {
                let value = |(name, statistic): &(String, Statistic)| {
                    (name.clone(), self.value(*statistic, name, metric))
                };
                stats.iter().map(value).collect()
            }
            Values::NotApplicable(_) => vec![],
        };
        Ordered(values)
    }

    fn value(&self, statistic: Statistic, name: &str, metric: &MetricSummary) -> ReportValue {
        let (value, censored) = match statistic {
            Statistic::Number(value) => (Some(Number(value)), None),
            Statistic::AtLeast(bound, why) => (Some(Number(bound)), Some(why.to_owned())),
            Statistic::Failed => (None, Some("failed".to_owned())),
            Statistic::NotApplicable(why) => (None, Some(format!("n/a: {why}"))),
        };
        ReportValue { value, text: statistic_text(statistic, name, metric, &self.options), censored }
    }

    fn scenario(&self, scenario: &ScenarioSummary) -> ReportPart {
        ReportPart {
            name: scenario.name.clone(),
            path: String::new(),
            checks: checks(&scenario.checks),
            metrics: self.metrics(&scenario.metrics),
            groups: scenario.groups.iter().map(|group| self.group(group)).collect(),
        }
    }

    fn group(&self, group: &GroupSummary) -> ReportPart {
        ReportPart {
            name: group.name.clone(),
            path: group.path.clone(),
            checks: checks(&group.checks),
            metrics: self.metrics(&group.metrics),
            groups: group.groups.iter().map(|inner| self.group(inner)).collect(),
        }
    }

    fn endpoint(&self, endpoint: &Endpoint) -> ReportEndpoint {
        ReportEndpoint {
            method: endpoint.method.clone(),
            name: endpoint.name.clone(),
            requests: endpoint.requests,
            failed: endpoint.failed,
            duration: self.metric(&MetricSummary::duration(endpoint.duration.clone())),
        }
    }

    fn exemplar(&self, one: &ExemplarEntry) -> ReportExemplar {
        let metric = MetricSummary::duration(Values::NotApplicable(""));
        let part = |(part, ns): (Component, u64)| ReportExemplarPart {
            name: part.as_str(),
            duration: self.value(Statistic::Number(ns as f64 / 1e6), "max", &metric),
        };
        ReportExemplar {
            kind: match one.kind {
                ExemplarKind::Slowest => "slowest",
                ExemplarKind::Failed => "failed",
                ExemplarKind::Bucket => "bucket",
            },
            at_ms: ms(one.at),
            duration: self.value(one.duration, "max", &metric),
            method: one.method.clone(),
            url: one.url.clone(),
            status: one.status.clone(),
            trace_id: one.trace_id.map(|id| format!("{id:032x}")),
            is_trace_kept: one.is_trace_kept,
            parts: one.whole.iter().flat_map(Attribution::parts).map(part).collect(),
            error: one.error.clone(),
        }
    }
}

impl MetricSummary {
    /// The duration of requests, for numbers that belong to no metric of the summary.
    pub(crate) fn duration(values: Values) -> MetricSummary {
        let (name, contains) = ("http_req_duration".to_owned(), ValueKind::Time);
        MetricSummary { name, contains, values, thresholds: vec![] }
    }
}
