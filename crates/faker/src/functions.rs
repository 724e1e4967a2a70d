//! The functions, by category: one file each.

mod address;
mod animal;
mod app;
mod beer;
mod book;
mod car;
mod celebrity;
mod color;
mod company;
mod emoji;
mod error;
mod file;
mod finance;
mod food;
mod game;
mod hacker;
mod hipster;
mod internet;
mod language;
mod minecraft;
mod movie;
mod numbers;
mod payment;
mod person;
mod product;
mod strings;
mod time;
mod word;

use crate::FakerError;
use crate::lists;
use crate::parameters::{Argument, Given, Parameter, optional, required};
use crate::random::Draw;
use crate::value::Value;

/// Functions of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Category {
    /// Its name.
    pub name: &'static str,
    /// Its functions.
    pub functions: &'static [Function],
}

/// All categories.
pub const CATEGORIES: &[Category] = &[
    Category { name: "address", functions: address::FUNCTIONS },
    Category { name: "animal", functions: animal::FUNCTIONS },
    Category { name: "app", functions: app::FUNCTIONS },
    Category { name: "beer", functions: beer::FUNCTIONS },
    Category { name: "book", functions: book::FUNCTIONS },
    Category { name: "car", functions: car::FUNCTIONS },
    Category { name: "celebrity", functions: celebrity::FUNCTIONS },
    Category { name: "color", functions: color::FUNCTIONS },
    Category { name: "company", functions: company::FUNCTIONS },
    Category { name: "emoji", functions: emoji::FUNCTIONS },
    Category { name: "error", functions: error::FUNCTIONS },
    Category { name: "file", functions: file::FUNCTIONS },
    Category { name: "finance", functions: finance::FUNCTIONS },
    Category { name: "food", functions: food::FUNCTIONS },
    Category { name: "game", functions: game::FUNCTIONS },
    Category { name: "hacker", functions: hacker::FUNCTIONS },
    Category { name: "hipster", functions: hipster::FUNCTIONS },
    Category { name: "internet", functions: internet::FUNCTIONS },
    Category { name: "language", functions: language::FUNCTIONS },
    Category { name: "minecraft", functions: minecraft::FUNCTIONS },
    Category { name: "movie", functions: movie::FUNCTIONS },
    Category { name: "numbers", functions: numbers::FUNCTIONS },
    Category { name: "payment", functions: payment::FUNCTIONS },
    Category { name: "person", functions: person::FUNCTIONS },
    Category { name: "product", functions: product::FUNCTIONS },
    Category { name: "strings", functions: strings::FUNCTIONS },
    Category { name: "time", functions: time::FUNCTIONS },
    Category { name: "word", functions: word::FUNCTIONS },
];

/// A function that makes a value.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
    make: Make,
}

type Calculate = fn(&mut Draw, &Given<'_>) -> Result<Value, FakerError>;

#[derive(Clone, Copy, Debug)]
enum Make {
    /// An entry of a list.
    Pick(&'static str),
    Text(fn(&mut Draw) -> String),
    Number(fn(&mut Draw) -> f64),
    Value(fn(&mut Draw) -> Value),
    Given(Calculate),
}

impl Function {
    pub(crate) fn call(&self, draw: &mut Draw, arguments: &[Argument]) -> Result<Value, FakerError> {
        Ok(match self.make {
            Make::Pick(list) => lists::pick(draw, list).into(),
            Make::Text(make) => make(draw).into(),
            Make::Number(make) => make(draw).into(),
            Make::Value(make) => make(draw),
            Make::Given(make) => return make(draw, &Given { parameters: self.parameters, arguments }),
        })
    }
}

const fn pick(name: &'static str, list: &'static str) -> Function {
    Function { name, parameters: &[], make: Make::Pick(list) }
}

const fn text(name: &'static str, make: fn(&mut Draw) -> String) -> Function {
    Function { name, parameters: &[], make: Make::Text(make) }
}

const fn number(name: &'static str, make: fn(&mut Draw) -> f64) -> Function {
    Function { name, parameters: &[], make: Make::Number(make) }
}

const fn value(name: &'static str, make: fn(&mut Draw) -> Value) -> Function {
    Function { name, parameters: &[], make: Make::Value(make) }
}

const fn given(name: &'static str, parameters: &'static [Parameter], make: Calculate) -> Function {
    Function { name, parameters, make: Make::Given(make) }
}

/// Lists by their names in templates.
const TEMPLATE_LISTS: &[(&str, &str)] = &[
    ("errorobject", "error.object"),
    ("hackerabbreviation", "hacker.abbreviation"),
    ("hackeradjective", "hacker.adjective"),
    ("hackeringverb", "hacker.ingverb"),
    ("hackernoun", "hacker.noun"),
    ("hackerverb", "hacker.verb"),
    ("httpmethod", "internet.http_method"),
    ("inputname", "html.input_name"),
];

/// A template with entries of lists in place of their names in braces, digits for `#` and letters for `?`.
fn filled(draw: &mut Draw, template: &str) -> String {
    let template = draw.digits(template);
    let template = draw.letters(&template);
    let mut text = String::new();
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        let list = TEMPLATE_LISTS.iter().find(|(known, _)| *known == name);
        text.push_str(before);
        text.push_str(list.map_or("", |(_, list)| lists::pick(draw, list)));
        rest = after;
    }
    text + rest
}

/// The text with its first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The text with the first letter of each word in upper case.
fn title(text: &str) -> String {
    let mut before = ' ';
    let mut titled = String::new();
    for letter in text.chars() {
        let is_inside =
            before.is_alphanumeric() || before == '_' || !before.is_ascii() && !before.is_whitespace();
        if is_inside {
            titled.push(letter)
        } else {
            titled.extend(letter.to_uppercase())
        }
        before = letter;
    }
    titled
}
