//! Which folder `open()` starts in.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use rquickjs::Ctx;

use crate::state::VuState;

/// Calls deeper than this are not looked at.
const FRAMES_MAX: isize = 256;

/// The folder that a relative path in `open()` starts at, where it is not the entry script's. k6 takes the file whose code
/// was entered from outside: the module that is being evaluated, and not the one where the calling function is written. It
/// says so where the two differ, and so does this.
pub(crate) fn folder(ctx: &Ctx<'_>, vu: &Rc<VuState>, path: &str) -> Option<PathBuf> {
    let frames = (0..FRAMES_MAX).filter_map(|level| ctx.script_or_module_name(level)?.to_string().ok());
    let mut files = frames.filter(|name| name.starts_with("file://"));
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
