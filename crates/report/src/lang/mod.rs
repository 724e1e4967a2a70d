//! The languages of reports: one file each.

mod en;
mod ko;
mod ko_audit;
mod words;

pub(crate) use self::words::{Words, fill};

/// A language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

impl From<Lang> for ::words::Lang {
    fn from(lang: Lang) -> ::words::Lang {
        match lang {
            Lang::En => ::words::Lang::En,
            Lang::Ko => ::words::Lang::Ko,
        }
    }
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

    /// Why a run has no response times, in a sentence.
    pub fn no_response_time(self) -> &'static str {
        self.words().no_response_time
    }

    /// What a rule of the auditor says; `None` where the finding's own words are to be shown.
    pub(crate) fn rule(self, name: &str) -> Option<&'static RuleWords> {
        match self {
            Lang::En => None,
            Lang::Ko => ko_audit::RULES.iter().find(|(rule, _)| *rule == name).map(|(_, words)| words),
        }
    }

    /// What a law derives; `None` where its own words are to be shown.
    pub(crate) fn law(self, name: &str) -> Option<&'static str> {
        match self {
            Lang::En => None,
            Lang::Ko => ko_audit::LAWS.iter().find(|(law, _)| *law == name).map(|(_, words)| *words),
        }
    }

    /// What a figure of the auditor is called.
    pub(crate) fn figure(self, name: &str) -> &str {
        let known = match self {
            Lang::En => None,
            Lang::Ko => ko_audit::FIGURES.iter().find(|(figure, _)| *figure == name),
        };
        known.map_or(name, |(_, words)| *words)
    }

    pub(crate) fn words(self) -> &'static Words {
        match self {
            Lang::En => &en::WORDS,
            Lang::Ko => &ko::WORDS,
        }
    }
}

/// What a rule of the auditor says, whatever the figures are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleWords {
    /// What is wrong.
    pub(crate) finds: &'static str,
    /// What follows.
    pub(crate) implies: &'static str,
    /// How to mend it.
    pub(crate) mend: &'static str,
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
        let shared = ["per_second", "approximate", "ev_story_peak"];
        let all = Lang::Ko.words().all();
        let latin: Vec<_> =
            all.iter().filter(|(key, text)| !text.contains(is_hangul) && !shared.contains(key)).collect();
        assert!(latin.is_empty(), "{latin:?}");
    }

    #[test]
    fn every_rule_of_the_auditor_is_told_in_korean() {
        let is_hangul = |text: &str| text.contains(|glyph: char| ('가'..='힣').contains(&glyph));
        for rule in analysis::audit::RULES {
            let words = Lang::Ko.rule(rule.name).unwrap_or_else(|| panic!("{} has no words", rule.name));
            assert!([words.finds, words.implies, words.mend].into_iter().all(is_hangul), "{words:?}");
            assert!(Lang::En.rule(rule.name).is_none(), "the finding's own words are English");
        }
        assert_eq!(ko_audit::RULES.len(), analysis::audit::RULES.len(), "no words for rules that are gone");
        assert!(ko_audit::LAWS.iter().all(|(_, words)| is_hangul(words)));
        assert!(ko_audit::FIGURES.iter().all(|(_, words)| is_hangul(words)));
        let mut names: Vec<&str> = ko_audit::FIGURES.iter().map(|(name, _)| *name).collect();
        names.dedup();
        assert_eq!(names.len(), ko_audit::FIGURES.len(), "each figure has one name");
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
