//! The thin layer over the QuickJS binding: natives, errors, bytecode. All of this crate's `unsafe` is here.
#![expect(unsafe_code, reason = "what the safe binding does not offer; each block states its invariant")]

pub(crate) mod code;
pub(crate) mod heap;
pub(crate) mod intrinsics;
pub(crate) mod jobs;
pub(crate) mod lazy;
pub(crate) mod library;
mod parse;
pub(crate) mod plain;
pub(crate) mod prelude;
#[cfg(target_os = "linux")]
mod regex;
pub(crate) mod registry;
pub(crate) mod scope;
mod surrogates;
pub(crate) mod tags;

use std::rc::Rc;
use std::sync::Arc;

use rquickjs::function::{IntoJsFunc, ParamRequirement, Params};
use rquickjs::{Ctx, Exception, Function, JsLifetime, Object, Value, qjs};

use crate::state::VuState;

/// A native function's arguments.
pub(crate) struct Args<'a, 'js> {
    pub(crate) ctx: &'a Ctx<'js>,
    pub(crate) vu: &'a Rc<VuState>,
    params: &'a Params<'a, 'js>,
}

impl<'js> Args<'_, 'js> {
    /// Argument `index`; `undefined` when it was not given.
    pub(crate) fn get(&self, index: usize) -> Value<'js> {
        self.params.arg(index).unwrap_or_else(|| Value::new_undefined(self.ctx.clone()))
    }

    /// Argument `index` unless it is missing, `undefined` or `null`.
    pub(crate) fn given(&self, index: usize) -> Option<Value<'js>> {
        self.params.arg(index).filter(|value| !value.is_undefined() && !value.is_null())
    }

    /// How many arguments were given.
    pub(crate) fn len(&self) -> usize {
        self.params.len()
    }

    /// The `this` of the call.
    pub(crate) fn this(&self) -> Value<'js> {
        self.params.this()
    }

    /// Argument `index` converted to a string as JavaScript does it.
    pub(crate) fn string(&self, index: usize) -> rquickjs::Result<String> {
        to_string(self.ctx, &self.get(index))
    }

    /// `undefined`
    pub(crate) fn undefined(&self) -> rquickjs::Result<Value<'js>> {
        Ok(Value::new_undefined(self.ctx.clone()))
    }

    /// An `Error` to throw.
    pub(crate) fn error(&self, message: impl AsRef<str>) -> rquickjs::Error {
        go_error(self.ctx, message.as_ref())
    }

    /// As [`pause`].
    ///
    /// # Errors
    /// The iteration must end.
    pub(crate) fn pause(&self) -> rquickjs::Result<()> {
        pause(self.ctx, self.vu)
    }

    /// Parses JSON as the engine does. The caller holds nothing that other VUs of the thread could need.
    ///
    /// # Errors
    /// The text is not JSON, or memory is short.
    pub(crate) fn json_parse(&self, text: &[u8]) -> rquickjs::Result<Value<'js>> {
        json_parse(self.ctx, text)
    }

    /// A `TypeError` to throw.
    pub(crate) fn type_error(&self, message: impl AsRef<str>) -> rquickjs::Error {
        Exception::throw_type(self.ctx, message.as_ref())
    }
}

/// As [`Args::json_parse`].
///
/// # Errors
/// The text is not JSON, or memory is short.
pub(crate) fn json_parse<'js>(ctx: &Ctx<'js>, text: &[u8]) -> rquickjs::Result<Value<'js>> {
    let vu = vu_if_any(ctx);
    match parse::small(ctx, vu.as_ref().map(|vu| &vu.parsed_layouts), text) {
        Some(value) => Ok(value),
        None => vu::preempt::in_engine(|| ctx.json_parse(text)),
    }
}

/// Defines an own property as `JSON.parse` does, whatever its name.
///
/// # Errors
/// Memory is short.
pub(crate) fn define_member<'js>(
    object: &Object<'js>,
    name: &str,
    value: Value<'js>,
) -> rquickjs::Result<()> {
    let ctx = object.ctx().as_raw().as_ptr();
    // SAFETY: the context is alive, and the name is a valid range. The call owns the duplicate of the value; the atom is freed once.
    let status = unsafe {
        let atom = qjs::JS_NewAtomLen(ctx, name.as_ptr().cast(), name.len() as _);
        if atom == qjs::JS_ATOM_NULL {
            return Err(rquickjs::Error::Exception);
        }
        let owned = qjs::JS_DupValue(ctx, value.as_raw());
        let status = qjs::JS_DefinePropertyValue(ctx, object.as_raw(), atom, owned, qjs::JS_PROP_C_W_E as _);
        qjs::JS_FreeAtom(ctx, atom);
        status
    };
    if status < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
}

