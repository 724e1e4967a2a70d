//! `k6/experimental/streams`: the classes of streams that k6 has, which are globals here.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};

use crate::js::registry::{Builtin, Registry};
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/experimental/streams", build };

const NAMES: &[&str] = &[
    "ReadableStream",
    "ReadableStreamDefaultReader",
    "CountQueuingStrategy",
    "WritableStream",
    "WritableStreamDefaultWriter",
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    for lazy in Registry::in_context(ctx).globals.iter().filter(|lazy| NAMES.contains(&lazy.name)) {
        let class: Value<'js> = (lazy.build)(ctx, vu)?;
        module.set(lazy.name, class)?;
    }
    Ok(module)
}
