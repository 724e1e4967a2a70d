//! Languages.

use super::{Function, pick};

pub(super) const FUNCTIONS: &[Function] = &[
    pick("language", "language.long"),
    pick("languageAbbreviation", "language.short"),
    pick("languageBcp", "language.bcp"),
    pick("programmingLanguage", "language.programming"),
];
