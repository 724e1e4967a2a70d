//! `k6/ws` and `k6/websockets`: two faces of the same connections.

mod browser;
mod legacy;
mod open;
mod params;
mod session;

use std::rc::Rc;

pub(crate) use browser::{EXPERIMENTAL, MODULE};
pub(crate) use legacy::MODULE as LEGACY_MODULE;
use rquickjs::Value;
use session::Session;

use crate::js::{self, Args};

/// The number that argument 0 is.
fn id_of(args: &Args<'_, '_>) -> Option<u32> {
    args.get(0).as_number().map(|id| id as u32)
}

/// The session that argument 0 names; `None` once it is over.
fn session_of(args: &Args<'_, '_>) -> Option<Rc<Session>> {
    args.vu.streams.get(id_of(args)?)
}

/// `fail(text)`: throws an error of the host's own.
fn fail<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    Err(args.error(args.string(0)?))
}

/// `ping(id)`
fn ping<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if let Some(session) = session_of(args) {
        session.ping();
    }
    args.undefined()
}

/// Shows the payload that a script sends: text, or bytes.
fn with_payload<'js, T>(
    args: &Args<'_, 'js>,
    value: &Value<'js>,
    take: impl FnOnce(wire::MessageKind, &[u8]) -> T,
) -> rquickjs::Result<T> {
    if value.is_string() {
        return js::with_text(args.ctx, value, |text| take(wire::MessageKind::Text, text.as_bytes()));
    }
    let bytes = match js::bytes_of(value) {
        Some(bytes) => Some(bytes),
        None => crate::globals::blob::bytes_of(args.vu, value)?,
    };
    match bytes {
        Some(bytes) => Ok(take(wire::MessageKind::Binary, &bytes)),
        None => Err(args.error(format!("unsupported send type {}", value.type_name()))),
    }
}
