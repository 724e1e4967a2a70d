//! Command lines of curl, one or several, as people write them and as browsers copy them (for a POSIX shell or for cmd).

mod shell;

use crate::plan::{Body, Call, Flow, Part, Plan, Step};
use crate::text::Text;
use crate::url::Url;
use crate::{DraftError, Kind, js, request, secrets, url};

/// Flags of one letter that take a value.
const SHORT_WITH_VALUE: &str = "XHdFuAbeomxTKEcCDrtPQUwyYz";

/// Long flags that take a value. All others take none.
const LONG_WITH_VALUE: &[&str] = &[
    "request",
    "header",
    "data",
    "data-raw",
    "data-binary",
    "data-ascii",
    "data-urlencode",
    "json",
    "form",
    "form-string",
    "user",
    "user-agent",
    "cookie",
    "cookie-jar",
    "referer",
    "output",
    "max-time",
    "connect-timeout",
    "proxy",
    "upload-file",
    "config",
    "cert",
    "key",
    "cacert",
    "capath",
    "cert-type",
    "key-type",
    "pass",
    "resolve",
    "connect-to",
    "interface",
    "retry",
    "retry-delay",
    "retry-max-time",
    "max-redirs",
    "write-out",
    "url",
    "limit-rate",
    "range",
    "ciphers",
    "tls-max",
    "oauth2-bearer",
    "aws-sigv4",
    "dump-header",
    "trace",
    "trace-ascii",
    "stderr",
    "unix-socket",
    "url-query",
    "proxy-user",
    "proxy-header",
    "noproxy",
    "netrc-file",
    "speed-limit",
    "speed-time",
    "time-cond",
    "continue-at",
    "expect100-timeout",
    "keepalive-time",
    "dns-servers",
    "doh-url",
    "hsts",
    "curves",
    "pinnedpubkey",
    "socks5",
    "socks5-hostname",
    "socks4",
    "socks4a",
    "preproxy",
    "request-target",
    "output-dir",
    "variable",
];

/// Flags that change what the server gets and have no counterpart in the script.
const NAMED: &[(&str, &str)] = &[
    ("proxy", "set HTTPS_PROXY when you run the script"),
    ("cert", "set options.tlsAuth in the script"),
    ("key", "set options.tlsAuth in the script"),
    ("config", "its flags are not in the script"),
    ("resolve", "set options.hosts in the script"),
    ("connect-to", "set options.hosts in the script"),
    ("unix-socket", "a script connects over TCP"),
    ("aws-sigv4", "sign the request in the script"),
    ("digest", "add { auth: 'digest' } to the request in the script"),
    ("ntlm", "add { auth: 'ntlm' } to the request in the script"),
    ("negotiate", "the script does not authenticate so"),
];

/// Reads command lines.
pub(crate) fn read(text: &str) -> Result<Plan, DraftError> {
    let mut plan = Plan::default();
    let mut steps = Vec::new();
    for words in shell::commands(text, &mut plan)? {
        let start = words.iter().position(|word| word.as_literal().is_some_and(is_curl));
        let Some(start) = start else {
            let first = words.first().map(Text::outline).unwrap_or_default();
            plan.notes.add(format!("command {} is not curl and was left out", js::label(&first)));
            continue;
        };
        let calls = Command::read(&words[start + 1..], &mut plan).calls(&mut plan);
        steps.extend(calls.into_iter().map(|call| Step::Call(Box::new(call))));
    }
    if steps.is_empty() {
        return Err(DraftError::Kind {
            kind: Kind::Curl,
            why: "no line begins with `curl` and has an address",
        });
    }
    plan.flows.push(Flow { name: "curl".to_owned(), steps, ..Flow::default() });
    secrets::redact(&mut plan);
    Ok(plan)
}

fn is_curl(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name == "curl" || name == "curl.exe"
}

/// The words of one command by their meaning.
#[derive(Default)]
struct Command {
    urls: Vec<Text>,
    method: Option<String>,
    headers: Vec<(String, Text)>,
    data: Vec<Text>,
    is_json: bool,
    file: Option<String>,
    parts: Vec<Part>,
    queries: Vec<Text>,
    user: Option<Text>,
    is_get: bool,
    is_head: bool,
    follows: bool,
    timeout_s: Option<f64>,
}

