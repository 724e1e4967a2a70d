//! Profiles as flame graphs: who called whom, each as wide as what it took.

use std::collections::BTreeMap;

use api::Number;
use api::page::{Frame, FunctionRow, Profile};
use model::{Datum, Record, RecordKind};

use super::{EvidenceView, units};

/// Profiles of an answer.
const PROFILES_MAX: usize = 10;
/// Maximum number of frames per profile; sources report fewer.
const FRAMES_MAX: usize = 1_000;
/// Functions of a table.
const FUNCTIONS_MAX: usize = 15;

/// The first profiles of all sources.
pub(super) fn profiles(view: &EvidenceView, beyond: &mut u64) -> Vec<Profile> {
    let all: Vec<&Record> = view.of_kind(RecordKind::Profile).collect();
    *beyond += all.len().saturating_sub(PROFILES_MAX) as u64;
    all.into_iter().take(PROFILES_MAX).filter_map(|record| profile(view, record)).collect()
}

/// One line of a profile: depth of the call, its value, its name.
struct Call<'a> {
    depth: u32,
    value: f64,
    name: &'a str,
}

fn profile(view: &EvidenceView, record: &Record) -> Option<Profile> {
    let number = |name: &str| match record.fields.get(name) {
        Some(Datum::Number(number)) => *number,
        _ => 0.0,
    };
    let text = |name: &str| match record.fields.get(name) {
        Some(Datum::Text(text)) => text.as_str(),
        _ => "",
    };
    let total = Some(number("total")).filter(|total| *total > 0.0 && total.is_finite())?;
    let (scale, unit) = scale_of(text("unit"));
    let shown = |value: f64| units::value(value * unit, scale);
    let calls: Vec<Call<'_>> = text("frames").lines().take(FRAMES_MAX).filter_map(call).collect();
    let t = view.t(record.at);
    Some(Profile {
        source: record.source.clone(),
        subject: record.subject.clone(),
        t: units::millis(t),
        clock: units::clock(t),
        length: units::value(number("profile_s"), "seconds"),
        total: shown(total),
        query: text("query").to_owned(),
        frames: frames(&calls, total, &|value| shown(value).text),
        frames_left_out: number("frames_left_out") as u64,
        functions: functions(&calls, total, &shown),
    })
}

fn call(line: &str) -> Option<Call<'_>> {
    let mut parts = line.splitn(3, ' ');
    let (depth, value) = (parts.next()?.parse().ok()?, parts.next()?.parse::<f64>().ok()?);
    Some(Call { depth, value, name: parts.next()? }).filter(|call| value_is_sound(call.value))
}

