//! Settings of a run on agents.

use std::net::SocketAddr;
use std::time::Duration;

use fleet::OnLoss;
use plan::GoDuration;
use runs::{Exit, Failure};
use session::agents::AgentsSettings;

use crate::flags::{AgentsFlags, OnAgentLossFlag};

/// Default of `--arm-timeout`.
const ARM_TIMEOUT: Duration = Duration::from_secs(120);

/// Resolves the flags; `None` without `--agents`.
///
/// # Errors
/// A flag is invalid.
pub(crate) fn agents(flags: &AgentsFlags) -> Result<Option<AgentsSettings>, Failure> {
    let Some(count) = flags.agents else { return Ok(None) };
    let refuse = |text: String| Failure::new(Exit::InvalidConfig, text);
    let least = flags.agents_min.unwrap_or(count);
    if least > count {
        return Err(refuse(format!("invalid --agents-min {least}: the test has {count} agents (--agents)")));
    }
    let arm_timeout = match &flags.arm_timeout {
        Some(text) => {
            GoDuration::parse(text).map(GoDuration::to_std).filter(|timeout| !timeout.is_zero()).ok_or_else(
                || refuse(format!("invalid --arm-timeout {text:?}: expected a duration such as 2m")),
            )?
        }
        None => ARM_TIMEOUT,
    };
    let on_loss = match flags.on_agent_loss {
        Some(OnAgentLossFlag::Abort) => OnLoss::Abort,
        Some(OnAgentLossFlag::Continue) | None => OnLoss::Continue,
    };
    let parse = |text: &String| {
        let expected = "expected IP:PORT, for example 0.0.0.0:7000";
        text.parse::<SocketAddr>()
            .map_err(|_| refuse(format!("invalid --agents-listen `{text}`: {expected}")))
    };
    let address = flags.agents_listen.as_ref().map(parse).transpose()?;
    let remote = address.zip(flags.token_file.clone());
    Ok(Some(AgentsSettings { count, least, arm_timeout, on_loss, remote }))
}
