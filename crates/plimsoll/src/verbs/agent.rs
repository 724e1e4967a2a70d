//! `plimsoll agent`: runs a part of a test for a hub.

use fleet::token::{TOKEN_FILE_BYTES_MAX, Token};
use runs::{Exit, Failure};
use session::Context;
use session::agent::AgentOptions;
use session::agents::TOKEN_VARIABLE;

use crate::flags::AgentFlags;

/// Runs the subcommand until the hub's run is over.
///
/// # Errors
/// A flag is invalid, the hub refuses the agent, or is lost.
pub(crate) fn run(flags: &AgentFlags, context: &Context) -> Result<Exit, Failure> {
    let hub = address(&flags.hub)?;
    let token = token(flags, context)?;
    let name = flags.name.clone().unwrap_or_else(session::agent::host_name);
    session::agent::run(AgentOptions { hub, token, name }, context)
}

/// Checks the hub's address. The refused text may hold a token, and is not shown where it has an `@`.
fn address(text: &str) -> Result<String, Failure> {
    let refuse = |shown: &str, why: &str| {
        let text = format!("invalid --hub{shown}: expected HOST:PORT, for example 10.0.0.5:7000{why}");
        Failure::new(Exit::InvalidConfig, text)
    };
    if text.contains('@') || text.contains('?') {
        return Err(refuse("", "; a token belongs in --token-file, never in an address"));
    }
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty() && !host.contains('/'));
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(1..)) => Ok(text.to_owned()),
        _ => Err(refuse(&format!(" `{text}`"), "")),
    }
}

fn token(flags: &AgentFlags, context: &Context) -> Result<Token, Failure> {
    let refuse = |text: String| Failure::new(Exit::InvalidConfig, text);
    let (text, from) = match (&flags.token_file, context.env.get(TOKEN_VARIABLE)) {
        (Some(path), _) => {
            let read = files::read_given_text(path, TOKEN_FILE_BYTES_MAX);
            let text = read.map_err(|error| refuse(format!("failed to read {}: {error}", path.display())))?;
            (text, path.display().to_string())
        }
        (None, Some(text)) => (text.to_owned(), TOKEN_VARIABLE.to_owned()),
        (None, None) => {
            return Err(refuse("no token: set --token-file to the file that the hub wrote".to_owned()));
        }
    };
    Token::parse(&text).map_err(|error| refuse(format!("failed to read {from}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_is_a_host_and_a_port() {
        let check = |text: &str, expect: bool| assert_eq!(address(text).is_ok(), expect, "{text}");
        check("10.0.0.5:7000", true);
        check("hub.example:1", true);
        check("[::1]:7000", true);
        for text in ["", "hub", ":7000", "hub:", "hub:0", "hub:70000", "https://hub:7000/", "hub:7000/x"] {
            check(text, false);
        }
        let failure = address("secret@hub:7000").expect_err("a token in an address");
        assert!(
            !failure.text.contains("secret") && failure.text.contains("--token-file"),
            "{}",
            failure.text
        );
    }
}
