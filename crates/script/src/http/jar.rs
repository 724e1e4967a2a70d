//! Cookies as scripts see them: `http.cookieJar()`, `new http.CookieJar()`, `res.cookies`.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Array, Class, Ctx, Object, Value};
use wire::CookieJar;

use super::response::Facts;
use crate::js::{self, Args};

/// A jar that a VU, a script and requests under way hold together. Empty until somebody puts something in.
#[derive(Clone, Default)]
pub(crate) struct SharedJar(Rc<RefCell<CookieJar>>);

impl SharedJar {
    /// Whether nobody else holds it and nothing is in it: as good as a new one.
    pub(crate) fn is_fresh(&self) -> bool {
        Rc::strong_count(&self.0) == 1 && self.0.borrow().is_empty()
    }

    /// What requests read and write.
    pub(crate) fn for_requests(&self) -> &RefCell<CookieJar> {
        &self.0
    }
}

/// The JavaScript object.
pub(crate) struct Jar(pub(crate) SharedJar);

impl<'js> Trace<'js> for Jar {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Jar {
    const NAME: &'static str = "CookieJar";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}
pub(crate) fn current<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> { args.undefined() }
pub(crate) fn construct<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> { args.undefined() }
pub(crate) fn response_cookies<'js>(ctx: &Ctx<'js>, _facts: &Facts) -> rquickjs::Result<Value<'js>> { Ok(Value::new_undefined(ctx.clone())) }