impl Command {
    fn read(words: &[Text], plan: &mut Plan) -> Command {
        let mut command = Command::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let plain = word.as_literal().unwrap_or_default();
            if let Some(name) = plain.strip_prefix("--").filter(|name| !name.is_empty()) {
                let (name, own) = name
                    .split_once('=')
                    .map_or((name, None), |(name, value)| (name, Some(Text::literal(value))));
                let value = match LONG_WITH_VALUE.contains(&name) {
                    true => own.or_else(|| words.next().cloned()).unwrap_or_default(),
                    false => Text::default(),
                };
                command.flag(name, value, plan);
            } else if plain.len() > 1 && plain.starts_with('-') {
                command.short(plain, &mut words, plan);
            } else if !word.is_empty() {
                command.urls.push(word.clone());
            }
        }
        command
    }

    /// Flags of one letter, several of which can share a dash: `-sSXPOST`.
    fn short(&mut self, word: &str, words: &mut std::slice::Iter<'_, Text>, plan: &mut Plan) {
        for (at, letter) in word.char_indices().skip(1) {
            let name = match letter {
                'X' => "request",
                'H' => "header",
                'd' => "data",
                'F' => "form",
                'u' => "user",
                'b' => "cookie",
                'A' => "user-agent",
                'G' => "get",
                'I' => "head",
                'L' => "location",
                'm' => "max-time",
                'T' => "upload-file",
                'x' => "proxy",
                'E' => "cert",
                'K' => "config",
                'k' => "insecure",
                _ => "",
            };
            if SHORT_WITH_VALUE.contains(letter) {
                let rest = &word[at + letter.len_utf8()..];
                let value = if rest.is_empty() {
                    words.next().cloned().unwrap_or_default()
                } else {
                    Text::literal(rest)
                };
                return self.flag(name, value, plan);
            }
            self.flag(name, Text::default(), plan);
        }
    }

    fn flag(&mut self, name: &str, value: Text, plan: &mut Plan) {
        match name {
            "request" => self.method = value.as_literal().map(str::to_ascii_uppercase),
            "header" => self.header(value),
            "data" | "data-ascii" | "data-binary" => match value.as_literal().and_then(|text| text.strip_prefix('@')) {
                Some(path) => self.file = Some(path.to_owned()),
                None => self.data.push(value),
            },
            "data-raw" => self.data.push(value),
            "data-urlencode" => self.data.push(encoded(&value)),
            "json" => {
                self.is_json = true;
                match value.as_literal().and_then(|text| text.strip_prefix('@')) {
                    Some(path) => self.file = Some(path.to_owned()),
                    None => self.data.push(value),
                }
            }
            "form" | "form-string" => self.part(&value, name == "form", plan),
            "upload-file" => {
                self.file = value.as_literal().map(str::to_owned);
                self.method.get_or_insert_with(|| "PUT".to_owned());
            }
            "user" => self.user = Some(value),
            "cookie" => {
                if value.as_literal().is_some_and(|text| !text.contains('=')) {
                    plan.notes.add("a file of cookies was not read; k6 keeps cookies of responses by itself");
                } else {
                    self.headers.push(("Cookie".to_owned(), value));
                }
            }
            "oauth2-bearer" => self.headers.push(("Authorization".to_owned(), Text::literal("Bearer ").then(value))),
            "user-agent" => self.headers.push(("User-Agent".to_owned(), value)),
            "get" => self.is_get = true,
            "head" => self.is_head = true,
            "location" | "location-trusted" => self.follows = true,
            "max-time" => self.timeout_s = value.as_literal().and_then(|text| text.parse().ok()).filter(|seconds: &f64| (0.1..=3600.0).contains(seconds)),
            "url" => self.urls.push(value),
            "url-query" => self.queries.push(encoded(&value)),
            "insecure" => plan.notes.add("-k was not converted: add insecureSkipTLSVerify: true to options if the certificate cannot be verified"),
            _ => {
                if let Some((name, next)) = NAMED.iter().find(|(known, _)| *known == name) {
                    plan.notes.add(format!("--{name} was not converted: {next}"));
                }
            }
        }
    }

    /// `Name: value`; `Name:` alone would remove a header of curl's.
    fn header(&mut self, value: Text) {
        let (name, rest) = url::split(&value, ':');
        let (Some(name), Some(mut rest)) = (name.as_literal().map(|name| name.trim().to_owned()), rest)
        else {
            return;
        };
        let trimmed = rest.pieces().first().and_then(|piece| match piece {
            crate::text::Piece::Literal(text) => Some((text.clone(), text.trim_start().to_owned())),
            crate::text::Piece::Code { .. } => None,
        });
        if let Some((whole, trimmed)) = trimmed
            && whole != trimmed
        {
            let cut = whole.len() - trimmed.len();
            rest = without_start(&rest, cut);
        }
        if !rest.is_empty() && (request::is_kept_header(&name) || name.eq_ignore_ascii_case("cookie")) {
            self.headers.push((name, rest));
        }
    }

    /// `name=value`, `name=@path;type=…`
    fn part(&mut self, value: &Text, has_files: bool, plan: &mut Plan) {
        let (name, value) = url::split(value, '=');
        let (Some(name), Some(value)) = (name.as_literal().map(str::to_owned), value) else { return };
        let path = value
            .as_literal()
            .filter(|_| has_files)
            .and_then(|text| text.strip_prefix(['@', '<']))
            .map(str::to_owned);
        let Some(path) = path else {
            self.parts.push(Part { name, value, file: None });
            return;
        };
        let (path, kind) =
            path.split_once(";type=").map_or((path.as_str(), None), |(path, kind)| (path, Some(kind)));
        let file = path.split(';').next().unwrap_or(path).rsplit('/').next().unwrap_or(path).to_owned();
        plan.notes.add(format!(
            "field {} is a file; its content in the script is the word \"content\"",
            js::label(&name)
        ));
        self.parts.push(Part {
            name,
            value: Text::literal("content"),
            file: Some((file, kind.unwrap_or("application/octet-stream").to_owned())),
        });
    }

    fn calls(self, plan: &mut Plan) -> Vec<Call> {
        self.urls.iter().map(|address| self.call(address, plan)).collect()
    }

    fn call(&self, address: &Text, plan: &mut Plan) -> Call {
        let mut headers = self.headers.clone();
        let (credentials, address) = match address.as_literal() {
            Some(literal) => (
                url::credentials(literal).map(|(name, password)| {
                    Text::literal(format!("{}:{}", url::decode(name, false), url::decode(password, false)))
                }),
                Text::literal(url::without_credentials(literal)),
            ),
            None => (None, address.clone()),
        };
        let mut address = Url::parse(&address, plan);
        for query in &self.queries {
            address.query.extend(url::pairs(query));
        }
        let mut data = Text::default();
        for (nth, text) in self.data.iter().enumerate() {
            // JSON is one text; fields are joined.
            data.push_literal(if nth > 0 && !self.is_json { "&" } else { "" });
            data.push(text.clone());
        }
        if self.is_get && !data.is_empty() {
            address.query.extend(url::pairs(&data));
            data = Text::default();
        }
        let has_body = !data.is_empty()
            || self.file.is_some()
            || !self.parts.is_empty()
            || !self.data.is_empty() && !self.is_get;
        let default = if self.is_head {
            "HEAD"
        } else if has_body {
            "POST"
        } else {
            "GET"
        };
        let method = self.method.clone().unwrap_or_else(|| default.to_owned());
        if self.is_json {
            add(&mut headers, "Content-Type", "application/json");
            add(&mut headers, "Accept", "application/json");
        }
        let body = if !self.parts.is_empty() {
            Body::Multipart(self.parts.clone())
        } else if let Some(path) = &self.file {
            plan.notes.add(format!("put the file {} beside the script", js::label(path)));
            Body::File(if path.starts_with(['/', '.']) { path.clone() } else { format!("./{path}") })
        } else {
            if !data.is_empty() {
                add(&mut headers, "Content-Type", "application/x-www-form-urlencoded");
            }
            let kind = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            request::body(kind.and_then(|(_, value)| value.as_literal()).unwrap_or_default(), &data)
        };
        headers.retain(|(name, value)| {
            !(name.eq_ignore_ascii_case("accept") && value.as_literal().is_some_and(request::is_plain_accept))
        });
        if let Some(user) = self.user.clone().or(credentials) {
            let code = basic(&user, plan);
            headers.push(("Authorization".to_owned(), code));
        }
        Call {
            method,
            url: address,
            headers,
            body,
            timeout_s: self.timeout_s,
            stops_at_redirect: false,
            ..Call::default()
        }
    }
}

