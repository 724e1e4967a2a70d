//! The program as it is shipped: the release without the lab, stripped, with its debug lines in a file beside it.
//!
//! Symbols go into `plimsoll.debug`, and the program names that file (`.gnu_debuglink`), so that backtraces, `perf` and debuggers
//! find lines where both lie in one folder (GDB manual, "Separate Debug Files").

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace;

/// The size that the stripped program aims at.
const BYTES_AIM: u64 = 30 << 20;

pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let mut with_lab = false;
    while let Some(argument) = parser.next().context("read the arguments")? {
        match argument {
            lexopt::Arg::Long("lab") => with_lab = true,
            other => bail!("dist [--lab]: {}", other.unexpected()),
        }
    }
    let folder = workspace::target_directory()?.join("dist");
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    build(with_lab)?;
    let built = workspace::target_directory()?.join("release/plimsoll");
    check_engine(&built)?;
    let (program, debug) = (folder.join("plimsoll"), folder.join("plimsoll.debug"));
    objcopy(&["--only-keep-debug"], &built, &debug)?;
    let link = format!("--add-gnu-debuglink={}", debug.display());
    objcopy(&["--strip-all", &link], &built, &program)?;
    let bytes = std::fs::metadata(&program).context("read the program's size")?.len();
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("{}: {:.1} MiB (aim: {:.0} MiB)", program.display(), mib(bytes), mib(BYTES_AIM));
    println!("{}: debug lines", debug.display());
    Ok(())
}

fn build(with_lab: bool) -> anyhow::Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--release", "--package", "plimsoll"]);
    if !with_lab {
        cargo.arg("--no-default-features");
    }
    ensure!(cargo.status().context("run cargo")?.success(), "build the release");
    Ok(())
}

/// The functions by which the program finds the engine's machine code, to preempt it (`script/src/js/code.rs`).
const ENGINE: &[&str] = &[
    "JS_GetVersion",
    "JS_NewRuntime2",
    "JS_NewContext",
    "JS_AddIntrinsicAToB",
    "lre_exec",
    "unicode_normalize",
    "js_atod",
    "js_math_fabs",
    "js_math_sign",
    "js_math_fround",
    "js_math_round",
    "js_math_random",
    "js_json_isRawJSON",
];

/// Makes sure that the linker has put nothing else between the engine's functions.
fn check_engine(program: &Path) -> anyhow::Result<()> {
    let listed = Command::new("nm").args(["--numeric-sort", "--defined-only"]).arg(program).output();
    let listed = listed.context("run nm (package binutils)")?;
    ensure!(listed.status.success(), "list the functions of {}", program.display());
    let foreign = between_the_engines(&String::from_utf8_lossy(&listed.stdout))?;
    ensure!(foreign.is_empty(), "functions of others lie between those of the engine: {foreign:?}");
    Ok(())
}

/// The functions in Rust between the engine's first and last in a list of symbols by address.
fn between_the_engines(listed: &str) -> anyhow::Result<Vec<String>> {
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split_once(" t ").or_else(|| line.split_once(" T ")))
        .map(|(_, name)| name)
        .collect();
    let first = names.iter().position(|name| ENGINE.contains(name));
    let last = names.iter().rposition(|name| ENGINE.contains(name));
    let (Some(first), Some(last)) = (first, last) else { bail!("find the engine's functions") };
    let is_rust = |name: &&&str| name.starts_with("_ZN") || name.starts_with("_R");
    Ok(names[first..=last].iter().filter(is_rust).map(|name| (*name).to_owned()).collect())
}

fn objcopy(options: &[&str], from: &Path, to: &Path) -> anyhow::Result<()> {
    let status = Command::new("objcopy").args(options).args([from, to]).status();
    ensure!(status.context("run objcopy (package binutils)")?.success(), "write {}", to.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_the_engines_functions_is_found() {
        let list = |names: &[&str]| -> String {
            names.iter().enumerate().map(|(at, name)| format!("{at:016x} t {name}\n")).collect()
        };
        let alone = ["_ZN1a", "js_math_fabs", "static_one", "JS_NewContext", "js_atod", "_ZN1b"];
        assert!(between_the_engines(&list(&alone)).unwrap().is_empty());
        let mixed = ["js_math_fabs", "_ZN6worker3run", "JS_NewContext", "_RNv1x"];
        assert_eq!(between_the_engines(&list(&mixed)).unwrap(), ["_ZN6worker3run"]);
        assert!(between_the_engines(&list(&["_ZN1a"])).is_err());
    }
}
