//! Beers.

use super::{Function, pick, text};

pub(super) const FUNCTIONS: &[Function] = &[
    pick("beerHop", "beer.hop"),
    pick("beerMalt", "beer.malt"),
    pick("beerName", "beer.name"),
    pick("beerStyle", "beer.style"),
    pick("beerYeast", "beer.yeast"),
    text("beerAlcohol", |draw| format!("{:.1}%", draw.float(2.0, 10.0))),
    text("beerBlg", |draw| format!("{:.1}°Blg", draw.float(5.0, 20.0))),
    text("beerIbu", |draw| format!("{} IBU", draw.between(10, 100))),
];
