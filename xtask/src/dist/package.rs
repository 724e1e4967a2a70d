//! Archives and packages out of the shipped files.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use super::libc::Libc;
use super::parts::{Parts, copy, write};

/// Files of a package beside the program: from, to, and whether it is compressed there.
struct Placed {
    from: String,
    to: String,
    is_compressed: bool,
}

/// Makes the archive.
pub(super) fn archive(parts: &Parts, dist: &Path) -> anyhow::Result<()> {
    let path = dist.join(format!("{}.tar.gz", parts.name));
    // The same order, times and owners make the same bytes (reproducible-builds.org, "Archives").
    run(Command::new("tar")
        .args([
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--mode=go-w",
            "--use-compress-program=gzip -9n",
        ])
        .arg(format!("--mtime=@{}", parts.epoch_s))
        .arg("-cf")
        .arg(&path)
        .arg("-C")
        .arg(dist)
        .arg(&parts.name))?;
    show(&path)
}

/// Makes the package for Debian and what descends from it.
pub(super) fn debian(parts: &Parts, libc: &Libc, dist: &Path) -> anyhow::Result<()> {
    let architecture = architecture(&parts.target)?;
    let root = dist.join("deb");
    for placed in placed(&parts.folder)? {
        let to = root.join(&placed.to);
        let folder = to.parent().unwrap_or(&root);
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        copy(&parts.folder.join(&placed.from), &to)?;
        if placed.is_compressed {
            run(Command::new("gzip").arg("-9n").arg(&to))?;
        }
    }
    for (to, text) in papers(parts) {
        let to = root.join(to);
        let folder = to.parent().unwrap_or(&root);
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        write(&to, text.as_bytes())?;
        if to.ends_with("changelog") {
            run(Command::new("gzip").arg("-9n").arg(&to))?;
        }
    }
    let control = root.join("DEBIAN");
    std::fs::create_dir_all(&control).with_context(|| format!("create {}", control.display()))?;
    write(&control.join("control"), control_text(parts, libc, architecture, kib(&root)?).as_bytes())?;
    set_modes(&root)?;
    let path = dist.join(format!("plimsoll_{}_{architecture}.deb", parts.version));
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zxz", "--build"])
        .arg(&root)
        .arg(&path)
        .env("SOURCE_DATE_EPOCH", parts.epoch_s.to_string()))?;
    std::fs::remove_dir_all(&root).with_context(|| format!("remove {}", root.display()))?;
    show(&path)
}

/// Writes the checksums of everything that is shipped, in the form of `sha256sum --check`.
pub(super) fn checksums(dist: &Path) -> anyhow::Result<()> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(dist)
        .with_context(|| format!("read {}", dist.display()))?
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()))
        .filter(|name| {
            name.extension().is_some_and(|end| ["gz", "deb", "json"].iter().any(|known| end == *known))
        })
        .collect();
    names.sort();
    let summed =
        Command::new("sha256sum").args(&names).current_dir(dist).output().context("run sha256sum")?;
    ensure!(summed.status.success(), "sum up {names:?}: {}", String::from_utf8_lossy(&summed.stderr));
    write(&dist.join("SHA256SUMS"), &summed.stdout)?;
    println!("{}: {} files", dist.join("SHA256SUMS").display(), names.len());
    Ok(())
}

/// Debian's name of a machine.
fn architecture(target: &str) -> anyhow::Result<&'static str> {
    match target.split('-').next() {
        Some("x86_64") => Ok("amd64"),
        Some("aarch64") => Ok("arm64"),
        _ => bail!("name the architecture of {target}, as Debian does"),
    }
}

