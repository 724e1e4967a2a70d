//! TLS: what the options ask for, and what rustls says, in k6's words.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use model::plan::{ClientCertificate, TlsOptions};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, ProtocolVersion, RootCertStore,
};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

use crate::channel_tls::ChannelTls;
use crate::client_key;
use crate::error::{Error, ErrorCode, Kind, Stage};
use crate::limits::TLS_SESSIONS_MAX;
use crate::setup_error::SetupError;
use crate::staple::Staple;
use crate::tls_facts::TlsFacts;
use crate::trusted::{Trusting, is_authority};
use crate::verify::AcceptAnyone;

/// The name of HTTP/1.1 in ALPN (RFC 7301).
pub(crate) const HTTP1_ALPN: &[u8] = b"http/1.1";

/// The name of HTTP/2 in ALPN.
pub(crate) const HTTP2_ALPN: &[u8] = b"h2";

/// The certificates that are trusted.
pub(crate) type Roots = dyn Fn() -> RootCertStore + Send + Sync;

/// The TLS configurations of a process: one for each client certificate, and one without.
pub(crate) struct Tls {
    provider: Arc<CryptoProvider>,
    versions: Vec<&'static SupportedProtocolVersion>,
    accepts_anyone: bool,
    identities: Vec<Identity>,
    roots: Box<Roots>,
    /// Read at first use.
    trusted: OnceLock<RootCertStore>,
    /// Made at first use, because reading the trusted certificates takes milliseconds that a plain run need not pay:
    /// one for each identity, the one without an identity last.
    configs: OnceLock<Result<Vec<Arc<ClientConfig>>, String>>,
}

struct Identity {
    domains: Vec<String>,
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

/// TLS of one connection, where it differs from that of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamTls {
    /// Certificates of trusted authorities, PEM. None: those that requests trust.
    pub authorities: Vec<String>,
    /// The client's certificate. None: the one that requests to this host show.
    pub certificate: Option<ClientCertificate>,
    /// Whether any server is accepted, whatever its certificate.
    pub accepts_anyone: bool,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("accepts_anyone", &self.accepts_anyone).finish_non_exhaustive()
    }
}

impl Tls {
    /// The configurations that `options` ask for.
    ///
    /// # Errors
    /// A version, a cipher suite or a client certificate cannot be used.
    pub(crate) fn new(options: &TlsOptions, roots: Box<Roots>) -> Result<Tls, SetupError> {
        let mut provider = rustls::crypto::ring::default_provider();
        restrict_suites(&mut provider.cipher_suites, &options.cipher_suites)?;
        provider.cipher_suites.sort_by_key(preference);
        let identities = options.client_certificates.iter().enumerate();
        let tls = Tls {
            provider: Arc::new(provider),
            versions: versions(options)?,
            accepts_anyone: options.insecure_skip_verify,
            identities: identities.map(|(index, given)| identity(index, given)).collect::<Result<_, _>>()?,
            roots,
            trusted: OnceLock::new(),
            configs: OnceLock::new(),
        };
        // Invalid settings are found now, without trusted certificates, so that the error comes before the run.
        for (index, identity) in tls.identities.iter().enumerate() {
            tls.config(Some(identity), RootCertStore::empty())
                .map_err(|why| SetupError::ClientCertificate { index, why: why.to_string() })?;
        }
        tls.config(None, RootCertStore::empty()).map_err(|why| SetupError::Tls(why.to_string()))?;
        Ok(tls)
    }

    /// Which configuration `host` gets: the first client certificate that is for it, otherwise none.
    pub(crate) fn class_of(&self, host: &str) -> usize {
        let position = self.identities.iter().position(|identity| identity.is_for(host));
        position.unwrap_or(self.identities.len())
    }

    /// A configuration of a client's own: everything but the sessions is shared. A new user does full handshakes, so
    /// sessions must not travel from one VU to another.
    pub(crate) fn config_of(&self, class: usize, resumes: bool) -> Result<Arc<ClientConfig>, Error> {
        let configs = self.configs.get_or_init(|| self.make_configs()).as_ref();
        let configs = configs.map_err(|why| failed(ErrorCode::TLS, format!("tls: {why}"), ""))?;
        let mut config = ClientConfig::clone(&configs[class.min(self.identities.len())]);
        config.resumption =
            if resumes { Resumption::in_memory_sessions(TLS_SESSIONS_MAX) } else { Resumption::disabled() };
        Ok(Arc::new(config))
    }

