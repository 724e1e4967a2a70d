//! Regular expressions try only the places where a match can begin.
//!
//! The engine's matcher tries every place of a text in turn. Most expressions begin with a literal (`/order-[0-9]+/`) or with one of
//! a few characters. [`Start`] reads from the compiled expression what a match can begin with, vector instructions find such
//! places, and the matcher tries these alone. A place that is left out is one where the matcher fails at its first character, so
//! results are the matcher's own.
//!
//! The engine is a dependency whose source is not ours: the linker leads its calls of `lre_exec` here (`--wrap` in `build.rs`). A
//! program that is linked without the flag never calls this module, and has the same results later.

mod start;

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use start::Start;

/// A shorter rest of a text is left to the matcher, units.
const UNITS_MIN: usize = 32;

/// A longer expression is left to the matcher, bytes of its code.
const CODE_BYTES_MAX: usize = 4096;

/// Compiled expressions that are remembered by each thread.
const REMEMBERED: usize = 32;

/// Between two looks at the deadline so many units are searched, and so many places are tried.
const SEARCHED_MAX: usize = 256 * 1024;
const TRIED_MAX: usize = 1024;

/// Where so many places in a row are closer to each other than this on average, the matcher by itself is quicker.
const DENSE_PLACES: usize = 16;
const DENSE_UNITS: usize = 8;

/// Results of `lre_exec` when there is no match, when its caller's deadline is over, and when its code is damaged.
const NO_MATCH: c_int = 0;
const TIMEOUT: c_int = -2;
const DAMAGED: c_int = -3;

/// Kinds of text: one or two bytes per unit.
const BYTES: c_int = 0;
const WORDS: c_int = 1;

type Exec = unsafe extern "C" fn(
    capture: *mut *mut u8,
    code: *const u8,
    text: *const u8,
    from: c_int,
    length: c_int,
    kind: c_int,
    context: *mut c_void,
) -> c_int;

// The address of the engine's own function. It is null where the linker did not get the flag.
std::arch::global_asm!(
    ".weak __real_lre_exec",
    ".pushsection .data.rel.ro.plimsoll_matcher, \"aw\", @progbits",
    ".balign 8",
    ".globl plimsoll_matcher",
    ".hidden plimsoll_matcher",
    "plimsoll_matcher:",
    ".quad __real_lre_exec",
    ".popsection",
);

unsafe extern "C" {
    static plimsoll_matcher: Option<Exec>;
    fn lre_check_timeout(context: *mut c_void) -> c_int;
    fn lre_canonicalize(unit: u32, is_unicode: bool) -> c_int;
}

/// The facts about a compiled expression.
struct Known {
    /// Its code, to recognise it: addresses are used again.
    code: Box<[u8]>,
    /// The same expression, tried at one place only.
    anchored: Box<[u8]>,
    /// `None`: a match may begin anywhere.
    start: Option<Start>,
}

thread_local! {
    static KNOWN: RefCell<[Option<Rc<Known>>; REMEMBERED]> = const { RefCell::new([const { None }; REMEMBERED]) };
}

/// Stands in for the engine's `lre_exec`, with its arguments and results.
///
/// # Safety
/// As for the engine's function: `capture` is long enough for the captures of the code, `code` is what the engine compiled, `text` has
/// `length` units of `kind`, and `from` is within them.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_lre_exec(
    capture: *mut *mut u8,
    code: *const u8,
    text: *const u8,
    from: c_int,
    length: c_int,
    kind: c_int,
    context: *mut c_void,
) -> c_int {
    // SAFETY: the linker has set it, and nothing writes to it.
    let Some(matcher) = (unsafe { plimsoll_matcher }) else { return DAMAGED };
    let exec = |code: *const u8, from: usize| {
        // SAFETY: the caller's promise; `from` lies between the caller's and the end, and both codes are the engine's.
        unsafe { matcher(capture, code, text, from as c_int, length, kind, context) }
    };
    let (first, end) = (from as usize, length as usize);
    if end.saturating_sub(first) < UNITS_MIN || kind > WORDS {
        return exec(code, first);
    }
    // SAFETY: the code that the engine compiled begins with a header that says how long it is.
    let Some(known) = (unsafe { compiled(code) }).and_then(known) else { return exec(code, first) };
    let Some(start) = &known.start else { return exec(code, first) };
    if kind == WORDS && (start.is_unicode() || !text.cast::<u16>().is_aligned()) {
        return exec(code, first);
    }
    let find = |from: usize, to: usize| {
        // SAFETY: `from` and `to` lie within the text, whose units have this size; the engine neither moves nor changes a string
        // that it matches, and runs nothing while the slice lives.
        unsafe {
            match kind {
                BYTES => start.find(std::slice::from_raw_parts(text.add(from), to - from)),
                _ => start.find_wide(std::slice::from_raw_parts(text.cast::<u16>().add(from), to - from)),
            }
        }
    };
    // SAFETY: the context is the caller's, and the engine's own matcher asks in the same way.
    let is_late = || unsafe { lre_check_timeout(context) } != 0;
    let (mut at, mut tried, mut counted_from) = (first, 0, first);
    loop {
        let to = end.min(at + SEARCHED_MAX + start.overlap());
        let Some(place) = find(at, to).map(|skipped| at + skipped) else {
            if to == end {
                // SAFETY: the header counts the pairs that the caller has memory for.
                unsafe { clear(capture, code) };
                return NO_MATCH;
            }
            at += SEARCHED_MAX;
            if is_late() {
                return TIMEOUT;
            }
            continue;
        };
        tried += 1;
        if tried % DENSE_PLACES == 0 {
            if place - counted_from < DENSE_PLACES * DENSE_UNITS {
                return exec(code, place);
            }
            counted_from = place;
        }
        let result = exec(known.anchored.as_ptr(), place);
        if result != NO_MATCH {
            return result;
        }
        if tried % TRIED_MAX == 0 && is_late() {
            return TIMEOUT;
        }
        at = place + 1;
    }
}

