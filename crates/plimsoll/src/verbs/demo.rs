//! `plimsoll demo`: a shop with a known bottleneck, a test that finds it, a remedy, and the same test again.

use std::num::NonZeroU16;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use api::diagnosis::DiagnosisReport;
use engine::RunControl;
use evidence::Settings;
use model::diagnosis::Outcome;
use model::plan::Compat;
use model::{Diagnosis, FigureValue, SystemClock, Unit};
use report::Lang;
use report::summary::Layout;
use runs::{Exit, Failure, WindowRange};
use session::Context;
use session::evidence::Sources;
use session::page::PageSettings;
use session::receiving::ReceiveSettings;
use session::reports::CiOutputs;
use session::signals::{self, Running, Turn};
use session::source::Source;
use session::summary::SummarySettings;
use session::test::Test;
use session::{self, Finished, SessionSettings};
use testkit::{Shop, ShopConfig};

use super::diagnose;
use crate::flags::DemoFlags;

/// The script, embedded so that the demo needs no file.
const SCRIPT: &str = include_str!("../../../../examples/shop.js");

/// Seconds of the run with 30 and with 120 visitors, without the ramps.
const QUIET: WindowRange = WindowRange::from_seconds(4, 10);
const BUSY: WindowRange = WindowRange::from_seconds(16, 25);

/// Factor on the number of slots for the remedy.
const REMEDY: usize = 2;

/// Interval over which the shop's own rate is measured: short enough to lie within the plateau, long enough to be a rate.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// Interval at which the shop's pool metrics are scraped.
const SCRAPE_STEP: &str = "250ms";

/// Runs the demo. Crossed thresholds are part of it, so they do not make it fail.
///
/// # Errors
/// The shop cannot start, the test cannot begin, or its run cannot be read.
pub(crate) fn run(flags: &DemoFlags, context: &Context) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), context.logger.clone());
    let demo = Demo { flags, context, running: &running };
    let planted = ShopConfig::default();
    let before = demo.visit(&planted, turn.first())?;
    if !before.is_whole() {
        return Ok(before.exit());
    }
    session::terminal::print(&format!("{}\n", closing_words(&planted, before.busiest_per_s)));
    let Some((found, diagnosis)) = before.diagnose(context)? else { return Ok(before.exit()) };
    session::terminal::print("\n");
    diagnose::print(&diagnosis, false, context);
    let remedied = ShopConfig { slots: planted.slots * REMEDY, ..planted };
    session::terminal::print(&format!(
        "\nThe remedy is tried: {} slots instead of {}, and the same visitors come again.\n\n",
        remedied.slots, planted.slots
    ));
    let after = demo.visit(&remedied, turn.next())?;
    turn.end();
    if after.is_whole()
        && let Some((then, document)) = after.diagnose(context)?
    {
        session::terminal::print(&format!("\n{}\n", verdict(&found, &then, &document.headline)));
    }
    Ok(after.exit())
}

/// Settings that both visits share.
struct Demo<'a> {
    flags: &'a DemoFlags,
    context: &'a Context,
    running: &'a Running,
}

/// A completed visit.
struct Visit {
    finished: Finished,
    /// Maximum number of queries per second that the shop completed over one [`WATCH_INTERVAL`].
    busiest_per_s: f64,
}

