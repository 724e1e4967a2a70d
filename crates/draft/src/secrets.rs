//! Secrets of a source: found by the names of their fields and by their shape, and replaced by variables of the environment.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::js;
use crate::plan::{Body, Call, Node, Plan, each_call};
use crate::text::Text;
use crate::url;

/// Parts of names of fields that hold secrets, without separators, in lowercase.
const SECRET_PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "authtoken",
    "idtoken",
    "privatekey",
    "accesskey",
    "credential",
    "authorization",
    "cardnumber",
    "creditcard",
    "cvv",
    "cvc",
    "sessionid",
    "sessid",
    "subscriptionkey",
    "bearer",
    "signature",
    "jwt",
];

/// Names of fields that hold secrets.
const SECRET_NAMES: &[&str] = &[
    "pass", "pwd", "pw", "pin", "otp", "totp", "mfacode", "token", "auth", "apitoken", "key", "sig", "ssn",
    "iban", "cookie", "xauth", "appid", "session", "sid",
];

/// Endings of names that hold tokens: the value is a secret where no response returned it.
const TOKEN_ENDING: &str = "token";

/// Names that end with `token` and name no secret.
const HARMLESS_TOKENS: &[&str] =
    &["nextpagetoken", "pagetoken", "continuationtoken", "nexttoken", "synctoken", "canceltoken"];

/// Characters of a value that is replaced wherever it stands, not only in its field.
const EVERYWHERE_CHARS_MIN: usize = 6;

/// Characters of a token; a shorter value of such a field is a word.
const TOKEN_CHARS_MIN: usize = 8;

/// Beginnings of tokens that services issue.
const TOKEN_STARTS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "ASIA",
    "AIza",
    "SG.",
    "sk-",
    "ya29.",
    "EAAC",
    "PMAK-",
    "shpat_",
];

/// Whether a field's name says that it holds a secret.
pub(crate) fn is_secret_field(name: &str, value: &str) -> bool {
    if value.is_empty() || ["true", "false", "null", "undefined"].contains(&value) {
        return false;
    }
    let name = plain(name);
    if SECRET_PARTS.iter().any(|part| name.contains(part)) {
        return true;
    }
    let is_long = value.chars().count() >= TOKEN_CHARS_MIN;
    match SECRET_NAMES.iter().any(|secret| *secret == name) {
        true => {
            is_long || ["pass", "pwd", "pw", "pin", "otp", "totp", "ssn", "mfacode"].contains(&name.as_str())
        }
        false => is_long && name.ends_with(TOKEN_ENDING) && !HARMLESS_TOKENS.contains(&name.as_str()),
    }
}

/// Whether a field's name says that it holds a password, so that a name beside it is a login name.
pub(crate) fn is_password(name: &str) -> bool {
    let name = plain(name);
    ["password", "passwd", "passphrase", "passcode"].iter().any(|part| name.contains(part))
        || ["pass", "pwd", "pw"].contains(&name.as_str())
}

/// Whether a value has the shape of a secret: a JSON Web Token, a key of a known service, or a payment card's number.
pub(crate) fn is_secret_value(value: &str) -> bool {
    let is_token =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte));
    let is_jwt =
        value.starts_with("eyJ") && value.matches('.').count() == 2 && value.len() > 40 && is_token(value);
    is_jwt
        || is_card_number(value)
        || value.len() >= 20 && is_token(value) && TOKEN_STARTS.iter().any(|start| value.starts_with(start))
}

/// Whether a value is a number of the large issuers of payment cards, with a valid check digit (ISO/IEC 7812-1, Luhn).
fn is_card_number(value: &str) -> bool {
    const CHARS_MAX: usize = 23;
    if value.len() > CHARS_MAX || value.bytes().any(|byte| !(byte.is_ascii_digit() || b" -".contains(&byte)))
    {
        return false;
    }
    let digits: Vec<u32> = value.chars().filter_map(|letter| letter.to_digit(10)).collect();
    let prefix = |count: usize| digits.iter().take(count).fold(0, |number, digit| number * 10 + digit);
    let is_issued = match digits.len() {
        15 => [34, 37].contains(&prefix(2)),
        16 => {
            matches!(prefix(1), 4)
                || matches!(prefix(2), 51..=55 | 65)
                || matches!(prefix(4), 2221..=2720 | 3528..=3589 | 6011)
        }
        _ => false,
    };
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(nth, digit)| if nth % 2 == 1 { doubled(*digit) } else { *digit })
        .sum();
    is_issued && sum.is_multiple_of(10)
}

