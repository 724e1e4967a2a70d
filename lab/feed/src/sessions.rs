//! Login sessions.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

/// The session cookie.
pub(crate) const COOKIE: &str = "session";

/// Sessions that are kept; the oldest is evicted for the next.
const KEPT_MAX: usize = 10_000;

/// All sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    users: HashMap<String, usize>,
    order: VecDeque<String>,
    count: usize,
}

impl Sessions {
    /// Begins a session and returns the value of its cookie.
    pub(crate) fn begin(&self) -> String {
        let token = format!("{:032x}", fastrand::u128(..));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.count += 1;
        let user = known.count;
        known.users.insert(token.clone(), user);
        known.order.push_back(token.clone());
        if known.order.len() > KEPT_MAX
            && let Some(oldest) = known.order.pop_front()
        {
            known.users.remove(&oldest);
        }
        token
    }

    /// Whose cookies these are (RFC 6265, 5.4).
    pub(crate) fn user(&self, cookies: &str) -> Option<usize> {
        let mut pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        let (_, token) = pairs.find(|(name, _)| *name == COOKIE)?;
        self.known.lock().unwrap_or_else(PoisonError::into_inner).users.get(token).copied()
    }
}
