//! Environment variables: those of the process, and those that the script may read.

use std::collections::BTreeMap;

use runs::{Exit, Failure};

/// The variables of the process. Names and values that are not UTF-8 are left out, since JavaScript cannot hold them.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the variables of this process.
    pub fn of_process() -> Environment {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Environment(std::env::vars_os().filter_map(text).collect())
    }

    /// Returns all variables.
    pub fn all(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Returns one variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns a setting: `PLIMSOLL_NAME`, or else `K6_NAME`; empty values count as unset.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let prefixes = ["PLIMSOLL", "K6"];
        prefixes.iter().find_map(|prefix| self.get(&format!("{prefix}_{name}")).filter(|it| !it.is_empty()))
    }

    /// Returns a boolean setting in any spelling that Go's `ParseBool` accepts.
    ///
    /// # Errors
    /// The value is no boolean.
    pub fn switch(&self, name: &str) -> Result<Option<bool>, Failure> {
        let Some(text) = self.setting(name) else { return Ok(None) };
        match parse_switch(text) {
            Some(value) => Ok(Some(value)),
            None => Err(Failure::new(
                Exit::InvalidConfig,
                format!(
                    "failed to read {name} of the environment: expected true or false instead of {text:?}"
                ),
            )),
        }
    }

    /// Returns `__ENV`: the process's variables, if they are passed on, overridden by those of `--env`.
    ///
    /// # Errors
    /// A name in `--env` is invalid.
    pub(crate) fn for_script(
        &self,
        includes_process: bool,
        given: &[String],
    ) -> Result<BTreeMap<String, String>, Failure> {
        let mut variables = if includes_process { self.0.clone() } else { BTreeMap::new() };
        for text in given {
            let (name, value) = text.split_once('=').unwrap_or((text, ""));
            if !is_name(name) {
                let reason = format!(
                    "failed to read --env {text:?}: {name:?} is not a valid variable name; use --env NAME=value"
                );
                return Err(Failure::new(Exit::Other, reason));
            }
            variables.insert(name.to_owned(), value.to_owned());
        }
        Ok(variables)
    }
}

/// Parses `true` or `false` in any of Go's spellings.
pub fn parse_switch(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// Returns true if a variable may have this name.
pub fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_word) && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

/// Returns the settings of a variable that takes several values: `NAME=1`, `NAME=2` for `NAME=1,2`; one empty text without any.
///
/// # Errors
/// The text has another form; the error continues "failed to".
pub fn variants(over: Option<&str>) -> Result<Vec<String>, String> {
    let Some(over) = over else { return Ok(vec![String::new()]) };
    let parts = over.split_once('=').filter(|(name, values)| is_name(name) && !values.is_empty());
    let (name, values) =
        parts.ok_or_else(|| format!("read --over {over:?}: write NAME=VALUE,VALUE, as REPLICAS=1,2,3"))?;
    let mut variants: Vec<String> =
        values.split(',').map(|value| format!("{name}={}", value.trim())).collect();
    variants.dedup();
    Ok(variants)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_takes_each_value() {
        assert_eq!(variants(None).expect("one"), [""]);
        assert_eq!(
            variants(Some("REPLICAS=1, 2,3")).expect("three"),
            ["REPLICAS=1", "REPLICAS=2", "REPLICAS=3"]
        );
        for over in ["REPLICAS", "REPLICAS=", "=1", "1A=2"] {
            assert!(variants(Some(over)).is_err(), "{over}");
        }
    }

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn our_prefix_wins_and_empty_is_unset() {
        let env = environment(&[("K6_A", "k6"), ("PLIMSOLL_A", "ours"), ("K6_B", "k6"), ("PLIMSOLL_B", "")]);
        assert_eq!(env.setting("A"), Some("ours"));
        assert_eq!(env.setting("B"), Some("k6"));
        assert_eq!(env.setting("C"), None);
    }

    #[test]
    fn switches_are_read_as_go_reads_them() {
        let env = environment(&[("K6_ON", "T"), ("K6_OFF", "0"), ("K6_ODD", "yes")]);
        assert_eq!(env.switch("ON").ok(), Some(Some(true)));
        assert_eq!(env.switch("OFF").ok(), Some(Some(false)));
        assert_eq!(env.switch("NONE").ok(), Some(None));
        assert!(env.switch("ODD").is_err());
    }

    #[track_caller]
    fn check(includes_process: bool, given: &[&str], expect: Option<&[(&str, &str)]>) {
        let env = environment(&[("HOME", "/h")]);
        let given: Vec<String> = given.iter().map(|text| (*text).to_owned()).collect();
        let actual = env.for_script(includes_process, &given).ok();
        assert_eq!(actual, expect.map(|pairs| environment(pairs).0));
    }

    #[test]
    fn scripts_see_what_they_are_given() {
        check(true, &["A=1=2"], Some(&[("A", "1=2"), ("HOME", "/h")]));
        check(false, &["A=1", "A=2"], Some(&[("A", "2")]));
        check(true, &["HOME"], Some(&[("HOME", "")]));
        check(false, &["=x"], None);
        check(false, &["1=x"], None);
    }
}
