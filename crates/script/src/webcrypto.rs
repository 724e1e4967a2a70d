//! The Web Cryptography API: the global `crypto`.
//!
//! The standard's steps (which key may do what, in which order errors are found) are in the JavaScript files, in the
//! standard's own language; what is done with bytes and keys is here.

mod job;
mod key;
mod natives;

use std::rc::Rc;

pub(crate) use key::Key;
use rquickjs::{Ctx, Object, Value};

use crate::globals::lazy::Lazy;
use crate::modules::{self, Builtin};
use crate::prelude::Prelude;
use crate::state::VuState;

/// Where scripts found it before it became a global.
pub(crate) const MODULE: Builtin = Builtin { name: "k6/experimental/webcrypto", build };

pub(crate) const CRYPTO: Lazy = Lazy { name: "crypto", build: |ctx, vu| member(ctx, vu, "crypto") };

pub(crate) const CRYPTO_KEY: Lazy = Lazy { name: "CryptoKey", build: |ctx, vu| member(ctx, vu, "CryptoKey") };

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

/// Made once per VU, whoever asks first: keys must be of one class.
fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let made = SUBTLE.run(ctx, vu, natives::ALL)?;
    made.into_object().ok_or(rquickjs::Error::Exception)
}

fn member<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, name: &str) -> rquickjs::Result<Value<'js>> {
    modules::object(ctx, vu, MODULE.name)?.get(name)
}
