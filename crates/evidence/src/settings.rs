//! Settings of a source: name, kind, address, and other settings by name.

use std::collections::BTreeMap;
use std::time::Duration;

use redact::{RedactedUrl, urls_hidden};

/// Settings of one source, from `plimsoll.toml` or a flag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Name, as in `[evidence.NAME]`.
    pub name: String,
    /// Kind, one of [`crate::sources::KINDS`].
    pub kind: String,
    /// URL or path, without a password.
    pub address: String,
    /// Password or token, from an environment variable or a file.
    pub credential: Option<String>,
    /// Other settings by name.
    pub values: BTreeMap<String, String>,
}

/// Invalid settings of a source. Messages read after "failed to".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// Unknown kind.
    #[error("use the evidence source {name:?}: unknown kind {kind:?}{}; known kinds: {known}", did_you_mean(.nearest))]
    Kind {
        /// The source.
        name: String,
        /// The invalid value.
        kind: String,
        /// The known value that is most like it.
        nearest: Option<String>,
        /// The known values.
        known: String,
    },
    /// Invalid value of a setting.
    #[error("use the evidence source {name:?}: invalid {setting} {value:?}: {why}")]
    Value {
        /// The source.
        name: String,
        /// The setting.
        setting: String,
        /// The invalid value.
        value: String,
        /// The expected form, with an example.
        why: String,
    },
    /// The kind does not have this setting.
    #[error(
        "use the evidence source {name:?}: unknown setting {setting:?} for kind {kind:?}{}; known settings: {known}",
        did_you_mean(.nearest)
    )]
    Unknown {
        /// The source.
        name: String,
        /// Its kind.
        kind: String,
        /// The invalid value.
        setting: String,
        /// The known value that is most like it.
        nearest: Option<String>,
        /// The known values.
        known: String,
    },
}

/// Returns the known word that is most like a misspelt one, if one is much like it.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    const SIMILARITY_MIN: f64 = 0.7;
    let word = word.to_ascii_lowercase();
    known
        .map(|known| (strsim::normalized_damerau_levenshtein(&word, known), known))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known.to_owned())
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!(" (did you mean {nearest:?}?)")).unwrap_or_default()
}

impl Settings {
    /// Returns a setting, or its default.
    pub fn text(&self, setting: &str, default: &str) -> String {
        self.values.get(setting).map_or(default, String::as_str).to_owned()
    }

    /// Returns a comma-separated setting as a list; empty if it is not set.
    pub fn list(&self, setting: &str) -> Vec<String> {
        let words = self.values.get(setting).into_iter().flat_map(|value| value.split(','));
        words.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    /// Returns a setting that is a duration, for example `500ms`, `5s`, `1m`.
    ///
    /// # Errors
    /// The value is not a duration above zero with its unit.
    pub fn duration(&self, setting: &str, default: Duration) -> Result<Duration, SettingsError> {
        let Some(value) = self.values.get(setting) else { return Ok(default) };
        let parsed = model::GoDuration::parse_with_unit(value).map(model::GoDuration::to_std);
        match parsed {
            Ok(duration) if !duration.is_zero() => Ok(duration),
            Err(why @ model::LengthError::NoUnit { .. }) => Err(self.wrong(setting, &why.to_string())),
            _ => Err(self.wrong(setting, "expected a duration, for example 500ms, 5s or 1m")),
        }
    }

    /// Returns an error about a setting.
    pub fn wrong(&self, setting: &str, why: &str) -> SettingsError {
        let value = match setting {
            "address" => RedactedUrl(&self.address).to_string(),
            _ => urls_hidden(self.values.get(setting).map_or("", String::as_str)).into_owned(),
        };
        let (name, setting) = (self.name.clone(), setting.to_owned());
        SettingsError::Value { name, setting, value, why: why.to_owned() }
    }
}

/// Returns the environment variable that holds a source's password.
pub fn password_variable(source: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    format!("PLIMSOLL_{}_PASSWORD", source.chars().map(letter).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let read = |value: &str| {
            let values = [("step".to_owned(), value.to_owned())].into();
            let settings = Settings { name: "a".to_owned(), values, ..Settings::default() };
            settings.duration("step", Duration::ZERO).map_err(|error| error.to_string())
        };
        assert_eq!(read("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(
            read("5"),
            Err("use the evidence source \"a\": invalid step \"5\": the unit is missing; write 5s for seconds, or 5ms, 5m, 5h, 5d"
                .to_owned())
        );
        assert!(read("0").is_err() && read("soon").is_err());
    }

    #[test]
    fn passwords_are_read_from_a_variable_of_the_sources_name() {
        assert_eq!(password_variable("main-db"), "PLIMSOLL_MAIN_DB_PASSWORD");
    }
}