/// Defines an element of an array.
///
/// # Errors
/// Memory is short.
fn define_element<'js>(array: &rquickjs::Array<'js>, index: u32, value: Value<'js>) -> rquickjs::Result<()> {
    let ctx = array.ctx().as_raw().as_ptr();
    // SAFETY: the context is alive. The call owns the duplicate of the value.
    let status = unsafe {
        let owned = qjs::JS_DupValue(ctx, value.as_raw());
        qjs::JS_DefinePropertyValueUint32(ctx, array.as_raw(), index, owned, qjs::JS_PROP_C_W_E as _)
    };
    if status < 0 { Err(rquickjs::Error::Exception) } else { Ok(()) }
}

/// A function of the host.
pub(crate) type NativeFn = for<'a, 'js> fn(&Args<'a, 'js>) -> rquickjs::Result<Value<'js>>;

struct Native {
    vu: Rc<VuState>,
    function: NativeFn,
}

impl<'js> IntoJsFunc<'js, ()> for Native {
    fn param_requirements() -> ParamRequirement {
        ParamRequirement::any()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> rquickjs::Result<Value<'js>> {
        let args = Args { ctx: params.ctx(), vu: &self.vu, params: &params };
        let result = vu::preempt::out_of_engine(|| (self.function)(&args));
        if vu::slices::is_over() {
            vu::yield_now();
        }
        result
    }
}

/// A closure of the host as a function of JavaScript.
struct Closure<F>(F);

impl<'js, P, F: IntoJsFunc<'js, P>> IntoJsFunc<'js, P> for Closure<F> {
    fn param_requirements() -> ParamRequirement {
        F::param_requirements()
    }

    fn call<'a>(&self, params: Params<'a, 'js>) -> rquickjs::Result<Value<'js>> {
        vu::preempt::out_of_engine(|| self.0.call(params))
    }
}

/// Makes a JavaScript function of a closure.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(crate) fn closure<'js, P, F: IntoJsFunc<'js, P> + 'js>(
    ctx: &Ctx<'js>,
    closure: F,
) -> rquickjs::Result<Function<'js>> {
    Function::new(ctx.clone(), Closure(closure))
}

/// Makes a JavaScript function of a native one.
#[expect(clippy::disallowed_methods, reason = "its calls go through `Native::call`")]
pub(crate) fn native<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    name: &str,
    function: NativeFn,
) -> rquickjs::Result<Function<'js>> {
    Function::new(ctx.clone(), Native { vu: vu.clone(), function })?.with_name(name)
}

/// Makes a constructor of a native function, which returns the new object and gets `new.target` as `this`.
pub(crate) fn constructor<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    name: &str,
    function: NativeFn,
) -> rquickjs::Result<Function<'js>> {
    let made = native(ctx, vu, name, function)?.with_constructor(true);
    made.as_object().map_or(Ok(()), |object| object.set("prototype", Object::new(ctx.clone())?))?;
    Ok(made)
}

/// Sets several natives on an object.
pub(crate) fn set_natives<'js>(
    object: &Object<'js>,
    vu: &Rc<VuState>,
    natives: &[(&'static str, NativeFn)],
) -> rquickjs::Result<()> {
    for (name, function) in natives {
        object.set(*name, native(object.ctx(), vu, name, *function)?)?;
    }
    Ok(())
}

/// Defines a read-only accessor.
pub(crate) fn getter<'js>(
    object: &Object<'js>,
    vu: &Rc<VuState>,
    name: &str,
    function: NativeFn,
) -> rquickjs::Result<()> {
    let getter = native(object.ctx(), vu, name, function)?;
    let descriptor = Object::new(object.ctx().clone())?;
    descriptor.set("get", getter)?;
    descriptor.set("enumerable", true)?;
    descriptor.set("configurable", true)?;
    define_property(object, name, descriptor)
}

