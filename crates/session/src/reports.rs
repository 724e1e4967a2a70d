//! Reports that a run leaves by itself: those asked for with `--report`, and GitHub's.

use std::io::Write;
use std::path::{Path, PathBuf};

use model::LogLevel;
use report::{Lang, RunReport};
use runs::{Exit, Failure, document, open, whole};

use crate::Context;

/// A format of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// Markdown.
    Md,
    /// JSON.
    Json,
    /// JUnit's XML.
    Junit,
    /// One HTML file with the page and its data.
    Html,
}

/// `--report junit=FILE`
#[derive(Clone, Debug, PartialEq, Eq)]
struct ReportTarget {
    format: ReportFormat,
    path: PathBuf,
}

impl ReportTarget {
    /// Reads `FORMAT=FILE`.
    ///
    /// # Errors
    /// There is no such format, or no file.
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

/// What is made of a run once it is over.
#[derive(Clone, Debug, Default)]
pub struct CiOutputs {
    targets: Vec<ReportTarget>,
    /// The run is a step of a GitHub workflow.
    is_github: bool,
    /// Where the repository is.
    github_workspace: Option<PathBuf>,
    /// Where the step's summary goes.
    github_summary: Option<PathBuf>,
    /// Where the step's outputs go.
    github_outputs: Option<PathBuf>,
}

impl CiOutputs {
    /// Those that were asked for, and those that the environment calls for.
    ///
    /// # Errors
    /// `--report` cannot be read.
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

    /// Whether there is anything to make.
    pub fn is_wanted(&self) -> bool {
        self.is_github || !self.targets.is_empty()
    }

    /// Makes them of a run's file. What cannot be written is told and changes no exit code, as with the summary.
    pub fn write(&self, path: &Path, context: &Context) {
        if !self.is_wanted() {
            return;
        }
        let read = open(path).and_then(|reader| {
            let (window, elapsed) = whole(&reader)?;
            document(&reader, &window, elapsed, None)
        });
        let mut report = match read {
            Ok(report) => report,
            Err(failure) => return context.logger.say(LogLevel::Error, failure.text),
        };
        for target in &self.targets {
            match render(&report, path, None, target.format, Lang::En) {
                Ok(text) => tell(std::fs::write(&target.path, text), &target.path, context),
                Err(failure) => context.logger.say(LogLevel::Error, failure.text),
            }
        }
        if let Some(path) = &self.github_summary {
            tell(append(path, &report::github::step_summary(&report, Lang::En)), path, context);
        }
        if let Some(path) = &self.github_outputs {
            tell(append(path, &report::github::outputs(&report)), path, context);
        }
        if self.is_github {
            if let Some(path) = self.in_repository(&report.identity.script) {
                report.identity.script = path;
            }
            crate::terminal::print(&report::github::annotations(&report, Lang::En));
        }
    }

    /// The script's path from the root of the repository, which is what annotations are placed by; `None` if it is outside
    /// of it, or no file.
    fn in_repository(&self, script: &str) -> Option<String> {
        let root = std::fs::canonicalize(self.github_workspace.as_ref()?).ok()?;
        let path = std::fs::canonicalize(script).ok()?;
        path.strip_prefix(root).ok()?.to_str().map(str::to_owned)
    }
}

/// A report in one of its formats. `path` is the run's file, and `part` the seconds of it that the report is of, where those
/// are not all.
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

fn tell(written: std::io::Result<()>, path: &Path, context: &Context) {
    if let Err(error) = written {
        let text = format!("failed to write the report to {}: {error}", path.display());
        context.logger.say(LogLevel::Error, text);
    }
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
