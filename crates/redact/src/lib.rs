//! Redaction: secrets stay out of what the program writes.
//!
//! Three rules, each in its file: [`names`](is_secret_name) decides which variables are stored with their values, [`RedactedUrl`]
//! shows addresses without credentials, and [`Redactor`] hides values that are known to be secret in every spelling. The crate knows
//! nothing of runs, files and networks.

mod json;
mod names;
mod redactor;
mod scrubber;
mod spellings;
mod url;

pub use names::{assignments_hidden, is_path, is_secret_name, is_storable};
pub use redactor::Redactor;
pub use scrubber::{SECRET_CHARS_MIN, Scrubber};
pub use url::{RedactedUrl, password_in, urls_hidden};

/// The text in place of a secret.
pub const HIDDEN: &str = "(hidden)";

/// The text in place of a variable's value that is not stored, whether it is a secret or not.
pub const SET: &str = "(set)";
