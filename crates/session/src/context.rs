//! The surroundings of a run: the process's variables, the config file, the log, and the places of the user's files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalogue::{Catalogue, Location};
use model::{Epoch, LogLevel};
use pages::{Library, Own};
use plan::{Options, PlanError, Warning};
use runs::{Exit, Failure, calibration, quoted};

use crate::env::Environment;
use crate::logger::Logger;

/// The surroundings of a run, from the flags that all verbs have.
#[derive(Clone)]
pub struct Context {
    /// The process's variables.
    pub env: Environment,
    /// The options of the config file.
    pub config: Options,
    /// The log.
    pub logger: Arc<Logger>,
    /// Neither banner nor progress.
    pub is_quiet: bool,
    /// Whether colours are allowed, where there is a terminal.
    pub may_colour: bool,
    /// Ties the run to the wall clock.
    pub epoch: Epoch,
    /// Secrets that scripts may read, and that are kept out of every output.
    pub secrets: Arc<script::Secrets>,
    /// The flag `--runs`.
    pub runs: Option<String>,
    /// The flag `--address`.
    pub address: Option<String>,
}

impl Context {
    /// The same without banner and progress.
    pub fn quiet(&self) -> Context {
        Context { is_quiet: true, ..self.clone() }
    }

    /// Where runs are stored: as the flag says, the variable `PLIMSOLL_RUNS`, or in the user's data folder.
    ///
    /// # Errors
    /// There is no such place, or the user has no data folder.
    pub fn catalogue(&self) -> Result<Catalogue, Failure> {
        let (location, local) = self.place_of_runs()?;
        Ok(Catalogue::open(location, &local))
    }

    /// All runs for the page, with what is written on it beside them: in their folder, or on this machine where they are in a
    /// bucket. `own` is the run that this process runs.
    ///
    /// # Errors
    /// As above.
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

    /// Where runs are, and where what a bucket needs on this machine is.
    fn place_of_runs(&self) -> Result<(Location, PathBuf), Failure> {
        let data = data_folder(&self.env);
        let named =
            self.runs.as_deref().or_else(|| self.env.get("PLIMSOLL_RUNS")).filter(|it| !it.is_empty());
        let location = match (named, &data) {
            (Some(text), _) => Location::parse(text)
                .map_err(|error| Failure::new(Exit::InvalidConfig, format!("failed to {error}")))?,
            (None, Some(data)) => Location::Directory(data.join("runs")),
            (None, None) => {
                let text = "failed to find a place for runs: neither XDG_DATA_HOME nor HOME is set; name one with --runs";
                return Err(Failure::new(Exit::InvalidConfig, text));
            }
        };
        let local = data.unwrap_or_else(|| std::env::temp_dir().join("plimsoll"));
        Ok((location, local.join("buckets")))
    }

    /// A file among the user's data; `None` where the user has none.
    pub fn data_file(&self, name: &str) -> Option<PathBuf> {
        data_folder(&self.env).map(|folder| folder.join(name))
    }

    /// The file of this machine's calibration; `None` where the user has no data folder.
    pub fn calibration_file(&self) -> Option<PathBuf> {
        self.data_file(calibration::FILE)
    }

    /// Where what can be had again is kept: as the flag says, the variable `PLIMSOLL_CACHE`, or our own folder among the
    /// user's caches; `None` where the user has none.
    pub fn cache_folder(&self, flag: Option<&Path>) -> Option<PathBuf> {
        let set = |name: &str| self.env.get(name).filter(|it| !it.is_empty());
        let named = flag.map(Path::to_owned).or_else(|| set("PLIMSOLL_CACHE").map(PathBuf::from));
        // The XDG specification has relative paths ignored.
        let xdg = || set("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || Some(Path::new(set("HOME")?).join(".cache"));
        named.or_else(|| Some(xdg().or_else(home)?.join("plimsoll")))
    }

    /// The place for runs that the flag names, which other commands need too.
    pub fn runs_flag(&self) -> Option<&str> {
        self.runs.as_deref()
    }

    /// The same as words of a command line; empty where it names none.
    pub fn runs_words(&self) -> String {
        self.runs_flag().map_or_else(String::new, |place| format!(" --runs {}", quoted(place)))
    }

    /// Where a run's REST API is: as the flag or the variable says, where one of them does.
    pub fn address(&self) -> Option<&str> {
        let flag = self.address.as_deref().filter(|address| !address.is_empty());
        flag.or_else(|| self.env.setting("ADDRESS"))
    }

    /// What opens a run's REST API to others than this machine, and what its client shows there.
    pub fn api_token(&self) -> Option<&str> {
        self.env.get("PLIMSOLL_API_TOKEN").filter(|token| !token.is_empty())
    }

    /// A client of the run at the address that was given, or at k6's default.
    pub fn client(&self) -> server::Client {
        server::Client::new(self.address().unwrap_or(server::ADDRESS_DEFAULT), self.api_token())
    }

    /// Logs warnings of the room `plan`.
    pub fn warn_all(&self, warnings: &[Warning]) {
        for warning in warnings {
            self.logger.say(LogLevel::Warn, warning.to_string());
        }
    }
}

/// A [`PlanError`] in one text, with k6's code: flags that cannot be read are not a matter of configuration there.
pub fn plan_failure(error: &PlanError) -> Failure {
    let exit = match error {
        PlanError::Options { level: plan::Level::CommandLine, .. } => Exit::Other,
        _ => Exit::InvalidConfig,
    };
    Failure::new(exit, format!("failed to {error}"))
}

/// Fails with the first that was asked for.
pub fn refuse_first<'a>(absent: impl IntoIterator<Item = (bool, &'a str, &'a str)>) -> Result<(), Failure> {
    match absent.into_iter().find(|(is_asked_for, ..)| *is_asked_for) {
        None => Ok(()),
        Some((_, name, why)) => {
            Err(Failure::new(Exit::Other, format!("failed to do what {name} asks for: {why}")))
        }
    }
}

/// Our own folder among the user's data.
fn data_folder(env: &Environment) -> Option<PathBuf> {
    let xdg = env.get("XDG_DATA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let home = || Some(Path::new(env.get("HOME").filter(|it| !it.is_empty())?).join(".local/share"));
    // The XDG specification has relative paths ignored.
    xdg.filter(|path| path.is_absolute()).or_else(home).map(|folder| folder.join("plimsoll"))
}
