//! All runs of a catalogue, as the server requests them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use api::page::NoteAnswer;
use api::rest::StatusChange;
use catalogue::{Catalogue, CatalogueError};
use report::Lang;
use runfile::State;
use runs::{open, quoted};
use server::{Change, Feed, Live, PageError, Pages, Question, Refusal, ReportFile, View};

use super::about::Mode;
use super::ahead::Ahead;
use super::cache::{Cache, Stamp};
use super::list::Rows;
use super::locked;
use super::remarks::{Remark, Remarks};
use super::scope::{Detail, Scope};
use super::study::{self, Studies};
use super::{Beside, about, capacity, compare, history, json, list, of_run, stand_back, whole};

/// Maximum size of cached answers, bytes.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// Maximum size of cached answers in a process that generates load, bytes.
const KEPT_BYTES_BESIDE_LOAD_MAX: usize = 8 << 20;

/// The run that this process executes.
pub struct Own {
    /// The run's id.
    pub id: String,
    /// The run's file.
    pub path: PathBuf,
    /// The run's live events.
    pub feed: Arc<Feed>,
    /// The run's controls.
    pub live: Arc<dyn Live>,
    /// The gate to the run's file.
    pub gate: Arc<Gate>,
}

/// Keeps readers away from a run's file while it is finished, which needs exclusive access.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<GateState>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    is_closed: bool,
    readers: usize,
}

/// A reader's pass through the gate.
struct Pass<'a>(&'a Gate);

impl Gate {
    /// Maximum time that [`Gate::close`] waits for answers in progress; afterwards the file is locked as against any other reader.
    const PATIENCE: Duration = Duration::from_secs(1);

    fn enter(&self) -> Option<Pass<'_>> {
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        state.readers += 1;
        Some(Pass(self))
    }

    /// Refuses new readers and waits for the present ones.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let is_read = |state: &mut GateState| state.readers > 0;
        drop(self.left.wait_timeout_while(state, Gate::PATIENCE, is_read));
    }

    /// Admits readers again.
    pub fn open(&self) {
        self.state().is_closed = false;
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        locked(&self.state)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.state().readers -= 1;
        self.0.left.notify_all();
    }
}

/// All runs of a catalogue.
pub struct Library {
    catalogue: Catalogue,
    remarks: Remarks,
    mode: Mode,
    own: Option<Own>,
    rows: Rows,
    answers: Mutex<Cache>,
    studies: Studies,
    ahead: Option<Ahead>,
    /// The `--runs` flag that names the catalogue, quoted for a shell.
    runs_flag: String,
}

impl Library {
    /// Opens a catalogue; `folder` holds notes written on the page, `runs_flag` is the catalogue as the user named it, if at all.
    pub fn new(catalogue: Catalogue, folder: &Path, runs_flag: Option<&str>, own: Option<Own>) -> Library {
        // Beside a load, memory and cores belong to the load: caches are small and nothing is read ahead.
        let (mode, kept, studies, ahead) = match own {
            Some(_) => (Mode::Run, KEPT_BYTES_BESIDE_LOAD_MAX, Studies::new(0), None),
            None => (Mode::Serve, KEPT_BYTES_MAX, Studies::new(study::RUNS_MAX), Ahead::start()),
        };
        Library {
            catalogue,
            remarks: Remarks::new(folder),
            mode,
            own,
            rows: Rows::default(),
            answers: Mutex::new(Cache::new(kept)),
            studies,
            ahead,
            runs_flag: runs_flag.map_or_else(String::new, |place| format!(" --runs {}", quoted(place))),
        }
    }

    fn own(&self, run: &str) -> Option<&Own> {
        self.own.as_ref().filter(|own| own.id == run || (run == "@last" || own.id.starts_with(run)))
    }

    /// Finds the file of a run by the name that a client gave.
    fn find(&self, run: &str) -> Result<PathBuf, PageError> {
        if let Some(own) = self.own(run) {
            return Ok(own.path.clone());
        }
        if !Question::names_run(run) {
            return Err(PageError::NotFound(format!("failed to find the run {run:?}")));
        }
        self.catalogue.find(run).map_err(|error| unknown(&error))
    }

    fn beside(&self, id: &str) -> Beside {
        Beside { remark: self.remarks.get(id), reopen: super::reopen(&self.runs_flag, id) }
    }

