//! The Web Cryptography API: the global `crypto`.
//!
//! The standard's steps (which key may do what, in which order errors are found) are in the JavaScript files, in the
//! standard's own language; what is done with bytes and keys is here.

mod job;
mod key;
mod natives;

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};

use crate::js::prelude::Prelude;
use crate::js::registry::{self, Builtin, LazyGlobal};
use crate::state::VuState;

/// Where scripts found it before it became a global.
pub(crate) const MODULE: Builtin = Builtin { name: "k6/experimental/webcrypto", build };

pub(crate) const CRYPTO: LazyGlobal =
    LazyGlobal { name: "crypto", build: |ctx, vu| member(ctx, vu, "crypto") };

pub(crate) const CRYPTO_KEY: LazyGlobal =
    LazyGlobal { name: "CryptoKey", build: |ctx, vu| member(ctx, vu, "CryptoKey") };

static SUBTLE: Prelude = Prelude::new(
    "webcrypto",
    concat!(
        "(function (host) {\n'use strict';\n",
        include_str!("webcrypto/arguments.js"),
        include_str!("webcrypto/algorithms.js"),
        include_str!("webcrypto/subtle.js"),
        "return { crypto, CryptoKey };\n})"
    ),
);

/// Made once per VU, as the module or as the global: keys must be of one class.
fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let made = SUBTLE.run(ctx, vu, natives::ALL)?;
    made.into_object().ok_or(rquickjs::Error::Exception)
}

fn member<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, name: &str) -> rquickjs::Result<Value<'js>> {
    registry::module(ctx, vu, MODULE.name)?.get(name)
}
