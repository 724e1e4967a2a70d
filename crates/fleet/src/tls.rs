//! TLS between hub and agents: the hub makes a certificate for the run, and agents know it by its SHA-256 in the token file.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, ServerConfig, SignatureScheme};
use sha2::{Digest, Sha256};

/// The name in the certificate; agents check the certificate itself.
pub(crate) const NAME: &str = "plimsoll-hub";

/// A hub's certificate, with its key.
#[derive(Clone, Debug)]
pub struct HubCertificate {
    pub(crate) config: Arc<ServerConfig>,
    /// SHA-256 of the certificate.
    pub sha256: [u8; 32],
}

/// The certificate of a hub could not be made.
#[derive(Debug, thiserror::Error)]
pub enum CertificateMaking {
    /// The key or the certificate.
    #[error("make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The configuration.
    #[error("make a certificate: {0}")]
    Config(#[from] Error),
}

impl HubCertificate {
    /// Makes a key and a certificate for one run.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn generate() -> Result<HubCertificate, CertificateMaking> {
        let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])?;
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let sha256 = Sha256::digest(&certificate).into();
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)?;
        Ok(HubCertificate { config: Arc::new(config), sha256 })
    }
}

impl HubCertificate {
    /// Encrypts connections of others with this certificate.
    pub fn acceptor(&self) -> tokio_rustls::TlsAcceptor {
        self.config.clone().into()
    }
}

/// The configuration of an agent that expects this certificate.
///
/// # Errors
/// The provider has no protocol version.
pub(crate) fn client(sha256: [u8; 32]) -> Result<Arc<ClientConfig>, Error> {
    let verifier = Arc::new(Pinned { sha256, provider: provider() });
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// Accepts one certificate. Names, times and authorities say nothing about a certificate that exists for one run.
#[derive(Debug)]
struct Pinned {
    sha256: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if Sha256::digest(certificate)[..] == self.sha256 {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
