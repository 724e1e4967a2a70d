//! The thresholds with what was observed.

use crate::escape;
use crate::style::{CYAN, WHITE};

use super::table::statistic_text;
use super::{MetricSummary, Options};

/// Indentation of a metric's thresholds.
const INDENT: usize = 4;

/// One block per metric with thresholds; sub-metrics stand under their metric where that has thresholds too.
pub(super) fn blocks(metrics: &[&MetricSummary], options: &Options) -> Vec<String> {
    let judged = |metric: &&&MetricSummary| !metric.thresholds.is_empty();
    let block = |metric: &&MetricSummary| {
        let nested = metric.suffix().filter(|_| {
            metrics
                .iter()
                .filter(judged)
                .any(|other| other.suffix().is_none() && other.name == metric.parent())
        });
        match nested {
            Some(suffix) => lines(&format!("{{{}}}", escape::terminal(suffix)), metric, INDENT + 2, options),
            None => lines(&escape::terminal(&metric.name), metric, INDENT, options),
        }
    };
    metrics.iter().filter(judged).map(block).collect()
}

fn lines(title: &str, metric: &MetricSummary, indent: usize, options: &Options) -> String {
    let style = options.style;
    let indent = " ".repeat(indent);
    let mut text = format!("{indent}{title}\n");
    for threshold in &metric.thresholds {
        let (name, statistic) = &threshold.observed;
        let observed = statistic_text(*statistic, name, metric, options);
        text += &format!(
            "{indent}{} {} {}={}\n",
            style.mark(threshold.ok),
            style.paint(WHITE, &format!("'{}'", escape::terminal(&threshold.source))),
            style.paint(WHITE, &escape::terminal(name)),
            style.paint(CYAN, &observed),
        );
    }
    text
}
