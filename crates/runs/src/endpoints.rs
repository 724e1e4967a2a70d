//! Names of endpoints by which sides are matched: hosts that stand for each other, and ids in paths.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A path with at least so many different ids in one place is one endpoint. Fewer are kept apart: `/status/200` and
/// `/status/500` are not the same.
const IDS_MIN: usize = 10;

/// Maximum number of names looked at for ids, so that names out of random numbers take bounded time.
const NAMES_MAX: usize = 100_000;

/// Common names for endpoints of both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Naming {
    /// Names that change.
    renamed: HashMap<String, String>,
    /// The hosts that stand for each other: that of the first side and that of another, for each of the others.
    pub(crate) hosts: Vec<Option<(String, String)>>,
}

impl Naming {
    /// Finds common names for the endpoints of a side and of those it is compared with, each `METHOD name`, where a name may be an
    /// address.
    pub(crate) fn of(first: &BTreeSet<String>, others: &[BTreeSet<String>]) -> Naming {
        let hosts: Vec<_> = others.iter().map(|other| different_hosts(first, other)).collect();
        let matched: BTreeSet<&str> = hosts.iter().flatten().flat_map(|(a, b)| [&**a, &**b]).collect();
        let all: BTreeSet<&String> = others.iter().flatten().chain(first).collect();
        let without_host = |name: &str| match address(name) {
            Some(parts) if matched.contains(parts.host) => Some(format!("{}{}", parts.method, parts.path)),
            _ => None,
        };
        let mut renamed = HashMap::new();
        for name in all.iter().copied().take(NAMES_MAX) {
            if let Some(shorter) = without_host(name) {
                renamed.insert(name.clone(), shorter);
            }
        }
        let current = |name: &String| renamed.get(name).cloned().unwrap_or_else(|| name.clone());
        let names: BTreeSet<String> = all.iter().copied().take(NAMES_MAX).map(current).collect();
        let grouped = ids_grouped(&names);
        let group = |name: &String| Some((name.clone(), grouped.get(&current(name))?.clone()));
        let groups: Vec<(String, String)> = all.iter().copied().take(NAMES_MAX).filter_map(group).collect();
        renamed.extend(groups);
        Naming { renamed, hosts }
    }

    /// Returns the common name of an endpoint.
    pub(crate) fn name(&self, name: String) -> String {
        self.renamed.get(&name).cloned().unwrap_or(name)
    }
}

/// A name that is an address.
struct Address<'a> {
    /// With the blank after it; empty without a method.
    method: &'a str,
    /// `http://example.com:8080`
    host: &'a str,
    path: &'a str,
}

fn address(name: &str) -> Option<Address<'_>> {
    let scheme = name.find("://")?;
    let start = name[..scheme].rfind(' ').map_or(0, |blank| blank + 1);
    let after = scheme + "://".len();
    let length = name[after..].find(['/', '?', '#']).unwrap_or(name.len() - after);
    let (method, host) = (&name[..start], &name[start..after + length]);
    let path = &name[after + length..];
    Some(Address { method, host, path: if path.is_empty() { "/" } else { path } })
}

/// The one host that only the first side has and the one that only the second has, if they are one each and share a path.
fn different_hosts(a: &BTreeSet<String>, b: &BTreeSet<String>) -> Option<(String, String)> {
    let hosts = |names: &BTreeSet<String>| -> BTreeSet<String> {
        names.iter().filter_map(|name| Some(address(name)?.host.to_owned())).collect()
    };
    let (of_a, of_b) = (hosts(a), hosts(b));
    let (mut only_a, mut only_b) = (of_a.difference(&of_b), of_b.difference(&of_a));
    let pair = (only_a.next()?.clone(), only_b.next()?.clone());
    if only_a.next().is_some() || only_b.next().is_some() {
        return None;
    }
    let paths = |names: &BTreeSet<String>, host: &str| -> BTreeSet<String> {
        let of_host = names.iter().filter_map(|name| address(name)).filter(|parts| parts.host == host);
        of_host.map(|parts| format!("{}{}", parts.method, without_query(parts.path))).collect()
    };
    let (paths_a, paths_b) = (paths(a, &pair.0), paths(b, &pair.1));
    (!paths_a.is_disjoint(&paths_b) || ids_alike(&paths_a, &paths_b)).then_some(pair)
}

fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or(path)
}

