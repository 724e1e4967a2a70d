//! Requests as statements.

use super::body::{BOUNDARY, has_file};
use super::{Writer, object};
use crate::js;
use crate::plan::{Body, Call, Plan, Step};
use crate::text::Text;

/// Requests that must have the same headers before these get a constant.
const SHARED_MIN: usize = 2;

/// The expressions of headers that several requests share, with the names of their constants.
pub(super) fn shared_headers(plan: &Plan) -> Vec<(String, String)> {
    let mut seen: Vec<(String, usize, bool)> = Vec::new();
    for flow in &plan.flows {
        visit(&flow.steps, &mut |call| {
            let headers = headers_of(call);
            if headers.is_empty() || headers.iter().any(|(_, value)| value.is_variable()) {
                return;
            }
            let code = headers_code(0, &headers);
            match seen.iter_mut().find(|(known, ..)| *known == code) {
                Some((_, count, _)) => *count += 1,
                None => {
                    let is_json = matches!(headers.as_slice(), [(name, value)] if name.eq_ignore_ascii_case("content-type")
                        && value.as_literal().is_some_and(|value| value.starts_with("application/json")));
                    seen.push((code, 1, is_json));
                }
            }
        });
    }
    let shared = seen.into_iter().filter(|(_, count, _)| *count >= SHARED_MIN);
    let mut named: Vec<(String, String)> = Vec::new();
    for (code, _, is_json) in shared {
        let wish = if is_json { "JSON_HEADERS" } else { "HEADERS" };
        let name = crate::plan::unused(wish, |name| named.iter().any(|(_, taken)| taken == name));
        named.push((code, name));
    }
    named
}

fn visit(steps: &[Step], act: &mut dyn FnMut(&Call)) {
    for step in steps {
        match step {
            Step::Call(call) => act(call),
            Step::Group(_, below) | Step::Block(_, below) => visit(below, act),
            _ => {}
        }
    }
}

/// The headers that the script sets: k6 sets those of forms and of files itself.
fn headers_of(call: &Call) -> Vec<(String, Text)> {
    let is_content_type = |name: &str| name.eq_ignore_ascii_case("content-type");
    let is_ours = |(name, value): &&(String, Text)| match &call.body {
        Body::Form(_) => {
            !is_content_type(name)
                || value
                    .as_literal()
                    .is_none_or(|value| value.split(';').next() != Some("application/x-www-form-urlencoded"))
        }
        Body::Multipart(_) => !is_content_type(name),
        _ => true,
    };
    let mut headers: Vec<(String, Text)> = call.headers.iter().filter(is_ours).cloned().collect();
    match &call.body {
        Body::Multipart(parts) if !has_file(parts) => {
            let value = format!("multipart/form-data; boundary={BOUNDARY}");
            headers.push(("Content-Type".to_owned(), Text::literal(value)));
        }
        Body::Form(fields)
            if !is_object(fields) && !headers.iter().any(|(name, _)| is_content_type(name)) =>
        {
            headers.push(("Content-Type".to_owned(), Text::literal("application/x-www-form-urlencoded")));
        }
        _ => {}
    }
    headers
}

fn is_object(fields: &[(Text, Text)]) -> bool {
    let names: Vec<_> = fields.iter().map(|(name, _)| name.as_literal()).collect();
    names.iter().enumerate().all(|(nth, name)| name.is_some() && !names[..nth].contains(name))
}

fn headers_code(depth: usize, headers: &[(String, Text)]) -> String {
    let mut members: Vec<(String, String)> = Vec::new();
    for (name, value) in headers {
        let name = js::property(name);
        // An object has a name once: the last header of a name counts.
        members.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        members.push((name, value.js_string()));
    }
    object(depth, &members)
}

