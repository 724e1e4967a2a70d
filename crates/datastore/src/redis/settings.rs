//! Settings of a client, as scripts write them: a URL or an object.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::Tls;

/// The port of a server that names none.
const PORT: u16 = 6379;

/// Default timeout of a connection.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Default timeout of reading a reply, and of writing a command.
const READ_TIMEOUT: Duration = Duration::from_secs(3);

/// Default number of redirects of a cluster that are followed.
const REDIRECTS_MAX: u32 = 3;

/// Most redirects that a script may ask for.
const REDIRECTS_LIMIT: u32 = 16;

/// Parameters of a URL that k6 knows and that have no meaning for one connection per client.
const POOL_PARAMETERS: &[&str] = &[
    "protocol",
    "max_retries",
    "min_retry_backoff",
    "max_retry_backoff",
    "pool_fifo",
    "pool_size",
    "pool_timeout",
    "min_idle_conns",
    "max_idle_conns",
    "max_active_conns",
    "conn_max_idle_time",
    "conn_max_lifetime",
    "idle_timeout",
    "idle_check_frequency",
    "max_conn_age",
];

/// Settings that are none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid options; reason: {0}")]
pub struct SettingsError(String);

/// A server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Option<Tls>,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// How the node for a command is found.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// There is one.
    Single,
    /// A sentinel names it.
    Sentinel { name: String, username: String, password: String },
    /// The cluster redirects to it.
    Cluster { redirects_max: u32 },
}

/// Settings of a client.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// At least one.
    pub(super) nodes: Vec<Node>,
    pub(super) route: Route,
    pub(super) username: String,
    pub(super) password: String,
    pub(super) client_name: String,
    pub(super) database: u32,
    pub(super) dial_timeout: Duration,
    /// `None`: no timeout.
    pub(super) read_timeout: Option<Duration>,
    /// `None`: no timeout.
    pub(super) write_timeout: Option<Duration>,
}

/// Passwords are not shown.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("nodes", &self.nodes.len()).finish_non_exhaustive()
    }
}

impl Settings {
    /// The settings of `redis[s]://[[username][:password]@][host][:port][/database]`.
    ///
    /// # Errors
    /// It is no such URL. The text does not show it, because it may hold a password.
    pub fn from_url(text: &str) -> Result<Settings, SettingsError> {
        parse_url(text).map_err(SettingsError)
    }

    /// The settings of an object with `socket`, `cluster` and the like. Certificates are texts.
    ///
    /// # Errors
    /// A name is unknown, or a value has another type than it should.
    pub fn from_json(value: &Value) -> Result<Settings, SettingsError> {
        parse_object(value).map_err(SettingsError)
    }

    fn of_nodes(nodes: Vec<Node>, route: Route) -> Settings {
        Settings {
            nodes,
            route,
            username: String::new(),
            password: String::new(),
            client_name: String::new(),
            database: 0,
            dial_timeout: DIAL_TIMEOUT,
            read_timeout: Some(READ_TIMEOUT),
            write_timeout: Some(READ_TIMEOUT),
        }
    }

    /// The passwords, which logs and run files must not show.
    pub fn secrets(&self) -> Vec<String> {
        let sentinel = match &self.route {
            Route::Sentinel { password, .. } => password.as_str(),
            _ => "",
        };
        let all = [self.password.as_str(), sentinel];
        all.iter().filter(|secret| !secret.is_empty()).map(|secret| (*secret).to_owned()).collect()
    }
}

fn parse_url(text: &str) -> Result<Settings, String> {
    let is_tls = match text.split_once("://").map_or("", |(scheme, _)| scheme) {
        "redis" => false,
        "rediss" => true,
        scheme => {
            return Err(format!(
                "redis: invalid URL scheme: {scheme}; expected redis://HOST:PORT or rediss://HOST:PORT"
            ));
        }
    };
    // A URL without a host is the local server's. `url` wants one where there is a port.
    let url = Url::parse(text).or_else(|error| {
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let local = rest.rsplit_once('@').map_or_else(
            || format!("{scheme}://localhost{rest}"),
            |(user, place)| format!("{scheme}://{user}@localhost{place}"),
        );
        Url::parse(&local).map_err(|_| error)
    });
    let url = url.map_err(|error| format!("redis: invalid URL: {error}"))?;
    let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let host = match url.host_str() {
        None | Some("") => "localhost".to_owned(),
        Some(host) => decoded(host.trim_start_matches('[').trim_end_matches(']')),
    };
    let node = Node { host, port: url.port().unwrap_or(PORT), tls: is_tls.then(Tls::default) };
    let mut settings = Settings::of_nodes(vec![node], Route::Single);
    settings.username = decoded(url.username());
    settings.password = url.password().map(decoded).unwrap_or_default();
    let number = |text: &str| text.parse().map_err(|_| format!("redis: invalid database number: {text:?}"));
    let path = url.path().trim_matches('/');
    if !path.is_empty() {
        settings.database = number(path)?;
    }
    for (name, value) in url.query_pairs() {
        match &*name {
            "db" => settings.database = number(&value)?,
            "client_name" => settings.client_name = value.into_owned(),
            "dial_timeout" => settings.dial_timeout = url_timeout(&name, &value)?.unwrap_or(DIAL_TIMEOUT),
            "read_timeout" => settings.read_timeout = url_timeout(&name, &value)?,
            "write_timeout" => settings.write_timeout = url_timeout(&name, &value)?,
            name if POOL_PARAMETERS.contains(&name) => {}
            name => return Err(format!("redis: unexpected option: {name}")),
        }
    }
    Ok(settings)
}

