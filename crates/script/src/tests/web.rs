//! The globals of the web platform, which k6 has not: what they are is said by their standards.

use super::{Left, run_against};

/// Runs a script whose default function throws where something is not as it should be.
fn check(body: &str) {
    run("http://127.0.0.1:1", "", body);
}

fn run(base: &str, init: &str, body: &str) -> Left {
    let source = format!(
        "function is(got, want) {{ const a = JSON.stringify(got), b = JSON.stringify(want); if (a !== b) throw new Error(`${{a}} is not ${{b}}`) }}
         function throws(name, f) {{ try {{ f() }} catch (e) {{ is(e.name, name); return }} throw new Error(`no ${{name}}`) }}
         {init}
         export default async function () {{ {body} }}"
    );
    let left = run_against(base, 1, &source);
    assert_eq!(left.ends, [model::IterationEnd::Completed], "{body}: {:?}", left.logs);
    left
}

#[test]
fn a_global_is_made_when_it_is_read_and_may_be_replaced() {
    check("is(typeof Blob, 'function'); is(Blob === Blob, true); is('URL' in globalThis, true)");
    check("is(typeof nothing, 'undefined'); throws('ReferenceError', () => nothing)");
    check("globalThis.URL = 1; is(URL, 1); is(Object.keys(globalThis).includes('Blob'), false)");
    check("is([URL.length, URL.canParse.length, URLSearchParams.length], [1, 1, 0])");
    check("Blob; globalThis.Blob = 2; is(Blob, 2); is(globalThis.nothing, undefined)");
}

#[test]
fn a_part_of_the_language_is_made_when_it_is_named() {
    check("is([typeof Map, typeof Nothing, 'Date' in globalThis], ['function', 'undefined', true])");
    check(
        "is([new Map([[1, 2]]).get(1), new Set([1, 1]).size, `${new Date(0).toISOString()}`.length], [2, 1, 24])",
    );
    check("is([new Uint8Array([1, 2]).length, new Float64Array(1)[0], Atomics !== undefined], [2, 0, true])");
    check("is([atob('aGk='), btoa('hi'), new DOMException('m', 'AbortError').code], ['hi', 'aGk=', 20])");
    check(
        "is([new WeakRef(globalThis).deref() === globalThis, new Proxy({}, { get: () => 5 }).any], [true, 5])",
    );
    check("is([Map === Map, new Map() instanceof Map, globalThis.Map === Map], [true, true, true])");
}

#[test]
fn the_scripts_own_globals_stay_when_a_part_of_the_language_is_made() {
    check(
        "globalThis.Map = 1; is([new Set().size, Map, Object.keys(globalThis).includes('Map')], [0, 1, true])",
    );
    check("Map; globalThis.Map = 2; is(Map, 2); delete globalThis.Map; is(typeof Map, 'function')");
    check(
        "const Own = class extends Date {}; globalThis.Date = Own; is([Date === Own, new Date(5).getTime()], [true, 5])",
    );
    check(
        "let reads = 0; Object.defineProperty(globalThis, 'Map', { get: () => ++reads, configurable: true });
         Set; is([reads, Map, Map], [0, 1, 2])",
    );
    check(
        "Object.defineProperty(globalThis, 'Map', { value: 1 }); throws('TypeError', () => Set); is(Map, 1)",
    );
}

