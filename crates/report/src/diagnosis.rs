//! A diagnosis for programs, as the page reads it, and for people, on a terminal.

use api::Number;
use api::diagnosis::{
    DIAGNOSIS_VERSION, DiagnosisDemand, DiagnosisExemplar, DiagnosisFinding, DiagnosisInterval,
    DiagnosisMissing, DiagnosisNumber, DiagnosisPart, DiagnosisPrediction, DiagnosisQuery, DiagnosisRemedy,
    DiagnosisReport, DiagnosisRuledOut, DiagnosisRun, DiagnosisTime, DiagnosisWay,
};
use model::diagnosis::{
    DemandLine, DiagnosedRun, Does, EvidenceQuery, ExemplarLink, Hypothesis, Measured, Missing, Outcome,
    Prediction, RuledOut, TimeUse, TimeWay,
};
use model::{Diagnosis, Epoch, Figure, FigureValue, Instant, Unit};

use crate::escape::{self, terminal};
use crate::style::{BOLD, FAINT, GREEN, RED, YELLOW, width};
use crate::{Lang, Style};

/// Findings that are told with all that they rest on, unless all are to be.
const WHOLE_MAX: usize = 1;

/// What was ruled out, and lines of a query, that a terminal shows unless all is to be shown.
const RULED_OUT_MAX: usize = 8;
const QUERY_LINES_MAX: usize = 4;

/// How instants of a run are told as times.
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
        api::rfc3339(Epoch { at: self.at, wall_unix_ns: self.unix_ns }.wall_unix_ns(at))
    }

    fn t(&self, at: Instant) -> Number {
        Number((at.as_ns() as f64 - self.zero.as_ns() as f64) / 1e9)
    }
}

/// A diagnosis in the shape that is published; `clocks` are those of its runs, in their order.
pub fn document(diagnosis: &Diagnosis, clocks: &[Clock]) -> DiagnosisReport {
    let mut remedies: Vec<_> = diagnosis.findings.iter().zip(1..).collect();
    remedies.sort_by_key(|(finding, number)| (finding.cost, *number));
    let remedy = |(finding, number): (&Hypothesis, usize)| DiagnosisRemedy {
        cost: finding.cost.as_str(),
        text: finding.remedy.clone(),
        finding: number,
    };
    DiagnosisReport {
        schema_version: DIAGNOSIS_VERSION,
        outcome: diagnosis.outcome.as_str(),
        headline: diagnosis.headline.clone(),
        runs: diagnosis.runs.iter().map(run).collect(),
        attribution: diagnosis.attribution.as_ref().map(time_use),
        time_uses: diagnosis.time_uses.iter().map(time_use).collect(),
        findings: diagnosis.findings.iter().map(|finding| of_finding(finding, clocks)).collect(),
        findings_beyond: diagnosis.findings_beyond,
        remedies: remedies.into_iter().map(remedy).collect(),
        ruled_out: diagnosis.ruled_out.iter().map(ruled_out).collect(),
        missing: missing_of(diagnosis).iter().map(missing).collect(),
        caveats: diagnosis.caveats.clone(),
    }
}

/// The same with what each finding says, and what helps, in the words that a language has for its kind.
pub fn told_in(lang: Lang, mut told: DiagnosisReport) -> DiagnosisReport {
    for (finding, number) in told.findings.iter_mut().zip(1..) {
        let Some(words) = crate::lang::finding(lang, finding.label) else { continue };
        finding.title = format!("{}: {}", words.finds, finding.place);
        finding.remedy = words.mend.to_owned();
        let remedies = told.remedies.iter_mut().filter(|remedy| remedy.finding == number);
        remedies.for_each(|remedy| remedy.text = words.mend.to_owned());
    }
    told
}

/// It as JSON text, indented, ending in a line break.
pub fn json(told: &DiagnosisReport) -> String {
    // Types whose keys are texts and whose numbers are finite or null have a form in JSON, always.
    escape::json(&serde_json::to_string_pretty(told).unwrap_or_default()) + "\n"
}

fn missing_of(diagnosis: &Diagnosis) -> &[Missing] {
    match &diagnosis.outcome {
        Outcome::CannotTell { missing } => missing,
        _ => &diagnosis.missing,
    }
}

