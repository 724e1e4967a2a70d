//! `plimsoll new`: a script to start from.

use std::io::Write;
use std::path::{Path, PathBuf};

use runs::bounded::read_limited;
use runs::{Exit, Failure};

use crate::flags::NewFlags;
use session::Context;

/// The templates by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("minimal", include_str!("../templates/minimal.js")),
    ("protocol", include_str!("../templates/protocol.js")),
];

/// The largest template of the user's own.
const TEMPLATE_BYTES_MAX: u64 = 16 << 20;

/// Runs the verb.
///
/// # Errors
/// The file exists already, cannot be written, or there is no such template.
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

/// A name is one of ours, a path is the user's.
fn template(name: &str) -> Result<String, Failure> {
    if let Some((_, text)) = TEMPLATES.iter().find(|(known, _)| *known == name) {
        return Ok((*text).to_owned());
    }
    let failed = |why: &str| Failure::new(Exit::Other, format!("failed to read --template {name:?}: {why}"));
    if name == "browser" {
        return Err(failed("there is no browser here to write a test for; there are minimal and protocol"));
    }
    if !name.contains(['/', '\\', '.']) {
        return Err(failed(
            "there are minimal and protocol; a file of your own is named by its path (./name.js)",
        ));
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
