//! Security schemes: each becomes a variable of the environment.

use super::document::Document;
use crate::js;
use crate::plan::{Call, Plan};
use crate::text::Text;
use crate::tree::Tree;
use crate::url;

/// Adds the first alternative that the operation needs.
pub(super) fn add(document: &Document<'_>, operation: &Tree, call: &mut Call, plan: &mut Plan) {
    let needs = if operation.get("security").is_null() {
        document.tree.get("security")
    } else {
        operation.get("security")
    };
    // An empty alternative makes the others optional.
    let Some(first) = needs.items().first() else { return };
    for (name, _) in first.members() {
        let schemes = match document.is_swagger {
            true => document.tree.get("securityDefinitions"),
            false => document.tree.at(&["components", "securitySchemes"]),
        };
        let scheme = document.resolve(schemes.get(name));
        let kind = scheme.get("type").text().unwrap_or_default().to_ascii_lowercase();
        let http = scheme.get("scheme").text().unwrap_or_default().to_ascii_lowercase();
        let place = format!("security scheme {name}");
        match (kind.as_str(), http.as_str()) {
            ("apikey", _) => {
                let field = scheme.get("name").text().unwrap_or("api_key");
                let value = secret(plan, &js::upper_case(name, "API_KEY"), place);
                match scheme.get("in").text().unwrap_or("header") {
                    "query" => call.url.query.push((Text::literal(url::encode(field)), Some(value))),
                    "cookie" => set(call, "Cookie", Text::literal(format!("{field}=")).then(value)),
                    _ => set(call, field, value),
                }
            }
            ("basic", _) | ("http", "basic") => {
                let user = plan.constant("username", "USERNAME", Text::literal("user"));
                let password = secret(plan, "PASSWORD", place);
                let pair = user.then(Text::literal(":")).then(password).js();
                set(
                    call,
                    "Authorization",
                    Text::literal("Basic ").then(Text::constant(format!("encoding.b64encode({pair})"))),
                );
            }
            ("http", "bearer") | ("oauth2" | "openidconnect", _) => {
                let token = secret(plan, "ACCESS_TOKEN", place);
                set(call, "Authorization", Text::literal("Bearer ").then(token));
            }
            _ => document.add_note(format!(
                "security scheme {} was not converted; set it in the script",
                js::label(name)
            )),
        }
    }
}

fn set(call: &mut Call, name: &str, value: Text) {
    if !call.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
        call.headers.push((name.to_owned(), value));
    }
}

/// The variable of a scheme: the same one for the same place.
fn secret(plan: &mut Plan, wish: &str, place: String) -> Text {
    match plan.secrets.iter().find(|secret| secret.place == place) {
        Some(secret) => Text::constant(format!("__ENV.{}", secret.variable)),
        None => plan.secret(wish, place),
    }
}
