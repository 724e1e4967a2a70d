//! The kubeconfig file: clusters, users and contexts
//! (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The largest kubeconfig file, bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The parts of kubeconfig files that matter here, merged.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Kubeconfig {
    pub(crate) current_context: Option<String>,
    pub(crate) contexts: Vec<Named<ContextEntry>>,
    pub(crate) clusters: Vec<Named<Cluster>>,
    pub(crate) users: Vec<Named<User>>,
}

/// An entry of a list. Its content has the key of the list in the singular.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Named<T> {
    pub(crate) name: String,
    #[serde(alias = "context", alias = "cluster", alias = "user")]
    pub(crate) entry: T,
    /// The folder of the file, which relative paths start from.
    #[serde(skip)]
    pub(crate) folder: PathBuf,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ContextEntry {
    pub(crate) cluster: String,
    pub(crate) user: String,
    pub(crate) namespace: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct Cluster {
    pub(crate) server: String,
    pub(crate) certificate_authority: Option<PathBuf>,
    pub(crate) certificate_authority_data: Option<String>,
    pub(crate) insecure_skip_tls_verify: bool,
    pub(crate) tls_server_name: Option<String>,
    pub(crate) proxy_url: Option<String>,
}

/// A user. It holds secrets and is never shown.
#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(crate) struct User {
    pub(crate) token: Option<String>,
    #[serde(rename = "tokenFile")]
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) client_certificate: Option<PathBuf>,
    pub(crate) client_certificate_data: Option<String>,
    pub(crate) client_key: Option<PathBuf>,
    pub(crate) client_key_data: Option<String>,
    pub(crate) username: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) exec: Option<Exec>,
    pub(crate) auth_provider: Option<serde_yaml_ng::Value>,
    #[serde(rename = "as")]
    pub(crate) impersonate: Option<String>,
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").finish_non_exhaustive()
    }
}

/// A program that prints credentials
/// (<https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins>).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Exec {
    pub(crate) api_version: String,
    pub(crate) command: String,
    pub(crate) args: Option<Vec<String>>,
    pub(crate) env: Option<Vec<ExecVariable>>,
    pub(crate) install_hint: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ExecVariable {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl Kubeconfig {
    /// Reads files in order; the first to name an entry wins. Files that do not exist are left out unless there is only one.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Kubeconfig, String> {
        let mut merged = Kubeconfig::default();
        let mut is_any = false;
        for path in paths {
            if paths.len() > 1 && !path.exists() {
                continue;
            }
            is_any = true;
            merged.merge(read_file(path)?);
        }
        if is_any {
            return Ok(merged);
        }
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        Err(format!("failed to read the kubeconfig: none of {} exists", shown.join(", ")))
    }

    fn merge(&mut self, other: Kubeconfig) {
        self.current_context = self.current_context.take().or(other.current_context);
        extend(&mut self.contexts, other.contexts);
        extend(&mut self.clusters, other.clusters);
        extend(&mut self.users, other.users);
    }
}

fn extend<T>(entries: &mut Vec<Named<T>>, others: Vec<Named<T>>) {
    let known: BTreeMap<String, ()> = entries.iter().map(|entry| (entry.name.clone(), ())).collect();
    entries.extend(others.into_iter().filter(|entry| !known.contains_key(&entry.name)));
}

fn read_file(path: &Path) -> Result<Kubeconfig, String> {
    let refuse = |why: String| format!("failed to read the kubeconfig {}: {why}", path.display());
    let length = std::fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if length > FILE_BYTES_MAX {
        return Err(refuse(format!("it has {length} bytes, and the limit is {FILE_BYTES_MAX}")));
    }
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    parse(&text, path.parent().unwrap_or(Path::new(""))).map_err(refuse)
}

/// Parses a file. The error has no text of the file, which holds secrets.
fn parse(text: &str, folder: &Path) -> Result<Kubeconfig, String> {
    let mut config: Kubeconfig = serde_yaml_ng::from_str(text).map_err(|error| {
        let place = error.location().map_or_else(String::new, |at| format!(", line {}", at.line()));
        format!("it is no kubeconfig{place}; `kubectl config view` shows a valid one")
    })?;
    config.contexts.iter_mut().for_each(|entry| folder.clone_into(&mut entry.folder));
    config.clusters.iter_mut().for_each(|entry| folder.clone_into(&mut entry.folder));
    config.users.iter_mut().for_each(|entry| folder.clone_into(&mut entry.folder));
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
apiVersion: v1
kind: Config
current-context: dev
contexts:
- name: dev
  context: { cluster: c, user: u, namespace: load }
clusters:
- name: c
  cluster: { server: 'https://10.0.0.1:6443', certificate-authority: ca.crt }
users:
- name: u
  user: { token: s3cret }
";

    #[test]
    fn entries_are_read_with_their_folder() {
        let config = parse(TEXT, Path::new("config-folder")).expect("a kubeconfig");
        assert_eq!(config.current_context.as_deref(), Some("dev"));
        assert_eq!(config.contexts[0].entry.namespace.as_deref(), Some("load"));
        assert_eq!(config.clusters[0].folder, Path::new("config-folder"));
        assert_eq!(config.users[0].entry.token.as_deref(), Some("s3cret"));
        assert!(!format!("{config:?}").contains("s3cret"));
    }

    #[test]
    fn the_first_file_wins_and_errors_show_no_content() {
        let mut merged = parse(TEXT, Path::new("a")).expect("a kubeconfig");
        merged.merge(parse(&TEXT.replace("s3cret", "other"), Path::new("b")).expect("a kubeconfig"));
        assert_eq!((merged.users.len(), merged.users[0].entry.token.as_deref()), (1, Some("s3cret")));
        let error = parse("users: [s3cret", Path::new("")).expect_err("it is broken");
        assert!(error.contains("line") && !error.contains("s3cret"), "{error}");
        assert!(parse("users: s3cret\n", Path::new("")).is_err_and(|error| !error.contains("s3cret")));
    }
}