/// `Object.defineProperty(object, name, descriptor)`
pub(crate) fn define_property<'js>(
    object: &Object<'js>,
    name: &str,
    descriptor: Object<'js>,
) -> rquickjs::Result<()> {
    let define: Function<'js> =
        object.ctx().globals().get::<_, Object<'js>>("Object")?.get("defineProperty")?;
    define.call::<_, Value<'js>>((object.clone(), name, descriptor))?;
    Ok(())
}

/// Converts as `String(value)` does; lone surrogates become the replacement character.
pub(crate) fn to_string<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<String> {
    with_text(ctx, value, str::to_owned)
}

/// Shows the text of `String(value)`: the engine's own bytes where they are ASCII, without a copy.
pub(crate) fn with_text<'js, T>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    look: impl FnOnce(&str) -> T,
) -> rquickjs::Result<T> {
    let text = Text::new(ctx, value).ok_or(rquickjs::Error::Exception)?;
    Ok(look(&surrogates::replaced(text.bytes())))
}

/// Where a string or an object lies: its identity for as long as something refers to it.
pub(crate) fn address_of(value: &Value<'_>) -> usize {
    // SAFETY: the macro only takes the pointer's bits out of the value.
    unsafe { qjs::JS_VALUE_GET_PTR(value.as_raw()) as usize }
}

/// A value's text while it is looked at.
struct Text<'a, 'js> {
    ctx: &'a Ctx<'js>,
    start: *const std::ffi::c_char,
    length: usize,
}

impl<'a, 'js> Text<'a, 'js> {
    fn new(ctx: &'a Ctx<'js>, value: &Value<'js>) -> Option<Text<'a, 'js>> {
        let mut length = 0;
        // SAFETY: `value` belongs to `ctx`; the out-pointer is valid, and what is returned is freed in `drop`.
        let start = unsafe { qjs::JS_ToCStringLen(ctx.as_raw().as_ptr(), &mut length, value.as_raw()) };
        (!start.is_null()).then_some(Text { ctx, start, length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the engine gave this many bytes, and they stay until they are given back in `drop`.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.length) }
    }
}

impl Drop for Text<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from `JS_ToCStringLen` of this context and is freed once.
        unsafe { qjs::JS_FreeCString(self.ctx.as_raw().as_ptr(), self.start) };
    }
}

/// A string of bytes that should be UTF-8; what is not becomes the replacement character.
pub(crate) fn string_from_bytes<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the bytes are alive for the call, which copies them, checks them itself and returns an owned value.
    let value = unsafe {
        let raw = qjs::JS_NewStringLen(ctx.as_raw().as_ptr(), bytes.as_ptr().cast(), bytes.len() as _);
        Value::from_raw(ctx.clone(), raw)
    };
    if value.is_exception() { Err(rquickjs::Error::Exception) } else { Ok(value) }
}

/// Converts as `Number(value)` does.
pub(crate) fn to_number<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<f64> {
    if let Some(number) = value.as_number() {
        return Ok(number);
    }
    let mut number = 0.0;
    // SAFETY: `value` belongs to `ctx`; the out-pointer is valid for the call.
    let status = unsafe { qjs::JS_ToFloat64(ctx.as_raw().as_ptr(), &mut number, value.as_raw()) };
    if status < 0 { Err(rquickjs::Error::Exception) } else { Ok(number) }
}

/// Converts as `Boolean(value)` does.
pub(crate) fn to_bool(value: &Value<'_>) -> bool {
    if let Some(boolean) = value.as_bool() {
        return boolean;
    }
    // SAFETY: `value` belongs to its own context; the call only reads it.
    unsafe { qjs::JS_ToBool(value.ctx().as_raw().as_ptr(), value.as_raw()) > 0 }
}

/// Converts as `Object(value)` does.
pub(crate) fn to_object<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> rquickjs::Result<Object<'js>> {
    ctx.globals().get::<_, Function<'js>>("Object")?.call((value.clone(),))
}