fn run(run: &DiagnosedRun) -> DiagnosisRun {
    DiagnosisRun {
        id: run.id.clone(),
        grade: run.grade.as_str(),
        throughput: plain("throughput", run.throughput_per_s, Unit::PerSecond),
        mean: run.mean_s.map(|mean_s| plain("mean time", mean_s, Unit::Seconds)),
    }
}

fn plain(name: &str, value: f64, unit: Unit) -> DiagnosisNumber {
    number(&Measured::exact(Figure::new(name, value, unit)))
}

fn number(measured: &Measured) -> DiagnosisNumber {
    let (value, unit) = match &measured.figure.value {
        FigureValue::Number { value, unit } => (Some(Number(*value)), unit.as_str()),
        FigureValue::Text(_) => (None, ""),
    };
    DiagnosisNumber {
        name: measured.figure.name.clone(),
        value,
        unit,
        text: rounded(&measured.figure).value.to_string(),
        interval: measured.interval.map(|interval| of_interval(&measured.figure, interval)),
        note: measured.note.clone(),
    }
}

fn of_interval(figure: &Figure, (low, high): (f64, f64)) -> DiagnosisInterval {
    let text = |value: f64| match &figure.value {
        FigureValue::Number { unit, .. } => rounded(&Figure::new("", value, *unit)).value.to_string(),
        FigureValue::Text(_) => String::new(),
    };
    DiagnosisInterval {
        low: Number(low),
        high: Number(high),
        text: format!("[{} – {}]", text(low), text(high)),
    }
}

/// Three digits are as many as the measurement of a run is worth.
fn rounded(figure: &Figure) -> Figure {
    let value = match &figure.value {
        FigureValue::Number { value, unit } if value.is_finite() && *value != 0.0 && value.abs() < 1e6 => {
            let scale = 10_f64.powi(2 - value.abs().log10().floor() as i32);
            let whole = value.fract() == 0.0;
            FigureValue::Number {
                value: if whole { *value } else { (value * scale).round() / scale },
                unit: *unit,
            }
        }
        other => other.clone(),
    };
    Figure { name: figure.name.clone(), value }
}

fn time_use(time: &TimeUse) -> DiagnosisTime {
    let seconds = |name: &str, value: f64| plain(name, value, Unit::Seconds);
    let waits = time.parts.iter().filter(|part| part.does == Does::Waits);
    // A sum of nothing would be a zero below zero.
    let waits_s = waits.fold(0.0, |sum, part| sum + part.mean_s);
    let share = |part_s: f64| Number(if time.mean_s > 0.0 { part_s / time.mean_s } else { 0.0 });
    let part = |part: &model::diagnosis::TimePart| DiagnosisPart {
        name: part.name.clone(),
        does: part.does.as_str(),
        mean: seconds(&part.name, part.mean_s),
        share: share(part.mean_s),
        low: part.low_s.map(|low_s| seconds(&part.name, low_s)),
    };
    let way = |way: &TimeWay| DiagnosisWay {
        method: way.method.as_str(),
        from: way.from.clone(),
        waits: way.waits_s.map(|value| seconds("waits", value)),
        works: way.works_s.map(|value| seconds("works", value)),
        rest: way.rest_s.map(|value| seconds("rest", value)),
        sum: seconds("sum", way.sum_s),
        apart: way.apart.map(Number),
    };
    DiagnosisTime {
        of: time.of.clone(),
        count: time.count,
        mean: seconds("mean", time.mean_s),
        measured: time.measured_s.map(|value| seconds("measured", value)),
        waits: seconds("waits", waits_s),
        waits_share: share(waits_s),
        parts: time.parts.iter().map(part).collect(),
        ways: time.ways.iter().map(way).collect(),
        disagreement: time.disagreement.map(Number),
        caveats: time.caveats.clone(),
    }
}

fn of_finding(finding: &Hypothesis, clocks: &[Clock]) -> DiagnosisFinding {
    DiagnosisFinding {
        detector: finding.detector,
        label: finding.label,
        place: finding.place.clone(),
        title: finding.title.clone(),
        summary: finding.summary.clone(),
        claim: finding.claim.clone(),
        role: finding.role.as_str(),
        strength: finding.strength.as_str(),
        explains: finding.explains.map(Number),
        numbers: finding.numbers.iter().map(number).collect(),
        demand: finding.demand.as_ref().map(demand),
        queries: finding.queries.iter().filter_map(|query| of_query(query, clocks)).collect(),
        exemplars: finding.exemplars.iter().map(|link| exemplar(link, clocks)).collect(),
        ruled_out: finding.ruled_out.iter().map(ruled_out).collect(),
        flags: finding.flags.clone(),
        caveats: finding.caveats.clone(),
        remedy: finding.remedy.clone(),
        cost: finding.cost.as_str(),
        prediction: finding.prediction.as_ref().map(prediction),
    }
}

