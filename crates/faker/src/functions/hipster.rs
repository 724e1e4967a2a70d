//! Words of hipsters.

use super::word::{PARAGRAPH, SENTENCE, paragraphs, sentence_of};
use super::{Function, given, pick};
use crate::lists::pick as draw_from;
use crate::random::Draw;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("hipsterWord", "hipster.word"),
    given("hipsterParagraph", PARAGRAPH, |draw, given| paragraphs(draw, given, word)),
    given("hipsterSentence", SENTENCE, |draw, given| {
        let count = super::word::words_in(given, 0)?;
        Ok(sentence(draw, count).into())
    }),
];

fn word(draw: &mut Draw) -> String {
    draw_from(draw, "hipster.word").to_owned()
}

pub(super) fn sentence(draw: &mut Draw, count: i64) -> String {
    sentence_of(draw, count, word)
}
