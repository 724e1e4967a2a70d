//! The contract that every source fulfils.
//!
//! One suite of tests ([`promises`]) checks it for every source.

use std::time::Duration;

use model::{Epoch, Evidence, Instant};

/// A server's instrument that is queried for evidence.
///
/// A source is queried on a thread of its own and may block there: every call ends within [`CALL_LIMIT`], whatever the
/// server does. It only reads. Its evidence is bounded, however large the server's responses are, and has no credentials.
pub trait Source: Send {
    /// Returns the source's identity. Makes no query.
    fn about(&self) -> About;

    /// Checks every query that the source will make; a failed check includes its remedy.
    fn probe(&mut self) -> Vec<Check>;

    /// Returns the interval between queries during a run; `None` for a source that is queried once, after the run.
    fn period(&self) -> Option<Duration>;

    /// Queries the current levels and the changes since the last call. The first call of a run sets the base of counters.
    ///
    /// # Errors
    /// The server is unreachable, refuses, or responds with something unexpected.
    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError>;

    /// Passes the trace ids of the run's own requests. Trace backends look these up first.
    fn look_for(&mut self, _traces: &[u128]) {}

    /// Queries the evidence of a run that is over. Sources that only know the present return nothing.
    ///
    /// # Errors
    /// As of [`Source::sample`].
    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError>;
}

/// Maximum duration of any call of a source.
pub const CALL_LIMIT: Duration = Duration::from_secs(10);

/// Identity of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Name in the settings; the kind's name if there is only one of the kind.
    pub name: String,
    /// Kind, for example `postgresql`.
    pub kind: &'static str,
    /// Address without credentials.
    pub address: String,
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Subject of the check, for example `pg_stat_statements`.
    pub what: String,
    /// A version or a count; or the reason of the failure with the exact grant, flag or limit that resolves it.
    pub outcome: Result<String, Missing>,
}

/// A failed check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Reason.
    pub why: String,
    /// Remedy to copy and paste, for example `GRANT pg_monitor TO plimsoll`.
    pub remedy: String,
    /// Whether the source cannot work without it.
    pub is_fatal: bool,
}

/// Failure of a query.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SourceError {
    /// Class of the failure, from which the remedy follows.
    pub kind: ErrorKind,
    /// One sentence without its full stop and without credentials.
    pub message: String,
}

/// Classes of failures that need different remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// No credential, or a wrong one: SQLSTATE 28P01, HTTP 401, `NOAUTH`.
    Unauthenticated,
    /// The user lacks a permission: HTTP 403, `NOPERM`.
    Forbidden,
    /// The server has no such thing: HTTP 404.
    NotFound,
    /// The server refuses connections from this host: no line of `pg_hba.conf` matches.
    HostRefused,
    /// Everything else: unreachable, too slow, an unexpected response.
    Other,
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The run's clock.
    pub at: Instant,
    /// The wall clock by the run's epoch, nanoseconds since 1970.
    pub wall_ns: i64,
}

/// The time from the beginning to the end of a run, on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The beginning.
    pub from: Moment,
    /// The end.
    pub to: Moment,
}

impl Moment {
    /// Returns the moment of an instant.
    pub fn new(at: Instant, epoch: &Epoch) -> Moment {
        Moment { at, wall_ns: epoch.wall_unix_ns(at) }
    }
}

impl Period {
    /// Converts a wall-clock time, nanoseconds since 1970, to an instant; to the clock's origin for times before it.
    pub fn instant(&self, wall_ns: i64) -> Instant {
        let after_ns = wall_ns.saturating_sub(self.from.wall_ns);
        let from_ns = i64::try_from(self.from.at.as_ns()).unwrap_or(i64::MAX);
        Instant::from_ns(u64::try_from(from_ns.saturating_add(after_ns)).unwrap_or(0))
    }

    /// Extends the period at both ends, for series in steps.
    pub fn padded(&self, by: Duration) -> Period {
        let by_ns = i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        let earlier = Instant::from_ns(self.from.at.as_ns().saturating_sub(by_ns.unsigned_abs()));
        // The run's clock cannot go back beyond its origin, so both clocks go back by the same amount.
        let back_ns = i64::try_from(self.from.at.since(earlier).as_nanos()).unwrap_or(i64::MAX);
        Period {
            from: Moment { at: earlier, wall_ns: self.from.wall_ns.saturating_sub(back_ns) },
            to: Moment { at: self.to.at + by, wall_ns: self.to.wall_ns.saturating_add(by_ns) },
        }
    }
}

impl SourceError {
    /// Returns a failure of class [`ErrorKind::Other`].
    pub fn new(message: impl Into<String>) -> SourceError {
        SourceError::classified(ErrorKind::Other, message)
    }

    /// Returns a failure of a class.
    pub fn classified(kind: ErrorKind, message: impl Into<String>) -> SourceError {
        let message = message.into();
        SourceError { kind, message: redact::urls_hidden(&message).into_owned() }
    }
}

impl Check {
    /// Returns a successful check.
    pub fn works(what: impl Into<String>, outcome: impl Into<String>) -> Check {
        Check { what: what.into(), outcome: Ok(outcome.into()) }
    }