/// Whether paths are the same but for their ids.
fn ids_alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> bool {
    let patterns = |paths: &BTreeSet<String>| -> BTreeSet<String> {
        paths.iter().filter_map(|path| pattern(path)).collect()
    };
    !patterns(a).is_disjoint(&patterns(b))
}

/// The names of a pattern with many ids, with the pattern.
fn ids_grouped(names: &BTreeSet<String>) -> HashMap<String, String> {
    let mut groups: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for name in names {
        if let Some(pattern) = pattern(name) {
            groups.entry(pattern).or_default().push(name);
        }
    }
    let many = groups.into_iter().filter(|(_, names)| names.len() >= IDS_MIN);
    many.flat_map(|(pattern, names)| names.into_iter().map(move |name| (name.clone(), pattern.clone())))
        .collect()
}

/// A name with `{id}` in place of the ids of its path, and without the values of its query; `None` if it has no path with ids.
fn pattern(name: &str) -> Option<String> {
    let (method, place) = name.split_once(' ').unwrap_or(("", name));
    if !place.contains('/') {
        return None;
    }
    let path = without_query(place);
    let segments: Vec<&str> =
        path.split('/').map(|segment| if is_id(segment) { "{id}" } else { segment }).collect();
    let has_query = place.len() > path.len();
    let has_id = segments.contains(&"{id}");
    (has_id || has_query).then(|| format!("{method} {}", segments.join("/")).trim_start().to_owned())
}

/// Whether a segment of a path is a number, a UUID or another long text of hexadecimal digits.
fn is_id(segment: &str) -> bool {
    let is_number = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex = segment.len() >= 16 && segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_number || is_hex
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[track_caller]
    fn check(a: &[&str], b: &[&str], name: &str, expect: &str) {
        assert_eq!(Naming::of(&names(a), &[names(b)]).name(name.to_owned()), expect);
    }

    #[test]
    fn hosts_stand_for_each_other_one_to_one() {
        let (old, new) = ("GET http://old:80/cart", "GET https://new.example/cart");
        check(&[old], &[new], old, "GET /cart");
        check(&[old], &[new], new, "GET /cart");
        check(&["GET http://127.0.0.1:1/"], &["GET http://127.0.0.1:2"], "GET http://127.0.0.1:2", "GET /");
        check(&[old, "GET http://cdn/x"], &[new, "GET http://cdn/x"], "GET http://cdn/x", "GET http://cdn/x");
        check(&[old, "GET http://other/"], &[new], old, old);
        check(&[old], &["GET https://new.example/login"], old, old);
        check(&["GET cart"], &["GET cart"], "GET cart", "GET cart");
    }

    #[test]
    fn many_ids_are_one_endpoint_and_few_are_not() {
        let users: Vec<String> = (0..20).map(|id| format!("GET http://a/users/{id}/cart?at={id}")).collect();
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        check(&users, &users, users[3], "GET http://a/users/{id}/cart");
        check(&["GET /status/200", "GET /status/500"], &[], "GET /status/200", "GET /status/200");
        let queries: Vec<String> = (0..12).map(|at| format!("GET /find?q={at}")).collect();
        let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
        check(&queries, &[], "GET /find?q=7", "GET /find");
    }

    #[test]
    fn ids_of_different_hosts_are_matched_too() {
        let of = |host: &str, first: usize| -> BTreeSet<String> {
            (first..first + 30).map(|id| format!("GET http://{host}/users/{id}")).collect()
        };
        let (a, b) = (of("old", 0), of("new", 100));
        let naming = Naming::of(&a, &[b]);
        assert_eq!(naming.name("GET http://old/users/3".to_owned()), "GET /users/{id}");
        assert_eq!(naming.name("GET http://new/users/103".to_owned()), "GET /users/{id}");
        assert_eq!(naming.hosts, [Some(("http://old".to_owned(), "http://new".to_owned()))]);
    }

    #[test]
    fn each_of_several_sides_has_its_own_host() {
        let of = |host: &str| names(&[&format!("GET http://{host}/cart")]);
        let naming = Naming::of(&of("a"), &[of("b"), of("a"), of("c")]);
        for host in ["a", "b", "c"] {
            assert_eq!(naming.name(format!("GET http://{host}/cart")), "GET /cart");
        }
        assert_eq!(naming.hosts.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
    }
}
