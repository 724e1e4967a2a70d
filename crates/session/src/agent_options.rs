//! The flags of an agent.

use std::path::Path;

use fleet::token::{TOKEN_FILE_BYTES_MAX, Token};
use runs::{Exit, Failure};

use crate::Context;
use crate::agents::TOKEN_VARIABLE;
use crate::hub_address::address;

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
