//! Tags of a VU, and the cache that turns them into numbers without building a set each time.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use model::{TagInterner, TagSet, TagSetId};
use rustc_hash::FxHashMap;

/// The tags that every sample of a VU carries now.
#[derive(Debug, Default)]
pub(crate) struct VuTags {
    tags: BTreeMap<Arc<str>, Arc<str>>,
    group: Arc<str>,
    /// Value of `group` outside of all calls of `group()`.
    outermost_group: Arc<str>,
    has_group: bool,
    id: Option<TagSetId>,
}

impl VuTags {
    /// Replaces everything; `has_group` says whether the system tag `group` is wanted.
    pub(crate) fn reset(&mut self, tags: BTreeMap<Arc<str>, Arc<str>>, group: &str, has_group: bool) {
        let group: Arc<str> = group.into();
        *self = VuTags { tags, outermost_group: group.clone(), group, has_group, id: None };
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<str>> {
        if name == "group" && self.has_group {
            return Some(self.group.clone());
        }
        self.tags.get(name).cloned()
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.id = None;
        if name == "group" && self.has_group {
            let is_outermost = Arc::ptr_eq(&self.group, &self.outermost_group);
            self.group = value.into();
            if is_outermost {
                self.outermost_group = self.group.clone();
            }
            return;
        }
        self.tags.insert(name.into(), value.into());
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.id = None;
        self.tags.remove(name);
    }

    pub(crate) fn group(&self) -> Arc<str> {
        self.group.clone()
    }

    pub(crate) fn set_group(&mut self, group: Arc<str>) {
        self.group = group;
        self.id = None;
    }

    /// The same where it may well be the group already.
    pub(crate) fn enter_group(&mut self, group: Arc<str>) {
        if *self.group != *group {
            self.set_group(group);
        }
    }

    /// The group outside of all calls of `group()`: none, or that of `setup()` or `teardown()`.
    pub(crate) fn outermost_group(&self) -> Arc<str> {
        self.outermost_group.clone()
    }

    /// All of them, `group` included.
    pub(crate) fn all(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let group = self.has_group.then(|| (Arc::from("group"), self.group.clone()));
        self.tags.iter().map(|(k, v)| (k.clone(), v.clone())).chain(group).collect()
    }

    /// Their number.
    pub(crate) fn id(&mut self, cache: &TagCache) -> TagSetId {
        if let Some(id) = self.id {
            return id;
        }
        let id = cache.intern(TagSet::new(self.all()));
        self.id = Some(id);
        id
    }
}

/// Key of an HTTP sample's tag set beyond the VU's own tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HttpKey {
    pub(crate) base: TagSetId,
    /// Number of the URL's entry in the worker's cache.
    pub(crate) url: u32,
    pub(crate) method: u8,
    pub(crate) status: u16,
    /// 0 no response callback, 1 unexpected, 2 expected.
    pub(crate) expected: u8,
    /// HTTP and TLS versions.
    pub(crate) protocol: u8,
}

/// Entries kept per cache. Beyond it the cache starts anew: a script that makes up names pays, others never notice.
const ENTRIES_MAX: usize = 20_000;

/// Sets that differ in one tag, by its value.
type ByValue = FxHashMap<Box<str>, TagSetId>;

/// Tag sets by what they are made of. One per worker thread, shared by its VUs.
#[derive(Debug, Default)]
pub(crate) struct TagCache {
    interner: OnceCell<Arc<TagInterner>>,
    named: RefCell<FxHashMap<(TagSetId, &'static str), ByValue>>,
    http: RefCell<FxHashMap<HttpKey, TagSetId>>,
}

impl TagCache {
    /// For a run with this interner.
    pub(crate) fn new(interner: Arc<TagInterner>) -> Rc<TagCache> {
        let cache = TagCache::default();
        let _ = cache.interner.set(interner);
        Rc::new(cache)
    }

    pub(crate) fn is_of(&self, interner: &Arc<TagInterner>) -> bool {
        self.interner.get().is_some_and(|ours| Arc::ptr_eq(ours, interner))
    }

    /// The number of a set; the empty set's during the first init, which has no run yet.
    pub(crate) fn intern(&self, set: TagSet) -> TagSetId {
        self.interner.get().map_or(TagSetId::EMPTY, |interner| interner.intern(set))
    }

    /// `base` with one tag more; `name` is one of the few that the runner itself adds.
    pub(crate) fn with_tag(&self, base: TagSetId, name: &'static str, value: &str) -> TagSetId {
        if let Some(id) = self.named.borrow().get(&(base, name)).and_then(|by_value| by_value.get(value)) {
            return *id;
        }
        let id = self.extend(base, [(Arc::from(name), Arc::from(value))]);
        let mut named = self.named.borrow_mut();
        let by_value = named.entry((base, name)).or_default();
        if by_value.len() >= ENTRIES_MAX {
            by_value.clear();
        }
        by_value.insert(value.into(), id);
        id
    }

    /// `base` with further tags, which win over its own.
    pub(crate) fn extend(
        &self,
        base: TagSetId,
        tags: impl IntoIterator<Item = (Arc<str>, Arc<str>)>,
    ) -> TagSetId {
        let Some(interner) = self.interner.get() else { return TagSetId::EMPTY };
        let set = interner.get(base);
        let ours = set.iter().map(|(name, value)| (Arc::from(name), Arc::from(value)));
        interner.intern(TagSet::new(ours.chain(tags)))
    }

    /// The set of an HTTP sample; `make` builds it the first time.
    pub(crate) fn http(&self, key: HttpKey, make: impl FnOnce() -> TagSetId) -> TagSetId {
        if let Some(id) = self.http.borrow().get(&key) {
            return *id;
        }
        let id = make();
        let mut http = self.http.borrow_mut();
        if http.len() >= ENTRIES_MAX {
            http.clear();
        }
        http.insert(key, id);
        id
    }
}
