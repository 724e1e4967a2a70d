//! Words, phrases, sentences and paragraphs.

use super::hipster;
use super::{Function, Parameter, given, optional, pick, text};
use crate::FakerError;
use crate::lists::pick as draw_from;
use crate::parameters::Given;
use crate::random::Draw;
use crate::value::Value;

/// Parameters of functions that make a sentence.
pub(super) const SENTENCE: &[Parameter] = &[optional("wordcount", "5")];
/// Parameters of functions that make paragraphs.
pub(super) const PARAGRAPH: &[Parameter] = &[
    optional("paragraphcount", "2"),
    optional("sentencecount", "2"),
    optional("wordcount", "5"),
    optional("paragraphseparator", "<br />"),
];

const ADJECTIVES: [&str; 7] = [
    "word.adjective_descriptive",
    "word.adjective_quantitative",
    "word.adjective_proper",
    "word.adjective_demonstrative",
    "word.adjective_possessive",
    "word.adjective_interrogative",
    "word.adjective_indefinite",
];
const ADVERBS: [&str; 7] = [
    "word.adverb_manner",
    "word.adverb_degree",
    "word.adverb_place",
    "word.adverb_time_definite",
    "word.adverb_time_indefinite",
    "word.adverb_frequency_definite",
    "word.adverb_frequency_indefinite",
];
const CONNECTIVES: [&str; 6] = [
    "word.connective_time",
    "word.connective_comparative",
    "word.connective_complaint",
    "word.connective_listing",
    "word.connective_casual",
    "word.connective_examplify",
];
const NOUNS: [&str; 8] = [
    "word.noun_common",
    "word.noun_concrete",
    "word.noun_abstract",
    "word.noun_collective_people",
    "word.noun_collective_animal",
    "word.noun_collective_thing",
    "word.noun_countable",
    "word.noun_uncountable",
];
const PREPOSITIONS: [&str; 3] =
    ["word.preposition_simple", "word.preposition_double", "word.preposition_compound"];
const PRONOUNS: [&str; 8] = [
    "word.pronoun_personal",
    "word.pronoun_object",
    "word.pronoun_possessive",
    "word.pronoun_reflective",
    "word.pronoun_indefinite",
    "word.pronoun_demonstrative",
    "word.pronoun_interrogative",
    "word.pronoun_relative",
];
const VERBS: [&str; 3] = ["word.verb_action", "word.verb_linking", "word.verb_helping"];

/// Lists that a word may come from.
const ALL: [&str; 46] = [
    "word.adjective_demonstrative",
    "word.adjective_descriptive",
    "word.adjective_indefinite",
    "word.adjective_interrogative",
    "word.adjective_possessive",
    "word.adjective_proper",
    "word.adjective_quantitative",
    "word.adverb_degree",
    "word.adverb_frequency_definite",
    "word.adverb_frequency_indefinite",
    "word.adverb_manner",
    "word.adverb_place",
    "word.adverb_time_definite",
    "word.adverb_time_indefinite",
    "word.connective_casual",
    "word.connective_comparative",
    "word.connective_complaint",
    "word.connective_examplify",
    "word.connective_listing",
    "word.connective_time",
    "word.interjection",
    "word.noun_abstract",
    "word.noun_collective_animal",
    "word.noun_collective_people",
    "word.noun_collective_thing",
    "word.noun_common",
    "word.noun_concrete",
    "word.noun_countable",
    "word.noun_determiner",
    "word.noun_uncountable",
    "word.preposition_compound",
    "word.preposition_double",
    "word.preposition_simple",
    "word.pronoun_demonstrative",
    "word.pronoun_indefinite",
    "word.pronoun_interrogative",
    "word.pronoun_object",
    "word.pronoun_personal",
    "word.pronoun_possessive",
    "word.pronoun_reflective",
    "word.pronoun_relative",
    "word.verb_action",
    "word.verb_helping",
    "word.verb_intransitive",
    "word.verb_linking",
    "word.verb_transitive",
];

