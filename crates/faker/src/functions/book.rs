//! Books.

use super::{Function, pick, value};
use crate::lists::pick as draw_from;
use crate::random::Draw;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("bookAuthor", "book.author"),
    pick("bookGenre", "book.genre"),
    pick("bookTitle", "book.title"),
    value("book", book),
];

fn book(draw: &mut Draw) -> Value {
    Value::object([
        ("title", draw_from(draw, "book.title").into()),
        ("author", draw_from(draw, "book.author").into()),
        ("genre", draw_from(draw, "book.genre").into()),
    ])
}