    /// Returns a failed check of an optional feature.
    pub fn lacks(what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> Check {
        let missing = Missing { why: why.into(), remedy: remedy.into(), is_fatal: false };
        Check { what: what.into(), outcome: Err(missing) }
    }

    /// Returns a failed check that makes the source unusable.
    pub fn fails(what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> Check {
        let missing = Missing { why: why.into(), remedy: remedy.into(), is_fatal: true };
        Check { what: what.into(), outcome: Err(missing) }
    }
}

/// The tests of every source: they check the contract of [`Source`] with and without its server.
#[cfg(test)]
pub(crate) mod promises {
    use model::{Datum, SystemClock};

    use super::*;

    /// Checks a source with a running server. `secret` is a credential that its evidence must not contain. Returns the evidence of
    /// two samples and of the whole run.
    pub(crate) fn of_a_source(source: &mut dyn Source, secret: Option<&str>) -> Evidence {
        let epoch = Epoch::anchor(&SystemClock);
        let about = source.about();
        assert!(!about.name.is_empty() && !about.kind.is_empty());
        let checks = source.probe();
        assert!(!checks.is_empty(), "a probe says something");
        for check in &checks {
            let fatal = check.outcome.as_ref().err().filter(|missing| missing.is_fatal);
            assert_eq!(fatal, None, "{}: the server is there", check.what);
        }
        let from = Moment::new(SystemClock::now(), &epoch);
        let mut evidence = Evidence::default();
        if let Some(period) = source.period() {
            assert!(
                period >= Duration::from_millis(50),
                "no server is asked more often than 20 times a second"
            );
            evidence.append(source.sample(Moment::new(SystemClock::now(), &epoch)).expect("a first sample"));
            std::thread::sleep(period);
            evidence.append(source.sample(Moment::new(SystemClock::now(), &epoch)).expect("a second sample"));
        }
        let period = Period { from, to: Moment::new(SystemClock::now(), &epoch) };
        let begun = SystemClock::now();
        evidence.append(source.look_back(&period).expect("a look back"));
        assert!(SystemClock::now().since(begun) < CALL_LIMIT);
        check(&evidence, &about, secret);
        evidence
    }

    /// Checks a source without a server: it must fail within the limit.
    pub(crate) fn of_an_absent_server(source: &mut dyn Source) {
        let epoch = Epoch::anchor(&SystemClock);
        let begun = SystemClock::now();
        let checks = source.probe();
        assert!(checks.iter().any(|check| check.outcome.is_err()), "{checks:?}");
        let now = Moment::new(SystemClock::now(), &epoch);
        let error = match source.period() {
            Some(_) => source.sample(now).expect_err("no server"),
            None => source.look_back(&Period { from: now, to: now }).expect_err("no server"),
        };
        assert!(!error.message.is_empty() && !error.message.ends_with('.'), "{error}");
        assert!(SystemClock::now().since(begun) < CALL_LIMIT * 2);
    }

    fn check(evidence: &Evidence, about: &About, secret: Option<&str>) {
        for signal in &evidence.signals {
            assert_eq!(signal.source, about.name);
            assert!(!signal.name.as_str().is_empty() && !signal.query.is_empty(), "{signal:?}");
            assert!(signal.points.is_sorted_by_key(|(at, _)| *at), "{}", signal.name);
            assert!(signal.points.iter().all(|(_, value)| value.is_finite()), "{}", signal.name);
        }
        for record in &evidence.records {
            assert_eq!(record.source, about.name);
            let numbers = record.fields.values().filter_map(|datum| match datum {
                Datum::Number(number) => Some(number),
                Datum::Text(_) => None,
            });
            numbers.for_each(|number| assert!(number.is_finite(), "{record:?}"));
        }
        assert!(evidence.gaps.iter().all(|gap| gap.source == about.name));
        assert!(evidence.traces.iter().all(|trace| !trace.spans.is_empty()));
        let everything = format!("{evidence:?} {about:?}");
        assert!(
            secret.is_none_or(|secret| !everything.contains(secret)),
            "the evidence contains a credential"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(seconds: u64) -> Moment {
        let at = Instant::from_ns(seconds * 1_000_000_000);
        Moment { at, wall_ns: 1_700_000_000_000_000_000 + at.as_ns() as i64 }
    }

    #[test]
    fn times_of_the_wall_clock_become_instants() {
        let period = Period { from: moment(5), to: moment(60) };
        assert_eq!(period.instant(moment(7).wall_ns), moment(7).at);
        assert_eq!(period.instant(moment(2).wall_ns), moment(2).at);
        assert_eq!(period.instant(0), Instant::ZERO);
    }

    #[test]
    fn a_period_is_padded_as_far_as_its_clock_goes_back() {
        let period = Period { from: moment(5), to: moment(60) };
        assert_eq!(period.padded(Duration::from_secs(2)), Period { from: moment(3), to: moment(62) });
        assert_eq!(period.padded(Duration::from_secs(9)), Period { from: moment(0), to: moment(69) });
    }
}
