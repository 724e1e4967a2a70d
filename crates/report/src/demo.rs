//! The output of `plimsoll demo`: a few lines on each of its two tests, and the answer at the end.

use std::time::Duration;

use api::diagnosis::DiagnosisReport;
use model::{Aggregate, Quantile, Unit, Validity};
use tally::{MetricView, View};
use words::diagnosis::number;

use crate::style::{BOLD, FAINT, width};
use crate::{Lang, Style, escape, find, validity};

/// Columns that a line takes at most: those of the narrowest usual terminal.
const COLUMNS_MAX: usize = 80;

/// Columns of the labels on the left, and of the margin before them.
const LABEL_COLUMNS: usize = 13;
const MARGIN: &str = "  ";

/// The command that measures the safe load of the demo's shop.
pub const SAFE_LOAD_COMMAND: &str = "plimsoll demo --safe-load";

/// The commands that do to a script what the demo did to its own.
pub const OWN_COMMANDS: [&str; 2] = ["plimsoll run script.js", "plimsoll diagnose @last"];

/// One of the two tests.
#[derive(Clone, Debug)]
pub struct Tested {
    /// Connections of the shop's pool.
    pub connections: usize,
    /// The time that the script has a threshold on; `None` where it was not measured.
    pub time: Option<TestedTime>,
    /// Requests per second over the whole test.
    pub per_s: f64,
    /// Validity of the measurement.
    pub validity: Validity,
    /// The id of the run.
    pub run: String,
}

/// A time with its threshold.
#[derive(Clone, Debug)]
pub struct TestedTime {
    /// The metric.
    pub metric: String,
    /// Its 95th percentile, milliseconds.
    pub p95: Quantile,
    /// The threshold's condition as written.
    pub condition: String,
    /// Whether it is met.
    pub is_met: bool,
}

impl TestedTime {
    /// Returns the time of one metric; `None` where it was not measured or has no threshold.
    pub fn of(view: &View, metric: &str) -> Option<TestedTime> {
        let found = named(view, metric)?;
        let Aggregate::Trend(trend) = &found.aggregate else { return None };
        let threshold = found.thresholds.first()?;
        Some(TestedTime {
            metric: metric.to_owned(),
            p95: trend.quantile(0.95),
            condition: threshold.source.clone(),
            is_met: threshold.ok,
        })
    }
}

/// Returns requests per second over a whole test of this length.
pub fn requests_per_s(view: &View, elapsed: Duration) -> f64 {
    let requests = named(view, "http_reqs").map_or(0.0, |metric| match &metric.aggregate {
        Aggregate::Counter(counter) => counter.sum.value(),
        _ => 0.0,
    });
    requests / elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
}

fn named<'a>(view: &'a View, name: &str) -> Option<&'a MetricView> {
    view.metrics.iter().find(|metric| &*metric.metric.name == name)
}

/// The results of both tests together.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The test of the shop as it is.
    pub before: &'a Tested,
    /// The headline of its diagnosis.
    pub headline: &'a str,
    /// The predicted requests per second after the change, with their interval.
    pub predicted: Option<(f64, Option<(f64, f64)>)>,
    /// The test after the change.
    pub after: &'a Tested,
    /// The flag for the store of runs, as commands need it; empty for the default one.
    pub runs_words: &'a str,
}

/// The lines before the first test: the plan, and what is known of the shop.
pub fn opening(connections: usize, hold_ms: f64, per_s: f64, lang: Lang, style: Style) -> String {
    let shop =
        lang.demo_before(connections, number(hold_ms / 1e3, Unit::Seconds), number(per_s, Unit::Count));
    style.fit(format!("{}\n{}", paragraph(lang.demo_plan(), Style::PLAIN), paragraph(&shop, style)))
}

/// The share of the shop's throughput that the first test used, for the whole output.
pub fn use_of_shop(slots: usize, hold_ms: f64, capacity_per_s: f64, busiest_per_s: f64) -> String {
    format!(
        "The shop's {slots} slots, each held for {hold_ms:.0} ms, can complete {capacity_per_s:.0} queries/s; at its busiest the test \
         drew {busiest_per_s:.0} queries/s from it ({:.0}% of its capacity), and the rest of the visitors waited.",
        busiest_per_s / capacity_per_s * 100.0,
    )
}

/// The line before the second test.
pub fn change(before: usize, after: usize, lang: Lang, style: Style) -> String {
    style.fit(paragraph(&lang.demo_after(after, before), style))
}

