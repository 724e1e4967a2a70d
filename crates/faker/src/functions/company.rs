//! Companies and jobs.

use super::{Function, pick, text, value};
use crate::lists::pick as draw_from;
use crate::random::Draw;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("blurb", "company.blurb"),
    pick("bs", "company.bs"),
    pick("buzzword", "company.buzzwords"),
    pick("company", "company.name"),
    pick("companySuffix", "company.suffix"),
    pick("jobDescriptor", "job.descriptor"),
    pick("jobLevel", "job.level"),
    pick("jobTitle", "job.title"),
    value("job", job),
    text("slogan", slogan),
];

pub(super) fn job(draw: &mut Draw) -> Value {
    Value::object([
        ("company", draw_from(draw, "company.name").into()),
        ("title", draw_from(draw, "job.title").into()),
        ("descriptor", draw_from(draw, "job.descriptor").into()),
        ("level", draw_from(draw, "job.level").into()),
    ])
}

fn slogan(draw: &mut Draw) -> String {
    let style = draw.between(0, 2);
    let mut word = |list| draw_from(draw, list);
    match style {
        0 => format!("{}. {}!", word("company.blurb"), word("company.buzzwords")),
        1 => format!(
            "{} {}, {} {}.",
            word("company.buzzwords"),
            word("company.blurb"),
            word("company.buzzwords"),
            word("company.blurb")
        ),
        _ => format!(
            "{} {} {}, {}.",
            word("company.buzzwords"),
            word("company.bs"),
            word("company.blurb"),
            word("company.buzzwords")
        ),
    }
}
