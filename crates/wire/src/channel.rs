//! An HTTP/2 connection for calls that stream in both directions and end with trailers.

use std::cell::RefCell;
use std::fmt;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE, USER_AGENT};
use http::uri::{Authority, PathAndQuery, Scheme};
use model::plan::ClientCertificate;
use model::{Instant, SystemClock};
use rustls::ClientConfig;

use crate::client::Client;
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::h2::Link;
pub use crate::h2::{Call, CallEvent};
use crate::target::Target;
use crate::trace::Trace;

/// Where a channel leads, and how.
#[derive(Clone, Debug)]
pub struct ChannelSettings {
    /// The address; `https` for TLS, `http` for HTTP/2 by prior knowledge.
    pub target: Target,
    /// In place of the address as `:authority` and as the name in the server's certificate.
    pub authority: Option<String>,
    /// Certificates of its own.
    pub tls: ChannelTls,
}

/// Certificates of a channel's own; what is not here is as the options say.
#[derive(Clone, Debug, Default)]
pub struct ChannelTls {
    /// The client's certificate.
    pub certificate: Option<ClientCertificate>,
    /// Certificates of authorities as PEM texts, in place of the system's.
    pub authorities: Vec<String>,
}

impl ChannelTls {
    pub(crate) fn is_empty(&self) -> bool {
        self.certificate.is_none() && self.authorities.is_empty()
    }
}

/// What a call begins with.
#[derive(Clone, Debug)]
pub struct CallHead {
    /// `/package.Service/Method`
    pub path: String,
    /// The content type.
    pub content_type: &'static str,
    /// The `User-Agent`.
    pub user_agent: Option<Arc<str>>,
    /// Further fields, with names in lower case.
    pub fields: Vec<(String, String)>,
}

/// A connection for calls. Where it has ended, the next call opens it again.
pub struct Channel {
    client: Rc<Client>,
    settings: ChannelSettings,
    name: String,
    authority: Authority,
    tls: Option<Arc<ClientConfig>>,
    link: RefCell<Option<Link>>,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("authority", &self.authority).finish_non_exhaustive()
    }
}

impl Channel {
    /// Opens a connection by `deadline`.
    ///
    /// # Errors
    /// It cannot be opened, or not in time, or a certificate cannot be used.
    pub async fn connect(
        client: &Rc<Client>,
        settings: ChannelSettings,
        deadline: Instant,
    ) -> Result<Channel, Error> {
        let authority = settings.authority.as_deref().unwrap_or(settings.target.authority());
        let authority = Authority::try_from(authority).map_err(|_| invalid("authority", authority))?;
        let name = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let tls = match settings.target.is_tls() {
            true => Some(Arc::new(client.shared().tls.config_for_calls(&name, &settings.tls)?)),
            false => None,
        };
        let channel =
            Channel { client: client.clone(), name, authority, tls, link: RefCell::default(), settings };
        channel.dial(deadline).await?;
        Ok(channel)
    }

    /// The other end, where the connection is open.
    pub fn remote(&self) -> Option<SocketAddr> {
        self.link.borrow().as_ref().map(|link| link.remote)
    }

    /// Ends the connection once the calls on it are over.
    pub fn close(&self) {
        self.link.borrow_mut().take();
    }

    /// Begins a call; opens the connection again where it has ended.
    ///
    /// # Errors
    /// There is no connection, or a field cannot be sent.
    pub async fn call(&self, head: &CallHead, deadline: Instant) -> Result<Call, Error> {
        let message = self.message(head)?;
        if !self.link.borrow_mut().as_mut().is_some_and(Link::is_open) {
            self.dial(deadline).await?;
        }
        let slot = self.link.borrow().as_ref().map(Link::first_slot);
        let slot = slot.ok_or_else(|| invalid("connection", "closed"))?;
        Call::open(slot, message)
    }

    async fn dial(&self, deadline: Instant) -> Result<(), Error> {
        let trace = Trace::new(SystemClock::now());
        let dialer = self.client.dialer(self.tls.clone());
        // Boxed, because it is rare and large: calls live on a VU's stack.
        let mut dialed = Box::pin(dialer.dial_link(&self.settings.target, &self.name, &trace));
        let outcome = self.client.limit(deadline, dialed.as_mut()).await;
        drop(dialed);
        let link = outcome.unwrap_or_else(|| Err(Error::timed_out(trace.stage())))?;
        self.link.replace(Some(link));
        Ok(())
    }

    fn message(&self, head: &CallHead) -> Result<http::Request<()>, Error> {
        let mut headers = HeaderMap::with_capacity(head.fields.len() + 3);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(head.content_type));
        headers.insert(TE, HeaderValue::from_static("trailers"));
        if let Some(user_agent) = &head.user_agent {
            headers.insert(USER_AGENT, value_of("user-agent", user_agent)?);
        }
        for (name, value) in &head.fields {
            let known =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("header field name", name))?;
            headers.append(known, value_of(name, value)?);
        }
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(if self.tls.is_some() { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Some(self.authority.clone());
        let path = PathAndQuery::try_from(head.path.as_str()).map_err(|_| invalid("path", &head.path))?;
        parts.path_and_query = Some(path);
        let mut message = http::Request::new(());
        *message.method_mut() = http::Method::POST;
        *message.uri_mut() = http::Uri::from_parts(parts).map_err(|_| invalid("path", &head.path))?;
        *message.headers_mut() = headers;
        Ok(message)
    }
}

fn value_of(name: &str, value: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(value).map_err(|_| invalid("value of header field", name))
}

fn invalid(what: &str, text: &str) -> Error {
    Error::new(ErrorCode::OTHER, Stage::Prepare, Kind::Invalid, format!("invalid {what} {text:?}"))
}

#[cfg(test)]
mod tests;
