//! Addresses in parts, each of which may be computed.

use crate::plan::Plan;
use crate::text::{Piece, Text};

/// An address: the base, the segments of its path, and its query as it is encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) base: Text,
    /// Encoded; the first stands behind the first slash.
    pub(crate) path: Vec<Text>,
    /// Encoded names and values; without a value where there is no `=`.
    pub(crate) query: Vec<(Text, Option<Text>)>,
}

impl Url {
    /// Splits an address. A literal base becomes a constant of the plan, and a fragment is left out.
    pub(crate) fn parse(text: &Text, plan: &mut Plan) -> Url {
        let (text, _) = split(text, '#');
        let (address, query) = split(&text, '?');
        let (base, path) = split_base(&address);
        let base = match base.as_literal() {
            Some("") => plan.base("http://localhost:8080"),
            Some(address) => plan.base(&without_credentials(address)),
            None => base,
        };
        let path = path.map(|path| split_all(&path, '/')).unwrap_or_default();
        Url { base, path, query: query.map(|query| pairs(&query)).unwrap_or_default() }
    }

    /// The whole address.
    pub(crate) fn text(&self) -> Text {
        let mut text = self.base.clone();
        text.push(self.path_text());
        for (nth, (name, value)) in self.query.iter().enumerate() {
            text.push_literal(if nth == 0 { "?" } else { "&" });
            text.push(name.clone());
            if let Some(value) = value {
                text.push_literal("=");
                text.push(value.clone());
            }
        }
        text
    }

    fn path_text(&self) -> Text {
        let mut text = Text::default();
        for segment in &self.path {
            text.push_literal("/");
            text.push(segment.clone());
        }
        if text.is_empty() { Text::literal("/") } else { text }
    }

    /// The path for people: `/orders/{orderId}`.
    pub(crate) fn outline(&self) -> String {
        self.path_text().outline()
    }

    /// Whether the path or the query has a part that differs between iterations.
    pub(crate) fn is_variable(&self) -> bool {
        self.path.iter().any(Text::is_variable)
            || self
                .query
                .iter()
                .any(|(name, value)| name.is_variable() || value.as_ref().is_some_and(Text::is_variable))
    }
}

/// Name and password of an address: `https://NAME:PASSWORD@host`.
pub(crate) fn credentials(address: &str) -> Option<(&str, &str)> {
    let (_, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (credentials, _) = authority.rsplit_once('@')?;
    Some(credentials.split_once(':').unwrap_or((credentials, "")))
}

/// The address without them.
pub(crate) fn without_credentials(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let authority_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// Scheme, host and port of an address that is not computed.
pub(crate) fn origin(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    (!host.is_empty()).then(|| format!("{}://{}", scheme.to_ascii_lowercase(), host.to_ascii_lowercase()))
}

/// The host of an address, without its port.
pub(crate) fn host(address: &str) -> Option<String> {
    let origin = origin(address)?;
    let authority = origin.split("://").nth(1)?;
    let without_port = match authority.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|digit| digit.is_ascii_digit()) => host,
        _ => authority,
    };
    Some(without_port.to_owned())
}

