//! Parts of the language that a VU has when its script asks for them: each takes memory in every VU, and an ordinary script names one or
//! two of them.
//!
//! The scope behind the global one ([`super::scope`]) makes a part when one of its names is first read there. The difference is
//! visible only to code that asks which properties the global object has itself. A script that [may ask](may_be_counted) gets VUs
//! with all parts.

use std::ffi::c_int;
use std::mem::MaybeUninit;

use rquickjs::context::intrinsic;
use rquickjs::object::Property;
use rquickjs::{Atom, Context, Ctx, Object, Runtime, Value, qjs};

use super::vu_of;
use crate::source::words;

/// A part of the language.
pub(crate) struct Part {
    /// The globals that it consists of.
    names: &'static [&'static str],
    add: unsafe extern "C" fn(*mut qjs::JSContext) -> c_int,
    /// Its bit among the parts that a VU has.
    bit: u8,
}

/// The parts that every VU has besides the engine's base: literals and keywords make their objects without naming a global.
type Always = (intrinsic::Eval, intrinsic::RegExp, intrinsic::Json, intrinsic::Promise);

/// `Date`
const DATE: Part = Part { names: &["Date"], add: qjs::JS_AddIntrinsicDate, bit: 1 };

/// Proxies.
const PROXY: Part = Part { names: &["Proxy"], add: qjs::JS_AddIntrinsicProxy, bit: 1 << 1 };

/// Maps and sets.
const COLLECTIONS: Part =
    Part { names: &["Map", "Set", "WeakMap", "WeakSet"], add: qjs::JS_AddIntrinsicMapSet, bit: 1 << 2 };

/// Buffers, their views, and what works on them.
pub(crate) const BUFFERS: Part = Part {
    names: &[
        "ArrayBuffer",
        "SharedArrayBuffer",
        "Uint8ClampedArray",
        "Int8Array",
        "Uint8Array",
        "Int16Array",
        "Uint16Array",
        "Int32Array",
        "Uint32Array",
        "BigInt64Array",
        "BigUint64Array",
        "Float16Array",
        "Float32Array",
        "Float64Array",
        "DataView",
        "Atomics",
    ],
    add: qjs::JS_AddIntrinsicTypedArrays,
    bit: 1 << 3,
};

/// References that do not keep their objects.
const WEAK_REFERENCES: Part =
    Part { names: &["WeakRef", "FinalizationRegistry"], add: qjs::JS_AddIntrinsicWeakRef, bit: 1 << 4 };

/// Base64 of browsers, and their exceptions.
const BASE64: Part =
    Part { names: &["DOMException", "atob", "btoa"], add: qjs::JS_AddIntrinsicAToB, bit: 1 << 5 };

/// All of them.
static PARTS: [Part; 6] = [DATE, PROXY, COLLECTIONS, BUFFERS, WEAK_REFERENCES, BASE64];

impl Part {
    /// Whether the VU has it.
    pub(crate) fn is_made(&self, ctx: &Ctx<'_>) -> bool {
        vu_of(ctx).parts.get() & self.bit != 0
    }
}

/// The part that has a global of this name, and the name.
pub(crate) fn named(name: &[u8]) -> Option<(&'static Part, &'static str)> {
    PARTS.iter().find_map(|part| {
        let known = part.names.iter().find(|known| known.as_bytes() == name)?;
        Some((part, *known))
    })
}

/// Makes a context of a VU with all parts, or with those that every VU has, and returns the bits of what it has.
///
/// # Errors
/// Memory is short.
pub(crate) fn context(runtime: &Runtime, has_all: bool) -> rquickjs::Result<(Context, u8)> {
    if has_all {
        return Ok((Context::full(runtime)?, u8::MAX));
    }
    Ok((Context::custom::<Always>(runtime)?, 0))
}

/// Makes a part, unless the VU has it.
///
/// # Errors
/// Memory is short, or the script has made one of the names a property that cannot be replaced.
pub(crate) fn make(ctx: &Ctx<'_>, part: &Part) -> rquickjs::Result<()> {
    if part.is_made(ctx) {
        return Ok(());
    }
    // A part that has failed is not made again: the objects of the first attempt would never be freed.
    let parts = &vu_of(ctx).parts;
    parts.set(parts.get() | part.bit);
    let globals = ctx.globals();
    let of_script: Vec<OwnProperty<'_>> =
        part.names.iter().filter_map(|name| OwnProperty::of(&globals, name)).collect();
    // SAFETY: the context is alive, and gets this part for the first time.
    let added = unsafe { (part.add)(ctx.as_raw().as_ptr()) };
    if added < 0 {
        return Err(rquickjs::Error::Exception);
    }
    move_to_scope(&globals, part.names)?;
    of_script.iter().try_for_each(OwnProperty::put_back)
}

/// Moves names from the global object, where the engine has put them, to the scope behind it. A script that sets one of them would
/// otherwise add it a second time, because it was not there when the engine looked for it.
fn move_to_scope<'js>(globals: &Object<'js>, names: &[&str]) -> rquickjs::Result<()> {
    let Some(scope) = globals.get_prototype() else { return Ok(()) };
    for name in names {
        let value: Value<'js> = globals.get(*name)?;
        globals.remove(*name)?;
        scope.prop(*name, Property::from(value).writable().configurable())?;
    }
    Ok(())
}

