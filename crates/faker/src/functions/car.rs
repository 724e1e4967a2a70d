//! Cars.

use super::{Function, pick, value};
use crate::lists::pick as draw_from;
use crate::random::Draw;
use crate::value::Value;

pub(super) const FUNCTIONS: &[Function] = &[
    pick("carFuelType", "car.fuel_type"),
    pick("carMaker", "car.maker"),
    pick("carModel", "car.model"),
    pick("carTransmissionType", "car.transmission_type"),
    pick("carType", "car.type"),
    value("car", car),
];

fn car(draw: &mut Draw) -> Value {
    Value::object([
        ("type", draw_from(draw, "car.type").into()),
        ("fuel", draw_from(draw, "car.fuel_type").into()),
        ("transmission", draw_from(draw, "car.transmission_type").into()),
        ("brand", draw_from(draw, "car.maker").into()),
        ("model", draw_from(draw, "car.model").into()),
        ("year", super::time::year(draw).into()),
    ])
}
