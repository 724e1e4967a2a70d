//! Names and types of files.

use super::{Function, pick};

pub(super) const FUNCTIONS: &[Function] =
    &[pick("fileExtension", "file.extension"), pick("fileMimeType", "file.mime_type")];