fn value_is_sound(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// The axis scale and factor of a unit of pprof.
fn scale_of(unit: &str) -> (&'static str, f64) {
    match unit {
        "nanoseconds" => ("seconds", 1e-9),
        "microseconds" => ("seconds", 1e-6),
        "milliseconds" => ("seconds", 1e-3),
        "seconds" => ("seconds", 1.0),
        "bytes" => ("data", 1.0),
        _ => ("default", 1.0),
    }
}

/// Each call beside those that were called by the same before it.
fn frames(calls: &[Call<'_>], total: f64, shown: &dyn Fn(f64) -> String) -> Vec<Frame> {
    // Where the next call of each depth begins.
    let mut next = vec![0.0];
    let mut frames = Vec::with_capacity(calls.len());
    for call in calls {
        let depth = call.depth as usize;
        // A call without its caller is none.
        if depth >= next.len() {
            continue;
        }
        next.truncate(depth + 1);
        let from = next[depth];
        next[depth] += call.value;
        next.push(from);
        let share = call.value / total;
        frames.push(Frame {
            depth: call.depth,
            from: Number(from / total),
            width: Number(share),
            name: call.name.to_owned(),
            text: format!("{} · {}", shown(call.value), units::text(share, "share")),
        });
    }
    frames
}

/// Self time of functions, over all callers. Frames that were left out count for their callers.
fn functions(calls: &[Call<'_>], total: f64, shown: &dyn Fn(f64) -> api::page::Value) -> Vec<FunctionRow> {
    let mut own: BTreeMap<&str, f64> = BTreeMap::new();
    for (place, call) in calls.iter().enumerate() {
        let below = calls[place + 1..].iter().take_while(|one| one.depth > call.depth);
        let called: f64 = below.filter(|one| one.depth == call.depth + 1).map(|one| one.value).sum();
        *own.entry(call.name).or_default() += (call.value - called).max(0.0);
    }
    let mut own: Vec<(&str, f64)> = own.into_iter().filter(|(_, value)| *value > 0.0).collect();
    own.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    let row = |(name, value): (&str, f64)| FunctionRow {
        name: name.to_owned(),
        own: shown(value),
        share: units::value(value / total, "share"),
    };
    own.into_iter().take(FUNCTIONS_MAX).map(row).collect()
}

#[cfg(test)]
mod tests {
    use model::Instant;

    use super::super::Collected;
    use super::*;

    fn view_of(frames: &str, total: f64) -> EvidenceView {
        let fields = [
            ("frames", Datum::from(frames)),
            ("total", total.into()),
            ("unit", "nanoseconds".into()),
            ("profile_s", 3.0.into()),
            ("frames_left_out", 2.0.into()),
        ];
        let record = Record {
            source: "shop".to_owned(),
            kind: RecordKind::Profile,
            at: Instant::from_ns(10_000_000_000),
            subject: "cpu".to_owned(),
            fields: fields.map(|(name, datum)| (name.to_owned(), datum)).into(),
        };
        let all = Collected { records: vec![record], ..Collected::default() };
        EvidenceView { all: all.into(), ..EvidenceView::default() }
    }

    #[test]
    fn calls_stand_beside_each_other_on_who_called_them() {
        let text =
            "0 900000000 main\n1 500000000 serve\n2 400000000 query\n1 300000000 gc\n0 100000000 idle\n";
        let [profile] = &profiles(&view_of(text, 1e9), &mut 0)[..] else { panic!("one profile") };
        let places: Vec<(u32, f64, f64, &str)> = profile
            .frames
            .iter()
            .map(|frame| (frame.depth, frame.from.0, frame.width.0, frame.name.as_str()))
            .collect();
        assert_eq!(
            places,
            [
                (0, 0.0, 0.9, "main"),
                (1, 0.0, 0.5, "serve"),
                (2, 0.0, 0.4, "query"),
                (1, 0.5, 0.3, "gc"),
                (0, 0.9, 0.1, "idle")
            ]
        );
        assert_eq!(profile.frames[0].text, "900ms · 90.00%");
        assert_eq!(
            (profile.total.text.as_str(), profile.frames_left_out, profile.clock.as_str()),
            ("1s", 2, "0:10")
        );
        let own: Vec<(&str, &str)> =
            profile.functions.iter().map(|row| (row.name.as_str(), row.own.text.as_str())).collect();
        let expect =
            [("query", "400ms"), ("gc", "300ms"), ("idle", "100ms"), ("main", "100ms"), ("serve", "100ms")];
        assert_eq!(own, expect);
    }

    #[test]
    fn what_is_no_profile_is_left_out() {
        assert!(profiles(&view_of("0 1 main\n", 0.0), &mut 0).is_empty());
        let text = "5 1 lost\nx 1 a\n0 NaN b\n0 -1 c\n0\n0 1 main of it\n2 1 lost\n";
        let [profile] = &profiles(&view_of(text, 1.0), &mut 0)[..] else { panic!("one profile") };
        let names: Vec<&str> = profile.frames.iter().map(|frame| frame.name.as_str()).collect();
        assert_eq!(names, ["main of it"]);
    }
}
