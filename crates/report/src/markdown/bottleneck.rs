//! The bottleneck of the target, with its evidence and prediction. The texts are those of the document.

use api::diagnosis::{DiagnosisFinding, DiagnosisNumber, DiagnosisReport, DiagnosisTime};

use crate::Lang;
use crate::escape::{html_lines, markdown_code, markdown_prose, markdown_text};

use super::Context;
use super::table::{Column, Table};

/// Findings that are shown at length.
const FINDINGS_MAX: usize = 5;

/// Queries of one finding.
const QUERIES_MAX: usize = 4;

/// Characters of a query, a statement or a command where it is read as a whole.
const QUERY_CHARS_MAX: usize = 2_000;

/// The kind of examples that are statements of a database.
const STATEMENT: &str = "statement";

/// Returns the reason why there are no findings.
pub(super) fn missing(context: &Context<'_>) -> &'static str {
    let is_diagnosed = context.report.diagnosis.is_some();
    if is_diagnosed { context.lang.bottleneck_none() } else { context.lang.missing_bottleneck() }
}

/// Returns the parts of the time of requests and tasks, by each method.
pub(super) fn times(context: &Context<'_>) -> Option<String> {
    let diagnosis = context.report.diagnosis.as_ref()?;
    let all = diagnosis.attribution.iter().chain(&diagnosis.time_uses);
    let parts: Vec<String> = all.map(|time| time_use(time, context)).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn time_use(time: &DiagnosisTime, context: &Context<'_>) -> String {
    let lang = context.lang;
    let share = |share: f64| format!("{:.1} %", share * 100.0);
    let mut parts = Table::new(&[
        Column::Left(lang.bottleneck_component()),
        Column::Left(lang.bottleneck_activity()),
        Column::Right(lang.evidence_mean()),
        Column::Right(lang.evidence_session_share()),
    ]);
    for part in &time.parts {
        let does = does(part.does, lang).to_owned();
        parts.row(vec![markdown_code(&part.name), does, number(&part.mean), share(part.share.0)]);
    }
    let of = markdown_code(&time.of);
    let (mean, waits, waits_share) = (number(&time.mean), number(&time.waits), share(time.waits_share.0));
    let mut text = format!("{}\n\n", lang.bottleneck_time_mean(of, mean, waits, waits_share));
    text += &parts.render(lang, context.table_bytes);
    if time.ways.len() > 1 {
        text += &format!("\n{}", ways(time, context));
    }
    text
}

fn ways(time: &DiagnosisTime, context: &Context<'_>) -> String {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.bottleneck_method()),
        Column::Right(lang.bottleneck_queued()),
        Column::Right(lang.bottleneck_service()),
        Column::Right(lang.bottleneck_other()),
        Column::Right(lang.bottleneck_total()),
        Column::Right(lang.bottleneck_difference()),
    ]);
    let optional = |value: &Option<DiagnosisNumber>| value.as_ref().map_or_else(|| "–".to_owned(), number);
    for way in &time.ways {
        let name = match way.method {
            "traces" => lang.bottleneck_method_traces(),
            "little" => lang.bottleneck_method_little(),
            _ => lang.bottleneck_method_logs(),
        };
        table.row(vec![
            format!("{name} ({})", markdown_text(&way.from)),
            optional(&way.waits),
            optional(&way.works),
            optional(&way.rest),
            number(&way.sum),
            way.apart.map_or_else(|| "–".to_owned(), |apart| format!("{:.1} %", apart.0 * 100.0)),
        ]);
    }
    table.render(lang, context.table_bytes)
}

fn does(does: &str, lang: Lang) -> &'static str {
    match does {
        "waits" => lang.bottleneck_queued(),
        "works" => lang.bottleneck_service(),
        "travels" => lang.bottleneck_network(),
        _ => lang.bottleneck_unattributed(),
    }
}

/// Returns the findings at length; those that explain most come first.
pub(super) fn findings(context: &Context<'_>) -> Option<String> {
    let diagnosis = context.report.diagnosis.as_ref()?;
    let listed = diagnosis.findings.iter().take(FINDINGS_MAX).enumerate();
    let mut text: String = listed.map(|(index, one)| finding(index + 1, one, context)).collect();
    let beyond = diagnosis.findings.len().saturating_sub(FINDINGS_MAX) as u64 + diagnosis.findings_beyond;
    if beyond > 0 {
        text += &format!("{}\n", context.lang.more_rows(beyond));
    }
    if !text.is_empty() {
        text += &remedies(diagnosis, context);
    }
    (!text.is_empty()).then_some(text)
}

