//! Certificates for test servers: valid ones, and each of the usual ways to be invalid.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};

/// What is right or wrong with a server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Good for `localhost`, `127.0.0.1` and `::1`, signed by the CA in [`TlsFiles::ca`].
    Valid,
    /// Expired yesterday.
    Expired,
    /// Good for `wrong.example` only.
    WrongHost,
    /// Signed by itself.
    SelfSigned,
    /// Signed by a CA other than the one in [`TlsFiles::ca`].
    UnknownCa,
    /// Valid, and asks for a client certificate of the same CA.
    ClientCertificate,
}

/// Every identity with its name on the command line.
pub const IDENTITIES: [(&str, Identity); 6] = [
    ("valid", Identity::Valid),
    ("expired", Identity::Expired),
    ("wrong-host", Identity::WrongHost),
    ("self-signed", Identity::SelfSigned),
    ("unknown-ca", Identity::UnknownCa),
    ("client-certificate", Identity::ClientCertificate),
];

/// PEM files that live as long as their server.
#[derive(Debug)]
pub struct TlsFiles {
    directory: TempDir,
}

impl TlsFiles {
    /// The CA, for `SSL_CERT_FILE`.
    pub fn ca(&self) -> PathBuf {
        self.directory.path().join("ca.pem")
    }

    /// A client certificate that the CA signed.
    pub fn client_certificate(&self) -> PathBuf {
        self.directory.path().join("client.pem")
    }

    /// The key of the client certificate (PKCS #8).
    pub fn client_key(&self) -> PathBuf {
        self.directory.path().join("client-key.pem")
    }
}

/// Why a server has no identity.
#[derive(Debug)]
pub enum TlsError {
    /// The certificates could not be made.
    Certificate(rcgen::Error),
    /// The files could not be written.
    Files(std::io::Error),
    /// rustls refused them.
    Config(String),
}

impl std::fmt::Display for TlsError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TlsError::Certificate(error) => write!(formatter, "make a certificate: {error}"),
            TlsError::Files(error) => write!(formatter, "write the certificate files: {error}"),
            TlsError::Config(error) => write!(formatter, "set up TLS: {error}"),
        }
    }
}

impl std::error::Error for TlsError {}

impl From<rcgen::Error> for TlsError {
    fn from(error: rcgen::Error) -> TlsError {
        TlsError::Certificate(error)
    }
}

impl From<std::io::Error> for TlsError {
    fn from(error: std::io::Error) -> TlsError {
        TlsError::Files(error)
    }
}

/// Makes fresh certificates and the server's configuration (HTTP/1.1, TLS 1.2 and 1.3).
pub(crate) fn make(identity: Identity) -> Result<(Arc<ServerConfig>, TlsFiles), TlsError> {
    let ca = authority("Plimsoll test CA")?;
    let key = KeyPair::generate()?;
    let leaf = leaf_params(identity)?;
    let certificate = match identity {
        Identity::SelfSigned => leaf.self_signed(&key)?,
        Identity::UnknownCa => leaf.signed_by(&key, &*authority("Some other CA")?)?,
        _ => leaf.signed_by(&key, &ca)?,
    };
    let files = write_files(&ca)?;

    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config_error = |error: &dyn std::fmt::Display| TlsError::Config(error.to_string());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| config_error(&error))?;
    let builder = match identity {
        Identity::ClientCertificate => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from(ca.der().to_vec())).map_err(|error| config_error(&error))?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(|error| config_error(&error))?;
            builder.with_client_cert_verifier(verifier)
        }
        _ => builder.with_no_client_auth(),
    };
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = builder
        .with_single_cert(vec![certificate.der().clone()], key)
        .map_err(|error| config_error(&error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((Arc::new(config), files))
}

fn authority(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn leaf_params(identity: Identity) -> Result<CertificateParams, rcgen::Error> {
    let names: &[&str] = match identity {
        Identity::WrongHost => &["wrong.example"],
        _ => &["localhost", "127.0.0.1", "::1"],
    };
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
    params.distinguished_name.push(DnType::CommonName, names[0]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::days(30);
    params.not_after =
        if identity == Identity::Expired { now - Duration::days(1) } else { now + Duration::days(30) };
    Ok(params)
}

fn write_files(ca: &CertifiedIssuer<'_, KeyPair>) -> Result<TlsFiles, TlsError> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "plimsoll test client");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, ca)?;

    let files = TlsFiles { directory: tempfile::Builder::new().prefix("testkit-tls-").tempdir()? };
    std::fs::write(files.ca(), ca.pem())?;
    std::fs::write(files.client_certificate(), certificate.pem())?;
    std::fs::write(files.client_key(), key.serialize_pem())?;
    Ok(files)
}
