//! The published document of a diagnosis, and its form on a terminal. The sentences are those of the crate `words`.

use api::Number;
use api::diagnosis::{
    DIAGNOSIS_VERSION, DiagnosisDemand, DiagnosisExemplar, DiagnosisFinding, DiagnosisInterval,
    DiagnosisMissing, DiagnosisNumber, DiagnosisPart, DiagnosisPrediction, DiagnosisQuery, DiagnosisRemedy,
    DiagnosisReport, DiagnosisRuledOut, DiagnosisRun, DiagnosisTime, DiagnosisWay,
};
use model::diagnosis::{
    Activity, Caveat, DemandLine, DiagnosedRun, EvidenceQuery, ExemplarLink, FigureName, Hypothesis,
    Measured, MissingKind, Outcome, Prediction, RuledOut, TimeUse, TimeWay,
};
use model::{Diagnosis, Epoch, Instant, Unit};
use words::diagnosis as texts;

use crate::escape::{self, terminal};
use crate::style::{BOLD, FAINT, GREEN, RED, YELLOW, width};
use crate::{Lang, Style};

/// Findings that a terminal shows with all of their evidence, unless everything is to be shown.
const WHOLE_MAX: usize = 1;

/// Suspects that were ruled out, and lines of a query, that a terminal shows unless everything is to be shown.
const RULED_OUT_MAX: usize = 8;
const QUERY_LINES_MAX: usize = 4;

/// The clock of a run: its instants as wall times and as seconds from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The run's id.
    pub run: String,
    /// An instant of its clock.
    pub at: Instant,
    /// The wall clock then, nanoseconds since 1970.
    pub unix_ns: i64,
    /// The start of its first window: t = 0.
    pub zero: Instant,
}

impl Clock {
    fn wall(&self, at: Instant) -> String {
        api::rfc3339_ms(Epoch { at: self.at, wall_unix_ns: self.unix_ns }.wall_unix_ns(at))
    }

    fn t(&self, at: Instant) -> Number {
        Number((at.as_ns() as f64 - self.zero.as_ns() as f64) / 1e9)
    }
}

/// Returns the published document of a diagnosis in a language; `clocks` are those of its runs, in their order.
pub fn document(diagnosis: &Diagnosis, clocks: &[Clock], lang: Lang) -> DiagnosisReport {
    let document = Document { clocks, lang };
    let mut remedies: Vec<_> = diagnosis.findings.iter().zip(1..).collect();
    remedies.sort_by_key(|(finding, number)| (finding.cost, *number));
    let remedy = |(finding, number): (&Hypothesis, usize)| DiagnosisRemedy {
        cost: finding.cost.as_str(),
        text: texts::remedy(document.lang, &finding.remedy),
        finding: number,
    };
    let missing = match &diagnosis.outcome {
        Outcome::CannotTell { missing, .. } => missing,
        _ => &diagnosis.missing,
    };
    DiagnosisReport {
        schema_version: DIAGNOSIS_VERSION,
        outcome: diagnosis.outcome.as_str(),
        headline: texts::headline(document.lang, diagnosis),
        runs: diagnosis.runs.iter().map(|run| document.run(run)).collect(),
        attribution: diagnosis.attribution.as_ref().map(|time| document.time_use(time)),
        time_uses: diagnosis.time_uses.iter().map(|time| document.time_use(time)).collect(),
        findings: diagnosis.findings.iter().map(|finding| document.finding(finding)).collect(),
        findings_beyond: diagnosis.findings_beyond,
        remedies: remedies.into_iter().map(remedy).collect(),
        ruled_out: diagnosis.ruled_out.iter().map(|one| document.ruled_out(one)).collect(),
        missing: missing.iter().map(|kind| document.missing(*kind)).collect(),
        caveats: document.caveats(&diagnosis.caveats),
    }
}

/// Returns a document as JSON text, indented, ending in a line break.
pub fn json(document: &DiagnosisReport) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(document).unwrap_or_default()) + "\n"
}

/// The clocks and the language of a document.
struct Document<'a> {
    clocks: &'a [Clock],
    lang: Lang,
}

