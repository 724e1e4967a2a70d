//! What the servers did meanwhile: the same lanes, tables and sentences as on the page.

use api::page::{Evidence, Fact, Subject, Value, WayRow};

use crate::escape::{html_lines, markdown_code, markdown_text};
use crate::lang::fill;

use super::Context;
use super::table::{Column, Table};

/// Points of a lane: a report draws none, and peaks are those of all points.
pub(super) const POINTS_MAX: usize = 2;

/// Facts of one subject.
const FACTS_MAX: usize = 20;

/// Who was asked, and what happened in order.
pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut sources = Table::new(&[
        Column::Left(words.ev_source),
        Column::Left(words.ev_health),
        Column::Right(words.ev_points),
        Column::Right(words.ev_failures),
    ]);
    for source in &evidence.sources {
        let health = match source.health {
            "ok" => words.ev_ok,
            "silent" => words.ev_silent,
            _ => words.ev_gaps,
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
    let mut parts = vec![sources.render(words, context.table_bytes)];
    parts.push(story.collect());
    let beyond = evidence.lanes_beyond + evidence.rows_beyond + evidence.happenings_beyond;
    if beyond > 0 {
        parts.push(format!("{}\n", fill(words.ev_beyond, &[&beyond.to_string()])));
    }
    if evidence.lost > 0 {
        parts.push(format!("{}\n", fill(words.ev_lost, &[&evidence.lost.to_string()])));
    }
    parts.retain(|part| !part.is_empty());
    Some(parts.join("\n"))
}

/// What was configured, and what somebody should know.
pub(super) fn configuration(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(words.ev_source),
        Column::Left(words.ev_subject),
        Column::Left(words.ev_known),
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
    let words = context.words;
    let mut table = Table::new(&[
        Column::Left(words.ev_part),
        Column::Right(words.ev_avg),
        Column::Right("p95"),
        Column::Right(words.ev_share_of_sessions),
    ]);
    for part in &way.parts {
        let what = match part.kind {
            "queue" => words.ev_part_queue,
            "between" => words.ev_part_between,
            "submit" => words.ev_part_submit,
            "poll" => words.ev_part_poll,
            _ => "{}",
        };
        let what = fill(what, &[&markdown_code(&part.name)]);
        table.row(vec![what, text(&part.mean), text(&part.p95), text(&part.share)]);
    }
    table.row(vec![words.ev_whole.to_owned(), text(&way.mean), text(&way.p95), String::new()]);
    let traces = way.traces.to_string();
    let mut out = format!("{}\n\n", fill(words.ev_way_of, &[&markdown_code(&way.operation), &traces]));
    out += &table.render(words, context.table_bytes);
    out += &format!("\n{}", fill(words.ev_way_sum, &[&way.sum.text, &way.mean.text, &text(&way.sum_off)]));
    if let Some(measured) = &way.measured {
        let told = [measured.count.to_string(), measured.mean.text.clone(), text(&measured.off)];
        out += &format!(" {}", fill(words.ev_way_measured, &[&told[0], &told[1], &told[2]]));
    }
    if way.is_biased {
        out += &format!(" {}", words.ev_way_biased);
    }
    out += "\n";
    out + &laws(way, context)
}

fn laws(way: &WayRow, context: &Context<'_>) -> String {
    let words = context.words;
    let mut table = Table::new(&[
        Column::Left(words.ev_queue),
        Column::Right(words.ev_law_rate),
        Column::Right(words.ev_law_ready),
        Column::Right(words.ev_law_wait_by_law),
        Column::Right(words.ev_law_wait),
        Column::Right(words.ev_law_off),
        Column::Right(words.ev_law_unacked),
        Column::Right(words.ev_law_stay_by_law),
        Column::Right(words.ev_law_stay),
        Column::Right(words.ev_law_off),
    ]);
    for law in &way.laws {
        let numbers = [&law.rate, &law.ready, &law.wait_by_law, &law.wait, &law.wait_off];
        let more = [&law.unacked, &law.stay_by_law, &law.stay, &law.stay_off];
        let numbers = numbers.into_iter().chain(more).map(text);
        table.row([markdown_code(&law.queue)].into_iter().chain(numbers).collect());
    }
    match table.is_empty() {
        true => String::new(),
        false => format!("\n{}\n{}\n", table.render(words, context.table_bytes), words.ev_law_note),
    }
}

/// Start, peak and end of each queue, and who took from it.
pub(super) fn queues(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(words.ev_queue),
        Column::Left(words.ev_source),
        Column::Right(words.ev_start),
        Column::Right(words.ev_peak),
        Column::Right(words.ev_peak_at),
        Column::Right(words.ev_end),
        Column::Right(words.ev_unacked_peak),
        Column::Right(words.ev_consumers),
        Column::Right(words.ev_prefetch),
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
    let words = context.words;
    let mut table = Table::new(&[
        Column::Left(words.ev_statement),
        Column::Right(words.ev_share),
        Column::Right(words.ev_calls),
        Column::Right(words.ev_total),
        Column::Right(words.ev_mean),
        Column::Right(words.ev_blocks_hit),
        Column::Right(words.ev_blocks_read),
    ]);
    for row in &evidence.statements {
        let numbers =
            [&row.share, &row.calls, &row.total, &row.mean, &row.blocks_hit, &row.blocks_read].map(text);
        table.row([vec![markdown_code(&row.text)], numbers.to_vec()].concat());
    }
    render(&table, context)
}

fn waits(evidence: &Evidence, context: &Context<'_>) -> Option<String> {
    let words = context.words;
    let mut table = Table::new(&[
        Column::Left(words.ev_wait),
        Column::Right(words.ev_sessions_mean),
        Column::Right(words.ev_max),
        Column::Right(words.ev_share_of_sessions),
    ]);
    for row in &evidence.waits {
        let wait = [row.kind.as_str(), row.event.as_str()].into_iter().filter(|part| !part.is_empty());
        let wait = wait.collect::<Vec<_>>().join(" · ");
        let wait = if wait.is_empty() { words.ev_running.to_owned() } else { markdown_code(&wait) };
        table.row(vec![wait, text(&row.mean), text(&row.peak), text(&row.share)]);
    }
    render(&table, context)
}

/// How long kinds of tasks took.
pub(super) fn tasks(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(words.ev_task),
        Column::Right(words.count),
        Column::Right(words.ev_min),
        Column::Right(words.ev_avg),
        Column::Right("p95"),
        Column::Right(words.ev_max),
    ]);
    for row in &evidence.tasks {
        let numbers = [&row.count, &row.min, &row.avg, &row.p95, &row.max].map(text);
        table.row([vec![markdown_code(&row.task)], numbers.to_vec()].concat());
    }
    render(&table, context)
}

