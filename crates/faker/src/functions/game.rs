//! Games.

use super::{Function, Parameter, given, optional, text, title};
use crate::FakerError;
use crate::lists::pick;
use crate::parameters::Given;
use crate::random::Draw;
use crate::value::Value;

const DICE: &[Parameter] = &[optional("numdice", "1"), optional("sides", "6")];

/// Dice of one call.
const DICE_MAX: i64 = 10_000;

pub(super) const FUNCTIONS: &[Function] = &[given("dice", DICE, dice), text("gamertag", gamertag)];

fn dice(draw: &mut Draw, given: &Given<'_>) -> Result<Value, FakerError> {
    let count = given.count(0, "number of dice", 0, DICE_MAX)?;
    let sides: Vec<u64> = given.all_parsed(1)?;
    let first = sides.first().copied().unwrap_or(6);
    let thrown = (0..count as usize).map(|die| {
        let sides = sides.get(die).copied().unwrap_or(first);
        draw.between(1, i64::try_from(sides).unwrap_or(i64::MAX))
    });
    Ok(thrown.collect::<Vec<_>>().into())
}

fn gamertag(draw: &mut Draw) -> String {
    let kind = draw.between(1, 4);
    let mut word = |list| title(pick(draw, list));
    let mut tag = match kind {
        1 => format!("{}{}er", word("word.noun_concrete"), word("word.verb_action")),
        2 => format!("{}{}", word("word.adjective_descriptive"), word("animal.animal")),
        3 => format!("{}{}", word("word.adjective_descriptive"), word("word.noun_concrete")),
        _ => format!("{}{}", word("food.fruit"), word("word.adjective_descriptive")),
    };
    if draw.below(3) == 1 {
        let count = draw.between(1, 3);
        tag.extend((0..count).map(|_| draw.digit()));
    }
    tag.replace(' ', "")
}
