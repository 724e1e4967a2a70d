//! The program as it is shipped: built as a whole without the lab, stripped, as an archive and a Debian package, with checksums and a
//! list of everything that it is made of.
//!
//! Symbols go into `plimsoll.debug`, and the program names that file (`.gnu_debuglink`), so that backtraces, `perf` and debuggers
//! find lines where both lie in one folder (GDB manual, "Separate Debug Files"). Archives have the times of the commit and no
//! names of users, so that the same sources make the same bytes.

mod libc;
mod notices;
mod package;
mod parts;
mod sbom;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace;

/// The profile of what is shipped (`Cargo.toml`).
const PROFILE: &str = "shipped";

/// The largest size of the stripped program without the lab: slightly above its present size, so that growth is noticed.
const BYTES_MAX: u64 = 34 << 20;

/// The size that the stripped program aims at.
const BYTES_AIM: u64 = 30 << 20;

/// The machine that is built for, unless another is named.
const TARGET: &str = "x86_64-unknown-linux-gnu";

const USAGE: &str = "dist [--lab] [--target TARGET] [--sysroot FOLDER] [--program FILE] [--any-libc]";

/// Arguments.
#[derive(Default)]
struct Wanted {
    with_lab: bool,
    target: Option<String>,
    /// The system whose C library is linked, for systems that are as old.
    sysroot: Option<PathBuf>,
    /// A program that is built already.
    program: Option<PathBuf>,
    /// Whether a newer C library is no error: the program is for this machine.
    any_libc: bool,
}

impl Wanted {
    fn read(mut parser: lexopt::Parser) -> anyhow::Result<Wanted> {
        let mut wanted = Wanted::default();
        while let Some(argument) = parser.next().context("read the arguments")? {
            match argument {
                lexopt::Arg::Long("lab") => wanted.with_lab = true,
                lexopt::Arg::Long("any-libc") => wanted.any_libc = true,
                lexopt::Arg::Long("target") => {
                    wanted.target = Some(parser.value()?.to_string_lossy().into_owned())
                }
                lexopt::Arg::Long("sysroot") => wanted.sysroot = Some(parser.value()?.into()),
                lexopt::Arg::Long("program") => wanted.program = Some(parser.value()?.into()),
                other => bail!("{USAGE}: {}", other.unexpected()),
            }
        }
        Ok(wanted)
    }

    fn target(&self) -> &str {
        self.target.as_deref().unwrap_or(TARGET)
    }
}

pub(crate) fn main(parser: lexopt::Parser) -> anyhow::Result<()> {
    let wanted = Wanted::read(parser)?;
    let folder = workspace::target_directory()?.join("dist");
    // Packages of another version would be shipped with those of this one.
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let built = match &wanted.program {
        Some(program) => program.clone(),
        None => build(&wanted)?,
    };
    check_engine(&built)?;
    let (program, debug) = (folder.join("plimsoll"), folder.join("plimsoll.debug"));
    objcopy(&["--only-keep-debug"], &built, &debug)?;
    let link = format!("--add-gnu-debuglink={}", debug.display());
    objcopy(&["--strip-all", &link], &built, &program)?;
    let bytes = std::fs::metadata(&program).context("read the program's size")?.len();
    let sizes = format!("limit {:.0} MiB, aim {:.0} MiB", mib(BYTES_MAX), mib(BYTES_AIM));
    println!("{}: {:.1} MiB, {sizes}", program.display(), mib(bytes));
    ensure!(
        wanted.with_lab || bytes <= BYTES_MAX,
        "keep {} within {:.0} MiB",
        program.display(),
        mib(BYTES_MAX)
    );
    let libc = libc::required(&program)?;
    println!("{}: {libc}", program.display());
    ensure!(wanted.any_libc || libc.is_old(), "link an older C library, by --sysroot or --target: {libc}");
    let parts = parts::Parts::collect(&program, wanted.target(), &folder)?;
    package::archive(&parts, &folder)?;
    package::debian(&parts, &libc, &folder)?;
    package::checksums(&folder)
}

/// Flags of the linker that comes with Rust for this target: functions with the same machine code become one.
const FOLDING: &str = "-Clink-arg=-Wl,--icf=all";

/// Flags for compilers of C: an object's functions stay together. Nothing is then folded into them, nor among them: C compares
/// addresses of functions, and the engine's must lie side by side to be preempted.
const TOGETHER: &str = "-fno-function-sections";

/// The flags of Rust and of C for a target.
fn compiling(wanted: &Wanted) -> anyhow::Result<(String, String)> {
    let (mut rust, mut c) = match wanted.target() {
        TARGET => (vec![FOLDING.to_owned()], vec![TOGETHER.to_owned()]),
        _ => (Vec::new(), Vec::new()),
    };
    rust.extend(renamed(&workspace::root(), ".").into_iter().chain(registries()?));
    if let Some(sysroot) = &wanted.sysroot {
        let sysroot = sysroot.canonicalize().with_context(|| format!("open {}", sysroot.display()))?;
        c.push(format!("--sysroot={}", sysroot.display()));
        rust.push(linking(&sysroot)?);
    }
    Ok((rust.join(" "), c.join(" ")))
}

/// The flag that has a folder of this machine named otherwise in the program: its messages of panics name source files.
fn renamed(folder: &Path, name: &str) -> Option<String> {
    // Flags in a variable are separated by blanks.
    let folder = folder.to_str().filter(|folder| !folder.contains(char::is_whitespace))?;
    Some(format!("--remap-path-prefix={folder}={name}"))
}

/// The flags for the folders of other people's sources.
fn registries() -> anyhow::Result<Vec<String>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.context("find the folder of cargo: set CARGO_HOME")?.join("registry/src");
    let entries = std::fs::read_dir(&sources).with_context(|| format!("read {}", sources.display()))?;
    Ok(entries.flatten().filter_map(|entry| renamed(&entry.path(), "crates")).collect())
}

/// The flags that link the libraries of another system. Compilers of Debian look into their own folders first, unless others are
/// named.
fn linking(sysroot: &Path) -> anyhow::Result<String> {
    let libraries = |folder: &str| -> anyhow::Result<PathBuf> {
        let entries = std::fs::read_dir(sysroot.join(folder))
            .with_context(|| format!("read {folder} of the sysroot"))?;
        let found = entries
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-linux-gnu")));
        found.with_context(|| format!("find the libraries in {folder} of the sysroot"))
    };
    let (compiled, shared) = (libraries("usr/lib")?, libraries("lib")?);
    let words = [
        format!("--sysroot={}", sysroot.display()),
        format!("-B{}", compiled.display()),
        format!("-L{}", compiled.display()),
        format!("-L{}", shared.display()),
    ];
    Ok(words.map(|word| format!("-Clink-arg={word}")).join(" "))
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Builds the program, and returns its path.
fn build(wanted: &Wanted) -> anyhow::Result<PathBuf> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--profile", PROFILE, "--package", "plimsoll"]);
    if !wanted.with_lab {
        cargo.arg("--no-default-features");
    }
    let mut folder = workspace::target_directory()?;
    if let Some(target) = &wanted.target {
        cargo.args(["--target", target]);
        folder.push(target);
    }
    let (rust, c) = compiling(wanted)?;
    let name = wanted.target().to_uppercase().replace('-', "_");
    // Flags of the caller's environment would take the place of these.
    cargo.env_remove("RUSTFLAGS").env(format!("CARGO_TARGET_{name}_RUSTFLAGS"), rust).env("CFLAGS", c);
    ensure!(cargo.status().context("run cargo")?.success(), "build the program");
    Ok(folder.join(PROFILE).join("plimsoll"))
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