pub(super) const FUNCTIONS: &[Function] = &[
    pick("actionVerb", "word.verb_action"),
    pick("adverbDegree", "word.adverb_degree"),
    pick("adverbFrequencyDefinite", "word.adverb_frequency_definite"),
    pick("adverbFrequencyIndefinite", "word.adverb_frequency_indefinite"),
    pick("adverbManner", "word.adverb_manner"),
    pick("adverbPlace", "word.adverb_place"),
    pick("adverbTimeDefinite", "word.adverb_time_definite"),
    pick("adverbTimeIndefinite", "word.adverb_time_indefinite"),
    pick("comment", "word.interjection"),
    pick("connectiveCasual", "word.connective_casual"),
    pick("connectiveComparitive", "word.connective_comparative"),
    pick("connectiveComplaint", "word.connective_complaint"),
    pick("connectiveExamplify", "word.connective_examplify"),
    pick("connectiveListing", "word.connective_listing"),
    pick("connectiveTime", "word.connective_time"),
    pick("demonstrativeAdjective", "word.adjective_demonstrative"),
    pick("descriptiveAdjective", "word.adjective_descriptive"),
    pick("helpingVerb", "word.verb_helping"),
    pick("indefiniteAdjective", "word.adjective_indefinite"),
    pick("interjection", "word.interjection"),
    pick("interrogativeAdjective", "word.adjective_interrogative"),
    pick("intransitiveVerb", "word.verb_intransitive"),
    pick("linkingVerb", "word.verb_linking"),
    pick("loremIpsumWord", "lorem.word"),
    pick("nounAbstract", "word.noun_abstract"),
    pick("nounCollectiveAnimal", "word.noun_collective_animal"),
    pick("nounCollectivePeople", "word.noun_collective_people"),
    pick("nounCollectiveThing", "word.noun_collective_thing"),
    pick("nounCommon", "word.noun_common"),
    pick("nounConcrete", "word.noun_concrete"),
    pick("nounCountable", "word.noun_countable"),
    pick("nounDeterminer", "word.noun_determiner"),
    pick("nounUncountable", "word.noun_uncountable"),
    pick("phrase", "sentence.phrase"),
    pick("possessiveAdjective", "word.adjective_possessive"),
    pick("prepositionCompound", "word.preposition_compound"),
    pick("prepositionDouble", "word.preposition_double"),
    pick("prepositionSimple", "word.preposition_simple"),
    pick("pronounDemonstrative", "word.pronoun_demonstrative"),
    pick("pronounIndefinite", "word.pronoun_indefinite"),
    pick("pronounInterrogative", "word.pronoun_interrogative"),
    pick("pronounObject", "word.pronoun_object"),
    pick("pronounPersonal", "word.pronoun_personal"),
    pick("pronounPossessive", "word.pronoun_possessive"),
    pick("pronounReflective", "word.pronoun_reflective"),
    pick("pronounRelative", "word.pronoun_relative"),
    pick("properAdjective", "word.adjective_proper"),
    pick("quantitativeAdjective", "word.adjective_quantitative"),
    pick("transitiveVerb", "word.verb_transitive"),
    text("adjective", |draw| of_kinds(draw, &ADJECTIVES)),
    text("adverb", |draw| of_kinds(draw, &ADVERBS)),
    text("adverbPhrase", adverb_phrase),
    text("connective", |draw| of_kinds(draw, &CONNECTIVES)),
    given("loremIpsumParagraph", PARAGRAPH, |draw, given| paragraphs(draw, given, lorem)),
    given("loremIpsumSentence", SENTENCE, |draw, given| {
        let count = words_in(given, 0)?;
        Ok(sentence_of(draw, count, lorem).into())
    }),
    text("noun", noun),
    text("nounPhrase", noun_phrase),
    text("nounProper", |draw| {
        let kind = draw.between(1, 3);
        draw_from(draw, ["celebrity.actor", "address.city", "person.first"][kind as usize - 1]).to_owned()
    }),
    given("paragraph", PARAGRAPH, |draw, given| paragraphs(draw, given, word)),
    text("preposition", |draw| of_kinds(draw, &PREPOSITIONS)),
    text("prepositionPhrase", preposition_phrase),
    text("pronoun", |draw| of_kinds(draw, &PRONOUNS)),
    text("question", |draw| quoted(draw).replacen('.', "?", 1)),
    text("quote", |draw| {
        let sentence = quoted(draw);
        format!("\"{sentence}\" - {} {}", draw_from(draw, "person.first"), draw_from(draw, "person.last"))
    }),
    given("sentence", SENTENCE, |draw, given| {
        let count = words_in(given, 0)?;
        Ok(sentence(draw, count).into())
    }),
    text("simpleSentence", |draw| {
        super::capitalized(&format!("{} {}.", noun_phrase(draw), verb_phrase(draw)))
    }),
    text("verb", verb),
    text("verbPhrase", verb_phrase),
    text("word", word),
];

/// The number of words that parameter `index` asks for.
pub(super) fn words_in(given: &Given<'_>, index: usize) -> Result<i64, FakerError> {
    given.count(index, "word count", 1, 50)
}