impl Demo<'_> {
    /// Starts a shop, and runs the script against it.
    fn visit(&self, config: &ShopConfig, control: RunControl) -> Result<Visit, Failure> {
        let (flags, context) = (self.flags, self.context);
        let shop = Shop::start(*config)
            .map_err(|error| Failure::new(Exit::Other, format!("failed to open the shop: {error}")))?;
        let url = shop.url("");
        let env = [("SHOP".to_owned(), url.trim_end_matches('/').to_owned())].into();
        let source = Source::of_text("examples/shop.js", "/examples/shop.js", SCRIPT);
        let test = Test::prepare(source, context, env, &Default::default(), Compat::Honest, false)?;
        let scrape = Settings {
            name: "shop".to_owned(),
            kind: "scrape".to_owned(),
            address: shop.url("/metrics"),
            values: [("step".to_owned(), SCRAPE_STEP.to_owned())].into(),
            ..Settings::default()
        };
        let settings = SessionSettings {
            workers: flags.workers.and_then(NonZeroU16::new),
            outputs: Vec::new(),
            summary: SummarySettings { layout: Some(Layout::Compact), ..SummarySettings::default() },
            receive: ReceiveSettings::default(),
            record: super::run::record(&flags.record, context)?,
            evidence: Sources::open(&[scrape])?,
            reports: CiOutputs::new(&flags.record.report, context)?,
            requires_valid: false,
            page: PageSettings::default(),
            live: None,
            control,
            running: self.running.clone(),
            observer: None,
        };
        std::thread::scope(|scope| {
            let (over, is_over) = channel();
            let watcher = scope.spawn(|| watch(&shop, is_over));
            let finished = session::run(&test, context, settings);
            // The watcher ends when the channel closes.
            drop(over);
            finished.map(|finished| Visit { finished, busiest_per_s: watcher.join().unwrap_or_default() })
        })
    }
}

impl Visit {
    /// Returns true if the script ran completely.
    fn is_whole(&self) -> bool {
        self.finished.outcome.aborted.is_none() && self.finished.outcome.setup_error.is_none()
    }

    fn exit(&self) -> Exit {
        match self.finished.exit {
            Exit::ThresholdsFailed => Exit::Ok,
            exit => exit,
        }
    }

    /// Diagnoses the shop by comparing a few visitors with many; `None` if the run was not stored.
    fn diagnose(&self, context: &Context) -> Result<Option<(Diagnosis, DiagnosisReport)>, Failure> {
        let Some(id) = &self.finished.id else { return Ok(None) };
        let path = context.catalogue()?.find(&id.to_string()).map_err(|error| runs::failed(&error))?;
        let reader = runs::open(&path)?;
        let looked = |part: WindowRange| Ok((&reader, Some(part.range(&reader)?)));
        diagnose::diagnose_runs(vec![looked(QUIET)?, looked(BUSY)?], Lang::En).map(Some)
    }
}

/// Returns the maximum number of queries per second that the shop completed over one [`WATCH_INTERVAL`].
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

fn closing_words(config: &ShopConfig, queries_per_second: f64) -> String {
    let capacity = config.capacity_per_second();
    format!(
        "The shop's {} slots, each held for {} ms, can complete {capacity:.0} queries/s; at its busiest the test drew \
         {queries_per_second:.0} queries/s from it ({:.0}% of its capacity), and the rest of the visitors waited.",
        config.slots,
        config.hold.as_millis(),
        queries_per_second / capacity * 100.0,
    )
}

/// Compares the prediction with the result.
fn verdict(before: &Diagnosis, after: &Diagnosis, headline: &str) -> String {
    let predicted = before.findings.first().and_then(|finding| finding.prediction.as_ref()?.then.as_ref());
    let Some(busy) = after.runs.last() else { return String::new() };
    let Some((predicted, (least, most))) = predicted.and_then(|then| Some((then, then.interval?))) else {
        return format!("nothing was predicted; now: {headline}");
    };
    let shown = |value: f64| FigureValue::Number { value, unit: Unit::PerSecond }.to_string();
    let now = match &after.outcome {
        Outcome::CannotTell { .. } => format!("The shop's bottleneck is now inconclusive: {headline}"),
        _ => format!("The shop's bottleneck now: {headline}"),
    };
    let held = if (least..=most).contains(&busy.throughput_per_s) { "it held" } else { "it did not hold" };
    format!(
        "Predicted for the busy part: {} requests, between {} and {}. Measured after the remedy: {}: {held}.\n{now}",
        shown(predicted.value),
        shown(least),
        shown(most),
        shown(busy.throughput_per_s),
    )
}