/// The name without separators, in lowercase.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Replaces the secrets of all requests.
pub(crate) fn redact(plan: &mut Plan) {
    let mut flows = std::mem::take(&mut plan.flows);
    let mut redaction = Redaction { plan, known: Vec::new() };
    for flow in &mut flows {
        each_call(&mut flow.steps, &mut |call| redaction.call(call));
    }
    let known = redaction.known;
    let everywhere = |text: &mut Text| {
        for (value, with) in known.iter().filter(|(value, _)| value.chars().count() >= EVERYWHERE_CHARS_MIN) {
            text.replace(value, with);
            let encoded = url::encode(value);
            if encoded != *value {
                text.replace(&encoded, with);
            }
        }
    };
    for flow in &mut flows {
        flow.variables.iter_mut().for_each(|(_, value)| everywhere(value));
        each_call(&mut flow.steps, &mut |call| each_text(call, &everywhere));
    }
    plan.constants.iter_mut().for_each(|constant| everywhere(&mut constant.value));
    plan.flows = flows;
}

fn each_text(call: &mut Call, act: &dyn Fn(&mut Text)) {
    call.url.path.iter_mut().for_each(act);
    for (name, value) in &mut call.url.query {
        act(name);
        value.iter_mut().for_each(act);
    }
    call.headers.iter_mut().for_each(|(_, value)| act(value));
    match &mut call.body {
        Body::Text(text) => act(text),
        Body::Form(fields) => fields.iter_mut().for_each(|(_, value)| act(value)),
        Body::Multipart(parts) => parts.iter_mut().for_each(|part| act(&mut part.value)),
        Body::Json(node) => node.each_leaf("", &mut |_, leaf| {
            if let Node::Text(text) = leaf {
                act(text);
            }
        }),
        Body::None | Body::File(_) => {}
    }
}

struct Redaction<'a> {
    plan: &'a mut Plan,
    /// Values with the texts in their place.
    known: Vec<(String, Text)>,
}

