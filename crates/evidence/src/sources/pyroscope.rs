//! Pyroscope, queried after the run for the profile of its busiest time.
//!
//! The tests use responses built from the published API, as of Pyroscope 1.15 (`/pyroscope/render`, `flamebearer`).

use std::collections::BTreeMap;
use std::time::Duration;

use model::{Datum, Evidence, Record, RecordKind};
use serde::Deserialize;

use super::Kind;
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::flame::Flame;
use crate::http::{self, Client, Door};
use crate::lines::harmless;
use crate::settings::{Settings, SettingsError};

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "pyroscope",
    provides: "Pyroscope: the profile of the busiest part of the run.",
    example: "http://localhost:4040",
    settings: &[
        ("query", "profile selector: process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"shop\"}"),
        ("tenant", "tenant, for a multi-tenant Pyroscope"),
        ("user", "user name for the credential"),
    ],
    open,
};

/// Number of nodes of a flame graph requested; the server may have a lower limit.
const NODES: &str = "4096";
/// Timeout of each of the two queries.
const QUESTION_LIMIT: Duration = Duration::from_secs(4);
/// Minimum activity of a step in the busy time, as a share of the busiest step's.
const BUSY_SHARE: f64 = 0.8;
/// Maximum number of steps of a timeline: a day of ten seconds each.
const STEPS_MAX: usize = 8_640;
/// Maximum number of levels of a flame graph, and of frames per level.
const LEVELS_MAX: usize = 200;
const FRAMES_OF_LEVEL_MAX: usize = 4_096;
/// Maximum length of a profile type's name.
const NAME_CHARS_MAX: usize = 60;

struct Pyroscope {
    about: About,
    client: Client,
    query: String,
}

/// A response (`FlamebearerProfileV1`).
#[derive(Default, Deserialize)]
#[serde(default)]
struct Answer {
    flamebearer: Flamebearer,
    timeline: Option<Timeline>,
}

/// Levels of frames, each of four numbers: offset from the end of the previous one, total value, self value, and the index of its
/// name.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Flamebearer {
    names: Vec<String>,
    levels: Vec<Vec<f64>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Timeline {
    /// Seconds since 1970.
    start_time: i64,
    samples: Vec<f64>,
    /// Seconds between samples.
    duration_delta: i64,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let Door { base, authorization, .. } = http::door(settings)?;
    let query = settings.text("query", "");
    if !query.contains('{') {
        let why = "expected a profile selector, for example process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"shop\"}";
        return Err(settings.wrong("query", why));
    }
    let client = Client::patient(&base, authorization, QUESTION_LIMIT);
    let client = client.of_tenant(settings.values.get("tenant"));
    let about = About { name: settings.name.clone(), kind: KIND.name, address: base };
    Ok(Box::new(Pyroscope { about, client, query }))
}

impl Source for Pyroscope {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        vec![match self.render("now-1h", "now") {
            Ok(answer) => Check::works(
                "render",
                format!("{} functions in the last hour", answer.flamebearer.names.len()),
            ),
            Err(trouble) => {
                let remedy = "set address to the Pyroscope API, for example http://localhost:4040";
                Check::fails("render", trouble.message, remedy)
            }
        }]
    }

    fn period(&self) -> Option<Duration> {
        None
    }

    fn sample(&mut self, _now: Moment) -> Result<Evidence, SourceError> {
        Ok(Evidence::default())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let ms = |wall_ns: i64| wall_ns / 1_000_000;
        let (from, until) = (ms(period.from.wall_ns), ms(period.to.wall_ns));
        let whole = self.render(&from.to_string(), &until.to_string())?;
        let (from, until) = whole.timeline.as_ref().and_then(busy).unwrap_or((from, until));
        let answer = self.render(&from.to_string(), &until.to_string())?;
        let (flame, frames_not_read) = flame(&answer.flamebearer);
        if flame.total() <= 0.0 {
            return Ok(Evidence::default());
        }
        let mut fields: BTreeMap<String, Datum> = flame.lines();
        // The unit in the response is for display; the profile type has the real one.
        let unit = self.query.split(':').nth(2).unwrap_or_default();
        fields.insert("unit".to_owned(), harmless(unit, NAME_CHARS_MAX).into());
        fields.insert("profile_s".to_owned(), ((until - from) as f64 / 1e3).into());
        fields.insert("frames_not_read".to_owned(), (frames_not_read as f64).into());
        let query = format!("GET /pyroscope/render?query={}&from={from}&until={until}", self.query);
        fields.insert("query".to_owned(), query.into());
        let record = Record {
            source: self.about.name.clone(),
            kind: RecordKind::Profile,
            at: period.instant(from.saturating_mul(1_000_000)),
            subject: harmless(self.query.split('{').next().unwrap_or_default(), NAME_CHARS_MAX),
            fields,
        };
        Ok(Evidence { records: vec![record], ..Evidence::default() })
    }
}

