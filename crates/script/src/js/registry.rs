//! The host's modules, globals and libraries, as contexts find them by name.

use std::rc::Rc;

use rquickjs::{Ctx, Exception, Object, Persistent, Value};

use super::VuHandle;
use super::library::JsLibrary;
use crate::state::VuState;

/// A module of the host: an object whose properties are the module's exports, made once per VU that imports it.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) build: for<'js> fn(&Ctx<'js>, &Rc<VuState>) -> rquickjs::Result<Object<'js>>,
}

/// A global that is made when a script first reads it. See [`super::scope`].
pub(crate) struct LazyGlobal {
    pub(crate) name: &'static str,
    pub(crate) build: for<'js> fn(&Ctx<'js>, &Rc<VuState>) -> rquickjs::Result<Value<'js>>,
}

/// Everything that scripts find by name.
pub(crate) struct Registry {
    pub(crate) modules: &'static [Builtin],
    pub(crate) globals: &'static [LazyGlobal],
    pub(crate) libraries: &'static [&'static JsLibrary],
}

impl Registry {
    /// The registry of a context.
    pub(crate) fn in_context(ctx: &Ctx<'_>) -> &'static Registry {
        ctx.userdata::<VuHandle>().expect("every context is made with its registry").registry
    }
}

/// The object of a module in this VU.
///
/// # Errors
/// There is no such module, or it cannot be made.
pub(crate) fn module<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, name: &str) -> rquickjs::Result<Object<'js>> {
    let Some(module) = Registry::in_context(ctx).modules.iter().find(|module| module.name == name) else {
        return Err(Exception::throw_message(ctx, &format!("unknown module: {name}")));
    };
    if let Some(object) = vu.builtin_objects.borrow().get(module.name).cloned() {
        return object.restore(ctx);
    }
    let object = (module.build)(ctx, vu)?;
    vu.builtin_objects.borrow_mut().insert(module.name, Persistent::save(ctx, object.clone()));
    Ok(object)
}
