//! How evenly requests come from the proxies.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// The requests that are looked at: the last so many.
const WINDOW: usize = 45;

/// A proxy that sends more than this times its share sends too much.
const SHARE_MAX: f64 = 1.5;

/// Where the last requests came from.
#[derive(Debug)]
pub(crate) struct Balance {
    proxies: usize,
    recent: Mutex<VecDeque<usize>>,
}

impl Balance {
    pub(crate) fn new(proxies: usize) -> Balance {
        Balance { proxies: proxies.max(1), recent: Mutex::default() }
    }

    /// Notes a request; whether its proxy sends too much.
    pub(crate) fn is_uneven(&self, proxy: usize) -> bool {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push_back(proxy);
        if recent.len() <= WINDOW {
            return false;
        }
        recent.pop_front();
        let own = recent.iter().filter(|from| **from == proxy).count();
        own as f64 > SHARE_MAX * WINDOW as f64 / self.proxies as f64
    }
}
