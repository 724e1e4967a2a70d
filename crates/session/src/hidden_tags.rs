//! Tags and metadata without secrets, for the exports.

use std::borrow::Cow;
use std::sync::Arc;

use model::{Metadata, RunEvent, Sample, TagInterner, TagSet, TagSetId};
use redact::Redactor;

/// Replaces tag sets that hold secrets. Each set is searched once, so that a sample costs a look-up.
pub(crate) struct HiddenTags {
    tags: Arc<TagInterner>,
    redactor: Redactor,
    /// By number: the set that stands in place of this one. Sets are numbered upwards.
    shown: Vec<TagSetId>,
}

impl HiddenTags {
    /// For the sets of a run.
    pub(crate) fn new(tags: Arc<TagInterner>, redactor: Redactor) -> HiddenTags {
        HiddenTags { tags, redactor, shown: Vec::new() }
    }

    /// The event without secrets in tags and metadata; the same one where there are none.
    pub(crate) fn hide<'e>(&mut self, event: &'e RunEvent) -> Cow<'e, RunEvent> {
        if self.redactor.is_empty() {
            return Cow::Borrowed(event);
        }
        let hidden = match event {
            RunEvent::Samples(batch) => self.batch(batch).map(|batch| RunEvent::Samples(Arc::new(batch))),
            RunEvent::Window(window)
                if window.series.iter().any(|(key, _)| self.set(key.tags) != key.tags) =>
            {
                let mut window = (**window).clone();
                window.series.iter_mut().for_each(|(key, _)| key.tags = self.set(key.tags));
                Some(RunEvent::Window(window.into()))
            }
            _ => None,
        };
        hidden.map_or(Cow::Borrowed(event), Cow::Owned)
    }

    /// A copy of the batch if something in it is secret.
    fn batch(&mut self, batch: &[(Sample, Option<Metadata>)]) -> Option<Vec<(Sample, Option<Metadata>)>> {
        let mut has_secrets = false;
        for (sample, metadata) in batch {
            has_secrets |= self.set(sample.tags) != sample.tags
                || metadata.as_ref().is_some_and(|it| self.has_secret(it));
        }
        has_secrets.then(|| {
            let hidden = batch.iter().map(|(sample, metadata)| {
                let sample = Sample { tags: self.set(sample.tags), ..*sample };
                (sample, metadata.as_ref().map(|metadata| self.metadata(metadata)))
            });
            hidden.collect()
        })
    }

    fn has_secret(&self, metadata: &Metadata) -> bool {
        metadata.iter().any(|(_, value)| matches!(self.redactor.values_hidden(value), Cow::Owned(_)))
    }

    fn metadata(&self, metadata: &Metadata) -> Metadata {
        metadata.iter().map(|(name, value)| (name.clone(), self.text(value))).collect()
    }

    /// The set in place of this one.
    fn set(&mut self, id: TagSetId) -> TagSetId {
        while self.shown.len() <= id.0 as usize {
            let next = TagSetId(u32::try_from(self.shown.len()).unwrap_or(u32::MAX));
            let set = self.tags.get(next);
            let is_secret = |text: &str| matches!(self.redactor.values_hidden(text), Cow::Owned(_));
            let shown = match set.iter().any(|(name, value)| is_secret(name) || is_secret(value)) {
                true => self
                    .tags
                    .intern(TagSet::new(set.iter().map(|(name, value)| (self.text(name), self.text(value))))),
                false => next,
            };
            self.shown.push(shown);
        }
        self.shown[id.0 as usize]
    }

    fn text(&self, text: &str) -> Arc<str> {
        self.redactor.values_hidden(text).into()
    }
}

#[cfg(test)]
mod tests {
    use model::metric::builtin::HTTP_REQS;
    use model::{Instant, Mark};

    use super::*;

    #[test]
    fn secrets_are_replaced_and_other_batches_are_passed_on() {
        let tags = Arc::new(TagInterner::default());
        let set = |url: &str| tags.intern(TagSet::new([("url".into(), url.into())]));
        let sample =
            |tags| Sample { metric: HTTP_REQS, tags, value: 1.0, at: Instant::ZERO, mark: Mark::Measured };
        let (plain, secret) = (set("http://h/a"), set("http://h/?t=hush-hush"));
        let redactor = Redactor::default();
        redactor.add_guessed(["hush-hush".to_owned()]);
        let mut hidden = HiddenTags::new(tags.clone(), redactor);
        let event = RunEvent::Samples(Arc::new(vec![(sample(plain), None)]));
        assert!(matches!(hidden.hide(&event), Cow::Borrowed(_)));
        let metadata: Metadata = [("trace".into(), "of hush-hush".into())].into_iter().collect();
        let event =
            RunEvent::Samples(Arc::new(vec![(sample(plain), Some(metadata)), (sample(secret), None)]));
        let shown = hidden.hide(&event);
        let RunEvent::Samples(batch) = &*shown else { panic!("samples stay samples") };
        assert_eq!(batch[0].0.tags, plain);
        assert_eq!(tags.get(batch[1].0.tags).get("url"), Some("http://h/?t=(hidden)"));
        let metadata = batch[0].1.as_ref().expect("it is there");
        assert_eq!(metadata.iter().map(|(_, value)| &**value).collect::<Vec<_>>(), ["of (hidden)"]);
    }
}
