//! Server-side evidence: the same lanes, tables and sentences as on the page.

use api::page::{Evidence, Fact, StatementRow, Subject, Value, WayRow};

use crate::escape::{NAME_CHARS_MAX, html_lines, markdown_code, markdown_text};

use super::Context;
use super::bottleneck::pre;
use super::table::{Column, Table};

/// Points of a lane: a report draws none, and peaks are those of all points.
pub(super) const POINTS_MAX: usize = 2;

/// Statements that are written in full below their table.
const STATEMENTS_IN_FULL_MAX: usize = 10;

/// Facts of one subject.
const FACTS_MAX: usize = 20;

/// Who was asked, and what happened in order.
pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut sources = Table::new(&[
        Column::Left(lang.evidence_source()),
        Column::Left(lang.evidence_health()),
        Column::Right(lang.evidence_points()),
        Column::Right(lang.evidence_failures()),
    ]);
    for source in &evidence.sources {
        let health = match source.health {
            "ok" => lang.evidence_ok(),
            "silent" => lang.evidence_no_data(),
            _ => lang.evidence_gaps(),
        };
        let failures = source.failures.map_or_else(String::new, |failures| failures.to_string());
        sources.row(vec![
            markdown_code(&source.name),
            health.to_owned(),
            source.points.to_string(),
            failures,
        ]);
    }
    let story =
        evidence.story.iter().map(|line| format!("* **{}** {}\n", line.clock, markdown_text(&line.text)));
    let mut parts = vec![sources.render(lang, context.table_bytes)];
    parts.push(story.collect());
    let beyond = evidence.lanes_beyond + evidence.rows_beyond + evidence.happenings_beyond;
    if beyond > 0 {
        parts.push(format!("{}\n", lang.evidence_beyond(beyond)));
    }
    if evidence.lost > 0 {
        parts.push(format!("{}\n", lang.evidence_lost(evidence.lost)));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join("\n"))
}

/// Warnings and configuration.
pub(super) fn configuration(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(lang.evidence_source()),
        Column::Left(lang.evidence_subject()),
        Column::Left(lang.evidence_details()),
    ]);
    for Subject { source, subject, facts, .. } in evidence.warnings.iter().chain(&evidence.configuration) {
        table.row(vec![markdown_code(source), markdown_code(subject), known(facts)]);
    }
    render(&table, context)
}

fn known(facts: &[Fact]) -> String {
    let fact = |fact: &Fact| format!("{} {}", markdown_text(&fact.name), markdown_code(&fact.value));
    facts.iter().take(FACTS_MAX).map(fact).collect::<Vec<_>>().join(", ")
}

/// The way of work through queues, part by part, and what Little's law says of the queues on it.
pub(super) fn ways(context: &Context<'_>) -> Option<String> {
    let evidence = context.evidence.as_ref()?;
    let parts: Vec<String> = evidence.ways.iter().map(|way| way_of(way, context)).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn way_of(way: &WayRow, context: &Context<'_>) -> String {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.evidence_segment()),
        Column::Right(lang.evidence_avg()),
        Column::Right("p95"),
        Column::Right(lang.evidence_session_share()),
    ]);
    for part in &way.parts {
        let name = markdown_code(&part.name);
        let segment = match part.kind {
            "queue" => lang.evidence_segment_queue(name),
            "between" => lang.evidence_segment_between(name),
            "submit" => lang.evidence_segment_submit(name),
            "poll" => lang.evidence_segment_poll(name),
            _ => name,
        };
        table.row(vec![segment, text(&part.mean), text(&part.p95), text(&part.share)]);
    }
    table.row(vec![lang.evidence_path_total().to_owned(), text(&way.mean), text(&way.p95), String::new()]);
    let traces = way.traces.to_string();
    let mut out = format!("{}\n\n", lang.evidence_path_mean(markdown_code(&way.operation), traces));
    out += &table.render(lang, context.table_bytes);
    out += &format!("\n{}", lang.evidence_path_sum(&way.sum.text, &way.mean.text, text(&way.sum_off)));
    if let Some(measured) = &way.measured {
        let off = text(&measured.off);
        out += &format!(" {}", lang.evidence_path_measured(measured.count, &measured.mean.text, off));
    }
    if way.is_biased {
        out += &format!(" {}", lang.evidence_path_biased());
    }
    out += "\n";
    out + &laws(way, context)
}

