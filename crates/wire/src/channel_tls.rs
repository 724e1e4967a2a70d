//! Certificates of one connection.

use model::plan::ClientCertificate;

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