/// The first test: its result, the bottleneck with its evidence, the remedy and the prediction.
pub fn found(tested: &Tested, document: &DiagnosisReport, lang: Lang, style: Style) -> String {
    let mut lines = result(tested, lang);
    let cause = find::cause_lines(document, lang, Style::PLAIN);
    lines.extend(cause.into_iter().map(|(label, text)| (label.to_owned(), text)));
    style.fit(rows(&lines, style))
}

/// The second test: its result.
pub fn tested(tested: &Tested, lang: Lang, style: Style) -> String {
    style.fit(rows(&result(tested, lang), style))
}

/// The answer: the bottleneck, the change, its predicted and its measured effect, and the next commands.
pub fn answer(answer: &Answer<'_>, lang: Lang, style: Style) -> String {
    let row = |label: &str, text: String| (label.to_owned(), escape::terminal(&text));
    let (before, after) = (answer.before, answer.after);
    let mut lines = vec![
        row(lang.demo_limited_by(), answer.headline.to_owned()),
        row(lang.demo_changed(), lang.demo_connections(before.connections, after.connections)),
    ];
    lines.extend(throughput(answer, lang).map(|(label, text)| row(label, text)));
    if let (Some(first), Some(then)) = (&before.time, &after.time) {
        let text = lang.demo_faster(&then.metric, time(first.p95), time(then.p95));
        lines.push(row("", text));
    }
    let is_met = after.time.as_ref().is_some_and(|time| time.is_met);
    let safe_load = if is_met { lang.demo_load_at_least() } else { lang.demo_unknown_load() };
    lines.push(row(lang.find_safe_load(), safe_load.to_owned()));
    lines.push(row("", format!("{SAFE_LOAD_COMMAND}{}", answer.runs_words)));
    let shown = |run: &str| format!("plimsoll show {run}{}", answer.runs_words);
    lines.push(row(lang.demo_everything(), shown(&before.run)));
    lines.push(row("", shown(&after.run)));
    lines.push(row("", format!("plimsoll diagnose {}{}", before.run, answer.runs_words)));
    let own = [lang.demo_own_run(), lang.demo_own_diagnose()];
    let most = OWN_COMMANDS.iter().map(|command| width(command)).max().unwrap_or(0);
    let own = OWN_COMMANDS.iter().zip(own).map(|(command, why)| {
        let blanks = " ".repeat(most - width(command));
        format!("{MARGIN}{MARGIN}{command}{blanks}  {}\n", style.paint(FAINT, why))
    });
    style.fit(format!(
        "{}{}\n{MARGIN}{}\n{}",
        paragraph(lang.demo_answer(), style),
        rows(&lines, style),
        lang.demo_own(),
        own.collect::<String>(),
    ))
}

/// Throughput as it was predicted, and as it was measured.
fn throughput(answer: &Answer<'_>, lang: Lang) -> [(&'static str, String); 2] {
    let rate = |per_s: f64| number(per_s, Unit::Count);
    let (before, after) = (rate(answer.before.per_s), rate(answer.after.per_s));
    let (predicted, measured) = match answer.predicted {
        None => (lang.demo_no_prediction().to_owned(), lang.demo_unpredicted(before, after)),
        Some((value, None)) => (lang.demo_requests(rate(value)), lang.demo_unpredicted(before, after)),
        Some((value, Some((least, most)))) => {
            let is_confirmed = (least..=most).contains(&answer.after.per_s);
            let measured = match is_confirmed {
                true => lang.demo_confirmed(before, after),
                false => lang.demo_refuted(before, after),
            };
            (lang.demo_interval(rate(value), rate(least), rate(most)), measured)
        }
    };
    [(lang.demo_predicted(), predicted), (lang.demo_measured(), measured)]
}

fn result(tested: &Tested, lang: Lang) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    if let Some(it) = &tested.time {
        let text = match it.is_met {
            true => lang.demo_met(&it.metric, time(it.p95), &it.condition),
            false => lang.demo_violated(&it.metric, time(it.p95), &it.condition),
        };
        lines.push((lang.demo_result().to_owned(), escape::terminal(&text)));
    }
    lines.push((lang.demo_validity().to_owned(), escape::terminal(&validity::line(&tested.validity, lang))));
    lines
}

/// A time, or the lower bound that is known of it.
fn time(of: Quantile) -> String {
    let shown = |ms: f64| number(ms / 1e3, Unit::Seconds);
    match of {
        Quantile::Value(ms) => shown(ms),
        Quantile::AtLeast { bound, .. } => format!("≥ {}", shown(bound)),
        Quantile::None | Quantile::Failed => "n/a".to_owned(),
    }
}

