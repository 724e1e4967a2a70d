//! The rules of wording that a program can check.

/// A message: key, English, Korean.
pub(crate) type Entry = (&'static str, &'static str, &'static str);

/// Words of a sentence at most.
const SENTENCE_WORDS_MAX: usize = 30;

/// Where a sentence ends.
const SENTENCE_ENDS: &[&str] = &[". ", "; ", ": "];

/// Phrases that are not plain technical English.
const BANNED: &[&str] = &[" told", "tells ", "nobody", "somebody", "whoever", "by way of"];

/// Words that only a question begins with.
const QUESTION_WORDS: &[&str] = &["What ", "Who ", "Which "];

/// Checks that every message is there in both languages and follows the rules; `latin` are keys without Hangul.
#[track_caller]
pub(crate) fn check(entries: &[Entry], latin: &[&str]) {
    let wrong: Vec<String> = entries.iter().flat_map(|entry| faults(*entry, latin)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn faults((key, english, korean): Entry, latin: &[&str]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{key}: {text}"));
    if english.trim().is_empty() || korean.trim().is_empty() {
        fault("empty".to_owned());
    }
    let is_hangul = |glyph: char| ('가'..='힣').contains(&glyph);
    if !latin.contains(&key) && !korean.contains(is_hangul) {
        fault(format!("no Hangul in {korean:?}"));
    }
    if english.contains(is_hangul) {
        fault(format!("Hangul in {english:?}"));
    }
    let lowercase = english.to_lowercase();
    for phrase in BANNED.iter().filter(|phrase| lowercase.contains(*phrase)) {
        fault(format!("{phrase:?} in {english:?}"));
    }
    if QUESTION_WORDS.iter().any(|word| english.starts_with(word)) && !english.ends_with('?') {
        fault(format!("{english:?} begins as a question"));
    }
    let sentences = SENTENCE_ENDS.iter().fold(vec![english], |parts, end| {
        parts.into_iter().flat_map(|part| part.split(end)).collect::<Vec<_>>()
    });
    for sentence in sentences {
        let words = sentence.split_whitespace().count();
        if words > SENTENCE_WORDS_MAX {
            fault(format!("{words} words in {sentence:?}"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_faults_are_found() {
        let found = |english: &'static str, korean: &'static str| faults(("key", english, korean), &[]).len();
        assert_eq!(found("Thresholds", "임계값"), 0);
        assert_eq!(found("Thresholds", "Thresholds"), 1);
        assert_eq!(found("임계값", "임계값"), 1);
        assert_eq!(found("", "임계값"), 1);
        assert_eq!(found("no source told of queues", "큐"), 1);
        assert_eq!(found("Nobody knows", "큐"), 1);
        assert_eq!(found("What limits it", "큐"), 1);
        assert_eq!(found("What limits it?", "큐"), 0);
        let long: &'static str = "a ".repeat(SENTENCE_WORDS_MAX + 1).leak();
        assert_eq!(found(long, "큐"), 1);
        assert_eq!(faults(("key", "/s", "/s"), &["key"]).len(), 0);
    }
}
