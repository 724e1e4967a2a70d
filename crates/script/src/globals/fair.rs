//! Built-ins of the engine that take long in one piece, such as `sort()`, in steps that can be interrupted.
//!
//! `fair.js` decides which inputs are long; `fair_steps.js` has the steps, which most VUs never load.

use std::rc::Rc;

use rquickjs::{Ctx, Value};

use crate::js::Args;
use crate::js::prelude::Prelude;
use crate::state::VuState;

const SOURCE: &str = include_str!("fair.js");
const STEPS_SOURCE: &str = include_str!("fair_steps.js");

static FAIR: Prelude = Prelude::new("fair", SOURCE);
static STEPS: Prelude = Prelude::new("fair_steps", STEPS_SOURCE);

/// Puts them in the place of the engine's own, which they call for short inputs.
pub(super) fn install<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    FAIR.run(ctx, vu, &[("load", load), ("parse", parse)]).map(drop)
}

/// `(parse, text)`: calls the engine's own `JSON.parse`, which calls no other code without a reviver.
fn parse<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(parse) = args.given(0).and_then(Value::into_function) else {
        return Err(args.type_error("not a function"));
    };
    args.vu.stop.memory.in_slices(|| parse.call((args.given(1),)))
}

fn load<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    STEPS.run(args.ctx, args.vu, &[])
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Function, Runtime};

    use super::*;
    use crate::js::{compile_script, run_script};

    /// Runs a script that evaluates to a text: with the engine's own functions, and with those here, which take all but the
    /// shortest inputs for long ones.
    fn run_both(script: &str) -> [String; 2] {
        let source = SOURCE.replace("ELEMENTS = 4096", "ELEMENTS = 2").replace("UNITS = 65536", "UNITS = 5");
        [None, Some(source)].map(|source| {
            let runtime = Runtime::new().unwrap();
            let context = Context::full(&runtime).unwrap();
            context.with(|ctx| {
                if let Some(source) = source {
                    let bytecode = compile_script(&ctx, "fair", &source).unwrap();
                    let install: Function<'_> = run_script(&ctx, &bytecode).unwrap().into_function().unwrap();
                    let load = format!("({{ load: {STEPS_SOURCE}, parse: (parse, text) => parse(text) }})");
                    let load: Value<'_> = ctx.eval(load).unwrap();
                    install.call::<_, ()>((load,)).unwrap();
                }
                let shown = ctx.eval::<String, _>(format!("{HELPERS} {script}"));
                shown.unwrap_or_else(|error| panic!("{error}: {:?}", ctx.catch()))
            })
        })
    }

    #[track_caller]
    fn check_same(script: &str) {
        let [own, ours] = run_both(script);
        assert_eq!(ours, own, "{script}");
        assert!(own.len() > 20, "{own}");
    }

    /// Shows every value, holes and errors with it.
    const HELPERS: &str = r"
        let seed = 7;
        const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % n };
        const one = (v) => Object.is(v, -0) ? '-0' : typeof v === 'string' ? JSON.stringify(v) : typeof v === 'object' && v ? '{' + v + '}' : String(v);
        const show = (a) => {
            if (typeof a !== 'object' || a === null) return one(a);
            let shown = (Object.getPrototypeOf(a)?.constructor?.name) + a.length + ':';
            for (let i = 0; i < a.length; i++) shown += i in a ? one(a[i]) + ',' : '<hole>,';
            return shown;
        };
        const attempt = (act) => { try { return show(act()) } catch (e) { return `${e?.name}` } };
        const named = (t) => ({ toString: () => t, valueOf: () => 'z' });
        const values = [() => undefined, () => null, () => random(100), () => -random(9), () => -0, () => NaN, () => 'b' + random(30),
            () => String.fromCharCode(0xd7ff + random(5000)), () => '', () => true, () => 5n, () => named('c' + random(9)), () => [random(9)]];
        const list = (n) => { const a = []; a.length = n; for (let i = 0; i < n; i++) if (random(5)) a[i] = values[random(values.length)](); return a };
    ";

    #[test]
    fn arrays_are_sorted_as_by_the_engine() {
        check_same(
            r"let out = [];
            const orders = [undefined, (a, b) => a < b ? -1 : a > b ? 1 : 0, () => 0, () => 1, () => NaN, null, 7,
                (a, b) => { if (String(a) === '7') throw new RangeError('no'); return String(a).length - String(b).length }];
            for (let i = 0; i < 400; i++) {
                const order = orders[i % orders.length];
                const [a, b] = [list(random(40)), list(random(40))];
                const like = Object.assign({ length: b.length + random(3), toString: () => 'like' }, b);
                for (const each of [a, like, new Proxy(b.slice(), {})]) {
                    out.push(attempt(() => Array.prototype.sort.call(each, order)), show(each));
                }
            }
            out.join('\n')",
        );
        check_same(
            r"[[Symbol('a'), 1, 2], Object.freeze([3, 2, 1]), 'text', 5, null, undefined, { length: -4, 0: 1 }]
                .map((each) => attempt(() => Array.prototype.sort.call(each))).join('\n')",
        );
    }

    #[test]
    fn a_scripts_own_prototypes_are_not_used() {
        check_same(
            r"for (const name of ['push', 'slice', 'concat', 'map']) Array.prototype[name] = () => { throw new Error(name) };
            String.prototype.concat = String.prototype.slice = String.prototype.indexOf = () => { throw new Error('replaced') };
            Object.defineProperty(Array.prototype, 5, { set() { throw new Error('caught') }, configurable: true });
            [attempt(() => [3, 1, 2, 4].sort()), attempt(() => 'one two three 4 5 6 7 8 9'.split(' ')), attempt(() => 'one two three'.normalize())].join('\n')",
        );
    }

    #[test]
    fn typed_arrays_are_sorted_as_by_the_engine() {
        check_same(
            r"let out = [];
            for (const Type of [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint32Array, Float32Array, Float64Array, BigInt64Array, BigUint64Array]) {
                for (let i = 0; i < 40; i++) {
                    const numbers = Array.from({ length: random(30) }, () => [random(400) - 200, -0, 0, NaN, Infinity, -Infinity, random(9) / 7][random(7)]);
                    const typed = Type.name.startsWith('Big') ? Type.from(numbers.map(() => BigInt(random(9)) - 4n)) : Type.from(numbers);
                    const order = [undefined, (a, b) => a < b ? 1 : a > b ? -1 : 0, null][i % 3];
                    out.push(attempt(() => typed.sort(order)), show(typed));
                }
            }
            const sort = Int8Array.prototype.sort;
            for (const other of [[3, 2, 1], new DataView(new ArrayBuffer(9)), undefined, 'text']) out.push(attempt(() => sort.call(other)));
            out.join('\n')",
        );
    }

    #[test]
    fn texts_are_split_and_normalized_as_by_the_engine() {
        check_same(
            r"let out = [];
            const units = ['a', 'e', ' ', '\u0301', '\u0323', '\u00e9', '\u1e69', '\uac00', '\u1100', '\u1161', '\u11a8', '\u4e2d', '\u212b', '\ufb01', '\ud83d\ude00', '\u00a8', '\u0344'];
            for (let i = 0; i < 300; i++) {
                const text = Array.from({ length: random(40) }, () => units[random(units.length)]).join('');
                for (const form of [undefined, 'NFC', 'NFD', 'NFKC', 'NFKD', 'NO', named('NFD')]) out.push(attempt(() => text.normalize(form)));
                for (const by of ['', ' ', 'a', 'ae', text, undefined, null, /a/, named('e'), { [Symbol.split]: () => [1] }]) {
                    out.push(attempt(() => text.split(by)), attempt(() => text.split(by, 3)), attempt(() => text.split(by, undefined)));
                }
            }
            for (const other of [null, undefined, 1234567, named('c')]) {
                out.push(attempt(() => String.prototype.split.call(other, '4')), attempt(() => String.prototype.normalize.call(other)));
            }
            out.join('\n')",
        );
    }

    #[test]
    fn texts_are_parsed_as_by_the_engine() {
        check_same(
            r#"const texts = ['{"a":[1,2,{"b":null}]}', '[1,2,3,4,5]', '{"__proto__":1,"a":2,"a":3}', '"a long text"', '12345678', 'true   ',
                '{"a":1,}', '[1,2', '', '       ', '"\ud800 lone"', '"bad \\x"', '123456789012345678901234567890', '{"10":1,"9":2,"x":3}'];
            const revivers = [undefined, null, 7, (key, value) => typeof value === 'number' ? value + 1 : value, () => undefined];
            const out = [];
            for (const text of texts) for (const reviver of revivers) {
                const deep = (v) => JSON.stringify(v, (k, v) => v === undefined ? '<undefined>' : v) + Reflect.ownKeys(Object(v));
                try { out.push(deep(JSON.parse(text, reviver))) } catch (e) { out.push(`${e}`) }
            }
            for (const other of [{ toString: () => '[1, 2, 3]' }, 1234567, null, undefined, ['[1,', '2]']]) {
                try { out.push(JSON.stringify(JSON.parse(other))) } catch (e) { out.push(`${e.name}`) }
            }
            out.join('\n')"#,
        );
    }

    /// Every second text here is made after a long one.
    #[test]
    fn texts_of_json_are_made_as_by_the_engine() {
        check_same(
            r"const held = { toJSON(key) { return `held by ${typeof key} ${key}` } }, circular = { a: [] };
            circular.a.push(circular);
            const given = [undefined, null, 1.5, 'a long text', [undefined, () => 1, Symbol('s'), NaN, -0, , held], { held, a: { b: held }, u: undefined },
                new Date(0), new Map([[1, 2]]), Object(7), Object('text'), 5n, circular, { get x() { throw new RangeError('no') } },
                new Proxy([1, 2, { a: 1 }], {}), { b: 1, 2: 3, 1: 4, [Symbol('s')]: 5 }];
            const replacers = [undefined, null, 7, 'a', ['a', 'b', 1, 'a'], function (key, value) { return key === 'a' ? this === circular : value }, () => undefined];
            const out = [];
            for (const value of given) for (const replacer of replacers) for (const space of [undefined, null, 2, '--', 99]) {
                try { out.push(String(JSON.stringify(value, replacer, space))) } catch (e) { out.push(e.name) }
            }
            out.join('\n')",
        );
    }

    #[test]
    fn they_look_like_the_engines_own() {
        check_same(
            r"const shown = [Array.prototype, Object.getPrototypeOf(Int8Array.prototype), String.prototype, JSON].map((prototype) =>
                Reflect.ownKeys(prototype).map((key) => {
                    const at = Object.getOwnPropertyDescriptor(prototype, key), f = at.value;
                    const more = typeof f !== 'function' || key === 'constructor' ? []
                        : [f.name, f.length, String(f), Reflect.ownKeys(f).map(String).join(' '), attempt(() => new f())];
                    return [String(key), at.writable, at.enumerable, at.configurable, ...more].join();
                }).join('\n')).join('\n');
            shown + attempt(() => [3, 1].concat(4, [5, [6]], { length: 1 })) + attempt(() => list(20).reverse())",
        );
    }

    /// Every VU has them, and most load no steps.
    #[test]
    fn a_vu_pays_little_memory_for_them() {
        const BYTES_MAX: i64 = 10_500;
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        let bytecode = context.with(|ctx| compile_script(&ctx, "fair", SOURCE).unwrap());
        let used = || {
            runtime.run_gc();
            runtime.memory_usage().malloc_size
        };
        let before = used();
        context.with(|ctx| {
            let install: Function<'_> = run_script(&ctx, &bytecode).unwrap().into_function().unwrap();
            install.call::<_, ()>((rquickjs::Object::new(ctx.clone()).unwrap(),)).unwrap();
        });
        assert!(used() - before < BYTES_MAX, "{} bytes", used() - before);
    }
}