fn finding(rank: usize, one: &DiagnosisFinding, context: &Context<'_>) -> String {
    let lang = context.lang;
    let role = match one.role {
        "limits" => lang.bottleneck_limits(),
        "contributes" => lang.bottleneck_contributes(),
        _ => lang.bottleneck_outcome(),
    };
    let mut text =
        format!("**{rank}. {}** ({role}, {})\n\n", markdown_text(&one.title), cost(one.cost, lang));
    text += &format!("{}\n\n", markdown_prose(&one.claim));
    let mut numbers = Table::new(&[Column::Left(lang.name()), Column::Right(lang.value()), Column::Left("")]);
    for one in &one.numbers {
        let interval = one.interval.as_ref().map_or("", |interval| interval.text.as_str());
        let note = [interval, one.note.as_str()].join(" ");
        numbers.row(vec![markdown_text(&one.name), number(one), markdown_text(note.trim())]);
    }
    if !numbers.is_empty() {
        text += &format!("{}\n", numbers.render(lang, context.table_bytes));
    }
    for query in one.queries.iter().take(QUERIES_MAX) {
        let window = format!("{} – {}", query.from, query.to);
        text += &format!("{} · {window}\n{}", markdown_code(&query.source), pre(&query.text));
    }
    for one in one.exemplars.iter().filter(|one| one.kind == STATEMENT) {
        text += &format!("{}\n{}", lang.evidence_statement(), pre(&one.text));
    }
    if let Some(prediction) = &one.prediction {
        let then = prediction.then.as_ref().map_or_else(String::new, |then| {
            let interval = then.interval.as_ref().map_or("", |interval| interval.text.as_str());
            format!(": {} {}", number(then), markdown_text(interval))
        });
        let change = markdown_prose(&prediction.change) + then.trim_end();
        text += &format!("{}\n", lang.bottleneck_prediction(change, markdown_prose(&prediction.wrong_if)));
        if !prediction.command.is_empty() {
            text += &pre(&prediction.command);
        }
    }
    let doubts = one.flags.iter().chain(&one.caveats).map(|doubt| format!("> {}\n", markdown_prose(doubt)));
    text + &doubts.collect::<String>() + "\n"
}

fn remedies(diagnosis: &DiagnosisReport, context: &Context<'_>) -> String {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.bottleneck_cost()),
        Column::Left(lang.bottleneck_remedy()),
        Column::Right(lang.bottleneck_finding()),
    ]);
    for remedy in &diagnosis.remedies {
        let of = remedy.finding.to_string();
        table.row(vec![cost(remedy.cost, lang).to_owned(), markdown_prose(&remedy.text), of]);
    }
    if table.is_empty() { String::new() } else { table.render(lang, context.table_bytes) }
}

fn cost(cost: &str, lang: Lang) -> &'static str {
    match cost {
        "logic" => lang.bottleneck_cost_logic(),
        "setting" => lang.bottleneck_cost_setting(),
        "cache" => lang.bottleneck_cost_cache(),
        "resource" => lang.bottleneck_cost_resource(),
        _ => lang.bottleneck_cost_architecture(),
    }
}

/// Returns the suspects that were ruled out, each with its number.
pub(super) fn ruled_out(context: &Context<'_>) -> Option<String> {
    let (lang, diagnosis) = (context.lang, context.report.diagnosis.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(lang.bottleneck_suspect()),
        Column::Left(lang.bottleneck_evidence_against()),
        Column::Right(lang.value()),
    ]);
    for one in &diagnosis.ruled_out {
        table.row(vec![markdown_text(&one.what), markdown_prose(&one.why), markdown_text(&one.number)]);
    }
    (!table.is_empty()).then(|| table.render(lang, context.table_bytes))
}

/// Returns the evidence that was not collected, and how to connect it.
pub(super) fn connect(context: &Context<'_>) -> Option<String> {
    let diagnosis = context.report.diagnosis.as_ref()?;
    let line = |what: &str, tells: &str, how: &str| {
        format!("* **{}**: {}\n{}", markdown_text(what), markdown_prose(tells), pre(how))
    };
    let lines = diagnosis.missing.iter().map(|one| line(&one.what, &one.tells, &one.connect));
    let text: String = lines.collect();
    (!text.is_empty()).then_some(text)
}

pub(super) fn number(number: &DiagnosisNumber) -> String {
    markdown_text(&number.text)
}

/// A query, a statement or a command to copy; what is longer is cut and ends in `…`.
pub(super) fn pre(text: &str) -> String {
    let mut cut: String = text.chars().take(QUERY_CHARS_MAX).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("<pre>{}</pre>\n\n", html_lines(&cut))
}