impl Document<'_> {
    fn run(&self, run: &DiagnosedRun) -> DiagnosisRun {
        DiagnosisRun {
            id: run.id.clone(),
            grade: run.grade.as_str(),
            throughput: self.exact(FigureName::Throughput, run.throughput_per_s, Unit::PerSecond),
            mean: run.mean_s.map(|mean_s| self.exact(FigureName::MeanTime, mean_s, Unit::Seconds)),
        }
    }

    fn exact(&self, name: FigureName, value: f64, unit: Unit) -> DiagnosisNumber {
        self.number(&Measured::exact(name, value, unit))
    }

    fn number(&self, measured: &Measured) -> DiagnosisNumber {
        let text = |value| texts::number(value, measured.unit);
        let interval = |(low, high): (f64, f64)| DiagnosisInterval {
            low: Number(low),
            high: Number(high),
            text: format!("[{} – {}]", text(low), text(high)),
        };
        DiagnosisNumber {
            name: texts::figure_name(self.lang, &measured.name),
            value: Some(Number(measured.value)),
            unit: measured.unit.as_str(),
            text: text(measured.value),
            interval: measured.interval.map(interval),
            note: measured.note.as_ref().map_or_else(String::new, |note| texts::note(self.lang, note)),
        }
    }

    fn time_use(&self, time: &TimeUse) -> DiagnosisTime {
        let queued = time.parts.iter().filter(|part| part.activity == Activity::Queued);
        // A sum of nothing would be a zero below zero.
        let queued_s = queued.fold(0.0, |sum, part| sum + part.mean_s);
        let share = |part_s: f64| Number(if time.mean_s > 0.0 { part_s / time.mean_s } else { 0.0 });
        let part = |part: &model::diagnosis::TimePart| {
            let name = texts::stage(self.lang, &part.name);
            DiagnosisPart {
                does: part.activity.as_str(),
                mean: seconds(&name, part.mean_s),
                share: share(part.mean_s),
                low: part.low_s.map(|low_s| seconds(&name, low_s)),
                name,
            }
        };
        let way = |way: &TimeWay| DiagnosisWay {
            method: way.method.as_str(),
            from: texts::basis(self.lang, way.from),
            waits: way.waits_s.map(|value| seconds("waits", value)),
            works: way.works_s.map(|value| seconds("works", value)),
            rest: way.rest_s.map(|value| seconds("rest", value)),
            sum: seconds("sum", way.sum_s),
            apart: way.apart.map(Number),
        };
        DiagnosisTime {
            of: texts::timed_unit(self.lang, time.unit),
            count: time.count,
            mean: seconds("mean", time.mean_s),
            measured: time.measured_s.map(|value| seconds("measured", value)),
            waits: seconds("waits", queued_s),
            waits_share: share(queued_s),
            parts: time.parts.iter().map(part).collect(),
            ways: time.ways.iter().map(way).collect(),
            disagreement: time.disagreement.map(Number),
            caveats: self.caveats(&time.caveats),
        }
    }

    fn finding(&self, finding: &Hypothesis) -> DiagnosisFinding {
        let texts::ClaimText { headline, summary, claim } = texts::claim(self.lang, &finding.claim);
        DiagnosisFinding {
            detector: finding.detector().as_str(),
            label: finding.fault().as_str(),
            place: finding.place.clone(),
            title: headline,
            summary,
            claim,
            role: finding.role.as_str(),
            strength: finding.strength.as_str(),
            explains: finding.explains.map(Number),
            numbers: finding.numbers.iter().map(|number| self.number(number)).collect(),
            demand: finding.demand.as_ref().map(|line| self.demand(line)),
            queries: finding.queries.iter().filter_map(|query| self.query(query)).collect(),
            exemplars: finding.exemplars.iter().map(|link| self.exemplar(link)).collect(),
            ruled_out: finding.ruled_out.iter().map(|one| self.ruled_out(one)).collect(),
            flags: self.caveats(&finding.flags),
            caveats: self.caveats(&finding.caveats),
            remedy: texts::remedy(self.lang, &finding.remedy),
            cost: finding.cost.as_str(),
            prediction: finding.prediction.as_ref().map(|prediction| self.prediction(prediction)),
        }
    }

    fn demand(&self, line: &DemandLine) -> DiagnosisDemand {
        DiagnosisDemand {
            used: texts::demand_used(self.lang, line.resource),
            through: texts::demand_through(self.lang),
            x: line.points.iter().map(|point| Number(point.0)).collect(),
            y: line.points.iter().map(|point| Number(point.1)).collect(),
            slope: Number(line.slope),
            slope_low: Number(line.slope_interval.0),
            slope_high: Number(line.slope_interval.1),
            intercept: Number(line.intercept),
            limit: line.limit.map(Number),
            caption: texts::demand_caption(self.lang, line),
        }
    }

    fn query(&self, query: &EvidenceQuery) -> Option<DiagnosisQuery> {
        let clock = self.clocks.get(query.run)?;
        Some(DiagnosisQuery {
            source: query.source.clone(),
            signal: query.signal.clone(),
            text: query.text.clone(),
            run: clock.run.clone(),
            from: clock.wall(query.from),
            to: clock.wall(query.to),
            t_from: clock.t(query.from),
            t_to: clock.t(query.to),
            step_ms: Number(query.step.as_secs_f64() * 1e3),
            points: query.points,
        })
    }

    fn exemplar(&self, link: &ExemplarLink) -> DiagnosisExemplar {
        let (kind, run, trace, text) = match link {
            ExemplarLink::Trace { run, id, duration } => {
                let run = self.clocks.get(*run).map_or_else(String::new, |clock| clock.run.clone());
                let duration = texts::number(duration.as_secs_f64(), Unit::Seconds);
                ("trace", run, format!("{id:032x}"), duration)
            }
            ExemplarLink::Statement(text) => ("statement", String::new(), String::new(), text.clone()),
            ExemplarLink::Line(text) => ("line", String::new(), String::new(), text.clone()),
        };
        DiagnosisExemplar { kind, run, trace, text }
    }

    fn ruled_out(&self, one: &RuledOut) -> DiagnosisRuledOut {
        let texts::RuledOutText { suspect, reason, number } = texts::ruled_out(self.lang, one);
        DiagnosisRuledOut { what: suspect, why: reason, number }
    }

    fn missing(&self, kind: MissingKind) -> DiagnosisMissing {
        let texts::MissingText { name, shows, connect } = texts::missing(self.lang, kind);
        DiagnosisMissing { what: name, tells: shows, connect }
    }

    fn prediction(&self, prediction: &Prediction) -> DiagnosisPrediction {
        DiagnosisPrediction {
            change: texts::change(self.lang, &prediction.change),
            now: prediction.now.as_ref().map(|number| self.number(number)),
            then: prediction.then.as_ref().map(|number| self.predicted(number)),
            next_limit: texts::next_limit(self.lang, &prediction.next_limit),
            wrong_if: texts::refutation(self.lang, prediction.wrong_if),
            command: prediction.command.clone(),
        }
    }

    /// The number after a change; without an interval it is a lower bound.
    fn predicted(&self, measured: &Measured) -> DiagnosisNumber {
        let number = self.number(measured);
        if number.interval.is_some() {
            return number;
        }
        DiagnosisNumber { text: self.lang.at_least(&number.text), ..number }
    }

    fn caveats(&self, caveats: &[Caveat]) -> Vec<String> {
        caveats.iter().map(|caveat| texts::caveat(self.lang, caveat)).collect()
    }
}

