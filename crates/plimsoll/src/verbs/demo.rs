//! `plimsoll demo`: a shop whose bottleneck is planted; a test that finds it, a remedy, and the same test once more.

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
use testkit::{Shop, ShopConfig};

use super::diagnose;
use crate::common::Common;
use crate::evidence::Wanted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::DemoFlags;
use crate::page::PageSettings;
use crate::receiving::ReceiveSettings;
use crate::session::{self, Finished, SessionSettings};
use crate::signals::{self, Running, Turn};
use crate::source::Source;
use crate::stored::{self, CiOutputs, Part};
use crate::summary::SummarySettings;
use crate::test::Test;

/// The script, so that the demo needs no file.
const SCRIPT: &str = include_str!("../../../../examples/shop.js");

/// When the script keeps its 30 visitors, and when its 120: seconds of the run without the ways up and down.
const QUIET: Part = Part::of_seconds(4, 10);
const BUSY: Part = Part::of_seconds(16, 25);

/// How many times as many slots the shop has after the remedy.
const REMEDY: usize = 2;

/// Over how long the shop's own rate is taken: short enough to lie within the plateau, long enough to be a rate.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);

/// What the shop tells of its pool is asked for so often.
const SCRAPE_STEP: &str = "250ms";

/// Runs the verb. Crossed thresholds are what the demo shows, so they do not make it fail.
///
/// # Errors
/// The shop cannot open, the test cannot begin, or what was stored of it cannot be read.
pub(crate) fn run(flags: &DemoFlags, common: &Common) -> Result<Exit, Failure> {
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), common.logger.clone());
    let demo = Demo { flags, common, running: &running };
    let planted = ShopConfig::default();
    let before = demo.visit(&planted, turn.first())?;
    if !before.is_whole() {
        return Ok(before.exit());
    }
    crate::print(&format!("{}\n", closing_words(&planted, before.busiest_per_s)));
    let Some((found, told)) = before.diagnose(common)? else { return Ok(before.exit()) };
    crate::print("\n");
    diagnose::print(&told, false, common);
    let remedied = ShopConfig { slots: planted.slots * REMEDY, ..planted };
    crate::print(&format!(
        "\nThe remedy is tried: {} slots instead of {}, and the same visitors come again.\n\n",
        remedied.slots, planted.slots
    ));
    let after = demo.visit(&remedied, turn.next())?;
    turn.end();
    if after.is_whole()
        && let Some((then, document)) = after.diagnose(common)?
    {
        crate::print(&format!("\n{}\n", verdict(&found, &then, &document.headline)));
    }
    Ok(after.exit())
}

/// What both visits have in common.
struct Demo<'a> {
    flags: &'a DemoFlags,
    common: &'a Common,
    running: &'a Running,
}

/// A visit that is over.
struct Visit {
    finished: Finished,
    /// The most queries per second that the shop completed over one [`WATCH_INTERVAL`].
    busiest_per_s: f64,
}

impl Demo<'_> {
    /// Opens a shop, and has the script visit it.
    fn visit(&self, config: &ShopConfig, control: RunControl) -> Result<Visit, Failure> {
        let (flags, common) = (self.flags, self.common);
        let shop = Shop::start(*config)
            .map_err(|error| Failure::new(Exit::Other, format!("failed to open the shop: {error}")))?;
        let url = shop.url("");
        let env = [("SHOP".to_owned(), url.trim_end_matches('/').to_owned())].into();
        let source = Source::of_text("examples/shop.js", "/examples/shop.js", SCRIPT);
        let test = Test::prepare(source, common, env, &Default::default(), Compat::Honest, false)?;
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
            record: super::run::record(&flags.record, common)?,
            evidence: Wanted::these(&[scrape])?,
            reports: CiOutputs::new(&flags.record.report, common)?,
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
            let finished = session::run(&test, common, settings);
            // The watcher ends when the channel does.
            drop(over);
            finished.map(|finished| Visit { finished, busiest_per_s: watcher.join().unwrap_or_default() })
        })
    }
}

impl Visit {
    /// Whether the script did all that it was to do.
    fn is_whole(&self) -> bool {
        self.finished.outcome.aborted.is_none() && self.finished.outcome.setup_error.is_none()
    }

    fn exit(&self) -> Exit {
        match self.finished.exit {
            Exit::ThresholdsFailed => Exit::Ok,
            exit => exit,
        }
    }

    /// What limits the shop, of a few visitors against many; nothing if the run was not stored.
    fn diagnose(&self, common: &Common) -> Result<Option<(Diagnosis, DiagnosisReport)>, Failure> {
        let Some(id) = &self.finished.id else { return Ok(None) };
        let path = common.catalogue()?.find(&id.to_string()).map_err(|error| stored::failed(&error))?;
        let reader = stored::open(&path)?;
        let looked = |part: Part| Ok((&reader, Some(part.range(&reader)?)));
        diagnose::of(vec![looked(QUIET)?, looked(BUSY)?], Lang::En).map(Some)
    }
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

/// What was predicted, what came, and whether that is the same.
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
