//! `k6/x/faker`: made-up data, the same for a seed as with the extension of k6.

use std::cell::RefCell;
use std::rc::Rc;

use faker::{Argument, Faker, FakerError, Value as Made};
use model::{Clock, SystemClock};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Array, Class, Ctx, Object, Value};

use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn, js_lifetime};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/faker", build };

static PRELUDE: Prelude = Prelude::new("k6/x/faker", include_str!("../../js/faker.js"));

/// The variable with the seed of the module's own source.
const SEED: &str = "XK6_FAKER_SEED";

/// Entries of a list that a script passes.
const ENTRIES_MAX: usize = 100_000;

const NATIVES: &[(&str, NativeFn)] =
    &[("categories", categories), ("create", create), ("call", call), ("seed", seed)];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

/// The JavaScript object's own part.
struct Source(RefCell<Faker>);
js_lifetime!(Source);

impl<'js> Trace<'js> for Source {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Source {
    const NAME: &'static str = "FakerSource";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `categories()`: the names of the functions, by category.
fn categories<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let object = Object::new(args.ctx.clone())?;
    for category in faker::CATEGORIES {
        let names: Vec<&str> = category.functions.iter().map(|function| function.name).collect();
        object.set(category.name, names)?;
    }
    Ok(object.into_value())
}

/// `seed()`: the seed in the environment, if there is one.
fn seed<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    match args.vu.init.env.get(SEED) {
        Some(seed) => js::string_from_bytes(args.ctx, seed.as_bytes()),
        None => args.undefined(),
    }
}

/// `create(seed)`: a source. Seed 0, or none, is a random one.
fn create<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let given = js::to_number(args.ctx, &args.get(0))?;
    // As JavaScript's own conversion to an integer: anything but a number is 0.
    let seed = match given as i64 as u64 {
        0 => fastrand::u64(1..),
        seed => seed,
    };
    let source = Class::instance(args.ctx.clone(), Source(RefCell::new(Faker::new(seed))))?;
    Ok(source.into_inner().into_value())
}

/// `call(source, name, arguments)`
fn call<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let source = args.get(0);
    let Some(source) = source.as_object().and_then(Class::<Source>::from_object) else {
        return Err(args.type_error("this is no Faker; new Faker(seed) makes one"));
    };
    let name = args.string(1)?;
    let function = faker::function(&name).map_err(|_| args.type_error(unknown(&name)))?;
    let arguments = match args.get(2).as_array() {
        Some(array) => arguments(args, array, function.parameters.len())?,
        None => Vec::new(),
    };
    let now_unix_s = SystemClock.wall_unix_ns() / 1_000_000_000;
    let made = source.borrow().0.borrow_mut().call(function, &arguments, now_unix_s);
    match made {
        Ok(made) => shown(args.ctx, made),
        Err(error @ (FakerError::Missing(_) | FakerError::Unknown(_))) => {
            Err(args.type_error(error.to_string()))
        }
        Err(error) => Err(args.error(error.to_string())),
    }
}

/// The message for a name that no function has.
fn unknown(name: &str) -> String {
    let all = faker::CATEGORIES.iter().flat_map(|category| category.functions);
    let rated =
        all.map(|function| (strsim::normalized_damerau_levenshtein(name, function.name), function.name));
    match rated.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((similarity, nearest)) if similarity > 0.6 => {
            format!("unknown function: {name}; did you mean {nearest:?}?")
        }
        _ => format!("unknown function: {name}"),
    }
}

/// The first `count` arguments as texts; `undefined` ends them.
fn arguments<'js>(args: &Args<'_, 'js>, given: &Array<'js>, count: usize) -> rquickjs::Result<Vec<Argument>> {
    let mut arguments = Vec::new();
    for value in given.iter::<Value<'js>>().take(count) {
        let value = value?;
        if value.is_undefined() {
            break;
        }
        arguments.push(match value.as_array() {
            Some(list) if list.len() > ENTRIES_MAX => {
                return Err(args.error(format!("a list has {} entries; at most {ENTRIES_MAX}", list.len())));
            }
            Some(list) => {
                let texts = list.iter::<Value<'js>>().map(|entry| js::to_string(args.ctx, &entry?));
                Argument::Many(texts.collect::<rquickjs::Result<_>>()?)
            }
            None => Argument::One(js::to_string(args.ctx, &value)?),
        });
    }
    Ok(arguments)
}

fn shown<'js>(ctx: &Ctx<'js>, made: Made) -> rquickjs::Result<Value<'js>> {
    Ok(match made {
        Made::Text(text) => js::string_from_bytes(ctx, text.as_bytes())?,
        Made::Number(number) => Value::new_number(ctx.clone(), number),
        Made::Flag(flag) => Value::new_bool(ctx.clone(), flag),
        Made::List(values) => {
            let array = Array::new(ctx.clone())?;
            for (index, value) in values.into_iter().enumerate() {
                array.set(index, shown(ctx, value)?)?;
            }
            array.into_value()
        }
        Made::Object(fields) => {
            let object = Object::new(ctx.clone())?;
            for (name, value) in fields {
                js::define_member(&object, &name, shown(ctx, value)?)?;
            }
            object.into_value()
        }
    })
}
