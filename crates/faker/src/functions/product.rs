//! Products.

use super::word::sentence;
use super::{Function, pick, text, title, value};
use crate::lists::pick as draw_from;
use crate::random::Draw;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("productCategory", "product.category"),
    pick("productFeature", "product.feature"),
    pick("productMaterial", "product.material"),
    value("product", product),
    text("productDescription", description),
    text("productName", name),
    text("productUpc", upc),
];

fn product(draw: &mut Draw) -> Value {
    let categories = draw.weighted(&[1.0, 4.0, 3.0, 4.0]) + 1;
    let categories: Vec<&str> = (0..categories).map(|_| draw_from(draw, "product.category")).collect();
    let mut features = Vec::new();
    // The count is drawn anew for each, as the library does.
    while (features.len() as i64) < draw.between(1, 5) {
        features.push(draw_from(draw, "product.feature"));
    }
    let (name, description) = (name(draw), description(draw));
    let price = super::payment::price(draw, 3.0, 100.0);
    let upc = upc(draw);
    Value::object([
        ("name", name.into()),
        ("description", description.into()),
        ("categories", categories.into()),
        ("price", price.into()),
        ("features", features.into()),
        ("color", draw_from(draw, "color.safe").into()),
        ("material", draw_from(draw, "product.material").into()),
        // As k6 writes names of Go.
        ("u_p_c", upc.into()),
    ])
}

fn name(draw: &mut Draw) -> String {
    const ADJECTIVE: &str = "product.adjective";
    const COLOR: &str = "color.safe";
    const FEATURE: &str = "product.feature";
    const MATERIAL: &str = "product.material";
    const SUFFIX: &str = "product.suffix";
    let name = draw_from(draw, "product.name");
    let kind = draw.between(0, 9);
    let mut word = |list| draw_from(draw, list);
    title(&match kind {
        1 => format!("{name} {} {}", word(ADJECTIVE), word(FEATURE)),
        2 => format!("{} {} {name}", word(ADJECTIVE), word(MATERIAL)),
        3 => format!("{} {name} {}", word(COLOR), word(SUFFIX)),
        4 => format!("{} {name} {}", word(FEATURE), word(ADJECTIVE)),
        5 => format!("{} {} {name}", word(MATERIAL), word(COLOR)),
        6 => format!("{name} {} {}", word(SUFFIX), word(MATERIAL)),
        7 => format!("{} {} {name}", word(ADJECTIVE), word(FEATURE)),
        8 => format!("{} {} {name}", word(COLOR), word(MATERIAL)),
        9 => format!("{} {} {name}", word(SUFFIX), word(ADJECTIVE)),
        _ => format!("{} {name} {}", word(ADJECTIVE), word(SUFFIX)),
    })
}

fn description(draw: &mut Draw) -> String {
    let mut sentences = Vec::new();
    while (sentences.len() as i64) < draw.between(1, 3) {
        let words = draw.between(5, 15);
        sentences.push(sentence(draw, words));
    }
    sentences.join(" ")
}

fn upc(draw: &mut Draw) -> String {
    let digits = (1..12).map(|_| draw.between(0, 9).to_string());
    format!("0{}", digits.collect::<String>())
}
