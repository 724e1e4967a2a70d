//! Flags of `plimsoll host-agent`.

use clap::Args;

/// `plimsoll host-agent`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = HOST_AGENT_EXAMPLES)]
pub(crate) struct HostAgentFlags {
    /// Token that clients must send; required unless the address is loopback [default: PLIMSOLL_API_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

const HOST_AGENT_EXAMPLES: &str = "\
Listens on localhost:6567, or on --address. It exposes kernel metrics of this host only: CPU, memory and network. A run on
another machine reads them once a second.

Examples:
  plimsoll host-agent                                          for a load generator on this machine
  PLIMSOLL_API_TOKEN=\"$TOKEN\" plimsoll host-agent -a :6567    on the target, for a remote load generator
  PLIMSOLL_HOST_PASSWORD=\"$TOKEN\" plimsoll run --evidence host=http://target:6567 script.js
                                                               on the load generator";
