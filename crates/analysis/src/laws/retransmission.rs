//! When TCP sends a SYN again.

/// The wait before the first repetition, in seconds (RFC 6298, section 2.1; Linux's `TCP_TIMEOUT_INIT`). Each further wait is
/// twice as long.
pub const FIRST_S: f64 = 1.0;

/// Repetitions that are recognised; Linux gives up after six.
const LOST_MAX: u32 = 5;

/// How much longer than the waits a connect may take and still be explained by them, as a share. Wider bands would call
/// every slow connect a loss.
const OVER_SHARE_MAX: f64 = 0.1;

/// A step of the sequence 1, 3, 7, 15, 31 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// SYNs that were lost before one was answered.
    pub lost: u32,
    /// The sum of the waits, in seconds.
    pub after_s: f64,
}

/// The step that explains a connect time, if one does.
pub fn step(connect_s: f64) -> Option<Step> {
    (1..=LOST_MAX)
        .map(of_lost)
        .find(|step| (step.after_s..=step.after_s * (1.0 + OVER_SHARE_MAX)).contains(&connect_s))
}

fn of_lost(lost: u32) -> Step {
    Step { lost, after_s: FIRST_S * (2f64.powi(lost as i32) - 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_double() {
        for (connect_s, lost) in [
            (0.99, None),
            (1.0, Some(1)),
            (1.1, Some(1)),
            (1.11, None),
            (3.04, Some(2)),
            (3.31, None),
            (7.02, Some(3)),
            (11.29, None),
            (31.5, Some(5)),
            (63.0, None),
            (f64::NAN, None),
        ] {
            assert_eq!(step(connect_s).map(|step| step.lost), lost, "{connect_s}");
        }
    }
}