    fn make_configs(&self) -> Result<Vec<Arc<ClientConfig>>, String> {
        let roots = self.trusted();
        let identities = self.identities.iter().map(Some).chain([None]);
        let configs = identities.map(|identity| self.config(identity, roots.clone()).map(Arc::new));
        configs.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    /// The configuration of a connection that carries another protocol than HTTP. What `own` does not say is as for requests.
    ///
    /// # Errors
    /// A certificate or key of `own` cannot be used.
    pub(crate) fn config_for_stream(&self, host: &str, own: &StreamTls) -> Result<ClientConfig, Error> {
        let refused = |why: String| failed(ErrorCode::TLS, format!("tls: {why}"), "");
        let given = own.certificate.as_ref().map(|given| identity(0, given)).transpose();
        let given = given.map_err(|error| refused(error.to_string()))?;
        let general = self.identities.iter().find(|identity| identity.is_for(host));
        let accepts_anyone = self.accepts_anyone || own.accepts_anyone;
        let roots = match own.authorities.as_slice() {
            _ if accepts_anyone => RootCertStore::empty(),
            [] => self.trusted().clone(),
            authorities => roots_of(authorities).map_err(refused)?,
        };
        let config = self.config_with(accepts_anyone, given.as_ref().or(general), roots);
        let mut config = config.map_err(|why| refused(why.to_string()))?;
        config.alpn_protocols.clear();
        Ok(config)
    }

    fn trusted(&self) -> &RootCertStore {
        self.trusted.get_or_init(|| if self.accepts_anyone { RootCertStore::empty() } else { (self.roots)() })
    }

    /// The configuration of a connection for calls, which offers HTTP/2 only. What `own` does not say is as for requests.
    ///
    /// # Errors
    /// A certificate or key of `own` cannot be used.
    pub(crate) fn config_for_calls(&self, host: &str, own: &ChannelTls) -> Result<ClientConfig, Error> {
        let refused = |why: String| Error::new(ErrorCode::TLS, Stage::Prepare, Kind::Invalid, why);
        let mut config = if own.is_empty() {
            ClientConfig::clone(&*self.config_of(self.class_of(host), false)?)
        } else {
            let given = own.certificate.as_ref().map(|given| identity(0, given)).transpose();
            let given = given.map_err(|error| refused(error.to_string()))?;
            let general = self.identities.iter().find(|identity| identity.is_for(host));
            let roots = match own.authorities.as_slice() {
                [] => self.trusted().clone(),
                authorities => roots_of(authorities).map_err(refused)?,
            };
            let config = self.config(given.as_ref().or(general), roots);
            config.map_err(|why| refused(why.to_string()))?
        };
        config.alpn_protocols = vec![HTTP2_ALPN.to_vec()];
        Ok(config)
    }

    fn config(
        &self,
        identity: Option<&Identity>,
        roots: RootCertStore,
    ) -> Result<ClientConfig, rustls::Error> {
        self.config_with(self.accepts_anyone, identity, roots)
    }

    fn config_with(
        &self,
        accepts_anyone: bool,
        identity: Option<&Identity>,
        roots: RootCertStore,
    ) -> Result<ClientConfig, rustls::Error> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&self.versions)?;
        let builder = if accepts_anyone {
            let verifier = Arc::new(AcceptAnyone::new(self.provider.clone()));
            builder.dangerous().with_custom_certificate_verifier(verifier)
        } else if roots.is_empty() {
            builder.with_root_certificates(roots)
        } else {
            let verifier = Arc::new(Trusting::new(roots, self.provider.clone())?);
            builder.dangerous().with_custom_certificate_verifier(verifier)
        };
        let mut config = match identity {
            Some(identity) => {
                builder.with_client_auth_cert(identity.certificates.clone(), identity.key.clone_key())?
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![HTTP1_ALPN.to_vec()];
        if speaks_http2(std::env::var("GODEBUG").ok().as_deref()) {
            config.alpn_protocols.insert(0, HTTP2_ALPN.to_vec());
        }
        // As in k6, `SSLKEYLOGFILE` lets a protocol analyser read along; without the variable this does nothing.
        config.key_log = Arc::new(rustls::KeyLogFile::new());
        Ok(config)
    }
}

/// Users of k6 turn HTTP/2 off with Go's own variable, for want of an option.
fn speaks_http2(godebug: Option<&str>) -> bool {
    !godebug.is_some_and(|settings| settings.split(',').any(|setting| setting == "http2client=0"))
}

impl Identity {
    fn is_for(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let is_match = |domain: &String| match domain.to_ascii_lowercase().strip_prefix('*') {
            Some(suffix) => host.ends_with(suffix) && host.len() > suffix.len(),
            None => host == domain.to_ascii_lowercase(),
        };
        self.domains.is_empty() || self.domains.iter().any(is_match)
    }
}

/// The operating system's trusted certificates (`SSL_CERT_FILE` and `SSL_CERT_DIR` override them); Mozilla's where
/// there are none, as in an empty container image.
pub(crate) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    roots
}

