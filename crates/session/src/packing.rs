//! A script with everything that it needs, as an archive.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{Archive, Metadata, PackageImport, anonymous};
use plan::{Options, ResolveContext};
use runs::{Exit, Failure};

use crate::context::{Context, plan_failure};
use crate::test::Script;

/// The k6 version whose format is written. Archives name their creator in this field, and readers choose the format by it.
const FORMAT_VERSION: &str = "2.2.0";

/// Packs a script with everything that it loads, and these options.
///
/// # Errors
/// The options are invalid, or a file is too large for an archive.
pub fn archive_of(
    script: &Script,
    options: Options,
    env: Option<BTreeMap<String, String>>,
) -> Result<Archive, Failure> {
    let url = script.bundle.url();
    let files = script.bundle.files().map_err(|text| Failure::new(Exit::Other, text))?;
    let mut files: BTreeMap<String, Vec<u8>> =
        files.into_iter().map(|(url, bytes)| (anonymous(&url), bytes.to_vec())).collect();
    let filename = anonymous(url);
    let text = files.remove(&filename).unwrap_or_default();
    let pwd = match filename.rsplit_once('/') {
        Some(("file://", _)) | None => "file:///",
        Some((folder, _)) => folder,
    };
    let metadata = Metadata {
        options_json: options_json(options)?,
        pwd: pwd.to_owned(),
        filename: filename.clone(),
        env,
        version: FORMAT_VERSION.to_owned(),
        system: system().to_owned(),
        dependencies: [("k6".to_owned(), "*".to_owned())].into(),
        packages: script.bundle.packages().iter().map(packed).collect(),
    };
    Ok(Archive { metadata, script: text, files })
}

/// The bytes of an archive.
///
/// # Errors
/// A file is too large for the format.
pub fn bytes_of(archive: &Archive) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    archive::write(archive, &mut bytes)
        .map_err(|error| Failure::new(Exit::Other, format!("failed to pack the test: {error}")))?;
    Ok(bytes)
}

fn packed(import: &script::PackageImport) -> PackageImport {
    PackageImport {
        folder: anonymous(&format!("file://{}", import.folder.display())),
        specifier: import.specifier.clone(),
        required: import.required,
        file: anonymous(&import.file),
    }
}

/// Returns the options as JSON, not converted to scenarios, so that flags such as `--vus` still work with the archive. Defaults
/// that k6 writes are included.
fn options_json(mut options: Options) -> Result<String, Failure> {
    let derived = options.clone().derive(&ResolveContext::default());
    let (derived, _) = derived.map_err(|error| plan_failure(&error))?;
    options.summary_trend_stats = derived.summary_trend_stats;
    options.system_tags = derived.system_tags;
    Ok(plan::inspect_json(&options).replace('\n', "\n  "))
}

/// Returns the operating system in Go's words.
fn system() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// Writes an archive to a file, or to standard output for `-`.
///
/// # Errors
/// It cannot be written.
pub fn write(archive: &Archive, to: &Path, context: &Context) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Exit::Other, format!("failed to make {}: {error}", to.display()))
    };
    if to == Path::new("-") {
        return archive::write(archive, std::io::stdout().lock()).map_err(|error| failed(&error));
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".part");
    let file = std::fs::File::create(&partial).map_err(|error| failed(&error))?;
    let written = archive::write(archive, std::io::BufWriter::new(file)).map_err(|error| failed(&error));
    let moved = written.and_then(|()| std::fs::rename(&partial, to).map_err(|error| failed(&error)));
    moved.inspect_err(|_| {
        // An incomplete file is useless.
        let _ = std::fs::remove_file(&partial);
    })?;
    if !context.is_quiet {
        let others = archive.files.len();
        context.logger.print(&format!("wrote {}, files beside the script: {others}\n", to.display()));
    }
    Ok(())
}
