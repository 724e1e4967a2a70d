//! A time of day that carries the label of another zone.

use model::audit::AuditClaim;
use model::{AuditRule, Figure, FigureLabel, Finding, Severity, Strength};

use super::Rule;
use crate::audit::kinds::{Facts, Stamp};
use crate::audit::moment;

pub(super) const RULE: Rule = Rule { id: AuditRule::TimeZone, input: |facts| facts.stamps.len(), judge };

/// Zones differ by multiples of this, in seconds.
const ZONE_STEP_S: f64 = 900.0;

/// Tolerance of a time without seconds, in seconds.
const OFF_MAX_S: f64 = 61.0;

fn judge(facts: &Facts) -> Vec<Finding> {
    facts.stamps.iter().filter_map(find).collect()
}

fn find(stamp: &Stamp) -> Option<Finding> {
    let shown_s = moment::parse_local(&stamp.shown)?;
    let labelled_s = moment::offset_s(&stamp.zone)?;
    // Adding zero makes a negative zero a plain one.
    let actual_s = ((shown_s - stamp.instant) / ZONE_STEP_S).round() * ZONE_STEP_S + 0.0;
    let is_zone = actual_s.abs() <= 14.0 * 3600.0 && (shown_s - stamp.instant - actual_s).abs() < OFF_MAX_S;
    if !is_zone || actual_s == labelled_s {
        return None;
    }
    let hours = |offset_s: f64| format!("UTC{:+}", offset_s / 3600.0);
    Some(Finding {
        severity: Severity::Error,
        strength: Strength::Arithmetic,
        claim: AuditClaim::ZoneMislabelled {
            event: stamp.what.clone(),
            shown: stamp.shown.clone(),
            zone: stamp.zone.clone(),
            actual_h: actual_s / 3600.0,
            off_h: (labelled_s - actual_s).abs() / 3600.0,
        },
        evidence: vec![
            Figure::text(FigureLabel::Timestamp, format!("{} {}", stamp.shown, stamp.zone)),
            Figure::text(FigureLabel::ActualTime, moment::show(stamp.instant)),
            Figure::text(FigureLabel::LabelledOffset, hours(labelled_s)),
            Figure::text(FigureLabel::ActualOffset, hours(actual_s)),
        ],
        place: stamp.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;
    use super::*;

    #[test]
    fn labels_are_held_to_their_offset() {
        let stamp = |shown: &str, zone: &str| {
            format!("what,shown,zone,instant\nstart,{shown},{zone},2026-01-27T04:00:09.595Z\n")
        };
        check(judge, &stamp("2026-01-27 04:00", "KST"), true);
        check(judge, &stamp("2026-01-27 04:00", "UTC"), false);
        check(judge, &stamp("2026-01-27 13:00", "KST"), false);
        check(judge, &stamp("2026-01-27 13:00:09", "+09:00"), false);
        check(judge, &stamp("2026-01-27 13:00:09", "+08:00"), true);
        // Another event, not another zone; and an unknown zone.
        check(judge, &stamp("2026-01-27 04:07", "KST"), false);
        check(judge, &stamp("2026-01-27 04:00", "IST"), false);
    }
}
