//! Names of PostgreSQL data sources: URLs, and words such as `host=db user=shop`.

use percent_encoding::percent_decode_str;
use url::Url;

/// The port of a server that names none.
const PORT: u16 = 5432;

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
}

/// Settings of a connection.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Settings {
    /// A name, an address, or the folder of a socket.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: Option<String>,
    pub(super) encryption: Encryption,
    pub(super) application: String,
    /// Further settings of the server, as `-c name=value …`.
    pub(super) options: String,
    pub(super) connect_timeout_s: Option<u64>,
}

impl Settings {
    /// # Errors
    /// It is none, and the text says why without showing it.
    pub(super) fn parse(text: &str) -> Result<Settings, String> {
        let is_url = text.starts_with("postgres://") || text.starts_with("postgresql://");
        let pairs = if is_url { pairs_of_url(text)? } else { pairs_of_words(text)? };
        let mut settings = Settings {
            host: "localhost".to_owned(),
            port: PORT,
            user: "postgres".to_owned(),
            password: None,
            database: None,
            encryption: Encryption::Required,
            application: "plimsoll".to_owned(),
            options: String::new(),
            connect_timeout_s: None,
        };
        for (name, value) in pairs {
            settings.set(&name, value)?;
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: String) -> Result<(), String> {
        match name {
            "host" | "hostaddr" if !value.is_empty() => self.host = value,
            "host" | "hostaddr" => {}
            "port" => {
                self.port =
                    value.parse().map_err(|_| format!("invalid port {value:?}; expected 1 to 65535"))?
            }
            "user" => self.user = value,
            "password" => self.password = Some(value),
            "dbname" | "database" => self.database = Some(value),
            "sslmode" => self.encryption = encryption(&value)?,
            "application_name" => self.application = value,
            "connect_timeout" => {
                let seconds = value
                    .parse()
                    .map_err(|_| format!("invalid connect_timeout {value:?}; expected seconds"))?;
                self.connect_timeout_s = Some(seconds).filter(|seconds| *seconds > 0);
            }
            "options" => self.push_options(&value),
            "fallback_application_name" | "binary_parameters" | "disable_prepared_binary_result" => {}
            "sslrootcert" | "sslcert" | "sslkey" | "sslinline" | "sslpassword" => {
                return Err(format!(
                    "{name} is not supported; trust an authority with the variable SSL_CERT_FILE, and set the client's \
                     certificate with the option tlsAuth"
                ));
            }
            _ => self.push_options(&format!("-c {name}={}", value.replace('\\', "\\\\").replace(' ', "\\ "))),
        }
        Ok(())
    }

    fn push_options(&mut self, more: &str) {
        if !self.options.is_empty() {
            self.options.push(' ');
        }
        self.options.push_str(more);
    }
}

fn encryption(mode: &str) -> Result<Encryption, String> {
    Ok(match mode {
        "disable" => Encryption::Off,
        "allow" | "prefer" => Encryption::Preferred,
        "" | "require" => Encryption::Required,
        "verify-ca" | "verify-full" => Encryption::Verified,
        _ => return Err(format!("invalid sslmode {mode:?}; use disable, prefer, require or verify-full")),
    })
}

type Pairs = Vec<(String, String)>;

fn pairs_of_url(text: &str) -> Result<Pairs, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("{error}; write postgres://USER:PASSWORD@HOST:PORT/DATABASE"))?;
    let decoded = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    let mut pairs = Pairs::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            pairs.push((name.to_owned(), value));
        }
    };
    let host = url.host_str().unwrap_or_default();
    add("host", decoded(host.trim_start_matches('[').trim_end_matches(']')));
    add("port", url.port().map(|port| port.to_string()).unwrap_or_default());
    add("user", decoded(url.username()));
    add("password", url.password().map(decoded).unwrap_or_default());
    add("dbname", decoded(url.path().trim_start_matches('/')));
    pairs.extend(url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())));
    Ok(pairs)
}

/// `name = value` in turn; values may stand in quotes, and a backslash takes the next letter as it is.
fn pairs_of_words(text: &str) -> Result<Pairs, String> {
    let mut pairs = Pairs::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        let mut name = String::new();
        while let Some(letter) = letters.next_if(|letter| *letter != '=' && !letter.is_whitespace()) {
            name.push(letter);
        }
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        if name.is_empty() && letters.peek().is_none() {
            return Ok(pairs);
        }
        if letters.next() != Some('=') {
            return Err("expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, or name=value".to_owned());
        }
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        let is_quoted = letters.next_if_eq(&'\'').is_some();
        let mut value = String::new();
        loop {
            match letters.next() {
                Some('\\') => value.extend(letters.next()),
                Some('\'') if is_quoted => break,
                Some(letter) if !is_quoted && letter.is_whitespace() => break,
                Some(letter) => value.push(letter),
                None if is_quoted => return Err(format!("the quoted value of {name} has no end")),
                None => break,
            }
        }
        pairs.push((name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<&str, &str>) {
        let shown = Settings::parse(text).map(|given| {
            let (password, database) =
                (given.password.unwrap_or_default(), given.database.unwrap_or_default());
            format!(
                "{} {} {} {password} {database} {:?} {}",
                given.host, given.port, given.user, given.encryption, given.options
            )
        });
        match (shown, expect) {
            (Ok(shown), Ok(expect)) => assert_eq!(shown, expect),
            (Err(error), Err(expect)) => assert!(error.contains(expect), "{error}"),
            (got, expect) => panic!("{got:?}, expected {expect:?}"),
        }
    }

    #[test]
    fn names_of_data_sources() {
        check("postgres://u:p%40@h:1/d?sslmode=disable", Ok("h 1 u p@ d Off "));
        check("postgresql://h", Ok("h 5432 postgres   Required "));
        check("postgres://u@[::1]/d?search_path=a b", Ok("::1 5432 u  d Required -c search_path=a\\ b"));
        check(
            "host=/run/pg port=2 user='a b' password = 'it\\'s' dbname=d sslmode=verify-full",
            Ok("/run/pg 2 a b it's d Verified "),
        );
        check("", Ok("localhost 5432 postgres   Required "));
        check("host=h sslmode=maybe", Err("use disable"));
        check("./test.db", Err("expected postgres://"));
        check("password='x", Err("has no end"));
        check("postgres://h:x/d", Err("postgres://USER"));
        check("host=h sslrootcert=a.pem", Err("SSL_CERT_FILE"));
    }
}
