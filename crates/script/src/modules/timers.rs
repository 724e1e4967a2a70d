//! `k6/timers`: the global timer functions, by import.

use std::rc::Rc;

use rquickjs::{Ctx, Object};

use crate::globals::TIMERS;
use crate::js;
use crate::js::registry::Builtin;
use crate::state::VuState;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/timers", build };

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, TIMERS)?;
    Ok(module)
}
