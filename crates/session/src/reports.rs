//! Reports written at the end of a run: those of `--report`, and GitHub's.

use std::io::Write;
use std::path::{Path, PathBuf};

use model::LogLevel;
use report::{Lang, RunReport};
use runs::{Exit, Failure, document, open, whole};

use crate::Context;

/// A report format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// Markdown.
    Md,
    /// JSON.
    Json,
    /// JUnit XML.
    Junit,
    /// One HTML file with the page and its data.
    Html,
}

/// The value of `--report`, for example `junit=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReportTarget {
    format: ReportFormat,
    path: PathBuf,
}

impl ReportTarget {
    /// Parses `FORMAT=FILE`.
    ///
    /// # Errors
    /// The format is unknown, or the file is missing.
    fn parse(text: &str) -> Result<ReportTarget, Failure> {
        let (format, path) = text.split_once('=').unwrap_or((text, ""));
        let known = match format {
            "md" => Some(ReportFormat::Md),
            "json" => Some(ReportFormat::Json),
            "junit" => Some(ReportFormat::Junit),
            "html" => Some(ReportFormat::Html),
            _ => None,
        };
        match known.filter(|_| !path.is_empty()) {
            Some(format) => Ok(ReportTarget { format, path: path.into() }),
            None => Err(Failure::new(
                Exit::Other,
                format!(
                    "failed to read --report {text:?}: write html=FILE, md=FILE, json=FILE or junit=FILE"
                ),
            )),
        }
    }
}

/// The reports of a run.
#[derive(Clone, Debug, Default)]
pub struct CiOutputs {
    targets: Vec<ReportTarget>,
    /// Whether the run is a step of a GitHub workflow.
    is_github: bool,
    /// The repository's folder.
    github_workspace: Option<PathBuf>,
    /// The file for the step's summary.
    github_summary: Option<PathBuf>,
    /// The file for the step's outputs.
    github_outputs: Option<PathBuf>,
}

impl CiOutputs {
    /// Returns the reports of `--report`, and those of the environment.
    ///
    /// # Errors
    /// `--report` cannot be parsed.
    pub fn new(targets: &[String], context: &Context) -> Result<CiOutputs, Failure> {
        let targets = targets.iter().map(|text| ReportTarget::parse(text)).collect::<Result<_, _>>()?;
        let is_github = context.env.get("GITHUB_ACTIONS") == Some("true");
        let file = |name: &str| {
            context.env.get(name).filter(|path| is_github && !path.is_empty()).map(PathBuf::from)
        };
        Ok(CiOutputs {
            targets,
            is_github,
            github_workspace: file("GITHUB_WORKSPACE"),
            github_summary: file("GITHUB_STEP_SUMMARY"),
            github_outputs: file("GITHUB_OUTPUT"),
        })
    }

    /// Returns true if there is any report to write.
    pub fn is_wanted(&self) -> bool {
        self.is_github || !self.targets.is_empty()
    }

    /// Writes the reports of a run's file. Errors are logged; returns whether every report that was asked for is written. Those of
    /// GitHub do not count, since nobody asked for them.
    pub fn write(&self, path: &Path, context: &Context) -> bool {
        if !self.is_wanted() {
            return true;
        }
        let read = open(path).and_then(|reader| {
            let (window, elapsed) = whole(&reader)?;
            document(&reader, &window, elapsed, None)
        });
        let mut report = match read {
            Ok(report) => report,
            Err(failure) => {
                context.logger.say(LogLevel::Error, failure.text);
                return self.targets.is_empty();
            }
        };
        let mut are_written = true;
        for target in &self.targets {
            are_written &= match render(&report, path, None, target.format, Lang::En) {
                Ok(text) => log_failure(std::fs::write(&target.path, text), &target.path, context),
                Err(failure) => {
                    context.logger.say(LogLevel::Error, failure.text);
                    false
                }
            };
        }
        if let Some(path) = &self.github_summary {
            log_failure(append(path, &report::github::step_summary(&report, Lang::En)), path, context);
        }
        if let Some(path) = &self.github_outputs {
            log_failure(append(path, &report::github::outputs(&report)), path, context);
        }
        if self.is_github {
            if let Some(path) = self.in_repository(&report.identity.script) {
                report.identity.script = path;
            }
            crate::terminal::print(&report::github::annotations(&report, Lang::En));
        }
        are_written
    }

    /// Logs that there is nothing to make the reports from; returns whether none was asked for.
    pub(crate) fn decline(&self, context: &Context) -> bool {
        for target in &self.targets {
            let path = target.path.display();
            let text = format!("failed to write the report to {path}: the run has no file to make it from");
            context.logger.say(LogLevel::Error, text);
        }
        self.targets.is_empty()
    }

    /// Returns the script's path relative to the root of the repository, as annotations need it; `None` if the script is outside
    /// of it or is no file.
    fn in_repository(&self, script: &str) -> Option<String> {
        let root = std::fs::canonicalize(self.github_workspace.as_ref()?).ok()?;
        let path = std::fs::canonicalize(script).ok()?;
        path.strip_prefix(root).ok()?.to_str().map(str::to_owned)
    }
}

/// Renders a report in one format. `path` is the run's file, and `part` the selected seconds, if not all.
///
/// # Errors
/// The file is damaged.
pub fn render(
    report: &RunReport,
    path: &Path,
    part: Option<std::ops::Range<u32>>,
    format: ReportFormat,
    lang: Lang,
) -> Result<String, Failure> {
    Ok(match format {
        ReportFormat::Md => report::markdown::render(report, lang),
        ReportFormat::Json => report::json::render(report),
        ReportFormat::Junit => report::junit::render(report),
        ReportFormat::Html => pages::report_html(path, part, lang)
            .map_err(|error| Failure::new(Exit::Other, error.to_string()))?,
    })
}

fn append(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::File::options().create(true).append(true).open(path)?.write_all(text.as_bytes())
}

/// Logs why a report was not written; returns whether it was.
fn log_failure(written: std::io::Result<()>, path: &Path, context: &Context) -> bool {
    if let Err(error) = &written {
        let text = format!("failed to write the report to {}: {error}", path.display());
        context.logger.say(LogLevel::Error, text);
    }
    written.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_a_format_and_a_file() {
        let check = |text: &str, expect: Option<(ReportFormat, &str)>| {
            let expect = expect.map(|(format, path)| ReportTarget { format, path: path.into() });
            assert_eq!(ReportTarget::parse(text).ok(), expect, "{text}");
        };
        check("junit=out/a=b.xml", Some((ReportFormat::Junit, "out/a=b.xml")));
        check("md=r.md", Some((ReportFormat::Md, "r.md")));
        check("json=", None);
        check("html=r.html", Some((ReportFormat::Html, "r.html")));
        check("pdf=r.pdf", None);
        check("md", None);
    }
}
