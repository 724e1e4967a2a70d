//! The flags of an agent.

use std::path::Path;

use fleet::token::{TOKEN_FILE_BYTES_MAX, Token};
use runs::{Exit, Failure};

use crate::Context;
use crate::agents::TOKEN_VARIABLE;

/// Settings of an agent.
pub struct AgentOptions {
    /// The hub's address, HOST:PORT.
    pub(crate) hub: String,
    /// The run's token.
    pub(crate) token: Token,
    /// The agent's name for people.
    pub(crate) name: String,
}

impl AgentOptions {
    /// Resolves the flags. Without a name the agent has the host's.
    ///
    /// # Errors
    /// The address or the token is invalid.
    pub fn resolve(
        hub: &str,
        token_file: Option<&Path>,
        name: Option<String>,
        context: &Context,
    ) -> Result<AgentOptions, Failure> {
        let host_name = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        let (hub, token) = (address("--hub", hub)?, token(token_file, context)?);
        Ok(AgentOptions { hub, token, name: name.unwrap_or_else(host_name) })
    }
}

/// Checks the address of a hub in a flag. The refused text may hold a token, and is not shown where it has an `@`.
pub(crate) fn address(flag: &str, text: &str) -> Result<String, Failure> {
    let refuse = |shown: &str, why: &str| {
        let text = format!("invalid {flag}{shown}: expected HOST:PORT, for example 10.0.0.5:7000{why}");
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

fn token(file: Option<&Path>, context: &Context) -> Result<Token, Failure> {
    let refuse = |text: String| Failure::new(Exit::InvalidConfig, text);
    let (text, from) = match (file, context.env.get(TOKEN_VARIABLE)) {
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
        let check = |text: &str, expect: bool| assert_eq!(address("--hub", text).is_ok(), expect, "{text}");
        check("10.0.0.5:7000", true);
        check("hub.example:1", true);
        check("[::1]:7000", true);
        for text in ["", "hub", ":7000", "hub:", "hub:0", "hub:70000", "https://hub:7000/", "hub:7000/x"] {
            check(text, false);
        }
        let failure = address("--hub", "secret@hub:7000").expect_err("a token in an address");
        assert!(
            !failure.text.contains("secret") && failure.text.contains("--token-file"),
            "{}",
            failure.text
        );
    }
}
