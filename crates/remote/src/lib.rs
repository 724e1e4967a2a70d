//! Remote modules: fetched over `https://`, kept in a cache, held to a lock file.
//!
//! Without a lock file a module is fetched each time, as k6 does, and the cached copy is taken when the network fails. With
//! one, a locked module comes from the cache by its hash, whatever the network does; what is fetched must have that hash.
//!
//! Beside them stands an [`Endpoint`], which carries single requests that are no load: those for secrets.

mod cache;
mod client;
mod endpoint;
mod error;
mod hash;
mod lock;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

pub use endpoint::{Ask, Endpoint};
pub use error::RemoteError;
pub use hash::Hash;
pub use lock::{LOCK_NAME, Lock};

use crate::cache::Cache;
use crate::client::{Client, Refusal};

/// The largest module. jslib's largest is a fiftieth of it.
pub const MODULE_BYTES_MAX: u64 = 16 << 20;

/// So many modules may one script load.
pub const MODULES_MAX: usize = 2_000;

/// So long may one module take, with all its redirects; k6 waits as long.
const FETCH_TIMEOUT: Duration = Duration::from_secs(60);

/// Use of the lock file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockMode {
    /// Locked modules must match their hash; others are loaded without a check.
    #[default]
    Check,
    /// Everything must be in it.
    Frozen,
    /// Everything is fetched anew, and the file says afterwards what came.
    Write,
}

/// How remote modules are loaded.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The cache's folder, which is made when it is needed; `None` keeps nothing.
    pub cache: Option<PathBuf>,
    /// The lock file's path, whether it exists or not.
    pub lock: Option<PathBuf>,
    /// Use of the lock file.
    pub mode: LockMode,
}

/// Loads remote modules.
pub struct Remote {
    client: Client,
    cache: Option<Cache>,
    path: Option<PathBuf>,
    mode: LockMode,
    lock: Lock,
    has_lock: bool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    fetched: Lock,
    notes: Vec<String>,
}

impl Remote {
    /// Reads the lock file, if there is one.
    ///
    /// # Errors
    /// There is one and it cannot be read; or there is none and everything must be in it.
    pub fn new(settings: Settings) -> Result<Remote, RemoteError> {
        let found = settings.lock.as_deref().map(Lock::read).transpose()?.flatten();
        if let (None, LockMode::Frozen) = (&found, settings.mode) {
            let path = settings.lock.unwrap_or_else(|| LOCK_NAME.into());
            return Err(RemoteError::NoLock { path });
        }
        Ok(Remote {
            client: Client::new(FETCH_TIMEOUT),
            cache: settings.cache.map(Cache::new),
            path: settings.lock,
            mode: settings.mode,
            has_lock: found.is_some(),
            lock: found.unwrap_or_default(),
            seen: Mutex::default(),
        })
    }

    /// The module at an `https://` URL.
    ///
    /// # Errors
    /// It cannot be had, or is not what the lock file says.
    pub fn fetch(&self, url: &str) -> Result<Vec<u8>, RemoteError> {
        let bytes = match self.lock.get(url).filter(|_| self.mode != LockMode::Write) {
            Some(locked) => self.locked(url, locked)?,
            None if self.mode == LockMode::Frozen => {
                return Err(RemoteError::NotLocked { url: url.into(), path: self.path() });
            }
            None => self.newest(url)?,
        };
        self.remember(url, Hash::digest(&bytes))?;
        Ok(bytes)
    }

    /// Takes a module that was had in another way than from here: out of an archive. It is held to the lock file all the same.
    ///
    /// # Errors
    /// It is not what the lock file says, or is not in it and must be.
    pub fn accept(&self, url: &str, bytes: &[u8]) -> Result<(), RemoteError> {
        let found = Hash::digest(bytes);
        match self.lock.get(url).filter(|_| self.mode != LockMode::Write) {
            Some(locked) if *locked != found => {
                let locked = locked.clone();
                return Err(RemoteError::Differs { url: url.into(), locked, found, path: self.path() });
            }
            None if self.mode == LockMode::Frozen => {
                return Err(RemoteError::NotLocked { url: url.into(), path: self.path() });
            }
            _ => {}
        }
        self.remember(url, found)
    }

    fn remember(&self, url: &str, hash: Hash) -> Result<(), RemoteError> {
        let mut seen = self.seen();
        if seen.fetched.len() >= MODULES_MAX {
            return Err(RemoteError::TooMany { url: url.into() });
        }
        seen.fetched.set(url, hash);
        Ok(())
    }

    /// Writes the lock file, when it is to be written: what was fetched, and what it held before for other scripts beside
    /// it. Gives its path and the number of modules that were fetched.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_lock(&self) -> Result<Option<(PathBuf, usize)>, RemoteError> {
        let (LockMode::Write, Some(path)) = (self.mode, &self.path) else { return Ok(None) };
        let seen = self.seen();
        self.lock.with(&seen.fetched).write(path)?;
        Ok(Some((path.clone(), seen.fetched.len())))
    }

    /// Takes the notes for the user about where modules came from.
    pub fn take_notes(&self) -> Vec<String> {
        let mut seen = self.seen();
        let mut notes = std::mem::take(&mut seen.notes);
        let unlocked = seen.fetched.urls().filter(|url| self.lock.get(url).is_none()).count();
        if self.has_lock && self.mode == LockMode::Check && unlocked > 0 {
            notes.push(format!(
                "{} does not hold {unlocked} of the script's remote modules; --lock adds them",
                self.path().display()
            ));
        }
        notes
    }

    fn locked(&self, url: &str, locked: &Hash) -> Result<Vec<u8>, RemoteError> {
        if let Some(bytes) = self.cache.as_ref().and_then(|cache| cache.content(locked)) {
            return Ok(bytes);
        }
        let bytes = self.client.get(url).map_err(|refusal| refusal.into_error(url))?;
        let found = Hash::digest(&bytes);
        if found != *locked {
            let locked = locked.clone();
            return Err(RemoteError::Differs { url: url.into(), locked, found, path: self.path() });
        }
        self.keep(url, &bytes);
        Ok(bytes)
    }

    fn newest(&self, url: &str) -> Result<Vec<u8>, RemoteError> {
        let refusal = match self.client.get(url) {
            Ok(bytes) => {
                self.keep(url, &bytes);
                return Ok(bytes);
            }
            Err(refusal) => refusal,
        };
        match self.cache.as_ref().filter(|_| refusal.may_pass()).and_then(|cache| cache.module(url)) {
            Some(bytes) if self.mode != LockMode::Write => {
                self.note(format!("{url} could not be fetched ({refusal}); the copy from the cache is used"));
                Ok(bytes)
            }
            _ => Err(refusal.into_error(url)),
        }
    }

    /// A cache that cannot be written costs the next run a fetch and this one nothing.
    fn keep(&self, url: &str, bytes: &[u8]) {
        let Some(cache) = &self.cache else { return };
        if let Err(error) = cache.keep(url, bytes) {
            self.note(format!("{url} could not be kept in the cache {}: {error}", cache.folder().display()));
        }
    }

    fn note(&self, text: String) {
        let mut seen = self.seen();
        if seen.notes.len() < MODULES_MAX {
            seen.notes.push(text);
        }
    }

    fn path(&self) -> PathBuf {
        self.path.clone().unwrap_or_else(|| LOCK_NAME.into())
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Refusal {
    fn into_error(self, url: &str) -> RemoteError {
        RemoteError::Fetch { url: url.into(), refusal: self.to_string() }
    }
}