/// The certificates of authorities in PEM texts.
fn roots_of(authorities: &[String]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for (index, text) in authorities.iter().enumerate() {
        let (added, _) = roots.add_parsable_certificates(
            CertificateDer::pem_slice_iter(text.as_bytes()).filter_map(Result::ok),
        );
        if added == 0 {
            return Err(format!("failed to append ca certificate [{index}] from PEM: it has no certificate"));
        }
    }
    Ok(roots)
}

/// The parameters that a finished handshake negotiated.
pub(crate) fn facts(connection: &ClientConnection, staple: Option<Staple>) -> TlsFacts {
    let version = match connection.protocol_version() {
        Some(ProtocolVersion::TLSv1_3) => "tls1.3",
        _ => "tls1.2",
    };
    let suite = connection.negotiated_cipher_suite().map(|suite| suite_name(&suite)).unwrap_or_default();
    TlsFacts { version, cipher_suite: suite, staple }
}

/// rustls marks the suites of TLS 1.3; IANA does not.
fn suite_name(suite: &SupportedCipherSuite) -> String {
    let name = suite.suite().as_str().unwrap_or_default();
    name.strip_prefix("TLS13_").map_or_else(|| name.to_owned(), |rest| format!("TLS_{rest}"))
}

/// Orders suites as k6 offers them: AES with 128 bits, AES with 256 bits, ChaCha20. Most servers choose the first that they know. A
/// full handshake with SHA-256 took 2 to 7 % less CPU than one with SHA-384, which `ring` computes without the processor's instructions.
fn preference(suite: &SupportedCipherSuite) -> (bool, u8) {
    let is_1_2 = !matches!(suite, SupportedCipherSuite::Tls13(_));
    let name = suite.suite().as_str().unwrap_or_default();
    let cipher = ["AES_128", "AES_256"].iter().position(|cipher| name.contains(cipher)).unwrap_or(2);
    (is_1_2, cipher as u8)
}

/// As in Go, a list without suites of TLS 1.3 (k6 cannot choose those) leaves them all.
fn restrict_suites(suites: &mut Vec<SupportedCipherSuite>, wanted: &[String]) -> Result<(), SetupError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let full_name = |name: &String| match name.as_str() {
        // Go's older names for these two.
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305" | "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305" => {
            format!("{name}_SHA256")
        }
        _ => name.clone(),
    };
    let wanted: Vec<String> = wanted.iter().map(full_name).collect();
    for name in &wanted {
        if !suites.iter().any(|suite| suite_name(suite) == *name) {
            let known: Vec<_> = suites.iter().map(suite_name).collect();
            return Err(SetupError::CipherSuite { name: name.clone(), known: known.join(", ") });
        }
    }
    let is_1_3 = |suite: &SupportedCipherSuite| matches!(suite, SupportedCipherSuite::Tls13(_));
    let keeps_1_3 = !suites.iter().any(|suite| is_1_3(suite) && wanted.contains(&suite_name(suite)));
    suites.retain(|suite| wanted.contains(&suite_name(suite)) || (keeps_1_3 && is_1_3(suite)));
    Ok(())
}