/// Returns whether a condition holds: a function is called with `argument`, and its result, or any other value, is converted to a
/// boolean. A promise is neither true nor false: `None`.
///
/// # Errors
/// The function throws.
pub(crate) fn holds<'js>(condition: &Value<'js>, argument: &Value<'js>) -> rquickjs::Result<Option<bool>> {
    let ctx = condition.ctx();
    // SAFETY: the condition belongs to its context, and the engine only reads it.
    if !unsafe { qjs::JS_IsFunction(ctx.as_raw().as_ptr(), condition.as_raw()) } {
        return Ok(Some(to_bool(condition)));
    }
    let raw = call_raw(condition, [argument]);
    // SAFETY: both macros only look at the value. A boolean holds no memory, so that nothing has to own it.
    if unsafe { qjs::JS_IsBool(raw) } {
        return Ok(Some(unsafe { qjs::JS_VALUE_GET_BOOL(raw) }));
    }
    let result = owned(ctx, raw)?;
    Ok((!result.is_promise()).then(|| to_bool(&result)))
}

/// Calls a function. It is the binding's call without its list of arguments and its question what kind of function this is, because
/// every check and every message goes through here.
///
/// # Errors
/// The function throws, or the value is none.
pub(crate) fn call<'js, const N: usize>(
    function: &Value<'js>,
    arguments: [&Value<'js>; N],
) -> rquickjs::Result<Value<'js>> {
    owned(function.ctx(), call_raw(function, arguments))
}

/// As [`call`]; the result belongs to the caller.
fn call_raw<'js, const N: usize>(function: &Value<'js>, arguments: [&Value<'js>; N]) -> qjs::JSValue {
    let mut arguments = arguments.map(|argument| argument.as_raw());
    let (ctx, function, this) = (function.ctx().as_raw().as_ptr(), function.as_raw(), qjs::JS_UNDEFINED);
    // SAFETY: all values belong to the function's context, and the call keeps none of them.
    let call = || unsafe { qjs::JS_Call(ctx, function, this, N as _, arguments.as_mut_ptr()) };
    vu::preempt::in_engine(call)
}

/// The value that the engine has returned.
fn owned<'js>(ctx: &Ctx<'js>, raw: qjs::JSValue) -> rquickjs::Result<Value<'js>> {
    // SAFETY: the engine has made the value in `ctx` and has passed it to the caller, which uses it nowhere else.
    let value = unsafe { Value::from_raw(ctx.clone(), raw) };
    if value.is_exception() { Err(rquickjs::Error::Exception) } else { Ok(value) }
}

/// Whether a value is an object of the class `Object`, with whatever prototype.
pub(crate) fn is_plain_object(value: &Value<'_>) -> bool {
    /// `JS_CLASS_OBJECT`, the engine's first class.
    const OBJECT_CLASS: qjs::JSClassID = 1;
    // SAFETY: the value is alive, and the call only reads it.
    value.is_object() && unsafe { qjs::JS_GetClassID(value.as_raw()) } == OBJECT_CLASS
}

/// The name of a property while [`each_property`] shows it.
pub(crate) struct PropertyName<'a, 'js> {
    ctx: &'a Ctx<'js>,
    atom: qjs::JSAtom,
}

impl PropertyName<'_, '_> {
    /// The engine's number of the name, which is the name's as long as it is in use somewhere.
    pub(crate) fn number(&self) -> u32 {
        self.atom
    }

    pub(crate) fn to_text(&self) -> rquickjs::Result<String> {
        // SAFETY: the atom is alive as long as the table that showed it; the binding takes a count of its own.
        let value = unsafe {
            let raw = qjs::JS_AtomToString(self.ctx.as_raw().as_ptr(), self.atom);
            Value::from_raw(self.ctx.clone(), raw)
        };
        to_string(self.ctx, &value)
    }
}

/// An empty object that inherits from `prototype` and is laid out like others of that kind, which an object whose prototype
/// was changed is not.
pub(crate) fn object_with_prototype<'js>(
    ctx: &Ctx<'js>,
    prototype: &Object<'js>,
) -> rquickjs::Result<Object<'js>> {
    // SAFETY: the prototype belongs to `ctx`, and the engine takes a count of its own; the result is owned.
    let value = unsafe {
        Value::from_raw(ctx.clone(), qjs::JS_NewObjectProto(ctx.as_raw().as_ptr(), prototype.as_raw()))
    };
    value.into_object().ok_or(rquickjs::Error::Exception)
}

