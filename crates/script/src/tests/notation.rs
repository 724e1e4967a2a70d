//! `k6/x/yaml`, `k6/x/toml` and `k6/x/dotenv` as scripts use them.

use super::logged;

const IMPORTS: &str =
    "import YAML from 'k6/x/yaml'; import * as TOML from 'k6/x/toml'; import { parse } from 'k6/x/dotenv';";

#[track_caller]
fn check(call: &str, expect: &str) {
    let source = format!(
        "{IMPORTS} export default function () {{
           try {{ console.log(JSON.stringify({call})); }} catch (error) {{ console.log(String(error).split('\\n')[0]); }}
         }}"
    );
    let logs = logged(&source);
    let is_right = if expect.starts_with("GoError") { logs[0].starts_with(expect) } else { logs == [expect] };
    assert!(is_right, "{call}: {logs:?}");
}

#[test]
fn yaml() {
    check("YAML.parse('a: 1\\nb: [x, true, null, 1.5]\\n')", r#"{"a":1,"b":["x",true,null,1.5]}"#);
    check("YAML.parse('a: &x [1]\\nb: *x')", r#"{"a":[1],"b":[1]}"#);
    check("YAML.stringify({ b: [1, 'true'], a: null })", r#""a: null\nb:\n  - 1\n  - \"true\"\n""#);
    check("YAML.parse('a: [')", "GoError: yaml: did not find expected");
}

/// As k6 v1.7 with xk6-yaml prints them.
#[test]
fn dates_in_yaml_are_times_of_go() {
    check("String(YAML.parse('d: 2022-08-06').d)", r#""2022-08-06 00:00:00 +0000 UTC""#);
    check(
        "YAML.parse('d: [2022-08-06, \"2022-08-06\", .inf]').d.map(String)",
        r#"["2022-08-06 00:00:00 +0000 UTC","2022-08-06","Infinity"]"#,
    );
    let zoned = "YAML.parse('d: 2022-08-06T10:20:30.5+02:00').d";
    check(zoned, r#""2022-08-06T10:20:30.5+02:00""#);
    check(&format!("`${{{zoned}}}`"), r#""2022-08-06 10:20:30.5 +0200 +0200""#);
    check(&format!("{zoned}.uTC().string()"), r#""2022-08-06 08:20:30.5 +0000 UTC""#);
    check(
        &format!(
            "(d => [d.unix(), d.unixMilli(), d.year(), d.month(), `${{d.month()}} ${{d.weekday()}}`, d.yearDay(), d.hour()])({zoned})"
        ),
        r#"[1659774030,1659774030500,2022,8,"August Saturday",218,10]"#,
    );
    check(
        &format!("{zoned}.format('Mon Jan _2 3:04:05.000 PM 06, Monday 002 Z07:00')"),
        r#""Sat Aug  6 10:20:30.500 AM 22, Saturday 218 +02:00""#,
    );
    let pair = "YAML.parse('a: 2022-08-06\\nb: 2022-08-07')";
    check(&format!("(t => [t.a.before(t.b), t.a.equal(t.a), t.b.compare(t.a)])({pair})"), "[true,true,1]");
    check("[YAML.parse('d: 0001-01-01').d.isZero(), YAML.parse('d: 2022-01-01').d.yearDay()]", "[true,1]");
    check("YAML.stringify(YAML.parse('d: 2022-08-06T10:20:30Z'))", r#""d: 2022-08-06T10:20:30Z\n""#);
    check(
        "YAML.stringify([new Date(1500), new Date(NaN), undefined])",
        r#""- 1970-01-01T00:00:01.5Z\n- null\n- null\n""#,
    );
    check("YAML.stringify('2022-08-06') + YAML.stringify()", r#""\"2022-08-06\"\nnull\n""#);
}

#[test]
fn toml() {
    check(
        "TOML.parse('a = 1\\n[b]\\nc = [\"x\"]\\nd = 2024-02-03')",
        r#"{"a":1,"b":{"c":["x"],"d":"2024-02-03"}}"#,
    );
    check("TOML.stringify({ a: 1, b: { c: ['x'] } })", r#""a = 1\n\n[b]\nc = [\"x\"]\n""#);
    check("TOML.parse('a =')", "GoError: toml: TOML parse error at line 1, column 4");
}

#[test]
fn dotenv() {
    check("parse('A=1\\nB=\"x ${A}\"')", r#"{"A":"1","B":"x 1"}"#);
    check("parse('A')", "GoError: dotenv: line 1 is no assignment; write NAME=value");
}