fn versions(options: &TlsOptions) -> Result<Vec<&'static SupportedProtocolVersion>, SetupError> {
    let Some((lowest, highest)) = &options.versions else { return Ok(rustls::ALL_VERSIONS.to_vec()) };
    let rank = |name: &str, default: u8| match name {
        "" => Ok(default),
        "tls1.0" => Ok(0),
        "tls1.1" => Ok(1),
        "tls1.2" => Ok(2),
        "tls1.3" => Ok(3),
        _ => Err(SetupError::TlsVersion(name.to_owned())),
    };
    let (lowest_rank, highest_rank) = (rank(lowest, 0)?, rank(highest, 3)?);
    let known = [(2, &rustls::version::TLS12), (3, &rustls::version::TLS13)];
    let wanted = known.into_iter().filter(|(rank, _)| (lowest_rank..=highest_rank).contains(rank));
    let wanted: Vec<_> = wanted.map(|(_, version)| version).collect();
    if wanted.is_empty() {
        return Err(SetupError::TlsVersion(format!("{lowest} to {highest}")));
    }
    Ok(wanted)
}

fn identity(index: usize, given: &ClientCertificate) -> Result<Identity, SetupError> {
    let bad = |why: String| SetupError::ClientCertificate { index, why };
    let certificates = CertificateDer::pem_slice_iter(given.cert.as_bytes()).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| bad(format!("`cert`: {error}")))?;
    if certificates.is_empty() {
        return Err(bad("`cert` has no PEM certificate".to_owned()));
    }
    let key = client_key::read(&given.key, given.password.as_deref());
    let key = key.map_err(|why| bad(format!("`key`: {why}")))?;
    Ok(Identity { domains: given.domains.clone(), certificates, key })
}

fn failed(code: ErrorCode, message: impl Into<String>, detail: impl Into<String>) -> Error {
    Error::new(code, Stage::Tls, Kind::Tls, message).with_detail(detail)
}

/// The error of rustls, where `error` comes from it. The stage is the caller's to correct.
pub(crate) fn error_of(error: &io::Error, host: &str) -> Option<Error> {
    let Some(error) = error.get_ref()?.downcast_ref::<rustls::Error>() else { return alert_of(error) };
    Some(match error {
        rustls::Error::InvalidCertificate(why) => certificate_error(why, host),
        // The first record was none: the peer speaks something else.
        rustls::Error::InvalidMessage(_) => {
            failed(ErrorCode::TLS_BAD_RECORD, "tls: first record does not look like a TLS handshake", "")
        }
        rustls::Error::AlertReceived(alert) => {
            failed(ErrorCode::TLS, format!("remote error: tls: {}", alert_text(*alert)), "")
        }
        other => failed(ErrorCode::TLS, format!("tls: {other}"), ""),
    })
}

/// The alert of a peer in an error that kept only the text of rustls's, as those of the HTTP/2 library do.
fn alert_of(error: &io::Error) -> Option<Error> {
    const RECEIVED: &str = "received fatal alert: ";
    let text = error.to_string();
    let name = text.strip_prefix(RECEIVED)?;
    let known = (0..=u8::MAX).map(AlertDescription::from).find(|alert| format!("{alert:?}") == name);
    let text = known.map_or_else(|| name.to_owned(), alert_text);
    Some(failed(ErrorCode::TLS, format!("remote error: tls: {text}"), ""))
}

fn certificate_error(why: &CertificateError, host: &str) -> Error {
    let detail = |text: String| format!("tls: failed to verify certificate: x509: {text}");
    match why {
        // A bad signature is that of another authority with a name that we trust; Go calls both so.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => unknown_authority(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            let names = match why {
                CertificateError::NotValidForNameContext { presented, .. } => presented.join(", "),
                _ => "other names".to_owned(),
            };
            let message = "x509: certificate doesn't match hostname";
            let detail = detail(format!("certificate is valid for {names}, not {host}"));
            failed(ErrorCode::HOSTNAME_MISMATCH, message, detail)
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            let message = "x509: certificate has expired or is not yet valid";
            failed(
                ErrorCode::TLS,
                message,
                detail(format!("certificate has expired or is not yet valid: {why}")),
            )
        }
        // The certificate that `openssl req -x509` makes by default. The message says how to use it.
        why if is_authority(why) => {
            let text = "the server's certificate is an authority's own (CA:TRUE) and not a trusted one; \
                        trust it with `SSL_CERT_FILE`, or use `insecureSkipTLSVerify`";
            unknown_authority().with_detail(detail(text.to_owned()))
        }
        other => failed(ErrorCode::TLS, format!("x509: {other}"), detail(other.to_string())),
    }
}

fn unknown_authority() -> Error {
    let detail = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
    failed(ErrorCode::UNKNOWN_AUTHORITY, "x509: unknown authority", detail)
}

