//! Korean sentences of the auditor, by rule and law.

mod ko_audit;

use crate::Lang;

/// Returns the sentences of a rule of the auditor; `None` where the finding's own are to be shown.
pub(crate) fn rule(lang: Lang, name: &str) -> Option<&'static RuleWords> {
    match lang {
        Lang::En => None,
        Lang::Ko => ko_audit::RULES.iter().find(|(rule, _)| *rule == name).map(|(_, words)| words),
    }
}

/// Returns the sentence of a law; `None` where its own is to be shown.
pub(crate) fn law(lang: Lang, name: &str) -> Option<&'static str> {
    match lang {
        Lang::En => None,
        Lang::Ko => ko_audit::LAWS.iter().find(|(law, _)| *law == name).map(|(_, words)| *words),
    }
}

/// Returns the name of a figure of the auditor.
pub(crate) fn figure(lang: Lang, name: &str) -> &str {
    let known = match lang {
        Lang::En => None,
        Lang::Ko => ko_audit::FIGURES.iter().find(|(figure, _)| *figure == name),
    };
    known.map_or(name, |(_, words)| *words)
}

/// The sentences of a rule of the auditor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuleWords {
    /// The claim.
    pub(crate) finds: &'static str,
    /// The consequence.
    pub(crate) implies: &'static str,
    /// The remedy.
    pub(crate) mend: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_auditor_has_korean() {
        let is_hangul = |text: &str| text.contains(|glyph: char| ('가'..='힣').contains(&glyph));
        for known in analysis::audit::RULES {
            let words = rule(Lang::Ko, known.name).unwrap_or_else(|| panic!("{} has no words", known.name));
            assert!([words.finds, words.implies, words.mend].into_iter().all(is_hangul), "{words:?}");
            assert!(rule(Lang::En, known.name).is_none(), "the finding's own words are English");
        }
        assert_eq!(ko_audit::RULES.len(), analysis::audit::RULES.len(), "no words for rules that are gone");
        assert!(ko_audit::LAWS.iter().all(|(_, words)| is_hangul(words)));
        assert!(ko_audit::FIGURES.iter().all(|(_, words)| is_hangul(words)));
        let mut names: Vec<&str> = ko_audit::FIGURES.iter().map(|(name, _)| *name).collect();
        names.dedup();
        assert_eq!(names.len(), ko_audit::FIGURES.len(), "each figure has one name");
    }
}