/// The names of an object's own properties, freed whatever becomes of the visit.
struct PropertyTable<'a, 'js> {
    ctx: &'a Ctx<'js>,
    names: *mut qjs::JSPropertyEnum,
    count: u32,
}

impl Drop for PropertyTable<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: the engine made the table with this count, and it is freed once.
        unsafe { qjs::JS_FreePropertyEnum(self.ctx.as_raw().as_ptr(), self.names, self.count) };
    }
}

/// Shows every own enumerable property in order, as `Object.entries` does. It is the binding's iterator without its
/// objects for each name, because every check of every iteration goes through here.
///
/// # Errors
/// A getter throws, or the visitor says no.
pub(crate) fn each_property<'js>(
    object: &Value<'js>,
    mut visit: impl FnMut(&PropertyName<'_, 'js>, Value<'js>) -> rquickjs::Result<()>,
) -> rquickjs::Result<()> {
    let ctx = object.ctx();
    let raw = ctx.as_raw().as_ptr();
    let flags = qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY;
    let mut table = PropertyTable { ctx, names: std::ptr::null_mut(), count: 0 };
    // SAFETY: the object belongs to `ctx`; both out-pointers are valid, and on failure they stay as they are.
    let status = unsafe {
        qjs::JS_GetOwnPropertyNames(raw, &mut table.names, &mut table.count, object.as_raw(), flags as _)
    };
    if status < 0 {
        return Err(rquickjs::Error::Exception);
    }
    for index in 0..table.count as usize {
        // SAFETY: the table holds `count` entries, and its atoms are alive until it is dropped; the value is owned.
        let (atom, value) = unsafe {
            let atom = (*table.names.add(index)).atom;
            (atom, Value::from_raw(ctx.clone(), qjs::JS_GetProperty(raw, object.as_raw(), atom)))
        };
        if value.is_exception() {
            return Err(rquickjs::Error::Exception);
        }
        visit(&PropertyName { ctx, atom }, value)?;
    }
    Ok(())
}

/// An error of the host's own; k6's name for them is `GoError`, and scripts match on it.
pub(crate) fn go_error(ctx: &Ctx<'_>, message: &str) -> rquickjs::Error {
    match Exception::from_message(ctx.clone(), message) {
        Ok(exception) => {
            let object = exception.into_object();
            // Without the name it is still an error with the right text.
            let _ = object.set("name", "GoError");
            ctx.throw(object.into_value())
        }
        Err(error) => error,
    }
}

/// Lets others run if the slice is over. To be called between two pieces of work that may take long.
///
/// # Errors
/// The iteration must end.
pub(crate) fn pause(ctx: &Ctx<'_>, vu: &VuState) -> rquickjs::Result<()> {
    if vu.must_stop() { Err(throw_uncatchable(ctx)) } else { Ok(()) }
}

/// Throws an error that no JavaScript can catch: the whole stack unwinds to the host.
pub(crate) fn throw_uncatchable(ctx: &Ctx<'_>) -> rquickjs::Error {
    let Ok(exception) = Exception::from_message(ctx.clone(), "interrupted") else {
        return rquickjs::Error::Exception;
    };
    let value = exception.into_object().into_value();
    // SAFETY: `value` is a live error object of `ctx`.
    unsafe { qjs::JS_SetUncatchableError(ctx.as_raw().as_ptr(), value.as_raw()) };
    ctx.throw(value)
}

/// The bytes behind an ArrayBuffer or a view of one; `None` for anything else.
pub(crate) fn bytes_of(value: &Value<'_>) -> Option<Vec<u8>> {
    with_bytes(value, <[u8]>::to_vec)
}

/// Shows the bytes behind an ArrayBuffer or a view of one, without a copy; `None` for anything else. `look` runs no script.
pub(crate) fn with_bytes<T>(value: &Value<'_>, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let object = value.as_object()?;
    if let Some(buffer) = rquickjs::ArrayBuffer::from_object(object.clone()) {
        let raw = buffer.as_raw()?;
        // SAFETY: the buffer is alive, and nothing that runs between taking its address and the end of the look changes it.
        return Some(look(unsafe { raw.as_ref() }));
    }
    look_at_view(object, look)
}