fn laws(way: &WayRow, context: &Context<'_>) -> String {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.evidence_queue()),
        Column::Right(lang.evidence_law_rate()),
        Column::Right(lang.evidence_law_ready()),
        Column::Right(lang.evidence_law_wait_by_law()),
        Column::Right(lang.evidence_law_wait()),
        Column::Right(lang.evidence_law_difference()),
        Column::Right(lang.evidence_law_unacked()),
        Column::Right(lang.evidence_law_stay_by_law()),
        Column::Right(lang.evidence_law_stay()),
        Column::Right(lang.evidence_law_difference()),
    ]);
    for law in &way.laws {
        let numbers = [&law.rate, &law.ready, &law.wait_by_law, &law.wait, &law.wait_off];
        let more = [&law.unacked, &law.stay_by_law, &law.stay, &law.stay_off];
        let numbers = numbers.into_iter().chain(more).map(text);
        table.row([markdown_code(&law.queue)].into_iter().chain(numbers).collect());
    }
    match table.is_empty() {
        true => String::new(),
        false => format!("\n{}\n{}\n", table.render(lang, context.table_bytes), lang.evidence_law_note()),
    }
}

/// Start, peak and end of each queue, and who took from it.
pub(super) fn queues(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(lang.evidence_queue()),
        Column::Left(lang.evidence_source()),
        Column::Right(lang.evidence_start()),
        Column::Right(lang.evidence_peak()),
        Column::Right(lang.evidence_peak_at()),
        Column::Right(lang.evidence_end()),
        Column::Right(lang.evidence_unacked_peak()),
        Column::Right(lang.evidence_consumers()),
        Column::Right(lang.evidence_prefetch()),
    ]);
    for row in &evidence.queues {
        let consumers = [&row.consumers_min, &row.consumers_steady, &row.consumers_max].map(text).join(" / ");
        table.row(vec![
            markdown_code(&row.queue),
            row.sources.iter().map(|source| markdown_code(source)).collect::<Vec<_>>().join(", "),
            text(&row.start),
            text(&row.peak),
            row.peak_clock.clone(),
            text(&row.end),
            text(&row.unacked_peak),
            consumers,
            text(&row.prefetch),
        ]);
    }
    render(&table, context)
}

/// The statements that took the time, and what sessions waited for.
pub(super) fn database(context: &Context<'_>) -> Option<String> {
    let evidence = context.evidence.as_ref()?;
    let parts = [statements(evidence, context), waits(evidence, context)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn statements(evidence: &Evidence, context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.evidence_statement()),
        Column::Right(lang.evidence_share()),
        Column::Right(lang.evidence_calls()),
        Column::Right(lang.evidence_total()),
        Column::Right(lang.evidence_mean()),
        Column::Right(lang.evidence_blocks_hit()),
        Column::Right(lang.evidence_blocks_read()),
    ]);
    for row in &evidence.statements {
        let numbers =
            [&row.share, &row.calls, &row.total, &row.mean, &row.blocks_hit, &row.blocks_read].map(text);
        table.row([vec![markdown_code(&row.text)], numbers.to_vec()].concat());
    }
    let rendered = render(&table, context)?;
    Some(rendered + &statements_in_full(evidence, context))
}

/// The statements that the table cuts, with the share by which they are found there.
fn statements_in_full(evidence: &Evidence, context: &Context<'_>) -> String {
    let is_cut = |row: &&StatementRow| row.text.chars().nth(NAME_CHARS_MAX).is_some();
    let (mut text, mut bytes) = (String::new(), 0);
    for row in evidence.statements.iter().filter(is_cut).take(STATEMENTS_IN_FULL_MAX) {
        let block = format!("{}, {}\n{}", context.lang.evidence_statement(), row.share.text, pre(&row.text));
        bytes += block.len();
        // As much as a table at most, so that later chapters have their place.
        if bytes > context.table_bytes {
            break;
        }
        text += &block;
    }
    if text.is_empty() { text } else { format!("\n{}\n", text.trim_end()) }
}

