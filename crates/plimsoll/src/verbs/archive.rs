//! `plimsoll archive`: packs a script with everything it needs into one file that k6 runs, too.

use std::collections::BTreeMap;
use std::path::Path;

use archive::{Archive, Metadata, PackageImport, anonymous};
use plan::{Options, ResolveContext};
use runs::{Exit, Failure};
use session::test::Script;
use session::{Context, plan_failure};

use crate::flags::ArchiveFlags;
use crate::settings;

/// The k6 version whose format is written. Archives name their creator in this field, and readers choose the format by it.
const FORMAT_VERSION: &str = "2.2.0";

/// Runs the subcommand.
///
/// # Errors
/// The script cannot be loaded, its options are invalid, or the archive cannot be written.
pub(crate) fn run(flags: &ArchiveFlags, context: &Context) -> Result<Exit, Failure> {
    settings::refuse_kinds(&flags.script, context)?;
    let compat = settings::compat(flags.script.compat, context)?;
    let source = settings::source(&flags.script, context)?;
    let env = source.env(settings::script_env(&flags.script, context, false)?);
    let script = Script::load(source, context, env.clone())?;
    let options = script.merged_options(context, &flags.options.to_cli_options(), compat)?;
    script.plan(context, options.clone(), compat)?;
    let archive = archive_of(&script, options, (!flags.exclude_env_vars).then_some(env))?;
    write(&archive, &flags.archive_out, context)?;
    Ok(Exit::Ok)
}

fn archive_of(
    script: &Script,
    options: Options,
    env: Option<BTreeMap<String, String>>,
) -> Result<Archive, Failure> {
    let url = script.bundle.url();
    let mut files: BTreeMap<String, Vec<u8>> =
        script.bundle.files().into_iter().map(|(url, bytes)| (anonymous(&url), bytes.to_vec())).collect();
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

fn write(archive: &Archive, to: &Path, context: &Context) -> Result<(), Failure> {
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
