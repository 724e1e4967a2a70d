//! `/thresholds`: the results of each threshold over time.

use api::Number;
use api::page::{ThresholdOverTime, Thresholds};
use report::RunReport;
use report::document::Judged;
use runfile::{Header, ThresholdPoint};
use server::PageError;

use super::scope::Scope;
use super::values::number_of;
use super::{damaged, json};

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let report = scope.document()?;
    let points = scope.reader.thresholds().map_err(damaged)?;
    let mut thresholds = of_report(report, scope.reader.header());
    for threshold in &mut thresholds {
        add_past(threshold, scope, &points);
    }
    json(&Thresholds { thresholds })
}

/// Returns the thresholds of a report, without their history.
pub(super) fn of_report(report: &RunReport, header: &Header) -> Vec<ThresholdOverTime> {
    let is_aborting = |judged: &Judged<'_>| {
        let facts = header.thresholds.iter().filter(|facts| facts.selector == judged.metric.name);
        let mut conditions = facts.flat_map(|facts| &facts.conditions);
        conditions.any(|condition| condition.source == judged.threshold.source && condition.abort_on_fail)
    };
    let rows = report::json::thresholds(report);
    let one = |(judged, threshold): (&Judged<'_>, api::report::ReportThreshold)| ThresholdOverTime {
        threshold,
        margin_text: judged.margin_text(),
        abort_on_fail: is_aborting(judged),
        t: Vec::new(),
        values: Vec::new(),
        oks: Vec::new(),
    };
    report.judged().iter().zip(rows).map(one).collect()
}

fn add_past(threshold: &mut ThresholdOverTime, scope: &Scope, points: &[ThresholdPoint]) {
    let own = &threshold.threshold;
    let of_threshold: Vec<&ThresholdPoint> =
        points.iter().filter(|point| point.selector == own.metric && point.source == own.condition).collect();
    // The last of neighbours, because a threshold is evaluated on all data since the start.
    let each = of_threshold.len().div_ceil(scope.detail.points_max as usize).max(1);
    for point in of_threshold.chunks(each).filter_map(|some| some.last()) {
        threshold.t.push(Number((scope.t(point.at) * 1e3).round() / 1e3));
        threshold.values.push(number_of(point.observed).map(Number));
        threshold.oks.push(point.ok);
    }
}
