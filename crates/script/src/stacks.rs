//! `error.stack` as scripts read it: with the positions of what was written, as k6 has it. Only scripts pay that run in
//! another form than they were written in.

use std::rc::Rc;

use rquickjs::{Ctx, Value};

use crate::js::prelude::Prelude;
use crate::js::{Args, NativeFn};
use crate::source::places::Places;
use crate::state::VuState;

static PRELUDE: Prelude = Prelude::new("stacks", include_str!("../js/stacks.js"));

const NATIVES: &[(&str, NativeFn)] = &[("translate", translate)];

/// Has this VU's stacks translated from now on, if any file of the script has a map.
pub(crate) fn follow_maps<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<()> {
    if !vu.init.sources.is_mapped() || vu.translates_stacks.replace(true) {
        return Ok(());
    }
    PRELUDE.run(ctx, vu, NATIVES).map(|_| ())
}

/// `translate(stack)`
fn translate<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let stack = args.string(0)?;
    let translated = Places::new(&args.vu.init.sources).translate(&stack);
    Ok(rquickjs::String::from_str(args.ctx.clone(), &translated)?.into_value())
}
