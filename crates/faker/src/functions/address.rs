//! Addresses and positions.

use super::{Function, Parameter, given, number, optional, pick, text, value};
use crate::FakerError;
use crate::lists::pick as draw_from;
use crate::parameters::Given;
use crate::random::Draw;
use crate::value::Value;

const LATITUDES: &[Parameter] = &[optional("min", "0"), optional("max", "90")];
const LONGITUDES: &[Parameter] = &[optional("min", "0"), optional("max", "180")];

pub(super) const FUNCTIONS: &[Function] = &[
    pick("city", "address.city"),
    pick("country", "address.country"),
    pick("countryAbbreviation", "address.country_abr"),
    pick("state", "address.state"),
    pick("stateAbbreviation", "address.state_abr"),
    pick("streetName", "address.street_name"),
    pick("streetPrefix", "address.street_prefix"),
    pick("streetSuffix", "address.street_suffix"),
    value("address", address),
    number("latitude", |draw| position(draw.unit() * 180.0 - 90.0)),
    given("latitudeRange", LATITUDES, |draw, given| position_within(draw, given, 90.0)),
    number("longitude", |draw| position(draw.unit() * 360.0 - 180.0)),
    given("longitudeRange", LONGITUDES, |draw, given| position_within(draw, given, 180.0)),
    text("street", street),
    text("streetNumber", street_number),
    text("zip", zip),
];

pub(super) fn address(draw: &mut Draw) -> Value {
    let (street, city) = (street(draw), draw_from(draw, "address.city"));
    let (state, zip) = (draw_from(draw, "address.state"), zip(draw));
    Value::object([
        ("address", format!("{street}, {city}, {state} {zip}").into()),
        ("street", street.into()),
        ("city", city.into()),
        ("state", state.into()),
        ("zip", zip.into()),
        ("country", draw_from(draw, "address.country").into()),
        ("latitude", position(draw.unit() * 180.0 - 90.0).into()),
        ("longitude", position(draw.unit() * 360.0 - 180.0).into()),
    ])
}

fn street(draw: &mut Draw) -> String {
    let has_prefix = draw.between(1, 2) == 1;
    let mut parts = vec![street_number(draw)];
    if has_prefix {
        parts.push(draw_from(draw, "address.street_prefix").to_owned());
    }
    parts.push(format!(
        "{}{}",
        draw_from(draw, "address.street_name"),
        draw_from(draw, "address.street_suffix")
    ));
    parts.join(" ")
}

fn street_number(draw: &mut Draw) -> String {
    let pattern = draw_from(draw, "address.number");
    draw.digits(pattern).trim_start_matches('0').to_owned()
}

fn zip(draw: &mut Draw) -> String {
    let pattern = draw_from(draw, "address.zip");
    draw.digits(pattern)
}

/// Degrees with six decimals.
fn position(degrees: f64) -> f64 {
    (degrees * 1e6).floor() / 1e6
}

fn position_within(draw: &mut Draw, given: &Given<'_>, limit: f64) -> Result<Value, FakerError> {
    let (min, max): (f64, f64) = (given.parsed(0)?, given.parsed(1)?);
    if min <= max && -limit <= min && max <= limit {
        return Ok(position(draw.float(min, max)).into());
    }
    Err(FakerError::Argument(format!(
        "invalid min or max range, must be valid floats and between -{limit} and {limit}"
    )))
}
