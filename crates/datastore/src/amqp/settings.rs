//! Names of connections: `amqp://USER:PASSWORD@HOST:PORT/VHOST`.

use percent_encoding::percent_decode_str;
use url::Url;

use super::AmqpError;

/// Settings of a connection.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// A name or an address.
    pub host: String,
    /// The broker's port.
    pub port: u16,
    /// Whether it is encrypted.
    pub is_encrypted: bool,
    /// The user.
    pub user: String,
    /// The user's password.
    pub password: String,
    /// The virtual host.
    pub vhost: String,
}

impl Settings {
    /// Reads a URL.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str) -> Result<Settings, AmqpError> {
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
        let is_encrypted = match scheme {
            "amqp" => false,
            "amqps" => true,
            _ => {
                let text = "AMQP scheme must be either 'amqp://' or 'amqps://'";
                return Err(AmqpError::Url(text.to_owned()));
            }
        };
        let url = Url::parse(text).map_err(|error| {
            AmqpError::Url(format!("invalid URL: {error}; expected amqp://USER:PASSWORD@HOST:PORT/VHOST"))
        })?;
        let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        let path = decoded(url.path().strip_prefix('/').unwrap_or_default());
        let user = decoded(url.username());
        Ok(Settings {
            host: if host.is_empty() { "localhost".to_owned() } else { host.to_owned() },
            port: url.port().unwrap_or(if is_encrypted { 5671 } else { 5672 }),
            is_encrypted,
            user: if user.is_empty() { "guest".to_owned() } else { user },
            password: url.password().map_or_else(|| "guest".to_owned(), decoded),
            vhost: if path.is_empty() { "/".to_owned() } else { path },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        let shown = Settings::parse(text).map(|given| {
            let Settings { host, port, is_encrypted, user, password, vhost } = given;
            format!("{host} {port} {is_encrypted} {user} {password} {vhost}")
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => {
                let error = error.to_string();
                assert!(error.contains(expect) && !error.contains("secret"), "{error}");
            }
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn urls() {
        check("amqp://u:p%40@h:1/v%2Fw", Ok("h 1 false u p@ v/w"));
        check("amqps://h", Ok("h 5671 true guest guest /"));
        check("amqp://[::1]/", Ok("::1 5672 false guest guest /"));
        check("http://u:secret@h", Err("'amqp://' or 'amqps://'"));
        check("amqp://u:secret@h:x/", Err("invalid port"));
    }
}