fn look_at_view<T>(object: &Object<'_>, look: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let buffer: Object<'_> = object.get("buffer").ok()?;
    let buffer = rquickjs::ArrayBuffer::from_object(buffer)?;
    let offset: usize = object.get("byteOffset").ok()?;
    let length: usize = object.get("byteLength").ok()?;
    let raw = buffer.as_raw()?;
    // SAFETY: as above; the range is checked against the buffer's own length.
    unsafe { raw.as_ref() }.get(offset..offset.checked_add(length)?).map(look)
}

/// An ArrayBuffer with these bytes.
#[expect(clippy::disallowed_methods, reason = "the VU has buffers by then")]
pub(crate) fn array_buffer<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<Value<'js>> {
    intrinsics::make(ctx, &intrinsics::BUFFERS)?;
    Ok(rquickjs::ArrayBuffer::new_copy(ctx.clone(), bytes)?.into_value())
}

/// A Uint8Array with these bytes.
#[expect(clippy::disallowed_methods, reason = "the VU has buffers by then")]
pub(crate) fn byte_array<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> rquickjs::Result<Value<'js>> {
    intrinsics::make(ctx, &intrinsics::BUFFERS)?;
    Ok(rquickjs::TypedArray::<u8>::new_copy(ctx.clone(), bytes)?.into_value())
}

/// Compiles a script (not a module) and returns its bytecode.
pub(crate) fn compile_script(ctx: &Ctx<'_>, name: &str, source: &str) -> rquickjs::Result<Arc<[u8]>> {
    let name = std::ffi::CString::new(name)?;
    // The compiler reads the byte after the text, which must be zero.
    let text = std::ffi::CString::new(source)?;
    let flags = qjs::JS_EVAL_TYPE_GLOBAL | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: both strings outlive the call and are terminated; the length excludes the terminator.
    let function = unsafe {
        let compiled = qjs::JS_Eval(raw, text.as_ptr(), source.len() as _, name.as_ptr(), flags as _);
        Value::from_raw(ctx.clone(), compiled)
    };
    if function.is_exception() {
        return Err(rquickjs::Error::Exception);
    }
    let mut length = 0;
    // SAFETY: the value is bytecode just compiled in this context; the buffer is copied and freed at once.
    unsafe {
        let flags = qjs::JS_WRITE_OBJ_BYTECODE | qjs::JS_WRITE_OBJ_STRIP_SOURCE;
        let buffer = qjs::JS_WriteObject(raw, &mut length, function.as_raw(), flags as _);
        if buffer.is_null() {
            return Err(rquickjs::Error::Exception);
        }
        let bytes = std::slice::from_raw_parts(buffer, length as usize).into();
        qjs::js_free(raw, buffer.cast());
        Ok(bytes)
    }
}

/// Runs a compiled script and returns its value.
pub(crate) fn run_script<'js>(ctx: &Ctx<'js>, bytecode: &Arc<[u8]>) -> rquickjs::Result<Value<'js>> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the bytes were written by `compile_script` of this very binary and never left the process; reading
    // yields an owned function, which evaluation consumes.
    let value = unsafe {
        let function =
            qjs::JS_ReadObject(raw, bytecode.as_ptr(), bytecode.len() as _, qjs::JS_READ_OBJ_BYTECODE as _);
        if qjs::JS_IsException(function) {
            return Err(rquickjs::Error::Exception);
        }
        Value::from_raw(ctx.clone(), qjs::JS_EvalFunction(raw, function))
    };
    if value.is_exception() { Err(rquickjs::Error::Exception) } else { Ok(value) }
}

/// Loads a module from its bytecode.
pub(crate) fn load_module<'js>(
    ctx: &Ctx<'js>,
    bytecode: &Arc<[u8]>,
) -> rquickjs::Result<rquickjs::Module<'js>> {
    // SAFETY: the bytes were written by `Module::write` of this very binary and never left the process.
    unsafe { rquickjs::Module::load(ctx.clone(), bytecode) }
}

