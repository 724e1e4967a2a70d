//! The HTTP state of one VU: connections, cookies, the response callback.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use wire::CookieJar;

use super::{VuBinding, VuState};
use crate::http::body::SentText;
use crate::js::lazy::Kind;

/// HTTP state of one VU.
#[derive(Default)]
pub(crate) struct HttpState {
    client: OnceCell<Rc<wire::Client>>,
    pub(crate) jar: RefCell<SharedJar>,
    pub(crate) callback: RefCell<ResponseCallback>,
    pub(crate) responses: Kind,
    pub(crate) sent_text: RefCell<Option<SentText>>,
}

impl HttpState {
    /// Gives the VU its connections.
    pub(crate) fn connect(&self, binding: &VuBinding) {
        let client = wire::Client::new(binding.run.network.clone(), binding.id_in_test);
        let _ = self.client.set(Rc::new(client));
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
