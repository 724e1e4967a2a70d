//! Where the engine's machine code lies, so that it can be [preempted](vu::preempt).
//!
//! The engine is C, compiled into objects that a linker lays side by side. It exports few of its functions, and those that
//! compute are between them; a test compares the addresses with the linker's own table.

use std::ops::Range;
use std::sync::Once;

use rquickjs::{Context, Ctx, Object, Runtime, qjs};

/// The engine's machine code is this long at most; otherwise something else lies between its functions.
const CODE_BYTES_MAX: usize = 4 << 20;

/// Words of a function object that are searched for the address of its C function.
const OBJECT_WORDS: usize = 8;

unsafe extern "C" {
    // Of the engine's objects beside its main one: regular expressions, Unicode, numbers. `lre_exec`, which takes the longest, lies
    // between the two that stand around it in its source; its own name is led elsewhere (see `regex`).
    fn lre_compile();
    fn lre_get_groupnames();
    fn unicode_normalize();
    fn js_atod();
}

/// Has the engine's code preempted from now on, where it can be found.
pub(crate) fn set_engine_code() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        if let Some(code) = find() {
            // SAFETY: only the engine's functions lie between its first and its last, and what it shares beyond a runtime are
            // numbers of classes, counted atomically, and a list of threads that wait, which is empty: VUs may not block.
            unsafe { vu::preempt::set_engine_code(code) };
        }
    });
}

/// The code from the first known function to the start of the last known one.
fn find() -> Option<Range<usize>> {
    let known = [
        qjs::JS_GetVersion as *const () as usize,
        qjs::JS_NewRuntime2 as *const () as usize,
        qjs::JS_NewContext as *const () as usize,
        qjs::JS_AddIntrinsicAToB as *const () as usize,
        lre_compile as *const () as usize,
        lre_get_groupnames as *const () as usize,
        unicode_normalize as *const () as usize,
        js_atod as *const () as usize,
    ];
    let built_in = built_in_functions()?;
    let all = known.iter().chain(&built_in).copied();
    let code = all.clone().min()?..all.max()?;
    let own = set_engine_code as *const () as usize;
    (code.len() <= CODE_BYTES_MAX && !code.contains(&own)).then_some(code)
}

/// The addresses of C functions that scripts call and the engine does not export: some of them are its very first.
fn built_in_functions() -> Option<Vec<usize>> {
    // A runtime of its own has nothing of the host in it.
    let runtime = Runtime::new().ok()?;
    let context = Context::full(&runtime).ok()?;
    context.with(|ctx| {
        let exported = qjs::JS_GetVersion as *const () as usize..qjs::JS_NewContext as *const () as usize;
        let probe = words(&function(&ctx, "Array.prototype.reverse")?)?;
        let place = probe.iter().position(|word| exported.contains(word))?;
        let names = ["Math.abs", "Math.sign", "Math.fround", "Math.round", "Math.random", "JSON.isRawJSON"];
        let found = names.iter().map(|name| Some(words(&function(&ctx, name)?)?[place]));
        found.collect()
    })
}

fn function<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Object<'js>> {
    ctx.eval(name).ok()
}

/// The first words of a function's object.
fn words(function: &Object<'_>) -> Option<[usize; OBJECT_WORDS]> {
    if !cfg!(target_pointer_width = "64") {
        return None;
    }
    // SAFETY: the value is an object, which is alive and has 72 bytes on machines of 64 bits; any eight bytes are a number.
    Some(unsafe { qjs::JS_VALUE_GET_PTR(function.as_raw()).cast::<[usize; OBJECT_WORDS]>().read() })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The functions that make long calls long, and one of each object.
    const ENGINES: &[&str] = &[
        "JS_TryGetPropertyInt64",
        "js_array_reverse",
        "js_array_concat",
        "js_array_fill",
        "JS_GetPropertyInternal",
        "string_indexof",
        "js_sub_string",
        "js_typed_array_sort",
        "unicode_normalize",
        "JS_CallInternal",
        "js_bigint_mul",
        "lre_exec",
    ];

    #[test]
    fn nothing_but_the_engine_lies_there() {
        let code = find().expect("this machine's processor and linker are known");
        let here = set_engine_code as *const () as usize;
        let program = std::env::current_exe().unwrap();
        let table = match Command::new("nm").arg("--defined-only").arg(program).output() {
            Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
            _ => return eprintln!("skipped: nm, which lists a program's functions, is not installed"),
        };
        let symbols: Vec<(usize, &str)> = table
            .lines()
            .filter_map(|line| {
                let mut fields = line.split(' ');
                let (address, kind, name) = (fields.next()?, fields.next()?, fields.next()?);
                Some((usize::from_str_radix(address, 16).ok()?, name)).filter(|_| matches!(kind, "t" | "T"))
            })
            .collect();
        let moved = symbols.iter().find(|(_, name)| name.contains("js4code15set_engine_code")).unwrap().0;
        let inside: Vec<&str> = symbols
            .iter()
            .filter(|(address, _)| code.contains(&(address + here - moved)))
            .map(|(_, name)| *name)
            .collect();
        assert!(inside.len() > 1000, "{}", inside.len());
        let foreign: Vec<_> =
            inside.iter().filter(|name| name.starts_with("_ZN") || name.starts_with("_R")).collect();
        assert!(foreign.is_empty(), "{foreign:?}");
        for name in ENGINES {
            let is_inlined = !symbols.iter().any(|(_, known)| known == name);
            assert!(is_inlined || inside.contains(name), "{name}");
        }
    }
}
