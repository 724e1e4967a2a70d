//! `k6/ws` and `k6/websockets`: two faces of the same connections.

mod browser;
mod legacy;
mod open;
mod params;
mod session;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

pub(crate) use browser::{EXPERIMENTAL, MODULE};
pub(crate) use legacy::MODULE as LEGACY_MODULE;
use rquickjs::Value;
use session::Session;

use crate::js::{self, Args};

/// Sockets open at once in one VU. A script that opens more leaks them.
const SOCKETS_MAX: usize = 10_000;

/// The open sockets of one VU.
#[derive(Default)]
pub(crate) struct WebSockets {
    open: RefCell<Vec<(u32, Rc<Session>)>>,
    last_id: Cell<u32>,
}

impl WebSockets {
    /// Keeps a session; gives its number for JavaScript, or `None` when there are too many.
    fn add(&self, session: Rc<Session>) -> Option<u32> {
        let mut open = self.open.borrow_mut();
        if open.len() >= SOCKETS_MAX {
            return None;
        }
        self.last_id.set(self.last_id.get().wrapping_add(1));
        open.push((self.last_id.get(), session));
        Some(self.last_id.get())
    }

    fn get(&self, id: u32) -> Option<Rc<Session>> {
        self.open.borrow().iter().find(|(known, _)| *known == id).map(|(_, session)| session.clone())
    }

    fn remove(&self, id: u32) {
        self.open.borrow_mut().retain(|(known, _)| *known != id);
    }

    /// Says goodbye on every socket that is open: the iteration is over.
    pub(crate) fn end_all(&self) {
        let open = std::mem::take(&mut *self.open.borrow_mut());
        for (_, session) in open {
            session.cut_off();
        }
    }
}

/// The number that argument 0 is.
fn id_of(args: &Args<'_, '_>) -> Option<u32> {
    args.get(0).as_number().map(|id| id as u32)
}

/// The session that argument 0 names; `None` once it is over.
fn session_of(args: &Args<'_, '_>) -> Option<Rc<Session>> {
    args.vu.websockets.get(id_of(args)?)
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

/// What a script sends: text, or bytes.
fn payload_of<'js>(
    args: &Args<'_, 'js>,
    value: &Value<'js>,
) -> rquickjs::Result<(wire::MessageKind, Vec<u8>)> {
    if value.is_string() {
        return Ok((wire::MessageKind::Text, js::to_string(args.ctx, value)?.into_bytes()));
    }
    let bytes = match js::bytes_of(value) {
        Some(bytes) => Some(bytes),
        None => crate::globals::blob::bytes_of(args.vu, value)?,
    };
    match bytes {
        Some(bytes) => Ok((wire::MessageKind::Binary, bytes)),
        None => Err(args.error(format!("unsupported send type {}", value.type_name()))),
    }
}
