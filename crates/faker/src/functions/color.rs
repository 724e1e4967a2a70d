//! Colours.

use super::{Function, pick, text, value};
use crate::random::Draw;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("color", "color.full"),
    // Documented as a palette; the extension gives one colour.
    pick("niceColors", "color.full"),
    pick("safeColor", "color.safe"),
    text("hexColor", hex),
    value("rgbColor", |draw| vec![draw.between(0, 255), draw.between(0, 255), draw.between(0, 255)].into()),
];

fn hex(draw: &mut Draw) -> String {
    let kinds: Vec<bool> = (0..6).map(|_| draw.below(2) == 1).collect();
    // All digits come before all letters, and the first place is no 0.
    let mut places: Vec<char> =
        kinds.iter().map(|is_digit| if *is_digit { draw.digit() } else { '?' }).collect();
    if places[0] == '0' {
        places[0] = char::from(b'1' + draw.below(8) as u8);
    }
    for place in places.iter_mut().filter(|place| **place == '?') {
        *place = char::from(b'a' + draw.below(6) as u8);
    }
    format!("#{}", places.into_iter().collect::<String>())
}
