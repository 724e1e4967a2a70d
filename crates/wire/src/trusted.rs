//! Servers that show a trusted authority's own certificate, as `openssl req -x509` makes them.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::staple;

/// Verifies as webpki does, and accepts an authority's certificate as a server's where that very authority is trusted.
///
/// webpki never takes an authority for a server. Go, and so k6, does, and so do those who trust the one certificate of
/// their own test server.
#[derive(Debug)]
pub(crate) struct Trusting {
    roots: Arc<RootCertStore>,
    webpki: Arc<WebPkiServerVerifier>,
}

impl Trusting {
    /// # Errors
    /// There are no roots.
    pub(crate) fn new(roots: RootCertStore, provider: Arc<CryptoProvider>) -> Result<Trusting, Error> {
        let roots = Arc::new(roots);
        let webpki = WebPkiServerVerifier::builder_with_provider(roots.clone(), provider).build();
        Ok(Trusting { roots, webpki: webpki.map_err(|why| Error::General(why.to_string()))? })
    }

    /// Whether the certificate is one of the roots: has the name, the key and the limits of one.
    fn is_root(&self, certificate: &CertificateDer<'_>) -> bool {
        let mut alone = RootCertStore::empty();
        alone.add(certificate.clone().into_owned()).is_ok()
            && alone.roots.iter().all(|anchor| self.roots.roots.contains(anchor))
    }
}

/// Whether the only fault is that the certificate is an authority's. webpki looks at the dates before that.
pub(crate) fn is_authority(why: &CertificateError) -> bool {
    let CertificateError::Other(other) = why else { return false };
    other.0.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity)
}

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        staple::note(ocsp_response);
        let verified =
            self.webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            Err(Error::InvalidCertificate(why)) if is_authority(&why) && self.is_root(end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}
