//! The live page of a run: its settings and its listener.

use std::collections::VecDeque;
use std::sync::Arc;

use analysis::validity::Whole;
use engine::RunConfig;
use model::{GeneratorState, LogLevel, LogLine, RunEvent, Validity};
use pages::{LivePage, PagedRun, reopen};

use crate::Context;
use crate::listener::{Listener, LoadOver, Records};
use crate::live::LiveRun;
use crate::recording::Recording;
use crate::test::Test;

/// Settings of a run's page.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSettings {
    /// Whether the page is served.
    pub is_wanted: bool,
}

impl PageSettings {
    /// Serves the page of a run and prints its address. If that fails, a warning is logged and the run continues.
    pub(crate) fn start<'a>(
        self,
        test: &Test,
        context: &'a Context,
        config: &RunConfig,
        live: &Arc<LiveRun>,
        recording: Option<&Recording>,
    ) -> Option<PageListener<'a>> {
        let recording = recording.filter(|_| self.is_wanted)?;
        let run = PagedRun {
            id: recording.id(),
            path: recording.path(),
            plan: &test.plan,
            config,
            epoch: context.epoch,
            live: live.clone(),
            redactor: context.redactor.clone(),
        };
        let reopen = reopen(&context.runs_words(), run.id);
        match LivePage::start(&run, reopen, |own| context.library(Some(own))) {
            Ok(page) => {
                context.logger.report(&format!("page: http://{}/runs/{}", page.address(), run.id));
                Some(PageListener { page, context })
            }
            Err(why) => {
                let text = format!("{why}; the test goes on without its page (--no-page asks for none)");
                context.logger.say(LogLevel::Warn, text);
                None
            }
        }
    }
}

/// The listener that updates the page.
pub(crate) struct PageListener<'a> {
    page: LivePage,
    context: &'a Context,
}

impl Listener for PageListener<'_> {
    fn on_event(&mut self, event: &RunEvent, records: &mut Records) {
        self.page.on_event(event, records);
    }

    fn finish(&mut self, _: &LoadOver<'_>, _: &mut Records) {
        let closed = self.page.closed();
        if !closed.is_empty() {
            let text = format!("page: connections closed: {}", closed.join(", "));
            self.context.logger.say(LogLevel::Warn, text);
        }
    }

    fn on_file_closing(&self) {
        self.page.before_finish();
    }

    fn on_file_closed(&self) {
        self.page.after_finish();
    }
}

impl pages::Recorded for Records {
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