    fn of_run(&self, question: &Question) -> Result<Arc<str>, PageError> {
        let path = self.find(&question.run)?;
        let stamp = Stamp::read(&path);
        let asked = format!("{} {}", path.display(), question.path());
        if let Some(known) = locked(&self.answers).get(&asked, stamp) {
            return Ok(known);
        }
        let _pass = self.pass()?;
        if question.view == View::Capacity {
            // A level that is added later changes the answer but not this file, so the answer is not cached.
            return capacity::answer(&path, &self.catalogue, question).map(Arc::from);
        }
        if question.view == View::Report {
            // It compares with the run before and knows the study, which are other files.
            return whole::answer(&path, &self.catalogue, question).map(Arc::from);
        }
        let study = self.studies.study(&path, stamp);
        let scope = Scope::open(&path, question, Detail::SERVED, study.clone())?;
        let text: Arc<str> = of_run(&scope, question, &self.beside(&scope.reader.header().run_id))?.into();
        locked(&self.answers).put(&asked, stamp, text.clone());
        if let Some(ahead) = &self.ahead
            && question.view == View::Series
            && scope.reader.state() != State::Live
            && study.goes_ahead()
        {
            ahead.read(path, &study);
        }
        Ok(text)
    }

    /// Admits a reader. Beside a load, all answers wait while the run's file is finished.
    fn pass(&self) -> Result<Option<Pass<'_>>, PageError> {
        let refused = || PageError::Refused("failed to read the runs: a run's file is being finished".into());
        self.own.as_ref().map(|own| own.gate.enter().ok_or_else(refused)).transpose()
    }
}

impl Pages for Library {
    fn answer(&self, question: &Question) -> Result<Arc<str>, PageError> {
        if self.mode == Mode::Run {
            stand_back();
        }
        if question.view == View::About {
            let run = self.own.as_ref().map(|own| own.id.as_str());
            return about::answer(self.mode, &self.catalogue.place(), run).map(Arc::from);
        }
        if !is_of_many(question.view) {
            return self.of_run(question);
        }
        let _pass = self.pass()?;
        let text = match question.view {
            View::Runs => list::answer(&self.catalogue, &self.remarks, (&self.rows, &self.studies), question),
            View::Compare => compare::answer(&self.catalogue, question),
            _ => history::answer(&self.catalogue, question),
        };
        text.map(Arc::from)
    }

    fn change(&self, run: &str, change: &Change) -> Result<String, PageError> {
        let path = self.find(run)?;
        let _pass = self.pass()?;
        let reader = open(&path).map_err(super::failed)?;
        let header = reader.header();
        let written = match change {
            Change::Note(note) => self.remarks.note(&header.run_id, note),
            Change::Baseline(is_baseline) => {
                self.remarks.baseline(&header.run_id, &header.script, *is_baseline)
            }
        };
        let Remark { note, is_baseline, .. } =
            written.map_err(|error| PageError::Refused(format!("failed to {error}")))?;
        // Notes are outside the run's file, and another run may have lost its pin, so no stamp covers the change.
        locked(&self.answers).forget_all();
        json(&NoteAnswer { note, is_baseline })
    }

    fn report(&self, run: &str, file: ReportFile, lang: &str) -> Result<String, PageError> {
        let lang = Lang::parse(lang)
            .ok_or_else(|| PageError::Invalid(format!("failed to read the language {lang:?}")))?;
        let path = self.find(run)?;
        let _pass = self.pass()?;
        match file {
            ReportFile::Html => super::report_html(&path, None, lang),
            ReportFile::Markdown => {
                let reader = open(&path).map_err(super::failed)?;
                let (report, _) = runs::complete(&reader, &self.catalogue, lang).map_err(super::failed)?;
                Ok(report::markdown::render(&report, lang))
            }
        }
    }

    fn feed(&self, run: &str) -> Option<Arc<Feed>> {
        self.own(run).map(|own| own.feed.clone())
    }

    fn stop(&self, run: &str) -> Result<(), Refusal> {
        let refusal = || Refusal(format!("stop the run {run}: this process does not run it"));
        let own = self.own(run).ok_or_else(refusal)?;
        own.live.change(&StatusChange { stopped: Some(true), ..StatusChange::default() })
    }
}

/// Returns true for views that cover several runs.
fn is_of_many(view: View) -> bool {
    matches!(view, View::Runs | View::Compare | View::History)
}

fn unknown(error: &CatalogueError) -> PageError {
    PageError::NotFound(format!("failed to {error}"))
}
