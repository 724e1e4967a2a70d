//! Names of data sources: `USER:PASSWORD@tcp(HOST:PORT)/DATABASE?NAME=VALUE`.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::Tls;

/// The port of a server that names none.
const PORT: u16 = 3306;

/// The value of `tls` that means the settings of `loadTLS()`.
pub const CUSTOM_TLS: &str = "custom";

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tcp { host: String, port: u16 },
    Unix(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Tcp { host, port } => write!(f, "tcp {host}:{port}"),
            Place::Unix(path) => write!(f, "unix {path}"),
        }
    }
}

/// Whether a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encryption {
    Off,
    /// Where the server can.
    Preferred,
    /// With any server.
    Required,
    /// With a server whose certificate is trusted and for its name.
    Verified,
    /// As the script's own settings say.
    Custom,
}

/// Settings of a connection.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::sql) struct Settings {
    pub(super) place: Place,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) database: String,
    pub(super) encryption: Encryption,
    /// TLS where the encryption is the script's own.
    pub(super) tls: Option<Tls>,
    pub(super) connect_timeout: Option<Duration>,
    pub(super) read_timeout: Option<Duration>,
    pub(super) takes_several_statements: bool,
    pub(super) counts_found_rows: bool,
    /// Whether dates and times are times, and not texts.
    pub(super) parses_times: bool,
    /// Statements that follow the login.
    pub(super) first_statements: Vec<String>,
}

impl Settings {
    /// Reads the name of a data source. `tls` is what `tls=custom` means.
    ///
    /// # Errors
    /// It is none, and the text says why without showing it.
    pub(in crate::sql) fn parse(text: &str, tls: Option<&Tls>) -> Result<Settings, String> {
        // An empty name means a server at the usual place.
        let text = if text.is_empty() { "/" } else { text };
        let (before, after) = split_at_database(text).ok_or(
            "missing the slash separating the database name; write USER:PASSWORD@tcp(HOST:PORT)/DATABASE",
        )?;
        let (database, parameters) = after.split_once('?').unwrap_or((after, ""));
        let (login, place) = before.rsplit_once('@').unwrap_or(("", before));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let mut settings = Settings {
            place: place_of(place)?,
            user: user.to_owned(),
            password: password.to_owned(),
            database: percent_decode_str(database).decode_utf8_lossy().into_owned(),
            encryption: Encryption::Off,
            tls: None,
            connect_timeout: None,
            read_timeout: None,
            takes_several_statements: false,
            counts_found_rows: false,
            parses_times: false,
            first_statements: Vec::new(),
        };
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decode_str(&value.replace('+', " ")).decode_utf8_lossy().into_owned();
            settings.set(name, &value, tls)?;
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str, tls: Option<&Tls>) -> Result<(), String> {
        match name {
            "tls" => self.encryption = self.encryption_of(value, tls)?,
            "timeout" => self.connect_timeout = duration(name, value)?,
            "readTimeout" => self.read_timeout = duration(name, value)?,
            "multiStatements" => self.takes_several_statements = flag(name, value)?,
            "clientFoundRows" => self.counts_found_rows = flag(name, value)?,
            "parseTime" => self.parses_times = flag(name, value)?,
            "charset" => {
                let set = value.split(',').next().unwrap_or_default();
                self.first_statements.push(format!("SET NAMES {}", word(name, set)?));
            }
            "collation" => {
                self.first_statements.push(format!("SET collation_connection = {}", word(name, value)?));
            }
            "compress" if flag(name, value)? => {
                return Err("compress=true is not supported; remove it".to_owned());
            }
            // They choose among ways that have no counterpart here.
            "allowAllFiles"
            | "allowCleartextPasswords"
            | "allowDeprecatedRequests"
            | "allowFallbackToPlaintext"
            | "allowNativePasswords"
            | "allowOldPasswords"
            | "checkConnLiveness"
            | "columnsWithAlias"
            | "compress"
            | "connectionAttributes"
            | "inUnicode"
            | "interpolateParams"
            | "loc"
            | "maxAllowedPacket"
            | "rejectReadOnly"
            | "serverPubKey"
            | "timeTruncate"
            | "writeTimeout" => {}
            // Others are variables of the server.
            variable => {
                self.first_statements.push(format!("SET {} = {value}", word("the variable", variable)?));
            }
        }
        Ok(())
    }

    fn encryption_of(&mut self, value: &str, tls: Option<&Tls>) -> Result<Encryption, String> {
        Ok(match value {
            "" | "false" | "0" => Encryption::Off,
            "true" | "1" => Encryption::Verified,
            "skip-verify" => Encryption::Required,
            "preferred" => Encryption::Preferred,
            CUSTOM_TLS if tls.is_some() => {
                self.tls = tls.cloned();
                Encryption::Custom
            }
            _ => {
                return Err(format!(
                    "invalid value of tls {value:?}: use true, skip-verify, preferred or false, or call loadTLS() and addTLS()"
                ));
            }
        })
    }
}

/// The parts around the slash before the database. Passwords and parameters may have slashes, too.
fn split_at_database(text: &str) -> Option<(&str, &str)> {
    match text.rfind(")/") {
        Some(end) => Some((&text[..=end], &text[end + 2..])),
        None => text.rsplit_once('/'),
    }
}

