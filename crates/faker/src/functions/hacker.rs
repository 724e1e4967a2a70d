//! Words of hackers.

use super::{Function, capitalized, filled, pick, text};
use crate::lists::pick as draw_from;
use crate::random::Draw;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("hackerAbbreviation", "hacker.abbreviation"),
    pick("hackerAdjective", "hacker.adjective"),
    pick("hackerNoun", "hacker.noun"),
    pick("hackerVerb", "hacker.verb"),
    pick("hackeringVerb", "hacker.ingverb"),
    text("hackerPhrase", phrase),
];

fn phrase(draw: &mut Draw) -> String {
    let template = draw_from(draw, "hacker.phrase");
    capitalized(&filled(draw, template))
}
