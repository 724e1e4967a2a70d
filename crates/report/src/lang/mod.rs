//! The languages of reports: one file each.

mod en;
mod ko;
mod words;

pub(crate) use words::Words;

/// A language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

impl Lang {
    /// All languages.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Ko];

    /// The language with this code: `en`, `ko`.
    pub fn parse(code: &str) -> Option<Lang> {
        Lang::ALL.into_iter().find(|lang| lang.code() == code)
    }

    /// Its code (ISO 639-1).
    pub const fn code(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Ko => "ko",
        }
    }

    pub(crate) fn words(self) -> &'static Words {
        match self {
            Lang::En => &en::WORDS,
            Lang::Ko => &ko::WORDS,
        }
    }
}
