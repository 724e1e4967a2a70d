//! The host's modules. One file each, one line each in [`ALL`].

mod crypto;
mod csv;
mod data;
mod encoding;
mod execution;
mod foreign;
mod fs;
mod html;
mod k6;
mod metrics;
mod secrets;
mod streams;
mod timers;
mod x509;

use std::rc::Rc;

pub(crate) use self::crypto::RunningHash;
pub(crate) use self::html::{Nodes, fail, resolve, select_page};
pub(crate) use fs::PART as FS;
pub(crate) use k6::{CheckTags, sleep};
use rquickjs::{Ctx, Exception, Object, Persistent};

use crate::state::VuState;

/// A module of the host: an object whose properties are the module's exports, made once per VU that imports it.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) build: for<'js> fn(&Ctx<'js>, &Rc<VuState>) -> rquickjs::Result<Object<'js>>,
}

/// All of them.
const ALL: &[Builtin] = &[
    k6::MODULE,
    data::MODULE,
    encoding::MODULE,
    execution::MODULE,
    html::MODULE,
    crate::http::MODULE,
    metrics::MODULE,
    timers::MODULE,
    crypto::MODULE,
    x509::MODULE,
    crate::webcrypto::MODULE,
    csv::MODULE,
    fs::MODULE,
    secrets::MODULE,
    streams::MODULE,
    crate::websocket::LEGACY_MODULE,
    crate::websocket::MODULE,
    crate::websocket::EXPERIMENTAL,
    crate::flow::MODULE,
];

/// Whether a specifier names a module of the host, of those there are or not.
pub(crate) fn is_builtin_name(specifier: &str) -> bool {
    ["k6", "plimsoll"].contains(&specifier.split_once('/').map_or(specifier, |(first, _)| first))
}

/// The module's own name, or a text that says which ones there are.
pub(crate) fn find(name: &str) -> Result<&'static str, String> {
    if let Some(module) = ALL.iter().find(|module| module.name == name) {
        return Ok(module.name);
    }
    if let Some(advice) = foreign::advice(name) {
        return Err(format!("\"{name}\" is not supported: {advice}"));
    }
    let names: Vec<&str> = ALL.iter().map(|module| module.name).collect();
    Err(format!("unknown module: {name}; available: {}", names.join(", ")))
}

/// The module's object in this VU.
pub(crate) fn object<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>, name: &str) -> rquickjs::Result<Object<'js>> {
    let Some(module) = ALL.iter().find(|module| module.name == name) else {
        return Err(Exception::throw_message(ctx, &format!("unknown module: {name}")));
    };
    if let Some(object) = vu.builtin_objects.borrow().get(module.name).cloned() {
        return object.restore(ctx);
    }
    let object = (module.build)(ctx, vu)?;
    vu.builtin_objects.borrow_mut().insert(module.name, Persistent::save(ctx, object.clone()));
    Ok(object)
}
