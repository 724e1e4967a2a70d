//! The globals of the web platform, which k6 has not: what they are is said by their standards.

use super::run_against;

/// Runs a script whose default function throws where something is not as it should be.
fn check(body: &str) {
    let source = format!(
        "function is(got, want) {{ const a = JSON.stringify(got), b = JSON.stringify(want); if (a !== b) throw new Error(`${{a}} is not ${{b}}`) }}
         function throws(name, f) {{ try {{ f() }} catch (e) {{ is(e.name, name); return }} throw new Error(`no ${{name}}`) }}
         export default async function () {{ {body} }}"
    );
    let left = run_against("http://127.0.0.1:1", 1, &source);
    assert_eq!(left.ends, [crate::End::Completed], "{body}: {:?}", left.logs);
}

#[test]
fn a_global_is_made_when_it_is_read_and_may_be_replaced() {
    check("is(typeof Blob, 'function'); is(Blob === Blob, true); is('URL' in globalThis, true)");
    check("is(typeof nothing, 'undefined'); throws('ReferenceError', () => nothing)");
    check("globalThis.URL = 1; is(URL, 1); is(Object.keys(globalThis).includes('Blob'), false)");
    check("Blob; globalThis.Blob = 2; is(Blob, 2); is(globalThis.nothing, undefined)");
}

#[test]
fn blobs() {
    check(
        "const b = new Blob(['añ', new Uint8Array([33]), new Blob(['x'])], { type: 'Text/Plain' }); is([b.size, b.type, await b.text()], [5, 'text/plain', 'añ!x'])",
    );
    check(
        "const b = new Blob(['hello']); is([await b.slice(1, -1).text(), await b.slice(9).text()], ['ell', ''])",
    );
    check(
        "const f = new File(['1'], 'a.txt', { lastModified: 5 }); is([f.name, f.lastModified, f instanceof Blob], ['a.txt', 5, true])",
    );
    check(
        "throws('TypeError', () => new Blob('text')); is((await new Blob(['ab']).arrayBuffer()).byteLength, 2)",
    );
}

#[test]
fn urls() {
    check(
        "const u = new URL('../b?x=1#h', 'https://u:p@host.example:8443/a/c/'); is([u.href, u.host, u.username, u.search], ['https://u:p@host.example:8443/a/b?x=1#h', 'host.example:8443', 'u', '?x=1'])",
    );
    check(
        "const u = new URL('http://a/?q=1'); u.searchParams.append('z', 'ä b'); is([u.search, `${u}`], ['?q=1&z=%C3%A4+b', 'http://a/?q=1&z=%C3%A4+b']); u.search = '?k=v'; is(u.searchParams.get('k'), 'v')",
    );
    check(
        "throws('TypeError', () => new URL('nothing')); is([URL.canParse('x:y'), URL.parse('::')], [true, null])",
    );
    check(
        "const p = new URLSearchParams({ b: 2, a: 1 }); p.sort(); is([`${p}`, p.size, [...p]], ['a=1&b=2', 2, [['a', '1'], ['b', '2']]])",
    );
    check(
        "const p = new URLSearchParams('?a=1&a=2&b'); p.delete('a', '2'); is([...p.keys()], ['a', 'b']); p.set('a', 3); is(p.getAll('a'), ['3'])",
    );
}

#[test]
fn events_and_signals() {
    check(
        "const t = new EventTarget(); let n = 0; t.addEventListener('x', () => n++, { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); is(n, 1)",
    );
    check(
        "const c = new AbortController(); let heard; c.signal.onabort = (e) => { heard = e.type }; c.abort(); is([heard, c.signal.aborted, c.signal.reason.name], ['abort', true, 'AbortError'])",
    );
    check(
        "const c = new AbortController(); const any = AbortSignal.any([c.signal, AbortSignal.timeout(60000)]); c.abort('why'); is([any.aborted, any.reason], [true, 'why'])",
    );
    check(
        "const s = AbortSignal.timeout(5); await new Promise((done) => s.addEventListener('abort', done)); is(s.reason.name, 'TimeoutError')",
    );
    check("is(AbortSignal.timeout(3600000).aborted, false)");
}

#[test]
fn clones() {
    check(
        "const a = { d: new Date(5), m: new Map([[1, new Set([2])]]), r: /x/g, u: undefined }; a.self = a; const b = structuredClone(a); is([b !== a, b.self === b, b.d.getTime(), [...b.m.get(1)], `${b.r}`], [true, true, 5, [2], '/x/g'])",
    );
    check(
        "throws('DataCloneError', () => structuredClone(() => 1)); throws('DataCloneError', () => structuredClone(Symbol('s')))",
    );
    check(
        "const e = structuredClone(new RangeError('r')); is([e.name, e.message, e instanceof RangeError], ['RangeError', 'r', true])",
    );
    check(
        "const b = new ArrayBuffer(2); const c = structuredClone(b, { transfer: [b] }); is([c.byteLength, b.byteLength], [2, 0])",
    );
}

#[test]
fn clocks_and_marks() {
    check(
        "const t = performance.now(); is(performance.now() >= t, true); is(Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000, true)",
    );
    check(
        "performance.mark('a', { startTime: 1 }); performance.mark('b', { startTime: 4 }); is(performance.measure('m', 'a', 'b').duration, 3)",
    );
    check("is(await new Promise((done) => queueMicrotask(() => done(atob(btoa('hi'))))), 'hi')");
}
