//! The parts of one test become one run.
use crate::{MergeError, Reader};
use std::path::Path;

/// What merging may overlook.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeOptions {
    /// Merge runs of different scripts or options too.
    pub force: bool,
}

/// Makes one run at `out` of the parts that several instances ran. The order of `inputs` does not matter. Gives the id of
/// the new run.
///
/// # Errors
/// The runs do not belong together (unless forced), one of them cannot be read, or the result cannot be written.
pub fn merge(inputs: &[&Reader], out: &Path, options: MergeOptions) -> Result<String, MergeError> {
    let _ = (inputs, out, options);
    unimplemented!()
}