/// The whole code of an expression, header included; `None` if it is long.
///
/// # Safety
/// `code` is what the engine compiled, and lives as long as the slice is used.
unsafe fn compiled<'a>(code: *const u8) -> Option<&'a [u8]> {
    // SAFETY: there is a header, and as many bytes behind it as it says.
    unsafe {
        let header = std::slice::from_raw_parts(code, start::HEADER_BYTES);
        let length = start::code_bytes(header)?;
        (length <= CODE_BYTES_MAX).then(|| std::slice::from_raw_parts(code, length))
    }
}

/// Forgets all captures, as the engine's function does before it begins.
///
/// # Safety
/// `capture` is long enough for the captures that the header of `code` counts.
unsafe fn clear(capture: *mut *mut u8, code: *const u8) {
    // SAFETY: the caller's promise.
    unsafe {
        let header = std::slice::from_raw_parts(code, start::HEADER_BYTES);
        let captures = 2 * usize::from(start::captures(header));
        std::slice::from_raw_parts_mut(capture, captures).fill(std::ptr::null_mut());
    }
}

/// The facts about this code, from memory or by reading it.
fn known(code: &[u8]) -> Option<Rc<Known>> {
    let slot = (code.as_ptr().addr() >> 4) % REMEMBERED;
    // Nothing is borrowed when the matcher runs: other VUs of the thread may have their turn in it.
    KNOWN
        .try_with(|known| {
            let slot = &mut known.try_borrow_mut().ok()?[slot];
            if let Some(known) = slot.as_ref().filter(|known| *known.code == *code) {
                return Some(known.clone());
            }
            Some(slot.insert(Rc::new(look_at(code))).clone())
        })
        .ok()
        .flatten()
}