impl Redaction<'_> {
    fn call(&mut self, call: &mut Call) {
        let place = format!("{} {}", call.method, call.url.outline());
        for (name, value) in &mut call.headers {
            self.header(name, value, &place);
        }
        for (name, value) in &mut call.url.query {
            let (Some(name), Some(value)) = (name.as_literal(), value) else { continue };
            let name = url::decode(name, true);
            self.field(&name, value, &format!("parameter {name} of {place}"));
        }
        for segment in &mut call.url.path {
            self.shape("ACCESS_TOKEN", segment, &format!("the path of {place}"));
        }
        match &mut call.body {
            Body::Form(fields) => {
                for (name, value) in fields {
                    let name = name.as_literal().unwrap_or_default().to_owned();
                    self.field(&name, value, &format!("field {name} of {place}"));
                }
            }
            Body::Multipart(parts) => {
                for part in parts {
                    self.field(&part.name, &mut part.value, &format!("field {} of {place}", part.name));
                }
            }
            Body::Json(node) => node.each_leaf("", &mut |name, leaf| match leaf {
                Node::Text(text) => self.field(name, text, &format!("field {name} of {place}")),
                Node::Number(number) if is_secret_field(name, number) || is_secret_value(number) => {
                    let mut text = Text::literal(number.clone());
                    self.field(name, &mut text, &format!("field {name} of {place}"));
                    *leaf = Node::Text(text);
                }
                _ => {}
            }),
            Body::Text(text) => self.xml(text, &place),
            Body::None | Body::File(_) => {}
        }
    }

    fn header(&mut self, name: &str, value: &mut Text, place: &str) {
        let Some(literal) = value.as_literal().map(str::to_owned) else { return };
        let place = format!("header {name} of {place}");
        match name.to_ascii_lowercase().as_str() {
            "authorization" | "proxy-authorization" => *value = self.authorization(&literal, place),
            "cookie" => *value = self.cookies(&literal, &place),
            _ => self.field(name, value, &place),
        }
    }

    fn authorization(&mut self, literal: &str, place: String) -> Text {
        let Some((scheme, rest)) = literal.split_once(' ') else {
            return self.replaced("AUTHORIZATION", literal, place);
        };
        if scheme.eq_ignore_ascii_case("basic")
            && let Some((name, password)) = basic(rest)
        {
            let password = self.replaced("PASSWORD", &password, place);
            let text = Text::literal(format!("{name}:")).then(password).js();
            return Text::literal("Basic ").then(Text::constant(format!("encoding.b64encode({text})")));
        }
        let wish = if scheme.eq_ignore_ascii_case("bearer") { "ACCESS_TOKEN" } else { "AUTHORIZATION" };
        Text::literal(format!("{scheme} ")).then(self.replaced(wish, rest, place))
    }

    fn cookies(&mut self, literal: &str, place: &str) -> Text {
        let mut text = Text::default();
        for (nth, pair) in literal.split(';').map(str::trim).filter(|pair| !pair.is_empty()).enumerate() {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            text.push_literal(&format!("{}{name}=", if nth > 0 { "; " } else { "" }));
            let wish = format!("COOKIE_{}", js::upper_case(name, "VALUE").trim_start_matches('_'));
            text.push(self.replaced(&wish, value, format!("cookie {name} in {place}")));
        }
        text
    }

    fn field(&mut self, name: &str, value: &mut Text, place: &str) {
        let wish = js::upper_case(name, "SECRET");
        match value.as_literal().filter(|literal| is_secret_field(name, literal)) {
            Some(literal) => *value = self.replaced(&wish, literal, place.to_owned()),
            None => self.shape(&wish, value, place),
        }
    }

    /// Replaces a value that has the shape of a secret.
    fn shape(&mut self, wish: &str, value: &mut Text, place: &str) {
        if let Some(literal) = value.as_literal().filter(|literal| is_secret_value(literal)) {
            let wish = if is_card_number(literal) { "CARD_NUMBER" } else { wish };
            *value = self.replaced(wish, literal, place.to_owned());
        }
    }

    /// Replaces the content of elements such as `<password>`.
    fn xml(&mut self, text: &mut Text, place: &str) {
        let Some(literal) = text.as_literal().filter(|text| text.trim_start().starts_with('<')) else {
            return;
        };
        let mut found = Vec::new();
        for (at, _) in literal.match_indices('<') {
            let rest = &literal[at + 1..];
            let Some((tag, after)) = rest.split_once('>') else { break };
            let name = tag.split_whitespace().next().unwrap_or_default();
            let value = after.split('<').next().unwrap_or_default().trim();
            if !name.starts_with(['/', '?', '!'])
                && is_secret_field(name.rsplit(':').next().unwrap_or(name), value)
            {
                found.push((name.to_owned(), value.to_owned()));
            }
        }
        for (name, value) in found {
            let with =
                self.replaced(&js::upper_case(&name, "SECRET"), &value, format!("element {name} of {place}"));
            text.replace(&format!(">{value}<"), &Text::literal(">").then(with).then(Text::literal("<")));
        }
    }

    /// The variable in place of a value: the same one for the same value.
    fn replaced(&mut self, wish: &str, value: &str, place: String) -> Text {
        if value.is_empty() {
            return Text::default();
        }
        if let Some((_, with)) = self.known.iter().find(|(known, _)| known == value) {
            return with.clone();
        }
        let with = self.plan.secret(wish, place);
        self.known.push((value.to_owned(), with.clone()));
        with
    }
}

/// Name and password of Basic authentication (RFC 7617).
fn basic(encoded: &str) -> Option<(String, String)> {
    let bytes = BASE64_STANDARD.decode(encoded.trim()).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let (name, password) = text.split_once(':')?;
    (!password.is_empty()).then(|| (name.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        let check = |name: &str, value: &str, expect: bool| {
            assert_eq!(is_secret_field(name, value), expect, "{name}={value}")
        };
        check("password", "x", true);
        check("user[password_confirmation]", "x", true);
        check("X-Api-Key", "0123", true);
        check("client_secret", "s", true);
        check("csrf_token", "0123456789", true);
        check("nextPageToken", "0123456789", false);
        check("token", "on", false);
        check("name", "anna", false);
        check("password", "", false);
        check("keyword", "0123456789", false);
        check("compass", "north", false);
    }

    #[test]
    fn shapes_of_secrets() {
        assert!(is_secret_value("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abcDEF123_-x"));
        assert!(is_secret_value("ghp_0123456789abcdefghij"));
        // Numbers for tests that issuers publish.
        for card in ["4111111111111111", "5555 5555 5555 4444", "3782-822463-10005", "6011111111111117"] {
            assert!(is_secret_value(card), "{card}");
        }
        for other in
            ["4111111111111112", "1764201600000000", "411111111111", "0000000000000000", "+49 30 4111"]
        {
            assert!(!is_secret_value(other), "{other}");
        }
        assert!(!is_secret_value("eyJ"));
        assert!(!is_secret_value("sk-short"));
        assert!(!is_secret_value("an ordinary sentence with words"));
    }
}
