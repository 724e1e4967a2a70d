//! Options about TLS: `tlsVersion`, `tlsCipherSuites`, `tlsAuth`.
//!
//! The TLS library (rustls) speaks 1.2 and 1.3 only, without RSA key exchange, CBC, RC4 or 3DES. What k6 could do
//! and it cannot is refused by name: a test that silently used another protocol would measure something else.

use model::plan::ClientCertificate;
use serde_json::Value;

use crate::error::{Problem, hint, nearest};
use crate::json;
use crate::value::{OptionValue, echo_or_null, field, invalid, read_field, read_list, wrong_type};

/// Versions by k6's names, oldest first, and whether they can be spoken.
const VERSIONS: [(&str, bool); 4] =
    [("tls1.0", false), ("tls1.1", false), ("tls1.2", true), ("tls1.3", true)];

/// Cipher suites that the TLS library has, by their IANA names as Go spells them.
const SUITES: [&str; 9] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
];

/// Cipher suites that k6 knows and the TLS library lacks.
const SUITES_LACKING: [&str; 15] = [
    "TLS_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
];

/// Older names of suites that k6 takes too.
const SUITE_ALIASES: [(&str, &str); 2] = [
    ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
];

/// The option `tlsVersion`; an end that is not set is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TlsVersions {
    /// The lowest version.
    pub min: Option<String>,
    /// The highest version.
    pub max: Option<String>,
}

impl TlsVersions {
    /// The versions to speak, or why there are none.
    ///
    /// A minimum below the supported versions is raised silently: both sides take the highest version that they share.
    pub(crate) fn resolve(&self) -> Result<(String, String), String> {
        let rank = |name: &str| VERSIONS.iter().position(|(known, _)| *known == name);
        let min = self.min.as_deref().and_then(rank).unwrap_or(0);
        let max = self.max.as_deref().and_then(rank).unwrap_or(VERSIONS.len() - 1);
        if min > max {
            return Err(format!("min {} is above max {}", VERSIONS[min].0, VERSIONS[max].0));
        }
        let spoken = |index: &usize| VERSIONS[*index].1;
        match (min..=max).find(spoken) {
            Some(lowest) => Ok((VERSIONS[lowest].0.to_owned(), VERSIONS[max].0.to_owned())),
            None => Err(format!("{} is not supported: the lowest version is tls1.2", VERSIONS[max].0)),
        }
    }
}

impl OptionValue for TlsVersions {
    fn read(value: &Value, at: &str) -> Result<TlsVersions, Vec<Problem>> {
        match value {
            Value::String(name) => {
                let version = check_version(name, at)?;
                Ok(TlsVersions { min: version.clone(), max: version })
            }
            Value::Object(object) => {
                let end = |name: &str| match read_field::<String>(object, name, at)? {
                    Some(version) => check_version(&version, &format!("{at}.{name}")),
                    None => Ok(None),
                };
                Ok(TlsVersions { min: end("min")?, max: end("max")? })
            }
            _ => Err(wrong_type(at, "a version such as \"tls1.2\" or {min, max}", value)),
        }
    }

    fn parse(text: &str, at: &str) -> Result<TlsVersions, Vec<Problem>> {
        TlsVersions::read(&text.into(), at)
    }

    fn echo(&self) -> String {
        let end = |end: &Option<String>| json::string(end.as_deref().unwrap_or_default());
        json::object([("min", end(&self.min)), ("max", end(&self.max))])
    }
}

/// A version that k6 knows; the empty text leaves the end open.
fn check_version(name: &str, at: &str) -> Result<Option<String>, Vec<Problem>> {
    if name.is_empty() {
        return Ok(None);
    }
    if VERSIONS.iter().any(|(known, _)| *known == name) {
        return Ok(Some(name.to_owned()));
    }
    let near = nearest(name, VERSIONS.iter().map(|(known, _)| *known));
    Err(invalid(at, format!("unknown TLS version '{name}'{}", hint(near))))
}

/// The option `tlsCipherSuites`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CipherSuites(pub Vec<String>);

impl CipherSuites {
    /// The suites that can be spoken and, apart, the ones that cannot.
    pub(crate) fn resolve(&self) -> (Vec<String>, Vec<String>) {
        let (known, lacking): (Vec<&str>, Vec<&str>) =
            self.0.iter().map(|name| full_name(name)).partition(|name| SUITES.contains(name));
        (known.into_iter().map(str::to_owned).collect(), lacking.into_iter().map(str::to_owned).collect())
    }
}

impl OptionValue for CipherSuites {
    fn read(value: &Value, at: &str) -> Result<CipherSuites, Vec<Problem>> {
        let items = value.as_array().ok_or_else(|| wrong_type(at, "a list of cipher suites", value))?;
        let suites = read_list(items, at, |item, at| {
            let name = String::read(item, at)?;
            let all = || SUITES.iter().chain(&SUITES_LACKING).copied();
            if all().any(|known| known == full_name(&name)) {
                return Ok(name);
            }
            Err(invalid(at, format!("unknown cipher suite '{name}'{}", hint(nearest(&name, all())))))
        })?;
        Ok(CipherSuites(suites))
    }

