//! Errors in the options: all of them at once, each with the name of the option.

use std::fmt;

use crate::Level;

/// Why there is no plan. Reads after "failed to"; k6's exit code for all of them is 104.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// One source says something that cannot be understood.
    #[error("read the options of {level}:{}", list(problems))]
    Options {
        /// Which source.
        level: Level,
        /// Everything that is wrong there.
        problems: Vec<Problem>,
    },
    /// Everything could be understood, and does not make a test.
    #[error("accept the configuration:{}", list(problems))]
    Configuration {
        /// Everything that is wrong.
        problems: Vec<Problem>,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A value of the wrong type.
    #[error("option {option:?} must be {expected}, got {got}")]
    WrongType {
        /// The option, with its path: `scenarios.login.vus`.
        option: String,
        /// The type it must have.
        expected: &'static str,
        /// The value as JSON, shortened.
        got: String,
    },
    /// A value of the right type that cannot be.
    #[error("option {option:?}: {reason}")]
    Invalid {
        /// The option, with its path.
        option: String,
        /// The reason.
        reason: String,
    },
    /// Two ways to say what to run.
    #[error("using `{first}` and `{second}` options simultaneously is not allowed")]
    Conflict {
        /// One of them.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A scenario that does not work out, with everything that is wrong in it.
    #[error("scenario {scenario} has configuration errors: {}", reasons.join(", "))]
    Scenario {
        /// Its name.
        scenario: String,
        /// The reasons, each with the name of the field.
        reasons: Vec<String>,
    },
    /// A scenario calls a function that the script does not export.
    #[error("scenario {scenario}: function '{exec}' not found in exports{}", hint(nearest.as_deref()))]
    MissingExec {
        /// Its name.
        scenario: String,
        /// The function.
        exec: String,
        /// An exported function with a similar name.
        nearest: Option<String>,
    },
    /// `--scenario` names what is not there.
    #[error("--scenario {scenario}: no such scenario; there {}", present(known))]
    MissingScenario {
        /// The name.
        scenario: String,
        /// The names that exist.
        known: Vec<String>,
    },
}

/// Something that was accepted and deserves a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// An unknown option.
    UnknownOption {
        /// Who said it.
        level: Level,
        /// Its name.
        name: String,
        /// A known option with a similar name.
        nearest: Option<&'static str>,
    },
    /// An option that this source cannot set.
    NotSettableHere {
        /// Who said it.
        level: Level,
        /// Its name.
        name: &'static str,
    },
    /// A source replaced the scenarios of a lower one.
    ScenariosOverridden {
        /// Which source did.
        by: Level,
    },
    /// `vus` beside scenarios, which have VUs of their own.
    VusOverrideScenarios {
        /// Its value.
        vus: i64,
    },
    /// Stages of the option `stages` say no duration: they are left out, as in k6.
    StagesWithoutDuration {
        /// How many.
        count: usize,
    },
    /// An empty list of stages or scenarios runs one iteration.
    EmptyShortcut {
        /// `stages` or `scenarios`.
        name: &'static str,
    },
    /// Tags of two sources were joined, where k6 keeps only the higher ones.
    TagsMerged {
        /// The source whose tags were added to.
        by: Level,
    },
    /// An unknown system tag is left out, as k6 does.
    UnknownSystemTag {
        /// Its name.
        name: String,
        /// A known one with a similar name.
        nearest: Option<&'static str>,
    },
    /// A threshold that filters on a scenario that `--scenario` left out.
    ThresholdSkipped {
        /// The threshold's selector.
        selector: String,
    },
    /// A cipher suite that the TLS library lacks, beside others that it has.
    CipherSuiteUnavailable {
        /// Its name.
        name: String,
    },
    /// An option that is accepted and does nothing here.
    NoEffect {
        /// Its name.
        name: &'static str,
        /// Why.
        reason: &'static str,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnknownOption { level, name, nearest } => {
                write!(f, "unknown option {name:?} in {level}{}", hint(*nearest))
            }
            Warning::NotSettableHere { level, name } => {
                write!(f, "option {name:?} cannot be set in {level} and is ignored")
            }
            Warning::ScenariosOverridden { by } => {
                write!(f, "{by} overrides the scenarios configuration entirely")
            }
            Warning::VusOverrideScenarios { vus } => {
                write!(f, "`vus={vus}` overrides scenarios configuration")
            }
            Warning::StagesWithoutDuration { count } => {
                write!(f, "stages without a `duration` are left out, as in k6: {count} of them")
            }
            Warning::EmptyShortcut { name } => write!(
                f,
                "`{name}` was explicitly set to an empty value, running the script with 1 iteration in 1 VU"
            ),
            Warning::TagsMerged { by } => write!(
                f,
                "tags of {by} are added to the ones set before; k6 would keep only the new ones (--compat strict)"
            ),
            Warning::UnknownSystemTag { name, nearest } => {
                write!(f, "unknown system tag {name:?} is left out{}", hint(*nearest))
            }
            Warning::ThresholdSkipped { selector } => {
                write!(f, "threshold on {selector:?} is skipped: its scenario was not selected")
            }
            Warning::CipherSuiteUnavailable { name } => {
                write!(f, "cipher suite {name} is not supported and is left out")
            }
            Warning::NoEffect { name, reason } => write!(f, "option {name:?} has no effect: {reason}"),
        }
    }
}

/// The candidate closest to `name`, if it is close enough to be what was meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const SIMILARITY_MIN: f64 = 0.6;
    // The distance costs the product of the lengths, and no option is longer than this.
    const NAME_BYTES_MAX: usize = 100;
    if name.len() > NAME_BYTES_MAX {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let similarity =
        |candidate: &str| strsim::normalized_damerau_levenshtein(&lower, &candidate.to_ascii_lowercase());
    candidates
        .into_iter()
        .map(|candidate| (similarity(candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// `; did you mean …?`, or nothing.
pub(crate) fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default()
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n\t- {problem}")).collect()
}

fn present(known: &[String]) -> String {
    match known {
        [] => "are none".to_owned(),
        [one] => format!("is {one}"),
        several => format!("are {}", several.join(", ")),
    }
}
