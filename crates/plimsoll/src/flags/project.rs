//! Flags of the subcommands that help to write scripts and to find one's way.

use std::path::PathBuf;

use clap::Args;

/// `plimsoll types`
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = TYPES_EXAMPLES)]
pub(crate) struct TypesFlags {
    /// Folder of the scripts
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Overwrite your own plimsoll.d.ts and tsconfig.json
    #[arg(short, long)]
    pub(crate) force: bool,
}

const TYPES_EXAMPLES: &str = "\
Writes plimsoll.d.ts, and tsconfig.json unless the folder has one or a jsconfig.json. Editors then complete
plimsoll/* and k6/x/*, and k6/* once its types are installed: npm install --save-dev @types/k6

Examples:
  plimsoll types          in the folder of your scripts
  plimsoll types tests    in another folder
  plimsoll types --force  overwrite tsconfig.json, too";

/// `plimsoll help`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct HelpFlags {
    /// Subcommand or topic [default: list them]
    #[arg(value_name = "NAME")]
    pub(crate) name: Vec<String>,
}

/// `plimsoll man`
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ManFlags {
    /// Folder for the pages
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
}
