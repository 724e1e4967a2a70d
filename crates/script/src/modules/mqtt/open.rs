//! Connections to brokers: a script's settings, and how connections are opened.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use datastore::mqtt::{MqttError, Session, Settings, Will};
use datastore::{Dial, Tls};
use rquickjs::{Object, Value};
use url::Url;

use crate::dialer::VuDialer;
use crate::js::{self, Args};
use crate::state::VuState;

/// Seconds between two signs of life, where the script names none.
const KEEP_ALIVE_S: f64 = 60.0;

/// Milliseconds until a connection is given up, where the script names none.
const CONNECT_TIMEOUT_MS: f64 = 30_000.0;

/// Where a broker is.
pub(super) struct Broker {
    /// Without user and password.
    pub(super) url: Arc<str>,
    host: String,
    port: u16,
    is_encrypted: bool,
}

/// A script's settings for a connection.
pub(super) struct Asked {
    pub(super) brokers: Vec<Broker>,
    pub(super) settings: Settings,
    pub(super) timeout: Duration,
}

impl Asked {
    /// Arguments 0 and 1: URLs, and settings.
    pub(super) fn read(args: &Args<'_, '_>) -> rquickjs::Result<Asked> {
        let given = args.get(1);
        let given = given.as_object().ok_or_else(|| args.type_error("a client needs settings"))?;
        let text = |name: &str| text_of(args, given, name);
        let mut settings = Settings {
            client_id: text("client_id")?.unwrap_or_default(),
            user: text("username")?,
            password: text("password")?,
            will: will(args, given)?,
            keep_alive_s: number(args, given, "keepalive", KEEP_ALIVE_S, f64::from(u16::MAX))? as u16,
            is_clean: given.get::<_, Option<bool>>("clean_session")?.unwrap_or(true),
        };
        let mut brokers = Vec::new();
        if let Some(urls) = args.get(0).as_array() {
            for url in urls.iter::<Value<'_>>() {
                let url = js::to_string(args.ctx, &url?)?;
                brokers.push(broker(&url, &mut settings).map_err(|text| args.error(text))?);
            }
        }
        args.vu.init.secrets.hide(settings.password.clone().filter(|password| !password.is_empty()));
        let timeout = number(args, given, "connect_timeout", CONNECT_TIMEOUT_MS, 1e9)?;
        Ok(Asked { brokers, settings, timeout: Duration::from_secs_f64(timeout / 1e3) })
    }
}

fn text_of<'js>(args: &Args<'_, 'js>, object: &Object<'js>, name: &str) -> rquickjs::Result<Option<String>> {
    let value: Value<'_> = object.get(name)?;
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    js::to_string(args.ctx, &value).map(Some)
}

fn number<'js>(
    args: &Args<'_, 'js>,
    object: &Object<'js>,
    name: &str,
    default: f64,
    max: f64,
) -> rquickjs::Result<f64> {
    let value: Value<'_> = object.get(name)?;
    if value.is_undefined() || value.is_null() {
        return Ok(default);
    }
    let number = js::to_number(args.ctx, &value)?;
    match (0.0..=max).contains(&number) {
        true => Ok(number),
        false => Err(args.error(format!("invalid {name} {number}: expected 0 to {max}"))),
    }
}

fn will<'js>(args: &Args<'_, 'js>, given: &Object<'js>) -> rquickjs::Result<Option<Will>> {
    let will: Value<'_> = given.get("will")?;
    let Some(will) = will.as_object() else { return Ok(None) };
    let payload: Value<'_> = will.get("payload")?;
    let payload = match js::bytes_of(&payload) {
        Some(bytes) => bytes,
        None => text_of(args, will, "payload")?.unwrap_or_default().into_bytes(),
    };
    Ok(Some(Will {
        topic: text_of(args, will, "topic")?.unwrap_or_default(),
        payload,
        qos: number(args, will, "qos", 0.0, 2.0)? as u8,
        is_retained: will.get::<_, Option<bool>>("retain")?.unwrap_or(false),
    }))
}

