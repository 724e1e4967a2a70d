//! The live page of a run: whether it is wanted, and its place among the run's listeners.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::sync::Arc;

use analysis::validity::Whole;
use engine::RunConfig;
use model::{GeneratorState, LogLevel, LogLine, Validity};
use pages::{LivePage, PagedRun, reopen};
use runs::Failure;
use server::Live;

use crate::common::Common;
use crate::flags::RunFlags;
use crate::stored::Recording;
use crate::test::Test;
use crate::watch::Watch;

/// Whether a run has a page.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PageSettings {
    is_wanted: bool,
}

impl PageSettings {
    /// Decides from flags and variables. By default there is no page without a terminal, in continuous integration, or with
    /// `--quiet`; the page reads the run's file, so a run that is not stored has none.
    ///
    /// # Errors
    /// A variable is neither on nor off.
    pub(crate) fn of(flags: &RunFlags, common: &Common, stores: bool) -> Result<PageSettings, Failure> {
        let refused = flags.no_page.or(common.env.switch("NO_PAGE")?);
        let is_ci = common.env.get("CI").is_some_and(|value| !value.is_empty() && value != "false");
        let is_seen = std::io::stderr().is_terminal() && !is_ci && !common.is_quiet;
        Ok(PageSettings { is_wanted: stores && refused.map_or(is_seen, |refused| !refused) })
    }

    /// Serves the page of a run, and prints its address. A page that cannot be served is a warning, and the run goes on.
    pub(crate) fn start(
        self,
        test: &Test,
        common: &Common,
        config: &RunConfig,
        live: &Arc<dyn Live>,
        recording: Option<&Recording>,
    ) -> Option<LivePage> {
        let recording = recording.filter(|_| self.is_wanted)?;
        let run = PagedRun {
            id: recording.id(),
            path: recording.path(),
            plan: &test.plan,
            config,
            epoch: common.epoch,
            live: live.clone(),
        };
        let reopen = reopen(&common.runs_words(), run.id);
        match LivePage::start(&run, reopen, |own| common.library(Some(own))) {
            Ok(page) => {
                common.logger.tell(&format!("page: http://{}/runs/{}", page.address(), run.id));
                Some(page)
            }
            Err(why) => {
                let text = format!("{why}; the test goes on without its page (--no-page asks for none)");
                common.logger.say(LogLevel::Warn, text);
                None
            }
        }
    }
}

/// The recorders of a run, as its page reads them.
pub(crate) struct Recorders<'a> {
    /// The generator's readings.
    pub(crate) watch: &'a mut Watch,
    /// The run's file.
    pub(crate) recording: Option<&'a mut Recording>,
}

impl pages::Recorded for Recorders<'_> {
    fn last_state(&self) -> Option<&GeneratorState> {
        self.watch.last_state()
    }

    fn judge_so_far(&mut self, whole: Whole) -> Validity {
        self.watch.judge_so_far(whole)
    }

    fn take_fresh_lines(&mut self) -> VecDeque<(u64, LogLine)> {
        self.recording.as_mut().map_or_else(VecDeque::new, |recording| recording.take_fresh_lines())
    }
}
