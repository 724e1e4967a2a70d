//! `plimsoll new`: creates a script from a template.

use std::io::Write;
use std::path::{Path, PathBuf};

use runs::bounded::read_limited;
use runs::{Exit, Failure};
use session::Context;

use crate::flags::NewFlags;

/// The templates by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("minimal", include_str!("../../../session/src/scripts/minimal.js")),
    ("protocol", include_str!("../../../session/src/scripts/protocol.js")),
];

/// Maximum size of the user's template, bytes.
const TEMPLATE_BYTES_MAX: u64 = 16 << 20;

/// Runs the subcommand.
///
/// # Errors
/// The file exists, it cannot be written, or there is no such template.
pub(crate) fn run(flags: &NewFlags, context: &Context) -> Result<Exit, Failure> {
    let text = template(&flags.template)?;
    let path = flags.file.clone().unwrap_or_else(|| PathBuf::from("script.js"));
    write(&path, &text, flags.force)?;
    context.logger.print(&format!(
        "wrote {0} ({1} template); run it with: plimsoll run {0}\n",
        path.display(),
        flags.template
    ));
    Ok(Exit::Ok)
}

/// Returns the text of a built-in template or of the user's file.
fn template(name: &str) -> Result<String, Failure> {
    if let Some((_, text)) = TEMPLATES.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let failed = |why: &str| Failure::new(Exit::Other, format!("failed to read --template {name:?}: {why}"));
    if name == "browser" {
        return Err(failed("browser tests are not supported; use minimal or protocol"));
    }
    if !name.contains(['/', '\\', '.']) {
        return Err(failed("expected minimal, protocol or the path of a file (./name.js)"));
    }
    read_limited(Path::new(name), TEMPLATE_BYTES_MAX).map_err(|error| failed(&error.to_string()))
}

fn write(path: &Path, text: &str, may_overwrite: bool) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).create_new(!may_overwrite);
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::AlreadyExists => "it exists; --force overwrites it".to_owned(),
            _ => error.to_string(),
        };
        Failure::new(Exit::Other, format!("failed to write {}: {why}", path.display()))
    })
}