fn demand(line: &DemandLine) -> DiagnosisDemand {
    let most = line.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let limit = line.limit.map_or_else(String::new, |limit| format!(" of {}", short(limit)));
    DiagnosisDemand {
        used: line.used.clone(),
        through: line.through.clone(),
        x: line.points.iter().map(|point| Number(point.0)).collect(),
        y: line.points.iter().map(|point| Number(point.1)).collect(),
        slope: Number(line.slope),
        slope_low: Number(line.slope_interval.0),
        slope_high: Number(line.slope_interval.1),
        intercept: Number(line.intercept),
        limit: line.limit.map(Number),
        caption: format!(
            "{}: {} at most{limit}; {} more for each of {}",
            line.used,
            short(most),
            short(line.slope),
            line.through
        ),
    }
}

fn short(value: f64) -> String {
    rounded(&Figure::new("", value, Unit::Count)).value.to_string()
}

fn of_query(query: &EvidenceQuery, clocks: &[Clock]) -> Option<DiagnosisQuery> {
    let clock = clocks.get(query.run)?;
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

fn exemplar(link: &ExemplarLink, clocks: &[Clock]) -> DiagnosisExemplar {
    let (kind, run, trace, text) = match link {
        ExemplarLink::Trace { run, id, duration } => {
            let run = clocks.get(*run).map_or_else(String::new, |clock| clock.run.clone());
            ("trace", run, format!("{id:032x}"), plain("", duration.as_secs_f64(), Unit::Seconds).text)
        }
        ExemplarLink::Statement(text) => ("statement", String::new(), String::new(), text.clone()),
        ExemplarLink::Line(text) => ("line", String::new(), String::new(), text.clone()),
    };
    DiagnosisExemplar { kind, run, trace, text }
}

fn ruled_out(one: &RuledOut) -> DiagnosisRuledOut {
    DiagnosisRuledOut { what: one.what.clone(), why: one.why.clone(), number: one.number.clone() }
}

fn missing(one: &Missing) -> DiagnosisMissing {
    DiagnosisMissing { what: one.what.clone(), tells: one.tells.clone(), connect: one.connect.clone() }
}

fn prediction(prediction: &Prediction) -> DiagnosisPrediction {
    DiagnosisPrediction {
        change: prediction.change.clone(),
        now: prediction.now.as_ref().map(number),
        then: prediction.then.as_ref().map(number),
        next_limit: prediction.next_limit.clone(),
        wrong_if: prediction.wrong_if.clone(),
        command: prediction.command.clone(),
    }
}

/// It for a terminal: what it comes to first. `is_whole` tells each finding with all that it rests on.
pub fn text(told: &DiagnosisReport, is_whole: bool, style: Style) -> String {
    let mut out = format!("  {}\n", style.paint(BOLD, &outcome(told, style)));
    for time in told.attribution.iter().chain(&told.time_uses) {
        out += &time_lines(time, style);
    }
    for (finding, place) in told.findings.iter().zip(1..) {
        out += &finding_lines(finding, place, is_whole || place <= WHOLE_MAX, style);
    }
    if told.findings_beyond > 0 {
        out += &format!("\n  … and {} more findings\n", told.findings_beyond);
    }
    out += &rest(told, is_whole, style);
    style.fit(out)
}

fn outcome(told: &DiagnosisReport, style: Style) -> String {
    let (colour, word) = match told.outcome {
        "limited" => (RED, "LIMITED"),
        "no_server_bottleneck" => (GREEN, "NO SERVER BOTTLENECK"),
        "generator" => (YELLOW, "THE GENERATOR"),
        _ => (YELLOW, "CANNOT TELL"),
    };
    format!("{}: {}", style.paint(colour, word), terminal(&told.headline))
}

fn time_lines(time: &DiagnosisTime, style: Style) -> String {
    let head = format!("Where {} spends its {}", time.of, time.mean.text);
    let mut out = format!(
        "\n  {} {}\n",
        style.paint(BOLD, &head),
        style.paint(FAINT, &format!("mean of {}", time.count))
    );
    let rows = time.parts.iter().map(|part| {
        let low = part.low.as_ref().map_or_else(String::new, |low| format!("{} at low load", low.text));
        vec![
            format!("{} {}", part.does, part.name),
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
                way.method.to_owned(),
                format!("waits {}", text(&way.waits)),
                format!("works {}", text(&way.works)),
                format!("sum {}", way.sum.text),
                way.from.clone(),
            ]
        });
        out += &format!("    {}\n", style.paint(FAINT, "the same by other ways"));
        out += &table(rows.collect(), "    ");
    }
    if let Some(apart) = time.disagreement {
        out += &format!(
            "    {}\n",
            style.paint(FAINT, &format!("they are {:.0} % apart about waiting", apart.0 * 100.0))
        );
    }
    out + &notes("Caveat", &time.caveats, style)
}

