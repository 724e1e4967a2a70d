//! `plimsoll demo`: a shop whose capacity is known, and a test that finds it.

use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use model::SystemClock;
use model::plan::Compat;
use report::summary::Layout;
use testkit::{Shop, ShopConfig};

use crate::common::Common;
use crate::evidence::Wanted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::DemoFlags;
use crate::page::PageSettings;
use crate::receiving::ReceiveSettings;
use crate::session::{self, SessionSettings};
use crate::signals::{self, Running, Turn};
use crate::source::Source;
use crate::stored::CiOutputs;
use crate::summary::SummarySettings;
use crate::test::Test;

/// The script, so that the demo needs no file.
const SCRIPT: &str = include_str!("../../../../examples/shop.js");

/// Over how long the shop's own rate is taken: short enough to lie within the plateau, long enough to be a rate.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// Runs the verb. Crossed thresholds are what the demo shows, so they do not make it fail.
///
/// # Errors
/// The shop cannot open, or the test cannot begin.
pub(crate) fn run(flags: &DemoFlags, common: &Common) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), common.logger.clone());
    let shop = Shop::start(ShopConfig::default())
        .map_err(|error| Failure::new(Exit::Other, format!("failed to open the shop: {error}")))?;
    let url = shop.url("");
    let env = [("SHOP".to_owned(), url.trim_end_matches('/').to_owned())].into();
    let source = Source::of_text("examples/shop.js", "/examples/shop.js", SCRIPT);
    let test = Test::prepare(source, common, env, &Default::default(), Compat::Honest, false)?;
    let settings = SessionSettings {
        workers: flags.workers.and_then(NonZeroU16::new),
        outputs: Vec::new(),
        summary: SummarySettings { layout: Some(Layout::Compact), ..SummarySettings::default() },
        receive: ReceiveSettings::default(),
        record: super::run::record(&flags.record, common)?,
        evidence: Wanted::default(),
        reports: CiOutputs::new(&flags.record.report, common)?,
        requires_valid: false,
        page: PageSettings::default(),
        live: None,
        control: turn.first(),
        running,
        observer: None,
    };
    let busiest = std::thread::scope(|scope| {
        let (over, is_over) = channel();
        let watcher = scope.spawn(|| watch(&shop, is_over));
        let finished = session::run(&test, common, settings);
        // The watcher ends when the channel does.
        drop(over);
        finished.map(|finished| (finished, watcher.join().unwrap_or_default()))
    });
    let (finished, queries_per_second) = busiest?;
    if finished.outcome.aborted.is_none() && finished.outcome.setup_error.is_none() {
        crate::print(&format!("{}\n", closing_words(&shop, queries_per_second)));
    }
    Ok(if finished.exit == Exit::ThresholdsFailed { Exit::Ok } else { finished.exit })
}

/// The most queries per second that the shop completed over one [`WATCH_INTERVAL`].
fn watch(shop: &Shop, is_over: Receiver<()>) -> f64 {
    let (mut before, mut completed) = (SystemClock::now(), shop.pool().completed);
    let mut busiest: f64 = 0.0;
    while is_over.recv_timeout(WATCH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let (now, now_completed) = (SystemClock::now(), shop.pool().completed);
        let per_second = (now_completed - completed) as f64 / now.since(before).as_secs_f64();
        busiest = busiest.max(per_second);
        (before, completed) = (now, now_completed);
    }
    busiest
}

fn closing_words(shop: &Shop, queries_per_second: f64) -> String {
    let config = ShopConfig::default();
    let capacity = shop.capacity_per_second();
    format!(
        "The shop's {} slots, each held for {} ms, can complete {capacity:.0} queries/s; at its busiest the test drew \
         {queries_per_second:.0} queries/s from it ({:.0}% of its capacity), and the rest of the visitors waited.",
        config.slots,
        config.hold.as_millis(),
        queries_per_second / capacity * 100.0,
    )
}
