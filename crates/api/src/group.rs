//! The tree of groups and checks.

use md5::{Digest, Md5};
use serde::Serialize;

/// A group with what is in it, in the order the script met it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Group {
    /// Its name; empty for the root.
    pub name: String,
    /// The names from the root, each after `::`; empty for the root.
    pub path: String,
    /// See [`path_id`].
    pub id: String,
    /// Groups in it.
    pub groups: Vec<Group>,
    /// Checks in it.
    pub checks: Vec<Check>,
}

/// A check with its results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The path of its group, `::` and its name.
    pub path: String,
    /// See [`path_id`].
    pub id: String,
    /// How often it held.
    pub passes: u64,
    /// How often it did not.
    pub fails: u64,
}

/// k6's identifier of a group or check: the MD5 of its path in hexadecimal.
pub fn path_id(path: &str) -> String {
    Md5::digest(path.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_k6_prints() {
        for (path, expect) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("::g", "652e756c89643c3ada0b451cbd88a9d3"),
            ("::g::tagged ✓ ünï", "5ba2f1f82eaedd3b9e4c6ae779c1c02a"),
        ] {
            assert_eq!(path_id(path), expect, "{path}");
        }
    }
}
