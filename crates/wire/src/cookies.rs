//! Cookies: which ones a user has, and which of them go with a request (RFC 6265, as k6 applies it).

use crate::headers::Headers;
use crate::set_cookie::{SetCookie, is_value_byte};
use crate::target::Target;

/// Cookies of one domain; setting one more forgets its oldest. Browsers keep about as many.
const COOKIES_PER_DOMAIN_MAX: usize = 256;

/// Cookies of one jar; setting one more forgets the oldest.
const COOKIES_MAX: usize = 4096;

/// The cookies of one user.
///
/// A jar is a plain list: a user has a handful of cookies, and a new jar, as every iteration gets one, costs
/// nothing. There is no list of public suffixes, as in k6: a host may set cookies for any domain that it ends with.
#[derive(Clone, Debug, Default)]
pub struct CookieJar {
    cookies: Vec<Cookie>,
    /// How many cookies were ever set: the age of a cookie.
    set_count: u64,
}

/// The options of `CookieJar.set` beside a cookie's name and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CookieAttributes {
    /// The domain that may see it, with its sub-domains; where it is empty, only the host that set it.
    pub domain: String,
    /// The path it is for; where it does not start with a slash, the folder of the URL that set it.
    pub path: String,
    /// When it ends, in milliseconds since the Unix epoch; see [`crate::parse_expires`].
    pub expires_unix_ms: Option<i64>,
    /// Seconds until it ends, which take precedence over the date: 0 for no such limit, less to delete it.
    pub max_age_s: i64,
    /// Whether only `https` sees it.
    pub secure: bool,
    /// Whether scripts of a browser would not see it. It has no effect here.
    pub http_only: bool,
}

/// A cookie that one request brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestCookie<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its value.
    pub value: &'a str,
    /// Whether it is sent in place of the jar's cookies of that name, not beside them.
    pub replace: bool,
}

#[derive(Clone, Debug)]
struct Cookie {
    name: String,
    value: String,
    /// In lower case.
    domain: String,
    is_host_only: bool,
    path: String,
    is_secure: bool,
    expires_unix_ms: Option<i64>,
    age: u64,
}

impl CookieJar {
    /// An empty jar.
    pub const fn new() -> CookieJar {
        CookieJar { cookies: Vec::new(), set_count: 0 }
    }

    /// Whether it holds no cookie, not even one that is over.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Sets a cookie as a response from `target` would. A cookie for a domain that `target` is no part of is
    /// silently refused, as in k6.
    pub fn set(
        &mut self,
        target: &Target,
        name: &str,
        value: &str,
        attributes: &CookieAttributes,
        now_unix_ms: i64,
    ) {
        let Some((domain, is_host_only)) = domain_of(target, &attributes.domain) else { return };
        let path = if attributes.path.starts_with('/') { &attributes.path } else { folder(path_of(target)) };
        let expires_unix_ms = match attributes.max_age_s {
            0 => attributes.expires_unix_ms,
            seconds if seconds < 0 => Some(i64::MIN),
            seconds => Some(now_unix_ms.saturating_add(seconds.saturating_mul(1000))),
        };
        self.insert(
            Cookie {
                name: name.to_owned(),
                value: value.to_owned(),
                domain,
                is_host_only,
                path: path.to_owned(),
                is_secure: attributes.secure,
                expires_unix_ms,
                age: 0,
            },
            now_unix_ms,
        );
    }

    /// Takes the cookies that a response from `target` sets.
    pub fn absorb(&mut self, target: &Target, headers: &Headers, now_unix_ms: i64) {
        for cookie in SetCookie::parse_all(headers) {
            let attributes = CookieAttributes {
                domain: cookie.domain,
                path: cookie.path,
                expires_unix_ms: cookie.expires_unix_ms,
                max_age_s: cookie.max_age_s,
                secure: cookie.secure,
                http_only: cookie.http_only,
            };
            self.set(target, &cookie.name, &cookie.value, &attributes, now_unix_ms);
        }
    }