/// Where Debian has files (Debian Policy, 9.1, 12.1 and 12.5).
fn placed(folder: &Path) -> anyhow::Result<Vec<Placed>> {
    let one = |from: &str, to: &str| Placed { from: from.into(), to: to.into(), is_compressed: false };
    let doc = "usr/share/doc/plimsoll";
    let mut all = vec![
        one("plimsoll", "usr/bin/plimsoll"),
        one("completions/plimsoll.bash", "usr/share/bash-completion/completions/plimsoll"),
        one("completions/_plimsoll", "usr/share/zsh/vendor-completions/_plimsoll"),
        one("completions/plimsoll.fish", "usr/share/fish/vendor_completions.d/plimsoll.fish"),
        Placed {
            is_compressed: true,
            ..one("THIRD-PARTY-LICENSES.txt", &format!("{doc}/THIRD-PARTY-LICENSES.txt"))
        },
        Placed { is_compressed: true, ..one("CHANGELOG.md", &format!("{doc}/CHANGELOG.md")) },
    ];
    for (part, to, is_compressed) in
        [("man", "usr/share/man/man1".to_owned(), true), ("guide", format!("{doc}/guide"), false)]
    {
        let entries = std::fs::read_dir(folder.join(part)).with_context(|| format!("read {part}"))?;
        for name in entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()) {
            all.push(Placed { is_compressed, ..one(&format!("{part}/{name}"), &format!("{to}/{name}")) });
        }
    }
    Ok(all)
}

/// Size of the files below a folder, in KiB, each rounded up (Debian Policy, 5.6.20).
fn kib(folder: &Path) -> anyhow::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))? {
        let entry = entry.with_context(|| format!("read {}", folder.display()))?;
        let metadata = entry.metadata().with_context(|| format!("read {}", entry.path().display()))?;
        sum += if metadata.is_dir() { 1 + kib(&entry.path())? } else { metadata.len().div_ceil(1024) };
    }
    Ok(sum)
}

fn control_text(parts: &Parts, libc: &Libc, architecture: &str, installed_kib: u64) -> String {
    let depends = match libc {
        Libc::None => String::new(),
        Libc::Glibc(version) => format!("Depends: libc6 (>= {version}), libgcc-s1 | libgcc1\n"),
    };
    format!(
        "Package: plimsoll\nVersion: {}\nArchitecture: {architecture}\nMaintainer: {}\nSection: net\n\
         Priority: optional\nInstalled-Size: {installed_kib}\n{depends}Recommends: ca-certificates\nDescription: load tests with k6 scripts\n \
         Runs k6 load tests, finds the bottleneck, and shows how much load is safe.\n",
        parts.version, parts.maintainer
    )
}

/// Returns the files that Debian asks of every package (Debian Policy, 4.4 and 12.5), and the list of its checks that cannot be met:
/// where each lies, and its text.
fn papers(parts: &Parts) -> [(&'static str, String); 3] {
    let year = parts.date.split(' ').nth(3).unwrap_or_default();
    let copyright = format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Plimsoll\n\nFiles: *\n\
         Copyright: {year} Plimsoll's authors\nLicense: Apache-2.0\nComment: The program contains works of others; their licences are in\n \
         THIRD-PARTY-LICENSES.txt.gz beside this file.\n\nLicense: Apache-2.0\n On Debian systems the text of this licence is in\n \
         /usr/share/common-licenses/Apache-2.0.\n"
    );
    let changelog = format!(
        "plimsoll ({}) unstable; urgency=medium\n\n  * A release of Plimsoll; CHANGELOG.md.gz lists what is new.\n\n -- {}  {}\n",
        parts.version, parts.maintainer, parts.date
    );
    let overrides = "# One program that runs on systems of six years must bring its libraries.\nplimsoll: embedded-library *\n";
    [
        ("usr/share/doc/plimsoll/copyright", copyright),
        ("usr/share/doc/plimsoll/changelog", changelog),
        ("usr/share/lintian/overrides/plimsoll", overrides.to_owned()),
    ]
}

