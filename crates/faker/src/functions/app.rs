//! Applications.

use super::word::{noun, verb};
use super::{Function, text, title};
use crate::lists::pick;
use crate::random::Draw;

pub(super) const FUNCTIONS: &[Function] = &[
    text("appAuthor", author),
    text("appName", name),
    text("appVersion", |draw| {
        format!("{}.{}.{}", draw.between(1, 5), draw.between(1, 20), draw.between(1, 20))
    }),
];

fn author(draw: &mut Draw) -> String {
    if draw.flag() { super::person::name(draw) } else { pick(draw, "company.name").to_owned() }
}

fn name(draw: &mut Draw) -> String {
    title(&match draw.between(1, 3) {
        1 => format!("{}{}", noun(draw), verb(draw)),
        2 => format!("{}{}", pick(draw, "color.full"), noun(draw)),
        _ => format!("{}{}", pick(draw, "animal.animal"), verb(draw)),
    })
}
