use std::sync::Arc;
use std::time::Duration;

use model::SystemClock;
use model::plan::{ClientCertificate, HttpOptions, NetworkOptions, TlsOptions};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::testing::{Step, get, local, ok, outcome, request, send, serve, serve_streams};
use crate::{Body, CertStatus, Client, Kind, Shared, Stage};

/// An authority that tests trust.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        roots
    }

    /// A certificate for `name`, valid until the year `until`.
    fn issue(&self, name: &str, until: i32) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }

    /// An authority for `name`, valid until the year `until`, and a server that shows its very certificate.
    fn serving_itself(name: &str, until: i32) -> (RootCertStore, TlsAcceptor) {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.not_after = rcgen::date_time_ymd(until, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.unwrap().with_no_client_auth();
        let config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        (roots, TlsAcceptor::from(Arc::new(config)))
    }

    fn server(&self, name: &str, until: i32, asks_client: bool) -> TlsAcceptor {
        self.stapling(name, until, asks_client, &[])
    }

    /// The same, with an OCSP response stapled to its handshakes.
    fn stapling(&self, name: &str, until: i32, asks_client: bool, staple: &[u8]) -> TlsAcceptor {
        TlsAcceptor::from(Arc::new(self.config(name, until, asks_client, staple, b"http/1.1")))
    }

    fn config(
        &self,
        name: &str,
        until: i32,
        asks_client: bool,
        staple: &[u8],
        protocol: &[u8],
    ) -> ServerConfig {
        let (certificate, key) = self.issue(name, until);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if asks_client {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(self.roots()), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = builder
            .with_single_cert_with_ocsp(vec![certificate.der().clone()], key, staple.to_vec())
            .unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        config
    }
}

fn client(roots: RootCertStore, change: impl FnOnce(&mut HttpOptions, &mut TlsOptions)) -> Client {
    let (mut http, mut tls) = (HttpOptions::default(), TlsOptions::default());
    change(&mut http, &mut tls);
    let roots = Box::new(move || roots.clone());
    let shared = Shared::with_roots(&http, &NetworkOptions::default(), &tls, roots).unwrap();
    Client::new(Arc::new(shared), 1)
}

fn accept(
    acceptor: TlsAcceptor,
) -> impl AsyncFn(tokio::net::TcpStream) -> Option<tokio_rustls::server::TlsStream<tokio::net::TcpStream>> {
    async move |tcp| acceptor.accept(tcp).await.ok()
}

#[test]
fn a_trusted_authority_may_serve_itself() {
    let check = |name: &'static str, until: i32, is_trusted: bool, expect: &'static str| {
        local(async move {
            let (roots, acceptor) = Authority::serving_itself(name, until);
            let (address, _) = serve_streams(|_| vec![ok()], accept(acceptor)).await;
            let roots = if is_trusted { roots } else { Authority::new().roots() };
            let exchange =
                get(&client(roots, |_, _| {}), &format!("https://localhost:{}/", address.port())).await;
            assert!(outcome(&exchange).starts_with(expect), "{}", outcome(&exchange));
            let says_why = exchange.result.is_err_and(|error| error.detail.contains("CA:TRUE"));
            assert_eq!(says_why, !is_trusted);
        });
    };
    check("localhost", 2100, true, "200 ok");
    check("elsewhere", 2100, true, "1311 Tls Tls");
    check("localhost", 2020, true, "1300 Tls Tls");
    check("localhost", 2100, false, "1310 Tls Tls");
}

#[test]
fn tls_connections_are_kept_and_their_facts_told() {
    local(async {
        let authority = Authority::new();
        let (address, seen) =
            serve_streams(|_| vec![ok()], accept(authority.server("localhost", 2100, false))).await;
        let client = client(authority.roots(), |_, _| {});
        let url = format!("https://localhost:{}/", address.port());
        let first = get(&client, &url).await;
        assert_eq!(outcome(&first), "200 ok");
        assert!(first.phases.tls_ns > 0 && first.phases.blocked_ns >= first.phases.tls_ns);
        let facts = first.tls.unwrap();
        assert_eq!((facts.version, facts.cipher_suite.as_str()), ("tls1.3", "TLS_AES_128_GCM_SHA256"));
        for _ in 0..20 {
            let next = get(&client, &url).await;
            assert_eq!((outcome(&next).as_str(), next.reused, next.phases.tls_ns), ("200 ok", true, 0));
            assert!(next.tls.is_some());
        }
        assert_eq!((seen.connections.get(), seen.requests()), (1, 21));
        let (sent, received) = client.take_bytes();
        assert!(sent > 21 * 50 && received > 21 * 40, "TLS counts too: {sent}, {received}");
    });
}

#[test]
fn versions_and_suites_are_chosen() {
    local(async {
        let authority = Authority::new();
        let (address, _) =
            serve_streams(|_| vec![ok()], accept(authority.server("localhost", 2100, false))).await;
        let client = client(authority.roots(), |_, tls| {
            tls.versions = Some(("tls1.2".to_owned(), "tls1.2".to_owned()));
            tls.cipher_suites = vec!["TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305".to_owned()];
        });
        let exchange = get(&client, &format!("https://localhost:{}/", address.port())).await;
        let facts = exchange.tls.unwrap();
        assert_eq!(facts.version, "tls1.2");
        assert_eq!(facts.cipher_suite, "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256");
    });
}

#[test]
fn bad_peers_are_told_apart() {
    let check = |name: &'static str, until: i32, trusts: bool, code: u16, message: &'static str| {
        local(async move {
            let authority = Authority::new();
            let (address, seen) =
                serve_streams(|_| vec![ok()], accept(authority.server(name, until, false))).await;
            let roots = if trusts { authority.roots() } else { Authority::new().roots() };
            let url = format!("https://localhost:{}/", address.port());
            let error = get(&client(roots, |_, _| {}), &url).await.result.unwrap_err();
            assert_eq!((error.code.0, error.message.as_str()), (code, message), "{error:?}");
            assert_eq!((error.kind, error.stage, seen.requests()), (Kind::Tls, Stage::Tls, 0));
            let careless = client(RootCertStore::empty(), |_, tls| tls.insecure_skip_verify = true);
            assert_eq!(outcome(&get(&careless, &url).await), "200 ok");
        });
    };
    check("localhost", 2100, false, 1310, "x509: unknown authority");
    check("other.test", 2100, true, 1311, "x509: certificate doesn't match hostname");
    check("localhost", 2001, true, 1300, "x509: certificate has expired or is not yet valid");
}

#[test]
fn what_is_not_tls_is_told_apart() {
    let check = |steps: Vec<Step>, expect: &'static str| {
        local(async move {
            // The accepting side reads nothing and does its steps at once.
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::task::spawn_local(async move {
                let (mut tcp, _) = listener.accept().await.unwrap();
                for step in steps {
                    match step {
                        Step::Send(bytes) => {
                            tokio::io::AsyncWriteExt::write_all(&mut tcp, &bytes).await.unwrap()
                        }
                        Step::Pause(pause) => tokio::time::sleep(pause).await,
                        _ => break,
                    }
                }
            });
            let client = client(RootCertStore::empty(), |_, _| {});
            let mut request = request("GET", &format!("https://localhost:{}/", address.port()));
            request.deadline = SystemClock::now() + Duration::from_millis(100);
            assert_eq!(outcome(&client.exchange(&request).await), expect);
        });
    };
    let forever = Step::Pause(Duration::from_secs(5));
    let plain = send("HTTP/1.1 400 Bad Request\r\n\r\n");
    check(vec![plain, forever.clone()], "1301 Tls Tls tls: first record does not look like a TLS handshake");
    check(vec![forever], "1050 TimedOut Tls request timeout");
    local(async {
        let (address, seen) = serve(|_| vec![Step::Close]).await;
        let client = client(RootCertStore::empty(), |_, _| {});
        let mut request = request("GET", &format!("https://127.0.0.1:{}/", address.port()));
        request.deadline = SystemClock::now() + Duration::from_millis(100);
        let exchange = client.exchange(&request).await;
        assert!(exchange.result.is_err_and(|error| error.is_unconnected()));
        assert_eq!(seen.requests(), 0);
    });
}

