//! `plimsoll audit`: finds measurement errors that arithmetic shows, in runs and tables.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Read};
use std::path::Path;

use analysis::audit::{self, Audit, Facts, KINDS, Remarks, Version};
use model::Severity;
use report::findings::{self, Findings};
use runs::{Exit, Failure};
use session::Context;
use session::logger;
use tables::{Cost, Format};

use crate::destination;
use crate::flags::{AuditFlags, AuditFormat, FailOnFlag};

/// Maximum number of files checked together.
const FILES_MAX: usize = 1_000;

/// Maximum number of reasons listed if no table could be parsed.
const REASONS_MAX: usize = 10;

/// Runs and tables checked together.
#[derive(Default)]
struct Material {
    sources: Vec<String>,
    facts: Facts,
    remarks: Remarks,
    /// The runs with a known target version.
    versions: Vec<Version>,
    has_runs: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// A file cannot be read, or the report cannot be written.
pub(crate) fn run(flags: &AuditFlags, context: &Context) -> Result<Exit, Failure> {
    if flags.columns {
        session::terminal::print(&columns());
        return Ok(Exit::Ok);
    }
    if flags.files.len() > FILES_MAX {
        let text =
            format!("failed to audit {} files: at most {FILES_MAX} are judged together", flags.files.len());
        return Err(Failure::new(Exit::Other, text));
    }
    let mut material = Material::default();
    for file in &flags.files {
        match Format::of_name(file) {
            Some(format) => material.add_tables(file, format)?,
            None => material.add_run(file, context)?,
        }
    }
    material.compare_versions();
    material.refuse_nothing(&flags.files)?;
    let found = audit::audit(&material.facts);
    let text = rendered(&material, &found, flags, context);
    destination::write(&text, flags.output.as_deref(), "audit")?;
    Ok(exit(&found, flags.fail_on))
}

impl Material {
    fn add_tables(&mut self, file: &str, format: Format) -> Result<(), Failure> {
        let text = text_of(Path::new(file))?;
        let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
        let read = tables::read(&name, &text, format)
            .map_err(|error| Failure::new(Exit::Other, format!("failed to {error} (in {file})")))?;
        self.sources.extend(read.tables.iter().map(|table| table.name.clone()));
        if read.tables.is_empty() {
            self.remarks.add(format!("{name}: no table found"));
        }
        if let Some(text) = cost(&read.cost) {
            self.remarks.add(format!("{name}: {text}"));
        }
        audit::gather(&read.tables, &mut self.facts, &mut self.remarks);
        Ok(())
    }

    fn add_run(&mut self, run: &str, context: &Context) -> Result<(), Failure> {
        let path = context.catalogue()?.find(run).map_err(|error| runs::failed(&error))?;
        let reader = runs::open(&path)?;
        let facts = runs::audit_facts(&reader)?;
        self.sources.push(facts.name.clone());
        self.facts.absorb(audit::facts_of_run(&facts));
        self.versions.extend(runs::audit_version(&reader)?);
        self.has_runs = true;
        Ok(())
    }

    /// Compares runs of different versions. Several runs of one version may be a sweep with different loads.
    fn compare_versions(&mut self) {
        let names: BTreeSet<&str> = self.versions.iter().map(|version| version.version.as_str()).collect();
        if names.len() > 1 && names.len() == self.versions.len() {
            self.facts.versions.append(&mut self.versions);
        }
    }

    /// Fails if there is nothing to check, because no findings would look like a good result.
    ///
    /// # Errors
    /// There is no run, and no table could be parsed.
    fn refuse_nothing(&self, files: &[String]) -> Result<(), Failure> {
        if self.has_runs || self.facts != Facts::default() {
            return Ok(());
        }
        let next = "name the columns as `plimsoll audit --columns` prints them, or say above the table what kind it is \
                    (`# table: KIND` in CSV, `<!-- table: KIND -->` in Markdown)";
        let text = format!("failed to audit {}: no known table; {next}", files.join(", "));
        let below =
            self.remarks.texts.iter().take(REASONS_MAX).map(|text| report::escape::terminal(text)).collect();
        Err(Failure { below, ..Failure::new(Exit::Other, text) })
    }
}

/// Returns the text of a file within the size limit of tables.
pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(Exit::Other, format!("failed to read {}: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One byte more than the limit, so that a larger file is refused and not truncated.
    file.take(tables::BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::new(Exit::Other, format!("failed to read {}: it is no text in UTF-8", path.display()))
    })
}

/// Describes the effect of limits; `None` if there is none.
fn cost(cost: &Cost) -> Option<String> {
    let parts =
        [(cost.tables, "tables"), (cost.rows, "rows"), (cost.columns, "columns"), (cost.cells, "cells")];
    let parts: Vec<String> =
        parts.iter().filter(|part| part.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!parts.is_empty()).then(|| format!("truncated or omitted because of limits: {}", parts.join(", ")))
}

fn rendered(material: &Material, found: &Audit, flags: &AuditFlags, context: &Context) -> String {
    let audit = Findings {
        sources: &material.sources,
        findings: &found.findings,
        beyond: &found.beyond,
        derived: &found.derived,
        checked: &found.checked,
        remarks: &material.remarks.texts,
        remarks_beyond: material.remarks.beyond,
    };
    match flags.format {
        AuditFormat::Text => {
            let is_terminal =
                destination::file(flags.output.as_deref()).is_none() && std::io::stdout().is_terminal();
            findings::text(&audit, flags.lang.lang(), logger::style(context.may_colour && is_terminal))
        }
        AuditFormat::Md => findings::markdown(&audit, flags.lang.lang()),
        AuditFormat::Json => findings::json(&audit),
    }
}

fn exit(found: &Audit, fail_on: Option<FailOnFlag>) -> Exit {
    let least = match fail_on {
        None => return Exit::Ok,
        Some(FailOnFlag::Note) => Severity::Note,
        Some(FailOnFlag::Warning) => Severity::Warning,
        Some(FailOnFlag::Error) => Severity::Error,
    };
    match found.findings.iter().any(|finding| finding.severity >= least) {
        true => Exit::AuditFailed,
        false => Exit::Ok,
    }
}

/// Returns the columns of tables as Markdown.
fn columns() -> String {
    KINDS.iter().map(|kind| kind.describe()).collect::<Vec<_>>().join("\n")
}