impl Writer<'_> {
    pub(super) fn call(&mut self, depth: usize, call: &Call) {
        for comment in &call.comments {
            self.comment(depth, comment);
        }
        let url = call.url.text().js_string();
        let body = self.body(depth, &call.body);
        let params = self.params(depth, call);
        let method = call.method.to_ascii_uppercase();
        let (function, has_body) = match method.as_str() {
            "GET" => ("get", false),
            "HEAD" => ("head", false),
            "POST" => ("post", true),
            "PUT" => ("put", true),
            "PATCH" => ("patch", true),
            "DELETE" => ("del", true),
            "OPTIONS" => ("options", true),
            _ => ("request", true),
        };
        let is_request = function == "request" || body.is_some() && !has_body;
        let mut arguments = if is_request { vec![js::quoted(&method)] } else { Vec::new() };
        arguments.push(url);
        match (body, params.is_some() && (has_body || is_request)) {
            (Some(body), _) => arguments.push(body),
            (None, true) => arguments.push("null".to_owned()),
            (None, false) => {}
        }
        arguments.extend(params);
        let function = if is_request { "request" } else { function };
        let line = format!("response = http.{function}({});", arguments.join(", "));
        if line.contains('\n') || depth * 2 + line.chars().count() <= super::LINE_CHARS_MAX {
            self.line(depth, &line);
        } else {
            self.line(depth, &format!("response = http.{function}("));
            arguments.iter().for_each(|argument| self.line(depth + 1, &format!("{argument},")));
            self.line(depth, ");");
        }
        self.checks(depth, call);
        for capture in &call.captures {
            self.line(depth, &format!("{} = {};", capture.variable, capture.code));
        }
    }

    fn params(&mut self, depth: usize, call: &Call) -> Option<String> {
        let mut members = Vec::new();
        let headers = headers_of(call);
        if !headers.is_empty() {
            let code = headers_code(0, &headers);
            let shared = self.headers.iter().find(|(known, _)| *known == code).map(|(_, name)| name.clone());
            members.push(("headers".to_owned(), shared.unwrap_or_else(|| headers_code(depth + 1, &headers))));
        }
        if call.url.is_variable() {
            // One row of the summary for all values of the address.
            members.push(("tags".to_owned(), format!("{{ name: {} }}", js::quoted(&js::label(&call.name)))));
        }
        if call.stops_at_redirect {
            members.push(("redirects".to_owned(), "0".to_owned()));
        }
        if let Some(seconds) = call.timeout_s {
            members.push(("timeout".to_owned(), js::quoted(&format!("{}s", super::seconds_text(seconds)))));
        }
        if call.statuses.iter().any(|status| *status >= 400) {
            let list: Vec<String> = call.statuses.iter().map(u16::to_string).collect();
            members
                .push(("responseCallback".to_owned(), format!("http.expectedStatuses({})", list.join(", "))));
        }
        (!members.is_empty()).then(|| object(depth, &members))
    }

    fn checks(&mut self, depth: usize, call: &Call) {
        let name = js::label(&call.name);
        let status = match call.statuses.as_slice() {
            [] => (format!("{name}: status below 400"), "(r) => r.status > 0 && r.status < 400".to_owned()),
            [status] => (format!("{name}: status {status}"), format!("(r) => r.status === {status}")),
            many => {
                let list = many.iter().map(u16::to_string).collect::<Vec<_>>();
                (
                    format!("{name}: status {}", list.join(" or ")),
                    format!("(r) => [{}].includes(r.status)", list.join(", ")),
                )
            }
        };
        let more = call
            .checks
            .iter()
            .map(|(label, code)| (format!("{name}: {}", js::label(label)), format!("(r) => {code}")));
        let mut members: Vec<(String, String)> = Vec::new();
        for (label, code) in std::iter::once(status).chain(more) {
            let label = js::quoted(&label);
            if !members.iter().any(|(known, _)| *known == label) {
                members.push((label, code));
            }
        }
        self.line(depth, &format!("check(response, {});", object(depth, &members)));
    }
}
