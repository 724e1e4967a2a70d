//! `--hub-in-cluster`: the words and files of the command in a pod.

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};
use runs::{Exit, Failure};
use session::Context;
use session::hub_in_cluster::{self, HubInCluster};

/// The packed test, in the folder of the command.
const ARCHIVE: &str = "test.tar";

/// The project file.
const PROJECT: &str = "plimsoll.toml";

/// Maximum size of a file that a flag names, bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Flags about this machine: the packed test has what they mean, or the pod has its own.
const OWN_FLAGS: &[&str] = &[
    "address",
    "allow_exec",
    "cache",
    "config",
    "context",
    "frozen",
    "hub_account",
    "hub_in_cluster",
    "kind",
    "kubeconfig",
    "lock",
    "namespace",
    "project",
    "runs",
    "script",
    "secret_source",
];

/// Runs the command of this process in a pod, with its packed test.
///
/// # Errors
/// A flag names a file that cannot be sent, or the pod cannot be started, or is lost.
pub fn run(
    hub: HubInCluster,
    archive: Vec<u8>,
    mut command: Command,
    context: &Context,
) -> Result<Exit, Failure> {
    command.build();
    // The words of this process again: they were valid before.
    let matches = command.clone().get_matches();
    let (mut words, mut files) = (words(&command, &matches)?, vec![(ARCHIVE.to_owned(), archive)]);
    for (number, source) in secret_sources(&matches).into_iter().enumerate() {
        let Some(path) = source.strip_prefix("file=") else {
            words.push(format!("--secret-source={source}"));
            continue;
        };
        let name = format!("secrets-{number}");
        words.push(format!("--secret-source=file={name}"));
        files.push((name, read(path)?));
    }
    if let Ok(project) = files::read_given_text(PROJECT.as_ref(), FILE_BYTES_MAX) {
        files.push((PROJECT.to_owned(), project.into()));
    }
    words.push(ARCHIVE.to_owned());
    hub_in_cluster::run(HubInCluster { words, files, ..hub }, context)
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    let read = files::read_given_text(path.as_ref(), FILE_BYTES_MAX);
    let text =
        read.map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to read {path}: {error}")))?;
    Ok(text.into())
}

fn secret_sources(matches: &ArgMatches) -> Vec<String> {
    let values = matches.get_many::<String>("secret_source");
    values.into_iter().flatten().cloned().collect()
}

/// The subcommand with the flags that a pod gets, each as one word.
fn words(command: &Command, matches: &ArgMatches) -> Result<Vec<String>, Failure> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(Vec::new()) };
    let mut words = vec![name.to_owned()];
    let arguments = command.find_subcommand(name).map(Command::get_arguments);
    for argument in arguments.into_iter().flatten() {
        let id = argument.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(long) = argument.get_long().filter(|_| is_given && !OWN_FLAGS.contains(&id)) else {
            continue;
        };
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            words.push(format!("--{long}"));
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let value = value.to_string_lossy();
            check(long, &value)?;
            words.push(format!("--{long}={value}"));
        }
    }
    Ok(words)
}

/// Refuses files that only this machine has.
fn check(long: &str, value: &str) -> Result<(), Failure> {
    let is_script = long == "interleave" && !value.contains('=');
    let is_outside = value.starts_with('/') || value.contains("=/") || value.contains("../");
    let text = match (is_script, is_outside) {
        (true, _) => format!(
            "failed to use --{long} {value} with --hub-in-cluster: use a variable of __ENV, NAME=VALUE"
        ),
        (_, true) if WRITTEN.contains(&long) => {
            format!(
                "failed to use --{long} {value} with --hub-in-cluster: use a path below this folder, such as results.json"
            )
        }
        _ => return Ok(()),
    };
    Err(Failure::new(Exit::InvalidConfig, text))
}

/// Flags with files that the command writes.
const WRITTEN: &[&str] = &["console-output", "log-output", "out", "report", "summary-export"];