/// As Go spells alerts.
fn alert_text(alert: AlertDescription) -> String {
    let text = match alert {
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::CertificateRequired => "certificate required",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::NoApplicationProtocol => "no application protocol",
        AlertDescription::InternalError => "internal error",
        other => return format!("{other:?}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(options: &TlsOptions) -> Result<Tls, SetupError> {
        Tls::new(options, Box::new(RootCertStore::empty))
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn http2_can_be_turned_off() {
        let check = |godebug, expect| assert_eq!(speaks_http2(godebug), expect, "{godebug:?}");
        check(None, true);
        check(Some("http2client=0"), false);
        check(Some("a=1,http2client=0"), false);
        check(Some("http2client=1"), true);
    }

    #[test]
    fn suites_are_restricted_as_in_go() {
        let check = |wanted: &[&str], expect: &[&str]| {
            let options = TlsOptions { cipher_suites: strings(wanted), ..TlsOptions::default() };
            let names: Vec<_> =
                setup(&options).unwrap().provider.cipher_suites.iter().map(suite_name).collect();
            assert_eq!(names, expect, "{wanted:?}");
        };
        let tls13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];
        let one = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
        check(&[one], &[tls13[0], tls13[1], tls13[2], one]);
        check(&[tls13[1], one], &[tls13[1], one]);
        check(&[tls13[1]], &[tls13[1]]);
        let options =
            TlsOptions { cipher_suites: strings(&["TLS_RSA_WITH_RC4_128_SHA"]), ..TlsOptions::default() };
        assert!(setup(&options).unwrap_err().to_string().contains("TLS_RSA_WITH_RC4_128_SHA"));
    }

    /// The order in which k6 v1.7.0 offers them (ClientHello, read by a socket that answers nothing).
    #[test]
    fn suites_are_offered_in_the_order_of_k6() {
        let suites = setup(&TlsOptions::default()).unwrap().provider.cipher_suites.clone();
        let numbers: Vec<u16> = suites.iter().map(|suite| suite.suite().into()).collect();
        let expect = [0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8];
        assert_eq!(numbers, expect);
    }

    #[test]
    fn versions_are_restricted_or_refused() {
        let check = |lowest: &str, highest: &str, expect: Option<usize>| {
            let options = TlsOptions {
                versions: Some((lowest.to_owned(), highest.to_owned())),
                ..TlsOptions::default()
            };
            assert_eq!(setup(&options).ok().map(|tls| tls.versions.len()), expect, "{lowest}..{highest}");
        };
        check("tls1.2", "tls1.3", Some(2));
        check("tls1.0", "tls1.2", Some(1));
        check("tls1.3", "tls1.3", Some(1));
        check("", "", Some(2));
        check("tls1.0", "tls1.1", None);
        check("tls1.3", "tls1.2", None);
        check("ssl3.0", "tls1.3", None);
    }

    #[test]
    fn client_certificates_are_checked_before_the_run() {
        let check = |cert: &str, key: &str, expect: &str| {
            let given = ClientCertificate {
                cert: cert.to_owned(),
                key: key.to_owned(),
                password: None,
                domains: vec![],
            };
            let options = TlsOptions { client_certificates: vec![given], ..TlsOptions::default() };
            let error = setup(&options).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        };
        let made = rcgen::generate_simple_self_signed(vec!["h.test".to_owned()]).unwrap();
        let (cert, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        check("", &key, "`cert` has no PEM certificate");
        check(&cert, "", "`key`");
        check(
            &cert,
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
            "`password` is not given",
        );
        let other = rcgen::generate_simple_self_signed(vec![]).unwrap();
        check(&cert, &other.signing_key.serialize_pem(), "tlsAuth[0]");
    }

    #[test]
    fn hosts_get_the_certificate_that_is_for_them() {
        let made = rcgen::generate_simple_self_signed(vec!["h.test".to_owned()]).unwrap();
        let given = |domains: &[&str]| ClientCertificate {
            cert: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
            password: None,
            domains: strings(domains),
        };
        let options = TlsOptions {
            client_certificates: vec![given(&["a.test"]), given(&["*.a.test", "b.test"])],
            ..TlsOptions::default()
        };
        let tls = setup(&options).unwrap();
        let check = |host, expect| assert_eq!(tls.class_of(host), expect, "{host}");
        check("a.test", 0);
        check("x.A.test", 1);
        check("b.test", 1);
        check("c.test", 2);
        check("xa.test", 2);
    }
}
