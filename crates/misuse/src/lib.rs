//! Errors of flags, reworded so that each names what is expected or where a flag belongs.
//!
//! The crate must not know which flags there are: it reads them from the command.

use std::error::Error as _;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Subcommands that a hint names.
const OWNERS_MAX: usize = 4;

/// Rewords an error about a value or an unknown flag; other errors stay as they are.
pub fn reworded(error: clap::Error, command: &Command) -> clap::Error {
    match error.kind() {
        ErrorKind::ValueValidation => of_value(error),
        ErrorKind::UnknownArgument => of_unknown(error, command),
        _ => error,
    }
}

fn of_value(error: clap::Error) -> clap::Error {
    let (argument, value) = (text(&error, ContextKind::InvalidArg), text(&error, ContextKind::InvalidValue));
    let flag = argument.split([' ', '=', '[']).next().unwrap_or_default();
    match expected(&error, flag) {
        Some(expected) => {
            let message = format!("invalid value '{value}' for '{argument}': {expected}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message)
        }
        None => error,
    }
}

/// The values that the flag takes, where the cause of the error does not say so itself.
fn expected(error: &clap::Error, flag: &str) -> Option<String> {
    let cause = error.source()?;
    if let Some(cause) = cause.downcast_ref::<ParseIntError>() {
        return Some(match cause.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "the number is too large".to_owned(),
            _ => format!("expected a whole number, for example {flag} 3"),
        });
    }
    if cause.is::<ParseFloatError>() {
        return Some(format!("expected a number, for example {flag} 0.5"));
    }
    let cause = cause.to_string();
    let (from, to) = cause.split_once(" is not in ")?.1.split_once("..")?;
    let to = to.trim_start_matches('=');
    // A limit of the type is none that anyone chose.
    let is_open = to.parse().map_or(true, |to: u64| to >= u64::from(u32::MAX));
    Some(if is_open {
        format!("expected a whole number of at least {from}")
    } else {
        format!("expected a whole number from {from} to {to}")
    })
}

fn of_unknown(mut error: clap::Error, command: &Command) -> clap::Error {
    let flag = text(&error, ContextKind::InvalidArg);
    if flag.parse::<f64>().is_ok() {
        let message = format!("unexpected argument '{flag}': a negative number is not allowed here\n");
        return clap::Error::raw(ErrorKind::UnknownArgument, message);
    }
    let mut owners = Vec::new();
    find_owners(command, flag.trim_start_matches("--"), &mut owners);
    if owners.is_empty() {
        // The hint that a script may have such a name does not help with a mistyped flag.
        if error.get(ContextKind::SuggestedArg).is_none() {
            error.remove(ContextKind::Suggested);
        }
        return error;
    }
    owners.truncate(OWNERS_MAX);
    let hint = format!("{flag} is a flag of {}", owners.join(", "));
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::Usage);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

/// Adds the subcommands that have a flag.
fn find_owners(command: &Command, long: &str, owners: &mut Vec<String>) {
    for below in command.get_subcommands() {
        let name = format!("{} {}", command.get_bin_name().unwrap_or(command.get_name()), below.get_name());
        if below.get_arguments().any(|argument| argument.get_long() == Some(long) && !argument.is_hide_set())
        {
            owners.push(name.clone());
        }
        find_owners(&below.clone().bin_name(name), long, owners);
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, value_parser};

    fn command() -> Command {
        let count = Arg::new("agents").long("agents").value_parser(value_parser!(u16).range(1..=1000));
        let open = Arg::new("rate").long("rate").value_parser(value_parser!(u32).range(1..));
        let share = Arg::new("share").long("share").value_parser(value_parser!(f64));
        let prune = Command::new("prune").arg(Arg::new("keep").long("keep").value_parser(value_parser!(u64)));
        let runs = Command::new("runs").subcommand(prune);
        Command::new("plimsoll").subcommands([Command::new("run").args([count, open, share]), runs])
    }

    fn said(words: &str) -> String {
        let error = command().try_get_matches_from(words.split(' ')).unwrap_err();
        reworded(error, &command()).to_string()
    }

    #[test]
    fn a_value_names_what_is_expected() {
        let first = |words: &str| said(words).lines().next().unwrap_or_default().to_owned();
        assert_eq!(
            first("plimsoll run --agents two"),
            "error: invalid value 'two' for '--agents <agents>': expected a whole number, for example --agents 3"
        );
        assert_eq!(
            first("plimsoll run --agents 0"),
            "error: invalid value '0' for '--agents <agents>': expected a whole number from 1 to 1000"
        );
        assert_eq!(
            first("plimsoll run --rate 0"),
            "error: invalid value '0' for '--rate <rate>': expected a whole number of at least 1"
        );
        assert_eq!(
            first("plimsoll run --share half"),
            "error: invalid value 'half' for '--share <share>': expected a number, for example --share 0.5"
        );
        assert_eq!(
            first("plimsoll runs prune --keep 99999999999999999999"),
            "error: invalid value '99999999999999999999' for '--keep <keep>': the number is too large"
        );
        assert_eq!(
            first("plimsoll run --agents -1"),
            "error: unexpected argument '-1': a negative number is not allowed here"
        );
    }

    #[test]
    fn an_unknown_flag_names_the_subcommand_that_has_it() {
        let elsewhere = said("plimsoll run --keep 3");
        assert!(elsewhere.contains("tip: --keep is a flag of plimsoll runs prune\n"), "{elsewhere}");
        let nowhere = said("plimsoll run --zzz");
        assert!(nowhere.starts_with("error: unexpected argument '--zzz' found\n\nUsage: "), "{nowhere}");
        let near = said("plimsoll run --agent 3");
        assert!(near.contains("a similar argument exists: '--agents'"), "{near}");
    }
}