#[test]
fn client_certificates_are_shown() {
    local(async {
        let authority = Authority::new();
        let (address, seen) =
            serve_streams(|_| vec![ok()], accept(authority.server("localhost", 2100, true))).await;
        let url = format!("https://localhost:{}/", address.port());
        let (certificate, key) = authority.issue("user", 2100);
        let given = ClientCertificate {
            cert: certificate.pem(),
            key: key.serialize_pem(),
            password: None,
            domains: vec!["localhost".to_owned()],
        };
        let known = client(authority.roots(), |_, tls| tls.client_certificates = vec![given.clone()]);
        assert_eq!(outcome(&get(&known, &url).await), "200 ok");
        let elsewhere = ClientCertificate { domains: vec!["other.test".to_owned()], ..given };
        let unknown = client(authority.roots(), |_, tls| tls.client_certificates = vec![elsewhere]);
        let error = get(&unknown, &url).await.result.unwrap_err();
        assert_eq!((error.code.0, error.message.as_str()), (1300, "remote error: tls: certificate required"));
        assert_eq!(seen.requests(), 1);
    });
}

#[test]
fn a_missing_client_certificate_is_a_failure_of_tls() {
    /// Larger than the buffers of both sockets, so that the server's refusal comes while it is sent.
    const LARGE_BYTES: usize = 8 << 20;
    let check = |protocol: &'static [u8], body_bytes: usize| {
        local(async move {
            let authority = Authority::new();
            let config = authority.config("localhost", 2100, true, &[], protocol);
            let (address, seen) =
                serve_streams(|_| vec![ok()], accept(TlsAcceptor::from(Arc::new(config)))).await;
            let client = client(authority.roots(), |_, _| {});
            let mut request = request("POST", &format!("https://localhost:{}/", address.port()));
            request.body = Body::Bytes(vec![b'x'; body_bytes].into());
            for _ in 0..5 {
                let error = client.exchange(&request).await.result.unwrap_err();
                let text = String::from_utf8_lossy(protocol);
                assert_eq!((error.code.0, error.kind), (1300, Kind::Tls), "{text} {body_bytes}: {error:?}");
                assert_eq!(error.message, "remote error: tls: certificate required", "{text} {body_bytes}");
            }
            assert_eq!(seen.requests(), 0);
        });
    };
    check(b"http/1.1", 3);
    check(b"http/1.1", LARGE_BYTES);
    check(b"h2", 3);
}

