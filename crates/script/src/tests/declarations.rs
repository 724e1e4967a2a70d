//! The declarations for TypeScript name the modules and exports that scripts really have.

use std::collections::{BTreeMap, BTreeSet};

use super::logged;
use crate::DECLARATIONS;

/// Modules that `@types/k6` declares.
const DECLARED_BY_K6: &[&str] = &[
    "k6",
    "k6/crypto",
    "k6/data",
    "k6/encoding",
    "k6/execution",
    "k6/experimental/csv",
    "k6/experimental/fs",
    "k6/experimental/streams",
    "k6/html",
    "k6/http",
    "k6/metrics",
    "k6/net/grpc",
    "k6/secrets",
    "k6/timers",
    "k6/websockets",
    "k6/ws",
];

/// The values that each module of a file of declarations exports. Types are none.
fn declared(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut module: Option<String> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("declare module \"").and_then(|rest| rest.strip_suffix("\" {"))
        {
            modules.insert(name.to_owned(), BTreeSet::new());
            module = Some(name.to_owned());
        } else if line == "}" {
            module = None;
        }
        let (Some(name), Some(export)) = (&module, line.strip_prefix("    export ")) else { continue };
        modules.entry(name.clone()).or_default().extend(exported(export));
    }
    modules
}

/// The values that one line exports, after the word `export`.
fn exported(export: &str) -> Vec<String> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let named = |rest: &str| rest.chars().take_while(|letter| is_letter(*letter)).collect::<String>();
    if export.starts_with("* as default ") {
        return vec!["default".to_owned()];
    }
    if let Some(list) = export.strip_prefix("{ ") {
        let list = list.split(" }").next().unwrap_or_default();
        let name = |item: &str| item.rsplit(" as ").next().unwrap_or_default().trim().to_owned();
        return list.split(',').map(name).collect();
    }
    let values = ["function ", "class ", "const "];
    values.iter().filter_map(|word| export.strip_prefix(word)).map(named).collect()
}

/// The exports that scripts see of these modules.
fn real(modules: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let imports: String = modules
        .iter()
        .enumerate()
        .map(|(nth, name)| {
            format!("import * as m{nth} from '{name}'; all['{name}'] = Object.keys(m{nth});\n")
        })
        .collect();
    let source =
        format!("const all = {{}};\n{imports}export default () => console.log(JSON.stringify(all));");
    let lines = logged(&source);
    let line = lines.iter().find(|line| line.starts_with('{'));
    serde_json::from_str(line.unwrap_or_else(|| panic!("{lines:?}"))).expect("JSON")
}

#[test]
fn modules_and_exports_are_those_that_scripts_have() {
    let declared = declared(DECLARATIONS);
    let ours: Vec<&str> =
        crate::host::module_names().into_iter().filter(|name| !DECLARED_BY_K6.contains(name)).collect();
    assert!(ours.contains(&"plimsoll/flow"), "{ours:?}");
    let real = real(&ours);
    let names = |all: &BTreeMap<String, BTreeSet<String>>| all.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&declared), names(&real), "modules that are declared, and that exist");
    for (module, exports) in &real {
        assert_eq!(&declared[module], exports, "exports of {module} that are declared, and that exist");
    }
    let absent = DECLARED_BY_K6.iter().find(|name| !crate::has_module(name));
    assert_eq!(absent, None, "a module that scripts do not have");
}

#[test]
fn types_are_no_exports() {
    let text = "declare module \"a\" {\n    export interface A {\n        b: string;\n    }\n    export class C {\n    }\n    \
                export { x as d, E } from \"f\";\n    export function g<T>(h: T): T;\n    export * as default from \"a\";\n}\n\
                declare module \"b\";\n";
    let found: Vec<String> = declared(text)["a"].iter().cloned().collect();
    assert_eq!(found, ["C", "E", "d", "default", "g"]);
    assert_eq!(declared(text).len(), 1);
}
