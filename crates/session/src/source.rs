//! Reads a script from a file, standard input, a URL, or an archive with its modules.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use archive::{ARCHIVE_BYTES_MAX, Archive};
use model::plan::Compat;
use remote::{LOCK_NAME, LockMode, Remote};
use runs::{Exit, Failure};
use script::{Fetch, MemoryLimits, Outside, PackageImport, PackedFiles};

use crate::Context;

/// Maximum size of a script, bytes; that of a module.
const SCRIPT_BYTES_MAX: u64 = script::MODULE_BYTES_MAX;

/// The bytes that show whether a file is an archive: the header of its first entry.
const HEAD_BYTES: u64 = 512;

/// The script to read, and its options.
#[derive(Clone, Debug, Default)]
pub struct SourceSettings {
    /// A path, an `https://` URL, or `-` for standard input.
    pub script: PathBuf,
    /// `js` or `archive`; detected from the content if unset.
    pub kind: Option<String>,
    /// Whether the lock file of remote modules is written.
    pub lock: bool,
    /// Whether remote modules must match the lock file.
    pub frozen: bool,
    /// Whether remote modules are refused: the user limits the hosts that the script may reach.
    pub offline: bool,
    /// The folder of the module cache, if not the user's default.
    pub cache: Option<PathBuf>,
    /// Limits of the memory that VUs hold.
    pub memory: MemorySettings,
    /// Whether the script's local modules may run programs of this machine.
    pub allows_exec: bool,
    /// Whether it behaves as in k6 where that is worse.
    pub compat: Compat,
}

/// Limits of the memory that VUs hold, where they are not the defaults of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySettings {
    /// Limit of one VU, bytes.
    pub vu_bytes: Option<u64>,
    /// Limit of all VUs together, bytes.
    pub process_bytes: Option<u64>,
}

impl MemorySettings {
    /// Returns the limits on this machine.
    pub(crate) fn limits(self) -> MemoryLimits {
        MemoryLimits::resolve(self.vu_bytes, self.process_bytes, host::memory_bytes_max())
    }
}

/// A script's text and name.
#[derive(Default)]
pub struct Source {
    /// The name as given; `-` for standard input.
    pub name: String,
    /// The path that imports are resolved against.
    pub path: PathBuf,
    /// The text of the script.
    pub text: String,
    /// Limits of the memory that its VUs hold.
    pub memory: MemorySettings,
    /// Whether its local modules may run programs of this machine.
    pub allows_exec: bool,
    /// Whether it behaves as in k6 where that is worse.
    pub compat: Compat,
    /// The archive that contains the script.
    archive: Option<Archive>,
    /// The loader of remote modules.
    remote: Option<Arc<Remote>>,
    /// Whether remote modules are refused.
    is_offline: bool,
}

/// The type of a script, from the flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Detected from the content.
    Either,
    Script,
    Archive,
}

impl Source {
    /// Returns a script without imports from disk or network.
    pub fn of_text(name: &str, path: &str, text: &str) -> Source {
        Source { name: name.to_owned(), path: path.into(), text: text.to_owned(), ..Source::default() }
    }

    /// Reads a script or an archive from a file, standard input or an `https://` URL.
    ///
    /// # Errors
    /// The file cannot be read, or does not have the type of `--type`.
    pub fn read(settings: &SourceSettings, context: &Context) -> Result<Source, Failure> {
        let (memory, allows_exec, compat) = (settings.memory, settings.allows_exec, settings.compat);
        Source::read_text(settings, context).map(|source| Source { memory, allows_exec, compat, ..source })
    }