    fn parse(text: &str, at: &str) -> Result<CipherSuites, Vec<Problem>> {
        let items: Vec<Value> = Vec::<String>::parse(text, at)?.into_iter().map(Value::from).collect();
        CipherSuites::read(&items.into(), at)
    }

    fn echo(&self) -> String {
        self.0.echo()
    }
}

fn full_name(name: &str) -> &str {
    SUITE_ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, full)| *full)
}

/// The option `tlsAuth`: client certificates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientCertificates(pub Vec<ClientCertificate>);

impl OptionValue for ClientCertificates {
    /// Only the shape of the PEM is checked here; the crate `wire` parses it.
    fn read(value: &Value, at: &str) -> Result<ClientCertificates, Vec<Problem>> {
        let items =
            value.as_array().ok_or_else(|| wrong_type(at, "a list of {cert, key, domains}", value))?;
        let certificates = read_list(items, at, |item, at| {
            let object =
                item.as_object().ok_or_else(|| wrong_type(at, "an object {cert, key, domains}", item))?;
            let pem = |name: &str| {
                let text: String = read_field(object, name, at)?.unwrap_or_default();
                if text.contains("-----BEGIN ") {
                    return Ok(text);
                }
                Err(invalid(&format!("{at}.{name}"), "failed to find any PEM data"))
            };
            Ok(ClientCertificate {
                cert: pem("cert")?,
                key: pem("key")?,
                password: read_field(object, "password", at)?,
                domains: match field(object, "domains") {
                    Some(domains) => Vec::<String>::read(domains, &format!("{at}.domains"))?,
                    None => Vec::new(),
                },
            })
        })?;
        Ok(ClientCertificates(certificates))
    }

    fn echo(&self) -> String {
        json::array(self.0.iter().map(|it| {
            let domains = if it.domains.is_empty() { "null".to_owned() } else { it.domains.echo() };
            json::object([
                ("cert", it.cert.echo()),
                ("key", it.key.echo()),
                ("password", echo_or_null(&it.password)),
                ("domains", domains),
            ])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expect: Result<(&str, &str), &str>) {
        let versions = TlsVersions::read(&serde_json::from_str(value).unwrap(), "tlsVersion");
        let resolved = versions.map_err(|problems| problems[0].to_string()).and_then(|it| it.resolve());
        let expect = expect.map(|(min, max)| (min.to_owned(), max.to_owned())).map_err(str::to_owned);
        assert_eq!(resolved, expect, "{value}");
    }

    #[test]
    fn versions() {
        check(r#""tls1.2""#, Ok(("tls1.2", "tls1.2")));
        check(r#"{"min":"tls1.2"}"#, Ok(("tls1.2", "tls1.3")));
        check(r#"{"min":"tls1.0","max":"tls1.2"}"#, Ok(("tls1.2", "tls1.2")));
        check(r#"{"min":"tls1.3","max":"tls1.0"}"#, Err("min tls1.3 is above max tls1.0"));
        check(r#""tls1.1""#, Err("tls1.1 is not supported: the lowest version is tls1.2"));
        check(r#""ssl3.0""#, Err("option \"tlsVersion\": unknown TLS version 'ssl3.0'"));
        check("5", Err("option \"tlsVersion\" must be a version such as \"tls1.2\" or {min, max}, got 5"));
    }

    #[test]
    fn cipher_suites() {
        let read = |text: &str| CipherSuites::parse(text, "it").map(|it| it.resolve());
        let names = ["TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256".to_owned()];
        let lacking = ["TLS_RSA_WITH_RC4_128_SHA".to_owned()];
        let both = "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_RSA_WITH_RC4_128_SHA";
        assert_eq!(read(both), Ok((names.to_vec(), lacking.to_vec())));
        let unknown = read("TLS_AES_128_GCM_SHA25").unwrap_err()[0].to_string();
        let expect = "option \"it[0]\": unknown cipher suite 'TLS_AES_128_GCM_SHA25'; did you mean \"TLS_AES_128_GCM_SHA256\"?";
        assert_eq!(unknown, expect);
    }

    #[test]
    fn certificates_need_pem() {
        let read = |text: &str| ClientCertificates::parse(text, "tlsAuth").map(|it| it.0.len());
        let fine = r#"[{"cert":"-----BEGIN CERTIFICATE-----","key":"-----BEGIN KEY-----","domains":["a"]}]"#;
        assert_eq!(read(fine), Ok(1));
        let problem = read(r#"[{"cert":"x","key":"y"}]"#).unwrap_err()[0].to_string();
        assert_eq!(problem, "option \"tlsAuth[0].cert\": failed to find any PEM data");
    }
}
