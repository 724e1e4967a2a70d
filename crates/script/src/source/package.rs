//! `package.json`: what of it decides which file a specifier means.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The fields that matter here.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Package {
    #[serde(default)]
    pub(super) main: Target,
    /// Not Node.js's, but what bundlers read: the package as ES modules.
    #[serde(default)]
    pub(super) module: Target,
    /// Replacements of the package, or of files and packages that it uses, outside of Node.js.
    #[serde(default)]
    pub(super) browser: Target,
    #[serde(default)]
    pub(super) exports: Target,
    #[serde(default)]
    pub(super) imports: Target,
}

/// A value of `exports` and its like. The order of an object's keys has a meaning, so it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing, or something that is no target.
    #[default]
    None,
    /// `false` in `browser`.
    Empty,
    Path(String),
    List(Vec<Target>),
    Map(Vec<(String, Target)>),
}

impl Target {
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Target::Path(path) => Some(path),
            _ => None,
        }
    }

    pub(super) fn entries(&self) -> &[(String, Target)] {
        match self {
            Target::Map(entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Target> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, target)| target)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Target, D::Error> {
        deserializer.deserialize_any(TargetVisitor)
    }
}

struct TargetVisitor;

impl<'de> Visitor<'de> for TargetVisitor {
    type Value = Target;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a target")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Target, E> {
        Ok(if value { Target::None } else { Target::Empty })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Target, E> {
        Ok(Target::None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Target, E> {
        Ok(Target::None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Target, E> {
        Ok(Target::None)
    }

    fn visit_unit<E>(self) -> Result<Target, E> {
        Ok(Target::None)
    }

    fn visit_str<E>(self, value: &str) -> Result<Target, E> {
        Ok(Target::Path(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Target, A::Error> {
        let mut targets = Vec::new();
        while let Some(target) = items.next_element()? {
            targets.push(target);
        }
        Ok(Target::List(targets))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Target, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = map.next_key()? {
            entries.push((name, map.next_value()?));
        }
        Ok(Target::Map(entries))
    }
}

/// Whether a text is JSON; only then may it stand where JavaScript expects an expression.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The target of a subpath (`.`, `./x`, `#x`) among `exports` or `imports`, as
/// [Node.js](https://nodejs.org/api/esm.html#resolution-algorithm-specification) finds it; relative to the package.
pub(super) fn subpath_target(targets: &Target, subpath: &str, conditions: &[&str]) -> Option<String> {
    let has_subpaths = targets.entries().iter().any(|(key, _)| key.starts_with(['.', '#']));
    if !has_subpaths {
        return if subpath == "." { choose(targets, "", conditions) } else { None };
    }
    if let Some(target) = targets.get(subpath) {
        return choose(target, "", conditions);
    }
    let patterns = targets.entries().iter().filter_map(|(key, target)| {
        let (before, after) = key.split_once('*')?;
        let rest = subpath.strip_prefix(before)?.strip_suffix(after)?;
        (!rest.is_empty()).then_some((before.len(), rest, target))
    });
    let (_, rest, target) = patterns.max_by_key(|(length, _, _)| *length)?;
    choose(target, rest, conditions)
}

/// The first target whose conditions hold, with what `*` stood for put in.
fn choose(target: &Target, rest: &str, conditions: &[&str]) -> Option<String> {
    match target {
        Target::None | Target::Empty => None,
        Target::Path(path) => Some(path.replace('*', rest)),
        Target::List(targets) => targets.iter().find_map(|target| choose(target, rest, conditions)),
        Target::Map(entries) => entries
            .iter()
            .filter(|(condition, _)| conditions.contains(&condition.as_str()))
            .find_map(|(_, target)| choose(target, rest, conditions)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(exports: &str, subpath: &str, expect: Option<&str>) {
        let package: Package = serde_json::from_str(&format!(r#"{{"exports":{exports}}}"#)).unwrap();
        let got = subpath_target(&package.exports, subpath, &["import", "browser", "default"]);
        assert_eq!(got.as_deref(), expect, "{exports} {subpath}");
    }

    #[test]
    fn exports() {
        check(r#""./a.js""#, ".", Some("./a.js"));
        check(r#""./a.js""#, "./b", None);
        check(r#"{"node":"./n.js","import":"./i.js","default":"./d.js"}"#, ".", Some("./i.js"));
        check(r#"{"default":"./d.js","import":"./i.js"}"#, ".", Some("./d.js"));
        check(r#"{".":{"node":{"import":"./n.js"},"browser":{"import":"./b.js"}}}"#, ".", Some("./b.js"));
        check(r#"{".":{"require":"./r.cjs"}}"#, ".", None);
        check(r#"{".":[{"x":"./x.js"},"./l.js"]}"#, ".", Some("./l.js"));
        check(r#"{"./x":"./src/x.js"}"#, "./x", Some("./src/x.js"));
        check(r#"{"./f/*":"./a/*.js","./f/g/*":"./b/*/*.js"}"#, "./f/g/h", Some("./b/h/h.js"));
        check(r#"{"./f/*":null}"#, "./f/x", None);
        check(r#"{"./f/*.js":"./a/*.js"}"#, "./f/x.js", Some("./a/x.js"));
        check("7", ".", None);
    }

    #[test]
    fn imports_of_the_package_itself() {
        let package: Package = serde_json::from_str(r##"{"imports":{"#x":{"default":"./x.js"}}}"##).unwrap();
        assert_eq!(subpath_target(&package.imports, "#x", &["default"]).as_deref(), Some("./x.js"));
    }
}