fn of_kinds(draw: &mut Draw, lists: &[&str]) -> String {
    let kind = draw.between(0, lists.len() as i64 - 1);
    draw_from(draw, lists[kind as usize]).to_owned()
}

pub(super) fn noun(draw: &mut Draw) -> String {
    of_kinds(draw, &NOUNS)
}

pub(super) fn verb(draw: &mut Draw) -> String {
    of_kinds(draw, &VERBS)
}

/// A single word of any kind.
fn word(draw: &mut Draw) -> String {
    let list = draw.one_of(&ALL);
    let words: Vec<&str> = draw_from(draw, list).split(' ').collect();
    draw.one_of(&words).to_owned()
}

fn lorem(draw: &mut Draw) -> String {
    draw_from(draw, "lorem.word").to_owned()
}

fn quoted(draw: &mut Draw) -> String {
    let count = draw.between(3, 10);
    hipster::sentence(draw, count)
}

fn adverb_phrase(draw: &mut Draw) -> String {
    let mut words = Vec::new();
    if draw.flag() {
        words.push(draw_from(draw, "word.adverb_degree"));
    }
    words.push(draw_from(draw, "word.adverb_manner"));
    words.join(" ")
}

fn noun_phrase(draw: &mut Draw) -> String {
    let phrase = if draw.flag() {
        format!("{} {}", draw_from(draw, "word.adjective_descriptive"), noun(draw))
    } else {
        noun(draw)
    };
    match draw.weighted(&[2.0, 1.5, 1.0]) {
        0 => format!("{} {phrase}", article(&phrase)),
        1 => format!("the {phrase}"),
        _ => phrase,
    }
}

/// The article before a phrase, by its letters.
fn article(phrase: &str) -> &'static str {
    let mut letters = phrase.chars().flat_map(char::to_lowercase);
    match (letters.next(), letters.next()) {
        (Some('a' | 'e' | 'i' | 'o'), _) | (Some('u'), Some('n' | 'l')) | (Some('h'), Some('i')) => "an",
        (Some(_), _) => "a",
        (None, _) => "",
    }
}

fn preposition_phrase(draw: &mut Draw) -> String {
    format!("{} {}", draw_from(draw, "word.preposition_simple"), noun_phrase(draw))
}

fn verb_phrase(draw: &mut Draw) -> String {
    let mut parts = Vec::new();
    if draw.flag() {
        parts.push(adverb_phrase(draw));
    }
    parts.push(draw_from(draw, "word.verb_action").to_owned());
    if draw.flag() {
        parts.push(noun_phrase(draw));
    }
    if draw.flag() {
        parts.push(adverb_phrase(draw));
        if draw.flag() {
            parts.push(preposition_phrase(draw));
        }
        if draw.flag() {
            parts.push(adverb_phrase(draw));
        }
    }
    parts.join(" ")
}

pub(super) fn sentence(draw: &mut Draw, count: i64) -> String {
    sentence_of(draw, count, word)
}

/// A sentence of `count` words.
pub(super) fn sentence_of(draw: &mut Draw, count: i64, word: fn(&mut Draw) -> String) -> String {
    let words: Vec<String> = (0..count).map(|_| word(draw)).collect();
    super::capitalized(&format!("{}.", words.join(" ")))
}

/// Paragraphs of sentences of words, as [`PARAGRAPH`] says.
pub(super) fn paragraphs(
    draw: &mut Draw,
    given: &Given<'_>,
    word: fn(&mut Draw) -> String,
) -> Result<Value, FakerError> {
    let paragraphs = given.count(0, "paragraph count", 1, 20)?;
    let sentences = given.count(1, "sentence count", 1, 20)?;
    let (words, separator) = (words_in(given, 2)?, given.text(3)?);
    let mut paragraph = || {
        let sentences: Vec<String> = (0..sentences).map(|_| sentence_of(draw, words, word)).collect();
        sentences.join(" ")
    };
    let paragraphs: Vec<String> = (0..paragraphs).map(|_| paragraph()).collect();
    Ok(paragraphs.join(&separator).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles() {
        for (phrase, expect) in
            [("Apple", "an"), ("union", "an"), ("user", "a"), ("hip", "an"), ("hat", "a"), ("", "")]
        {
            assert_eq!(article(phrase), expect, "{phrase}");
        }
    }

    #[test]
    fn every_kind_of_words_is_there() {
        let kinds = [&ADJECTIVES[..], &ADVERBS, &CONNECTIVES, &NOUNS, &PREPOSITIONS, &PRONOUNS, &VERBS, &ALL];
        for name in kinds.concat() {
            assert!(!crate::lists::list(name).is_empty(), "{name}");
        }
    }
}
