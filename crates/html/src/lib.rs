//! HTML pages as scripts look at them: parsed as browsers do, immutable, queried with selectors.
//!
//! A [`Document`] is one vector of nodes; a [`NodeId`] is a place in it, and a selection is a list of those. The
//! crate knows nothing of JavaScript and of HTTP: how `k6/html` uses it is `script`'s matter.
//!
//! Pages are hostile input: [`Limits`] bounds what is kept of one, and nothing here recurses over its depth.

mod data;
mod document;
mod matching;
mod parse;
mod render;
mod selector;
mod selector_parser;
mod walk;

pub use data::{DataValue, data_value};
pub use document::{Document, Kind, NodeId};
pub use parse::Limits;
pub use selector::Selector;
pub use selector_parser::BadSelector;
pub use walk::{Axis, Until};
