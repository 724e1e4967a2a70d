//! `plimsoll new`: creates a script from a template, or from a recording or a description of requests.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use draft::{Draft, HEAD_BYTES, Kind, Settings};
use runs::bounded::read_limited;
use runs::{Exit, Failure};
use session::Context;

use super::import::source::{self, Watch};
use crate::flags::NewFlags;

/// The templates by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("minimal", include_str!("../../../session/src/scripts/minimal.js")),
    ("protocol", include_str!("../../../session/src/scripts/protocol.js")),
];

/// Maximum size of the user's template, bytes.
const TEMPLATE_BYTES_MAX: u64 = 16 << 20;

/// Endings of files that are converted without `--from`; no script has one.
const SOURCE_ENDINGS: &[&str] = &["har", "json", "yaml", "yml", "jmx", "curl", "sh", "gz"];

/// Runs the subcommand.
///
/// # Errors
/// The file exists, it cannot be written, there is no such template, or the source cannot be converted.
pub(crate) fn run(flags: &NewFlags, context: &Context) -> Result<Exit, Failure> {
    if let Some(source) = flags.file.as_deref().filter(|file| flags.from.is_some() || is_source(file)) {
        return convert(source, flags, context);
    }
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

fn is_source(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    SOURCE_ENDINGS.contains(&ending.as_str()) && file.is_file()
}

/// Writes a script from a source, and the files beside it.
fn convert(path: &Path, flags: &NewFlags, context: &Context) -> Result<Exit, Failure> {
    let failed =
        |why: String| Failure::new(Exit::Other, format!("failed to convert {}: {why}", path.display()));
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.split('.').next());
    let stem = stem.filter(|stem| !["", "-"].contains(stem)).unwrap_or("script").to_owned();
    let output = flags.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.js")));
    let settings = Settings {
        source: path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        script: output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        stem: output.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or(stem),
        vus: flags.vus.max(1),
        duration: flags.duration.clone(),
        ramp_up: flags.ramp_up.clone(),
        think_time_s_max: flags.think_time_max,
        keeps_static: flags.keep_static,
        keeps_third_parties: flags.keep_third_parties,
    };
    let (kind, mut input) = open(path, flags.from.as_deref().unwrap_or("auto"), context)?;
    let draft = draft::convert(kind, &mut input, &settings).map_err(|error| failed(error.to_string()))?;
    save(&draft, &output, flags.force)?;
    context.logger.print(&draft.summary(&output.display().to_string()));
    Ok(Exit::Ok)
}

/// Opens a source, and returns its kind: the given one, or the one that it looks like.
fn open(path: &Path, from: &str, context: &Context) -> Result<(Kind, Box<dyn Read>), Failure> {
    let all = || Kind::ALL.map(Kind::as_str).join(", ");
    let given = Kind::ALL.into_iter().find(|kind| kind.as_str() == from);
    if given.is_none() && from != "auto" {
        let text = format!("invalid --from {from:?}: expected one of {}, auto", all());
        return Err(Failure::new(Exit::Other, text));
    }
    let logger = (!context.is_quiet).then(|| context.logger.clone());
    let watch = Watch { label: path.display().to_string(), logger };
    let mut input = match path == Path::new("-") {
        true => source::open_standard_input(&watch)?,
        false => source::open(path, &watch)?,
    };
    let mut head = Vec::new();
    // A file that ends in the middle of its compressed data is reported when it is converted.
    let _ = input.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut head);
    let kind = given.or_else(|| Kind::detect(&head)).ok_or_else(|| {
        let text = format!("failed to convert {}: unknown kind; name it: --from {}", path.display(), all());
        Failure::new(Exit::Other, text)
    })?;
    Ok((kind, Box::new(std::io::Cursor::new(head).chain(input))))
}

/// Writes the files and then the script. Without `--force`, nothing is written if one of them exists.
fn save(draft: &Draft, output: &Path, may_overwrite: bool) -> Result<(), Failure> {
    let files: Vec<(PathBuf, &str)> =
        draft.files.iter().map(|file| (output.with_file_name(&file.name), file.text.as_str())).collect();
    let all = files.into_iter().chain([(output.to_owned(), draft.script.as_str())]);
    let all: Vec<(PathBuf, &str)> = all.collect();
    if let Some((taken, _)) = all.iter().find(|(path, _)| !may_overwrite && path.exists()) {
        return Err(exists(taken));
    }
    all.iter().try_for_each(|(path, text)| write(path, text, may_overwrite))
}

fn exists(path: &Path) -> Failure {
    Failure::new(Exit::Other, format!("failed to write {}: it exists; --force overwrites it", path.display()))
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
    written.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(path),
        _ => Failure::new(Exit::Other, format!("failed to write {}: {error}", path.display())),
    })
}
