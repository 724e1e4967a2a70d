//! People.

use super::{Function, Parameter, given, pick, required, text, value};
use crate::FakerError;
use crate::lists::pick as draw_from;
use crate::parameters::Given;
use crate::random::Draw;
use crate::value::Value;

const TEAMS: &[Parameter] = &[required("people"), required("teams")];

pub(super) const FUNCTIONS: &[Function] = &[
    pick("firstName", "person.first"),
    pick("hobby", "person.hobby"),
    pick("lastName", "person.last"),
    pick("middleName", "person.middle"),
    pick("namePrefix", "person.prefix"),
    pick("nameSuffix", "person.suffix"),
    text("email", email),
    text("gender", gender),
    text("name", name),
    value("person", person),
    text("phone", phone),
    text("phoneFormatted", |draw| {
        let pattern = draw_from(draw, "person.phone");
        draw.digits(pattern)
    }),
    text("school", |draw| {
        let (name, kind) = (draw_from(draw, "school.name"), draw_from(draw, "school.isPrivate"));
        format!("{name} {kind} {}", draw_from(draw, "school.type"))
    }),
    text("ssn", ssn),
    given("teams", TEAMS, teams),
];

pub(super) fn name(draw: &mut Draw) -> String {
    format!("{} {}", draw_from(draw, "person.first"), draw_from(draw, "person.last"))
}

fn email(draw: &mut Draw) -> String {
    let (first, last) = (draw_from(draw, "person.first"), draw_from(draw, "person.last"));
    let (domain, suffix) = (draw_from(draw, "person.last"), draw_from(draw, "internet.domain_suffix"));
    format!("{first}{last}@{domain}.{suffix}").to_lowercase()
}

fn gender(draw: &mut Draw) -> String {
    if draw.flag() { "male".to_owned() } else { "female".to_owned() }
}

fn phone(draw: &mut Draw) -> String {
    draw.digits("##########")
}

fn ssn(draw: &mut Draw) -> String {
    draw.between(100_000_000, 999_999_999).to_string()
}

fn person(draw: &mut Draw) -> Value {
    let (first, last) = (draw_from(draw, "person.first"), draw_from(draw, "person.last"));
    let (gender, ssn) = (gender(draw), ssn(draw));
    let image = super::internet::image_url(draw.between(100, 500), draw.between(100, 500));
    let hobby = draw_from(draw, "person.hobby");
    let (job, address) = (super::company::job(draw), super::address::address(draw));
    let contact = Value::object([("phone", phone(draw).into()), ("email", email(draw).into())]);
    Value::object([
        ("first_name", first.into()),
        ("last_name", last.into()),
        ("gender", gender.into()),
        // As k6 writes names of Go.
        ("s_s_n", ssn.into()),
        ("image", image.into()),
        ("hobby", hobby.into()),
        ("job", job),
        ("address", address),
        ("contact", contact),
        ("credit_card", super::payment::credit_card(draw)),
    ])
}

fn teams(draw: &mut Draw, given: &Given<'_>) -> Result<Value, FakerError> {
    let (mut people, teams) = (given.texts(0)?, given.texts(1)?);
    draw.shuffle_backwards(&mut people);
    let size = people.len().div_ceil(teams.len().max(1)).max(1);
    let mut groups = people.chunks(size);
    let team = |team| (team, groups.next().map(<[String]>::to_vec).unwrap_or_default().into());
    Ok(Value::Object(teams.into_iter().map(team).collect()))
}
