//! The lab's PostgreSQL and Redis with TLS, for the tests of sources.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;

use lab::{Alone, LabError, Launch, Place, Server};

/// A server with a self-signed certificate.
#[derive(Debug)]
struct Encrypted {
    plain: &'static dyn Server,
    certificate: String,
    key: String,
}

/// Returns such a server and the certificate file of its authority; `None` if the server is not installed.
pub(crate) fn server(plain: &'static dyn Server) -> Option<(Alone, PathBuf)> {
    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    // The lab needs a server with static lifetime; a test leaks one.
    let lab = crate::stage::server(Box::leak(Box::new(Encrypted { plain, certificate, key })))?;
    let authority = lab.directory().join(plain.name()).join("certificate.pem");
    Some((lab, authority))
}

/// Index of Redis' TLS port.
pub(crate) const REDIS_PORT: usize = 1;

impl Server for Encrypted {
    fn name(&self) -> &'static str {
        self.plain.name()
    }

    fn package(&self) -> &'static str {
        self.plain.package()
    }

    fn program(&self) -> &'static str {
        self.plain.program()
    }

    fn is_installed(&self) -> bool {
        self.plain.is_installed()
    }

    fn port_count(&self) -> usize {
        self.plain.port_count() + 1
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let mut launches = self.plain.prepare(place)?;
        let owner = std::fs::metadata(&place.directory).expect("it was made");
        let file = |name: &str, text: &str| {
            let path = place.directory.join(name);
            std::fs::write(&path, text).expect("a file of the test's own");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("its own");
            std::os::unix::fs::chown(&path, Some(owner.uid()), Some(owner.gid())).expect("its own");
            path.display().to_string()
        };
        let (certificate, key) = (file("certificate.pem", &self.certificate), file("key.pem", &self.key));
        let launch = launches.pop().expect("there is a process");
        if self.name() == lab::REDIS.name() {
            let settings = format!(
                "tls-port {}\ntls-cert-file {certificate}\ntls-key-file {key}\ntls-ca-cert-file {certificate}\n\
                 tls-auth-clients no\n",
                place.ports[REDIS_PORT]
            );
            let path = place.directory.join("redis.conf");
            let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("it was written");
            file.write_all(settings.as_bytes()).expect("a file of the test's own");
            launches.push(launch);
        } else {
            let settings =
                ["ssl=on".to_owned(), format!("ssl_cert_file={certificate}"), format!("ssl_key_file={key}")];
            launches.push(launch.args(settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting])));
        }
        Ok(launches)
    }

    fn is_ready(&self, place: &Place) -> bool {
        self.plain.is_ready(place)
    }

    fn url(&self, place: &Place) -> String {
        self.plain.url(place)
    }
}
