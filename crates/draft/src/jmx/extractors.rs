//! Extractors: values of responses that later requests send.

use super::functions::Names;
use super::xml::Element;
use crate::js;
use crate::plan::{Call, Capture, Plan};

pub(super) fn is_extractor(tag: &str) -> bool {
    tag.ends_with("Extractor") || tag.ends_with("Extractor2") || tag == "JSONPostProcessor"
}

/// The names of the variables that an extractor sets.
pub(super) fn names(element: &Element) -> Vec<String> {
    let list = match element.tag.as_str() {
        "JSONPostProcessor" => element.property("JSONPostProcessor.referenceNames"),
        "RegexExtractor" => element.property("RegexExtractor.refname"),
        "BoundaryExtractor" => element.property("BoundaryExtractor.refname"),
        "HtmlExtractor" => element.property("HtmlExtractor.refname"),
        _ => "",
    };
    list.split(';').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Adds an extractor to a request.
pub(super) fn add(element: &Element, call: &mut Call, scope_names: &mut Names, plan: &mut Plan) {
    let found = match element.tag.as_str() {
        "JSONPostProcessor" => json(element),
        "RegexExtractor" => regex(element).map(|code| vec![code]),
        "BoundaryExtractor" => Some(vec![format!(
            "between(response.body, {}, {})",
            js::quoted(element.raw_property("BoundaryExtractor.lboundary")),
            js::quoted(element.raw_property("BoundaryExtractor.rboundary"))
        )]),
        "HtmlExtractor" => {
            let selection = format!("response.html({})", js::quoted(element.property("HtmlExtractor.expr")));
            Some(vec![match element.property("HtmlExtractor.attribute") {
                "" => format!("{selection}.text()"),
                attribute => format!("{selection}.attr({})", js::quoted(attribute)),
            }])
        }
        _ => None,
    };
    let Some(codes) = found else { return super::note(element, plan) };
    for (name, code) in names(element).into_iter().zip(codes) {
        let variable = scope_names.extracted(&name, plan);
        call.captures.push(Capture { variable, code });
    }
}

fn json(element: &Element) -> Option<Vec<String>> {
    let defaults: Vec<&str> =
        element.property("JSONPostProcessor.defaultValues").split(';').map(str::trim).collect();
    let paths = element.property("JSONPostProcessor.jsonPathExprs").split(';').map(str::trim);
    paths
        .enumerate()
        .map(|(nth, path)| {
            let code = format!("response.json({})", js::quoted(&json_path(path)?));
            Some(with_default(code, defaults.get(nth).copied().unwrap_or_default()))
        })
        .collect()
}

fn regex(element: &Element) -> Option<String> {
    let subject = match element.property("RegexExtractor.useHeaders") {
        "true" => "Object.entries(response.headers).map((pair) => pair.join(': ')).join('\\n')",
        "URL" => "response.url",
        "code" => "String(response.status)",
        "" | "false" | "unescaped" | "as_document" => "String(response.body)",
        _ => return None,
    };
    // A template is `$1$`.
    let template = element.property("RegexExtractor.template").trim_matches('$');
    let group: u32 = if template.is_empty() { 1 } else { template.parse().ok()? };
    let regex = js::quoted(element.property("RegexExtractor.regex"));
    let code = format!("({subject}.match(new RegExp({regex})) || [])[{group}]");
    Some(with_default(code, element.property("RegexExtractor.default")))
}

fn with_default(code: String, default: &str) -> String {
    if default.is_empty() { code } else { format!("{code} ?? {}", js::quoted(default)) }
}

/// `$.a['b'][0].c` → `a.b.0.c`; `None` where it selects more than one value.
pub(super) fn json_path(path: &str) -> Option<String> {
    let mut rest = path.trim().strip_prefix('$')?;
    let mut parts: Vec<String> = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let name = &after[..end];
            if name.is_empty() || name.contains(['*', '(', '?', '@']) {
                return None;
            }
            parts.push(name.to_owned());
            rest = &after[end..];
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            let name = inside.trim().trim_matches(['\'', '"']);
            if name.is_empty() || name.contains(['*', '?', '@', ':', ',']) {
                return None;
            }
            parts.push(name.replace('.', "\\."));
            rest = after;
        }
    }
    (!parts.is_empty()).then(|| parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_one_value_are_converted() {
        let check =
            |path: &str, expect: Option<&str>| assert_eq!(json_path(path).as_deref(), expect, "{path}");
        check("$.a.b[0].c", Some("a.b.0.c"));
        check("$['a']['b.c']", Some("a.b\\.c"));
        check("$..id", None);
        check("$.items[*].id", None);
        check("$.items[?(@.id==1)]", None);
        check("id", None);
    }
}
