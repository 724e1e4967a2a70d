//! Values of JSON and YAML whose members keep their order. Depth is bounded by the parsers (128).

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::{DraftError, Kind};

/// Greatest integer that a number of JavaScript holds exactly.
const EXACT_MAX: u64 = 1 << 53;

/// A value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Tree {
    #[default]
    Null,
    Bool(bool),
    /// A number as it is written in JavaScript; `None` where its digits do not fit.
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

static NULL: Tree = Tree::Null;

impl Tree {
    /// Parses JSON.
    pub(crate) fn json(text: &str) -> Result<Tree, serde_json::Error> {
        serde_json::from_str(text.trim_start_matches('\u{feff}'))
    }

    /// Parses JSON or YAML.
    pub(crate) fn json_or_yaml(text: &str) -> Result<Tree, DraftError> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[']) {
            return Tree::json(text).map_err(|error| DraftError::Json { kind: Kind::OpenApi, error });
        }
        serde_yaml_ng::from_str(text).map_err(|error| DraftError::Yaml(error.to_string()))
    }

    /// A member; null where there is none.
    pub(crate) fn get(&self, name: &str) -> &Tree {
        self.members().iter().find(|(key, _)| key == name).map_or(&NULL, |(_, value)| value)
    }

    /// The member of a member …; null where there is none.
    pub(crate) fn at(&self, names: &[&str]) -> &Tree {
        names.iter().fold(self, |tree, name| tree.get(name))
    }

    pub(crate) fn members(&self) -> &[(String, Tree)] {
        if let Tree::Map(members) = self { members } else { &[] }
    }

    pub(crate) fn items(&self) -> &[Tree] {
        if let Tree::List(items) = self { items } else { &[] }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Tree::Text(text) = self { Some(text) } else { None }
    }

    /// The text, also of a number or a boolean.
    pub(crate) fn scalar(&self) -> Option<String> {
        match self {
            Tree::Text(text) | Tree::Number(text) => Some(text.clone()),
            Tree::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Tree::Null)
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Tree::Bool(true))
    }

    /// Whether JavaScript would change a number of it.
    pub(crate) fn has_inexact_numbers(&self) -> bool {
        match self {
            Tree::Number(text) => {
                text.parse::<i128>().is_ok_and(|number| number.unsigned_abs() > u128::from(EXACT_MAX))
            }
            Tree::List(items) => items.iter().any(Tree::has_inexact_numbers),
            Tree::Map(members) => members.iter().any(|(_, value)| value.has_inexact_numbers()),
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Tree, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Tree, E> {
        Ok(Tree::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(if value.is_finite() { Tree::Number(value.to_string()) } else { Tree::Null })
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let mut members = Vec::new();
        while let Some(Key(name)) = entries.next_key()? {
            members.push((name, entries.next_value()?));
        }
        Ok(Tree::Map(members))
    }

    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, data: A) -> Result<Tree, A::Error> {
        // YAML's tags (`!binary`) come as variants.
        let (_, variant): (Key, A::Variant) = data.variant()?;
        serde::de::VariantAccess::newtype_variant(variant)
    }
}

/// A member's name; numbers, booleans and null are names, too, in YAML.
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        Ok(Key(match Tree::deserialize(deserializer)? {
            Tree::Null => "null".to_owned(),
            tree => tree.scalar().unwrap_or_default(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_numeric_names_are_kept() {
        let tree = Tree::json_or_yaml("z: 1\na:\n  200: {x: !t [yes, 1.50, ~]}\n").expect("YAML");
        assert_eq!(tree.members().iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["z", "a"]);
        assert_eq!(tree.at(&["a", "200", "x"]).items().len(), 3);
        assert_eq!(tree.at(&["a", "nothing", "x"]), &Tree::Null);
        let json = Tree::json_or_yaml(" {\"b\": 1, \"a\": [true, 2.5]}").expect("JSON");
        assert_eq!(json.members()[0].0, "b");
        assert!(Tree::json("[9007199254740993]").expect("JSON").has_inexact_numbers());
    }

    #[test]
    fn depth_is_bounded() {
        assert!(Tree::json(&"[".repeat(100_000)).is_err());
        assert!(Tree::json_or_yaml(&"- ".repeat(100_000)).is_err());
    }
}