fn look_at(code: &[u8]) -> Known {
    // SAFETY: a pure function of its arguments, for any unit.
    let canonical = |unit, is_unicode| unsafe { lre_canonicalize(unit, is_unicode) } as u32;
    let (anchored, start) = match start::anchored(code) {
        Some(anchored) => {
            let start = Start::read(&anchored, &canonical);
            (anchored.into(), start)
        }
        None => (Box::default(), None),
    };
    Known { code: code.into(), anchored, start }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Ctx, Function, Runtime};

    use super::*;

    /// `find` is a search of the engine. `slow` tries a sticky copy of the expression at each place, which is never sped up.
    const SEARCHES: &str = r#"
        const shown = (found) => found && JSON.stringify([found.index, ...found]);
        globalThis.find = (pattern, flags, text) => shown(new RegExp(pattern, flags).exec(text));
        globalThis.slow = (pattern, flags, text) => {
            const sticky = new RegExp(pattern, flags + 'y');
            for (let at = 0; at <= text.length; at++) {
                sticky.lastIndex = at;
                const found = sticky.exec(text);
                if (found) return shown(found);
            }
            return null;
        };
    "#;

    fn in_engine(test: impl FnOnce(Ctx<'_>)) {
        let runtime = Runtime::new().expect("a runtime");
        let context = Context::full(&runtime).expect("a context");
        context.with(|ctx| {
            ctx.eval::<(), _>(SEARCHES).expect("the searches");
            test(ctx);
        });
    }

    /// Whether the text is searched for places where this expression can begin.
    fn is_sped_up(ctx: &Ctx<'_>, pattern: &str) -> bool {
        KNOWN.take();
        let text = format!("{}{}", " ".repeat(UNITS_MIN), pattern);
        let find: Function<'_> = ctx.globals().get("find").expect("the search");
        find.call::<_, Option<String>>((pattern, "", text)).expect("a search");
        let known = KNOWN.take();
        let known = known.iter().flatten().next().expect("the linker leads here");
        known.start.is_some()
    }

    #[test]
    fn expressions_with_a_known_beginning_are_sped_up() {
        in_engine(|ctx| {
            for pattern in [
                "order-[0-9]+",
                "[a-f]x",
                "(a|b)c",
                "(?:abc)+d",
                r"\bid=(\d+)",
                "(?=x)[xy]",
                "a{2,5}",
                "\"t\":\"([^\"]*)\"",
            ] {
                assert!(is_sped_up(&ctx, pattern), "{pattern}");
            }
            for pattern in ["a*", ".b", "[^a]b", "(?=a)", r"\S+", "a|", "$"] {
                assert!(!is_sped_up(&ctx, pattern), "{pattern}");
            }
        });
    }

    #[test]
    fn random_expressions_find_what_the_engine_finds() {
        let pieces = [
            "a",
            "b",
            "ab",
            "ba",
            "é",
            "ÿ",
            "µ",
            "한",
            "k",
            "S",
            "[ab]",
            "[^a]",
            "[b-é]",
            "[가-힣]",
            r"\d",
            r"\s",
            r"\w",
            ".",
            "(a)",
            "(b|ab)",
            "(?:ab)",
            "(?:a|)",
            "(?=a)",
            "(?!b)",
            "(?<=a)",
            "(?<!b)",
            "^",
            "$",
            r"\b",
            r"\B",
            "(a)\\1",
            "[]",
            "|",
        ];
        let repeats = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "{2,3}?", "+?"];
        let flags = ["", "i", "m", "s", "im", "u", "iu"];
        let letters = ["a", "b", "a", "b", "k", "K", "s", "1", " ", "\n", "é", "É", "ÿ", "µ"];
        let wide = ["한", "\u{212a}", "\u{17f}", "\u{178}", "\u{3bc}", "글"];
        let mut random = fastrand::Rng::with_seed(15);
        let mut compared = 0;
        in_engine(|ctx| {
            let (find, slow): (Function<'_>, Function<'_>) =
                (ctx.globals().get("find").expect("find"), ctx.globals().get("slow").expect("slow"));
            for _ in 0..20_000 {
                let pattern: String = (0..random.usize(1..5))
                    .map(|_| {
                        [pieces[random.usize(..pieces.len())], repeats[random.usize(..repeats.len())]]
                            .concat()
                    })
                    .collect();
                let flags = flags[random.usize(..flags.len())];
                let is_wide = random.bool();
                let filler = letters[random.usize(..letters.len())].repeat(random.usize(20..60));
                let text: String = (0..random.usize(20..60))
                    .map(|_| {
                        let rare = is_wide && random.u8(..4) == 0;
                        if rare {
                            wide[random.usize(..wide.len())]
                        } else {
                            letters[random.usize(..letters.len())]
                        }
                    })
                    .collect();
                let text = filler + &text;
                let arguments = (pattern.as_str(), flags, text.as_str());
                let Ok(expected) = slow.call::<_, Option<String>>(arguments) else {
                    ctx.catch();
                    continue;
                };
                let found: Option<String> = find.call(arguments).expect("a search");
                assert_eq!(found, expected, "/{pattern}/{flags} in {text:?}");
                compared += 1;
            }
        });
        assert!(compared > 10_000, "{compared} expressions were valid");
    }

    #[test]
    fn matches_across_the_parts_of_a_long_text_are_found() {
        in_engine(|ctx| {
            let find: Function<'_> = ctx.globals().get("find").expect("the search");
            for filler in ["x", "한"] {
                for before in [SEARCHED_MAX - 3, SEARCHED_MAX - 1, SEARCHED_MAX, 2 * SEARCHED_MAX + 1] {
                    let text = [filler.repeat(before).as_str(), "order-1", &filler.repeat(10)].concat();
                    let found: Option<String> = find.call(("order-[0-9]", "", text)).expect("a search");
                    assert_eq!(found, Some(format!("[{before},\"order-1\"]")));
                }
            }
        });
    }

    #[test]
    fn a_long_search_looks_at_its_deadline() {
        let runtime = Runtime::new().expect("a runtime");
        let mut looks = 0;
        runtime.set_interrupt_handler(Some(Box::new(move || {
            looks += 1;
            looks > 4
        })));
        let context = Context::full(&runtime).expect("a context");
        context.with(|ctx| {
            let result = ctx.eval::<bool, _>("/order-[0-9]/.test('x'.repeat(64 * 1024 * 1024))");
            assert!(result.is_err(), "the search was not interrupted");
        });
    }
}
