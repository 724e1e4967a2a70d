//! YAML as JSON, within a budget: aliases let a short text mean more than any memory holds.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value};

/// Bytes of all values, with 32 for each.
const VALUE_BYTES_MAX: usize = 64 << 20;

/// Cost of a value in memory, beside its bytes.
const VALUE_BYTES: usize = 32;

/// Parses a text.
///
/// # Errors
/// It is no YAML, or it means too much.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let left = Cell::new(VALUE_BYTES_MAX);
    let value = Bounded(&left).deserialize(serde_yaml_ng::Deserializer::from_str(text));
    value.map_err(|error| format!("yaml: {error}"))
}

#[derive(Clone, Copy)]
struct Bounded<'a>(&'a Cell<usize>);

impl Bounded<'_> {
    fn spend<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.0.get().checked_sub(VALUE_BYTES + bytes);
        self.0.set(left.ok_or_else(|| {
            E::custom(format!("the values exceed {} MiB, with each alias written out", VALUE_BYTES_MAX >> 20))
        })?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        self.spend(0)?;
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        self.spend(0)?;
        Ok(Value::from(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        self.spend(0)?;
        Ok(Value::from(number))
    }

    /// Infinities and NaN are `null`, as in JSON.
    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.spend(0)?;
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.spend(text.len())?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.spend(0)?;
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        self.spend(0)?;
        let mut all = Vec::new();
        while let Some(value) = values.next_element_seed(self)? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.spend(0)?;
        let mut all = Map::new();
        while let Some(key) = entries.next_key_seed(self)? {
            let key = match key {
                Value::String(text) => text,
                other => other.to_string(),
            };
            all.insert(key, entries.next_value_seed(self)?);
        }
        Ok(Value::Object(all))
    }

    /// A value with a tag is the value.
    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        let (_, content) = tagged.variant_seed(self)?;
        content.newtype_variant_seed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        match (parse(text).map(|value| value.to_string()), expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => assert!(error.contains(expect), "{error}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn values() {
        check("a: 1\n2: [x, true, ~, 1.5]\n", Ok(r#"{"2":["x",true,null,1.5],"a":1}"#));
        check("", Ok("null"));
        check("!point {x: 1}", Ok(r#"{"x":1}"#));
        check("a: .inf", Ok(r#"{"a":null}"#));
        check(&"[".repeat(10_000), Err("yaml: recursion limit exceeded"));
    }

    #[test]
    fn aliases_do_not_exhaust_memory() {
        let wide = format!("a: &a [{}]\nb: [{}]", "1,".repeat(10_000), "*a,".repeat(10_000));
        check(&wide, Err("exceed 64 MiB"));
        let deep: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1)).collect();
        assert!(parse(&format!("a0: &a0 x\n{deep}")).is_err());
    }
}
