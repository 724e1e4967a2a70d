//! Selectors: CSS level 3 and the additions of goquery's selectors (cascadia), which k6's scripts use:
//! `:contains()`, `:containsOwn()`, `:matches()`, `:matchesOwn()`, `:has()`, `:haschild()`, `:input`, `[a!=b]`, `[a#=regex]`.

use regex_lite::Regex;

/// A selector, ready to match.
#[derive(Debug)]
pub struct Selector(pub(crate) Vec<Complex>);

/// Compounds from left to right; each with how it relates to the one before it.
#[derive(Debug)]
pub(crate) struct Complex(pub(crate) Vec<(Combinator, Vec<Simple>)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combinator {
    Descendant,
    Child,
    NextSibling,
    LaterSibling,
}

#[derive(Debug)]
pub(crate) enum Simple {
    Tag(String),
    Id(String),
    Class(String),
    Attribute { key: String, test: Test, ignores_case: bool },
    Not(Selector),
    Has(Selector),
    HasChild(Selector),
    Contains { lower: String, own: bool },
    Matches { regex: Box<Regex>, own: bool },
    Nth(Nth),
    Only { of_type: bool },
    Input,
    Empty,
    Root,
    Link,
    Lang(String),
    Enabled,
    Disabled,
    Checked,
    Never,
}

/// The condition on an attribute's value.
#[derive(Debug)]
pub(crate) enum Test {
    Present,
    Equal(String),
    NotEqual(String),
    Word(String),
    Dash(String),
    Prefix(String),
    Suffix(String),
    Part(String),
    Regex(Box<Regex>),
}

/// `an+b`, counted from the first or the last sibling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nth {
    pub(crate) step: i32,
    pub(crate) offset: i32,
    pub(crate) last: bool,
    pub(crate) of_type: bool,
}
