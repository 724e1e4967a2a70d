//! Lengths of time in flags.

use std::time::Duration;

use model::GoDuration;

use crate::{Exit, Failure};

/// Parses a length of time of one of the program's own flags, which has a unit. Flags of k6 keep k6's meaning of bare numbers.
///
/// # Errors
/// The unit is missing, or the text is no length of time; the process exits with `exit`.
pub fn parse_length(flag: &str, text: &str, exit: Exit) -> Result<Duration, Failure> {
    GoDuration::parse_with_unit(text)
        .map(GoDuration::to_std)
        .map_err(|why| Failure::new(exit, format!("failed to read {flag} {text:?}: {why}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_named() {
        let parse = |text: &str| parse_length("--hold", text, Exit::Other);
        assert_eq!(parse("1m30s").expect("a length"), Duration::from_secs(90));
        let failure = parse("5").expect_err("no unit");
        assert_eq!(
            failure.text,
            "failed to read --hold \"5\": the unit is missing; write 5s for seconds, or 5ms, 5m, 5h, 5d"
        );
    }
}
