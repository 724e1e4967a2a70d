//! `metadata.json`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ArchiveError;

/// The metadata of an archive about its script. Fields that other versions add are skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The script's options as JSON, with what flags and the environment said when the archive was made.
    pub options_json: String,
    /// The script's URL.
    pub filename: String,
    /// The URL of the folder it was started in.
    pub pwd: String,
    /// `__ENV`, unless it was left out.
    pub env: Option<BTreeMap<String, String>>,
    /// Who made it, by version of k6 as k6 writes it.
    pub version: String,
    /// The system it was made on, in Go's words: `linux`.
    pub system: String,
    /// Versions that the script requires: `{"k6": "*"}`.
    pub dependencies: BTreeMap<String, String>,
    /// Modules that its imports of packages resolve to. k6 has no packages and skips this.
    pub packages: Vec<PackageImport>,
}

/// Which file an import stands for that is no path: `node_modules` with its links and `package.json` files stays behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageImport {
    /// URL of the folder of the file that asks.
    pub folder: String,
    /// As it is written there.
    pub specifier: String,
    /// Whether `require()` asks; packages may give another file then.
    #[serde(default)]
    pub required: bool,
    /// URL of the file.
    pub file: String,
}

/// The members in k6's order.
#[derive(Serialize, Deserialize)]
struct File<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
    filename: String,
    #[serde(default)]
    pwd: String,
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    #[serde(default, rename = "compatibilityMode")]
    compatibility_mode: String,
    #[serde(default, rename = "k6version")]
    version: String,
    #[serde(default, rename = "goos")]
    system: String,
    #[serde(default)]
    dependencies: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    packages: Vec<PackageImport>,
}

impl Metadata {
    pub(crate) fn parse(text: &[u8]) -> Result<Metadata, ArchiveError> {
        let bad = |why: String| ArchiveError::Metadata(why);
        let file: File<'_> = serde_json::from_slice(text).map_err(|error| bad(error.to_string()))?;
        if file.kind != "js" {
            return Err(bad(format!("it is of type {:?}, and only \"js\" can be run", file.kind)));
        }
        Ok(Metadata {
            options_json: file.options.map_or("null", RawValue::get).to_owned(),
            filename: file.filename,
            pwd: file.pwd,
            env: file.env,
            version: file.version,
            system: file.system,
            dependencies: file.dependencies.unwrap_or_default(),
            packages: file.packages,
        })
    }

    pub(crate) fn to_json(&self) -> Result<Vec<u8>, ArchiveError> {
        let bad = |error: serde_json::Error| ArchiveError::Metadata(error.to_string());
        let options: &RawValue = serde_json::from_str(&self.options_json).map_err(bad)?;
        let file = File {
            kind: "js".into(),
            options: Some(options),
            filename: self.filename.clone(),
            pwd: self.pwd.clone(),
            env: self.env.clone(),
            compatibility_mode: "extended".into(),
            version: self.version.clone(),
            system: self.system.clone(),
            dependencies: Some(self.dependencies.clone()),
            packages: self.packages.clone(),
        };
        serde_json::to_vec_pretty(&file).map_err(bad)
    }
}
