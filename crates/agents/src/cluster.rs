//! `plimsoll kubernetes`: prints the objects of a run and the permissions that it needs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use fleet::token::{TOKEN_FILE_BYTES_MAX, Token};
use kubernetes::objects::{BATCH, CORE, Shape};
use kubernetes::permissions::Subject;
use kubernetes::{AccessAsked, Client, permissions, yaml};
use runs::{Exit, Failure};
use serde_json::Value;
use session::Context;
use session::cluster::client;
use session::hub_in_cluster::{self, HubPodOptions};
use session::terminal::print;

use crate::ClusterFlags;
use crate::flags::HUB_ACCOUNT;

/// Time after which the agents of a manifest end, whatever happens.
const DEADLINE: &str = "1h";

/// `plimsoll kubernetes`
#[derive(Clone, Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct KubernetesFlags {
    #[command(subcommand)]
    verb: KubernetesVerb,
}

#[derive(Clone, Debug, Subcommand)]
enum KubernetesVerb {
    /// Print the objects of agents as YAML, for GitOps or kubectl apply.
    Manifest(Box<ManifestFlags>),
    /// Print a Role with the least permissions of a run.
    Rbac(RbacFlags),
    /// Run the hub of a command with --hub-in-cluster, in its pod.
    #[command(hide = true)]
    Hub(HubFlags),
}

/// `plimsoll kubernetes hub`
#[derive(Clone, Debug, Args)]
struct HubFlags {
    /// Address for the calls of the command: IP:PORT
    #[arg(long, value_name = "ADDRESS")]
    listen: String,
    /// File with the token of these calls
    #[arg(long, value_name = "FILE")]
    token_file: PathBuf,
    /// Folder for the test and its results
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
}

/// `plimsoll kubernetes manifest`
#[derive(Clone, Debug, Args)]
#[command(after_help = MANIFEST_EXAMPLES)]
struct ManifestFlags {
    /// Number of agents
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    agents: u32,
    /// Address of the hub as pods reach it: HOST:PORT
    #[arg(long, value_name = "ADDRESS")]
    hub_address: String,
    /// Name of the objects
    #[arg(long, value_name = "NAME", default_value = "plimsoll-agents")]
    name: String,
    /// Time after which the agents end, whatever happens
    #[arg(long, value_name = "DURATION", default_value = DEADLINE)]
    deadline: String,
    /// File with the hub's token, printed as a Secret [default: no Secret]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Let the API server check the objects without creating them: server
    #[arg(long, value_name = "WHERE", value_parser = ["server"])]
    dry_run: Option<String>,
    #[command(flatten)]
    cluster: ClusterFlags,
}

const MANIFEST_EXAMPLES: &str = "\
The hub runs elsewhere: plimsoll run --agents 20 --agents-listen 0.0.0.0:7000 --token-file token script.js

Examples:
  plimsoll kubernetes manifest --agents 20 --image plimsoll:0.1.0 --hub-address 10.0.0.5:7000 > agents.yaml
  plimsoll kubernetes manifest --agents 20 --image plimsoll:0.1.0 --hub-address 10.0.0.5:7000 --dry-run=server";

/// `plimsoll kubernetes rbac`
#[derive(Clone, Debug, Args)]
struct RbacFlags {
    /// Namespace of the agents
    #[arg(long, value_name = "NAME", default_value = "default")]
    namespace: String,
    /// User who gets the permissions
    #[arg(long, value_name = "NAME", required_unless_present = "service_account")]
    user: Option<String>,
    /// Service account that gets them, for a hub that runs in a pod
    #[arg(long, value_name = "NAME", conflicts_with = "user")]
    service_account: Option<String>,
    /// Add what --hub-in-cluster needs: one more permission of the user, and the service account of the hub
    #[arg(long, requires = "user")]
    hub_in_cluster: bool,
    /// Service account of the hub's pod [default: plimsoll]
    #[arg(long, value_name = "NAME", requires = "hub_in_cluster")]
    hub_account: Option<String>,
}

