//! Reads on in a run that somebody has opened, while they look: a zoom then finds its seconds read already.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Weak};

use server::{Question, View};

use super::scope::{Detail, Scope};
use super::study::Study;
use super::{series, stand_back};

/// Runs that wait to be read; of more, only what is asked for is read.
const WAITING_MAX: usize = 4;

type Request = (PathBuf, Weak<Study>);

/// A thread that reads ahead, one run after the other.
#[derive(Debug)]
pub(super) struct Ahead {
    requests: SyncSender<Request>,
}

impl Ahead {
    /// Starts it; it ends with the last who can ask it. `None` where the system has no threads left: then nothing is read
    /// ahead.
    pub(super) fn start() -> Option<Ahead> {
        let (requests, queue) = sync_channel::<Request>(WAITING_MAX);
        let work = move || {
            stand_back();
            queue.iter().for_each(|(path, study)| read(&path, &study));
        };
        std::thread::Builder::new().name("ahead".into()).spawn(work).ok()?;
        Some(Ahead { requests })
    }

    /// Reads all of a run for as long as what is known of it is kept.
    pub(super) fn read(&self, path: PathBuf, study: &Arc<Study>) {
        // Where too many wait, this one is read when it is asked for.
        let _ = self.requests.try_send((path, Arc::downgrade(study)));
    }
}

/// A damaged file is told to whoever asks for the damaged part.
fn read(path: &Path, study: &Weak<Study>) {
    let Some(known) = study.upgrade() else { return };
    let question = Question::of_run(View::Series, "", &[]);
    let Ok(scope) = Scope::open(path, &question, Detail::SERVED, known) else { return };
    // This scope holds it, too.
    let is_wanted = || study.strong_count() > 1;
    let _ = series::read_ahead(&scope, is_wanted);
}