impl Pyroscope {
    fn render(&self, from: &str, until: &str) -> Result<Answer, SourceError> {
        let parameters = [
            ("query", &*self.query),
            ("from", from),
            ("until", until),
            ("format", "json"),
            ("maxNodes", NODES),
        ];
        let text = self.client.text("/pyroscope/render", &parameters)?;
        serde_json::from_str(&text).map_err(|error| {
            SourceError::new(format!(
                "GET {}/pyroscope/render: unexpected response: {error}",
                self.client.base()
            ))
        })
    }
}

/// Returns the longest time in which activity was near that of the busiest step, milliseconds since 1970.
fn busy(timeline: &Timeline) -> Option<(i64, i64)> {
    let samples = &timeline.samples[..timeline.samples.len().min(STEPS_MAX)];
    let most = samples.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    if most <= 0.0 || timeline.duration_delta <= 0 {
        return None;
    }
    let mut longest = 0..0;
    let mut begun = 0;
    for (place, value) in samples.iter().enumerate() {
        if *value < BUSY_SHARE * most {
            begun = place + 1;
        } else if place + 1 - begun > longest.len() {
            longest = begun..place + 1;
        }
    }
    let ms = |place: usize| {
        let after_s = timeline.duration_delta.checked_mul(i64::try_from(place).ok()?)?;
        timeline.start_time.checked_add(after_s)?.checked_mul(1_000)
    };
    let (from, until) = ms(longest.start).zip(ms(longest.end))?;
    until.checked_sub(from).map(|_| (from, until))
}

/// A frame of a level: its bounds, and the names of its callers and its own.
struct Open {
    from: f64,
    to: f64,
    stack: Vec<usize>,
}

/// Returns the stacks of a flame graph with self values, and the number of frames not read.
fn flame(bearer: &Flamebearer) -> (Flame, usize) {
    let name = |place: usize| bearer.names.get(place).map_or("?", String::as_str);
    let mut flame = Flame::new();
    let of_level = |level: &Vec<f64>| level.len() / 4;
    let mut not_read: usize = bearer.levels.iter().skip(LEVELS_MAX).map(of_level).sum();
    // The first level is the root.
    let mut above = vec![Open { from: 0.0, to: f64::INFINITY, stack: Vec::new() }];
    for (depth, level) in bearer.levels.iter().take(LEVELS_MAX).enumerate() {
        let (mut at, mut caller) = (0.0, 0);
        let mut here = Vec::new();
        not_read += of_level(level).saturating_sub(FRAMES_OF_LEVEL_MAX);
        for frame in level.chunks_exact(4).take(FRAMES_OF_LEVEL_MAX) {
            let (from, to) = (at + frame[0], at + frame[0] + frame[1]);
            at = to;
            while caller + 1 < above.len() && above[caller].to <= from {
                caller += 1;
            }
            let Some(by) = above.get(caller).filter(|by| by.from <= from) else { continue };
            let mut stack = by.stack.clone();
            if depth > 0 {
                stack.push(frame[3] as usize);
            }
            flame.add(stack.iter().map(|place| name(*place)), frame[2]);
            here.push(Open { from, to, stack });
        }
        above = here;
    }
    (flame, not_read)
}

#[cfg(test)]
mod tests {
    use model::{Epoch, Instant};
    use proptest::prelude::*;

    use super::*;
    use crate::contract::promises;
    use crate::stage::Pages;

