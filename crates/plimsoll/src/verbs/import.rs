//! `plimsoll import`: converts results of other tools to runs.

mod changes;
pub(super) mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use catalogue::{Catalogue, FileName, RunId};
use import::{Kind, Samples, Stated, Survey, ngrinder};
use model::plan::ThresholdSpec;
use model::{LogLevel, MetricRegistry, SystemClock, TagInterner, Window};
use runfile::{Ending, Header, ImportWriter, ReportFacts, ScenarioFacts, ThresholdFacts};
use runs::{Exit, Failure};
use session::Context;
use tally::Thresholds;

use crate::flags::ImportFlags;

/// The exit code of imported runs, whose processes were not observed.
pub(super) const EXIT_UNKNOWN: i32 = -1;

/// k6's default statistics of trends.
const TREND_STATS: [&str; 6] = ["avg", "min", "med", "max", "p(90)", "p(95)"];

/// Runs the subcommand.
///
/// # Errors
/// A file cannot be read or has no known format, or a run cannot be written.
pub(crate) fn run(flags: &ImportFlags, context: &Context) -> Result<Exit, Failure> {
    let (kind, files) = asked_for(&flags.words)?;
    if flags.output.is_some() && files.len() > 1 {
        return Err(failed("write several runs into one file: leave --output out, or name one source"));
    }
    let mut tables = Vec::new();
    for file in files {
        let import = Import { flags, context, file, kind: source::kind_of(file, kind)? };
        if kind.is_none() {
            let text = format!("{}: taken for {} ({})", file.display(), import.kind, import.kind.describe());
            context.logger.report(&text);
        }
        match import.kind {
            kind if kind.has_samples() => import.samples()?,
            Kind::K6Summary => {
                let text = source::read_whole(file)?;
                import.summary(&import::read_summary(&text).map_err(|error| import.failed(&error))?, 1)?;
            }
            Kind::OhaJson => {
                let text = source::read_whole(file)?;
                import.summary(&import::read_oha(&text).map_err(|error| import.failed(&error))?, 1)?;
            }
            Kind::LocustCsv => {
                let mut input = source::open(file, &import.watch("reading"))?;
                import
                    .summary(&import::read_locust(&mut input).map_err(|error| import.failed(&error))?, 1)?;
            }
            Kind::K6Text => import.texts()?,
            _ => tables.push((file.as_path(), import.table()?)),
        }
    }
    if !tables.is_empty() && !context.is_quiet {
        session::terminal::print(&changes::render(&tables));
    }
    Ok(Exit::Ok)
}

/// Splits the arguments into the format, if the first names one, and the files.
fn asked_for(words: &[PathBuf]) -> Result<(Option<Kind>, &[PathBuf]), Failure> {
    let Some((first, rest)) = words.split_first() else { return Err(failed("import: no file given")) };
    let known = Kind::ALL.into_iter().find(|kind| first.as_os_str() == kind.as_str());
    let is_word = known.is_some() || first.as_os_str() == "auto";
    match (is_word, rest.is_empty()) {
        (false, _) => Ok((None, words)),
        (true, false) => Ok((known, rest)),
        // A file may have such a name.
        (true, true) if first.is_file() => Ok((None, words)),
        (true, true) => Err(failed("import: no file given; use plimsoll import KIND FILE")),
    }
}

fn failed(what: &str) -> Failure {
    Failure::new(Exit::Other, format!("failed to {what}"))
}

/// One source and the run to create.
struct Import<'a> {
    flags: &'a ImportFlags,
    context: &'a Context,
    file: &'a PathBuf,
    kind: Kind,
}

/// The run file to create.
struct Target {
    id: RunId,
    path: PathBuf,
    /// The catalogue; `None` if the user named the file.
    catalogue: Option<Catalogue>,
}

