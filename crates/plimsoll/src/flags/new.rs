//! Flags of `plimsoll new`.

use std::path::PathBuf;

use clap::Args;

/// `plimsoll new`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub(crate) struct NewFlags {
    /// Path of the new script [default: script.js], or the recording or description to convert
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Overwrite files that exist
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Template: minimal, protocol, or the path of a file
    #[arg(long, value_name = "TEMPLATE", default_value = "minimal")]
    pub(crate) template: String,
    /// Convert FILE: har, openapi, postman, curl, jmx, or auto [default: auto for such files that exist]
    #[arg(long, value_name = "KIND", requires = "file", help_heading = "Conversion")]
    pub(crate) from: Option<String>,
    /// Path of the converted script [default: FILE's name with .js, in this folder]
    #[arg(short, long, value_name = "FILE", help_heading = "Conversion")]
    pub(crate) output: Option<PathBuf>,
    /// VUs of the converted script
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Conversion")]
    pub(crate) vus: u32,
    /// Time with all VUs
    #[arg(long, value_name = "TIME", default_value = "1m", help_heading = "Conversion")]
    pub(crate) duration: String,
    /// Time until all VUs run
    #[arg(long, value_name = "TIME", default_value = "30s", help_heading = "Conversion")]
    pub(crate) ramp_up: String,
    /// Longest think time that is taken from a recording, seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, help_heading = "Conversion")]
    pub(crate) think_time_max: f64,
    /// Keep requests for scripts, styles, images, fonts and media
    #[arg(long, help_heading = "Conversion")]
    pub(crate) keep_static: bool,
    /// Keep requests to other sites than that of the first page
    #[arg(long, help_heading = "Conversion")]
    pub(crate) keep_third_parties: bool,
}

const NEW_EXAMPLES: &str = "\
A converted script has the requests in groups, takes tokens and ids from responses, pauses as long as recorded, and checks the
status of each response. Secrets become variables of the environment and are listed.

Examples:
  plimsoll new                                  the smallest script, script.js
  plimsoll new load.js --template protocol      requests, checks, groups, thresholds
  plimsoll new --template ./ours.js load.js     from a template of your own
  plimsoll new --from har shop.har              from a browser's recording, shop.js
  plimsoll new --from openapi api.yaml --vus 20
  pbpaste | plimsoll new --from curl - -o api.js";
