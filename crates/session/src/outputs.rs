//! The exports of a run as one listener.

use std::sync::Arc;

use catalogue::RunId;
use engine::RunConfig;
use model::plan::ThresholdSpec;
use model::{LogLevel, RunEvent};
use output::{Output, OutputSpec};
use runs::{Exit, Failure};

use crate::Context;
use crate::hidden_tags::HiddenTags;
use crate::listener::{Listener, Records};
use crate::test::Test;

/// All exports of a run.
pub(crate) struct Outputs<'a> {
    outputs: Vec<Box<dyn Output>>,
    hidden: HiddenTags,
    context: &'a Context,
}

impl<'a> Outputs<'a> {
    /// Opens the exports of these specifications.
    ///
    /// # Errors
    /// An export cannot be opened.
    pub(crate) fn open(
        test: &Test,
        context: &'a Context,
        specs: &[OutputSpec],
        config: &RunConfig,
        id: &RunId,
    ) -> Result<Outputs<'a>, Failure> {
        let env = context.env.clone();
        let env_names = env.all().keys().cloned().collect();
        let surroundings = output::Context {
            metrics: config.registry.clone(),
            tags: config.tags.clone(),
            epoch: context.epoch,
            system_tags: test.plan.system_tags,
            thresholds: without_secrets(&test.plan.thresholds, context),
            env: Arc::new(move |name: &str| env.get(name).map(str::to_owned)),
            env_names,
            run_id: id.to_string(),
        };
        let open = |spec: &OutputSpec| {
            spec.open(&surroundings).map_err(|error| {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                Failure::new(Exit::Other, format!("failed to {error}{}", cause.unwrap_or_default()))
            })
        };
        let outputs = specs.iter().map(open).collect::<Result<_, _>>()?;
        let hidden = HiddenTags::new(config.tags.clone(), context.redactor.clone());
        Ok(Outputs { outputs, hidden, context })
    }

    /// Returns true if an export takes raw samples.
    pub(crate) fn want_samples(&self) -> bool {
        self.outputs.iter().any(|output| output.wants_samples())
    }

    /// Returns the exports' descriptions, for the banner.
    pub(crate) fn descriptions(&self) -> Vec<String> {
        self.outputs.iter().map(|output| redact::urls_hidden(output.description()).into_owned()).collect()
    }
}

fn without_secrets(thresholds: &[ThresholdSpec], context: &Context) -> Vec<ThresholdSpec> {
    let mut thresholds = thresholds.to_vec();
    thresholds.iter_mut().for_each(|spec| context.redactor.hide(&mut spec.selector));
    thresholds
}

impl Listener for Outputs<'_> {
    fn on_event(&mut self, event: &RunEvent, _: &mut Records) {
        if self.outputs.is_empty() {
            return;
        }
        let event = self.hidden.hide(event);
        self.outputs.iter_mut().for_each(|output| output.on_event(&event));
    }

    fn on_load_over(&mut self) {
        for output in self.outputs.drain(..) {
            let report = output.finish();
            if let Some(warning) = report.warning() {
                self.context.logger.say(LogLevel::Error, warning);
            }
            if let Some(note) = report.note {
                self.context.logger.say(LogLevel::Info, format!("{}: {note}", report.description));
            }
        }
    }
}