/// Returns a time under the name of its column or part.
fn seconds(name: &str, value: f64) -> DiagnosisNumber {
    DiagnosisNumber {
        name: name.to_owned(),
        value: Some(Number(value)),
        unit: Unit::Seconds.as_str(),
        text: texts::number(value, Unit::Seconds),
        interval: None,
        note: String::new(),
    }
}

/// Returns a document for a terminal, the outcome first. `is_whole` shows each finding with all of its evidence.
pub fn text(document: &DiagnosisReport, lang: Lang, is_whole: bool, style: Style) -> String {
    let mut out = format!("  {}\n", style.paint(BOLD, &outcome(document, lang, style)));
    for time in document.attribution.iter().chain(&document.time_uses) {
        out += &time_lines(time, lang, style);
    }
    for (finding, place) in document.findings.iter().zip(1..) {
        out += &finding_lines(finding, place, is_whole || place <= WHOLE_MAX, lang, style);
    }
    if document.findings_beyond > 0 {
        out += &format!("\n  {}\n", lang.diagnosis_more_findings(document.findings_beyond));
    }
    out += &rest(document, is_whole, lang, style);
    style.fit(out)
}

pub(crate) fn outcome(document: &DiagnosisReport, lang: Lang, style: Style) -> String {
    let (colour, word) = match document.outcome {
        "limited" => (RED, lang.diagnosis_limited()),
        "no_server_bottleneck" => (GREEN, lang.diagnosis_no_bottleneck()),
        "generator" => (YELLOW, lang.diagnosis_generator()),
        _ => (YELLOW, lang.diagnosis_inconclusive()),
    };
    format!("{}: {}", style.paint(colour, word), terminal(&document.headline))
}

