//! The meaning of a tag set for the totals, computed once per tag set.

use std::sync::Arc;

use model::{SystemTag, TagInterner, TagSet, TagSetId};
use rustc_hash::FxHashMap;

use crate::Selector;

/// Everything that totals need to know about a tag set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Its `scenario`, by number.
    pub(crate) scenario: Option<u32>,
    /// Its `group`, by number.
    pub(crate) group: Option<u32>,
    /// Its `group` within its `scenario`, by number; none outside groups.
    pub(crate) part: Option<u32>,
    /// Its `check`.
    pub(crate) check: Option<Arc<str>>,
    /// Numbers of the sub-metrics whose filter it satisfies, whatever their metric is.
    pub(crate) sub_metrics: Box<[u32]>,
}

/// Facts by tag set, and the names of scenarios and groups by number, in order of first sight.
#[derive(Debug)]
pub(crate) struct FactTable {
    pub(crate) tags: Arc<TagInterner>,
    facts: Vec<Option<Arc<Facts>>>,
    pub(crate) scenarios: Names,
    pub(crate) groups: Names,
    pub(crate) parts: Parts,
}

/// A group within a scenario, or outside all of them.
#[derive(Debug)]
pub(crate) struct ScenarioGroup {
    pub(crate) scenario: Option<u32>,
    pub(crate) group: u32,
    /// The lowest tag set that had both.
    pub(crate) first: TagSetId,
}

/// Groups within scenarios, with numbers.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    numbers: FxHashMap<(Option<u32>, u32), u32>,
    pub(crate) numbered: Vec<ScenarioGroup>,
}

/// Names with numbers; for each the lowest tag set that had it, which is the order of first sight over all threads.
#[derive(Debug, Default)]
pub(crate) struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    named: Vec<(Arc<str>, TagSetId)>,
}

impl FactTable {
    pub(crate) fn new(tags: Arc<TagInterner>) -> FactTable {
        FactTable {
            tags,
            facts: Vec::new(),
            scenarios: Names::default(),
            groups: Names::default(),
            parts: Parts::default(),
        }
    }

    /// The facts of a tag set. `selectors` must be the same ones every time.
    pub(crate) fn facts<'a>(
        &mut self,
        id: TagSetId,
        selectors: impl Iterator<Item = &'a Selector>,
    ) -> Arc<Facts> {
        let index = id.0 as usize;
        if let Some(Some(facts)) = self.facts.get(index) {
            return facts.clone();
        }
        let facts = Arc::new(self.work_out(id, selectors));
        if self.facts.len() <= index {
            self.facts.resize(index + 1, None);
        }
        self.facts[index] = Some(facts.clone());
        facts
    }

    fn work_out<'a>(&mut self, id: TagSetId, selectors: impl Iterator<Item = &'a Selector>) -> Facts {
        let set = self.tags.get(id);
        let tag = |set: &TagSet, tag: SystemTag| set.get(tag.as_str()).map(Arc::<str>::from);
        let matching = selectors.enumerate().filter(|(_, selector)| selector.matches(&set));
        let scenario = tag(&set, SystemTag::Scenario).map(|name| self.scenarios.number(name, id));
        let path = tag(&set, SystemTag::Group);
        let is_root = path.as_ref().is_none_or(|path| path.is_empty());
        let group = path.map(|path| self.groups.number(path, id));
        Facts {
            sub_metrics: matching.map(|(number, _)| number as u32).collect(),
            part: group.filter(|_| !is_root).map(|group| self.parts.number(scenario, group, id)),
            scenario,
            group,
            check: tag(&set, SystemTag::Check),
        }
    }
}

impl Parts {
    fn number(&mut self, scenario: Option<u32>, group: u32, seen_in: TagSetId) -> u32 {
        let next = self.numbered.len() as u32;
        let number = *self.numbers.entry((scenario, group)).or_insert(next);
        match self.numbered.get_mut(number as usize) {
            Some(known) => known.first = known.first.min(seen_in),
            None => self.numbered.push(ScenarioGroup { scenario, group, first: seen_in }),
        }
        number
    }
}

impl Names {
    /// Names, their numbers and the lowest tag set that had them, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, TagSetId)> {
        self.named.iter().map(|(name, first)| (name, *first))
    }

    pub(crate) fn name(&self, number: u32) -> &Arc<str> {
        &self.named[number as usize].0
    }

    fn number(&mut self, name: Arc<str>, seen_in: TagSetId) -> u32 {
        if let Some(&number) = self.numbers.get(&name) {
            let first = &mut self.named[number as usize].1;
            *first = (*first).min(seen_in);
            return number;
        }
        let number = self.named.len() as u32;
        self.numbers.insert(name.clone(), number);
        self.named.push((name, seen_in));
        number
    }
}
