//! `plimsoll version`

use crate::flags::VersionFlags;

/// Prints the program's version and build.
pub(crate) fn run(flags: &VersionFlags) {
    let (version, os, arch) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let text = if flags.json {
        serde_json::json!({ "version": format!("v{version}"), "os": os, "arch": arch }).to_string()
    } else {
        format!("plimsoll v{version} ({os}/{arch})")
    };
    session::terminal::print(&format!("{text}\n"));
}
