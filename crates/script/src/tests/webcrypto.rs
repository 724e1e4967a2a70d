//! The Web Cryptography API where it goes beyond k6's, and where the standard says how a mistake is answered. What k6 has
//! is compared in `conformance`.

use super::*;

const HELPERS: &str = "
const { subtle } = crypto;
const hex = (buffer) => Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
const from = (text) => new Uint8Array((text.match(/../g) || []).map((byte) => parseInt(byte, 16)));
const name = (promise) => promise.then((value) => `no error: ${value}`, (error) => error.name);
";

/// The result of the body, as text.
fn check(body: &str, expect: &str) {
    let source = format!(
        "{HELPERS} export default async function () {{ console.log(String(await (async () => {{ {body} }})())); }}"
    );
    assert_eq!(logged(&source), [expect], "{body}");
}

#[test]
fn edwards_curves() {
    // RFC 8032, 7.1, test 2.
    check(
        "const seed = 'TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs', x = 'PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw';
         const jwk = { kty: 'OKP', crv: 'Ed25519', x };
         const own = await subtle.importKey('jwk', { ...jwk, d: seed }, 'Ed25519', true, ['sign']);
         const other = await subtle.importKey('jwk', jwk, 'ed25519', true, ['verify']);
         const signature = await subtle.sign('Ed25519', own, from('72'));
         return [hex(signature).slice(0, 16), await subtle.verify('Ed25519', other, signature, from('72')),
                 await subtle.verify('Ed25519', other, signature, from('73')), (await subtle.exportKey('jwk', own)).d === seed];",
        "92a009a9f0d4cab8,true,false,true",
    );
    check(
        "const one = await subtle.generateKey('X25519', true, ['deriveBits']);
         const two = await subtle.generateKey({ name: 'X25519' }, true, ['deriveBits', 'deriveKey']);
         const here = await subtle.deriveBits({ name: 'X25519', public: two.publicKey }, one.privateKey, null);
         const there = await subtle.deriveBits({ name: 'X25519', public: one.publicKey }, two.privateKey);
         return [here.byteLength, hex(here) === hex(there)];",
        "32,true",
    );
}

#[test]
fn derived_and_wrapped_keys() {
    // RFC 5869, A.1.
    check(
        "const key = await subtle.importKey('raw', new Uint8Array(22).fill(11), 'HKDF', false, ['deriveBits']);
         const way = { name: 'HKDF', hash: 'SHA-256', salt: from('000102030405060708090a0b0c'), info: from('f0f1f2f3f4f5f6f7f8f9') };
         return hex(await subtle.deriveBits(way, key, 336)).slice(0, 32);",
        "3cb25f25faacd57a90434f64d0362f2a",
    );
    // RFC 3394, 4.1.
    check(
        "const kek = await subtle.importKey('raw', from('000102030405060708090A0B0C0D0E0F'), 'AES-KW', true, ['wrapKey', 'unwrapKey']);
         const key = await subtle.importKey('raw', from('00112233445566778899AABBCCDDEEFF'), 'AES-GCM', true, ['encrypt']);
         const wrapped = await subtle.wrapKey('raw', key, kek, 'AES-KW');
         const again = await subtle.unwrapKey('raw', wrapped, kek, 'AES-KW', 'AES-GCM', true, ['encrypt']);
         return [hex(wrapped), hex(await subtle.exportKey('raw', again)).slice(0, 8)];",
        "1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5,00112233",
    );
    check(
        "const iv = new Uint8Array(12);
         const kek = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['wrapKey', 'unwrapKey']);
         const pair = await subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveKey']);
         const wrapped = await subtle.wrapKey('jwk', pair.privateKey, kek, { name: 'AES-GCM', iv });
         const again = await subtle.unwrapKey('jwk', wrapped, kek, { name: 'AES-GCM', iv },
             { name: 'ECDH', namedCurve: 'P-256' }, false, ['deriveKey']);
         const way = { name: 'ECDH', public: pair.publicKey };
         const made = await subtle.deriveKey(way, again, { name: 'HMAC', hash: 'SHA-256', length: 256 }, true, ['sign']);
         return [made.type, made.algorithm.length, again.extractable];",
        "secret,256,false",
    );
}

