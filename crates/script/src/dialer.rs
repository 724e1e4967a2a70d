//! Connections of other protocols than HTTP, made as those of the VU's requests.

use std::rc::Rc;

use datastore::{BoxStream, Dial, Tls};
use futures_util::future::LocalBoxFuture;
use model::plan::ClientCertificate;
use wire::StreamTls;

use crate::state::VuState;

/// Why nothing is dialed before a VU runs.
const TOO_EARLY: &str = "connections cannot be opened in the init context";

/// Makes the connections of one VU.
pub(crate) struct VuDialer(pub(crate) Rc<VuState>);

impl VuDialer {
    fn client(&self) -> Result<&wire::Client, String> {
        self.0.http.client().map(Rc::as_ref).ok_or_else(|| TOO_EARLY.to_owned())
    }
}

impl Dial for VuDialer {
    fn open<'a>(&'a self, host: &'a str, port: u16) -> LocalBoxFuture<'a, Result<BoxStream, String>> {
        Box::pin(async move {
            let opened = self.client()?.open_stream(host, port).await;
            let stream = opened.map_err(|error| error.story().to_owned())?;
            Ok(Box::new(stream) as BoxStream)
        })
    }

    fn encrypt<'a>(
        &'a self,
        stream: BoxStream,
        host: &'a str,
        tls: &'a Tls,
    ) -> LocalBoxFuture<'a, Result<BoxStream, String>> {
        Box::pin(async move {
            let certificate = tls.identity.clone().map(|(cert, key)| ClientCertificate {
                cert,
                key,
                password: None,
                domains: Vec::new(),
            });
            let own = StreamTls {
                authorities: tls.authorities.clone(),
                certificate,
                accepts_anyone: tls.accepts_anyone,
            };
            let encrypted = self.client()?.encrypt(stream, host, &own).await;
            let stream = encrypted.map_err(|error| error.story().to_owned())?;
            Ok(Box::new(stream) as BoxStream)
        })
    }
}
