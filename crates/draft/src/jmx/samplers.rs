//! HTTP samplers as requests.

use super::functions::Names;
use super::scope::Scope;
use super::xml::Element;
use super::{assertions, extractors};
use crate::js;
use crate::plan::{Body, Call, Part, Plan};
use crate::request;
use crate::text::Text;
use crate::url::{self, Url};

pub(super) fn is_http(tag: &str) -> bool {
    ["HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2"].contains(&tag)
}

/// One argument of a sampler.
struct Argument {
    name: Text,
    value: Text,
}

pub(super) fn call<'a>(
    sampler: &'a Element,
    scope: &Scope<'a>,
    names: &mut Names,
    plan: &mut Plan,
) -> Option<Call> {
    let name = sampler.name();
    let Some(address) = address(sampler, scope, names, plan) else {
        plan.notes
            .add(format!("request {} has no server name and no address and was left out", js::label(name)));
        return None;
    };
    let method = scope.property(sampler, "HTTPSampler.method").to_ascii_uppercase();
    let is_token = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_alphabetic());
    let method = if is_token { method } else { "GET".to_owned() };
    let mut call = Call {
        method,
        url: address,
        name: name.to_owned(),
        headers: scope.headers.clone(),
        ..Call::default()
    };
    body(sampler, scope, &mut call, names, plan);
    let is_followed = ["HTTPSampler.follow_redirects", "HTTPSampler.auto_redirects"]
        .iter()
        .any(|name| sampler.is_set(name));
    call.stops_at_redirect =
        !is_followed && sampler.property_element("HTTPSampler.follow_redirects").is_some();
    let timeout_ms = scope.property(sampler, "HTTPSampler.response_timeout").parse::<f64>().ok();
    call.timeout_s = timeout_ms.map(|ms| ms / 1000.0).filter(|seconds| (0.1..=3600.0).contains(seconds));
    for assertion in &scope.assertions {
        assertions::add(assertion, &mut call, names, plan);
    }
    for extractor in &scope.extractors {
        extractors::add(extractor, &mut call, names, plan);
    }
    call.statuses.sort_unstable();
    call.statuses.dedup();
    Some(call)
}

fn address<'a>(sampler: &'a Element, scope: &Scope<'a>, names: &mut Names, plan: &mut Plan) -> Option<Url> {
    let path = scope.property(sampler, "HTTPSampler.path");
    if path.contains("://") {
        let text = names.text(path, plan);
        return Some(Url::parse(&text, plan));
    }
    let domain = scope.property(sampler, "HTTPSampler.domain");
    if domain.is_empty() && !path.starts_with("${") {
        return None;
    }
    let protocol = match scope.property(sampler, "HTTPSampler.protocol") {
        "" => "http",
        protocol => protocol,
    };
    let port = scope.property(sampler, "HTTPSampler.port");
    let is_default = matches!((protocol, port), (_, "" | "0") | ("http", "80") | ("https", "443"));
    let mut text = names.text(protocol, plan).then(Text::literal("://"));
    if domain.is_empty() {
        // The path is a variable that holds the whole address.
        text = Text::default();
    } else {
        text.push(names.text(domain, plan));
        if !is_default {
            text.push_literal(":");
            text.push(names.text(port, plan));
        }
    }
    let path = names.text(path, plan);
    if !text.is_empty()
        && !path
            .pieces()
            .first()
            .is_some_and(|piece| matches!(piece, crate::text::Piece::Literal(text) if text.starts_with('/')))
    {
        text.push_literal("/");
    }
    text.push(path);
    // `${protocol}://…` begins with an expression: its base ends at the path.
    Some(match text.pieces().first() {
        Some(crate::text::Piece::Code { .. }) if !domain.is_empty() => computed(&text, plan),
        _ => Url::parse(&text, plan),
    })
}

