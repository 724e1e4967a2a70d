//! `--traces-output`: the destination of spans from k6's browser module, the only spans that k6 makes.

use model::LogLevel;
use runs::{Exit, Failure};

use crate::Context;

/// Checks the setting as k6 does. Without a browser there are no spans to send, so this only logs a warning.
///
/// # Errors
/// The value is not valid in k6.
pub fn check(flag: Option<&str>, context: &Context) -> Result<(), Failure> {
    let Some(text) = flag.or_else(|| context.env.setting("TRACES_OUTPUT")) else { return Ok(()) };
    if read(text)? == Traces::Otel {
        let text = "--traces-output has no effect: the spans that k6 sends are those of its browser module, which is not \
                    here; send a `traceparent` header with a request to find it among the spans of the server";
        context.logger.say(LogLevel::Warn, text);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Traces {
    Nowhere,
    Otel,
}

/// Parses `none`, or `otel[=URL[,proto=grpc|http][,header.NAME=VALUE]]`.
fn read(text: &str) -> Result<Traces, Failure> {
    let refuse =
        |what: &str| Err(Failure::new(Exit::Other, format!("failed to read --traces-output: {what}")));
    match text.split_once('=') {
        None if text == "none" => return Ok(Traces::Nowhere),
        None if text == "otel" => return Ok(Traces::Otel),
        Some(("otel", settings)) => {
            let mut settings = settings.split(',');
            let url = settings.next().unwrap_or_default();
            if !url.starts_with("http://") && !url.starts_with("https://") {
                return refuse(&format!("{url:?} is no URL such as http://127.0.0.1:4318"));
            }
            if let Some(setting) = settings.find(|setting| !is_setting(setting)) {
                return refuse(&format!(
                    "{setting:?} is neither proto=grpc, proto=http nor header.NAME=VALUE"
                ));
            }
            return Ok(Traces::Otel);
        }
        _ => {}
    }
    refuse(&format!("{text:?} is neither none nor otel[=URL]"))
}

fn is_setting(text: &str) -> bool {
    match text.split_once('=') {
        Some(("proto", protocol)) => matches!(protocol, "grpc" | "http"),
        Some((name, _)) => name.starts_with("header."),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that k6 v2.2 accepts, and values that it refuses with exit code 255.
    #[test]
    fn the_setting_is_read_as_k6_reads_it() {
        let check = |text: &str, expect: Option<Traces>| assert_eq!(read(text).ok(), expect, "{text}");
        check("none", Some(Traces::Nowhere));
        check("otel", Some(Traces::Otel));
        check("otel=http://127.0.0.1:1", Some(Traces::Otel));
        check("otel=https://a:1,proto=http,header.A=b=c", Some(Traces::Otel));
        check("otel=http://a:1,header.=b,proto=grpc", Some(Traces::Otel));
        for text in [
            "",
            "bad",
            "none=1",
            "otel=",
            "otel=localhost:1",
            "otel=,proto=http",
            "otel=proto=http",
            "otel=ftp://x",
            "otel,proto=http",
            "otel=http://a:1,proto=x",
            "otel=http://a:1,foo=x",
            "otel=http://a:1,proto",
        ] {
            check(text, None);
        }
    }
}
