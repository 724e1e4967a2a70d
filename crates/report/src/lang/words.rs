//! What a language has to have words for.
//!
//! A language is a value of [`Words`], so the compiler finds what it lacks. `{}` in a text stands for what [`fill`] puts there.

/// Every text of a report in one language.
#[derive(Debug)]
pub(crate) struct Words {
    pub(crate) pass: &'static str,
}
