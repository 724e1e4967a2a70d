//! Values of small JSON texts, without the engine's own parser, which costs several times as much.
//!
//! The engine reads a text character by character and has no names of properties at hand. Here serde reads the text, and the engine
//! makes the values only. A text that serde refuses goes to the engine, whose error scripts know.

use std::borrow::Cow;
use std::fmt;

use rquickjs::{Array, Ctx, Object, Value};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::layouts::{Layouts, Names};

/// Longer texts are left to the engine, which lets other VUs run meanwhile.
const BYTES_MAX: usize = 4 << 10;

/// The value of a JSON text as `JSON.parse` gives it; `None` if the engine's parser has to decide.
pub(super) fn small<'js>(ctx: &Ctx<'js>, layouts: Option<&Layouts>, text: &[u8]) -> Option<Value<'js>> {
    if text.len() > BYTES_MAX {
        return None;
    }
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = Made { ctx, layouts }.deserialize(&mut json).and_then(|value| json.end().map(|()| value));
    if value.is_err() {
        // The engine's parser meets the same shortage of memory.
        ctx.catch();
    }
    value.ok()
}

/// Makes the next value of a text.
#[derive(Clone, Copy)]
struct Made<'a, 'js> {
    ctx: &'a Ctx<'js>,
    layouts: Option<&'a Layouts>,
}

impl<'de, 'js> DeserializeSeed<'de> for Made<'_, 'js> {
    type Value = Value<'js>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value<'js>, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, 'js> Visitor<'de> for Made<'_, 'js> {
    type Value = Value<'js>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value<'js>, E> {
        Ok(Value::new_null(self.ctx.clone()))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value<'js>, E> {
        Ok(Value::new_bool(self.ctx.clone(), value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value<'js>, E> {
        match i32::try_from(value) {
            Ok(value) => Ok(Value::new_int(self.ctx.clone(), value)),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value<'js>, E> {
        match i32::try_from(value) {
            Ok(value) => Ok(Value::new_int(self.ctx.clone(), value)),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'js>, E> {
        Ok(Value::new_float(self.ctx.clone(), value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value<'js>, E> {
        let made = rquickjs::String::from_str(self.ctx.clone(), text).map_err(E::custom)?;
        Ok(made.into_value())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'js>, A::Error> {
        let array = Array::new(self.ctx.clone()).map_err(A::Error::custom)?;
        let mut index = 0;
        while let Some(item) = items.next_element_seed(self)? {
            super::define_element(&array, index, item).map_err(A::Error::custom)?;
            index += 1;
        }
        Ok(array.into_value())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value<'js>, A::Error> {
        let object = Object::new(self.ctx.clone()).map_err(A::Error::custom)?;
        let mut names = Names::default();
        while let Some(name) = members.next_key_seed(Name)? {
            names.push(&name);
            let value = members.next_value_seed(self)?;
            super::define_member(&object, &name, value).map_err(A::Error::custom)?;
        }
        if let Some(layouts) = self.layouts {
            layouts.note(&object, &names).map_err(A::Error::custom)?;
        }
        Ok(object.into_value())
    }
}

/// Reads the name of a member, without a copy where nothing in it is escaped.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Cow<'de, str>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    /// Compares the value with the engine's own: its properties, their order, attributes and kinds.
    #[track_caller]
    fn check(text: &str, is_made: bool) {
        let context = Context::full(&Runtime::new().expect("memory")).expect("memory");
        context.with(|ctx| {
            // The third is made along layouts that the second has kept.
            let layouts = Layouts::default();
            let values = [(); 3].map(|()| small(&ctx, Some(&layouts), text.as_bytes()));
            let describe: rquickjs::Function<'_> = ctx
                .eval(
                    "(function describe(v) {
                        if (typeof v === 'number') return Object.is(v, -0) ? '-0' : String(v);
                        if (typeof v !== 'object' || v === null) return typeof v + JSON.stringify(v);
                        const own = Object.getOwnPropertyNames(v).map((name) => {
                            const { value, writable, enumerable, configurable } = Object.getOwnPropertyDescriptor(v, name);
                            return [name, describe(value), writable, enumerable, configurable].join();
                        });
                        return `${Array.isArray(v)} ${Object.getPrototypeOf(v) === (Array.isArray(v) ? Array : Object).prototype} ${own}`;
                    })",
                )
                .expect("a function");
            let expect = ctx.json_parse(text).expect("JSON");
            let of = |value| -> String { describe.call((value,)).expect("a text") };
            let expect = of(expect);
            for value in values {
                assert_eq!(value.is_some(), is_made, "{text}");
                assert_eq!(value.map_or(expect.clone(), of), expect, "{text}");
            }
            layouts.clear();
        });
    }

    #[test]
    fn values_are_those_of_the_engine() {
        for text in [
            "null",
            " true\n",
            "-0",
            "0",
            "2147483647",
            "2147483648",
            "-2147483649",
            "9007199254740993",
            "18446744073709551616",
            "1e400",
            "5e-324",
            "0.1",
            "1.0",
            r#""a \u00e9 \ud83d\ude00 \" \\ \/ \n 끝""#,
            "[]",
            r#"[1,"b",[null],{"c":[]}]"#,
            "{}",
            r#"{"b":1,"a":2,"10":3,"9":4,"b":5,"__proto__":{"x":1},"constructor":null,"":0,"length":7}"#,
            r#"{"message":{"text":"x","index":0,"all":null,"metadata":{}},"trailers":{"x":["the end"]},"status":0}"#,
        ] {
            check(text, text != "1e400");
        }
    }

    /// A setter could parse another text while the layouts of this one are noted.
    #[test]
    fn layouts_run_no_code_of_scripts() {
        let context = Context::full(&Runtime::new().expect("memory")).expect("memory");
        context.with(|ctx| {
            let setter =
                "Object.defineProperty(Object.prototype, 'status', { set() { throw new Error('called') } })";
            ctx.eval::<(), _>(setter).expect("a setter");
            let layouts = Layouts::default();
            assert!([(); 3].into_iter().all(|()| small(&ctx, Some(&layouts), b"{\"status\":1}").is_some()));
            layouts.clear();
        });
    }

    #[test]
    fn what_serde_refuses_is_left_to_the_engine() {
        let refused = |text: &str| {
            let context = Context::full(&Runtime::new().expect("memory")).expect("memory");
            context.with(|ctx| assert!(small(&ctx, None, text.as_bytes()).is_none(), "{text}"));
        };
        for text in ["", "{", "[1,]", "{'a':1}", "1 2", "01", "NaN", "\u{feff}1", r#"{"a":1,}"#] {
            refused(text);
        }
        refused(&format!("\"{}\"", "x".repeat(BYTES_MAX)));
        refused(&format!("{}1{}", "[".repeat(1000), "]".repeat(1000)));
        // Half of a pair is a text in JavaScript.
        refused(r#""\ud83d""#);
    }
}
