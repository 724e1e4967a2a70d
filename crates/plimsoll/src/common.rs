//! What every verb needs: the environment, the config file, the log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalogue::{Catalogue, Location};
use model::plan::Compat;
use model::{Epoch, LogLevel, SystemClock};
use pages::{Library, Own};
use plan::{Options, PlanError, Warning};
use report::log::LogFormat;
use runs::bounded::read_limited;
use runs::{Exit, Failure, quoted};

use crate::env::Environment;
use crate::flags::{CompatFlag, GlobalFlags};
use crate::logger::{Logger, LoggerConfig, Target};
use crate::loki::LokiConfig;
use crate::secrets;

/// The largest config file that is read.
const CONFIG_BYTES_MAX: u64 = 16 << 20;

/// What the flags of all verbs mean.
#[derive(Clone)]
pub(crate) struct Common {
    /// The process's variables.
    pub(crate) env: Environment,
    /// What the config file says.
    pub(crate) config: Options,
    /// Where everything is said.
    pub(crate) logger: Arc<Logger>,
    /// Neither banner nor progress.
    pub(crate) is_quiet: bool,
    /// Whether colours are allowed, where there is a terminal.
    pub(crate) may_colour: bool,
    /// Ties the run to the wall clock.
    pub(crate) epoch: Epoch,
    /// What scripts may ask for and nobody may read.
    pub(crate) secrets: Arc<script::Secrets>,
    /// The flag `--runs`.
    runs: Option<String>,
    /// The flag `--address`.
    address: Option<String>,
}

impl Common {
    /// Decides what was meant. `console_output` is the flag of that name, of verbs that have it.
    ///
    /// # Errors
    /// A flag, variable or the config file cannot be understood.
    pub(crate) fn resolve(flags: &GlobalFlags, console_output: Option<&str>) -> Result<Common, Failure> {
        let env = Environment::of_process();
        let (config, warnings) = read_config(flags, &env)?;
        let epoch = Epoch::anchor(&SystemClock);
        let may_colour = may_colour(flags, &env)?;
        let is_verbose = flags.verbose.or(env.switch("VERBOSE")?).unwrap_or(false);
        let console = console_output
            .or_else(|| env.setting("CONSOLE_OUTPUT"))
            .or(config.console_output.as_deref())
            .filter(|path| !path.is_empty())
            .map(PathBuf::from);
        let logger = Logger::new(&LoggerConfig {
            target: target(flags, &env)?,
            format: format(flags, &env)?,
            is_verbose,
            may_colour,
            console,
            epoch,
        });
        let logger = logger.map_err(|(path, error)| {
            let text = format!("failed to open {} to write the log: {error}", path.display());
            Failure::new(Exit::Other, text)
        })?;
        let secrets = secrets::read(flags, &env)?;
        let is_quiet = flags.quiet.or(env.switch("QUIET")?).unwrap_or(false);
        let common = Common {
            env,
            config,
            logger: Arc::new(logger),
            is_quiet,
            may_colour,
            epoch,
            secrets: Arc::new(secrets),
            runs: flags.runs.clone(),
            address: flags.address.clone(),
        };
        common.warn_all(&warnings);
        if flags.profiling_enabled.or(common.env.switch("PROFILING_ENABLED")?).unwrap_or(false) {
            let text =
                "--profiling-enabled has no effect: it serves the profiles of a Go program, and this is none";
            common.logger.say(LogLevel::Warn, text);
        }
        Ok(common)
    }

    /// The same without banner and progress.
    pub(crate) fn quiet(&self) -> Common {
        Common { is_quiet: true, ..self.clone() }
    }

    /// Where runs are stored: as the flag says, the variable `PLIMSOLL_RUNS`, or in the user's data folder.
    ///
    /// # Errors
    /// There is no such place, or the user has no data folder.
    pub(crate) fn catalogue(&self) -> Result<Catalogue, Failure> {
        let (location, local) = self.place_of_runs()?;
        Ok(Catalogue::open(location, &local))
    }