/// The engine's number of an atom, which the binding shows only by hashing it. It is the atom's as long as the name is
/// in use somewhere.
pub(crate) fn atom_number(atom: &rquickjs::Atom<'_>) -> u32 {
    struct Number(u32);
    impl std::hash::Hasher for Number {
        fn finish(&self) -> u64 {
            self.0.into()
        }
        fn write(&mut self, _bytes: &[u8]) {}
        fn write_u32(&mut self, number: u32) {
            self.0 = number;
        }
    }
    let mut number = Number(0);
    std::hash::Hash::hash(atom, &mut number);
    number.0
}

/// Where this version of the engine keeps, in its context, how many operations are left until it asks whether to stop. The
/// binding does not show it; [`countdown`] checks that it is there before it relies on it.
const COUNT_OFFSET_BYTES: usize = 548;

/// The most operations until the engine asks.
const COUNT_MAX: std::ffi::c_int = 10_000;

/// Has the engine ask whether to stop when a slice of the running coroutine is over, and not only after so many operations.
/// `None` where the count is not where it is looked for: then operations alone count. The interrupt handler must be set.
pub(crate) fn countdown(ctx: &Ctx<'_>) -> Option<vu::slices::Countdown> {
    static IS_THERE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let start = ctx.as_raw().as_ptr().cast::<u8>();
    // SAFETY: on machines of 64 bits the context has 592 bytes, and the number is aligned.
    let count = std::ptr::NonNull::new(unsafe { start.add(COUNT_OFFSET_BYTES) })?.cast::<std::ffi::c_int>();
    if !*IS_THERE.get_or_init(|| cfg!(target_pointer_width = "64") && counts_down(ctx, count)) {
        return None;
    }
    // SAFETY: the count lives as long as its context, which outlives what is returned here, and is used only by the engine.
    unsafe { vu::slices::Countdown::new(count) }
}

/// Whether the number is smaller after a loop, by a few operations for each of its passes.
fn counts_down(ctx: &Ctx<'_>, count: std::ptr::NonNull<std::ffi::c_int>) -> bool {
    const PASSES: std::ffi::c_int = 100;
    /// A new context's count is zero, and one may begin anew within a loop.
    const TRIES: usize = 3;
    // SAFETY: as above; any four bytes are a number.
    let read = || unsafe { count.as_ptr().read_volatile() };
    (0..TRIES).any(|_| {
        let before = read();
        let is_run = ctx.eval::<(), _>(format!("for (let i = 0; i < {PASSES}; i++);")).is_ok();
        let after = read();
        is_run
            && (0..=COUNT_MAX).contains(&before)
            && before.checked_sub(after).is_some_and(|passed| (PASSES..4 * PASSES).contains(&passed))
    })
}

/// How modules, which are made by static functions, find their VU and the host's registry.
#[derive(Clone)]
pub(crate) struct VuHandle {
    pub(crate) vu: Rc<VuState>,
    pub(crate) registry: &'static registry::Registry,
}

// SAFETY: the handle holds nothing with a JavaScript lifetime.
unsafe impl JsLifetime<'_> for VuHandle {
    type Changed<'to> = VuHandle;
}

/// Implements `JsLifetime` for a class whose Rust side holds no JavaScript value outside of `Value<'js>` fields: without a
/// lifetime the type is the same under every one, and with one only that lifetime changes.
macro_rules! js_lifetime {
    ($class:ident<'js>) => {
        #[expect(unsafe_code, reason = "the binding asks for it of every class")]
        // SAFETY: the type is the same but for the lifetime of the values in it.
        unsafe impl<'js> rquickjs::JsLifetime<'js> for $class<'js> {
            type Changed<'to> = $class<'to>;
        }
    };
    ($class:ident) => {
        #[expect(unsafe_code, reason = "the binding asks for it of every class")]
        // SAFETY: the type has no lifetime, so it holds no JavaScript value.
        unsafe impl rquickjs::JsLifetime<'_> for $class {
            type Changed<'to> = $class;
        }
    };
}
pub(crate) use js_lifetime;

/// The VU that owns a context; none while the context is taken down.
fn vu_if_any(ctx: &Ctx<'_>) -> Option<Rc<VuState>> {
    Some(ctx.userdata::<VuHandle>()?.vu.clone())
}

/// The VU that owns a context.
pub(crate) fn vu_of(ctx: &Ctx<'_>) -> Rc<VuState> {
    ctx.userdata::<VuHandle>().expect("every context is made with its VU").vu.clone()
}
