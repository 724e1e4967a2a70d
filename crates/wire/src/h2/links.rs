//! A client's HTTP/2 connections.

use tokio::sync::Notify;

use super::limits::LINKS_MAX;
use super::link::Link;
use crate::target::Target;

/// The connections that a client's exchanges share.
#[derive(Default)]
pub(crate) struct Links {
    links: Vec<Link>,
    arrived: std::rc::Rc<Notify>,
}

impl Links {
    /// The first connection to `target`'s origin of which `choose` makes something; ended ones on the way are
    /// forgotten.
    pub(crate) fn find<T>(&mut self, target: &Target, choose: impl Fn(&Link) -> Option<T>) -> Option<T> {
        if self.links.is_empty() {
            return None;
        }
        self.links.retain_mut(Link::is_open);
        self.links.iter().filter(|link| link.target().is_same_origin(target)).find_map(choose)
    }

    /// Keeps `link`, and wakes the exchanges that are connecting to its origin.
    pub(crate) fn put(&mut self, link: Link) {
        if self.links.len() < LINKS_MAX {
            self.links.push(link);
            self.arrived.notify_waiters();
        }
    }

    /// Is notified when a connection is put in.
    pub(crate) fn arrivals(&self) -> std::rc::Rc<Notify> {
        self.arrived.clone()
    }

    /// Forgets the connections to `target`'s origin: they end with the exchanges that they carry.
    pub(crate) fn forget(&mut self, target: &Target) {
        self.links.retain(|link| !link.target().is_same_origin(target));
    }

    /// Forgets them all.
    pub(crate) fn clear(&mut self) {
        self.links.clear();
    }
}