#[test]
fn sessions_are_a_users_own() {
    local(async {
        let authority = Authority::new();
        let (address, _) =
            serve_streams(|_| vec![ok()], accept(authority.server("localhost", 2100, false))).await;
        let url = format!("https://localhost:{}/", address.port());
        let received = async |client: &Client| {
            let mut request = request("GET", &url);
            request.headers.push(("Connection".into(), "close".to_owned()));
            client.take_bytes();
            assert_eq!(outcome(&client.exchange(&request).await), "200 ok");
            client.take_bytes().1
        };
        let one = client(authority.roots(), |_, _| {});
        let (full, resumed) = (received(&one).await, received(&one).await);
        // A resumed handshake sends no certificate.
        assert!(resumed + 300 < full, "{resumed} of {full}");
        one.close_idle();
        assert!(received(&one).await > resumed + 300, "a new user does a full handshake");
        let never = client(authority.roots(), |http, _| http.no_connection_reuse = true);
        received(&never).await;
        assert!(received(&never).await > resumed + 300);
    });
}

#[test]
fn staples_are_read_with_and_without_trust() {
    const REVOKED: &[u8] = include_bytes!("../fixtures/staples/revoked.der");
    let check = |staple: &'static [u8], skips: bool, expect: Option<CertStatus>| {
        local(async move {
            let authority = Authority::new();
            let acceptor = authority.stapling("localhost", 2100, false, staple);
            let (address, _) = serve_streams(|_| vec![ok()], accept(acceptor)).await;
            let url = format!("https://localhost:{}/", address.port());
            let known = client(authority.roots(), |_, tls| tls.insecure_skip_verify = skips);
            let exchange = get(&known, &url).await;
            assert_eq!(outcome(&exchange), "200 ok");
            let facts = exchange.tls.expect("it came over TLS");
            assert_eq!(facts.staple.as_ref().map(|staple| staple.status), expect);
        });
    };
    let revoked = CertStatus::Revoked { at_s: 1_767_323_045, reason: 1 };
    check(REVOKED, false, Some(revoked));
    check(REVOKED, true, Some(revoked));
    check(b"no response", false, None);
    check(b"", false, None);
}
