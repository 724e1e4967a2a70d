//! The servers of a cluster: etcd from the system, and those of Kubernetes, built from the Go module proxy and cached.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

use super::api::Api;
use crate::workspace;

/// The release of Kubernetes, as xtask/kubernetes-servers/go.mod has it.
pub(super) const RELEASE: &str = "v1.36.3";

const SERVERS: [&str; 3] = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"];

/// Time for a server to answer.
const START_MAX: Duration = Duration::from_secs(90);

/// Tokens of the cluster's users: of nodes and controllers, and of people with no or few permissions.
pub(super) const ADMIN: &str = "admin-token";
pub(super) const STRANGER: &str = "stranger-token";
pub(super) const TESTER: &str = "tester-token";

/// Running servers. Dropping it ends them.
pub(super) struct Servers {
    children: Vec<(&'static str, Child)>,
    pub(super) url: String,
    pub(super) ca_pem: String,
    pub(super) folder: PathBuf,
}

impl Servers {
    /// Starts the servers on loopback, with their files in `folder`.
    pub(super) fn start(folder: &Path) -> anyhow::Result<Servers> {
        let binaries = build()?;
        let [client, peer, secure] = [free_port()?, free_port()?, free_port()?];
        let credentials = Credentials::write(folder)?;
        let etcd = format!("http://127.0.0.1:{client}");
        let peer = format!("http://127.0.0.1:{peer}");
        let url = format!("https://127.0.0.1:{secure}");
        let mut servers =
            Servers { children: Vec::new(), url, ca_pem: credentials.ca_pem, folder: folder.to_owned() };
        let data = folder.join("etcd");
        servers.run(
            "etcd",
            Path::new("etcd"),
            &[
                format!("--data-dir={}", data.display()),
                format!("--listen-client-urls={etcd}"),
                format!("--advertise-client-urls={etcd}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
                "--unsafe-no-fsync".to_owned(),
            ],
        )?;
        let file = |name: &str| folder.join(name).display().to_string();
        servers.run(
            "kube-apiserver",
            &binaries.join("kube-apiserver"),
            &[
                format!("--etcd-servers={etcd}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--advertise-address=127.0.0.1".to_owned(),
                "--endpoint-reconciler-type=none".to_owned(),
                format!("--secure-port={secure}"),
                format!("--tls-cert-file={}", file("server.crt")),
                format!("--tls-private-key-file={}", file("server.key")),
                format!("--client-ca-file={}", file("ca.crt")),
                format!("--token-auth-file={}", file("tokens.csv")),
                "--authorization-mode=RBAC".to_owned(),
                "--service-cluster-ip-range=10.96.0.0/24".to_owned(),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                format!("--service-account-key-file={}", file("account.pub")),
                format!("--service-account-signing-key-file={}", file("account.key")),
                "--event-ttl=10m".to_owned(),
            ],
        )?;
        let api = servers.api(ADMIN)?;
        servers.wait("kube-apiserver", || api.is_ready())?;
        servers.run(
            "kube-controller-manager",
            &binaries.join("kube-controller-manager"),
            &[
                format!("--kubeconfig={}", file("admin.yaml")),
                "--leader-elect=false".to_owned(),
                "--secure-port=0".to_owned(),
                format!("--service-account-private-key-file={}", file("account.key")),
                format!("--root-ca-file={}", file("ca.crt")),
                // A node that is silent is noticed within seconds.
                "--node-monitor-grace-period=8s".to_owned(),
                "--node-monitor-period=1s".to_owned(),
            ],
        )?;
        servers.run(
            "kube-scheduler",
            &binaries.join("kube-scheduler"),
            &[
                format!("--kubeconfig={}", file("admin.yaml")),
                "--leader-elect=false".to_owned(),
                "--secure-port=0".to_owned(),
            ],
        )?;
        servers.wait("kube-controller-manager", || {
            api.get("/api/v1/namespaces/default/serviceaccounts/default").is_ok()
        })?;
        Ok(servers)
    }

    /// A client with a user's token.
    pub(super) fn api(&self, token: &str) -> anyhow::Result<Api> {
        Api::new(&self.url, token, &self.ca_pem)
    }

    /// A kubeconfig file for a user: the administrator's has a client certificate, others have tokens.
    pub(super) fn kubeconfig(&self, token: &str, namespace: &str) -> anyhow::Result<PathBuf> {
        kubeconfig_at(&self.folder, &self.url, token, namespace)
    }

    fn run(&mut self, name: &'static str, program: &Path, words: &[String]) -> anyhow::Result<()> {
        let log = File::create(self.folder.join(format!("{name}.log"))).context("create a log")?;
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).stdout(log.try_clone().context("share a log")?).stderr(log);
        if name == "kube-controller-manager" || name == "kube-scheduler" {
            kubeconfig_named(&self.folder, "admin.yaml", &self.url, ADMIN, "default")?;
        }
        let child = command.spawn().with_context(|| format!("start {name}"))?;
        self.children.push((name, child));
        Ok(())
    }

    fn wait(&mut self, name: &str, is_ready: impl Fn() -> bool) -> anyhow::Result<()> {
        let until = model::SystemClock::now() + START_MAX;
        while model::SystemClock::now() < until {
            if is_ready() {
                return Ok(());
            }
            for (name, child) in &mut self.children {
                if let Some(status) = child.try_wait().context("look at a server")? {
                    bail!(
                        "start {name}: it ended ({status}); see {}",
                        self.folder.join(format!("{name}.log")).display()
                    );
                }
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        bail!("start {name}: it did not answer for {} s; see {}", START_MAX.as_secs(), self.folder.display())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for (_, child) in self.children.iter_mut().rev() {
            // One that has ended already is no trouble.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn kubeconfig_at(folder: &Path, url: &str, token: &str, namespace: &str) -> anyhow::Result<PathBuf> {
    kubeconfig_named(folder, &format!("{token}-{namespace}.yaml"), url, token, namespace)
}

pub(super) fn kubeconfig_named(
    folder: &Path,
    name: &str,
    url: &str,
    token: &str,
    namespace: &str,
) -> anyhow::Result<PathBuf> {
    let user = if token == ADMIN && url.starts_with("https") {
        "client-certificate: admin.crt, client-key: admin.key".to_owned()
    } else {
        format!("token: {token}")
    };
    let ca = if url.starts_with("https") { ", certificate-authority: ca.crt" } else { "" };
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
         contexts: [{{ name: test, context: {{ cluster: test, user: test, namespace: {namespace} }} }}]\n\
         clusters: [{{ name: test, cluster: {{ server: '{url}'{ca} }} }}]\n\
         users: [{{ name: test, user: {{ {user} }} }}]\n"
    );
    let path = folder.join(name);
    std::fs::write(&path, text).context("write a kubeconfig")?;
    Ok(path)
}

struct Credentials {
    ca_pem: String,
}

impl Credentials {
    /// Writes certificates, keys and tokens that live as long as the folder.
    fn write(folder: &Path) -> anyhow::Result<Credentials> {
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).with_context(|| format!("write {name}"))
        };
        let mut authority = CertificateParams::default();
        authority.distinguished_name.push(DnType::CommonName, "plimsoll test authority");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().context("make a key")?;
        let authority = CertifiedIssuer::self_signed(authority, key).context("sign an authority")?;
        let ca_pem = authority.pem();
        write("ca.crt", &ca_pem)?;
        let leaf = |name: &str, groups: &[&str], hosts: &[&str]| -> anyhow::Result<(String, String)> {
            let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
            let mut params = CertificateParams::new(hosts).context("name a certificate")?;
            params.distinguished_name.push(DnType::CommonName, name);
            groups.iter().for_each(|group| params.distinguished_name.push(DnType::OrganizationName, *group));
            params.extended_key_usages =
                vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
            let key = KeyPair::generate().context("make a key")?;
            let certificate = params.signed_by(&key, &authority).context("sign a certificate")?;
            Ok((certificate.pem(), key.serialize_pem()))
        };
        let host = super::network::Network::HOST.to_string();
        let (certificate, key) = leaf("kube-apiserver", &[], &["127.0.0.1", "localhost", &host])?;
        write("server.crt", &certificate)?;
        write("server.key", &key)?;
        let (certificate, key) = leaf("admin", &["system:masters"], &[])?;
        write("admin.crt", &certificate)?;
        write("admin.key", &key)?;
        let account = KeyPair::generate().context("make a key")?;
        write("account.key", &account.serialize_pem())?;
        write("account.pub", &account.public_key_pem())?;
        let tokens = format!("{ADMIN},admin,1,system:masters\n{STRANGER},stranger,2\n{TESTER},tester,3\n");
        write("tokens.csv", &tokens)?;
        Ok(Credentials { ca_pem })
    }
}

/// The folder of the servers, which are built if they are not there.
fn build() -> anyhow::Result<PathBuf> {
    let given = std::env::var_os("PLIMSOLL_KUBERNETES_SERVERS").map(PathBuf::from);
    let folder = match given {
        Some(folder) => folder,
        None => workspace::target_directory()?.join("kubernetes").join(RELEASE),
    };
    if SERVERS.iter().all(|name| folder.join(name).exists()) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder).context("create a folder for the servers")?;
    println!(
        "building the servers of Kubernetes {RELEASE} with Go; this takes 15 minutes on two cores, once"
    );
    let version = "k8s.io/component-base/version";
    let flags = format!(
        "-s -w -X {version}.gitVersion={RELEASE} -X {version}.gitMajor=1 -X {version}.gitMinor=36 \
         -X {version}.gitTreeState=clean"
    );
    let mut command = Command::new("go");
    command.current_dir(workspace::root().join("xtask/kubernetes-servers")).env("CGO_ENABLED", "0");
    command.args(["build", "-p", "2", "-trimpath", "-ldflags", &flags, "-o"]).arg(&folder);
    command.args(SERVERS.map(|name| format!("k8s.io/kubernetes/cmd/{name}")));
    let status = command.status().context("run go; it builds the servers")?;
    ensure!(status.success(), "build the servers ({status})");
    Ok(folder)
}

fn free_port() -> anyhow::Result<u16> {
    let socket = TcpListener::bind("127.0.0.1:0").context("find a free port")?;
    Ok(socket.local_addr().context("find a free port")?.port())
}