fn finding_lines(finding: &DiagnosisFinding, place: usize, is_whole: bool, style: Style) -> String {
    let colour = match finding.role {
        "limits" => RED,
        "contributes" => YELLOW,
        _ => FAINT,
    };
    let explains =
        finding.explains.map_or_else(String::new, |share| format!(", explains {:.0} %", share.0 * 100.0));
    let about = format!("{}{explains}, by {}, cost: {}", finding.role, finding.strength, finding.cost);
    let mut out = format!(
        "\n  {place} {}  {}\n    {}\n    {}\n",
        style.paint(BOLD, &terminal(&finding.title)),
        style.paint(FAINT, &terminal(&format!("{} · {}", finding.label, finding.place))),
        style.paint(colour, &about),
        terminal(if is_whole { &finding.claim } else { &finding.summary }),
    );
    if is_whole {
        out += &proof(finding, style);
    }
    out += &format!("    {} {}\n", style.paint(FAINT, "Remedy:"), terminal(&finding.remedy));
    out
}

/// All that a finding rests on.
fn proof(finding: &DiagnosisFinding, style: Style) -> String {
    let rows = finding.numbers.iter().map(|number| {
        let interval = number.interval.as_ref().map_or_else(String::new, |interval| interval.text.clone());
        vec![number.name.clone(), number.text.clone(), interval, number.note.clone()]
    });
    let mut out = table(rows.collect(), "      ");
    for query in &finding.queries {
        let window = format!(
            "{} to {}, step {:.0} ms, {} points",
            query.from, query.to, query.step_ms.0, query.points
        );
        out += &format!(
            "    {} {}\n",
            style.paint(FAINT, "Query:"),
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
        out += &format!("    {} {}\n", style.paint(FAINT, "Shows it:"), terminal(&text));
    }
    if let Some(prediction) = &finding.prediction {
        out += &prediction_lines(prediction, style);
    }
    for one in &finding.ruled_out {
        out += &format!(
            "    {} {}: {} ({})\n",
            style.paint(FAINT, "Not:"),
            terminal(&one.what),
            terminal(&one.number),
            terminal(&one.why)
        );
    }
    out += &notes("Data", &finding.flags, style);
    out + &notes("Caveat", &finding.caveats, style)
}

fn prediction_lines(prediction: &DiagnosisPrediction, style: Style) -> String {
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
        style.paint(BOLD, "Prediction:"),
        terminal(&prediction.change),
        terminal(&numbers)
    );
    out += &format!("      then the limit is {}\n", terminal(&prediction.next_limit));
    out += &format!("      wrong if {}\n", terminal(&prediction.wrong_if));
    if !prediction.command.is_empty() {
        out += &format!("      try it: {}\n", terminal(&prediction.command));
    }
    out
}

