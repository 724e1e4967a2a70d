//! Read-ahead: reads the rest of a run that is open in a page, so that a zoom finds its seconds in the cache.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};

use server::{Question, View};

use super::scope::{Detail, Scope};
use super::study::Study;
use super::{series, stand_back};

/// Maximum number of runs that wait for read-ahead; further runs are read on request.
const WAITING_MAX: usize = 4;

type Request = (PathBuf, Weak<Study>);

/// A thread that reads runs ahead, one after the other.
#[derive(Debug)]
pub(super) struct Ahead {
    requests: SyncSender<Request>,
}

impl Ahead {
    /// Starts the thread, which ends when the last handle is dropped. Returns `None`, and nothing is read ahead, if the system has
    /// no thread left.
    pub(super) fn start() -> Option<Ahead> {
        let (requests, queue) = sync_channel::<Request>(WAITING_MAX);
        let work = move || {
            stand_back();
            queue.iter().for_each(|(path, study)| read(&path, &study));
        };
        std::thread::Builder::new().name("ahead".into()).spawn(work).ok()?;
        Some(Ahead { requests })
    }

    /// Queues a run; it is read while its study stays in the cache.
    pub(super) fn read(&self, path: PathBuf, study: &Arc<Study>) {
        // If the queue is full, this run is read on request.
        let _ = self.requests.try_send((path, Arc::downgrade(study)));
    }
}

/// Reads a run. Errors are ignored here: a request for the damaged part reports them.
fn read(path: &Path, study: &Weak<Study>) {
    let Some(known) = study.upgrade() else { return };
    let question = Question::of_run(View::Series, "", &[]);
    let Ok(scope) = Scope::open(path, &question, Detail::SERVED, known) else { return };
    // This function holds one of the references.
    let is_wanted = || study.strong_count() > 1;
    let _ = series::read_ahead(&scope, is_wanted);
}