    fn read_text(settings: &SourceSettings, context: &Context) -> Result<Source, Failure> {
        let kind = kind(settings, context)?;
        let name = settings.script.display().to_string();
        if settings.offline && name.starts_with("https://") {
            return Err(Failure::new(Exit::Other, format!("failed to {}", refused(&name))));
        }
        if name.starts_with("https://") {
            return Source::read_remote(settings, context, name);
        }
        let (path, bytes) = read_local(&settings.script, &name, kind)?;
        if kind == Kind::Archive || kind == Kind::Either && archive::is_archive(&bytes) {
            let archive = archive::read(&bytes[..]).map_err(|error| failed(Exit::Other, &error))?;
            let remote = remote(settings, context, folder_of(&path))?;
            return Source::of_archive(name, archive, remote);
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let remote = match settings.offline {
            true => None,
            false => Some(Arc::new(remote(settings, context, folder_of(&path))?)),
        };
        Ok(Source { name, path, text, remote, is_offline: settings.offline, ..Source::default() })
    }

    fn read_remote(settings: &SourceSettings, context: &Context, url: String) -> Result<Source, Failure> {
        let folder = std::env::current_dir().map_err(|error| unreadable(&url, &error))?;
        let remote = remote(settings, context, &folder)?;
        let bytes = remote.fetch(&url).map_err(|error| failed(Exit::Other, &error))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (path, remote) = (url.clone().into(), Some(remote.into()));
        Ok(Source { name: url, path, text, remote, ..Source::default() })
    }

    fn of_archive(name: String, archive: Archive, remote: Remote) -> Result<Source, Failure> {
        let filename = &archive.metadata.filename;
        if filename.starts_with("https://") {
            remote
                .accept(filename, &archive.script)
                .map_err(|error| failed(Exit::ScriptException, &error))?;
        }
        let path = PathBuf::from(filename.strip_prefix("file://").unwrap_or(filename));
        let text = String::from_utf8_lossy(&archive.script).into_owned();
        let (archive, remote) = (Some(archive), Some(remote.into()));
        Ok(Source { name, path, text, archive, remote, ..Source::default() })
    }

    /// Returns a script that came as an archive, without anything of this machine.
    pub(crate) fn unpack(archive: Archive, memory: MemorySettings) -> Source {
        let filename = &archive.metadata.filename;
        let (name, path) =
            (filename.clone(), PathBuf::from(filename.strip_prefix("file://").unwrap_or(filename)));
        let text = String::from_utf8_lossy(&archive.script).into_owned();
        Source { name, path, text, memory, archive: Some(archive), ..Source::default() }
    }

    /// Returns the options of an archive, which replace the script's own.
    pub fn options_json(&self) -> Option<&str> {
        self.archive.as_ref().map(|archive| archive.metadata.options_json.as_str())
    }

    /// Returns `__ENV`: the archive's variables, overridden by the given ones.
    pub fn env(&self, given: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let carried = self.archive.as_ref().and_then(|archive| archive.metadata.env.clone());
        let mut env = carried.unwrap_or_default();
        env.extend(given);
        env
    }

    /// Returns the loader of modules that are not on disk.
    pub fn outside(&self) -> Outside {
        if let Some(archive) = &self.archive {
            let (files, remote) = (archive.files.clone(), self.remote.clone());
            let fetch: Arc<dyn Fetch> = Arc::new(Packed { files, remote });
            let packages = archive.metadata.packages.iter().map(package_import).collect();
            return Outside { fetch: Some(fetch), packed: Some(packed_files(archive)), packages };
        }
        let refused = self.is_offline.then(|| Arc::new(Refused) as Arc<dyn Fetch>);
        let fetch = self.remote.clone().map(|remote| Arc::new(Network(remote)) as Arc<dyn Fetch>);
        Outside { fetch: fetch.or(refused), ..Outside::default() }
    }

    /// Logs notes about how remote modules were loaded.
    pub fn tell_notes(&self, context: &Context) {
        for note in self.remote.iter().flat_map(|remote| remote.take_notes()) {
            context.logger.say(model::LogLevel::Warn, note);
        }
    }

    /// Writes the lock file, if the settings ask for it.
    ///
    /// # Errors
    /// The lock file cannot be written.
    pub fn write_lock(&self, context: &Context) -> Result<(), Failure> {
        let Some(remote) = &self.remote else { return Ok(()) };
        if let Some((path, count)) = remote.write_lock().map_err(|error| failed(Exit::Other, &error))? {
            context.logger.print(&format!("wrote {}, remote modules: {count}\n", path.display()));
        }
        Ok(())
    }
}

/// Loads remote modules from the network or the cache.
struct Network(Arc<Remote>);

impl Fetch for Network {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        self.0.fetch(url).map_err(|error| format!("failed to {error}"))
    }
}

/// Refuses remote modules.
struct Refused;

impl Fetch for Refused {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        Err(format!("failed to {}", refused(url)))
    }
}

