//! Files that scripts read: which folder `open()` starts in, and which code may read at all.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::Ctx;

use crate::js::Args;
use crate::outside::is_remote;
use crate::state::VuState;

/// Calls deeper than this are not looked at.
const FRAMES_MAX: isize = 256;

/// Code that asks for something on this machine's disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A local file, with no remote module among its callers; or a script without remote modules.
    Local,
    /// A remote module, by its URL.
    Remote(String),
    /// No module is on the stack, and the script has loaded remote ones: any of them may have passed the function on.
    Unknown,
}

impl Caller {
    /// Refuses local files to remote modules, which anybody on the network may have written.
    ///
    /// # Errors
    /// A text for the user.
    pub(crate) fn may_read(&self, path: &str) -> Result<(), String> {
        match self {
            Caller::Local => Ok(()),
            Caller::Remote(url) => Err(format!(
                "the remote module {url} asks for the local file \"{path}\", which remote modules may not read; read it in a \
                 local module and pass its content on"
            )),
            Caller::Unknown => Err(format!(
                "the local file \"{path}\" is asked for by code that belongs to no local module, and the script has loaded \
                 remote modules, which may not read local files; call the function in a local module"
            )),
        }
    }
}

/// The code that calls the native that runs now. A remote module anywhere on the stack counts: what it calls does its work.
pub(crate) fn caller(ctx: &Ctx<'_>, vu: &Rc<VuState>) -> Caller {
    // The files of an archive are not on this machine's disk.
    if vu.init.sources.is_packed() { Caller::Local } else { origin(ctx, vu) }
}

/// As [`caller`], also for the code of an archive.
pub(crate) fn origin(ctx: &Ctx<'_>, vu: &Rc<VuState>) -> Caller {
    if !vu.init.sources.has_remote() {
        return Caller::Local;
    }
    let mut is_local = false;
    for name in frames(ctx) {
        if is_remote(&name) {
            return Caller::Remote(name);
        }
        is_local |= name.starts_with("file://");
    }
    if is_local { Caller::Local } else { Caller::Unknown }
}

/// Reads a file for a native that takes a path; relative paths start at the entry script's folder.
///
/// # Errors
/// The file cannot be read, or the caller may not read it.
pub(crate) fn read(args: &Args<'_, '_>, path: &str) -> Result<Arc<[u8]>, String> {
    caller(args.ctx, args.vu).may_read(path)?;
    args.vu.init.sources.open_in(None, path)
}

/// The files of the functions on the stack, the innermost first.
fn frames(ctx: &Ctx<'_>) -> impl DoubleEndedIterator<Item = String> {
    (0..FRAMES_MAX).filter_map(|level| ctx.script_or_module_name(level)?.to_string().ok())
}

/// The folder that a relative path in `open()` starts at, where it is not the entry script's. k6 takes the file whose code
/// was entered from outside: the module that is being evaluated, and not the one where the calling function is written. It
/// says so where the two differ, and so does this.
pub(crate) fn folder(ctx: &Ctx<'_>, vu: &Rc<VuState>, path: &str) -> Option<PathBuf> {
    let mut files = frames(ctx).filter(|name| name.starts_with("file://"));
    let written = files.next();
    // A file that was required counts as entered by its `require()`.
    let entered = vu.common_js.running().or_else(|| files.next_back()).or_else(|| written.clone())?;
    let (entered, written) = (folder_of(&entered)?, written.as_deref().and_then(folder_of));
    let is_relative = !path.starts_with('/') && !path.starts_with("file://");
    if let Some(written) =
        written.filter(|written| is_relative && *written != entered && vu.binding().is_none())
    {
        vu.warn(format!(
            "open(\"{path}\") starts in {}, as in k6, and not in {}, where it is written",
            entered.display(),
            written.display()
        ));
    }
    Some(entered)
}

fn folder_of(url: &str) -> Option<PathBuf> {
    Path::new(url.strip_prefix("file://")?).parent().map(Path::to_owned)
}
