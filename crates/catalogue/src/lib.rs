//! Where run files are kept, and how people name a run.
//!
//! A catalogue is a directory or a bucket of an S3-compatible store. It knows files by their names, which say when a run
//! started and what its id is ([`FileName`]), and never looks into them. A run is named by `@last`, `@prev`, the beginning
//! of its id, or a path; [`Catalogue::find`] turns that into a file on this machine. Which runs a clean-up would delete is
//! decided by [`prune::doomed`], apart from deleting them.

mod bucket;
mod directory;
mod error;
mod file_name;
mod find;
mod location;
pub mod prune;
mod store;

pub use error::CatalogueError;
pub use file_name::{FileName, RunId, SUFFIX};
pub use find::RunReference;
pub use location::Location;
pub use store::{Catalogue, Entry, LISTED_MAX};
