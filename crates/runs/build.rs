//! Sets the commit that the program is built from, if there is a repository and `git`; a build without them works, too.

use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let is_dirty = git(&["--no-optional-locks", "status", "--porcelain", "--untracked-files=no"])
        .is_some_and(|text| !text.is_empty());
    println!("cargo::rustc-env=PLIMSOLL_COMMIT={commit}");
    println!("cargo::rustc-env=PLIMSOLL_IS_DIRTY={is_dirty}");
    // The commit changes with these. The index does, too, but also with each `git status`, and a build of all that depends on this
    // crate takes minutes.
    for watched in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", watched])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