/// An address whose scheme is computed.
fn computed(text: &Text, plan: &mut Plan) -> Url {
    let (scheme, rest) = url::split(text, ':');
    let Some(rest) = rest else { return Url::parse(text, plan) };
    // Behind `//` comes the authority.
    let (_, rest) = url::split(&rest, '/');
    let (_, rest) = url::split(&rest.unwrap_or_default(), '/');
    let (authority, path) = url::split(&rest.unwrap_or_default(), '/');
    let mut parsed =
        Url::parse(&Text::literal("http://h/").then(path.unwrap_or_default()), &mut Plan::default());
    parsed.base = scheme.then(Text::literal("://")).then(authority);
    parsed
}

fn body<'a>(sampler: &'a Element, scope: &Scope<'a>, call: &mut Call, names: &mut Names, plan: &mut Plan) {
    let list = |holder: &'a Element| {
        holder
            .property_element("HTTPsampler.Arguments")
            .and_then(|arguments| arguments.property_element("Arguments.arguments"))
    };
    let own = list(sampler).map(|list| list.children.as_slice()).unwrap_or_default();
    // Arguments of defaults are sent, too.
    let defaults =
        scope.defaults.iter().filter_map(|defaults| list(defaults)).flat_map(|list| &list.children);
    let is_raw = sampler.is_set("HTTPSampler.postBodyRaw");
    if is_raw {
        let raw: String = own.iter().map(|argument| argument.raw_property("Argument.value")).collect();
        let text = names.text(&raw, plan);
        let kind = call.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.and_then(|(_, value)| value.as_literal()).unwrap_or_default().to_owned();
        call.body = request::body(&kind, &text);
        return;
    }
    let mut arguments: Vec<Argument> = Vec::new();
    for argument in defaults.chain(own) {
        let name = names.text(argument.property("Argument.name"), plan);
        let value = names.text(argument.raw_property("Argument.value"), plan);
        arguments.push(Argument { name, value });
    }
    let files = sampler
        .property_element("HTTPsampler.Files")
        .and_then(|files| files.property_element("HTTPFileArgs.files"));
    let files = files.map(|files| files.children.as_slice()).unwrap_or_default();
    let is_query = ["GET", "HEAD", "DELETE", "OPTIONS"].contains(&call.method.as_str());
    if is_query {
        call.url.query.extend(
            arguments.into_iter().map(|argument| (encoded(argument.name), Some(encoded(argument.value)))),
        );
    } else if sampler.is_set("HTTPSampler.DO_MULTIPART_POST") || !files.is_empty() {
        let part =
            |argument: Argument| Part { name: argument.name.outline(), value: argument.value, file: None };
        let mut parts: Vec<Part> = arguments.into_iter().map(part).collect();
        for file in files {
            let path = file.property("File.path");
            let shown = path.rsplit(['/', '\\']).next().unwrap_or(path);
            let kind = match file.property("File.mimetype") {
                "" => "application/octet-stream",
                kind => kind,
            };
            plan.notes.add(format!("{} is uploaded as the word \"content\" in the script", js::label(shown)));
            let name = match file.property("File.paramname") {
                "" => "file",
                name => name,
            };
            parts.push(Part {
                name: name.to_owned(),
                value: Text::literal("content"),
                file: Some((shown.to_owned(), kind.to_owned())),
            });
        }
        call.body = Body::Multipart(parts);
    } else if arguments.len() == 1 && arguments[0].name.is_empty() {
        let text = arguments.remove(0).value;
        let kind = call.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.and_then(|(_, value)| value.as_literal()).unwrap_or_default().to_owned();
        call.body = request::body(&kind, &text);
    } else if !arguments.is_empty() {
        call.body =
            Body::Form(arguments.into_iter().map(|argument| (argument.name, argument.value)).collect());
    }
}

/// A name or value of the query.
fn encoded(text: Text) -> Text {
    match text.as_literal() {
        Some(literal) => Text::literal(url::encode(&url::decode(literal, true))),
        None if text.is_variable() => Text::code(format!("encodeURIComponent({})", text.js())),
        None => Text::constant(format!("encodeURIComponent({})", text.js())),
    }
}
