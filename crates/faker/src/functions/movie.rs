//! Movies.

use super::{Function, pick, value};
use crate::lists::pick as draw_from;
use crate::random::Draw;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] =
    &[pick("movieGenre", "movie.genre"), pick("movieName", "movie.name"), value("movie", movie)];

fn movie(draw: &mut Draw) -> Value {
    Value::object([
        ("name", draw_from(draw, "movie.name").into()),
        ("genre", draw_from(draw, "movie.genre").into()),
    ])
}
