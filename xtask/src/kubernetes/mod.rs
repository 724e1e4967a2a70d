//! Runs on a real API server: its servers, nodes that run pods as processes, and the cases that a cluster must not break.

use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use lexopt::Arg;
use model::SystemClock;

use crate::workspace;

mod api;
mod cases;
mod cluster;
mod hub_pod;
mod network;
mod node;
mod recorder;
mod servers;
mod verbs;

const USAGE: &str = "\
cargo xtask kubernetes [--record] [CASE…]: starts etcd and the servers of Kubernetes on loopback, nodes for tests, and runs the cases
  It needs root (network namespaces), etcd and ip. The servers are built with Go once and cached in the target folder.
  PLIMSOLL_BIN is the program to run [default: the one of the development profile]
  PLIMSOLL_KUBERNETES_SERVERS is a folder with the servers
  --record  writes the answers of some cases for the tests of the crate kubernetes
";

/// Runs the verb.
pub(crate) fn main(mut parser: lexopt::Parser) -> anyhow::Result<()> {
    let (mut chosen, mut records) = (Vec::new(), false);
    while let Some(argument) = parser.next().context("read the arguments")? {
        match argument {
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(());
            }
            Arg::Long("record") => records = true,
            Arg::Value(name) => chosen.push(name.to_string_lossy().into_owned()),
            other => bail!("kubernetes: {}", other.unexpected()),
        }
    }
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|it| it == name);
    let cases: Vec<_> = cases::CASES.iter().filter(|case| is_chosen(case.name)).collect();
    ensure!(!cases.is_empty(), "find the cases {chosen:?}");
    let folder =
        tempfile::Builder::new().prefix("plimsoll-kubernetes-").tempdir().context("create a folder")?;
    // The pods' user reads the program and its Secrets there.
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .context("open a folder")?;
    let cluster = cluster::Cluster::start(folder.path(), &binary()?, records)?;
    println!("Kubernetes {} with etcd on loopback\n", servers::RELEASE);
    let mut failed = 0;
    for case in cases {
        let began = SystemClock::now();
        let result = cluster.namespace(case.name).and_then(|bench| (case.run)(&bench));
        let seconds = SystemClock::now().since(began).as_secs_f64();
        match result {
            Ok(found) => println!("| {} | {found} | {seconds:.0} s |", case.says),
            Err(error) => {
                failed += 1;
                println!("FAILED {}: {error:#}", case.name);
            }
        }
    }
    ensure!(failed == 0, "pass {failed} cases");
    Ok(())
}

fn binary() -> anyhow::Result<PathBuf> {
    if let Some(given) = std::env::var_os("PLIMSOLL_BIN") {
        return std::fs::canonicalize(&given)
            .with_context(|| format!("find {}", PathBuf::from(given).display()));
    }
    let status = workspace::cargo().args(["build", "-p", "plimsoll"]).status().context("run cargo")?;
    ensure!(status.success(), "build the program");
    Ok(workspace::target_directory()?.join("debug/plimsoll"))
}
