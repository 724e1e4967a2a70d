//! `plimsoll demo`: a shop with a known bottleneck, a test that finds it, a remedy, and the same test again.

use std::num::NonZeroU16;
use std::sync::mpsc::channel;
use std::time::Duration;

use api::diagnosis::DiagnosisReport;
use engine::RunControl;
use evidence::Settings;
use model::Diagnosis;
use model::plan::Compat;
use report::Lang;
use report::demo::{Answer, Tested, TestedTime, requests_per_s};
use report::summary::Layout;
use runs::{Exit, Failure};
use session::Context;
use session::evidence::Sources;
use session::page::PageSettings;
use session::receiving::ReceiveSettings;
use session::reports::CiOutputs;
use session::signals::{self, Running, Turn};
use session::source::Source;
use session::summary::SummarySettings;
use session::terminal::print;
use session::test::Test;
use session::{self, Finished, SessionSettings};
use testkit::{Shop, ShopConfig};

use super::capacity::style;
use super::{diagnose, find};
use crate::flags::{DemoFlags, EvidenceFlags, FindFlags, ScriptFlags};

/// The script, embedded so that the demo needs no file.
const SCRIPT: &str = include_str!("../../../../examples/shop.js");

/// Its name in stored runs.
const SCRIPT_NAME: &str = "examples/shop.js";

/// The metric with the threshold that the bottleneck violates.
const TIME_METRIC: &str = "checkout_time";

/// The search for the safe load of the shop after the change: SLOs, the first load and the time budget.
const SLOS: [&str; 2] = ["checkout_time: p(95)<100", "http_req_failed: rate<0.01"];
const SEARCH_FROM_VUS: f64 = 30.0;
const SEARCH_BUDGET: &str = "3m";

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
    let planted = ShopConfig::default();
    let remedied = ShopConfig { slots: planted.slots * REMEDY, ..planted };
    if flags.safe_load {
        return find_safe_load(&remedied, flags, context);
    }
    let (turn, running) = (Turn::default(), Running::default());
    signals::listen(turn.clone(), running.clone(), context.logger.clone());
    let (lang, style) = (flags.lang.lang(), style(context));
    let demo = Demo { flags, context, running: &running };
    let hold_ms = planted.hold.as_secs_f64() * 1e3;
    let opening = report::demo::opening(planted.slots, hold_ms, planted.capacity_per_second(), lang, style);
    print(&format!("\n{opening}"));
    let before = demo.visit(&planted, turn.first())?;
    let tested = before.tested(&planted);
    let Some((found, document)) = before.diagnose(lang, context)? else {
        print(&report::demo::tested(&tested, lang, style));
        return Ok(before.exit());
    };
    if flags.full {
        let use_of_shop = report::demo::use_of_shop(
            planted.slots,
            hold_ms,
            planted.capacity_per_second(),
            before.busiest_per_s,
        );
        print(&format!("{use_of_shop}\n\n"));
        diagnose::print(&document, false, context);
    }
    print(&report::demo::found(&tested, &document, lang, style));
    print(&format!("\n{}", report::demo::change(planted.slots, remedied.slots, lang, style)));
    let after = demo.visit(&remedied, turn.next())?;
    turn.end();
    if !after.is_whole() {
        return Ok(after.exit());
    }
    let tested_again = after.tested(&remedied);
    print(&report::demo::tested(&tested_again, lang, style));
    let prediction = found.findings.first().and_then(|finding| finding.prediction.as_ref()?.then.as_ref());
    let answer = Answer {
        before: &tested,
        headline: &document.headline,
        predicted: prediction.map(|then| (then.value, then.interval)),
        after: &tested_again,
        runs_words: &context.runs_words(),
    };
    print(&format!("\n{}", report::demo::answer(&answer, lang, style)));
    Ok(after.exit())
}

/// Searches for the maximum load of a shop, as `plimsoll find` does for a script of the user's.
fn find_safe_load(config: &ShopConfig, flags: &DemoFlags, context: &Context) -> Result<Exit, Failure> {
    let shop = open(config)?;
    let script = ScriptFlags {
        script: SCRIPT_NAME.into(),
        env: vec![format!("SHOP={}", shop.url("").trim_end_matches('/'))],
        built_in: Some(SCRIPT),
        ..ScriptFlags::default()
    };
    let evidence = EvidenceFlags {
        evidence: vec![format!("shop:scrape={}", shop.url("/metrics"))],
        ..EvidenceFlags::default()
    };
    let search = FindFlags {
        script,
        slo: SLOS.map(str::to_owned).to_vec(),
        from: Some(SEARCH_FROM_VUS),
        budget: SEARCH_BUDGET.to_owned(),
        evidence,
        ..FindFlags::default()
    };
    find::found(&search, flags.lang.lang(), context)
}

fn open(config: &ShopConfig) -> Result<Shop, Failure> {
    Shop::start_plain(*config)
        .map_err(|error| Failure::new(Exit::Other, format!("failed to open the shop: {error}")))
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
        let shop = open(config)?;
        let url = shop.url("");
        let env = [("SHOP".to_owned(), url.trim_end_matches('/').to_owned())].into();
        let source = Source::of_text(SCRIPT_NAME, "/examples/shop.js", SCRIPT);
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
            summary: SummarySettings {
                layout: flags.full.then_some(Layout::Compact),
                ..SummarySettings::default()
            },
            receive: ReceiveSettings::default(),
            record: super::run::record(&flags.record, context)?,
            evidence: Sources::open(&[scrape])?,
            reports: CiOutputs::new(&flags.record.report, context)?,
            requires_valid: false,
            page: PageSettings::default(),
            live: None,
            agents: None,
            control,
            running: self.running.clone(),
            observer: None,
            hides_banner: !flags.full,
        };
        std::thread::scope(|scope| {
            let (over, is_over) = channel();
            let shop = &shop;
            let watcher = scope.spawn(move || shop.busiest_per_s(WATCH_INTERVAL, is_over));
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

    /// Returns what is shown of the visit.
    fn tested(&self, config: &ShopConfig) -> Tested {
        let outcome = &self.finished.outcome;
        let view = outcome.totals.view(outcome.elapsed);
        Tested {
            connections: config.slots,
            time: TestedTime::of(&view, TIME_METRIC),
            per_s: requests_per_s(&view, outcome.elapsed),
            validity: self.finished.validity.clone(),
            run: self.finished.id.as_ref().map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// Diagnoses the shop as `plimsoll diagnose` does, so that both show the same numbers; `None` if the run was not stored, or ended
    /// early.
    fn diagnose(
        &self,
        lang: Lang,
        context: &Context,
    ) -> Result<Option<(Diagnosis, DiagnosisReport)>, Failure> {
        let Some(id) = self.finished.id.as_ref().filter(|_| self.is_whole()) else { return Ok(None) };
        let path = context.catalogue()?.find(&id.to_string()).map_err(|error| runs::failed(&error))?;
        let reader = runs::open(&path)?;
        runs::diagnosis::of_runs(vec![(&reader, None)], |_| (), lang).map(Some)
    }
}