    /// All runs for the page, with what is written on it beside them: in their folder, or on this machine where they are in a
    /// bucket. `own` is the run that this process runs.
    ///
    /// # Errors
    /// As above.
    pub(crate) fn library(&self, own: Option<Own>) -> Result<Library, Failure> {
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
    pub(crate) fn data_file(&self, name: &str) -> Option<PathBuf> {
        data_folder(&self.env).map(|folder| folder.join(name))
    }

    /// The file of this machine's calibration; `None` where the user has no data folder.
    pub(crate) fn calibration_file(&self) -> Option<PathBuf> {
        self.data_file(runs::calibration::FILE)
    }

    /// Where what can be had again is kept: as the flag says, the variable `PLIMSOLL_CACHE`, or our own folder among the
    /// user's caches; `None` where the user has none.
    pub(crate) fn cache_folder(&self, flag: Option<&Path>) -> Option<PathBuf> {
        let set = |name: &str| self.env.get(name).filter(|it| !it.is_empty());
        let named = flag.map(Path::to_owned).or_else(|| set("PLIMSOLL_CACHE").map(PathBuf::from));
        // The XDG specification has relative paths ignored.
        let xdg = || set("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || Some(Path::new(set("HOME")?).join(".cache"));
        named.or_else(|| Some(xdg().or_else(home)?.join("plimsoll")))
    }

    /// The place for runs that the flag names, which other commands need too.
    pub(crate) fn runs_flag(&self) -> Option<&str> {
        self.runs.as_deref()
    }

    /// The same as words of a command line; empty where it names none.
    pub(crate) fn runs_words(&self) -> String {
        self.runs_flag().map_or_else(String::new, |place| format!(" --runs {}", quoted(place)))
    }

    /// Where a run's REST API is: as the flag or the variable says, where one of them does.
    pub(crate) fn address(&self) -> Option<&str> {
        let flag = self.address.as_deref().filter(|address| !address.is_empty());
        flag.or_else(|| self.env.setting("ADDRESS"))
    }

    /// What opens a run's REST API to others than this machine, and what its client shows there.
    pub(crate) fn api_token(&self) -> Option<&str> {
        self.env.get("PLIMSOLL_API_TOKEN").filter(|token| !token.is_empty())
    }

    /// A client of the run at the address that was given, or at k6's default.
    pub(crate) fn client(&self) -> server::Client {
        server::Client::new(self.address().unwrap_or(server::ADDRESS_DEFAULT), self.api_token())
    }

    /// Logs warnings of the room `plan`.
    pub(crate) fn warn_all(&self, warnings: &[Warning]) {
        for warning in warnings {
            self.logger.say(LogLevel::Warn, warning.to_string());
        }
    }

    /// Whose numbers are reported.
    ///
    /// # Errors
    /// The variable has neither value.
    pub(crate) fn compat(&self, flag: Option<CompatFlag>) -> Result<Compat, Failure> {
        match (flag, self.env.get("PLIMSOLL_COMPAT")) {
            (Some(CompatFlag::Strict), _) | (None, Some("strict")) => Ok(Compat::Strict),
            (Some(CompatFlag::Honest), _) | (None, Some("honest" | "") | None) => Ok(Compat::Honest),
            (None, Some(other)) => Err(Failure::new(
                Exit::InvalidConfig,
                format!("failed to read PLIMSOLL_COMPAT: {other:?} is neither honest nor strict"),
            )),
        }
    }
}

/// A [`PlanError`] in one text, with k6's code: flags that cannot be read are not a matter of configuration there.
pub(crate) fn plan_failure(error: &PlanError) -> Failure {
    let exit = match error {
        PlanError::Options { level: plan::Level::CommandLine, .. } => Exit::Other,
        _ => Exit::InvalidConfig,
    };
    Failure::new(exit, format!("failed to {error}"))
}

/// Fails with the first that was asked for.
pub(crate) fn refuse_first<'a>(
    absent: impl IntoIterator<Item = (bool, &'a str, &'a str)>,
) -> Result<(), Failure> {
    match absent.into_iter().find(|(is_asked_for, ..)| *is_asked_for) {
        None => Ok(()),
        Some((_, name, why)) => {
            Err(Failure::new(Exit::Other, format!("failed to do what {name} asks for: {why}")))
        }
    }
}

fn may_colour(flags: &GlobalFlags, env: &Environment) -> Result<bool, Failure> {
    let refused = flags.no_color.or(env.switch("NO_COLOR")?).unwrap_or(false);
    // https://no-color.org: any value but the empty one.
    let refused_by_all = env.get("NO_COLOR").is_some_and(|value| !value.is_empty());
    let is_dumb = env.get("TERM") == Some("dumb");
    Ok(!refused && !refused_by_all && !is_dumb)
}

fn format(flags: &GlobalFlags, env: &Environment) -> Result<LogFormat, Failure> {
    let Some(name) = flags.log_format.as_deref().or_else(|| env.setting("LOG_FORMAT")) else {
        return Ok(LogFormat::Text);
    };
    LogFormat::parse(name).ok_or_else(|| {
        let text = format!("failed to read --log-format: {name:?} is none of text, json and raw");
        Failure::new(Exit::Other, text)
    })
}

fn target(flags: &GlobalFlags, env: &Environment) -> Result<Target, Failure> {
    let text = flags.log_output.as_deref().or_else(|| env.setting("LOG_OUTPUT")).unwrap_or("stderr");
    parse_target(text)
        .map_err(|why| Failure::new(Exit::Other, format!("failed to read --log-output: {text:?} {why}")))
}

fn parse_target(text: &str) -> Result<Target, String> {
    match text.split_once('=').unwrap_or((text, "")) {
        ("stderr", "") => Ok(Target::Stderr),
        ("stdout", "") => Ok(Target::Stdout),
        ("none", "") => Ok(Target::Nowhere),
        ("file", "") => Err("names no file; write file=PATH".into()),
        ("file", path) => Ok(Target::File(path.into())),
        ("loki", settings) => LokiConfig::parse(settings).map(Target::Loki),
        _ => Err("is none of stderr, stdout, none, file=PATH and loki=URL".into()),
    }
}

fn read_config(flags: &GlobalFlags, env: &Environment) -> Result<(Options, Vec<Warning>), Failure> {
    let asked = flags.config.clone().or_else(|| env.setting("CONFIG").map(PathBuf::from));
    let path = match asked {
        Some(path) => path,
        None => match default_configs(env).into_iter().find(|path| path.is_file()) {
            Some(path) => path,
            None => return Ok(Default::default()),
        },
    };
    let text = read_limited(&path, CONFIG_BYTES_MAX).map_err(|error| {
        Failure::new(
            Exit::InvalidConfig,
            format!("failed to read the config file {}: {error}", path.display()),
        )
    })?;
    Options::from_config_json(&text).map_err(|error| {
        let mut failure = plan_failure(&error);
        failure.text += &format!("\n\tin {}", path.display());
        failure
    })
}

/// Where a config file is looked for if none is named: our own folder, then k6's.
fn default_configs(env: &Environment) -> Vec<PathBuf> {
    let xdg = env.get("XDG_CONFIG_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let folder = xdg.or_else(|| Some(Path::new(env.get("HOME")?).join(".config")));
    folder.map_or_else(Vec::new, |folder| {
        ["plimsoll", "k6"].map(|name| folder.join(name).join("config.json")).to_vec()
    })
}

/// Our own folder among the user's data.
fn data_folder(env: &Environment) -> Option<PathBuf> {
    let xdg = env.get("XDG_DATA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    let home = || Some(Path::new(env.get("HOME").filter(|it| !it.is_empty())?).join(".local/share"));
    // The XDG specification has relative paths ignored.
    xdg.filter(|path| path.is_absolute()).or_else(home).map(|folder| folder.join("plimsoll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_targets_are_read() {
        let check =
            |text: &str, expect: Option<Target>| assert_eq!(parse_target(text).ok(), expect, "{text}");
        check("stderr", Some(Target::Stderr));
        check("stdout", Some(Target::Stdout));
        check("none", Some(Target::Nowhere));
        check("file=a=b.log", Some(Target::File("a=b.log".into())));
        check("file", None);
        check("loki=http://x", LokiConfig::parse("http://x").ok().map(Target::Loki));
        check("loki=http://x,bogus=1", None);
        check("zzz", None);
    }
}
