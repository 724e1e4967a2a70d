//! Libraries written in JavaScript: each makes several globals, and runs once in a VU that reads the first of them.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Persistent, Value};

use super::prelude::Prelude;
use super::registry::Registry;
use super::{Args, NativeFn, bytes_of, string_from_bytes};
use crate::state::VuState;

/// A library written in JavaScript: its text, and the natives it calls.
pub(crate) struct JsLibrary {
    name: &'static str,
    prelude: Prelude,
    natives: &'static [(&'static str, NativeFn)],
}

impl JsLibrary {
    pub(crate) const fn new(
        name: &'static str,
        source: &'static str,
        natives: &'static [(&'static str, NativeFn)],
    ) -> JsLibrary {
        JsLibrary { name, prelude: Prelude::new(name, source), natives }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The object that the library makes, once per VU.
    pub(crate) fn object<'js>(&self, ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
        if let Some(known) = self.made(ctx, vu)? {
            return Ok(known);
        }
        let mut natives = self.natives.to_vec();
        natives.push(("part", part));
        let made = self.prelude.run(ctx, vu, &natives)?;
        let made = made.into_object().ok_or(rquickjs::Error::Exception)?;
        vu.builtin_objects.borrow_mut().insert(self.name, Persistent::save(ctx, made.clone()));
        Ok(made)
    }

    /// The object that the library has made in this VU, if it was ever used.
    pub(crate) fn made<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<VuState>,
    ) -> rquickjs::Result<Option<Object<'js>>> {
        let known = vu.builtin_objects.borrow().get(self.name).cloned();
        known.map(|known| known.restore(ctx)).transpose()
    }

    /// One of the things it makes.
    pub(crate) fn member<'js>(
        &self,
        ctx: &Ctx<'js>,
        vu: &Rc<VuState>,
        name: &str,
    ) -> rquickjs::Result<Value<'js>> {
        self.object(ctx, vu)?.get(name)
    }
}

/// `part(name)`: what another text makes.
fn part<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let name = args.string(0)?;
    match Registry::in_context(args.ctx).libraries.iter().find(|library| library.name == name) {
        Some(library) => Ok(library.object(args.ctx, args.vu)?.into_value()),
        None => Err(args.error(format!("no part is called {name}"))),
    }
}

/// `encode(text)`: its UTF-8 as bytes.
pub(crate) fn encode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let text = args.string(0)?;
    super::byte_array(args.ctx, text.as_bytes())
}

/// `decode(bytes)`: UTF-8 as text, without a byte order mark; what is none becomes the replacement character.
pub(crate) fn decode<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let bytes = bytes_of(&args.get(0)).unwrap_or_default();
    string_from_bytes(args.ctx, bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes))
}