fn add(headers: &mut Vec<(String, Text)>, name: &str, value: &str) {
    if !headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
        headers.push((name.to_owned(), Text::literal(value)));
    }
}

/// Basic authentication; the password becomes a variable.
fn basic(user: &Text, plan: &mut Plan) -> Text {
    let (name, password) = url::split(user, ':');
    let password = match password {
        Some(password) if password.as_literal().is_none() => password,
        _ => {
            let place = "password of -u".to_owned();
            match plan.secrets.iter().find(|secret| secret.place == place) {
                Some(secret) => Text::constant(format!("__ENV.{}", secret.variable)),
                None => plan.secret("PASSWORD", place),
            }
        }
    };
    let pair = name.then(Text::literal(":")).then(password).js();
    Text::literal("Basic ").then(Text::constant(format!("encoding.b64encode({pair})")))
}

/// `--data-urlencode`: `content`, `=content`, `name=content`.
fn encoded(value: &Text) -> Text {
    let Some(literal) = value.as_literal() else {
        let (name, rest) = url::split(value, '=');
        return match rest {
            Some(rest) => name
                .then(Text::literal("="))
                .then(Text::constant(format!("encodeURIComponent({})", rest.js_string()))),
            None => Text::constant(format!("encodeURIComponent({})", value.js_string())),
        };
    };
    Text::literal(match literal.split_once('=') {
        Some(("", content)) => url::encode(content),
        Some((name, content)) => format!("{name}={}", url::encode(content)),
        None => url::encode(literal),
    })
}

/// The text without bytes at its start, which are in its first literal.
fn without_start(text: &Text, bytes: usize) -> Text {
    let mut out = Text::default();
    for (nth, piece) in text.pieces().iter().enumerate() {
        match piece {
            crate::text::Piece::Literal(literal) => {
                out.push_literal(if nth == 0 { &literal[bytes..] } else { literal })
            }
            crate::text::Piece::Code { code, .. } => out.push(Text::constant(code.clone())),
        }
    }
    out
}
