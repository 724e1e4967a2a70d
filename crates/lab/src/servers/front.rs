//! NGINX in front of a system: its users go to it, and it passes them on.

use super::{NGINX, Offer, Place, Server, nginx};
use crate::error::LabError;
use crate::process::Launch;

/// An NGINX that a system is reached through.
#[derive(Debug)]
pub struct Front {
    /// Its configuration, once the ports of the lab are known.
    pub site: fn(&Place) -> Site,
}

/// Settings of an NGINX beside those that every one of the lab has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Lines of its `http` block: what it passes requests on to.
    pub http: String,
    /// Lines of its `server` block: which requests, and how.
    pub server: String,
}

impl Server for Front {
    fn name(&self) -> &'static str {
        NGINX.name()
    }

    fn package(&self) -> &'static str {
        NGINX.package()
    }

    fn program(&self) -> &'static str {
        NGINX.program()
    }

    fn is_front(&self) -> bool {
        true
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let Site { http, server } = (self.site)(place);
        nginx::prepare(self, place, &nginx::settings(place.ports[0], &http, &server))
    }

    fn is_ready(&self, place: &Place) -> bool {
        nginx::is_ready(&self.url(place))
    }

    fn url(&self, place: &Place) -> String {
        NGINX.url(place)
    }

    fn offer(&self, place: &Place) -> Option<Offer> {
        NGINX.offer(place)
    }
}