/// A property that the script has given the global object.
struct OwnProperty<'js> {
    globals: Object<'js>,
    name: Atom<'js>,
    /// It owns the values in it.
    descriptor: qjs::JSPropertyDescriptor,
}

impl Drop for OwnProperty<'_> {
    fn drop(&mut self) {
        let raw = self.globals.ctx().as_raw().as_ptr();
        let qjs::JSPropertyDescriptor { value, getter, setter, .. } = self.descriptor;
        // SAFETY: the values are ours, and are given back here, once.
        [value, getter, setter].into_iter().for_each(|value| unsafe { qjs::JS_FreeValue(raw, value) });
    }
}

impl<'js> OwnProperty<'js> {
    fn of(globals: &Object<'js>, name: &str) -> Option<OwnProperty<'js>> {
        let ctx = globals.ctx();
        let name = Atom::from_str(ctx.clone(), name).ok()?;
        let mut descriptor = MaybeUninit::uninit();
        // SAFETY: object and name are alive; the engine fills the descriptor where it returns 1, and the values in it are ours.
        let descriptor = unsafe {
            let raw = ctx.as_raw().as_ptr();
            let number = super::atom_number(&name);
            (qjs::JS_GetOwnProperty(raw, descriptor.as_mut_ptr(), globals.as_raw(), number) == 1)
                .then(|| descriptor.assume_init())
        };
        descriptor.map(|descriptor| OwnProperty { globals: globals.clone(), name, descriptor })
    }

    fn put_back(&self) -> rquickjs::Result<()> {
        /// The descriptor says all there is to say about the property.
        const HAS_ATTRIBUTES: u32 =
            qjs::JS_PROP_HAS_CONFIGURABLE | qjs::JS_PROP_HAS_WRITABLE | qjs::JS_PROP_HAS_ENUMERABLE;
        const HAS_FUNCTIONS: u32 = qjs::JS_PROP_HAS_CONFIGURABLE
            | qjs::JS_PROP_HAS_ENUMERABLE
            | qjs::JS_PROP_HAS_GET
            | qjs::JS_PROP_HAS_SET;
        let qjs::JSPropertyDescriptor { flags, value, getter, setter } = self.descriptor;
        let is_accessor = flags & qjs::JS_PROP_GETSET as c_int != 0;
        let said = if is_accessor { HAS_FUNCTIONS } else { HAS_ATTRIBUTES | qjs::JS_PROP_HAS_VALUE };
        let raw = self.globals.ctx().as_raw().as_ptr();
        let (object, number) = (self.globals.as_raw(), super::atom_number(&self.name));
        // SAFETY: object, name and values are alive, and the engine takes counts of its own.
        let put = unsafe {
            qjs::JS_DefineProperty(raw, object, number, value, getter, setter, flags | said as c_int)
        };
        if put < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
    }
}

/// Whether a script may ask which properties the global object has itself, judged by the words in its files.
pub(crate) fn may_be_counted<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> bool {
    /// Parts of the names of functions that show an object's own properties.
    const QUESTIONS: &[&str] = &["OwnProperty", "hasOwn", "propertyIsEnumerable", "Reflect"];
    /// Words that lead to the global object.
    const LEADS: &[&str] =
        &["globalThis", "global", "self", "window", "eval", "Function", "require", "exports"];
    let asks = texts.clone().any(|text| QUESTIONS.iter().any(|part| text.contains(part)));
    asks && texts.into_iter().any(|text| LEADS.iter().any(|word| words::has(text, word)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn globals_of(context: &Context) -> BTreeSet<String> {
        let names = "Object.getOwnPropertyNames(globalThis)";
        context.with(|ctx| ctx.eval::<Vec<String>, _>(names)).expect("the names").into_iter().collect()
    }

    #[test]
    fn the_parts_are_all_that_the_engine_has() {
        let runtime = Runtime::new().expect("a runtime");
        let [all, base] = [true, false].map(|has_all| context(&runtime, has_all).expect("a context").0);
        // The host replaces the engine's own.
        let known = PARTS.iter().flat_map(|part| part.names).copied().chain(["performance"]);
        let mut names = globals_of(&base);
        assert!(known.clone().all(|name| !names.contains(name)), "{names:?}");
        names.extend(known.map(str::to_owned));
        assert_eq!(names, globals_of(&all));
    }

    #[test]
    fn scripts_that_may_count_are_known_by_their_words() {
        let check = |texts: &[&str], expect: bool| {
            assert_eq!(may_be_counted(texts.iter().copied()), expect, "{texts:?}");
        };
        check(&["new Map()"], false);
        check(&["Object.hasOwn(options, 'a')"], false);
        check(&["Object.hasOwn(globalThis, 'Map')"], true);
        check(&["({}).hasOwnProperty.call(self, 'Map')"], true);
        check(&["Reflect.ownKeys(x)", "export const x = globalThis"], true);
        check(&["itself.hasOwnProperty(my_global)"], false);
        check(&["globalThis.Map"], false);
        check(&["Object.getOwnPropertyNames(x)", "exports.x = this"], true);
    }
}