/// `tcp(HOST:PORT)`, `unix(PATH)`, a network alone, or nothing.
fn place_of(text: &str) -> Result<Place, String> {
    let (network, address) = match text.split_once('(') {
        None => (text, ""),
        Some((network, rest)) => {
            let address = rest.strip_suffix(')');
            (network, address.ok_or("the address has no closing bracket; write tcp(HOST:PORT)")?)
        }
    };
    match network {
        "" | "tcp" | "tcp4" | "tcp6" => {
            let (host, port) = match address.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => {
                    let invalid = |_| format!("invalid port {port:?}; expected 1 to 65535");
                    (host, port.parse().map_err(invalid)?)
                }
                _ => (address, PORT),
            };
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let host = if host.is_empty() { "127.0.0.1" } else { host };
            Ok(Place::Tcp { host: host.to_owned(), port })
        }
        "unix" => {
            let path = if address.is_empty() { "/tmp/mysql.sock" } else { address };
            Ok(Place::Unix(path.to_owned()))
        }
        other => Err(format!("unknown network {other:?}: use tcp(HOST:PORT) or unix(PATH)")),
    }
}

fn flag(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" | "TRUE" | "1" | "True" => Ok(true),
        "false" | "FALSE" | "0" | "False" => Ok(false),
        _ => Err(format!("invalid value of {name} {value:?}: use true or false")),
    }
}

/// Milliseconds or seconds; no limit where it is 0.
fn duration(name: &str, value: &str) -> Result<Option<Duration>, String> {
    const UNITS: [(&str, f64); 4] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let unit = UNITS.iter().find_map(|(unit, seconds)| Some((value.strip_suffix(unit)?, seconds)));
    let seconds = match unit {
        Some((number, seconds)) => number.parse::<f64>().ok().map(|number| number * seconds),
        None if value == "0" => Some(0.0),
        None => None,
    };
    match seconds {
        Some(seconds) if (0.0..1e9).contains(&seconds) => {
            Ok(Some(Duration::from_secs_f64(seconds)).filter(|limit| !limit.is_zero()))
        }
        _ => Err(format!(
            "invalid value of {name} {value:?}: write a number and its unit, such as 500ms or 2s"
        )),
    }
}

/// A name that may stand in a statement.
fn word<'a>(name: &str, value: &'a str) -> Result<&'a str, String> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'@');
    match !value.is_empty() && value.bytes().all(is_word) {
        true => Ok(value),
        false => Err(format!("invalid value of {name}: expected letters, digits and underscores")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        let tls = Tls { accepts_anyone: true, ..Tls::default() };
        let shown = Settings::parse(text, Some(&tls)).map(|given| {
            let Settings { user, password, database, .. } = &given;
            let first = given.first_statements.join("; ");
            format!("{} {user} {password} {database} {:?} {first}", given.place, given.encryption)
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => {
                assert!(error.contains(expect), "{error}");
                assert!(!error.contains("secret"), "{error}");
            }
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn names_of_data_sources() {
        check("u:p@tcp(db:3307)/shop", Ok("tcp db:3307 u p shop Off "));
        check("u:a:b@c/d@tcp([::1]:1)/d", Ok("tcp ::1:1 u a:b@c/d d Off "));
        check("u@unix(/run/my.sock)/d", Ok("unix /run/my.sock u  d Off "));
        check("u@/", Ok("tcp 127.0.0.1:3306 u   Off "));
        check("/", Ok("tcp 127.0.0.1:3306    Off "));
        check("", Ok("tcp 127.0.0.1:3306    Off "));
        check("u@tcp(h)/d?tls=skip-verify&timeout=2s", Ok("tcp h:3306 u  d Required "));
        check("u@tcp(h)/d?tls=custom", Ok("tcp h:3306 u  d Custom "));
        check(
            "u@tcp(h)/d?loc=Asia/Seoul&sql_mode=%27ANSI%27&charset=utf8mb4,utf8",
            Ok("tcp h:3306 u  d Off SET sql_mode = 'ANSI'; SET NAMES utf8mb4"),
        );
        check("u:secret@tcp(h:3306)", Err("missing the slash"));
        check("u:secret@tcp(h:x)/d", Err("invalid port"));
        check("u:secret@tcp(h/d", Err("closing bracket"));
        check("u:secret@udp(h)/d", Err("unknown network"));
        check("u:secret@tcp(h)/d?tls=maybe", Err("loadTLS()"));
        check("u:secret@tcp(h)/d?timeout=2", Err("500ms or 2s"));
        check("u:secret@tcp(h)/d?a;b=1", Err("letters, digits"));
        check("u:secret@tcp(h)/d?compress=true", Err("not supported"));
    }

    #[test]
    fn custom_settings_are_needed_for_custom_tls() {
        assert!(Settings::parse("u@tcp(h)/d?tls=custom", None).is_err());
    }

    #[test]
    fn durations() {
        let limit =
            |text| Settings::parse(&format!("/d?readTimeout={text}"), None).ok().map(|s| s.read_timeout);
        assert_eq!(limit("1.5s"), Some(Some(Duration::from_millis(1500))));
        assert_eq!(limit("0"), Some(None));
        assert_eq!(limit("1h"), Some(Some(Duration::from_secs(3600))));
        assert_eq!(limit("-1s"), None);
    }
}