/// The broker that a URL names. A user and a password in it are those of the login.
fn broker(text: &str, settings: &mut Settings) -> Result<Broker, String> {
    // The scheme is mqtt where there is none.
    let whole = if text.contains("://") { text.to_owned() } else { format!("mqtt://{text}") };
    let invalid =
        |why: &str| format!("invalid broker URL: {why}; expected mqtt://HOST:PORT or mqtts://HOST:PORT");
    let mut url = Url::parse(&whole).map_err(|error| invalid(&error.to_string()))?;
    let is_encrypted = match url.scheme() {
        "mqtt" | "tcp" => false,
        "mqtts" | "ssl" | "tls" => true,
        scheme @ ("ws" | "wss") => {
            return Err(invalid(&format!("{scheme}:// (MQTT over WebSocket) is not supported")));
        }
        scheme => return Err(invalid(&format!("unknown protocol {scheme}://"))),
    };
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned();
    if host.is_empty() {
        return Err(invalid("it has no host"));
    }
    let decoded = |part: &str| percent_decode(part);
    if !url.username().is_empty() {
        settings.user.get_or_insert(decoded(url.username()));
    }
    if let Some(password) = url.password() {
        settings.password.get_or_insert(decoded(password));
    }
    // URLs without a host cannot lose their user, and this one has a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    let port = url.port().unwrap_or(if is_encrypted { 8883 } else { 1883 });
    let shown = url.as_str().strip_suffix('/').filter(|_| !whole.ends_with('/'));
    let shown = shown.unwrap_or(url.as_str()).into();
    Ok(Broker { url: shown, host, port, is_encrypted })
}

fn percent_decode(text: &str) -> String {
    let pairs = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    let mut pairs = url::form_urlencoded::parse(pairs.as_bytes());
    pairs.next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

/// Connects and logs in; the text of a failure is that of k6's library.
pub(super) async fn open(
    vu: &Rc<VuState>,
    broker: &Broker,
    settings: &Settings,
) -> Result<Rc<Session>, String> {
    let dialer = VuDialer(vu.clone());
    let network = |text: String| format!("network Error : {text}");
    let mut stream = dialer.open(&broker.host, broker.port).await.map_err(network)?;
    if broker.is_encrypted {
        stream = dialer.encrypt(stream, &broker.host, &Tls::default()).await.map_err(network)?;
    }
    Session::open(stream, settings).await.map_err(|error| match error {
        MqttError::Refused(_) => error.to_string(),
        other => network(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expect: Result<&str, &str>) {
        let mut settings = Settings {
            client_id: String::new(),
            user: None,
            password: None,
            will: None,
            keep_alive_s: 0,
            is_clean: true,
        };
        let shown = broker(url, &mut settings).map(|broker| {
            let Broker { url, host, port, is_encrypted } = broker;
            let (user, password) =
                (settings.user.clone().unwrap_or_default(), settings.password.clone().unwrap_or_default());
            format!("{url} {host} {port} {is_encrypted} {user} {password}")
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => {
                assert!(error.contains(expect) && !error.contains("secret"), "{error}");
            }
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn urls_of_brokers() {
        check("mqtt://h:1884", Ok("mqtt://h:1884 h 1884 false  "));
        check("mqtts://h", Ok("mqtts://h h 8883 true  "));
        check("h:1", Ok("mqtt://h:1 h 1 false  "));
        check("tcp://u:p%40+x@[::1]:1", Ok("tcp://[::1]:1 ::1 1 false u p@+x"));
        check("ws://u:secret@h/mqtt", Err("MQTT over WebSocket"));
        check("http://h", Err("unknown protocol http://"));
        check("mqtt://", Err("mqtt://HOST:PORT"));
        check("mqtt://u:secret@h:x", Err("invalid port"));
    }
}