fn rest(told: &DiagnosisReport, is_whole: bool, style: Style) -> String {
    let mut out = String::new();
    let shown = if is_whole { usize::MAX } else { RULED_OUT_MAX };
    if !told.ruled_out.is_empty() {
        out += &format!(
            "\n  {} {}\n",
            style.paint(BOLD, "Ruled out"),
            style.paint(FAINT, "checked, with its number")
        );
        let rows = told
            .ruled_out
            .iter()
            .take(shown)
            .map(|one| vec![one.what.clone(), one.number.clone(), one.why.clone()]);
        out += &table(rows.collect(), "    ");
        if told.ruled_out.len() > shown {
            out += &format!("    … and {} more (--all)\n", told.ruled_out.len() - shown);
        }
    }
    if !told.missing.is_empty() {
        out += &format!("\n  {}\n", style.paint(BOLD, "Not looked at"));
    }
    for one in &told.missing {
        out += &format!(
            "    {}: {}\n      {} {}\n",
            terminal(&one.what),
            terminal(&one.tells),
            style.paint(FAINT, "connect it:"),
            terminal(&one.connect)
        );
    }
    if !told.caveats.is_empty() {
        out.push('\n');
        out += &notes("Caveat", &told.caveats, style);
    }
    out
}

fn notes(label: &str, texts: &[String], style: Style) -> String {
    let label = format!("{label}:");
    texts.iter().map(|text| format!("    {} {}\n", style.paint(FAINT, &label), terminal(text))).collect()
}

