//! The scope behind the global one: what is read there and is no property of the global object is made when it is first
//! read. It is the prototype of the global object, so that an unused global costs a VU nothing at all.

use std::ffi::c_int;

use rquickjs::{Ctx, Value, qjs};

use super::intrinsics::{self, Part};
use super::registry::{LazyGlobal, Registry};
use super::vu_of;

/// The engine's description of the class; only the one method is asked for on every path (get, set, has).
struct Methods(qjs::JSClassExoticMethods);

// SAFETY: it holds function pointers and is never written.
unsafe impl Sync for Methods {}

static METHODS: Methods = Methods(qjs::JSClassExoticMethods {
    get_own_property: Some(get_own_property),
    get_own_property_names: None,
    delete_property: None,
    define_own_property: None,
    has_property: None,
    get_property: None,
    set_property: None,
});

/// Puts the scope there.
pub(crate) fn install<'js>(ctx: &Ctx<'js>) -> rquickjs::Result<()> {
    let definition = qjs::JSClassDef {
        class_name: c"Globals".as_ptr(),
        finalizer: None,
        gc_mark: None,
        call: None,
        exotic: (&raw const METHODS.0).cast_mut(),
    };
    let globals = ctx.globals();
    let above =
        globals.get_prototype().map_or_else(|| Value::new_null(ctx.clone()), |above| above.into_value());
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the number is new in this runtime, the engine copies the definition, and what it points to is static and
    // only read; the new object is owned.
    let scope = unsafe {
        let runtime = qjs::JS_GetRuntime(raw);
        let mut class = 0;
        qjs::JS_NewClassID(runtime, &mut class);
        if qjs::JS_NewClass(runtime, class, &definition) < 0 {
            return Err(rquickjs::Error::Exception);
        }
        Value::from_raw(ctx.clone(), qjs::JS_NewObjectProtoClass(raw, above.as_raw(), class))
    };
    let scope = scope.into_object().ok_or(rquickjs::Error::Exception)?;
    globals.set_prototype(Some(&scope))
}

/// Asked when a name is neither a property of the global object nor one that was made before.
unsafe extern "C" fn get_own_property(
    raw: *mut qjs::JSContext,
    descriptor: *mut qjs::JSPropertyDescriptor,
    scope: qjs::JSValue,
    name: qjs::JSAtom,
) -> c_int {
    const ABSENT: c_int = 0;
    const PRESENT: c_int = 1;
    const EXCEPTION: c_int = -1;
    // SAFETY: the engine calls with a live context, object and atom; the descriptor is null or to be filled, and what is
    // put into it and into the object is owned by them.
    unsafe {
        let ctx = Ctx::from_raw(std::ptr::NonNull::new_unchecked(raw));
        let Some(unmade) = named(&ctx, name) else { return ABSENT };
        if descriptor.is_null() {
            return PRESENT;
        }
        // The binding keeps an exception of JavaScript where the engine looks for it; its own errors never leave a build.
        let made = vu::preempt::out_of_engine(|| unmade.make(&ctx));
        let Ok(value) = made else { return EXCEPTION };
        // The next reader finds it as a plain property.
        let flags = (qjs::JS_PROP_WRITABLE | qjs::JS_PROP_CONFIGURABLE) as c_int;
        if qjs::JS_DefinePropertyValue(raw, scope, name, qjs::JS_DupValue(raw, value.as_raw()), flags) < 0 {
            return EXCEPTION;
        }
        (*descriptor).flags = flags;
        (*descriptor).value = qjs::JS_DupValue(raw, value.as_raw());
        (*descriptor).getter = qjs::JS_UNDEFINED;
        (*descriptor).setter = qjs::JS_UNDEFINED;
    }
    PRESENT
}

/// A global that this VU does not have yet.
enum Unmade {
    Hosts(&'static LazyGlobal),
    Languages(&'static Part, &'static str),
}

impl Unmade {
    fn make<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        match self {
            Unmade::Hosts(lazy) => (lazy.build)(ctx, &vu_of(ctx)),
            Unmade::Languages(part, name) => {
                intrinsics::make(ctx, part)?;
                ctx.globals().get(*name)
            }
        }
    }
}

/// The global of that name.
///
/// # Safety
/// The atom must be alive.
unsafe fn named(ctx: &Ctx<'_>, name: qjs::JSAtom) -> Option<Unmade> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the text is the engine's until it is given back, which happens before the return.
    unsafe {
        let mut length = 0;
        let text = qjs::JS_AtomToCStringLen(raw, &mut length, name);
        if text.is_null() {
            return None;
        }
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
        let hosts = Registry::in_context(ctx).globals.iter().find(|lazy| lazy.name.as_bytes() == bytes);
        let found = hosts.map(Unmade::Hosts).or_else(|| {
            let (part, name) = intrinsics::named(bytes)?;
            (!part.is_made(ctx)).then_some(Unmade::Languages(part, name))
        });
        qjs::JS_FreeCString(raw, text);
        found
    }
}
