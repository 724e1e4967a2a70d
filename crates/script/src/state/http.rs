//! The HTTP state of one VU: connections, cookies, the response callback.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use rquickjs::{Persistent, Value};
use wire::CookieJar;

use super::kinds::Kind;
use super::{VuBinding, VuState};

/// HTTP state of one VU.
#[derive(Default)]
pub(crate) struct HttpState {
    client: OnceCell<Rc<wire::Client>>,
    pub(crate) jar: RefCell<SharedJar>,
    pub(crate) callback: RefCell<ResponseCallback>,
    pub(crate) responses: Kind,
    pub(crate) sent_text: RefCell<Option<SentText>>,
    user_agent: OnceCell<Option<Arc<str>>>,
}

impl HttpState {
    /// Gives the VU its connections.
    pub(crate) fn connect(&self, binding: &VuBinding) {
        let client = wire::Client::new(binding.run.network.clone(), binding.id_in_test);
        let _ = self.client.set(Rc::new(client));
        let _ = self.user_agent.set(binding.run.plan.http.user_agent.as_deref().map(of_worker));
    }

    /// The User-Agent of requests whose script names none.
    pub(crate) fn user_agent(&self) -> Option<Arc<str>> {
        self.user_agent.get().cloned().flatten()
    }

    /// Drops the cookies of the previous iteration, unless the options keep them.
    pub(crate) fn begin_iteration(&self, vu: &VuState) {
        let keeps = vu.plan().is_some_and(|plan| plan.http.no_cookies_reset);
        if !keeps && !self.jar.borrow().is_fresh() {
            *self.jar.borrow_mut() = SharedJar::default();
        }
    }

    /// Closes connections where the options forbid their reuse by the next iteration.
    pub(crate) fn end_iteration(&self, vu: &VuState) {
        if let Some(client) = self.client.get()
            && vu.plan().is_some_and(|plan| plan.http.no_vu_connection_reuse)
        {
            client.close_idle();
        }
    }

    /// The VU's connections; only the very first init has none.
    pub(crate) fn client(&self) -> Option<&Rc<wire::Client>> {
        self.client.get()
    }

    /// The VU's own cookies.
    pub(crate) fn jar(&self) -> SharedJar {
        self.jar.borrow().clone()
    }

    /// Bytes on the wire since the last call: sent, received.
    pub(crate) fn take_bytes(&self) -> (u64, u64) {
        self.client.get().map_or((0, 0), |client| client.take_bytes())
    }

    /// Drops what holds JavaScript values.
    pub(crate) fn forget_values(&self) {
        self.responses.forget_values();
        self.sent_text.take();
    }
}

/// The large text that a VU sent last, once requests send it again. The same string of the engine need not be read a second time.
pub(crate) struct SentText {
    pub(crate) address: usize,
    /// Keeps the string, and so its address.
    pub(crate) _text: Persistent<Value<'static>>,
    pub(crate) bytes: Bytes,
}

/// A cookie jar shared by a VU, a script and requests under way.
#[derive(Clone, Default)]
pub(crate) struct SharedJar(Rc<RefCell<CookieJar>>);

impl SharedJar {
    /// Whether the jar is empty and not shared: as good as a new one.
    pub(crate) fn is_fresh(&self) -> bool {
        Rc::strong_count(&self.0) == 1 && self.0.borrow().is_empty()
    }

    /// The cookies themselves.
    pub(crate) fn cookies(&self) -> &RefCell<CookieJar> {
        &self.0
    }
}

/// The response callback: decides whether a response is a failure.
#[derive(Clone, Debug)]
pub(crate) enum ResponseCallback {
    /// Statuses in these ranges, bounds included, are successes.
    Statuses(Rc<[(u16, u16)]>),
    /// No callback: no `http_req_failed`, no tag `expected_response`.
    Off,
}

impl Default for ResponseCallback {
    fn default() -> ResponseCallback {
        ResponseCallback::Statuses(Rc::new([(200, 399)]))
    }
}

impl ResponseCallback {
    /// Whether `status` was expected; `None` without a callback.
    pub(crate) fn expects(&self, status: u16) -> Option<bool> {
        match self {
            ResponseCallback::Statuses(ranges) => {
                Some(ranges.iter().any(|(min, max)| (*min..=*max).contains(&status)))
            }
            ResponseCallback::Off => None,
        }
    }
}

thread_local! {
    static USER_AGENT: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// This worker thread's copy of a text. Each request counts a reference to it, and threads that write one count wait for each other.
fn of_worker(text: &str) -> Arc<str> {
    USER_AGENT.with_borrow_mut(|known| match known {
        Some(known) if **known == *text => known.clone(),
        _ => known.insert(text.into()).clone(),
    })
}