/// A line by itself, in bold where colours are wanted.
fn paragraph(text: &str, style: Style) -> String {
    let lines = wrapped(text, COLUMNS_MAX - MARGIN.len());
    lines.iter().map(|line| format!("{MARGIN}{}\n", style.paint(BOLD, line))).collect()
}

/// Labelled lines whose texts are wrapped beside their labels.
fn rows(lines: &[(String, String)], style: Style) -> String {
    let row = |(label, text): &(String, String)| {
        let blanks = " ".repeat(LABEL_COLUMNS.saturating_sub(width(label)));
        let first = format!("{MARGIN}{}{blanks} ", style.paint(FAINT, label));
        let next = format!("{MARGIN}{} ", " ".repeat(LABEL_COLUMNS));
        let texts = wrapped(text, COLUMNS_MAX - MARGIN.len() - LABEL_COLUMNS - 1);
        let line = |(at, text): (usize, String)| format!("{}{text}\n", if at == 0 { &first } else { &next });
        texts.into_iter().enumerate().map(line).collect::<String>()
    };
    lines.iter().map(row).collect()
}

/// A text as lines of whole words that are no wider than this; a word that is wider has a line of its own.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use model::Grade;

    use super::*;

    fn tested_shop(connections: usize, ms: f64, run: &str) -> Tested {
        Tested {
            connections,
            time: Some(TestedTime {
                metric: "checkout_time".to_owned(),
                p95: Quantile::Value(ms),
                condition: "p(95)<100".to_owned(),
                is_met: ms < 100.0,
            }),
            per_s: 791.5,
            validity: Validity { grade: Grade::Valid, ..Validity::default() },
            run: run.to_owned(),
        }
    }

    fn answered(lang: Lang) -> String {
        answered_after(23.65, lang)
    }

    fn answered_after(p95_ms: f64, lang: Lang) -> String {
        let (before, after) = (tested_shop(8, 151.75, "aa"), tested_shop(16, p95_ms, "bb"));
        let answer = Answer {
            before: &before,
            headline: "Connection pool exhausted in shop: requests spend 78 % of their time waiting for one of 8 connections",
            predicted: Some((1_143.2, Some((1_039.2, 1_247.9)))),
            after: &Tested { per_s: 1_139.4, ..after },
            runs_words: "",
        };
        super::answer(&answer, lang, Style::PLAIN)
    }

    #[test]
    fn the_demo_ends_with_the_answer() {
        let text = answered(Lang::En);
        for expect in [
            "Changed       16 connections instead of 8",
            "Predicted     1,140 requests/s, between 1,040 and 1,250",
            "Measured      1,140 requests/s, 792 before: as predicted",
            "p95 of checkout_time 23.7 ms, 152 ms before",
            "Safe load     120 visitors or more",
            SAFE_LOAD_COMMAND,
            "plimsoll show bb",
            "plimsoll run script.js",
            "plimsoll diagnose @last",
        ] {
            assert!(text.contains(expect), "{expect:?} is not in\n{text}");
        }
        assert!(!text.contains("cannot be"), "{text}");
        assert!(answered(Lang::Ko).contains("커넥션 8개 → 16개"));
    }

    #[test]
    fn a_load_that_violated_the_limit_is_not_called_safe() {
        let text = answered_after(120.0, Lang::En);
        assert!(text.contains("Safe load     not measured") && text.contains(SAFE_LOAD_COMMAND), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_a_terminal() {
        let diagnosis = crate::report_tests::diagnosis();
        for lang in Lang::ALL {
            let shop = tested_shop(8, 151.75, "aa");
            let texts = [
                opening(8, 20.0, 400.0, lang, Style::PLAIN),
                change(8, 16, lang, Style::PLAIN),
                found(&shop, &diagnosis, lang, Style::PLAIN),
                tested(&shop, lang, Style::PLAIN),
                answered(lang),
            ];
            for line in texts.iter().flat_map(|text| text.lines()) {
                assert!(width(line) <= COLUMNS_MAX, "{} columns: {line:?}", width(line));
            }
        }
    }

    #[test]
    fn texts_are_wrapped_between_words() {
        assert_eq!(wrapped("a bb ccc  d", 4), ["a bb", "ccc", "d"]);
        assert_eq!(wrapped("abcdef g", 4), ["abcdef", "g"]);
        assert_eq!(wrapped("가나 다", 4), ["가나", "다"]);
        assert!(wrapped("", 4).is_empty());
    }
}