fn time_lines(time: &DiagnosisTime, lang: Lang, style: Style) -> String {
    let head = lang.diagnosis_time(&time.of, &time.mean.text);
    let mut out = format!(
        "\n  {} {}\n",
        style.paint(BOLD, &head),
        style.paint(FAINT, &lang.diagnosis_mean_of(time.count))
    );
    let rows = time.parts.iter().map(|part| {
        let low = part.low.as_ref().map_or_else(String::new, |low| lang.diagnosis_at_low(&low.text));
        vec![
            format!("{} {}", activity_name(part.does, lang), part.name),
            part.mean.text.clone(),
            format!("{:.0} %", part.share.0 * 100.0),
            low,
        ]
    });
    out += &table(rows.collect(), "    ");
    if time.ways.len() > 1 {
        let text = |number: &Option<DiagnosisNumber>| {
            number.as_ref().map_or_else(|| "–".to_owned(), |number| number.text.clone())
        };
        let rows = time.ways.iter().map(|way| {
            vec![
                method_name(way.method, lang).to_owned(),
                lang.diagnosis_queueing(text(&way.waits)),
                lang.diagnosis_service(text(&way.works)),
                lang.diagnosis_sum(&way.sum.text),
                way.from.clone(),
            ]
        });
        out += &format!("    {}\n", style.paint(FAINT, lang.diagnosis_other_methods()));
        out += &table(rows.collect(), "    ");
    }
    if let Some(apart) = time.disagreement {
        out += &format!(
            "    {}\n",
            style.paint(FAINT, &lang.diagnosis_differ(format!("{:.0} %", apart.0 * 100.0)))
        );
    }
    out + &notes(lang.diagnosis_caveat(), &time.caveats, style)
}

fn finding_lines(
    finding: &DiagnosisFinding,
    place: usize,
    is_whole: bool,
    lang: Lang,
    style: Style,
) -> String {
    let colour = match finding.role {
        "limits" => RED,
        "contributes" => YELLOW,
        _ => FAINT,
    };
    let explains = finding
        .explains
        .map_or_else(String::new, |share| lang.diagnosis_explains(format!("{:.0} %", share.0 * 100.0)));
    let about = lang.diagnosis_about(finding.role, explains, finding.strength, finding.cost);
    let mut out = format!(
        "\n  {place} {}  {}\n    {}\n    {}\n",
        style.paint(BOLD, &terminal(&finding.title)),
        style.paint(FAINT, &terminal(&format!("{} · {}", finding.label, finding.place))),
        style.paint(colour, &about),
        terminal(if is_whole { &finding.claim } else { &finding.summary }),
    );
    if is_whole {
        out += &proof(finding, lang, style);
    }
    out += &format!("    {} {}\n", style.paint(FAINT, lang.diagnosis_remedy()), terminal(&finding.remedy));
    out
}

/// Returns the evidence of a finding.
fn proof(finding: &DiagnosisFinding, lang: Lang, style: Style) -> String {
    let rows = finding.numbers.iter().map(|number| {
        let interval = number.interval.as_ref().map_or_else(String::new, |interval| interval.text.clone());
        vec![number.name.clone(), number.text.clone(), interval, number.note.clone()]
    });
    let mut out = table(rows.collect(), "      ");
    for query in &finding.queries {
        let step = format!("{:.0}", query.step_ms.0);
        let window = lang.diagnosis_window(&query.from, &query.to, step, query.points);
        out += &format!(
            "    {} {}\n",
            style.paint(FAINT, lang.diagnosis_query()),
            style.paint(FAINT, &terminal(&format!("{} {window}", query.source)))
        );
        for line in query.text.lines().take(QUERY_LINES_MAX) {
            out += &format!("      {}\n", terminal(line));
        }
    }
    for exemplar in &finding.exemplars {
        let text = match exemplar.kind {
            "trace" => format!("trace {} {}", exemplar.trace, exemplar.text),
            kind => format!("{kind} {}", exemplar.text),
        };
        out += &format!("    {} {}\n", style.paint(FAINT, lang.diagnosis_exemplar()), terminal(&text));
    }
    if let Some(prediction) = &finding.prediction {
        out += &prediction_lines(prediction, lang, style);
    }
    for one in &finding.ruled_out {
        out += &format!(
            "    {} {}: {} ({})\n",
            style.paint(FAINT, lang.diagnosis_not()),
            terminal(&one.what),
            terminal(&one.number),
            terminal(&one.why)
        );
    }
    out += &notes(lang.diagnosis_data(), &finding.flags, style);
    out + &notes(lang.diagnosis_caveat(), &finding.caveats, style)
}

