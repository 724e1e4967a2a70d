//! All runs of a place, as the server asks for them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use api::page::NoteAnswer;
use api::rest::StatusChange;
use catalogue::{Catalogue, CatalogueError};
use runfile::State;
use runs::{open, quoted};
use server::{Change, Feed, Live, PageError, Pages, Question, Refusal, View};

use super::about::Mode;
use super::ahead::Ahead;
use super::cache::{Cache, Stamp};
use super::list::Rows;
use super::locked;
use super::remarks::{Remark, Remarks};
use super::scope::{Detail, Scope};
use super::study::{self, Studies};
use super::{Beside, about, capacity, compare, history, json, list, of_run, stand_back};

/// Bytes of answers that are kept.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// And in a process that has a load to make.
const KEPT_BYTES_BESIDE_LOAD_MAX: usize = 8 << 20;

/// The run that this process runs.
pub struct Own {
    /// Its id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// What it tells.
    pub feed: Arc<Feed>,
    /// How it is ended.
    pub live: Arc<dyn Live>,
    /// Whether its file may be read now.
    pub gate: Arc<Gate>,
}

/// Keeps readers from a run's file while it is finished, which takes the file for itself.
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

/// Somebody who reads.
struct Pass<'a>(&'a Gate);

impl Gate {
    /// How long an answer under way is waited for; then whoever finishes the file waits as for any other reader.
    const PATIENCE: Duration = Duration::from_secs(1);

    fn enter(&self) -> Option<Pass<'_>> {
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        state.readers += 1;
        Some(Pass(self))
    }

    /// Lets nobody in, and waits for those who are.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let is_read = |state: &mut GateState| state.readers > 0;
        drop(self.left.wait_timeout_while(state, Gate::PATIENCE, is_read));
    }

    /// Lets everybody in again.
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

/// All runs of a place.
pub struct Library {
    catalogue: Catalogue,
    remarks: Remarks,
    mode: Mode,
    own: Option<Own>,
    rows: Rows,
    answers: Mutex<Cache>,
    studies: Studies,
    ahead: Option<Ahead>,
    /// The flag that names the place, as a shell reads it.
    runs_flag: String,
}

impl Library {
    /// The runs of a place; `folder` is where what is written on the page is kept, `runs_flag` the place as it was named, if
    /// it was.
    pub fn new(catalogue: Catalogue, folder: &Path, runs_flag: Option<&str>, own: Option<Own>) -> Library {
        // Beside a load memory and cores are the load's: little is kept, and nothing is read before it is asked for.
        let (mode, kept, studies, ahead) = match own {
            Some(_) => (Mode::Run, KEPT_BYTES_BESIDE_LOAD_MAX, Studies::new(0), None),
            None => (Mode::Serve, KEPT_BYTES_MAX, Studies::new(study::RUNS_MAX), Ahead::start()),
        };
        Library {
            catalogue,
            remarks: Remarks::of(folder),
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

    /// The file of a run that somebody named.
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
        let stamp = Stamp::of(&path);
        let asked = format!("{} {}", path.display(), question.path());
        if let Some(known) = locked(&self.answers).get(&asked, stamp) {
            return Ok(known);
        }
        let _pass = self.pass()?;
        if question.view == View::Capacity {
            // A level that is added later changes the answer and not this file, so it is not kept.
            return capacity::answer(&path, &self.catalogue, question).map(Arc::from);
        }
        let study = self.studies.of(&path, stamp);
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

    /// Lets files be read. In the process of a run nobody reads while its file is finished, whichever answer it would be for.
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
        // The run's file is as it was, and what is said beside it is not; another run may have lost its pin, too.
        locked(&self.answers).forget_all();
        json(&NoteAnswer { note, is_baseline })
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

/// Whether a view is of several runs.
fn is_of_many(view: View) -> bool {
    matches!(view, View::Runs | View::Compare | View::History)
}

fn unknown(error: &CatalogueError) -> PageError {
    PageError::NotFound(format!("failed to {error}"))
}