/// `3s`, `500ms`, or a number of seconds; not above zero means none.
fn url_timeout(name: &str, text: &str) -> Result<Option<Duration>, String> {
    let invalid = || format!("redis: invalid {name} duration: {text:?}; write 3s or 500ms");
    let (number, unit_s) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.parse::<f64>().map_err(|_| invalid())? * unit_s;
    if seconds <= 0.0 {
        return Ok(None);
    }
    Duration::try_from_secs_f64(seconds).map(Some).map_err(|_| invalid())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ObjectGiven {
    socket: Option<SocketGiven>,
    username: Option<String>,
    password: Option<String>,
    client_name: Option<String>,
    database: Option<u32>,
    master_name: Option<String>,
    sentinel_username: Option<String>,
    sentinel_password: Option<String>,
    cluster: Option<ClusterGiven>,
}

/// Settings of connection pools are read and have no effect: a client has one connection.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SocketGiven {
    #[serde(default)]
    host: String,
    port: Option<u16>,
    tls: Option<TlsGiven>,
    dial_timeout: Option<i64>,
    read_timeout: Option<i64>,
    write_timeout: Option<i64>,
    #[serde(rename = "poolSize")]
    _pool_size: Option<i64>,
    #[serde(rename = "minIdleConns")]
    _min_idle_conns: Option<i64>,
    #[serde(rename = "maxConnAge")]
    _max_conn_age: Option<i64>,
    #[serde(rename = "poolTimeout")]
    _pool_timeout: Option<i64>,
    #[serde(rename = "idleTimeout")]
    _idle_timeout: Option<i64>,
    #[serde(rename = "idleCheckFrequency")]
    _idle_check_frequency: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TlsGiven {
    #[serde(default)]
    ca: Vec<String>,
    cert: Option<String>,
    key: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClusterGiven {
    max_redirects: Option<i64>,
    #[serde(rename = "readOnly")]
    _read_only: Option<bool>,
    #[serde(rename = "routeByLatency")]
    _route_by_latency: Option<bool>,
    #[serde(rename = "routeRandomly")]
    _route_randomly: Option<bool>,
    nodes: Vec<Value>,
}

/// A cluster's node as an object: that of one server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NodeGiven {
    socket: SocketGiven,
    username: Option<String>,
    password: Option<String>,
    client_name: Option<String>,
    #[serde(rename = "database")]
    _database: Option<u32>,
}

fn parse_object(value: &Value) -> Result<Settings, String> {
    let given = ObjectGiven::deserialize(value).map_err(|error| error.to_string())?;
    let mut settings = match (given.cluster, given.socket) {
        (Some(cluster), _) => parse_cluster(cluster)?,
        (None, Some(socket)) => parse_socket(socket)?,
        (None, None) => return Err("empty socket options; set `socket.host`, or `cluster.nodes`".to_owned()),
    };
    if let Some(name) = given.master_name {
        settings.route = Route::Sentinel {
            name,
            username: given.sentinel_username.unwrap_or_default(),
            password: given.sentinel_password.unwrap_or_default(),
        };
    }
    let fields = [
        (&mut settings.username, given.username),
        (&mut settings.password, given.password),
        (&mut settings.client_name, given.client_name),
    ];
    for (field, given) in fields {
        *field = given.unwrap_or(std::mem::take(field));
    }
    settings.database = given.database.unwrap_or(settings.database);
    Ok(settings)
}

fn parse_socket(given: SocketGiven) -> Result<Settings, String> {
    let host = if given.host.is_empty() { "localhost".to_owned() } else { given.host };
    let tls = given.tls.map(parse_tls).transpose()?;
    let node = Node { host, port: given.port.unwrap_or(PORT), tls };
    let mut settings = Settings::of_nodes(vec![node], Route::Single);
    settings.dial_timeout = timeout_s(given.dial_timeout, Some(DIAL_TIMEOUT)).unwrap_or(DIAL_TIMEOUT);
    settings.read_timeout = timeout_s(given.read_timeout, settings.read_timeout);
    settings.write_timeout = timeout_s(given.write_timeout, settings.read_timeout);
    Ok(settings)
}

fn parse_tls(given: TlsGiven) -> Result<Tls, String> {
    let identity = match (given.cert, given.key) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        (Some(_), None) => {
            return Err("`socket.tls.cert` needs its private key in `socket.tls.key`".to_owned());
        }
        (None, Some(_)) => {
            return Err("`socket.tls.key` needs its certificate in `socket.tls.cert`".to_owned());
        }
    };
    Ok(Tls { authorities: given.ca, identity, accepts_anyone: false })
}

