//! Automation of this repository, as `cargo xtask VERB`.

use std::process::ExitCode;

use anyhow::{Context, bail};

mod bench;
mod book;
mod callgrind;
mod dist;
mod evaluate;
mod fuzz;
mod hostile;
mod kubernetes;
mod lab;
#[cfg(test)]
mod readme;
mod suites;
mod tidy;
mod workspace;

/// One thing to do: its name, what it is, and what does it.
struct Verb {
    name: &'static str,
    help: &'static str,
    run: fn(lexopt::Parser) -> anyhow::Result<()>,
}

const VERBS: &[Verb] = &[
    Verb { name: "tidy", help: "checks the rules of the house that no compiler knows", run: tidy::main },
    Verb { name: "bench", help: "measures the program beside others", run: bench::main },
    Verb { name: "book", help: "builds the documentation and checks its links", run: book::main },
    Verb { name: "callgrind", help: "counts instructions per request", run: callgrind::main },
    Verb { name: "dist", help: "builds the program as it is shipped, with its packages", run: dist::main },
    Verb { name: "evaluate", help: "measures the analysis against known truth", run: evaluate::main },
    Verb { name: "fuzz", help: "runs the fuzz targets", run: fuzz::main },
    Verb { name: "hostile", help: "runs the hostile suite and faults as real runs", run: hostile::main },
    Verb { name: "kubernetes", help: "runs agents on a real API server", run: kubernetes::main },
    Verb {
        name: "lab",
        help: "checks that the systems of the lab behave as their stories say",
        run: lab::main,
    },
    Verb {
        name: "test262",
        help: "runs tests of the language with a tool that runs k6 scripts",
        run: suites::test262::main,
    },
    Verb { name: "wpt", help: "runs tests of the web platform with such a tool", run: suites::wpt::main },
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: failed to {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let mut parser = lexopt::Parser::from_env();
    let name = match parser.next().context("read the arguments")? {
        Some(lexopt::Arg::Value(name)) => name.to_string_lossy().into_owned(),
        _ => {
            print!("{}", usage());
            return Ok(());
        }
    };
    let Some(verb) = VERBS.iter().find(|verb| verb.name == name) else {
        bail!("find the verb {name:?}\n{}", usage());
    };
    (verb.run)(parser)
}

fn usage() -> String {
    let lines = VERBS.iter().map(|verb| format!("  cargo xtask {:<10} {}\n", verb.name, verb.help));
    lines.collect()
}