fn refused(url: &str) -> String {
    format!(
        "load {url}: hosts are limited (--allow-host), which refuses remote modules; pack them with `plimsoll archive`"
    )
}

/// Loads remote modules from an archive and checks them against the lock file.
struct Packed {
    files: BTreeMap<String, Vec<u8>>,
    remote: Option<Arc<Remote>>,
}

impl Fetch for Packed {
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        // An archive stores a module under the URL as written, which may have a fragment.
        let is_asked_for = |it: &&String| it.split('#').next() == Some(url);
        let found = self.files.get(url).or_else(|| self.files.get(self.files.keys().find(is_asked_for)?));
        let bytes = found
            .ok_or_else(|| format!("the archive does not contain {url}; create it again from the script"))?;
        if let Some(remote) = &self.remote {
            remote.accept(url, bytes).map_err(|error| format!("failed to {error}"))?;
        }
        Ok(bytes.clone())
    }
}

fn package_import(packed: &archive::PackageImport) -> PackageImport {
    let folder = packed.folder.strip_prefix("file://").unwrap_or(&packed.folder).into();
    let (specifier, file) = (packed.specifier.clone(), packed.file.clone());
    PackageImport { folder, specifier, required: packed.required, file }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn packed_files(archive: &Archive) -> PackedFiles {
    let local = |(url, bytes): (&String, &Vec<u8>)| {
        Some((url.strip_prefix("file://")?.into(), bytes.as_slice().into()))
    };
    archive.files.iter().filter_map(local).collect()
}

fn kind(settings: &SourceSettings, context: &Context) -> Result<Kind, Failure> {
    match settings.kind.as_deref().or_else(|| context.env.setting("TYPE")) {
        None | Some("") => Ok(Kind::Either),
        Some("js") => Ok(Kind::Script),
        Some("archive") => Ok(Kind::Archive),
        Some(other) => {
            let text = format!("failed to read --type: {other:?} is neither js nor archive");
            Err(Failure::new(Exit::Other, text))
        }
    }
}

fn read_local(script: &Path, name: &str, kind: Kind) -> Result<(PathBuf, Vec<u8>), Failure> {
    let fails = |error: std::io::Error| unreadable(name, &error);
    let (path, mut from): (PathBuf, Box<dyn Read>) = match script == Path::new("-") {
        true => (std::env::current_dir().map_err(fails)?.join("-"), Box::new(std::io::stdin().lock())),
        false => {
            let path = std::path::absolute(script).map_err(fails)?;
            let file = std::fs::File::open(&path).map_err(fails)?;
            (path, Box::new(file))
        }
    };
    // The head decides how much is read: a script has far fewer bytes than an archive may have.
    let mut head = Vec::new();
    from.by_ref().take(HEAD_BYTES).read_to_end(&mut head).map_err(fails)?;
    let is_archive = kind != Kind::Script && archive::is_archive(&head);
    let bytes_max = if is_archive { ARCHIVE_BYTES_MAX } else { SCRIPT_BYTES_MAX };
    let bytes = files::read_stream(head.as_slice().chain(from), bytes_max).map_err(fails)?;
    Ok((path, bytes))
}

/// Returns a loader whose lock file lies beside the script, so that one commit contains both.
fn remote(settings: &SourceSettings, context: &Context, folder: &Path) -> Result<Remote, Failure> {
    let mode = match (settings.lock, settings.frozen) {
        (true, _) => LockMode::Write,
        (false, true) => LockMode::Frozen,
        (false, false) => LockMode::Check,
    };
    let remote_settings = remote::Settings {
        cache: context.cache_folder(settings.cache.as_deref()).map(|folder| folder.join("modules")),
        lock: Some(folder.join(LOCK_NAME)),
        mode,
    };
    Remote::new(remote_settings).map_err(|error| failed(Exit::ScriptException, &error))
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    let next = match error.kind() {
        std::io::ErrorKind::NotFound => "; check the path, or use - to read from standard input",
        _ => "",
    };
    Failure::new(Exit::Other, format!("failed to read the script {name}: {error}{next}"))
}

fn failed(exit: Exit, error: &dyn std::fmt::Display) -> Failure {
    Failure::new(exit, format!("failed to {error}"))
}
