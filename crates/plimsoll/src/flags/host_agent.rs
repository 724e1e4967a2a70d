//! Flags of `plimsoll host-agent`.

use clap::Args;

/// `plimsoll host-agent`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = HOST_AGENT_EXAMPLES)]
pub(crate) struct HostAgentFlags {
    /// What whoever asks must show; needed where others than this machine can ask [default: PLIMSOLL_API_TOKEN]
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
}

const HOST_AGENT_EXAMPLES: &str = "\
It listens at localhost:6567 unless --address says otherwise, and tells numbers of this machine's kernel alone: CPU,
memory, network. A run on another machine asks it once a second.

Examples:
  plimsoll host-agent                                          for a generator on this machine
  PLIMSOLL_API_TOKEN=\"$TOKEN\" plimsoll host-agent -a :6567    on the target, for a generator elsewhere
  PLIMSOLL_HOST_PASSWORD=\"$TOKEN\" plimsoll run --evidence host=http://target:6567 script.js
                                                               on the generator";