/// What programs did themselves, function by function.
pub(super) fn profiles(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut parts = Vec::new();
    for profile in &evidence.profiles {
        let mut table = Table::new(&[
            Column::Left(words.ev_function),
            Column::Right(words.ev_own),
            Column::Right(words.ev_profile_share),
        ]);
        for row in &profile.functions {
            table.row(vec![markdown_code(&row.name), text(&row.own), text(&row.share)]);
        }
        let what = format!("{} {}", profile.source, profile.subject);
        let head = [&*markdown_code(&what), &profile.clock, &profile.length.text, &profile.total.text];
        parts.push(format!("{}\n\n{}", fill(words.ev_profile, &head), render(&table, context)?));
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Start, peak and end of every series.
pub(super) fn lanes(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut table = Table::new(&[
        Column::Left(words.ev_lane),
        Column::Left(words.ev_series),
        Column::Right(words.ev_start),
        Column::Right(words.ev_peak),
        Column::Right(words.ev_peak_at),
        Column::Right(words.ev_end),
        Column::Right(words.limit),
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

/// What asks for each lane again, in full so that it can be copied.
pub(super) fn queries(context: &Context<'_>) -> Option<String> {
    let (words, evidence) = (context.words, context.evidence.as_ref()?);
    let mut text = format!("{}\n\n", fill(words.ev_window, &[&evidence.start, &evidence.end]));
    let (mut shown, mut left_out) = (0, 0);
    for (lane, query) in
        evidence.lanes.iter().flat_map(|lane| lane.queries.iter().map(move |query| (lane, query)))
    {
        let step = match lane.step_ms.0 > 0.0 {
            true => format!(" · {} {}", words.ev_step, crate::number::duration(lane.step_ms.0, None)),
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
        text += &format!("{}\n", fill(words.more_rows, &[&left_out.to_string()]));
    }
    (shown + left_out > 0).then_some(text)
}

fn render(table: &Table, context: &Context<'_>) -> Option<String> {
    (!table.is_empty()).then(|| table.render(context.words, context.table_bytes))
}

/// A value in a cell; a dash where there is none.
fn text(value: &Value) -> String {
    match value.value {
        Some(_) => value.text.clone(),
        None => "–".to_owned(),
    }
}