fn prediction_lines(prediction: &DiagnosisPrediction, lang: Lang, style: Style) -> String {
    let text = |number: &DiagnosisNumber| {
        let interval =
            number.interval.as_ref().map_or_else(String::new, |interval| format!(" {}", interval.text));
        format!("{}{interval}", number.text)
    };
    let numbers = match (&prediction.now, &prediction.then) {
        (Some(now), Some(then)) => format!(": {} {} → {}", then.name, text(now), text(then)),
        (None, Some(then)) => format!(": {} {}", then.name, text(then)),
        _ => String::new(),
    };
    let mut out = format!(
        "    {} {}{}\n",
        style.paint(BOLD, lang.diagnosis_prediction()),
        terminal(&prediction.change),
        terminal(&numbers)
    );
    out += &format!("      {}\n", terminal(&lang.diagnosis_next_limit(&prediction.next_limit)));
    out += &format!("      {}\n", terminal(&lang.diagnosis_wrong_if(&prediction.wrong_if)));
    if !prediction.command.is_empty() {
        out += &format!("      {} {}\n", lang.diagnosis_try(), terminal(&prediction.command));
    }
    out
}

fn rest(document: &DiagnosisReport, is_whole: bool, lang: Lang, style: Style) -> String {
    let mut out = String::new();
    let shown = if is_whole { usize::MAX } else { RULED_OUT_MAX };
    if !document.ruled_out.is_empty() {
        out += &format!(
            "\n  {} {}\n",
            style.paint(BOLD, lang.diagnosis_ruled_out()),
            style.paint(FAINT, lang.diagnosis_checked())
        );
        let rows = document
            .ruled_out
            .iter()
            .take(shown)
            .map(|one| vec![one.what.clone(), one.number.clone(), one.why.clone()]);
        out += &table(rows.collect(), "    ");
        if document.ruled_out.len() > shown {
            out += &format!("    {}\n", lang.diagnosis_more_ruled_out(document.ruled_out.len() - shown));
        }
    }
    if !document.missing.is_empty() {
        out += &format!("\n  {}\n", style.paint(BOLD, lang.diagnosis_missing()));
    }
    for one in &document.missing {
        out += &format!(
            "    {}: {}\n      {} {}\n",
            terminal(&one.what),
            terminal(&one.tells),
            style.paint(FAINT, lang.diagnosis_connect()),
            terminal(&one.connect)
        );
    }
    if !document.caveats.is_empty() {
        out.push('\n');
        out += &notes(lang.diagnosis_caveat(), &document.caveats, style);
    }
    out
}

fn notes(label: &str, texts: &[String], style: Style) -> String {
    let label = format!("{label}:");
    texts.iter().map(|text| format!("    {} {}\n", style.paint(FAINT, &label), terminal(text))).collect()
}

fn activity_name(activity: &str, lang: Lang) -> &'static str {
    match activity {
        "waits" => lang.diagnosis_queued(),
        "works" => lang.diagnosis_served(),
        "travels" => lang.diagnosis_in_transit(),
        _ => lang.diagnosis_unattributed(),
    }
}

fn method_name(method: &str, lang: Lang) -> &'static str {
    match method {
        "traces" => lang.diagnosis_traces(),
        "little" => lang.diagnosis_little(),
        _ => lang.diagnosis_logs(),
    }
}

