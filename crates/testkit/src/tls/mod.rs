//! Certificates for test servers: valid ones, and each of the usual ways to be invalid.

mod any_host;

use std::path::PathBuf;
use std::sync::Arc;

use any_host::AnyHost;
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use time::{Duration, OffsetDateTime};

/// The validity of a server's certificate, or its fault.
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
    /// Good for whatever host the client names, signed by the CA in [`TlsFiles::ca`].
    AnyHost,
}

/// Every identity with its name on the command line.
pub const IDENTITIES: [(&str, Identity); 7] = [
    ("valid", Identity::Valid),
    ("expired", Identity::Expired),
    ("wrong-host", Identity::WrongHost),
    ("self-signed", Identity::SelfSigned),
    ("unknown-ca", Identity::UnknownCa),
    ("client-certificate", Identity::ClientCertificate),
    ("any-host", Identity::AnyHost),
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

/// HTTP/2 in ALPN.
pub(crate) const HTTP2: &[u8] = b"h2";

/// The names of this machine.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Makes fresh certificates and the server's configuration (TLS 1.2 and 1.3, HTTP/1.1 and perhaps HTTP/2).
pub(crate) fn make(
    identity: Identity,
    speaks_http2: bool,
) -> Result<(Arc<ServerConfig>, TlsFiles), TlsError> {
    let ca = authority("Plimsoll test CA")?;
    let key = KeyPair::generate()?;
    let files = write_files(&ca)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsError::Config(error.to_string()))?;
    let builder = match identity {
        Identity::ClientCertificate => {
            builder.with_client_cert_verifier(client_verifier(&ca, Arc::clone(&provider))?)
        }
        _ => builder.with_no_client_auth(),
    };

    let local = |expired| leaf_params(&LOCAL_NAMES, expired);
    let leaf = match identity {
        Identity::AnyHost => None,
        Identity::SelfSigned => Some(local(false)?.self_signed(&key)?),
        Identity::UnknownCa => Some(local(false)?.signed_by(&key, &*authority("Some other CA")?)?),
        Identity::WrongHost => Some(leaf_params(&["wrong.example"], false)?.signed_by(&key, &ca)?),
        Identity::Expired => Some(local(true)?.signed_by(&key, &ca)?),
        Identity::Valid | Identity::ClientCertificate => Some(local(false)?.signed_by(&key, &ca)?),
    };
    let resolver: Arc<dyn ResolvesServerCert> = match leaf {
        Some(leaf) => Arc::new(SingleCertAndKey::from(certified_key(&leaf, &key, &provider)?)),
        None => Arc::new(AnyHost::new(ca, key, provider)?),
    };
    let mut config = builder.with_cert_resolver(resolver);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    if speaks_http2 {
        config.alpn_protocols.insert(0, HTTP2.to_vec());
    }
    Ok((Arc::new(config), files))
}

fn client_verifier(
    ca: &CertifiedIssuer<'_, KeyPair>,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    roots.add(ca.der().clone()).map_err(|error| TlsError::Config(error.to_string()))?;
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| TlsError::Config(error.to_string()))
}

fn certified_key(
    leaf: &Certificate,
    key: &KeyPair,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, TlsError> {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    CertifiedKey::from_der(vec![leaf.der().clone()], key, provider)
        .map_err(|error| TlsError::Config(error.to_string()))
}

fn authority(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn leaf_params(names: &[&str], expired: bool) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())?;
    params.distinguished_name.push(DnType::CommonName, names[0]);
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let now = OffsetDateTime::now_utc();
    params.not_before = now - Duration::days(30);
    params.not_after = if expired { now - Duration::days(1) } else { now + Duration::days(30) };
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

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::path::Path;

    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, StreamOwned};

    use super::*;
    use crate::Server;
    use crate::http::start_tls;

    /// The result for a client that checks certificates: a status line, or the reason for its refusal.
    fn ask(server: &Server, host: &str, with_certificate: bool) -> Result<String, String> {
        let files = server.tls_files().expect("TLS files");
        let mut roots = RootCertStore::empty();
        roots.add(certificate(&files.ca())).expect("a root");
        let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("protocol versions")
            .with_root_certificates(roots);
        let config = if with_certificate {
            let key = PrivateKeyDer::from_pem_file(files.client_key()).expect("a key");
            builder
                .with_client_auth_cert(vec![certificate(&files.client_certificate())], key)
                .expect("a client")
        } else {
            builder.with_no_client_auth()
        };
        let name = ServerName::try_from(host.to_owned()).expect("a host");
        let session = ClientConnection::new(Arc::new(config), name).expect("a session");
        let socket = TcpStream::connect(server.address()).expect("connect");
        let mut stream = StreamOwned::new(session, socket);
        let exchange = |stream: &mut StreamOwned<_, _>| {
            stream.write_all(b"GET /status/204 HTTP/1.1\r\nconnection: close\r\n\r\n")?;
            let mut text = String::new();
            stream.read_to_string(&mut text).map(|_| text)
        };
        let text = exchange(&mut stream).map_err(|error| error.to_string())?;
        Ok(text.lines().next().unwrap_or_default().to_owned())
    }

    fn certificate(file: &Path) -> CertificateDer<'static> {
        CertificateDer::from_pem_file(file).expect("a certificate")
    }

    #[track_caller]
    fn check(identity: Identity, host: &str, with_certificate: bool, expect: Result<&str, &str>) {
        let server = start_tls(identity);
        match (ask(&server, host, with_certificate), expect) {
            (Ok(got), Ok(expect)) => assert_eq!(got, expect, "{identity:?}"),
            (Err(got), Err(part)) => assert!(got.contains(part), "{identity:?}: {got}"),
            (got, _) => panic!("{identity:?}: {got:?}"),
        }
        let failed = u64::from(expect.is_err());
        for _ in 0..1000 {
            if server.seen().handshakes_failed == failed {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(server.seen().handshakes_failed, failed, "{identity:?}");
        assert_eq!(server.seen().total, 1 - failed, "{identity:?}");
    }

    #[test]
    fn identities_are_good_and_bad_as_named() {
        let fine = Ok("HTTP/1.1 204 No Content");
        check(Identity::Valid, "localhost", false, fine);
        check(Identity::Valid, "127.0.0.1", false, fine);
        check(Identity::Valid, "wrong.example", false, Err("not valid for name"));
        check(Identity::Expired, "localhost", false, Err("expired"));
        check(Identity::WrongHost, "localhost", false, Err("not valid for name"));
        check(Identity::WrongHost, "wrong.example", false, fine);
        check(Identity::SelfSigned, "localhost", false, Err("UnknownIssuer"));
        check(Identity::UnknownCa, "localhost", false, Err("UnknownIssuer"));
        check(Identity::AnyHost, "api.shop.example", false, fine);
        check(Identity::AnyHost, "localhost", false, fine);
        check(Identity::AnyHost, "127.0.0.1", false, fine);
        check(Identity::ClientCertificate, "localhost", true, fine);
        check(Identity::ClientCertificate, "localhost", false, Err("CertificateRequired"));
    }

    #[test]
    fn urls_and_files() {
        let server = start_tls(Identity::Valid);
        assert_eq!(server.url("/x"), format!("https://localhost:{}/x", server.address().port()));
        let ca = server.tls_files().expect("files").ca();
        assert!(std::fs::read_to_string(&ca).expect("read").starts_with("-----BEGIN CERTIFICATE-----"));
        drop(server);
        assert!(!ca.exists(), "the files go with the server");
    }
}
