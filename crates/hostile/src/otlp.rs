//! A request of OTLP: the first byte chooses protobuf or JSON.

use model::{Epoch, Instant, SystemClock};
use otlp::{Decoder, Keeper, Pace, Red};

use crate::choice_and_rest;

/// Whatever came, spans have numbers and texts within their limits, and all of them are counted as something.
pub fn check(bytes: &[u8]) {
    let (choice, request) = choice_and_rest(bytes);
    let mut decoder = Decoder::new(Epoch::anchor(&SystemClock));
    let read = match choice % 2 {
        0 => decoder.protobuf(request),
        _ => decoder.json(request),
    };
    let Ok(decoded) = read else { return };
    let pace = Pace { began: Instant::ZERO, expected: Default::default(), quiet: Default::default() };
    let (mut keeper, mut red) = (Keeper::new(pace), Red::default());
    let (now, count) = (SystemClock::now(), decoded.spans.len());
    for (id, span) in decoded.spans {
        assert!(id != 0 && span.id != 0 && span.parent != Some(0));
        assert!(span.service.len() <= 256 && span.operation.len() <= 256);
        assert!(span.attributes.iter().all(|(name, value)| name.len() <= 256 && value.len() <= 4096));
        red.add(now, &span);
        keeper.add(now, id, span);
    }
    keeper.finish(now);
    let kept: usize = keeper.take().iter().map(|trace| trace.spans.len()).sum();
    assert!(kept <= count, "{kept} of {count}");
    let loaded: u64 = red.finish().iter().map(|load| load.durations.count()).sum();
    assert!(loaded <= count as u64, "{loaded} of {count}");
}