#[test]
fn a_key_can_be_printed_and_not_made_or_changed() {
    check(
        "const key = await subtle.generateKey({ name: 'aes-cbc', length: 128 }, true, ['decrypt', 'encrypt']);
         return JSON.stringify(key);",
        r#"{"type":"secret","extractable":true,"algorithm":{"name":"AES-CBC","length":128},"usages":["encrypt","decrypt"]}"#,
    );
    check(
        "const key = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-1' }, true, ['sign']);
         try { new CryptoKey(); } catch (error) { return [error.name, key instanceof CryptoKey, String(key), String(crypto)]; }",
        "TypeError,true,[object CryptoKey],[object Crypto]",
    );
}

#[test]
fn mistakes_have_the_standards_names() {
    for (call, expect) in [
        ("subtle.digest()", "TypeError"),
        ("subtle.digest('SHA-1', 'text')", "TypeError"),
        ("subtle.digest(null, from('00'))", "TypeError"),
        ("subtle.digest({}, from('00'))", "TypeError"),
        ("subtle.digest('SHA-2', from('00'))", "NotSupportedError"),
        ("subtle.generateKey({ name: 'AES-CBC' }, true, ['encrypt'])", "TypeError"),
        ("subtle.generateKey({ name: 'AES-CBC', length: 128 }, true, ['fly'])", "TypeError"),
        ("subtle.generateKey({ name: 'AES-CBC', length: 64 }, true, ['encrypt'])", "OperationError"),
        ("subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify'])", "SyntaxError"),
        ("subtle.importKey('bytes', from('00'), 'HKDF', false, ['deriveBits'])", "TypeError"),
        ("subtle.importKey('jwk', from('00'), 'AES-CBC', false, ['encrypt'])", "TypeError"),
        ("subtle.importKey('jwk', { kty: 'oct', k: '*' }, 'AES-CBC', false, ['encrypt'])", "DataError"),
        (
            "subtle.importKey('pkcs8', new Uint8Array(90), { name: 'RSA-PSS', hash: 'SHA-1' }, false, ['sign'])",
            "DataError",
        ),
        ("subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(16) }, {}, from('00'))", "TypeError"),
        ("subtle.exportKey('raw', { type: 'secret' })", "TypeError"),
    ] {
        check(&format!("return name({call});"), expect);
    }
    check(
        "try { crypto.getRandomValues(new Float32Array(1)); } catch (error) { return error.name; }",
        "TypeMismatchError",
    );
    check(
        "try { crypto.getRandomValues(new Uint8Array(65537)); } catch (error) { return error.name; }",
        "QuotaExceededError",
    );
}

#[test]
fn bytes_are_taken_when_the_call_is_made() {
    check(
        "const data = from('616263');
         const digest = subtle.digest('SHA-1', data);
         data.fill(0);
         return hex(await digest).slice(0, 8);",
        "a9993e36",
    );
}

#[test]
fn slow_work_does_not_hold_up_what_comes_after_it() {
    check(
        "const order = [];
         const key = await subtle.importKey('raw', from('00'), 'PBKDF2', false, ['deriveBits']);
         const way = { name: 'PBKDF2', hash: 'SHA-1', salt: from('00'), iterations: 20000 };
         await Promise.all([
             subtle.deriveBits(way, key, 160).then(() => order.push('slow')),
             subtle.digest('SHA-1', from('00')).then(() => order.push('fast')),
         ]);
         return order;",
        "fast,slow",
    );
}

#[test]
fn the_older_import_is_the_same() {
    let source = "import { crypto as older, CryptoKey as Key } from 'k6/experimental/webcrypto';
        export default function () { console.log(older === crypto, Key === CryptoKey); }";
    assert_eq!(logged(source), ["true true"]);
}

#[test]
fn a_script_may_have_its_own() {
    let source = "globalThis.crypto = { own: true }; export default function () { console.log(crypto.own); }";
    assert_eq!(logged(source), ["true"]);
}