    /// `main` calls `serve` (30: 10 of its own, the rest in `query`) and `gc` (10); 5 are `main`'s own.
    const ANSWER: &str = r#"{"version":1,"flamebearer":{"names":["total","main","serve","gc","query"],
        "levels":[[0,45,0,0],[0,45,5,1],[0,30,10,2,0,10,10,3],[0,20,20,4]],"numTicks":45,"maxSelf":20},
        "metadata":{"format":"single","spyName":"","sampleRate":1000000000,"units":"samples","name":"cpu"},
        "timeline":{"startTime":1769486190,"samples":[1,9,10,8.5,2,9],"durationDelta":10,"watermarks":null},"groups":null}"#;

    fn source(address: &str, query: &str) -> Result<Box<dyn Source>, SettingsError> {
        crate::sources::open(&Settings {
            name: "profiles".to_owned(),
            kind: "pyroscope".to_owned(),
            address: address.to_owned(),
            credential: Some("t0psecret".to_owned()),
            values: BTreeMap::from([("query".to_owned(), query.to_owned())]),
        })
    }

    const QUERY: &str = "process_cpu:cpu:nanoseconds:cpu:nanoseconds{service_name=\"shop\"}";

    #[test]
    fn promises_are_kept_with_the_published_api() {
        let pages = Pages::start(|_| (200, ANSWER.to_owned()));
        let mut source = source(&pages.url(""), QUERY).expect("settings that are right");
        promises::of_a_source(source.as_mut(), Some("t0psecret"));
    }

    #[test]
    fn promises_are_kept_without_a_server() {
        promises::of_an_absent_server(source("http://127.0.0.1:9", QUERY).expect("right").as_mut());
        assert!(source("http://h", "process_cpu").is_err());
    }

    #[test]
    fn the_busy_part_is_asked_for_and_its_stacks_are_told() {
        let pages = Pages::start(|path| match path.contains("from=1769486200000&until=1769486230000") {
            true => (200, ANSWER.to_owned()),
            false => (200, ANSWER.replace("[0,20,20,4]", "[0,20,1,4]")),
        });
        let mut source = source(&pages.url(""), QUERY).expect("settings that are right");
        let epoch = Epoch { at: Instant::from_ns(5_000_000_000), wall_unix_ns: 1_769_486_190_000_000_000 };
        let moment = |after_s: u64| Moment::new(Instant::from_ns((5 + after_s) * 1_000_000_000), &epoch);
        let evidence = source.look_back(&Period { from: moment(0), to: moment(60) }).expect("it is there");
        let [profile] = &evidence.records[..] else { panic!("one profile: {evidence:?}") };
        assert_eq!(profile.at, Instant::from_ns(15_000_000_000), "ten seconds after the run began");
        assert_eq!(profile.fields["profile_s"], Datum::from(30.0));
        let frames = "0 45 main\n1 30 serve\n2 20 query\n1 10 gc\n";
        assert_eq!(profile.fields["frames"], Datum::from(frames));
    }

    #[test]
    fn a_flame_graph_that_is_none_harms_nobody() {
        for levels in
            ["[]", "[[1,2,3]]", "[[0,1e308,1e308,9e9],[5,-3,2,1,0,0,0,0]]", "[[-5,10,10,0],[0,10,10,0]]"]
        {
            let text = format!(r#"{{"flamebearer":{{"names":["a"],"levels":{levels}}}}}"#);
            let answer: Answer = serde_json::from_str(&text).expect("an answer");
            assert!(flame(&answer.flamebearer).0.total().is_finite(), "{levels}");
        }
        let timeline = |samples: &[f64]| Timeline { samples: samples.to_vec(), ..Timeline::default() };
        assert_eq!(busy(&timeline(&[1.0])), None);
        let huge = Timeline { duration_delta: i64::MAX, ..timeline(&[0.0, 1.0]) };
        assert_eq!(busy(&huge), None);
    }

    #[test]
    fn frames_beyond_the_limits_are_counted() {
        let mut level = [0.0, 1.0, 0.0, 0.0].repeat(FRAMES_OF_LEVEL_MAX + 2);
        level.push(0.0);
        let bearer = Flamebearer { names: vec!["a".to_owned()], levels: vec![level; LEVELS_MAX + 1] };
        assert_eq!(flame(&bearer).1, LEVELS_MAX * 2 + FRAMES_OF_LEVEL_MAX + 2);
    }

    /// Valid and hostile numbers in all forms.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![4 => (-5..60_i32).prop_map(f64::from), 1 => any::<f64>()]
    }

    proptest! {
        #[test]
        fn an_answer_is_refused_or_bounded(
            text in ".{0,200}",
            names in prop::collection::vec(".{0,100}", 0..5),
            levels in prop::collection::vec(prop::collection::vec(number(), 0..40), 0..8),
            samples in prop::collection::vec(number(), 0..20),
            start: i64,
            delta: i64,
        ) {
            let looks_like_json = text.trim_start().starts_with(['{', '[']);
            prop_assert!(looks_like_json || serde_json::from_str::<Answer>(&text).is_err());
            let json = serde_json::json!({
                "flamebearer": {"names": names, "levels": levels},
                "timeline": {"startTime": start, "samples": samples, "durationDelta": delta},
            });
            // A non-finite number is written as null, and refused.
            let Ok(answer) = serde_json::from_str::<Answer>(&json.to_string()) else { return Ok(()) };
            flame(&answer.flamebearer).0.assert_bounded();
            if let Some((from, until)) = answer.timeline.as_ref().and_then(busy) {
                prop_assert!(until - from > 0);
            }
        }
    }
}