#[test]
fn a_script_that_counts_the_globals_has_all_parts_from_the_start() {
    check("is(Object.getOwnPropertyNames(globalThis).includes('Map'), true)");
    check("is(Object.getOwnPropertyDescriptor(globalThis, 'Uint8Array').enumerable, false)");
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

#[test]
fn streams_give_out_what_they_are_given() {
    check(
        "const r = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close() } }); const got = []; for await (const x of r) got.push(x); is([got, r.locked], [[1, 2], false])",
    );
    check(
        "let n = 0; const r = new ReadableStream({ pull(c) { if (++n > 3) c.close(); else c.enqueue(n) } }, new CountQueuingStrategy({ highWaterMark: 0 })); const [a, b] = r.tee(); const all = async (s) => { const got = []; for await (const x of s) got.push(x); return got }; is(await Promise.all([all(a), all(b)]), [[1, 2, 3], [1, 2, 3]])",
    );
    check(
        "const e = new Error('boom'); const r = new ReadableStream({ start(c) { c.error(e) } }); await r.getReader().read().then(() => is(1, 2), (got) => is(got === e, true))",
    );
    check(
        "const got = []; const w = new WritableStream({ write(x) { got.push(x) }, close() { got.push('end') } }); const t = new TransformStream({ transform(x, c) { c.enqueue(x * 2) } }); await ReadableStream.from([1, 2, 3]).pipeThrough(t).pipeTo(w); is(got, [2, 4, 6, 'end'])",
    );
    check(
        "const w = new WritableStream({ write() { throw new RangeError('no') } }).getWriter(); await w.write(1).catch((e) => is(e.name, 'RangeError')); await w.closed.catch((e) => is(e.message, 'no'))",
    );
    check("is(await new Response(new Blob(['a', 'b']).stream()).text(), 'ab')");
}

#[test]
fn fetch_counts_as_requests_do() {
    let server = testkit::http::start();
    let left = run(
        &server.url(""),
        "",
        "const r = await fetch(`${__ENV.BASE}/status/404`, { params: { tags: { kind: 'page' } } }); is([r.status, r.ok, r.statusText], [404, false, 'Not Found']);
         const p = await fetch(`${__ENV.BASE}/anything`, { method: 'POST', body: new URLSearchParams({ a: 'b c' }) }); is(p.ok, true);",
    );
    assert_eq!(left.count("http_reqs"), 2);
    assert!(left.tags("http_reqs")[0].contains("kind=page"), "{:?}", left.tags("http_reqs"));
    assert_eq!(server.seen().total, 2);
}

#[test]
fn a_fetch_that_fails_is_rejected() {
    check(
        "await fetch('http://127.0.0.1:1/').then(() => is(1, 2), (e) => is([e.name, e.message, e.cause instanceof Error], ['TypeError', 'fetch failed', true]))",
    );
    check(
        "await fetch('http://127.0.0.1:1/', { signal: AbortSignal.abort('why') }).then(() => is(1, 2), (e) => is(e, 'why'))",
    );
    check(
        "throws('TypeError', () => new Request('http://a/', { body: 'x' })); throws('TypeError', () => new Request('nothing'))",
    );
}

#[test]
fn headers_requests_and_responses() {
    check(
        "const h = new Headers({ B: '2', a: ' 1 ' }); h.append('b', '3'); is([[...h], h.get('B'), h.has('c')], [[['a', '1'], ['b', '2, 3']], '2, 3', false]); throws('TypeError', () => h.set('a b', '1'))",
    );
    check(
        "const r = Response.json({ a: 1 }, { status: 201 }); is([r.status, r.headers.get('content-type'), (await r.clone().json()).a, await r.text(), r.bodyUsed], [201, 'application/json', 1, '{\"a\":1}', true])",
    );
    check(
        "const f = new FormData(); f.append('x', 'y'); f.append('f', new Blob(['data'], { type: 'text/csv' }), 'a.csv'); const g = await new Response(f).formData(); is([g.get('x'), g.get('f').name, await g.get('f').text(), g.get('f').type], ['y', 'a.csv', 'data', 'text/csv'])",
    );
    check(
        "const r = new Request('http://a.example/x', { method: 'post', body: 'b' }); is([r.method, r.url, r.headers.get('content-type'), await r.clone().text(), await r.text()], ['POST', 'http://a.example/x', 'text/plain;charset=UTF-8', 'b', 'b'])",
    );
}

#[test]
fn secrets_are_given_out_and_hidden() {
    let left = run(
        "http://127.0.0.1:1",
        "import secrets from 'k6/secrets';",
        "console.log('it is ' + await secrets.get('token')); await secrets.source('default').get('none').then(() => is(1, 2), (e) => is(e.message, 'no value'))",
    );
    assert_eq!(left.logs, ["it is ***SECRET_REDACTED***"]);
}

#[test]
fn text_in_many_encodings() {
    check(
        "is(['UTF-16', 'latin1', ' utf-8 '].map((label) => new TextDecoder(label).encoding), ['utf-16le', 'windows-1252', 'utf-8'])",
    );
    check(
        "is([new TextDecoder('utf-16be').decode(new Uint8Array([0, 104])), new TextDecoder('latin1').decode(new Uint8Array([233]))], ['h', 'é'])",
    );
    check(
        "const d = new TextDecoder(); is([d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }), d.decode(new Uint8Array([0xac]))], ['', '€'])",
    );
    check(
        "throws('RangeError', () => new TextDecoder('nope')); throws('TypeError', () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])))",
    );
}

#[test]
fn a_request_shows_the_cookies_that_went_along() {
    let server = testkit::http::start();
    let init = "import http from 'k6/http';";
    run(
        &server.url(""),
        init,
        "const p = { cookies: { a: 'b', c: { value: 'd', replace: true } } };
         is(http.get(__ENV.BASE, p).request.headers.Cookie, ['a=b; c=d']);
         is(http.get(__ENV.BASE).request.headers.Cookie, undefined)",
    );
}
