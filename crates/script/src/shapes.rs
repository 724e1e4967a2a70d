//! Layouts of objects, kept so that the engine finds them.
//!
//! Objects that were made alike share one layout for as long as one of them lives. An iteration makes functions and drops
//! them all, so each would lay out its first function anew, step by step: nothing, `length`, `length` and `name`. One
//! specimen of each step spares that, and an empty object the first step of every other.

use rquickjs::object::Property;
use rquickjs::{Array, Ctx, Function, Object, Persistent};

use crate::js;

/// Properties of a function, in the order in which the engine defines them.
const OF_FUNCTIONS: &[&str] = &["length", "name"];

/// Makes them.
pub(crate) fn keep(ctx: &Ctx<'_>) -> rquickjs::Result<Persistent<Array<'static>>> {
    let function: Function<'_> = ctx.globals().get("Function")?;
    let prototype: Object<'_> = function.get("prototype")?;
    let specimens = Array::new(ctx.clone())?;
    for steps in 0..=OF_FUNCTIONS.len() {
        let specimen = js::object_with_prototype(ctx, &prototype)?;
        for name in &OF_FUNCTIONS[..steps] {
            specimen.prop(*name, Property::from(0).configurable())?;
        }
        specimens.set(steps, specimen)?;
    }
    specimens.set(OF_FUNCTIONS.len() + 1, Object::new(ctx.clone())?)?;
    Ok(Persistent::save(ctx, specimens))
}
