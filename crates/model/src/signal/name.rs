//! Names of signals: those of the catalogue as identifiers, all others as text.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use super::SignalId;

/// Endings of the names of signals that limit others.
const LIMIT_ENDS: [&str; 3] = ["_max", "_limit", "_total"];

/// Endings that the name of a limit does not repeat: `memory_used` has the limit `memory_max`.
const USE_ENDS: [&str; 2] = ["_used", "_active"];

/// Name of a signal. Order, equality, hash and `Debug` are those of the text.
#[derive(Clone)]
pub struct SignalName(Name);

#[derive(Clone)]
enum Name {
    /// A signal of the catalogue.
    Known(SignalId),
    /// A user's own query, or a metric of an exporter that no pack covers.
    Other(String),
}

impl SignalName {
    /// The signal of the catalogue, if it is one.
    pub fn id(&self) -> Option<SignalId> {
        match self.0 {
            Name::Known(id) => Some(id),
            Name::Other(_) => None,
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Name::Known(id) => id.as_str(),
            Name::Other(name) => name,
        }
    }

    /// The names that a limit of this signal can have, by the conventions of exporters.
    pub fn limit_names(&self) -> impl Iterator<Item = String> + use<> {
        let name = self.as_str();
        let stem = USE_ENDS.iter().find_map(|end| name.strip_suffix(end));
        let stems = [Some(name), stem].into_iter().flatten().map(str::to_owned).collect::<Vec<_>>();
        stems.into_iter().flat_map(|stem| LIMIT_ENDS.map(|end| format!("{stem}{end}")))
    }

    /// Whether this is the limit of `other` by its name alone: `pool_active_limit` or `connections_max`.
    pub fn is_limit_of(&self, other: &SignalName) -> bool {
        let end = self.as_str().strip_prefix(other.as_str());
        end.is_some_and(|end| end == "_limit" || end == "_max")
    }
}

impl From<SignalId> for SignalName {
    fn from(id: SignalId) -> SignalName {
        SignalName(Name::Known(id))
    }
}

impl From<&str> for SignalName {
    fn from(name: &str) -> SignalName {
        SignalId::named(name).map_or_else(|| SignalName(Name::Other(name.to_owned())), SignalName::from)
    }
}

impl From<String> for SignalName {
    fn from(name: String) -> SignalName {
        SignalId::named(&name).map_or(SignalName(Name::Other(name)), SignalName::from)
    }
}

impl fmt::Display for SignalName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for SignalName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl PartialEq for SignalName {
    fn eq(&self, other: &SignalName) -> bool {
        match (&self.0, &other.0) {
            (Name::Known(one), Name::Known(other)) => one == other,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl Eq for SignalName {}

impl PartialEq<SignalId> for SignalName {
    fn eq(&self, id: &SignalId) -> bool {
        self.id() == Some(*id)
    }
}

impl PartialEq<str> for SignalName {
    fn eq(&self, name: &str) -> bool {
        self.as_str() == name
    }
}

impl PartialEq<&str> for SignalName {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

impl PartialOrd for SignalName {
    fn partial_cmp(&self, other: &SignalName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SignalName {
    fn cmp(&self, other: &SignalName) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for SignalName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_catalogue_become_identifiers() {
        let check = |name: &str, expect: Option<SignalId>| {
            for signal in [SignalName::from(name), SignalName::from(name.to_owned())] {
                assert_eq!((signal.id(), signal.as_str()), (expect, name));
            }
        };
        check("queue_ready", Some(SignalId::QueueReady));
        check("checkout_latency", None);
        check("", None);
    }

    #[test]
    fn names_are_in_the_order_of_their_texts() {
        let mut names = ["node_cpu", "mine", "cpu", "queue_ready", "container_cpu"].map(SignalName::from);
        names.sort();
        let texts: Vec<&str> = names.iter().map(SignalName::as_str).collect();
        assert_eq!(texts, ["container_cpu", "cpu", "mine", "node_cpu", "queue_ready"]);
    }

    #[test]
    fn limits_are_named_after_their_signals() {
        let names: Vec<_> = SignalName::from("jvm_heap_used").limit_names().collect();
        assert!(names.contains(&"jvm_heap_max".to_owned()), "{names:?}");
        let names: Vec<_> = SignalName::from("container_cpu").limit_names().collect();
        assert_eq!(names, ["container_cpu_max", "container_cpu_limit", "container_cpu_total"]);
        let is_limit = |limit: &str, of: &str| SignalName::from(limit).is_limit_of(&SignalName::from(of));
        assert!(is_limit("mine_max", "mine") && is_limit("container_cpu_limit", "container_cpu"));
        assert!(!is_limit("mine_total", "mine") && !is_limit("memory_max", "memory_used"));
    }
}
