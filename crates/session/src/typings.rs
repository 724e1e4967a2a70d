//! Declarations for TypeScript and editors, written beside scripts.

use std::path::Path;

use runs::{Exit, Failure};
use script::{DECLARATIONS, TYPESCRIPT_CONFIG};

/// The file of declarations.
const DECLARATIONS_NAME: &str = "plimsoll.d.ts";

/// The settings of TypeScript, and those that stand for them in projects without TypeScript.
const CONFIG_NAMES: [&str; 2] = ["tsconfig.json", "jsconfig.json"];

/// Where editors find k6's own types.
const K6_TYPES: &str = "node_modules/@types/k6";

/// Writes the declarations, and the settings of TypeScript unless there are some. Returns what was done, and the next step.
///
/// # Errors
/// A file cannot be written, or a file of that name is the user's own and `may_overwrite` is not set.
pub fn write(folder: &Path, may_overwrite: bool) -> Result<String, Failure> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        Failure::new(Exit::Other, format!("failed to write {}: {why}", path.display()))
    };
    let put = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, &error))
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let declarations = folder.join(DECLARATIONS_NAME);
    if !may_overwrite && !is_ours(&declarations) {
        return Err(failed(&declarations, &"a file of that name exists; --force overwrites it"));
    }
    put(DECLARATIONS_NAME, DECLARATIONS)?;
    let kept = CONFIG_NAMES.iter().find(|name| folder.join(name).exists() && !may_overwrite);
    let mut text = match kept {
        Some(name) => format!(
            "wrote {DECLARATIONS_NAME}, kept your {name}: include the file, and set \"lib\": [\"ES2023\", \"WebWorker\"] and \
             \"types\": [\"k6\"], or overwrite it with --force\n"
        ),
        None => {
            put(CONFIG_NAMES[0], TYPESCRIPT_CONFIG)?;
            format!("wrote {DECLARATIONS_NAME} and {}\n", CONFIG_NAMES[0])
        }
    };
    if !has_types_of_k6(folder) {
        text += "the types of k6/* are a package: npm install --save-dev @types/k6\n";
    }
    Ok(text)
}

/// Whether there is no such file, or an earlier version wrote it.
fn is_ours(path: &Path) -> bool {
    let heading = DECLARATIONS.lines().next().unwrap_or_default();
    match std::fs::read_to_string(path) {
        Ok(text) => text.starts_with(heading),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Whether k6's types are installed in the folder, or in one above it, where TypeScript looks, too.
fn has_types_of_k6(folder: &Path) -> bool {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().any(|above| above.join(K6_TYPES).is_dir())
}
