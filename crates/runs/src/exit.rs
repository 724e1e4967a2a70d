//! Exit codes: k6's, and those that Plimsoll adds.

/// The result of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything went as planned.
    Ok,
    /// A threshold was crossed.
    ThresholdsFailed,
    /// `setup()` took too long.
    SetupTimeout,
    /// `teardown()` took too long.
    TeardownTimeout,
    /// Stopped by the REST API.
    Remote,
    /// The REST API cannot be served.
    CannotServe,
    /// The options or thresholds are invalid.
    InvalidConfig,
    /// SIGINT or SIGTERM.
    Signal,
    /// The script threw outside of iterations or, unlike in k6, in every iteration.
    ScriptException,
    /// `test.abort()`.
    ScriptAborted,
    /// A bug in this program.
    Panic,
    /// `test.fail()`.
    MarkedFailed,
    /// The measurement is invalid, and `--require-valid` is set.
    NotValid,
    /// The auditor found a problem that `--fail-on` names, or a run's file is damaged; k6 has no such code.
    AuditFailed,
    /// A comparison found a regression, and its flags make that a failure.
    Regressed,
    /// A comparison was to fail on regressions, and nothing in it could be judged.
    NotJudged,
    /// The run is not in its store, or parts of it are missing there; k6 stores no runs.
    NotStored,
    /// The hub of an agent does not answer; k6 has no agents.
    HubLost,
    /// Any other error, such as a missing file or an unknown flag.
    Other,
}

impl Exit {
    /// Returns the exit with this code; [`Exit::Other`] if there is none.
    pub fn of_code(code: u8) -> Exit {
        FROM_GOOD_TO_BAD.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Other)
    }

    /// Returns the exit code: k6's, or one from 120 for results that k6 does not have.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::ThresholdsFailed => 99,
            Exit::SetupTimeout => 100,
            Exit::TeardownTimeout => 101,
            Exit::Remote => 103,
            Exit::InvalidConfig => 104,
            Exit::Signal => 105,
            Exit::CannotServe => 106,
            Exit::ScriptException => 107,
            Exit::ScriptAborted => 108,
            Exit::Panic => 109,
            Exit::MarkedFailed => 110,
            Exit::NotValid => 120,
            Exit::AuditFailed => 122,
            Exit::Regressed => 121,
            Exit::NotJudged => 125,
            Exit::HubLost => 124,
            Exit::NotStored => 123,
            Exit::Other => 255,
        }
    }
}

/// Exits from best to worst. Results about the target come before errors that leave its state unknown.
const FROM_GOOD_TO_BAD: [Exit; 19] = [
    Exit::Ok,
    Exit::AuditFailed,
    Exit::NotStored,
    Exit::ThresholdsFailed,
    Exit::MarkedFailed,
    Exit::Regressed,
    Exit::NotJudged,
    Exit::NotValid,
    Exit::Signal,
    Exit::Remote,
    Exit::ScriptAborted,
    Exit::TeardownTimeout,
    Exit::SetupTimeout,
    Exit::ScriptException,
    Exit::HubLost,
    Exit::CannotServe,
    Exit::InvalidConfig,
    Exit::Other,
    Exit::Panic,
];

impl Exit {
    /// Returns the worse of two exits.
    pub fn or_worse(self, other: Exit) -> Exit {
        let rank = |exit| FROM_GOOD_TO_BAD.iter().position(|it| *it == exit);
        if rank(other) > rank(self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_runs_the_worst_decides() {
        let of = |exits: &[Exit]| exits.iter().copied().fold(Exit::Ok, Exit::or_worse).code();
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[Exit::ThresholdsFailed, Exit::Ok]), 99);
        assert_eq!(of(&[Exit::NotStored, Exit::Ok]), 123);
        assert_eq!(of(&[Exit::NotStored, Exit::ThresholdsFailed]), 99);
        assert_eq!(of(&[Exit::ThresholdsFailed, Exit::Regressed, Exit::Ok]), 121);
        assert_eq!(of(&[Exit::Signal, Exit::Regressed]), 105);
        assert_eq!(of(&[Exit::Other, Exit::ScriptException]), 255);
        let mut codes: Vec<u8> = FROM_GOOD_TO_BAD.iter().map(|exit| exit.code()).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), FROM_GOOD_TO_BAD.len(), "each has one place");
    }
}
