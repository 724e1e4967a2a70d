//! Tags: small sets of names and values, interned so that a series is two numbers.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// A set of tags, sorted by name, each name once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagSet(Box<[(Arc<str>, Arc<str>)]>);

impl TagSet {
    /// Builds a set; of two tags with one name the later wins.
    pub fn new(tags: impl IntoIterator<Item = (Arc<str>, Arc<str>)>) -> TagSet {
        let mut tags: Vec<_> = tags.into_iter().collect();
        tags.sort_by(|a, b| a.0.cmp(&b.0));
        // The sort is stable, so the last of equal names is the latest.
        tags.reverse();
        tags.dedup_by(|a, b| a.0 == b.0);
        tags.reverse();
        TagSet(tags.into_boxed_slice())
    }

    /// The value of a tag.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.binary_search_by(|tag| tag.0.as_ref().cmp(name)).ok().map(|i| self.0[i].1.as_ref())
    }

    /// All tags in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value.as_ref()))
    }

    /// How many tags there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A tag set's number in its run's [`TagInterner`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagSetId(pub u32);

impl TagSetId {
    /// The set without tags.
    pub const EMPTY: TagSetId = TagSetId(0);
    /// Where samples go once [`TAG_SETS_MAX`] distinct sets exist.
    pub const OVERFLOW: TagSetId = TagSetId(1);
}

/// Distinct tag sets kept per run. Beyond it samples land in [`TagSetId::OVERFLOW`], are counted, and a warning names
/// the usual culprit: a URL with an id in it.
pub const TAG_SETS_MAX: usize = 200_000;

/// Gives each distinct tag set a number. Shared by all threads; each keeps its own cache in front of it.
#[derive(Debug)]
pub struct TagInterner {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    sets: Vec<Arc<TagSet>>,
    ids: HashMap<Arc<TagSet>, TagSetId>,
    overflowed: u64,
}

impl Default for TagInterner {
    fn default() -> Self {
        let interner = TagInterner { inner: RwLock::default() };
        interner.intern(TagSet::default());
        interner.intern(TagSet::new([("overflow".into(), "true".into())]));
        interner
    }
}

impl TagInterner {
    /// The number of this set; a new one the first time.
    pub fn intern(&self, set: TagSet) -> TagSetId {
        if let Some(&id) = self.inner.read().expect("no panic inside").ids.get(&set) {
            return id;
        }
        let mut inner = self.inner.write().expect("no panic inside");
        if let Some(&id) = inner.ids.get(&set) {
            return id;
        }
        if inner.sets.len() >= TAG_SETS_MAX {
            inner.overflowed += 1;
            return TagSetId::OVERFLOW;
        }
        let id = TagSetId(u32::try_from(inner.sets.len()).expect("below TAG_SETS_MAX"));
        let set = Arc::new(set);
        inner.sets.push(set.clone());
        inner.ids.insert(set, id);
        id
    }

    /// The set with this number. Numbers come from [`TagInterner::intern`] alone.
    pub fn get(&self, id: TagSetId) -> Arc<TagSet> {
        self.inner.read().expect("no panic inside").sets[id.0 as usize].clone()
    }

    /// How many lookups found the table full.
    pub fn overflowed(&self) -> u64 {
        self.inner.read().expect("no panic inside").overflowed
    }

    /// How many distinct sets there are.
    pub fn len(&self) -> usize {
        self.inner.read().expect("no panic inside").sets.len()
    }

    /// Never true: the set without tags is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}

macro_rules! system_tags {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $default:literal;)*) => {
        /// A tag that the runner itself sets.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum SystemTag { $($(#[$doc])* $variant),* }

        impl SystemTag {
            /// All of them.
            pub const ALL: &[SystemTag] = &[$(SystemTag::$variant),*];

            /// k6's name for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(SystemTag::$variant => $name),* }
            }

            const fn is_default(self) -> bool {
                match self { $(SystemTag::$variant => $default),* }
            }
        }
    };
}

system_tags! {
    /// `HTTP/1.1`.
    Proto = "proto", true;
    /// WebSocket sub-protocol.
    Subproto = "subproto", true;
    /// Status code.
    Status = "status", true;
    /// HTTP method.
    Method = "method", true;
    /// The URL requested.
    Url = "url", true;
    /// The name that groups URLs.
    Name = "name", true;
    /// The path of groups, `::a::b`.
    Group = "group", true;
    /// The check's name.
    Check = "check", true;
    /// The error's text.
    Error = "error", true;
    /// The error's number.
    ErrorCode = "error_code", true;
    /// TLS version.
    TlsVersion = "tls_version", true;
    /// Scenario name.
    Scenario = "scenario", true;
    /// gRPC service.
    Service = "service", true;
    /// Whether the response callback expected the status.
    ExpectedResponse = "expected_response", true;
    /// Iteration number: metadata, never part of a series.
    Iter = "iter", false;
    /// VU number: metadata, never part of a series.
    Vu = "vu", false;
    /// OCSP status.
    OcspStatus = "ocsp_status", false;
    /// Remote address.
    Ip = "ip", false;
}

/// Which system tags a run sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SystemTags(u32);

impl SystemTags {
    /// No system tag.
    pub const NONE: SystemTags = SystemTags(0);

    /// This one too.
    pub const fn with(self, tag: SystemTag) -> SystemTags {
        SystemTags(self.0 | 1 << tag as u32)
    }

    /// Whether `tag` is set.
    #[inline]
    pub const fn has(self, tag: SystemTag) -> bool {
        self.0 & (1 << tag as u32) != 0
    }

    /// The tag with k6's name `name`.
    pub fn parse(name: &str) -> Option<SystemTag> {
        SystemTag::ALL.iter().copied().find(|tag| tag.as_str() == name)
    }
}

impl Default for SystemTags {
    fn default() -> Self {
        SystemTag::ALL.iter().filter(|tag| tag.is_default()).fold(SystemTags::NONE, |set, tag| set.with(*tag))
    }
}
