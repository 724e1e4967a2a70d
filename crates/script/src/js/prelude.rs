//! Parts of the host that are written in JavaScript: where a standard is stated in terms of the language itself, its own
//! words are shorter and righter than natives would be.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use rquickjs::{Ctx, Object, Value};

use super::{NativeFn, compile_script, run_script, set_natives};
use crate::state::VuState;

/// One such part: the text of a function expression that takes one object, the natives it needs, and returns what it
/// makes. It is compiled once per process; each VU that asks for it runs the shared bytecode.
pub(crate) struct Prelude {
    name: &'static str,
    source: &'static str,
    bytecode: OnceLock<Arc<[u8]>>,
}

impl Prelude {
    pub(crate) const fn new(name: &'static str, source: &'static str) -> Prelude {
        Prelude { name, source, bytecode: OnceLock::new() }
    }

    /// Runs the function in this VU and returns its result.
    pub(crate) fn run<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<VuState>,
        natives: &[(&'static str, NativeFn)],
    ) -> rquickjs::Result<Value<'js>> {
        let bytecode = match self.bytecode.get() {
            Some(bytecode) => bytecode.clone(),
            None => {
                let compiled = compile_script(ctx, self.name, self.source)?;
                self.bytecode.get_or_init(|| compiled).clone()
            }
        };
        let host = Object::new(ctx.clone())?;
        set_natives(&host, vu, natives)?;
        let make = run_script(ctx, &bytecode)?.into_function().ok_or(rquickjs::Error::Exception)?;
        make.call((host,))
    }
}
