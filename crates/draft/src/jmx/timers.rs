//! Timers: think time before each request of their scope.

use super::functions::Names;
use super::xml::Element;
use crate::js;
use crate::plan::Plan;
use crate::text::Text;

pub(super) fn is_timer(tag: &str) -> bool {
    tag.ends_with("Timer")
}

/// An expression of seconds.
pub(super) fn seconds(element: &Element, names: &mut Names, plan: &mut Plan) -> Option<String> {
    let delay = names.text(element.property("ConstantTimer.delay"), plan);
    let range = names.text(element.property("RandomTimer.range"), plan);
    match element.tag.as_str() {
        "ConstantTimer" => Some(milliseconds(&delay)),
        "UniformRandomTimer" | "PoissonRandomTimer" => {
            Some(format!("({} + Math.random() * {}) / 1000", number(&delay), number(&range)))
        }
        // The mean is the delay, and half of the values are within two thirds of the deviation.
        "GaussianRandomTimer" => {
            Some(format!("({} + (Math.random() * 2 - 1) * {}) / 1000", number(&delay), number(&range)))
        }
        "ConstantThroughputTimer"
        | "PreciseThroughputTimer"
        | "VariableThroughputTimer"
        | "kg.apc.jmeter.timers.VariableThroughputTimer" => {
            plan.notes.add(format!(
                "{} was not converted: use the executor constant-arrival-rate",
                js::label(element.name())
            ));
            None
        }
        _ => {
            super::note(element, plan);
            None
        }
    }
}

/// Seconds of an amount in milliseconds.
pub(super) fn milliseconds(text: &Text) -> String {
    match text.as_literal().map(|literal| literal.trim().parse::<f64>()) {
        Some(Ok(ms)) if ms.is_finite() => (ms / 1000.0).to_string(),
        Some(_) => "0".to_owned(),
        None => format!("{} / 1000", number(text)),
    }
}

/// An expression of a number.
pub(super) fn number(text: &Text) -> String {
    match text.as_literal().map(|literal| literal.trim().parse::<f64>()) {
        Some(Ok(number)) if number.is_finite() => number.to_string(),
        Some(_) => "0".to_owned(),
        None => format!("Number({})", text.js()),
    }
}