/// Columns below each other, without blanks at the ends of lines.
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
    use model::diagnosis::{CostClass, Role, TimeMethod, TimePart};
    use model::{Grade, Strength};

    use super::*;

    fn at(second: u64) -> Instant {
        Instant::from_ns(second * 1_000_000_000)
    }

    fn clocks() -> Vec<Clock> {
        vec![Clock { run: "ab12".to_owned(), at: at(0), unix_ns: 1_795_198_000_000_000_000, zero: at(10) }]
    }

    fn hypothesis() -> Hypothesis {
        Hypothesis {
            detector: "cpu-limit",
            label: "CPU limit",
            place: "worker \u{1b}[31m".to_owned(),
            title: "CPU of worker is at its limit".to_owned(),
            summary: "0.89 of 1 cores used".to_owned(),
            claim: "CPU of worker can do no more than 7.02/s in all".to_owned(),
            role: Role::Limits,
            strength: Strength::Limit,
            explains: Some(0.8),
            numbers: vec![
                Measured::within(Figure::new("demand", 0.571_23, Unit::Seconds), (0.54, 0.6)).noted("4 pods"),
            ],
            demand: Some(DemandLine {
                used: "CPU, cores".to_owned(),
                through: "requests/s".to_owned(),
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
            ruled_out: vec![RuledOut {
                what: "worker slots full".to_owned(),
                why: "X·S = 6.13/s × 11.3 s".to_owned(),
                number: "69 of 400 busy".to_owned(),
            }],
            flags: vec!["1.84 of 1 cannot be".to_owned()],
            caveats: vec!["one run".to_owned()],
            remedy: "give it more".to_owned(),
            cost: CostClass::Resource,
            prediction: Some(Prediction {
                change: "4 to 7 pods".to_owned(),
                now: Some(Measured::within(Figure::new("ceiling", 421.0, Unit::PerMinute), (400.0, 444.0))),
                then: Some(Measured::within(Figure::new("ceiling", 737.0, Unit::PerMinute), (690.0, 780.0))),
                next_limit: "the nodes".to_owned(),
                wrong_if: "the plateau stays under 500/min".to_owned(),
                command: "plimsoll run polling.js".to_owned(),
            }),
        }
    }

    fn diagnosis() -> Diagnosis {
        let way = |method, waits_s| TimeWay {
            method,
            from: "289 waiting / 6.13/s".to_owned(),
            waits_s: Some(waits_s),
            works_s: Some(11.3),
            rest_s: None,
            sum_s: waits_s + 11.3,
            apart: Some(0.002),
        };
        let cheap = Hypothesis {
            cost: CostClass::Logic,
            role: Role::Outcome,
            title: "no reward".to_owned(),
            explains: None,
            ..hypothesis()
        };
        Diagnosis {
            outcome: Outcome::Limited,
            headline: "CPU limit: CPU of worker is at its limit".to_owned(),
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
                of: "a task".to_owned(),
                count: 1336,
                mean_s: 58.5,
                measured_s: Some(59.2),
                parts: vec![
                    TimePart { name: "vision".to_owned(), does: Does::Waits, mean_s: 47.2, low_s: Some(0.1) },
                    TimePart { name: "vision".to_owned(), does: Does::Works, mean_s: 11.3, low_s: None },
                ],
                ways: vec![way(TimeMethod::Traces, 47.2), way(TimeMethod::Little, 47.1)],
                disagreement: Some(0.002),
                caveats: Vec::new(),
            }],
            findings: vec![hypothesis(), cheap],
            findings_beyond: 0,
            ruled_out: vec![RuledOut {
                what: "Redis".to_owned(),
                why: "keys dropped".to_owned(),
                number: "0/s".to_owned(),
            }],
            missing: vec![Missing {
                what: "traces".to_owned(),
                tells: "where the time goes".to_owned(),
                connect: "--otlp".to_owned(),
            }],
            caveats: vec!["one run: what grows is not known".to_owned()],
        }
    }

    #[track_caller]
    fn check(is_whole: bool, expect: Expect) {
        expect.assert_eq(&format!(
            "text\n{}",
            text(&document(&diagnosis(), &clocks()), is_whole, Style::PLAIN)
        ));
    }

    #[test]
    fn on_a_terminal() {
        check(
            false,
            expect![[r#"
            text
              LIMITED: CPU limit: CPU of worker is at its limit

              Where a task spends its 58.5 s mean of 1336
                waits vision  47.2 s  81 %  100 ms at low load
                works vision  11.3 s  19 %
                the same by other ways
                traces  waits 47.2 s  works 11.3 s  sum 58.5 s  289 waiting / 6.13/s
                little  waits 47.1 s  works 11.3 s  sum 58.4 s  289 waiting / 6.13/s
                they are 0 % apart about waiting

              1 CPU of worker is at its limit  CPU limit · worker \u{1b}[31m
                limits, explains 80 %, by limit, cost: resource
                CPU of worker can do no more than 7.02/s in all
                  demand  571 ms  [540 ms – 600 ms]  4 pods
                Query: prometheus 2026-11-20T18:06:52Z to 2026-11-20T18:07:00Z, step 5000 ms, 30 points
                  sum by (pod) (rate(a[30s]))
                Shows it: trace 00000000000000000000000000000abc 59.2 s
                Prediction: 4 to 7 pods: ceiling 421/min [400/min – 444/min] → 737/min [690/min – 780/min]
                  then the limit is the nodes
                  wrong if the plateau stays under 500/min
                  try it: plimsoll run polling.js
                Not: worker slots full: 69 of 400 busy (X·S = 6.13/s × 11.3 s)
                Data: 1.84 of 1 cannot be
                Caveat: one run
                Remedy: give it more

              2 no reward  CPU limit · worker \u{1b}[31m
                outcome, by limit, cost: logic
                0.89 of 1 cores used
                Remedy: give it more

              Ruled out checked, with its number
                Redis  0/s  keys dropped

              Not looked at
                traces: where the time goes
                  connect it: --otlp

                Caveat: one run: what grows is not known
        "#]],
        );
    }

    #[test]
    fn remedies_come_cheapest_first() {
        let told = document(&diagnosis(), &clocks());
        let order: Vec<_> = told.remedies.iter().map(|remedy| (remedy.cost, remedy.finding)).collect();
        assert_eq!(order, [("logic", 2), ("resource", 1)]);
    }

    #[test]
    fn queries_have_their_window_in_both_clocks() {
        let told = document(&diagnosis(), &clocks());
        let query = &told.findings[0].queries[0];
        assert_eq!(
            (query.from.as_str(), query.t_from, query.t_to),
            ("2026-11-20T18:06:52Z", Number(2.0), Number(10.0))
        );
        assert_eq!(told.findings[0].exemplars[0].trace, "00000000000000000000000000000abc");
        assert_eq!(told.findings[0].numbers[0].text, "571 ms");
        let shares: f64 = told.time_uses[0].parts.iter().map(|part| part.share.0).sum();
        assert!(
            (shares - 1.0).abs() < 1e-12 && (told.time_uses[0].waits_share.0 - 47.2 / 58.5).abs() < 1e-12
        );
    }

    #[test]
    fn it_has_a_form_in_json() {
        let text = json(&document(&diagnosis(), &clocks()));
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!((&read["outcome"], &read["findings"][0]["cost"]), (&"limited".into(), &"resource".into()));
        assert!(!text.contains('\u{1b}'));
    }
}
