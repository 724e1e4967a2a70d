//! The languages of reports: one file each.

mod en;
mod ko;
mod words;

pub(crate) use words::{Words, fill};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_all_words_with_the_same_gaps() {
        let english = Lang::En.words().all();
        for lang in Lang::ALL {
            for ((key, text), (_, other)) in lang.words().all().into_iter().zip(&english) {
                assert!(!text.trim().is_empty(), "{key} in {lang:?}");
                let gaps = |text: &str| text.matches("{}").count();
                assert_eq!(gaps(text), gaps(other), "{key} in {lang:?}");
            }
        }
    }

    #[test]
    fn korean_is_korean() {
        let is_hangul = |glyph: char| ('가'..='힣').contains(&glyph);
        let shared = ["per_second", "approximate"];
        let all = Lang::Ko.words().all();
        let latin: Vec<_> =
            all.iter().filter(|(key, text)| !text.contains(is_hangul) && !shared.contains(key)).collect();
        assert!(latin.is_empty(), "{latin:?}");
    }

    #[test]
    fn languages_go_by_their_codes() {
        for lang in Lang::ALL {
            assert_eq!(Lang::parse(lang.code()), Some(lang));
        }
        assert_eq!(Lang::parse("fr"), None);
    }

    #[test]
    fn gaps_are_filled_in_order_and_never_twice() {
        assert_eq!(fill("{} of {}", &["{}", "2"]), "{} of 2");
        assert_eq!(fill("a {} b {}", &["1"]), "a 1 b ");
    }
}
