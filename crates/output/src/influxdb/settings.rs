//! Where InfluxDB is and how it is written to: `K6_INFLUXDB_*` and the argument.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::line::{Field, FieldKind};
use crate::net::HttpSettings;
use crate::setting::{duration, parsed, switch, text};
use crate::{Context, OutputError};

/// Where InfluxDB listens by default.
const ADDRESS_DEFAULT: &str = "http://localhost:8086";

/// k6's name for a database that was not named.
const DATABASE_DEFAULT: &str = "k6";

/// How often points are written.
const PUSH_INTERVAL_DEFAULT: Duration = Duration::from_secs(1);

/// k6's default for tags that become fields.
const FIELDS_DEFAULT: &str = "vu:int,iter:int,url";

/// Variables of k6's writer: stamps must be in nanoseconds to be distinct, and one connection writes batches of our size.
const WITHOUT_EFFECT: &[&str] =
    &["K6_INFLUXDB_CONCURRENT_WRITES", "K6_INFLUXDB_PAYLOAD_SIZE", "K6_INFLUXDB_PRECISION"];

/// The characters of a query that need no escaping (RFC 3986, 2.3).
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The interface that is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// `/write`: InfluxDB 1.
    V1,
    /// `/api/v2/write`: InfluxDB 2, and 1.8 as well.
    V2,
    /// `/api/v3/write_lp`: InfluxDB 3.
    V3,
}

/// How to write.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) api: Api,
    /// Scheme, host and a path before the interface's own, without a slash at the end and without a password.
    pub(super) address: String,
    /// The database, or version 2's bucket.
    pub(super) store: String,
    pub(super) authorization: Option<String>,
    pub(super) http: HttpSettings,
    pub(super) push_interval: Duration,
    pub(super) fields: Vec<Field>,
    /// Variables that are set and have no effect.
    pub(super) without_effect: Vec<&'static str>,
    organization: Option<String>,
    retention: Option<String>,
    consistency: Option<String>,
}

impl Settings {
    /// Environment first, then the argument: `http://[user:password@]host:port[/prefix]/database`.
    pub(super) fn read(argument: &str, context: &Context) -> Result<Settings, OutputError> {
        let bucket = text(context, "K6_INFLUXDB_BUCKET");
        let api = parsed(context, "PLIMSOLL_INFLUXDB_API", "v1, v2 or v3", api)?;
        let api = api.unwrap_or(if bucket.is_some() { Api::V2 } else { Api::V1 });
        let address = text(context, "K6_INFLUXDB_ADDR").unwrap_or_else(|| ADDRESS_DEFAULT.to_owned());
        let place = Place::read(if argument.is_empty() { &address } else { argument });
        // Buckets have a variable of their own, so that a whole path is a prefix where it is set.
        let (address, named) = match api {
            Api::V2 if bucket.is_some() => (place.whole, None),
            _ if argument.is_empty() => (place.whole, None),
            _ => (place.address, place.database),
        };
        let store = bucket.filter(|_| api == Api::V2).or(named).or(text(context, "K6_INFLUXDB_DB"));
        let username = text(context, "K6_INFLUXDB_USERNAME").or(place.username);
        let password = text(context, "K6_INFLUXDB_PASSWORD").or(place.password).unwrap_or_default();
        let login = username.map(|username| format!("{username}:{password}"));
        let authorization = match (text(context, "K6_INFLUXDB_TOKEN"), api) {
            (Some(token), Api::V3) => Some(format!("Bearer {token}")),
            (Some(token), Api::V2) => Some(format!("Token {token}")),
            _ => login.map(|login| format!("Basic {}", BASE64.encode(login))),
        };
        Ok(Settings {
            api,
            address,
            store: store.unwrap_or_else(|| DATABASE_DEFAULT.to_owned()),
            authorization,
            http: HttpSettings {
                skips_verification: switch(context, "K6_INFLUXDB_INSECURE")?,
                proxy: text(context, "K6_INFLUXDB_PROXY"),
                ..HttpSettings::default()
            },
            push_interval: duration(context, "K6_INFLUXDB_PUSH_INTERVAL", PUSH_INTERVAL_DEFAULT)?,
            fields: parsed(
                context,
                "K6_INFLUXDB_TAGS_AS_FIELDS",
                "a list such as vu:int,iter:int,url",
                fields,
            )?
            .or_else(|| fields(FIELDS_DEFAULT))
            .unwrap_or_default(),
            without_effect: WITHOUT_EFFECT
                .iter()
                .copied()
                .filter(|name| text(context, name).is_some())
                .collect(),
            organization: text(context, "K6_INFLUXDB_ORGANIZATION"),
            retention: text(context, "K6_INFLUXDB_RETENTION"),
            consistency: text(context, "K6_INFLUXDB_CONSISTENCY"),
        })
    }

    /// Where points go.
    pub(super) fn write_url(&self) -> String {
        let Settings { address, store, .. } = self;
        let retention = ("rp", self.retention.as_deref());
        let consistency = ("consistency", self.consistency.as_deref());
        let organization = ("org", self.organization.as_deref());
        let (path, parameters) = match self.api {
            Api::V1 => {
                ("write", vec![("db", Some(&**store)), ("precision", Some("ns")), retention, consistency])
            }
            Api::V2 => {
                ("api/v2/write", vec![organization, ("bucket", Some(store)), ("precision", Some("ns"))])
            }
            Api::V3 => ("api/v3/write_lp", vec![("db", Some(&**store)), ("precision", Some("nanosecond"))]),
        };
        let parameters = parameters.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let parameters: Vec<_> =
            parameters.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        format!("{address}/{path}?{}", parameters.join("&"))
    }

