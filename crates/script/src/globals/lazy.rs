//! Globals that are made when a script first asks for them, because most scripts never do and every VU would pay.

use std::rc::Rc;

use rquickjs::function::This;
use rquickjs::{Ctx, Function, Object, Value};

use crate::js;
use crate::state::VuState;

/// A global of this kind.
pub(crate) struct Lazy {
    pub(crate) name: &'static str,
    pub(crate) build: for<'js> fn(&Ctx<'js>, &Rc<VuState>) -> rquickjs::Result<Value<'js>>,
}

/// All of them, one line each.
const ALL: &[Lazy] =
    &[super::text::ENCODER, super::text::DECODER, crate::webcrypto::CRYPTO, crate::webcrypto::CRYPTO_KEY];

/// Defines them as accessors that replace themselves: by what they build when read, by what is assigned when written.
pub(super) fn install<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    ALL.iter().try_for_each(|lazy| define(ctx, vu, lazy))
}

fn define<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, lazy: &'static Lazy) -> rquickjs::Result<()> {
    let vu = vu.clone();
    let get = Function::new(ctx.clone(), move |ctx: Ctx<'js>| {
        let value = (lazy.build)(&ctx, &vu)?;
        replace(&ctx, lazy.name, value.clone())?;
        Ok::<_, rquickjs::Error>(value)
    })?;
    let set =
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, _this: This<Value<'js>>, value: Value<'js>| {
            replace(&ctx, lazy.name, value)
        })?;
    let descriptor = Object::new(ctx.clone())?;
    descriptor.set("get", get)?;
    descriptor.set("set", set)?;
    descriptor.set("configurable", true)?;
    js::define_property(&ctx.globals(), lazy.name, descriptor)
}

fn replace<'js>(ctx: &Ctx<'js>, name: &str, value: Value<'js>) -> rquickjs::Result<()> {
    let descriptor = Object::new(ctx.clone())?;
    descriptor.set("value", value)?;
    descriptor.set("writable", true)?;
    descriptor.set("configurable", true)?;
    js::define_property(&ctx.globals(), name, descriptor)
}
