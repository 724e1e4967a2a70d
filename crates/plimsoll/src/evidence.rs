//! What servers did meanwhile: the sources that were named, asked beside a run.

mod of_lab;
mod settings;

use std::path::Path;
use std::time::Duration;

use evidence::{Collector, Settings, Source, sources};
use model::{Evidence, Instant, LogLevel, SystemClock};

use crate::common::Common;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flags::EvidenceFlags;

pub(crate) use settings::named;

/// How long the last answers are waited for, after the load: evidence that does not come by then is a gap.
const PATIENCE: Duration = Duration::from_secs(15);

/// The sources that a run asks, before it has begun.
#[derive(Default)]
pub(crate) struct Wanted {
    sources: Vec<Box<dyn Source>>,
    /// Their credentials, which no file may hold.
    pub(crate) credentials: Vec<String>,
}

impl Wanted {
    /// Those that the flags and `plimsoll.toml` name, and those of the lab whose script this is. Nobody is asked yet.
    ///
    /// # Errors
    /// A source cannot be understood.
    pub(crate) fn of(flags: &EvidenceFlags, script: &Path, common: &Common) -> Result<Wanted, Failure> {
        let mut settings = named(flags, common)?;
        let is_new = |source: &Settings| !settings.iter().any(|known| known.name == source.name);
        let of_lab: Vec<Settings> = of_lab::sources(script).into_iter().filter(is_new).collect();
        settings.extend(of_lab);
        let credentials = settings.iter().filter_map(|settings| settings.credential.clone()).collect();
        Ok(Wanted { sources: open(&settings)?, credentials })
    }

    /// These, and no others.
    ///
    /// # Errors
    /// A source cannot be made.
    pub(crate) fn these(settings: &[Settings]) -> Result<Wanted, Failure> {
        Ok(Wanted { sources: open(settings)?, credentials: Vec::new() })
    }

    /// Starts to ask. Without threads for it the load goes on alone, and that is told.
    pub(crate) fn start(self, common: &Common) -> Option<Gathering> {
        if self.sources.is_empty() {
            return None;
        }
        let begun = SystemClock::now();
        match Collector::start(self.sources, common.epoch) {
            Ok(collector) => Some(Gathering { collector, begun, told: Vec::new() }),
            Err(error) => {
                let text = format!("failed to start asking for evidence: {error}; the test goes on without");
                common.logger.say(LogLevel::Warn, text);
                None
            }
        }
    }
}

/// Makes the sources of these settings.
///
/// # Errors
/// One of them cannot be made.
pub(crate) fn open(settings: &[Settings]) -> Result<Vec<Box<dyn Source>>, Failure> {
    let open = |settings: &Settings| {
        sources::open(settings)
            .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))
    };
    settings.iter().map(open).collect()
}

/// Sources that are being asked.
pub(crate) struct Gathering {
    collector: Collector,
    begun: Instant,
    /// Sources whose trouble was told already.
    told: Vec<String>,
}

impl Gathering {
    /// What was told since the last time. A source that fails for the first time is told on the terminal.
    pub(crate) fn take(&mut self, common: &Common) -> Evidence {
        for state in self.collector.states() {
            let Some(trouble) = state.trouble else { continue };
            if !self.told.contains(&state.about.name) {
                let text =
                    format!("no evidence from {} for now: {trouble}; the test goes on", state.about.name);
                common.logger.say(LogLevel::Warn, text);
                self.told.push(state.about.name);
            }
        }
        self.collector.take()
    }

    /// Asks about the whole run, from the first second to now.
    pub(crate) fn finish(self, common: &Common) -> Evidence {
        let names: Vec<String> = self.collector.states().into_iter().map(|state| state.about.name).collect();
        if !common.is_quiet {
            common.logger.tell(&format!("evidence: asking {}", names.join(", ")));
        }
        let evidence = self.collector.finish(self.begun, SystemClock::now(), PATIENCE);
        let gaps = evidence.gaps.len();
        if gaps > 0 {
            let text = format!("evidence has {gaps} gap(s), the first: {}", describe(&evidence));
            common.logger.say(LogLevel::Warn, text);
        }
        evidence
    }
}

fn describe(evidence: &Evidence) -> String {
    let Some(gap) = evidence.gaps.first() else { return String::new() };
    format!("{} ({:.1} s): {}", gap.source, gap.to.since(gap.from).as_secs_f64(), gap.reason)
}