/// Returns rows as aligned columns, without blanks at the ends of lines.
fn table(rows: Vec<Vec<String>>, indent: &str) -> String {
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|row| row.iter().map(|cell| terminal(cell)).collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(&widths).map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide - width(cell))));
        format!("{indent}{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::{Expect, expect};
    use model::diagnosis::{
        Change, Claim, CostClass, Inconclusive, NextLimit, Note, Refutation, Remedy, Resource, ResourceKind,
        Role, StageName, TimeBasis, TimeMethod, TimePart, TimedUnit,
    };
    use model::{Grade, Strength};

    use super::*;

    fn at(second: u64) -> Instant {
        Instant::from_ns(second * 1_000_000_000)
    }

    fn clocks() -> Vec<Clock> {
        vec![Clock { run: "ab12".to_owned(), at: at(0), unix_ns: 1_795_198_000_000_000_000, zero: at(10) }]
    }

    fn cpu(place: &str) -> Resource {
        Resource { kind: ResourceKind::Cpu, place: place.to_owned() }
    }

    fn hypothesis() -> Hypothesis {
        let ceiling =
            |value, interval| Measured::within(FigureName::Ceiling, value, Unit::PerSecond, interval);
        Hypothesis {
            claim: Claim::ProcessorAtLimit {
                resource: cpu("worker \u{1b}[31m"),
                used: 3.56,
                limit: 4.0,
                at_limit_share: 0.93,
                ceiling_per_s: Some(7.02),
            },
            place: "worker \u{1b}[31m".to_owned(),
            role: Role::Limits,
            strength: Strength::Limit,
            explains: Some(0.8),
            numbers: vec![
                Measured::within(FigureName::RequestDemand, 0.571_23, Unit::Seconds, (0.54, 0.6))
                    .noted(Note::MeanOfSeries(4)),
            ],
            demand: Some(DemandLine {
                resource: ResourceKind::Cpu,
                points: vec![(6.2, 3.56), (1.0, 0.57)],
                slope: 0.5712,
                slope_interval: (0.54, 0.6),
                intercept: 0.0,
                limit: Some(4.0),
            }),
            queries: vec![EvidenceQuery {
                source: "prometheus".to_owned(),
                signal: "container_cpu".to_owned(),
                text: "sum by (pod) (rate(a[30s]))".to_owned(),
                run: 0,
                from: at(12),
                to: at(20),
                step: Duration::from_secs(5),
                points: 30,
            }],
            exemplars: vec![ExemplarLink::Trace {
                run: 0,
                id: 0xabc,
                duration: Duration::from_millis(59_200),
            }],
            ruled_out: vec![RuledOut::WorkerSlots {
                through_per_s: 6.13,
                service_s: 11.29,
                busy: 69.2,
                slots: 400.0,
            }],
            flags: vec![Caveat::OverLimit { peak_share: 1.84 }],
            caveats: vec![Caveat::OneRun],
            remedy: Remedy::RaiseProcessor {
                kind: ResourceKind::Cpu,
                place: "worker".to_owned(),
                limit: 4.0,
            },
            cost: CostClass::Resource,
            prediction: Some(Prediction {
                change: Change::ProcessorLimit {
                    kind: ResourceKind::Cpu,
                    place: "worker".to_owned(),
                    from: 4.0,
                    to: 8.0,
                },
                now: Some(ceiling(7.02, (6.67, 7.4))),
                then: Some(ceiling(1_148.0, (1_040.0, 1_260.0))),
                next_limit: NextLimit::Resource { resource: cpu("vision"), ceiling_per_s: None },
                wrong_if: Refutation::ThroughputBelowOffered { per_s: 1_040.0 },
                command: "plimsoll run polling.js".to_owned(),
            }),
        }
    }

    fn diagnosis() -> Diagnosis {
        let way = |method, waits_s| TimeWay {
            method,
            from: TimeBasis::Queue { waiting: 289.0, through_per_s: 6.13 },
            waits_s: Some(waits_s),
            works_s: Some(11.3),
            rest_s: None,
            sum_s: waits_s + 11.3,
            apart: Some(0.002),
        };
        let part = |activity, mean_s, low_s| TimePart {
            name: StageName::Named("vision".to_owned()),
            activity,
            mean_s,
            low_s,
        };
        let cheap = Hypothesis {
            cost: CostClass::Logic,
            role: Role::Outcome,
            claim: Claim::OutcomeNeverOccurs { outcome: "rewarded".to_owned(), tasks: 1_336 },
            remedy: Remedy::CheckOutcome,
            explains: None,
            ..hypothesis()
        };
        Diagnosis {
            outcome: Outcome::Limited,
            runs: vec![DiagnosedRun {
                id: "ab12".to_owned(),
                grade: Grade::Valid,
                throughput_per_s: 6.13,
                mean_s: Some(59.2),
                from: at(10),
                to: at(228),
            }],
            attribution: None,
            time_uses: vec![TimeUse {
                unit: TimedUnit::Task,
                count: 1336,
                mean_s: 58.5,
                measured_s: Some(59.2),
                parts: vec![part(Activity::Queued, 47.2, Some(0.1)), part(Activity::Service, 11.3, None)],
                ways: vec![way(TimeMethod::Traces, 47.2), way(TimeMethod::Little, 47.1)],
                disagreement: Some(0.002),
                caveats: Vec::new(),
            }],
            findings: vec![hypothesis(), cheap],
            findings_beyond: 0,
            ruled_out: vec![RuledOut::CacheEvictions { missed_share: 0.02, evicted_per_s: 0.0 }],
            missing: vec![MissingKind::Traces],
            caveats: vec![Caveat::OneRun],
        }
    }

    #[track_caller]
    fn check(lang: Lang, is_whole: bool, expect: Expect) {
        let document = document(&diagnosis(), &clocks(), lang);
        expect.assert_eq(&format!("text\n{}", text(&document, lang, is_whole, Style::PLAIN)));
    }

    #[test]
    fn on_a_terminal() {
        check(
            Lang::En,
            false,
            expect![[r#"
            text
              LIMITED: CPU of worker \u{1b}[31m saturated: 3.56 of 4 cores in use, at the limit 93 % of the time

              Where a task spends its 58.5 s mean of 1336
                queueing vision      47.2 s  81 %  100 ms at low load
                service time vision  11.3 s  19 %
                the same by other methods
                traces        queueing 47.2 s  service 11.3 s  sum 58.5 s  289 waiting / 6.13/s
                Little's law  queueing 47.1 s  service 11.3 s  sum 58.4 s  289 waiting / 6.13/s
                wait estimates differ by 0 %

              1 CPU of worker \u{1b}[31m saturated: 3.56 of 4 cores in use, at the limit 93 % of the time  CPU limit · worker \u{1b}[31m
                limits, explains 80 %, evidence: limit, cost: resource
                CPU of worker \u{1b}[31m allows at most 7.02/s. Any load above that queues.
                  demand of a request  571 ms  [540 ms – 600 ms]  mean of the run, 4 series
                Query: prometheus 2026-11-20T18:06:52Z to 2026-11-20T18:07:00Z, step 5000 ms, 30 points
                  sum by (pod) (rate(a[30s]))
                Exemplar: trace 00000000000000000000000000000abc 59.2 s
                Prediction: worker from 4 to 8 cores: throughput ceiling 7.02/s [6.67/s – 7.4/s] → 1,150/s [1,040/s – 1,260/s]
                  next bottleneck: CPU of vision
                  refuted if throughput stays below 1,040/s under a higher offered load
                  test it: plimsoll run polling.js
                Ruled out: worker slots: 69 of 400 busy (X·S = 6.13/s × 11.3 s)
                Data: Peak use is 184 % of the limit, which is impossible: a cgroup is counted twice, or the limit belongs to another.
                Caveat: Only one run was given, so growth with load is unknown. Add runs at lower load.
                Remedy: Reduce the CPU time per request, or give worker more than 4 cores.

              2 Business outcome never occurs: none of 1,336 tasks ended as rewarded  business outcome is zero · worker \u{1b}[31m
                outcome, evidence: limit, cost: logic
                none of 1,336 tasks
                Remedy: Find out why it never occurs: requests succeed, but the business outcome does not.

              Ruled out checked, with the number
                cache memory  0/s evicted  2 % of the reads miss

              Missing evidence
                traces: where requests spend their time: network, service, database or other services
                  connect it: --otlp on the run, and OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4318 in the services

                Caveat: Only one run was given, so growth with load is unknown. Add runs at lower load.
        "#]],
        );
        check(
            Lang::Ko,
            false,
            expect![[r#"
            text
              병목 확인: worker \u{1b}[31m의 CPU 포화: 4코어 중 3.56 사용, 전체 시간의 93 % 동안 한계

              작업 시간 58.5 s의 구성 1336개의 평균
                큐 대기 vision    47.2 s  81 %  저부하에서 100 ms
                처리 시간 vision  11.3 s  19 %
                다른 방법으로 구한 값
                트레이스     큐 대기 47.2 s  처리 11.3 s  합계 58.5 s  대기 289개 / 6.13/s
                리틀의 법칙  큐 대기 47.1 s  처리 11.3 s  합계 58.4 s  대기 289개 / 6.13/s
                대기 시간 추정치가 0 % 차이

              1 worker \u{1b}[31m의 CPU 포화: 4코어 중 3.56 사용, 전체 시간의 93 % 동안 한계  CPU limit · worker \u{1b}[31m
                limits, 설명력 80 %, 근거: limit, 비용: resource
                worker \u{1b}[31m의 CPU로는 최대 7.02/s까지 처리할 수 있습니다. 그 이상의 부하는 큐에서 대기합니다.
                  요청당 수요  571 ms  [540 ms – 600 ms]  실행 전체 평균, 시계열 4개
                쿼리: prometheus 2026-11-20T18:06:52Z – 2026-11-20T18:07:00Z, 간격 5000 ms, 30개 값
                  sum by (pod) (rate(a[30s]))
                예: trace 00000000000000000000000000000abc 59.2 s
                예측: worker: 4에서 8코어로: 최대 처리량 7.02/s [6.67/s – 7.4/s] → 1,150/s [1,040/s – 1,260/s]
                  다음 병목: vision의 CPU
                  반증 조건: 더 높은 부하에서도 처리량이 1,040/s보다 낮게 유지됨
                  확인: plimsoll run polling.js
                제외: 워커 슬롯: 400개 중 69개 사용 (X·S = 6.13/s × 11.3 s)
                데이터: 최대 사용량이 한도의 184 %로 불가능한 값입니다. cgroup이 중복 집계되었거나 다른 대상의 한도입니다.
                주의: 실행이 하나뿐이라 부하에 따른 변화를 알 수 없습니다. 더 낮은 부하의 실행을 추가하십시오.
                조치: 요청당 CPU 시간을 줄이거나, worker에 4코어보다 많이 할당하십시오.

              2 비즈니스 결과 0건: 작업 1,336개 중 rewarded 결과 없음  business outcome is zero · worker \u{1b}[31m
                outcome, 근거: limit, 비용: logic
                작업 1,336개 중 0개
                조치: 왜 한 번도 발생하지 않는지 확인하십시오. 요청은 성공하지만 비즈니스 결과가 없습니다.

              배제한 원인 확인한 항목과 수치
                캐시 메모리  축출 0/s  조회의 2 %가 미스

              추가로 필요한 증거
                트레이스: 요청이 시간을 쓰는 곳: 네트워크, 서비스, 데이터베이스, 외부 서비스
                  연결: 실행에 --otlp, 서비스에 OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4318 설정

                주의: 실행이 하나뿐이라 부하에 따른 변화를 알 수 없습니다. 더 낮은 부하의 실행을 추가하십시오.
        "#]],
        );
    }

    #[test]
    fn missing_evidence_makes_it_inconclusive() {
        let outcome =
            Outcome::CannotTell { why: Inconclusive::NoEvidence, missing: vec![MissingKind::Traces] };
        let diagnosis = Diagnosis { outcome, findings: Vec::new(), ..diagnosis() };
        let document = document(&diagnosis, &clocks(), Lang::En);
        assert_eq!(document.outcome, "cannot_tell");
        let shown = text(&document, Lang::En, false, Style::PLAIN);
        assert!(shown.starts_with("  INCONCLUSIVE: no server-side metrics were collected\n"), "{shown}");
    }

    #[test]
    fn remedies_come_cheapest_first() {
        let found = document(&diagnosis(), &clocks(), Lang::En);
        let order: Vec<_> = found.remedies.iter().map(|remedy| (remedy.cost, remedy.finding)).collect();
        assert_eq!(order, [("logic", 2), ("resource", 1)]);
    }

    #[test]
    fn queries_have_their_window_in_both_clocks() {
        let found = document(&diagnosis(), &clocks(), Lang::En);
        let query = &found.findings[0].queries[0];
        assert_eq!(
            (query.from.as_str(), query.t_from, query.t_to),
            ("2026-11-20T18:06:52Z", Number(2.0), Number(10.0))
        );
        assert_eq!(found.findings[0].exemplars[0].trace, "00000000000000000000000000000abc");
        assert_eq!(found.findings[0].numbers[0].text, "571 ms");
        let shares: f64 = found.time_uses[0].parts.iter().map(|part| part.share.0).sum();
        assert!(
            (shares - 1.0).abs() < 1e-12 && (found.time_uses[0].waits_share.0 - 47.2 / 58.5).abs() < 1e-12
        );
    }

    #[test]
    fn it_has_a_form_in_json() {
        let text = json(&document(&diagnosis(), &clocks(), Lang::En));
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&read["outcome"], &read["findings"][0]["cost"]), (&"limited".into(), &"resource".into()));
        assert!(!text.contains('\u{1b}'));
    }
}