fn waits(evidence: &Evidence, context: &Context<'_>) -> Option<String> {
    let lang = context.lang;
    let mut table = Table::new(&[
        Column::Left(lang.evidence_wait()),
        Column::Right(lang.evidence_sessions_mean()),
        Column::Right(lang.evidence_max()),
        Column::Right(lang.evidence_session_share()),
    ]);
    for row in &evidence.waits {
        let wait = [row.kind.as_str(), row.event.as_str()].into_iter().filter(|part| !part.is_empty());
        let wait = wait.collect::<Vec<_>>().join(" · ");
        let wait = if wait.is_empty() { lang.evidence_running().to_owned() } else { markdown_code(&wait) };
        table.row(vec![wait, text(&row.mean), text(&row.peak), text(&row.share)]);
    }
    render(&table, context)
}

/// How long kinds of tasks took.
pub(super) fn tasks(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(lang.evidence_task()),
        Column::Right(lang.count()),
        Column::Right(lang.evidence_min()),
        Column::Right(lang.evidence_avg()),
        Column::Right("p95"),
        Column::Right(lang.evidence_max()),
    ]);
    for row in &evidence.tasks {
        let numbers = [&row.count, &row.min, &row.avg, &row.p95, &row.max].map(text);
        table.row([vec![markdown_code(&row.task)], numbers.to_vec()].concat());
    }
    render(&table, context)
}

/// Profiles: self time per function.
pub(super) fn profiles(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut parts = Vec::new();
    for profile in &evidence.profiles {
        let mut table = Table::new(&[
            Column::Left(lang.evidence_function()),
            Column::Right(lang.evidence_own()),
            Column::Right(lang.evidence_profile_share()),
        ]);
        for row in &profile.functions {
            table.row(vec![markdown_code(&row.name), text(&row.own), text(&row.share)]);
        }
        let name = markdown_code(&format!("{} {}", profile.source, profile.subject));
        let head = lang.evidence_profile(name, &profile.clock, &profile.length.text, &profile.total.text);
        parts.push(format!("{head}\n\n{}", render(&table, context)?));
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Start, peak and end of every series.
pub(super) fn lanes(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(lang.evidence_metric()),
        Column::Left(lang.evidence_series()),
        Column::Right(lang.evidence_start()),
        Column::Right(lang.evidence_peak()),
        Column::Right(lang.evidence_peak_at()),
        Column::Right(lang.evidence_end()),
        Column::Right(lang.limit()),
    ]);
    for lane in &evidence.lanes {
        for series in &lane.series {
            table.row(vec![
                markdown_text(&lane.title),
                markdown_code(&series.label),
                text(&series.start),
                text(&series.peak.value),
                crate::evidence::clock(series.peak.t.0),
                text(&series.end),
                series.limit.as_ref().map_or_else(String::new, text),
            ]);
        }
    }
    render(&table, context)
}

/// The queries of each lane, in full so that they can be copied.
pub(super) fn queries(context: &Context<'_>) -> Option<String> {
    let (lang, evidence) = (context.lang, context.evidence.as_ref()?);
    let mut text = format!("{}\n\n", lang.evidence_window(&evidence.start, &evidence.end));
    let (mut shown, mut left_out) = (0, 0);
    for (lane, query) in
        evidence.lanes.iter().flat_map(|lane| lane.queries.iter().map(move |query| (lane, query)))
    {
        let step = match lane.step_ms.0 > 0.0 {
            true => format!(" · {} {}", lang.evidence_step(), crate::number::duration(lane.step_ms.0, None)),
            false => String::new(),
        };
        let of = format!("{} · {}{step}", markdown_code(&lane.source), markdown_text(&lane.title));
        let part = format!("{of}\n<pre>{}</pre>\n\n", html_lines(query));
        if text.len() + part.len() > context.table_bytes {
            left_out += 1;
            continue;
        }
        shown += 1;
        text += &part;
    }
    if left_out > 0 {
        text += &format!("{}\n", lang.more_rows(left_out));
    }
    (shown + left_out > 0).then_some(text)
}

fn render(table: &Table, context: &Context<'_>) -> Option<String> {
    (!table.is_empty()).then(|| table.render(context.lang, context.table_bytes))
}

/// A value in a cell; a dash where there is none.
fn text(value: &Value) -> String {
    match value.value {
        Some(_) => value.text.clone(),
        None => "–".to_owned(),
    }
}