/// Runs the subcommand.
///
/// # Errors
/// A flag is invalid, or the server refuses an object.
pub fn run(flags: &KubernetesFlags, context: &Context) -> Result<Exit, Failure> {
    match &flags.verb {
        KubernetesVerb::Manifest(flags) => manifest(flags, context),
        KubernetesVerb::Rbac(flags) => rbac(flags),
        KubernetesVerb::Hub(flags) => {
            let HubFlags { listen, token_file, folder } = flags.clone();
            hub_in_cluster::serve(&HubPodOptions { listen, token_file, folder }, context)
        }
    }
}

fn rbac(flags: &RbacFlags) -> Result<Exit, Failure> {
    kubernetes::access::check_name("--namespace", &flags.namespace).map_err(refused)?;
    let user = || Subject::User(flags.user.clone().unwrap_or_default());
    let subject = flags.service_account.clone().map_or_else(user, Subject::ServiceAccount);
    let account = flags.hub_account.as_deref().unwrap_or(HUB_ACCOUNT);
    kubernetes::access::check_name("--hub-account", account).map_err(refused)?;
    let documents = match flags.hub_in_cluster {
        true => permissions::roles_with_hub(&flags.namespace, &subject, account),
        false => permissions::role(&flags.namespace, &[subject]),
    };
    print(&yaml::stream(&documents));
    Ok(Exit::Ok)
}

fn manifest(flags: &ManifestFlags, context: &Context) -> Result<Exit, Failure> {
    kubernetes::access::check_name("--name", &flags.name).map_err(refused)?;
    let deadline = runs::parse_length("--deadline", &flags.deadline, Exit::InvalidConfig)?;
    if deadline < Duration::from_secs(1) {
        return Err(refused(format!("invalid --deadline {}: expected at least 1s", flags.deadline)));
    }
    let (settings, _) = flags.cluster.asked(Some(flags.hub_address.clone())).resolve(None)?;
    // The namespace of a context is read only where the server is asked.
    let server = flags.dry_run.as_ref().map(|_| client(&access(flags), context)).transpose()?;
    let named = flags.cluster.namespace.clone();
    let of_server = || server.as_ref().map(|client| client.access().namespace.clone());
    let namespace = named.or_else(of_server).unwrap_or_else(|| "default".to_owned());
    kubernetes::access::check_name("--namespace", &namespace).map_err(refused)?;
    let shape = settings.shape(&namespace, flags.name.clone(), flags.agents, deadline);
    let documents = documents(&shape, flags)?;
    print(&yaml::stream(&documents));
    match &server {
        Some(client) => check(client, &documents, context),
        None => Ok(Exit::Ok),
    }
}

fn access(flags: &ManifestFlags) -> AccessAsked {
    flags.cluster.asked(None).access
}

fn documents(shape: &Shape, flags: &ManifestFlags) -> Result<Vec<(&'static str, Value)>, Failure> {
    let job = ("Agents: each dials the hub, runs its part of the test, and exits.", shape.job());
    let Some(path) = &flags.token_file else {
        let comment = "Agents: each dials the hub, runs its part of the test, and exits. They wait for a Secret of the same name\n\
                       with the key `token`: kubectl create secret generic NAME --from-file=token=TOKEN_FILE";
        return Ok(vec![(comment, shape.job())]);
    };
    let refuse = |why: String| refused(format!("failed to read {}: {why}", path.display()));
    let text =
        files::read_given_text(path, TOKEN_FILE_BYTES_MAX).map_err(|error| refuse(error.to_string()))?;
    let token = Token::parse(&text).map_err(|error| refuse(error.to_string()))?;
    let secret = (
        "The token of one run. It is a secret: keep it out of repositories.",
        shape.secret(&token.to_line(), None),
    );
    Ok(vec![secret, job])
}

/// Lets the server check each object.
fn check(client: &Client, documents: &[(&'static str, Value)], context: &Context) -> Result<Exit, Failure> {
    for (_, object) in documents {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text("kind"), object["metadata"]["name"].as_str().unwrap_or_default().to_owned());
        let path = match kind.as_str() {
            "Job" => client.path(BATCH, "jobs"),
            _ => client.path(CORE, "secrets"),
        };
        client
            .create(&path, object, true)
            .map_err(|error| refused(format!("the server refuses the {kind} {name}: {error}")))?;
        context.logger.report(&format!("the server accepts the {kind} {name} (dry run)"));
    }
    Ok(Exit::Ok)
}

fn refused(text: impl Into<String>) -> Failure {
    Failure::new(Exit::InvalidConfig, text)
}
