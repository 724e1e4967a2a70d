//! `--otlp` and `--trace-sample`.

use std::net::SocketAddr;

use otlp::ADDRESSES_DEFAULT;
use runs::{Exit, Failure};
use session::Context;
use session::env::parse_switch;
use session::receiving::{LabTraces, ReceiveSettings, SHARE_DEFAULT};

use crate::flags::OtlpFlags;

/// Maximum number of addresses of a receiver.
const ADDRESSES_MAX: usize = 8;

/// Resolves `--otlp`, `--trace-sample` and their variables; the defaults are those of the lab system whose script this is.
///
/// # Errors
/// An address is invalid, or the share is none.
pub(crate) fn receive_settings(
    flags: &OtlpFlags,
    lab: Option<LabTraces>,
    context: &Context,
) -> Result<ReceiveSettings, Failure> {
    let wanted = flags.otlp.as_deref().or_else(|| context.env.setting("OTLP"));
    let lab = lab.filter(|_| wanted.is_none());
    let addresses = match (wanted, &lab) {
        (Some(text), _) => addresses(text).map_err(refuse)?,
        (None, Some(lab)) => vec![lab.address],
        (None, None) => Vec::new(),
    };
    let share = flags.trace_sample.as_deref().or_else(|| context.env.setting("TRACE_SAMPLE"));
    let share = match share {
        Some(text) => parse_share(text).map_err(refuse)?,
        None if addresses.is_empty() => 0.0,
        None => lab.as_ref().map_or(SHARE_DEFAULT, |lab| lab.share),
    };
    let token = context.env.setting("OTLP_TOKEN").map(str::to_owned);
    context.redactor.add_guessed(token.clone());
    Ok(ReceiveSettings { addresses, token, share, lab })
}

/// Parses comma-separated addresses; `true` means the default ports of exporters, `false` and `off` none.
fn addresses(text: &str) -> Result<Vec<SocketAddr>, String> {
    if text == "off" {
        return Ok(Vec::new());
    }
    match parse_switch(text) {
        Some(true) => return Ok(ADDRESSES_DEFAULT.to_vec()),
        Some(false) => return Ok(Vec::new()),
        None => {}
    }
    let parse = |word: &str| {
        let wrong = |_| {
            format!("read --otlp: invalid address {word:?}: expected HOST:PORT, for example 127.0.0.1:4317")
        };
        word.trim().parse::<SocketAddr>().map_err(wrong)
    };
    let addresses = text.split(',').map(parse).collect::<Result<Vec<_>, _>>()?;
    if addresses.len() > ADDRESSES_MAX {
        return Err(format!("read --otlp: {} addresses; the limit is {ADDRESSES_MAX}", addresses.len()));
    }
    Ok(addresses)
}

/// Parses `1%` or `0.01`.
fn parse_share(text: &str) -> Result<f64, String> {
    let number = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse::<f64>(),
    };
    number.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        format!("read --trace-sample: invalid share {text:?}: expected a share such as 1% or 0.01")
    })
}

fn refuse(what: String) -> Failure {
    Failure::new(Exit::InvalidConfig, format!("failed to {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let check = |text: &str, expect: Option<&[&str]>| {
            let actual = addresses(text).ok().map(|list| list.iter().map(SocketAddr::to_string).collect());
            let expect: Option<Vec<String>> =
                expect.map(|list| list.iter().map(|&one| one.to_owned()).collect());
            assert_eq!(actual, expect, "{text}");
        };
        check("true", Some(&["127.0.0.1:4317", "127.0.0.1:4318"]));
        check("false", Some(&[]));
        check("off", Some(&[]));
        check("127.0.0.1:0", Some(&["127.0.0.1:0"]));
        check("[::1]:4317, 127.0.0.1:5", Some(&["[::1]:4317", "127.0.0.1:5"]));
        check("localhost:4317", None);
        check("127.0.0.1", None);
        check("", None);
        check(&["127.0.0.1:0"; ADDRESSES_MAX + 1].join(","), None);
    }

    #[test]
    fn shares_are_read() {
        let check = |text: &str, expect: Option<f64>| assert_eq!(parse_share(text).ok(), expect, "{text}");
        check("1%", Some(0.01));
        check("0.25", Some(0.25));
        check(" 100 %", Some(1.0));
        check("0", Some(0.0));
        check("101%", None);
        check("-1%", None);
        check("NaN", None);
        check("some", None);
    }
}