    /// Makes version 1's database.
    pub(super) fn create_url(&self) -> String {
        let name = self.store.replace('\\', r"\\").replace('"', "\\\"");
        format!("{}/query?q={}", self.address, encoded(&format!("CREATE DATABASE \"{name}\"")))
    }
}

/// The parts of a URL.
struct Place {
    /// Without its last segment and without the login.
    address: String,
    /// With it.
    whole: String,
    database: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

impl Place {
    fn read(url: &str) -> Place {
        let url = url.trim_end_matches('/');
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, authority),
        };
        let (username, password) = match login.map(|login| login.split_once(':').unwrap_or((login, ""))) {
            Some((username, password)) => (Some(decoded(username)), Some(decoded(password))),
            None => (None, None),
        };
        let (prefix, database) = path.rsplit_once('/').unwrap_or(("", path));
        let join = |path: &str| {
            let slash = if path.is_empty() { "" } else { "/" };
            format!("{scheme}://{host}{slash}{path}")
        };
        let database = (!database.is_empty()).then(|| decoded(database));
        Place { address: join(prefix), whole: join(path), database, username, password }
    }
}

fn api(text: &str) -> Option<Api> {
    match text {
        "v1" | "1" => Some(Api::V1),
        "v2" | "2" => Some(Api::V2),
        "v3" | "3" => Some(Api::V3),
        _ => None,
    }
}

/// `name[:kind]` with commas between; the names of our own fields are taken.
fn fields(text: &str) -> Option<Vec<Field>> {
    let entries = text.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let (name, kind) = entry.split_once(':').unwrap_or((entry, "string"));
            let kind = match kind {
                "string" => FieldKind::Text,
                "int" => FieldKind::Integer,
                "float" => FieldKind::Float,
                "bool" => FieldKind::Boolean,
                _ => return None,
            };
            (!matches!(name, "" | "value" | "mark" | "time")).then(|| (name.to_owned(), kind))
        })
        .collect()
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::tests::context;

    #[track_caller]
    fn check(argument: &str, env: &[(&str, &str)], expect: &str) {
        let actual = match Settings::read(argument, &context(env)) {
            Ok(settings) => {
                format!("{} {}", settings.write_url(), settings.authorization.unwrap_or_default())
            }
            Err(error) => format!("failed to {error}"),
        };
        assert_eq!(actual.trim_end(), expect, "{argument} {env:?}");
    }

    #[test]
    fn settings_come_from_the_environment_and_the_argument() {
        check("", &[], "http://localhost:8086/write?db=k6&precision=ns");
        check("http://h:1/my%20db", &[], "http://h:1/write?db=my%20db&precision=ns");
        check("https://h/a/b/db/", &[], "https://h/a/b/write?db=db&precision=ns");
        check("http://h:1", &[("K6_INFLUXDB_DB", "d&e")], "http://h:1/write?db=d%26e&precision=ns");
        check("http://u:p%40@h/db", &[], "http://h/write?db=db&precision=ns Basic dTpwQA==");
        check(
            "",
            &[
                ("K6_INFLUXDB_ADDR", "http://h:2/prefix"),
                ("K6_INFLUXDB_USERNAME", "u"),
                ("K6_INFLUXDB_PASSWORD", "p"),
                ("K6_INFLUXDB_RETENTION", "rp"),
                ("K6_INFLUXDB_CONSISTENCY", "one"),
                ("K6_INFLUXDB_PRECISION", "s"),
            ],
            "http://h:2/prefix/write?db=k6&precision=ns&rp=rp&consistency=one Basic dTpw",
        );
        let v2 =
            [("K6_INFLUXDB_ORGANIZATION", "o p"), ("K6_INFLUXDB_BUCKET", "b"), ("K6_INFLUXDB_TOKEN", "t")];
        check("http://h:3", &v2, "http://h:3/api/v2/write?org=o%20p&bucket=b&precision=ns Token t");
        let v3 = [("PLIMSOLL_INFLUXDB_API", "v3"), ("K6_INFLUXDB_TOKEN", "t")];
        check("http://h:4/db", &v3, "http://h:4/api/v3/write_lp?db=db&precision=nanosecond Bearer t");
        check(
            "",
            &[("PLIMSOLL_INFLUXDB_API", "v4")],
            "failed to read PLIMSOLL_INFLUXDB_API of the output: \"v4\" is not v1, v2 or v3",
        );
        for wrong in ["vu:long", "value", ":int"] {
            let text = format!(
                "failed to read K6_INFLUXDB_TAGS_AS_FIELDS of the output: {wrong:?} is not a list such as vu:int,iter:int,url"
            );
            check("", &[("K6_INFLUXDB_TAGS_AS_FIELDS", wrong)], &text);
        }
    }

    #[test]
    fn databases_are_named_in_quotes() {
        let settings = Settings::read("http://h/a\"b", &context(&[])).expect("settings");
        assert_eq!(settings.create_url(), "http://h/query?q=CREATE%20DATABASE%20%22a%5C%22b%22");
    }
}
