//! Proxies, as the environment names them and Go honours them: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`, and the same
//! in lower case. Loopback addresses are never proxied.

mod bypass;
mod tunnel;

use std::fmt;

pub(crate) use tunnel::tunnel;

use crate::auth::basic;
use crate::setup_error::SetupError;
use crate::target::Target;
use bypass::Bypass;

/// Which proxy a request goes through.
#[derive(Debug, Default)]
pub(crate) struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    bypass: Vec<Bypass>,
}

/// One proxy.
pub(crate) struct Proxy {
    /// Where it listens, written as an `http` URL.
    pub(crate) target: Target,
    kind: ProxyKind,
    /// The value of `Proxy-Authorization`.
    authorization: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyKind {
    Http,
    Socks5,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The password is kept out of messages.
        f.debug_struct("Proxy")
            .field("target", &self.target)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl Proxies {
    /// The proxies of the environment; `variable` gives the value of one variable.
    ///
    /// # Errors
    /// A proxy's URL cannot be used.
    pub(crate) fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Proxies, SetupError> {
        let either = |upper: &'static str, lower: &'static str| {
            let given = |name| variable(name).filter(|value| !value.is_empty()).map(|value| (name, value));
            given(upper).or_else(|| given(lower))
        };
        let proxy = |upper, lower| match either(upper, lower) {
            Some((name, value)) => Proxy::parse(name, &value).map(Some),
            None => Ok(None),
        };
        let bypass = either("NO_PROXY", "no_proxy").map(|(_, value)| value).unwrap_or_default();
        Ok(Proxies {
            http: proxy("HTTP_PROXY", "http_proxy")?,
            https: proxy("HTTPS_PROXY", "https_proxy")?,
            bypass: bypass.split(',').filter_map(Bypass::parse).collect(),
        })
    }

    /// The proxy between us and `target`.
    pub(crate) fn select(&self, target: &Target) -> Option<&Proxy> {
        let proxy = if target.is_tls() { self.https.as_ref() } else { self.http.as_ref() }?;
        let is_local = target.host().eq_ignore_ascii_case("localhost")
            || target.ip().is_some_and(|ip| ip.to_canonical().is_loopback());
        let is_direct = is_local || self.bypass.iter().any(|bypass| bypass.covers(target));
        (!is_direct).then_some(proxy)
    }

    /// The proxy that reads a request for `target` itself: an HTTP proxy, and no TLS that it cannot look into.
    pub(crate) fn reader_of(&self, target: &Target) -> Option<&Proxy> {
        if self.http.is_none() || target.is_tls() {
            return None;
        }
        self.select(target).filter(|proxy| proxy.kind == ProxyKind::Http)
    }
}

impl Proxy {
    /// The value of its `Proxy-Authorization` (RFC 7617), where its URL names a user.
    pub(crate) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// As in Go, what has no scheme is an HTTP proxy. The text is not repeated in an error, because it may hold a
    /// password.
    fn parse(name: &'static str, text: &str) -> Result<Proxy, SetupError> {
        const SOCKS_PORT: u16 = 1080;
        let bad = |why: &str| SetupError::Proxy { name, why: why.to_owned() };
        let (kind, rest) = match text.split_once("://") {
            None => (ProxyKind::Http, text),
            Some(("http", rest)) => (ProxyKind::Http, rest),
            Some(("socks5" | "socks5h", rest)) => (ProxyKind::Socks5, rest),
            Some((scheme, _)) => {
                return Err(bad(&format!("{scheme} proxies are not supported; there are http and socks5")));
            }
        };
        let mut target = Target::parse(&format!("http://{rest}"))
            .map_err(|_| bad("it is no URL such as http://user:password@proxy:3128"))?;
        let authority = rest.split('/').next().unwrap_or_default();
        let has_port = authority
            .rsplit(']')
            .next()
            .is_some_and(|end| end.rsplit_once('@').map_or(end, |(_, host)| host).contains(':'));
        if kind == ProxyKind::Socks5 && !has_port {
            target = Target::parse(&format!("http://{authority}:{SOCKS_PORT}"))
                .map_err(|_| bad("it is no URL"))?;
        }
        let authorization = target.user().map(|(user, password)| basic(user, password));
        Ok(Proxy { target, kind, authorization })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, SetupError> {
        Proxies::from_env(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn via(variables: &[(&str, &str)], url: &str) -> Option<String> {
        let proxies = proxies(variables).unwrap();
        let proxy = proxies.select(&Target::parse(url).unwrap())?;
        Some(format!("{:?} {}", proxy.kind, proxy.target.origin()))
    }

    #[test]
    fn schemes_have_proxies() {
        let check = |variables: &[(&str, &str)], url, expect: Option<&str>| {
            assert_eq!(via(variables, url).as_deref(), expect, "{variables:?} {url}");
        };
        let both = [("HTTP_PROXY", "p:1"), ("https_proxy", "http://u:w@q:2/")];
        check(&both, "http://h/", Some("Http http://p:1"));
        check(&both, "https://h/", Some("Http http://q:2"));
        check(&both, "http://localhost/", None);
        check(&both, "https://127.0.0.9/", None);
        check(&both, "http://[::1]/", None);
        check(&[("HTTP_PROXY", "p:1"), ("http_proxy", "q:1")], "http://h/", Some("Http http://p:1"));
        check(&[("HTTP_PROXY", ""), ("http_proxy", "q:1")], "http://h/", Some("Http http://q:1"));
        check(&[("HTTP_PROXY", "p:1")], "https://h/", None);
        check(&[("HTTPS_PROXY", "socks5://u:w@s")], "https://h/", Some("Socks5 http://s:1080"));
        check(&[("HTTPS_PROXY", "socks5h://[::1]:9")], "https://h/", Some("Socks5 http://[::1]:9"));
    }

    #[test]
    fn hosts_go_without() {
        let check = |no_proxy, url, expect: bool| {
            let variables = [("HTTP_PROXY", "p:1"), ("NO_PROXY", no_proxy)];
            assert_eq!(via(&variables, url).is_none(), expect, "{no_proxy} {url}");
        };
        check("*", "http://h/", true);
        check("a.test, b.test", "http://b.test/", true);
        check("b.test", "http://x.B.test/", true);
        check("b.test", "http://xb.test/", false);
        check(".b.test", "http://b.test/", false);
        check("*.b.test", "http://x.b.test/", true);
        check("b.test:81", "http://b.test/", false);
        check("b.test:81", "http://b.test:81/", true);
        check("10.0.0.0/8", "http://10.1.2.3/", true);
        check("10.0.0.0/8", "http://11.1.2.3/", false);
        check("10.0.0.1", "http://10.0.0.1/", true);
        check("10.0.0.1:80", "http://10.0.0.1:81/", false);
        check("::2", "http://[::2]/", true);
        check("", "http://h/", false);
    }

    #[test]
    fn what_cannot_be_used_is_told_without_its_password() {
        for bad in ["https://u:secret@p", "ftp://u:secret@p", "http://u:secret@:x"] {
            let error = proxies(&[("HTTP_PROXY", bad)]).unwrap_err().to_string();
            assert!(error.contains("HTTP_PROXY") && !error.contains("secret"), "{error}");
        }
        let fine = proxies(&[("HTTP_PROXY", "http://us%20er:w@p")]).unwrap();
        let target = Target::parse("http://h/").unwrap();
        assert_eq!(fine.select(&target).unwrap().authorization(), Some("Basic dXMgZXI6dw=="));
    }
}
