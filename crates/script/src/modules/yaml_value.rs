//! YAML as JSON, within a budget: aliases let a short text mean more than any memory holds.

use std::cell::{Cell, RefCell};
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value};

use super::{yaml_number, yaml_time};

/// Bytes of all values, with 32 for each.
const VALUE_BYTES_MAX: usize = 64 << 20;

/// Cost of a value in memory, beside its bytes.
const VALUE_BYTES: usize = 32;

/// A value that JSON has no notation for, and its place.
pub(super) struct Special {
    /// Names of entries and numbers of elements, from the root.
    pub(super) path: Vec<Value>,
    /// The time's parts (see `yaml_time`), or the number's name in JavaScript.
    pub(super) value: Value,
}

/// Parses a text, into JSON with a text or `null` where another value stands, and a list of those.
///
/// # Errors
/// It is no YAML, or it means too much.
pub(super) fn parse(text: &str) -> Result<(Value, Vec<Special>), String> {
    let state = State {
        text,
        left: Cell::new(VALUE_BYTES_MAX),
        path: RefCell::default(),
        special: RefCell::default(),
    };
    let value = Bounded(&state).deserialize(serde_yaml_ng::Deserializer::from_str(text));
    let value = value.map_err(|error| format!("yaml: {error}"))?;
    Ok((value, state.special.into_inner()))
}

struct State<'a> {
    text: &'a str,
    left: Cell<usize>,
    path: RefCell<Vec<Value>>,
    special: RefCell<Vec<Special>>,
}

impl State<'_> {
    /// Whether a part of the text is a scalar without quotes and without a tag that makes it a text.
    fn is_plain(&self, part: &str) -> bool {
        let start = (part.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let before = start.and_then(|start| self.text.get(..start));
        before.is_some_and(|before| !before.ends_with(['"', '\'']) && !before.trim_end().ends_with("!!str"))
    }
}

#[derive(Clone, Copy)]
struct Bounded<'a>(&'a State<'a>);

impl Bounded<'_> {
    fn spend<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.0.left.get().checked_sub(VALUE_BYTES + bytes);
        self.0.left.set(left.ok_or_else(|| {
            E::custom(format!("the values exceed {} MiB, with each alias written out", VALUE_BYTES_MAX >> 20))
        })?);
        Ok(())
    }

    /// Notes that another value stands where the walk is.
    fn note<E: Error>(self, value: Value) -> Result<(), E> {
        let path = self.0.path.borrow().clone();
        self.spend(path.iter().map(|step| VALUE_BYTES + step.as_str().map_or(0, str::len)).sum())?;
        self.0.special.borrow_mut().push(Special { path, value });
        Ok(())
    }

    /// Visits a value one step further from the root.
    fn below<T>(self, step: Value, visit: impl FnOnce() -> T) -> T {
        self.0.path.borrow_mut().push(step);
        let visited = visit();
        self.0.path.borrow_mut().pop();
        visited
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

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        self.spend(0)?;
        let Some(number) = Number::from_f64(number) else {
            let name = if number.is_nan() {
                "NaN"
            } else if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            self.note(Value::from(name))?;
            return Ok(Value::Null);
        };
        Ok(Value::Number(number))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Value, E> {
        let is_plain = self.0.is_plain(text);
        if let Some(number) = yaml_number::parse(text).filter(|_| is_plain) {
            self.spend(0)?;
            return Ok(number);
        }
        if let Some(parts) = yaml_time::parse(text).filter(|_| is_plain) {
            self.note(parts)?;
        }
        self.visit_str(text)
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
        while let Some(value) = self.below(Value::from(all.len()), || values.next_element_seed(self))? {
            all.push(value);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        self.spend(0)?;
        let mut all = Map::new();
        let mut known = self.0.special.borrow().len();
        while let Some(key) = entries.next_key_seed(self)? {
            // A name that reads as a time is a text.
            self.0.special.borrow_mut().truncate(known);
            let key = match key {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let value = self.below(Value::from(key.as_str()), || entries.next_value_seed(self))?;
            known = self.0.special.borrow().len();
            all.insert(key, value);
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
    use serde_json::Value;

    use super::parse;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        match (parse(text).map(|(value, _)| value.to_string()), expect) {
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
        check("a: [1_000, '1_000', 014]", Ok(r#"{"a":[1000,"1_000",12]}"#));
        check(&"[".repeat(10_000), Err("yaml: recursion limit exceeded"));
    }

    #[track_caller]
    fn check_special(text: &str, expect: &[(&str, &str)]) {
        let (_, special) = parse(text).expect("a value");
        let shown: Vec<(String, String)> = special
            .iter()
            .map(|one| (Value::from(one.path.clone()).to_string(), one.value.to_string()))
            .collect();
        let shown: Vec<(&str, &str)> =
            shown.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        assert_eq!(shown, expect, "{text}");
    }

    #[test]
    fn what_json_cannot_say_is_listed() {
        const DAY: &str = "[2022,8,6,0,0,0,0,null]";
        check_special("a: [x, 2022-08-06]", &[(r#"["a",1]"#, DAY)]);
        check_special("a: &d 2022-08-06\nb: *d", &[(r#"["a"]"#, DAY), (r#"["b"]"#, DAY)]);
        check_special(
            "a: [.inf, -.inf]\nb: .nan",
            &[(r#"["a",0]"#, r#""Infinity""#), (r#"["a",1]"#, r#""-Infinity""#), (r#"["b"]"#, r#""NaN""#)],
        );
        let texts =
            "a: '2022-08-06'\nb: \"2022-08-06\"\nc: !!str 2022-08-06\nd: |-\n  2022-08-06\n2022-08-06: x";
        check_special(texts, &[]);
    }

    #[test]
    fn aliases_do_not_exhaust_memory() {
        let wide = format!("a: &a [{}]\nb: [{}]", "1,".repeat(10_000), "*a,".repeat(10_000));
        check(&wide, Err("exceed 64 MiB"));
        let deep: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1)).collect();
        assert!(parse(&format!("a0: &a0 x\n{deep}")).is_err());
    }
}
