//! The C library that a program needs.

use std::fmt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};

/// The newest version of glibc that a shipped program may need: that of Debian 11 and Ubuntu 20.04, both older than five years.
const VERSION_MAX: Version = Version(2, 31);

/// A version of glibc, major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// Needs of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Libc {
    /// Nothing: it is linked statically.
    None,
    /// glibc of this version or newer.
    Glibc(Version),
}

impl Libc {
    /// Whether systems of the last six years have it.
    pub(super) fn is_old(self) -> bool {
        match self {
            Libc::None => true,
            Libc::Glibc(version) => version <= VERSION_MAX,
        }
    }
}

impl fmt::Display for Libc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Libc::None => f.write_str("static, runs with any C library"),
            Libc::Glibc(version) => write!(f, "needs glibc {version}, limit {VERSION_MAX}"),
        }
    }
}

/// Returns the C library that a program needs.
pub(super) fn required(program: &Path) -> anyhow::Result<Libc> {
    let listed =
        Command::new("objdump").arg("-T").arg(program).output().context("run objdump (package binutils)")?;
    ensure!(listed.status.success(), "list the symbols of {}", program.display());
    let text = String::from_utf8_lossy(&listed.stdout);
    Ok(newest(&text).map_or(Libc::None, Libc::Glibc))
}

/// The newest version in a list of dynamic symbols.
fn newest(listed: &str) -> Option<Version> {
    let versions = listed.match_indices("GLIBC_").filter_map(|(at, name)| {
        let text = listed[at + name.len()..]
            .split(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .next()?;
        let mut numbers = text.split('.').map(str::parse);
        Some(Version(numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_decides() {
        let listed =
            "0 DF *UND* 0 (GLIBC_2.2.5) free\n0 DF *UND* 0 (GLIBC_2.31) gettid\n0 DF *UND* 0 (GLIBC_2.4) x\n";
        assert_eq!(newest(listed), Some(Version(2, 31)));
        assert_eq!(newest("no symbols"), None);
        assert_eq!(newest("GLIBC_PRIVATE"), None);
        let is_old = |major, minor| Libc::Glibc(Version(major, minor)).is_old();
        assert!(Libc::None.is_old() && is_old(2, 31) && !is_old(2, 32) && !is_old(3, 0));
    }

    #[test]
    fn this_test_needs_a_c_library() {
        let program = std::env::current_exe().expect("a test");
        assert!(matches!(required(&program).expect("a program"), Libc::Glibc(_)));
    }
}
