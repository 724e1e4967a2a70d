//! The way to an API server: its address, its certificate authority, the credentials, and the namespace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::kubeconfig::{Cluster, Exec, Kubeconfig, Named, User};

/// The files of a pod's service account.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// The largest file with a certificate, key or token, and the largest output of a credential program, bytes.
const CREDENTIAL_BYTES_MAX: u64 = 1 << 20;

/// The settings that choose a cluster, as typed.
#[derive(Clone, Debug, Default)]
pub struct AccessAsked {
    /// The kubeconfig file; those of `KUBECONFIG`, else `~/.kube/config`, else the pod's service account if unset.
    pub kubeconfig: Option<PathBuf>,
    /// The context in it; its current one if unset.
    pub context: Option<String>,
    /// The namespace; the context's, else `default` if unset.
    pub namespace: Option<String>,
}

/// An API server, and how to use it.
#[derive(Clone)]
pub struct Access {
    /// Base URL, without a trailing slash.
    pub server: String,
    /// The namespace of all objects.
    pub namespace: String,
    /// Where this comes from, for people.
    pub origin: String,
    pub(crate) trust: Trust,
    pub(crate) proxy: Option<String>,
    pub(crate) credentials: Credentials,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access")
            .field("server", &self.server)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// The authorities that the server's certificate is checked against.
#[derive(Clone)]
pub(crate) enum Trust {
    Public,
    Own(Vec<u8>),
    Unchecked,
}

/// The credentials of requests. They are secrets.
#[derive(Clone)]
pub(crate) enum Credentials {
    None,
    Token(String),
    /// A file that is read for each request, because its content is rotated.
    TokenFile(PathBuf),
    Basic(String, String),
    Certificate {
        certificate: Vec<u8>,
        key: Vec<u8>,
    },
    Program(Box<Exec>),
}

impl Access {
    /// Resolves the settings. `variable` returns an environment variable.
    ///
    /// # Errors
    /// No cluster is configured, or a file is invalid; the text names it and never shows its content.
    pub fn resolve(asked: &AccessAsked, variable: &dyn Fn(&str) -> Option<String>) -> Result<Access, String> {
        let access = match files(asked, variable) {
            Some(paths) => of_kubeconfig(&Kubeconfig::read(&paths)?, asked, &paths)?,
            None => of_account(asked, variable)?,
        };
        check_name("namespace", &access.namespace)?;
        Ok(access)
    }
}

/// Checks a name of an object (RFC 1123 label).
///
/// # Errors
/// The name is invalid.
pub fn check_name(what: &str, name: &str) -> Result<(), String> {
    let is_plain = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit();
    let is_valid = !name.is_empty()
        && name.len() <= 63
        && name.chars().all(|char| is_plain(char) || char == '-')
        && name.starts_with(is_plain)
        && name.ends_with(is_plain);
    if is_valid {
        return Ok(());
    }
    Err(format!(
        "invalid {what} `{name}`: expected up to 63 lower-case letters, digits and dashes, for example load-tests"
    ))
}

/// The kubeconfig files, or `None` where there is none and a pod's account may serve.
fn files(asked: &AccessAsked, variable: &dyn Fn(&str) -> Option<String>) -> Option<Vec<PathBuf>> {
    if let Some(path) = &asked.kubeconfig {
        return Some(vec![path.clone()]);
    }
    if let Some(list) = variable("KUBECONFIG").filter(|list| !list.is_empty()) {
        return Some(std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect());
    }
    let home = variable("HOME").map(|home| Path::new(&home).join(".kube/config"));
    home.filter(|path| path.exists()).map(|path| vec![path])
}

fn of_account(asked: &AccessAsked, variable: &dyn Fn(&str) -> Option<String>) -> Result<Access, String> {
    let (host, port) = (variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
    let (Some(host), Some(port)) = (host, port) else {
        return Err("no Kubernetes cluster is configured: set --kubeconfig or KUBECONFIG to a kubeconfig file, or create \
                    ~/.kube/config"
            .to_owned());
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let own = |name: &str| read(&Path::new(ACCOUNT).join(name));
    let namespace = || own("namespace").ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let namespace = asked.namespace.clone().or_else(namespace).unwrap_or_else(|| "default".to_owned());
    Ok(Access {
        server: format!("https://{host}:{port}"),
        namespace: namespace.trim().to_owned(),
        origin: "the service account of this pod".to_owned(),
        trust: Trust::Own(own("ca.crt")?),
        proxy: None,
        credentials: Credentials::TokenFile(Path::new(ACCOUNT).join("token")),
    })
}

fn of_kubeconfig(config: &Kubeconfig, asked: &AccessAsked, paths: &[PathBuf]) -> Result<Access, String> {
    let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let shown = shown.join(", ");
    let name = asked.context.as_ref().or(config.current_context.as_ref()).filter(|name| !name.is_empty());
    let known = || {
        let names: Vec<&str> = config.contexts.iter().map(|entry| entry.name.as_str()).collect();
        if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) }
    };
    let Some(name) = name else {
        return Err(format!("no context is chosen in {shown}: set --context ({})", known()));
    };
    let context = config.contexts.iter().find(|entry| entry.name == *name);
    let Some(context) = context else {
        return Err(format!("no context `{name}` in {shown}: {}", known()));
    };
    let context = &context.entry;
    let absent = |kind: &str, name: &str| format!("no {kind} `{name}` in {shown}, which its context needs");
    let cluster = config.clusters.iter().find(|entry| entry.name == context.cluster);
    let cluster = cluster.ok_or_else(|| absent("cluster", &context.cluster))?;
    let user = config.users.iter().find(|entry| entry.name == context.user);
    let user = user.ok_or_else(|| absent("user", &context.user))?;
    let namespace =
        asked.namespace.clone().or_else(|| context.namespace.clone().filter(|name| !name.is_empty()));
    Ok(Access {
        server: server(&cluster.entry, &cluster.name)?,
        namespace: namespace.unwrap_or_else(|| "default".to_owned()),
        origin: format!("context {name} of {shown}"),
        trust: trust(cluster)?,
        proxy: cluster.entry.proxy_url.clone(),
        credentials: credentials(user)?,
    })
}

fn server(cluster: &Cluster, name: &str) -> Result<String, String> {
    if cluster.tls_server_name.is_some() {
        return Err(format!(
            "the cluster `{name}` sets tls-server-name, which is not supported: use its address instead"
        ));
    }
    let server = cluster.server.trim_end_matches('/');
    let is_url = server.starts_with("https://") || server.starts_with("http://");
    if !is_url || server.contains('@') {
        return Err(format!(
            "the cluster `{name}` has no valid server: expected https://HOST:PORT without a user"
        ));
    }
    Ok(server.to_owned())
}

fn trust(cluster: &Named<Cluster>) -> Result<Trust, String> {
    let entry = &cluster.entry;
    if entry.insecure_skip_tls_verify {
        return Ok(Trust::Unchecked);
    }
    let pem = either(
        entry.certificate_authority_data.as_deref(),
        entry.certificate_authority.as_deref(),
        &cluster.folder,
        "certificate-authority-data",
    )?;
    Ok(pem.map_or(Trust::Public, Trust::Own))
}

fn credentials(user: &Named<User>) -> Result<Credentials, String> {
    let (entry, name) = (&user.entry, &user.name);
    if entry.auth_provider.is_some() {
        return Err(format!(
            "the user `{name}` has an auth-provider, which Kubernetes removed: use exec, a token or a certificate"
        ));
    }
    if entry.impersonate.is_some() {
        return Err(format!(
            "the user `{name}` impersonates another one, which is not supported: use a user of its own"
        ));
    }
    let certificate = either(
        entry.client_certificate_data.as_deref(),
        entry.client_certificate.as_deref(),
        &user.folder,
        "client-certificate-data",
    )?;
    let key = either(
        entry.client_key_data.as_deref(),
        entry.client_key.as_deref(),
        &user.folder,
        "client-key-data",
    )?;
    if let (Some(certificate), Some(key)) = (certificate, key) {
        return Ok(Credentials::Certificate { certificate, key });
    }
    if let Some(path) = &entry.token_file {
        return Ok(Credentials::TokenFile(user.folder.join(path)));
    }
    if let Some(token) = entry.token.clone().filter(|token| !token.is_empty()) {
        return Ok(Credentials::Token(token));
    }
    if let (Some(name), Some(password)) = (&entry.username, &entry.password) {
        return Ok(Credentials::Basic(name.clone(), password.clone()));
    }
    Ok(entry.exec.clone().map_or(Credentials::None, |exec| Credentials::Program(Box::new(exec))))
}

/// The content of a field, or of the file that another field names.
fn either(
    data: Option<&str>,
    file: Option<&Path>,
    folder: &Path,
    field: &str,
) -> Result<Option<Vec<u8>>, String> {
    if let Some(data) = data.filter(|data| !data.is_empty()) {
        let decoded = STANDARD.decode(data.trim());
        return decoded
            .map(Some)
            .map_err(|_| format!("failed to read {field} of the kubeconfig: it is no Base64"));
    }
    file.map(|path| read(&folder.join(path))).transpose()
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let refuse = |why: String| format!("failed to read {}: {why}", path.display());
    let length = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if length > CREDENTIAL_BYTES_MAX {
        return Err(refuse(format!("it has {length} bytes, and the limit is {CREDENTIAL_BYTES_MAX}")));
    }
    std::fs::read(path).map_err(|error| refuse(error.to_string()))
}

/// The credentials that a program prints.
///
/// # Errors
/// The program cannot be started, fails, or prints something else. The text never shows what it printed.
pub(crate) fn run_program(exec: &Exec) -> Result<Credentials, String> {
    let name = &exec.command;
    let hint = exec.install_hint.as_deref().unwrap_or_default().trim();
    let info = json!({
        "apiVersion": exec.api_version,
        "kind": "ExecCredential",
        "spec": {"interactive": false},
    });
    let mut command = Command::new(name);
    command.args(exec.args.iter().flatten()).env("KUBERNETES_EXEC_INFO", info.to_string());
    for variable in exec.env.iter().flatten() {
        command.env(&variable.name, &variable.value);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output =
        output.map_err(|error| format!("failed to run the credential program `{name}`: {error} {hint}"))?;
    if !output.status.success() {
        return Err(format!("the credential program `{name}` failed ({}); log in again", output.status));
    }
    let printed: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("the credential program `{name}` printed no ExecCredential"))?;
    let status = &printed["status"];
    let text = |field: &str| status[field].as_str().map(str::to_owned);
    if let Some(token) = text("token") {
        return Ok(Credentials::Token(token));
    }
    match (text("clientCertificateData"), text("clientKeyData")) {
        (Some(certificate), Some(key)) => {
            Ok(Credentials::Certificate { certificate: certificate.into(), key: key.into() })
        }
        _ => Err(format!("the credential program `{name}` printed neither a token nor a certificate")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
current-context: dev
contexts:
- { name: dev, context: { cluster: c, user: u } }
- { name: prod, context: { cluster: absent, user: u, namespace: load } }
- { name: plugin, context: { cluster: c, user: p } }
clusters:
- { name: c, cluster: { server: 'https://10.0.0.1:6443/', certificate-authority-data: Y2E= } }
users:
- { name: u, user: { token: s3cret } }
- name: p
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: sh
      args: [-c, 'echo \"{\\\"status\\\": {\\\"token\\\": \\\"$NAME\\\"}}\"']
      env: [{ name: NAME, value: from-plugin }]
";

    fn resolve(asked: &AccessAsked) -> Result<Access, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config");
        std::fs::write(&path, TEXT).expect("written");
        let list = path.display().to_string();
        Access::resolve(asked, &|name| (name == "KUBECONFIG").then(|| list.clone()))
    }

    #[test]
    fn a_context_names_server_user_and_namespace() {
        let access = resolve(&AccessAsked::default()).expect("access");
        assert_eq!((access.server.as_str(), access.namespace.as_str()), ("https://10.0.0.1:6443", "default"));
        assert!(matches!(&access.trust, Trust::Own(pem) if pem == b"ca"));
        assert!(matches!(&access.credentials, Credentials::Token(token) if token == "s3cret"));
        assert!(!format!("{access:?}").contains("s3cret"));
        let asked = AccessAsked { namespace: Some("load".to_owned()), ..AccessAsked::default() };
        assert_eq!(resolve(&asked).expect("access").namespace, "load");
    }

    #[test]
    fn refusals_name_the_entry() {
        let check = |context: &str, namespace: &str, expect: &str| {
            let asked = AccessAsked {
                context: Some(context.to_owned()),
                namespace: Some(namespace.to_owned()),
                kubeconfig: None,
            };
            let error = resolve(&asked).expect_err("it is refused");
            assert!(error.contains(expect) && !error.contains("s3cret"), "{error}");
        };
        check("staging", "x", "no context `staging`");
        check("staging", "x", "it has dev, prod, plugin");
        check("prod", "x", "no cluster `absent`");
        check("dev", "Load_Tests", "invalid namespace `Load_Tests`");
        let nothing = Access::resolve(&AccessAsked::default(), &|_| None).expect_err("none is configured");
        assert!(nothing.contains("--kubeconfig"), "{nothing}");
    }

    #[test]
    fn a_program_gives_the_token() {
        let asked = AccessAsked { context: Some("plugin".to_owned()), ..AccessAsked::default() };
        let Credentials::Program(exec) = resolve(&asked).expect("access").credentials else {
            panic!("a program")
        };
        let credentials = run_program(&exec).expect("credentials");
        assert!(matches!(credentials, Credentials::Token(token) if token == "from-plugin"));
        let broken = Exec { command: "false".to_owned(), ..Exec::default() };
        assert!(run_program(&broken).is_err_and(|error| error.contains("log in again")));
    }
}
