//! The cost of one sample on the hot path, in nanoseconds: `cargo bench -p tally --bench record`.

use std::hint::black_box;
use std::sync::Arc;

use histo::{FixedSum, Histogram, Values};
use model::metric::builtin::{
    DATA_RECEIVED, HTTP_REQ_BLOCKED, HTTP_REQ_CONNECTING, HTTP_REQ_DURATION, HTTP_REQ_FAILED,
    HTTP_REQ_RECEIVING, HTTP_REQ_SENDING, HTTP_REQ_TLS_HANDSHAKING, HTTP_REQ_WAITING, HTTP_REQS,
};
use model::{Instant, Mark, MetricRegistry, SystemClock, TagInterner, TagSet, TagSetId};
use tally::{Merger, Recorder, Thresholds, Totals};

const ROUNDS: usize = 9;
const SAMPLES: usize = 400_000;

fn main() {
    let values = latencies();
    bench("Histogram::record", 1, {
        let mut histogram = Histogram::default();
        let values = values.clone();
        move |i| histogram.record(values[i % values.len()])
    });
    bench("FixedSum::add", 1, {
        let mut sum = FixedSum::default();
        let values = values.clone();
        move |i| sum.add(values[i % values.len()])
    });
    bench("Values::record, inexact", 1, {
        let mut inexact = Values::inexact();
        let values = values.clone();
        move |i| inexact.record(values[i % values.len()])
    });
    bench("Recorder::record, one series", 1, {
        let mut recorder = Recorder::new(Default::default());
        let values = values.clone();
        move |i| {
            let value = values[i % values.len()];
            recorder.record(HTTP_REQ_DURATION, TagSetId(5), value, Mark::Measured, Instant::ZERO);
        }
    });
    for tag_sets in [1, 50, 5000] {
        bench(&format!("Recorder::record_many, 10 metrics, {tag_sets} tag sets"), 10, {
            let mut recorder = Recorder::new(Default::default());
            let values = values.clone();
            move |i| {
                // Steps through the tag sets in no order that a prefetcher could learn.
                let tags = TagSetId((i * 7919 % tag_sets) as u32);
                recorder.record_many(tags, &request(values[i % values.len()]), Instant::ZERO);
            }
        });
    }
    bench_window();
}

/// Measures the coordinator's cost per series and second: merged from two threads, and absorbed into the totals.
fn bench_window() {
    let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
    let mut threads = [Recorder::new(registry.clone()), Recorder::new(registry.clone())];
    let mut totals = Totals::new(registry, tags.clone(), Thresholds::default());
    let mut merger = Merger::default();
    let ids: Vec<_> = (0..500)
        .map(|i| {
            tags.intern(TagSet::new([("scenario".into(), "s".into()), ("name".into(), i.to_string().into())]))
        })
        .collect();
    let values = latencies();
    let mut rounds: Vec<f64> = (0..60)
        .map(|second| {
            for (i, value) in values.iter().enumerate() {
                threads[i % 2].record_many(ids[i % ids.len()], &request(*value), Instant::ZERO);
            }
            let start = SystemClock::now();
            threads.iter_mut().for_each(|thread| merger.add(thread.take_window()));
            let window = merger.take(second, Instant::ZERO, Instant::ZERO);
            totals.absorb(&window);
            SystemClock::now().since(start).as_nanos() as f64 / window.series.len() as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{:<55} {:6.1} ns", "merge and absorb, per series and second", rounds[rounds.len() / 2]);
}

/// A request's ten samples.
fn request(duration: f64) -> [(model::MetricId, f64); 10] {
    [
        (HTTP_REQS, 1.0),
        (HTTP_REQ_DURATION, duration),
        (HTTP_REQ_BLOCKED, 0.001),
        (HTTP_REQ_CONNECTING, 0.0),
        (HTTP_REQ_TLS_HANDSHAKING, 0.0),
        (HTTP_REQ_SENDING, 0.01),
        (HTTP_REQ_WAITING, duration * 0.9),
        (HTTP_REQ_RECEIVING, duration * 0.1),
        (HTTP_REQ_FAILED, 0.0),
        (DATA_RECEIVED, 1234.0),
    ]
}

/// Milliseconds over about four octaves, from a fixed pseudo-random sequence.
fn latencies() -> Vec<f64> {
    let mut state = 1u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        0.3 + ((state >> 11) as f64 / (1u64 << 53) as f64).powi(3) * 5.0
    };
    std::iter::repeat_with(next).take(8192).collect()
}

/// Prints the median over the rounds of the time per sample.
fn bench(name: &str, samples_per_call: usize, mut call: impl FnMut(usize)) {
    let calls = SAMPLES / samples_per_call;
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = SystemClock::now();
            (0..calls).for_each(|i| call(black_box(i)));
            SystemClock::now().since(start).as_nanos() as f64 / (calls * samples_per_call) as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    println!("{name:<55} {:6.1} ns", rounds[ROUNDS / 2]);
}