    /// Names and values of the cookies that go with a request to `target`: longer paths first, then older ones
    /// first (RFC 6265, 5.4).
    pub fn cookies_for(&self, target: &Target, now_unix_ms: i64) -> Vec<(&str, &str)> {
        let mut found: Vec<&Cookie> = self
            .cookies
            .iter()
            .filter(|cookie| cookie.goes_to(target) && cookie.lives(now_unix_ms))
            .collect();
        found.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.age));
        found.into_iter().map(|cookie| (cookie.name.as_str(), cookie.value.as_str())).collect()
    }

    /// Deletes the cookies that go with a request to `target`.
    pub fn clear(&mut self, target: &Target) {
        self.cookies.retain(|cookie| !cookie.goes_to(target));
    }

    /// Deletes those of them that are called `name`.
    pub fn delete(&mut self, target: &Target, name: &str) {
        self.cookies.retain(|cookie| cookie.name != name || !cookie.goes_to(target));
    }

    fn insert(&mut self, mut cookie: Cookie, now_unix_ms: i64) {
        let known = self.cookies.iter().position(|known| known.is_same(&cookie));
        if !cookie.lives(now_unix_ms) {
            if let Some(at) = known {
                self.cookies.remove(at);
            }
            return;
        }
        if let Some(at) = known {
            cookie.age = self.cookies[at].age;
            self.cookies[at] = cookie;
            return;
        }
        self.make_room(&cookie.domain);
        cookie.age = self.set_count;
        self.set_count += 1;
        self.cookies.push(cookie);
    }

    /// New cookies are at the end of the list, so that the first one is the oldest.
    fn make_room(&mut self, domain: &str) {
        if self.cookies.len() >= COOKIES_MAX {
            self.cookies.remove(0);
        }
        if self.cookies.len() < COOKIES_PER_DOMAIN_MAX {
            return;
        }
        let of_domain = |cookie: &&Cookie| cookie.domain == domain;
        if self.cookies.iter().filter(of_domain).count() < COOKIES_PER_DOMAIN_MAX {
            return;
        }
        if let Some(oldest) = self.cookies.iter().position(|cookie| cookie.domain == domain) {
            self.cookies.remove(oldest);
        }
    }
}

/// The `Cookie` header of a request: what its headers already say, its own cookies, the jar's; `None`
/// where there is none.
pub(crate) fn cookie_header(
    given: Option<&str>,
    own: &[RequestCookie<'_>],
    from_jar: &[(&str, &str)],
) -> Option<String> {
    let mut header = given.unwrap_or_default().to_owned();
    for cookie in own {
        push_pair(&mut header, cookie.name, cookie.value);
    }
    for (name, value) in from_jar {
        if !own.iter().any(|cookie| cookie.replace && cookie.name == *name) {
            push_pair(&mut header, name, value);
        }
    }
    (!header.is_empty()).then_some(header)
}

impl Cookie {
    fn is_same(&self, other: &Cookie) -> bool {
        self.name == other.name && self.path == other.path && self.domain == other.domain
    }

    fn lives(&self, now_unix_ms: i64) -> bool {
        self.expires_unix_ms.is_none_or(|expires| expires > now_unix_ms)
    }

    fn goes_to(&self, target: &Target) -> bool {
        let is_host = if self.is_host_only {
            target.host().eq_ignore_ascii_case(&self.domain)
        } else {
            is_in_domain(target.host(), &self.domain)
        };
        // A loopback address is as trustworthy as an encrypted connection (W3C Secure Contexts, 3.1; Go and browsers).
        let is_secure = target.is_tls() || target.ip().is_some_and(|ip| ip.is_loopback());
        is_host && (!self.is_secure || is_secure) && is_in_path(path_of(target), &self.path)
    }
}

/// Whether `host` is `domain` or a part of it, without regard to case.
pub(crate) fn is_in_domain(host: &str, domain: &str) -> bool {
    let Some(at) = host.len().checked_sub(domain.len()) else { return false };
    let (sub, end) = (host.as_bytes().get(..at), host.as_bytes().get(at..));
    let ends_with = end.is_some_and(|end| end.eq_ignore_ascii_case(domain.as_bytes()));
    ends_with && sub.is_some_and(|sub| sub.is_empty() || sub.ends_with(b"."))
}

/// The domain that a cookie is for, and whether it is for that host alone; `None` where `target` may not set it.
fn domain_of(target: &Target, wanted: &str) -> Option<(String, bool)> {
    let host = target.host().to_ascii_lowercase();
    let wanted = wanted.strip_prefix('.').unwrap_or(wanted).to_ascii_lowercase();
    if wanted.is_empty() {
        return Some((host, true));
    }
    if target.ip().is_some() {
        // An address has no parts (RFC 6265, 5.1.3).
        return (wanted == host).then_some((host, true));
    }
    is_in_domain(&host, &wanted).then_some((wanted, false))
}

fn path_of(target: &Target) -> &str {
    target.path_and_query().split('?').next().unwrap_or_default()
}

/// RFC 6265, 5.1.4: the default path.
fn folder(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(slash) => &path[..slash],
    }
}

/// RFC 6265, 5.1.4: path matching.
fn is_in_path(path: &str, folder: &str) -> bool {
    let Some(rest) = path.strip_prefix(folder) else { return false };
    rest.is_empty() || folder.ends_with('/') || rest.starts_with('/')
}