/// The address that `to` means on the page `from` (RFC 3986, section 5, for what servers send).
pub(crate) fn join(from: &str, to: &str) -> String {
    if to.contains("://") {
        return to.to_owned();
    }
    let Some(origin) = origin(from) else { return to.to_owned() };
    if let Some(rest) = to.strip_prefix("//") {
        return format!("{}://{rest}", origin.split("://").next().unwrap_or("https"));
    }
    if to.starts_with('/') {
        return format!("{origin}{to}");
    }
    let path = from.get(origin.len()..).unwrap_or("/").split(['?', '#']).next().unwrap_or("/");
    if to.starts_with('?') {
        return format!("{origin}{path}{to}");
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    format!("{origin}{folder}/{}", to.trim_start_matches("./"))
}

/// Percent-decodes a part of an address; broken escapes stay, and what is no UTF-8 is replaced.
pub(crate) fn decode(text: &str, plus_is_space: bool) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|byte| char::from(*byte).to_digit(16));
        match (bytes[at], digit(1).zip(digit(2))) {
            (b'%', Some((high, low))) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', _) if plus_is_space => decoded.push(b' '),
            (byte, _) => decoded.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Percent-encodes a part of an address as `encodeURIComponent` does.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'-'
            | b'_'
            | b'.'
            | b'!'
            | b'~'
            | b'*'
            | b'\''
            | b'('
            | b')' => {
                out.push(char::from(byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The pairs of an encoded query or form.
pub(crate) fn pairs(text: &Text) -> Vec<(Text, Option<Text>)> {
    let parts = split_all(text, '&').into_iter().filter(|part| !part.is_empty());
    parts.map(|part| split(&part, '=')).collect()
}

/// Splits at the first `at` of a literal.
pub(crate) fn split(text: &Text, at: char) -> (Text, Option<Text>) {
    let mut before = Text::default();
    let mut pieces = text.pieces().iter();
    while let Some(piece) = pieces.next() {
        if let Piece::Literal(literal) = piece
            && let Some((left, right)) = literal.split_once(at)
        {
            before.push_literal(left);
            let mut after = Text::literal(right);
            pieces.for_each(|piece| after.push(of(piece)));
            return (before, Some(after));
        }
        before.push(of(piece));
    }
    (before, None)
}

fn split_all(text: &Text, at: char) -> Vec<Text> {
    let mut parts = Vec::new();
    let mut rest = Some(text.clone());
    while let Some(text) = rest {
        let (part, more) = split(&text, at);
        parts.push(part);
        rest = more;
    }
    parts
}

fn of(piece: &Piece) -> Text {
    match piece {
        Piece::Literal(text) => Text::literal(text.clone()),
        Piece::Code { code, is_constant: true } => Text::constant(code.clone()),
        Piece::Code { code, is_constant: false } => Text::code(code.clone()),
    }
}

/// Splits at the slash that begins the path.
fn split_base(address: &Text) -> (Text, Option<Text>) {
    let literal = match address.pieces().first() {
        Some(Piece::Literal(literal)) => literal.as_str(),
        // `${BASE}/path`
        _ => return split(address, '/'),
    };
    if literal.starts_with('/') {
        let (_, path) = split(address, '/');
        return (Text::default(), path);
    }
    let Some((scheme, _)) = literal.split_once("://") else {
        // `host/path`
        let (host, path) = split(address, '/');
        return (if host.is_empty() { host } else { Text::literal("http://").then(host) }, path);
    };
    let prefix = format!("{scheme}://");
    let mut rest = Text::literal(&literal[prefix.len()..]);
    address.pieces().iter().skip(1).for_each(|piece| rest.push(of(piece)));
    let (authority, path) = split(&rest, '/');
    (Text::literal(prefix).then(authority), path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: Text, expect: &str) {
        let mut plan = Plan::default();
        assert_eq!(Url::parse(&text, &mut plan).text().js(), expect);
    }

    #[test]
    fn addresses_keep_their_parts() {
        check(Text::literal("https://h:1/a//b/?x=1&y&z=#f"), "`${BASE_URL}/a//b/?x=1&y&z=`");
        check(Text::literal("https://h"), "`${BASE_URL}/`");
        check(Text::literal("h/a"), "`${BASE_URL}/a`");
        check(Text::literal("/a"), "`${BASE_URL}/a`");
        check(Text::constant("root").then(Text::literal("/a?b=c")), "`${root}/a?b=c`");
        check(
            Text::literal("http://").then(Text::constant("host")).then(Text::literal(":80/a")),
            "`http://${host}:80/a`",
        );
    }

    #[test]
    fn relative_addresses_are_joined() {
        let check = |to: &str, expect: &str| assert_eq!(join("https://h:1/a/b?c", to), expect);
        check("/x", "https://h:1/x");
        check("x?y", "https://h:1/a/x?y");
        check("?y", "https://h:1/a/b?y");
        check("//o/x", "https://o/x");
        check("http://o/x", "http://o/x");
    }

    #[test]
    fn credentials_leave_an_address() {
        assert_eq!(credentials("https://anna:pw@h/x@y"), Some(("anna", "pw")));
        assert_eq!(without_credentials("https://anna:pw@h/x@y"), "https://h/x@y");
        assert_eq!(host("https://anna:pw@H:81/x").as_deref(), Some("h"));
    }
}
