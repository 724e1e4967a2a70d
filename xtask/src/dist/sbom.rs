//! The list of crates that a program is made of, as CycloneDX 1.6 in JSON (ECMA-424).

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::workspace;

/// The crates of a program, as cargo resolves them.
pub(super) struct Crates {
    root: String,
    /// Packages by cargo's identity.
    packages: BTreeMap<String, Value>,
    /// Dependencies by cargo's identity: what is linked, and nothing that only runs while something is compiled.
    edges: BTreeMap<String, BTreeSet<String>>,
}

impl Crates {
    /// Resolves the crates of the program for a target, without the lab.
    pub(super) fn resolve(target: &str) -> anyhow::Result<Crates> {
        let output = workspace::cargo()
            .args(["metadata", "--format-version=1", "--offline", "--no-default-features"])
            .args(["--filter-platform", target, "--manifest-path", "crates/plimsoll/Cargo.toml"])
            .output()
            .context("run cargo metadata")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "read cargo's metadata: {complaint}");
        Crates::read(&serde_json::from_slice(&output.stdout).context("parse cargo's metadata")?)
    }

    fn read(metadata: &Value) -> anyhow::Result<Crates> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let nodes: BTreeMap<String, Value> =
            list(&metadata["resolve"]["nodes"]).into_iter().map(|node| (id(&node["id"]), node)).collect();
        let root = id(&metadata["resolve"]["root"]);
        ensure!(nodes.contains_key(&root), "find the program among cargo's packages");
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut open = vec![root.clone()];
        while let Some(from) = open.pop() {
            if edges.contains_key(&from) {
                continue;
            }
            let is_linked =
                |dependency: &Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let dependencies = nodes.get(&from).map(|node| list(&node["deps"])).unwrap_or_default();
            let to: BTreeSet<String> =
                dependencies.iter().filter(|one| is_linked(one)).map(|one| id(&one["pkg"])).collect();
            open.extend(to.iter().cloned());
            edges.insert(from, to);
        }
        let packages = list(&metadata["packages"]).into_iter().map(|package| (id(&package["id"]), package));
        let packages = packages.filter(|(id, _)| edges.contains_key(id)).collect();
        Ok(Crates { root, packages, edges })
    }

    /// The packages of others, by name and version.
    pub(super) fn others(&self) -> impl Iterator<Item = &Value> {
        self.packages.values().filter(|package| package["source"].is_string())
    }

    /// The document. `time` is that of the commit, so that the same sources make the same bytes.
    pub(super) fn document(&self, time: &str) -> Value {
        let root = &self.packages[&self.root];
        let components: Vec<Value> = self
            .packages
            .iter()
            .filter(|(id, _)| **id != self.root)
            .map(|(_, package)| component(package))
            .collect();
        let reference = |id: &String| reference(&self.packages[id]);
        let dependencies: Vec<Value> = self
            .edges
            .iter()
            .map(|(from, to)| {
                let to: BTreeSet<String> = to.iter().map(reference).collect();
                json!({ "ref": reference(from), "dependsOn": to })
            })
            .collect();
        let mut program = component(root);
        program["type"] = json!("application");
        json!({
            "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": { "timestamp": time, "component": program },
            "components": components,
            "dependencies": dependencies,
        })
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The package's URL (github.com/package-url/purl-spec, type cargo). Crates of the workspace are in no registry.
fn reference(package: &Value) -> String {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    match package["source"].is_string() {
        true => format!("pkg:cargo/{name}@{version}"),
        false => format!("plimsoll:{name}@{version}"),
    }
}

fn component(package: &Value) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": text(&package["name"]),
        "version": text(&package["version"]),
    });
    if package["source"].is_string() {
        component["purl"] = Value::from(reference(package));
    }
    // "MIT/Apache-2.0" is an older way to write an expression of SPDX.
    if let Some(license) = package["license"].as_str() {
        let expression = license.replace('/', " OR ").split_whitespace().collect::<Vec<_>>().join(" ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(id: &str, is_other: bool) -> Value {
        let source = is_other.then_some("registry");
        json!({ "id": id, "name": id, "version": "1.0.0", "source": source, "license": "MIT/Apache-2.0" })
    }

    fn metadata() -> Value {
        let dep = |pkg: &str, kind: Option<&str>| json!({ "pkg": pkg, "dep_kinds": [{ "kind": kind }] });
        json!({
            "packages": [package("app", false), package("own", false), package("lib", true), package("cc", true),
                         package("test", true)],
            "resolve": { "root": "app", "nodes": [
                { "id": "app", "deps": [dep("own", None), dep("cc", Some("build")), dep("test", Some("dev"))] },
                { "id": "own", "deps": [dep("lib", None)] },
                { "id": "lib", "deps": [] }, { "id": "cc", "deps": [] }, { "id": "test", "deps": [] },
            ] },
        })
    }

    #[test]
    fn only_what_is_linked_is_listed() {
        let crates = Crates::read(&metadata()).expect("metadata");
        let document = crates.document("2026-01-01T00:00:00Z");
        let names: Vec<&str> =
            document["components"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
        assert_eq!(names, ["lib", "own"]);
        assert_eq!(document["components"][0]["purl"], "pkg:cargo/lib@1.0.0");
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(document["metadata"]["component"]["type"], "application");
        assert_eq!(crates.others().count(), 1);
        let edges = document["dependencies"].as_array().unwrap();
        assert!(
            edges.contains(&json!({ "ref": "plimsoll:own@1.0.0", "dependsOn": ["pkg:cargo/lib@1.0.0"] }))
        );
    }

    #[test]
    fn the_program_is_listed_with_all_its_crates() {
        let crates = Crates::resolve(super::super::TARGET).expect("the workspace");
        let document = crates.document("2026-01-01T00:00:00Z");
        let names: BTreeSet<&str> =
            document["components"].as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
        for name in ["engine", "mcp", "rquickjs", "rustls", "tokio"] {
            assert!(names.contains(name), "{name} is missing");
        }
        for name in ["appstore", "valgrind", "expect-test", "cc"] {
            assert!(!names.contains(name), "{name} is not linked");
        }
        // Each reference is a component, once.
        let references: Vec<&str> =
            document["components"].as_array().unwrap().iter().map(|one| text(&one["bom-ref"])).collect();
        let distinct: BTreeSet<&str> = references.iter().copied().collect();
        assert_eq!(references.len(), distinct.len());
        for edge in document["dependencies"].as_array().unwrap() {
            for to in edge["dependsOn"].as_array().unwrap() {
                assert!(distinct.contains(text(to)), "{to}");
            }
        }
    }
}
