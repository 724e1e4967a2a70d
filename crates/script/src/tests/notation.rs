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
    check("YAML.stringify({ b: [1, 'true'], a: null })", r#""a: null\nb:\n- 1\n- 'true'\n""#);
    check("YAML.parse('a: [')", "GoError: yaml: did not find expected");
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