/// As Go writes a pair: bytes that a value may not have are left out, spaces and commas put it in quotes, and a
/// name stays on its line.
fn push_pair(header: &mut String, name: &str, value: &str) {
    if !header.is_empty() {
        header.push_str("; ");
    }
    header.extend(name.chars().map(|c| if c.is_ascii_control() { '-' } else { c }));
    header.push('=');
    let kept = value.bytes().filter(|byte| is_value_byte(*byte)).map(char::from);
    if value.contains([' ', ',']) {
        header.push('"');
        header.extend(kept);
        header.push('"');
    } else {
        header.extend(kept);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW_MS: i64 = 1_800_000_000_000;

    fn target(url: &str) -> Target {
        Target::parse(url).unwrap()
    }

    fn shown(jar: &CookieJar, url: &str) -> String {
        let cookies = jar.cookies_for(&target(url), NOW_MS);
        cookies.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
    }

    fn jar(cookies: &[(&str, &str, &str, &str)]) -> CookieJar {
        let mut jar = CookieJar::new();
        for (url, name, domain, path) in cookies {
            let attributes = CookieAttributes {
                domain: (*domain).to_owned(),
                path: (*path).to_owned(),
                ..CookieAttributes::default()
            };
            jar.set(&target(url), name, &jar.set_count.to_string(), &attributes, NOW_MS);
        }
        jar
    }

    #[test]
    fn paths_decide() {
        let jar = jar(&[
            ("http://h/a/b", "p", "", ""),
            ("http://h/", "q", "", "/x"),
            ("http://h/", "dup", "", "/"),
            ("http://h/", "dup", "", "/a"),
            ("http://h/", "dup", "", "/a/b"),
            ("http://h/y/z", "rel", "", "rel"),
        ]);
        let check = |url: &str, expect: &str| assert_eq!(shown(&jar, url), expect, "{url}");
        check("http://h/", "dup=2");
        check("http://h/a", "p=0 dup=3 dup=2");
        check("http://h/a/b/c", "dup=4 p=0 dup=3 dup=2");
        check("http://h/ab", "dup=2");
        check("http://h/x?y", "q=1 dup=2");
        check("http://h/y/z", "rel=5 dup=2");
        check("http://other/", "");
    }

    #[test]
    fn domains_decide() {
        let check = |url: &str, domain: &str, expect: [bool; 3]| {
            let jar = jar(&[(url, "n", domain, "")]);
            let urls = [url, "http://example.com/", "http://b.a.example.com/"];
            let seen = urls.map(|url| !shown(&jar, url).is_empty());
            assert_eq!(seen, expect, "{url} {domain:?}");
        };
        // The behaviour of k6 v2.2.
        check("http://a.example.com/", "example.com", [true, true, true]);
        check("http://a.example.com/", ".example.com", [true, true, true]);
        check("http://a.example.com/", "com", [true, true, true]);
        check("http://a.example.com/", "other.com", [false; 3]);
        check("http://a.example.com/", "ple.com", [false; 3]);
        check("http://a.example.com/", "", [true, false, false]);
        check("http://a.example.com/", "example.com.", [false; 3]);
        check("http://example.com/", "a.example.com", [false; 3]);
        check("http://EXAMPLE.com/", "example.COM", [true, true, true]);
        check("http://localhost/", "localhost", [true, false, false]);
        check("http://a.co.uk/", "co.uk", [true, false, false]);
        check("http://1.2.3.4/", "2.3.4", [false; 3]);
        check("http://1.2.3.4/", "1.2.3.4", [true, false, false]);
        check("http://[::1]:81/", "", [true, false, false]);
    }

    #[test]
    fn ports_and_schemes_do_not_decide_but_secure_does() {
        let mut jar = jar(&[("http://h:81/", "a", "", "")]);
        let secure = CookieAttributes { secure: true, ..CookieAttributes::default() };
        jar.set(&target("http://h/"), "s", "1", &secure, NOW_MS);
        assert_eq!(shown(&jar, "http://h:82/"), "a=0");
        assert_eq!(shown(&jar, "https://H/"), "a=0 s=1");
    }

    #[test]
    fn cookies_end() {
        let check = |expires_unix_ms: Option<i64>, max_age_s: i64, lives_ms: Option<i64>| {
            let mut jar = CookieJar::new();
            let attributes = CookieAttributes { expires_unix_ms, max_age_s, ..CookieAttributes::default() };
            let h = target("http://h/");
            jar.set(&h, "n", "v", &attributes, NOW_MS);
            let Some(lives_ms) = lives_ms else { return assert!(jar.is_empty()) };
            assert_eq!(jar.cookies_for(&h, NOW_MS + lives_ms - 1).len(), 1);
            assert_eq!(jar.cookies_for(&h, NOW_MS + lives_ms).len(), 0);
        };
        check(Some(NOW_MS + 1), 0, Some(1));
        check(Some(NOW_MS), 0, None);
        check(None, 10, Some(10_000));
        check(None, -1, None);
        check(Some(0), 10, Some(10_000));
        check(None, i64::MAX, Some(i64::MAX - NOW_MS));
    }

    #[test]
    fn setting_again_replaces_and_may_delete() {
        let mut jar =
            jar(&[("http://h/", "a", "", ""), ("http://h/", "b", "", ""), ("http://h/", "a", "", "")]);
        assert_eq!(shown(&jar, "http://h/"), "a=2 b=1", "the age stays");
        let head = "HTTP/1.1 200 OK\r\nSet-Cookie: b=x; Max-Age=0\r\nset-cookie: c=3; Path=/\r\n\r\n";
        jar.absorb(&target("http://h/"), &Headers::new(head.into(), Default::default()), NOW_MS);
        assert_eq!(shown(&jar, "http://h/"), "a=2 c=3");
    }

    #[test]
    fn cookies_are_deleted_where_they_are_seen() {
        let all = [
            ("http://h/", "a", "", ""),
            ("http://h/", "a", "", "/x"),
            ("http://h/", "b", "", ""),
            ("http://i/", "a", "", ""),
        ];
        let mut jar = jar(&all);
        jar.delete(&target("http://h/"), "a");
        assert_eq!((shown(&jar, "http://h/x"), shown(&jar, "http://i/")), ("a=1 b=2".into(), "a=3".into()));
        jar.clear(&target("http://h/x"));
        assert_eq!((shown(&jar, "http://h/x"), shown(&jar, "http://i/")), (String::new(), "a=3".into()));
    }

    #[test]
    fn jars_are_bounded_and_forget_the_oldest() {
        let mut jar = CookieJar::new();
        let set = |jar: &mut CookieJar, url: &str, name: usize| {
            jar.set(&target(url), &name.to_string(), "", &CookieAttributes::default(), NOW_MS);
        };
        set(&mut jar, "http://first/", 0);
        for name in 0..=COOKIES_PER_DOMAIN_MAX {
            set(&mut jar, "http://h/", name);
        }
        assert_eq!(jar.cookies.len(), 1 + COOKIES_PER_DOMAIN_MAX);
        assert!(shown(&jar, "http://h/").starts_with("1= 2="));
        for host in 0..COOKIES_MAX {
            set(&mut jar, &format!("http://h{host}/"), 0);
        }
        assert_eq!(jar.cookies.len(), COOKIES_MAX);
        assert_eq!(shown(&jar, "http://first/"), "");
    }

    /// The request of k6 v2.2.
    #[test]
    fn headers_are_written_as_go_does() {
        let check = |given: Option<&str>, own: &[(&str, &str, bool)], expect: Option<&str>| {
            let own: Vec<_> =
                own.iter().map(|&(name, value, replace)| RequestCookie { name, value, replace }).collect();
            let jar = [("x", "jar2"), ("x", "jar"), ("y", "jar")];
            let header = cookie_header(given, &own, &jar);
            assert_eq!(header.as_deref(), expect);
        };
        check(None, &[], Some("x=jar2; x=jar; y=jar"));
        check(None, &[("x", "req", false), ("z", "1", false)], Some("x=req; z=1; x=jar2; x=jar; y=jar"));
        check(None, &[("x", "req", true)], Some("x=req; y=jar"));
        check(Some("x=hdr;w=1;bad"), &[], Some("x=hdr;w=1;bad; x=jar2; x=jar; y=jar"));
        let odd = [
            ("b", "a b"),
            ("c", "a,b"),
            ("d", "\"q\""),
            ("e", "é"),
            ("f", "a;b"),
            ("g h\n", "a\nb"),
            ("i", ""),
        ];
        let odd: Vec<_> =
            odd.iter().map(|&(name, value)| RequestCookie { name, value, replace: false }).collect();
        let header = cookie_header(None, &odd, &[]).unwrap();
        assert_eq!(header, "b=\"a b\"; c=\"a,b\"; d=q; e=; f=ab; g h-=ab; i=");
        assert_eq!(cookie_header(None, &[], &[]), None);
    }

    proptest! {
        #[test]
        fn hostile_cookies_never_panic_or_break_out(name: String, value: String, domain: String, path: String) {
            let mut jar = CookieJar::new();
            let attributes = CookieAttributes { domain, path, ..CookieAttributes::default() };
            let h = target("http://a.example.com/x/y");
            jar.set(&h, &name, &value, &attributes, NOW_MS);
            let own = RequestCookie { name: &name, value: &value, replace: false };
            let header = cookie_header(None, &[own], &jar.cookies_for(&h, NOW_MS)).unwrap();
            prop_assert!(!header.chars().any(|c| c.is_ascii_control()));
        }
    }
}