fn parse_cluster(given: ClusterGiven) -> Result<Settings, String> {
    let mut all: Option<Settings> = None;
    for node in &given.nodes {
        let one = match node {
            Value::String(url) => parse_url(url)?,
            object => {
                let given = NodeGiven::deserialize(object).map_err(|error| error.to_string())?;
                let mut one = parse_socket(given.socket)?;
                one.username = given.username.unwrap_or_default();
                one.password = given.password.unwrap_or_default();
                one.client_name = given.client_name.unwrap_or_default();
                one
            }
        };
        match &mut all {
            // Where they differ, the first node's settings are those of all.
            Some(all) => all.nodes.extend(one.nodes),
            None => all = Some(one),
        }
    }
    let mut all = all.ok_or("cluster nodes property cannot be empty; name at least one node")?;
    let redirects_max = match given.max_redirects {
        None | Some(0) => REDIRECTS_MAX,
        Some(given) => u32::try_from(given).unwrap_or(0).min(REDIRECTS_LIMIT),
    };
    all.route = Route::Cluster { redirects_max };
    // A cluster has one database.
    all.database = 0;
    Ok(all)
}

/// A timeout in seconds; 0 means the default, and a negative number none.
fn timeout_s(given: Option<i64>, default: Option<Duration>) -> Option<Duration> {
    match given {
        None | Some(0) => default,
        Some(seconds) => u64::try_from(seconds).ok().map(Duration::from_secs),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn url(text: &str, expect: Result<&str, &str>) {
        check(Settings::from_url(text), expect);
    }

    #[track_caller]
    fn object(value: Value, expect: Result<&str, &str>) {
        check(Settings::from_json(&value), expect);
    }

    /// `nodes username password database read`
    #[track_caller]
    fn check(got: Result<Settings, SettingsError>, expect: Result<&str, &str>) {
        let shown = got.as_ref().map(|settings| {
            let nodes: Vec<String> = settings.nodes.iter().map(Node::to_string).collect();
            let (user, password, db) = (&settings.username, &settings.password, settings.database);
            format!("{} {user} {password} {db} {:?}", nodes.join(","), settings.read_timeout)
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => assert!(error.to_string().contains(expect), "{error}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn urls() {
        url("redis://localhost:7399", Ok("localhost:7399   0 Some(3s)"));
        url("redis://", Ok("localhost:6379   0 Some(3s)"));
        url("redis://:6380/2", Ok("localhost:6380   2 Some(3s)"));
        url("redis://:p%40ss@h/", Ok("h:6379  p@ss 0 Some(3s)"));
        url("redis://:pw@:6380", Ok("localhost:6380  pw 0 Some(3s)"));
        url("redis://u:pw@[::1]:1/3?read_timeout=1s", Ok("[::1]:1 u pw 3 Some(1s)"));
        url("redis://h?db=4&read_timeout=-1&pool_size=9", Ok("h:6379   4 None"));
        url("redis://h/abc", Err("invalid options; reason: redis: invalid database number: \"abc\""));
        url("redis://h?foo=1", Err("redis: unexpected option: foo"));
        url("http://u:secret@h", Err("redis: invalid URL scheme: http"));
        url("localhost:6379", Err("redis://HOST:PORT"));
        url("redis://h:99999", Err("invalid URL"));
        assert_eq!(Settings::from_url("rediss://h").unwrap().nodes[0].tls, Some(Tls::default()));
    }

    #[test]
    fn objects() {
        object(json!({"socket": {"host": "a"}}), Ok("a:6379   0 Some(3s)"));
        object(
            json!({"socket": {"host": "a", "port": 1, "readTimeout": -1, "poolSize": 10}, "username": "u", "password": "p",
                   "database": 5, "clientName": "c"}),
            Ok("a:1 u p 5 None"),
        );
        object(
            json!({"cluster": {"nodes": ["redis://:p@a", "redis://b:2"]}}),
            Ok("a:6379,b:2  p 0 Some(3s)"),
        );
        object(json!({"cluster": {"nodes": [{"socket": {"host": "c"}}]}}), Ok("c:6379   0 Some(3s)"));
        object(json!({}), Err("empty socket options"));
        object(json!({"foo": 1}), Err("unknown field `foo`"));
        object(json!({"socket": {"host": "a", "port": "x"}}), Err("invalid type: string \"x\""));
        object(json!({"cluster": {"nodes": []}}), Err("cluster nodes property cannot be empty"));
        object(json!({"socket": {"host": "a", "tls": {"cert": "x"}}}), Err("socket.tls.key"));
    }

    #[test]
    fn passwords_are_not_shown() {
        let settings = Settings::from_url("redis://u:hush@h").unwrap();
        assert!(!format!("{settings:?}").contains("hush"));
        assert_eq!(settings.secrets(), ["hush"]);
    }
}
