//! The surroundings of a run: environment variables, the config file, the log, and the user's folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalogue::{Catalogue, Location};
use model::{Epoch, LogLevel};
use pages::{Library, Own};
use plan::{Options, PlanError, Warning};
use redact::Redactor;
use runs::{Exit, Failure, calibration, quoted};

use crate::env::Environment;
use crate::logger::Logger;

/// The surroundings of a run, from the flags that all subcommands share.
#[derive(Clone)]
pub struct Context {
    /// The process's environment variables.
    pub env: Environment,
    /// The options of the config file.
    pub config: Options,
    /// The log.
    pub logger: Arc<Logger>,
    /// Whether banner and progress are hidden.
    pub is_quiet: bool,
    /// Whether colours are allowed on a terminal.
    pub may_colour: bool,
    /// Converts instants to the wall clock.
    pub epoch: Epoch,
    /// Secrets that scripts may read.
    pub secrets: Arc<script::Secrets>,
    /// Hides secrets in everything that is written.
    pub redactor: Redactor,
    /// The flag `--runs`.
    pub runs: Option<String>,
    /// The flag `--address`.
    pub address: Option<String>,
}

impl Context {
    /// Returns the same context without banner and progress.
    pub fn quiet(&self) -> Context {
        Context { is_quiet: true, ..self.clone() }
    }

    /// Returns the catalogue of runs: from the flag, the variable `PLIMSOLL_RUNS`, or the user's data folder.
    ///
    /// # Errors
    /// The location cannot be opened, or the user has no data folder.
    pub fn catalogue(&self) -> Result<Catalogue, Failure> {
        let (location, local) = self.place_of_runs()?;
        Ok(Catalogue::open(location, &local))
    }

    /// Returns all runs for the page. Notes are stored in the runs' folder, or on this machine if the runs are in a bucket. `own`
    /// is the run that this process executes.
    ///
    /// # Errors
    /// The catalogue cannot be opened, as in [`Context::catalogue`].
    pub fn library(&self, own: Option<Own>) -> Result<Library, Failure> {
        let (location, local) = self.place_of_runs()?;
        let folder = match &location {
            Location::Directory(folder) => folder.clone(),
            Location::Bucket { bucket, prefix } => {
                local.join(bucket).join(if prefix.is_empty() { "%".into() } else { prefix.replace('/', "%") })
            }
        };
        Ok(Library::new(Catalogue::open(location, &local), &folder, self.runs.as_deref(), own))
    }

    /// Returns the location of the runs, and the folder on this machine for data beside them.
    fn place_of_runs(&self) -> Result<(Location, PathBuf), Failure> {
        let data = data_folder(&self.env);
        let named =
            self.runs.as_deref().or_else(|| self.env.get("PLIMSOLL_RUNS")).filter(|it| !it.is_empty());
        let location = match (named, &data) {
            (Some(text), _) => Location::parse(text)
                .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))?,
            (None, Some(data)) => Location::Directory(data.join("runs")),
            (None, None) => {
                let text = "no directory for runs: neither XDG_DATA_HOME nor HOME is set; set --runs";
                return Err(Failure::new(Exit::InvalidConfig, text));
            }
        };
        let local = data.unwrap_or_else(|| std::env::temp_dir().join("plimsoll"));
        Ok((location, local.join("buckets")))
    }

    /// Returns a file in the user's data folder; `None` if the user has none.
    pub fn data_file(&self, name: &str) -> Option<PathBuf> {
        data_folder(&self.env).map(|folder| folder.join(name))
    }

    /// Returns the file of this machine's calibration; `None` if the user has no data folder.
    pub fn calibration_file(&self) -> Option<PathBuf> {
        self.data_file(calibration::FILE)
    }

    /// Returns the cache folder: from the flag, the variable `PLIMSOLL_CACHE`, or Plimsoll's folder in the user's cache; `None` if
    /// the user has none.
    pub fn cache_folder(&self, flag: Option<&Path>) -> Option<PathBuf> {
        let set = |name: &str| self.env.get(name).filter(|it| !it.is_empty());
        let named = flag.map(Path::to_owned).or_else(|| set("PLIMSOLL_CACHE").map(PathBuf::from));
        // The XDG specification requires that relative paths are ignored.
        let xdg = || set("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || Some(Path::new(set("HOME")?).join(".cache"));
        named.or_else(|| Some(xdg().or_else(home)?.join("plimsoll")))
    }

    /// Returns the value of `--runs`, which suggested commands must repeat.
    pub fn runs_flag(&self) -> Option<&str> {
        self.runs.as_deref()
    }

    /// Returns `--runs` as part of a command line; empty if it is not set.
    pub fn runs_words(&self) -> String {
        self.runs_flag().map_or_else(String::new, |place| format!(" --runs {}", quoted(place)))
    }

    /// Returns the address of the run's REST API, if a flag or variable sets it.
    pub fn address(&self) -> Option<&str> {
        let flag = self.address.as_deref().filter(|address| !address.is_empty());
        flag.or_else(|| self.env.setting("ADDRESS"))
    }

    /// Returns the token that clients of the run's REST API on other machines need.
    pub fn api_token(&self) -> Option<&str> {
        self.env.get("PLIMSOLL_API_TOKEN").filter(|token| !token.is_empty())
    }

    /// Returns a client of the run at the given address, or at k6's default.
    pub fn client(&self) -> server::Client {
        server::Client::new(self.address().unwrap_or(server::ADDRESS_DEFAULT), self.api_token())
    }

    /// Logs warnings about the plan.
    pub fn warn_all(&self, warnings: &[Warning]) {
        for warning in warnings {
            self.logger.say(LogLevel::Warn, warning.to_string());
        }
    }
}

/// Converts a [`PlanError`] to one text with k6's exit code: invalid flags are not a configuration error there.
pub fn plan_failure(error: &PlanError) -> Failure {
    let exit = match error {
        PlanError::Options { level: plan::Level::CommandLine, .. } => Exit::Other,
        _ => Exit::InvalidConfig,
    };
    Failure::new(exit, format!("failed to {error}"))
}

/// Fails with the first unsupported flag that is set.
pub fn refuse_first<'a>(absent: impl IntoIterator<Item = (bool, &'a str, &'a str)>) -> Result<(), Failure> {
    match absent.into_iter().find(|(is_asked_for, ..)| *is_asked_for) {
        None => Ok(()),
        Some((_, name, why)) => {
            Err(Failure::new(Exit::Other, format!("failed to do what {name} asks for: {why}")))
        }
    }
}

/// Returns Plimsoll's folder in the user's data folder.
fn data_folder(env: &Environment) -> Option<PathBuf> {
    let xdg = env.get("XDG_DATA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let home = || Some(Path::new(env.get("HOME").filter(|it| !it.is_empty())?).join(".local/share"));
    // The XDG specification requires that relative paths are ignored.
    xdg.filter(|path| path.is_absolute()).or_else(home).map(|folder| folder.join("plimsoll"))
}