impl Import<'_> {
    /// Imports every sample: the first pass collects names, the second sums up seconds.
    fn samples(&self) -> Result<(), Failure> {
        self.refuse_started()?;
        let (registry, tags) = (Arc::<MetricRegistry>::default(), Arc::<TagInterner>::default());
        let mut first = source::open(self.file, &self.watch("first reading"))?;
        let mut survey =
            Survey::read(self.kind, &mut first, &registry).map_err(|error| self.failed(&error))?;
        self.warn(survey.flaws.sentence());
        let thresholds = self.thresholds(&mut survey, &registry);
        let elapsed = Duration::from_nanos(survey.ended_unix_ns.abs_diff(survey.started_unix_ns));
        let target = self.target(survey.started_unix_ns)?;
        let scenario = |name: &String| ScenarioFacts { name: name.clone(), ..ScenarioFacts::default() };
        let header = Header {
            thresholds: thresholds.iter().map(ThresholdFacts::from).collect(),
            report: ReportFacts {
                trend_stats: TREND_STATS.map(str::to_owned).to_vec(),
                time_unit: None,
                scenarios: survey.scenarios.iter().map(scenario).collect(),
            },
            ..self.header(&target, survey.gaps.clone(), Vec::new(), Some(survey.started_unix_ns))
        };
        let mut second = source::open(self.file, &self.watch("second reading"))?;
        let windows = Samples::new(self.kind, &mut second, &survey, registry.clone(), tags.clone());
        let windows = windows.map_err(|error| self.failed(&error))?;
        let windows = windows.map(|window| window.map_err(|error| self.failed(&error)));
        self.write(target, &header, (registry, tags), windows, elapsed)?;
        if !self.context.is_quiet {
            self.context.logger.report(&format!(
                "{} samples in {:.1} s",
                survey.samples,
                elapsed.as_secs_f64()
            ));
        }
        Ok(())
    }

    /// Returns the thresholds that can be evaluated here; others become gaps.
    fn thresholds(&self, survey: &mut Survey, registry: &MetricRegistry) -> Vec<ThresholdSpec> {
        let all = std::mem::take(&mut survey.thresholds);
        let (known, unknown): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|spec| Thresholds::parse(std::slice::from_ref(spec), registry).is_ok());
        let names: Vec<&str> = unknown.iter().map(|spec| spec.selector.as_str()).collect();
        if !names.is_empty() {
            survey.gaps.push(format!("invalid thresholds are skipped: {}", names.join(", ")));
        }
        known
    }

    /// Imports every summary of a text.
    fn texts(&self) -> Result<(), Failure> {
        let text = source::read_whole(self.file)?;
        let all = import::read_text(&text).map_err(|error| self.failed(&error))?;
        if all.len() > 1 && self.flags.output.is_some() {
            let text =
                format!("write the {} summaries of the text into one file: leave --output out", all.len());
            return Err(failed(&text));
        }
        (1..).zip(&all).try_for_each(|(number, stated)| self.summary(stated, number))
    }

    /// Imports a summary's figures, without seconds. `number` distinguishes the summaries of one file.
    fn summary(&self, stated: &Stated, number: usize) -> Result<(), Failure> {
        let started = self.flags.started.as_deref().map(started_ns).transpose()?;
        let now = self.context.epoch.wall_unix_ns(SystemClock::now());
        let mut gaps = stated.gaps.clone();
        gaps.push(match started {
            Some(_) => "the start time was set at the import".to_owned(),
            None => "the source has no start time: showing the time of the import".to_owned(),
        });
        if number > 1 {
            gaps.push(format!("it is number {number} of the summaries in the file"));
        }
        let target = self.target(started.unwrap_or(now))?;
        let mut header = self.header(&target, gaps, stated.figures.clone(), started);
        header.script.clone_from(&stated.script);
        header.report.trend_stats = TREND_STATS.map(str::to_owned).to_vec();
        if let Some(imported) = &mut header.imported {
            imported.summary = Some(runs::stated_summary(stated));
        }
        let names = (Arc::default(), Arc::default());
        self.write(target, &header, names, std::iter::empty(), stated.elapsed.unwrap_or_default())
    }

    /// Imports nGrinder's rows of means per second.
    fn table(&self) -> Result<ngrinder::Table, Failure> {
        self.refuse_started()?;
        let mut input = source::open(self.file, &self.watch("reading"))?;
        let table = ngrinder::Table::read(&mut input).map_err(|error| self.failed(&error))?;
        self.warn(table.flaws.sentence());
        let started = table.started_unix_ns();
        let target = self.target(started)?;
        let mut header = self.header(&target, table.gaps.clone(), ngrinder::figures(&table), Some(started));
        header.report.trend_stats = ngrinder::TREND_STATS.map(str::to_owned).to_vec();
        let registry = Arc::<MetricRegistry>::default();
        let windows = table.windows(&registry).into_iter().map(Ok);
        self.write(target, &header, (registry, Arc::default()), windows, table.elapsed())?;
        Ok(table)
    }

    fn header(
        &self,
        target: &Target,
        gaps: Vec<String>,
        figures: Vec<import::Figure>,
        started: Option<i64>,
    ) -> Header {
        let now = || self.context.epoch.wall_unix_ns(SystemClock::now());
        let source = runs::Source {
            kind: self.kind,
            path: self.file,
            gaps,
            figures,
            is_start_known: started.is_some(),
            started_wall_ns: started.unwrap_or_else(now),
        };
        let header = runs::imported_header(&source, target.id.as_str());
        Header { name: self.flags.name.clone(), target_version: self.flags.target_version.clone(), ..header }
    }

    fn target(&self, started_wall_ns: i64) -> Result<Target, Failure> {
        let now = self.context.epoch.wall_unix_ns(SystemClock::now());
        let id = RunId::random(now.unsigned_abs());
        if let Some(path) = &self.flags.output {
            return Ok(Target { id, path: path.clone(), catalogue: None });
        }
        let catalogue = self.context.catalogue()?;
        let name = FileName::new(started_wall_ns, id.clone());
        let path = catalogue.begin(&name).map_err(|error| runs::failed(&error))?;
        Ok(Target { id, path, catalogue: Some(catalogue) })
    }

    /// Writes the file and adds it to the catalogue. An incomplete file is removed.
    fn write(
        &self,
        target: Target,
        header: &Header,
        names: (Arc<MetricRegistry>, Arc<TagInterner>),
        windows: impl Iterator<Item = Result<Window, Failure>>,
        elapsed: Duration,
    ) -> Result<(), Failure> {
        let tags = names.1.clone();
        let writer = ImportWriter::create(&target.path, header, names.0, names.1);
        let writer = writer.map_err(|error| runs::failed(&error))?;
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        let ending = || Ending {
            ended_wall_ns: header.started_wall_ns.saturating_add_unsigned(elapsed_ns),
            elapsed_ns,
            exit_code: EXIT_UNKNOWN,
            tag_sets_overflowed: tags.overflowed(),
            ..Ending::default()
        };
        fill(writer, windows, ending).inspect_err(|_| remove(&target.path))?;
        if let Some(catalogue) = &target.catalogue {
            catalogue.keep(&target.path).map_err(|error| runs::failed(&error))?;
        }
        let shown =
            target.catalogue.as_ref().map_or(target.path.display().to_string(), |_| target.id.to_string());
        self.context.logger.report(&format!("run: {}  plimsoll show {shown}", target.id));
        Ok(())
    }

    fn refuse_started(&self) -> Result<(), Failure> {
        match &self.flags.started {
            None => Ok(()),
            Some(_) => Err(failed(&format!("use --started: {} says when it started", self.kind.describe()))),
        }
    }

    fn watch(&self, what: &str) -> source::Watch {
        let label = format!("{}: {what}", self.file.display());
        let logger = (!self.context.is_quiet).then(|| self.context.logger.clone());
        source::Watch { label, logger }
    }

    fn warn(&self, text: Option<String>) {
        if let Some(text) = text {
            self.context.logger.say(LogLevel::Warn, format!("{}: {text}", self.file.display()));
        }
    }

    fn failed(&self, error: &import::ImportError) -> Failure {
        Failure::new(Exit::Other, format!("failed to import {}: could not {error}", self.file.display()))
    }
}

fn fill(
    mut writer: ImportWriter,
    windows: impl Iterator<Item = Result<Window, Failure>>,
    ending: impl FnOnce() -> Ending,
) -> Result<(), Failure> {
    for window in windows {
        writer.window(window?).map_err(|error| runs::failed(&error))?;
    }
    // Tag sets are counted while windows are read.
    writer.finish(&ending()).map_err(|error| runs::failed(&error))
}

/// Removes an incomplete file, and SQLite's files beside it; errors cannot be handled any better.
pub(super) fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(suffix);
        let _ = std::fs::remove_file(beside);
    }
}

/// Parses `--started`.
fn started_ns(text: &str) -> Result<i64, Failure> {
    import::parse_start(text)
        .ok_or_else(|| failed(&format!("read --started {text:?}: write a time such as 2026-11-21T19:05:46Z")))
}