/// Sets the modes of files and folders, whatever the user's mask is.
fn set_modes(root: &Path) -> anyhow::Result<()> {
    run(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(root))?;
    run(Command::new("chmod").arg("755").arg(root.join("usr/bin/plimsoll")))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("run {name}"))?;
    ensure!(output.status.success(), "run {name}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn show(path: &Path) -> anyhow::Result<()> {
    let bytes = std::fs::metadata(path).with_context(|| format!("read {}", path.display()))?.len();
    println!("{}: {:.1} MiB", path.display(), super::mib(bytes));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::libc::Version;
    use super::*;

    fn parts(folder: &Path) -> Parts {
        for file in [
            "plimsoll",
            "LICENSE",
            "README.md",
            "CHANGELOG.md",
            "THIRD-PARTY-LICENSES.txt",
            "man/plimsoll.1",
            "guide/flow.md",
            "completions/plimsoll.bash",
            "completions/_plimsoll",
            "completions/plimsoll.fish",
        ] {
            let path = folder.join("plimsoll-1").join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, file).unwrap();
        }
        Parts {
            folder: folder.join("plimsoll-1"),
            name: "plimsoll-1".into(),
            version: "1.2.3".into(),
            target: "x86_64-unknown-linux-gnu".into(),
            epoch_s: 1_700_000_000,
            date: "Tue, 14 Nov 2023 22:13:20 +0000".into(),
            maintainer: "A Person <a@example.test>".into(),
        }
    }

    /// Makes all packages in a folder of their own; their bytes by name.
    fn made() -> Vec<(String, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        let parts = parts(folder.path());
        archive(&parts, folder.path()).unwrap();
        debian(&parts, &Libc::Glibc(Version(2, 31)), folder.path()).unwrap();
        checksums(folder.path()).unwrap();
        let check = Command::new("sha256sum")
            .args(["--check", "--strict", "SHA256SUMS"])
            .current_dir(folder.path())
            .output();
        assert!(check.unwrap().status.success());
        let names = ["plimsoll-1.tar.gz", "plimsoll_1.2.3_amd64.deb", "SHA256SUMS"];
        names.map(|name| (name.to_owned(), std::fs::read(folder.path().join(name)).unwrap())).to_vec()
    }

    #[test]
    fn the_same_files_make_the_same_bytes() {
        let has_dpkg = Command::new("dpkg-deb").arg("--version").output().is_ok();
        if !has_dpkg {
            eprintln!("skipped: dpkg-deb is not installed");
            return;
        }
        let first = made();
        // Files that are made later have other times.
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert_eq!(first, made());
    }

    #[test]
    fn a_package_has_its_files_where_debian_has_them() {
        if Command::new("dpkg-deb").arg("--version").output().is_err() {
            eprintln!("skipped: dpkg-deb is not installed");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        debian(&parts(folder.path()), &Libc::Glibc(Version(2, 31)), folder.path()).unwrap();
        let package = folder.path().join("plimsoll_1.2.3_amd64.deb");
        let listed = |flag: &str| {
            let output = Command::new("dpkg-deb").arg(flag).arg(&package).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let contents = listed("--contents");
        for expect in [
            "-rwxr-xr-x root/root",
            "./usr/bin/plimsoll",
            "./usr/share/man/man1/plimsoll.1.gz",
            "./usr/share/doc/plimsoll/copyright",
            "./usr/share/doc/plimsoll/changelog.gz",
            "./usr/share/doc/plimsoll/CHANGELOG.md.gz",
            "./usr/share/lintian/overrides/plimsoll",
            "./usr/share/doc/plimsoll/guide/flow.md",
            "./usr/share/bash-completion/completions/plimsoll",
        ] {
            assert!(contents.contains(expect), "{expect}: {contents}");
        }
        let fields = listed("--field");
        assert!(
            fields.contains("Architecture: amd64")
                && fields.contains("Maintainer: A Person <a@example.test>")
                && fields.contains("Depends: libc6 (>= 2.31), libgcc-s1"),
            "{fields}"
        );
        assert_eq!(architecture("aarch64-unknown-linux-musl").unwrap(), "arm64");
        assert!(architecture("mips-x").is_err());
    }
}
