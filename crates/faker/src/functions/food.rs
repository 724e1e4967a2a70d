//! Food.

use super::{Function, capitalized, pick, text};
use crate::lists::pick as draw_from;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("fruit", "food.fruit"),
    pick("vegetable", "food.vegetable"),
    text("breakfast", |draw| capitalized(draw_from(draw, "food.breakfast"))),
    text("dessert", |draw| capitalized(draw_from(draw, "food.dessert"))),
    text("dinner", |draw| capitalized(draw_from(draw, "food.dinner"))),
    text("drink", |draw| capitalized(draw_from(draw, "food.drink"))),
    text("lunch", |draw| capitalized(draw_from(draw, "food.lunch"))),
    text("snack", |draw| capitalized(draw_from(draw, "food.snack"))),
];
