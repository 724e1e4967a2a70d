//! Authorization as collections, folders and requests have it.

use super::Reader;
use crate::js;
use crate::plan::Call;
use crate::text::Text;
use crate::tree::Tree;
use crate::url;

impl Reader<'_> {
    pub(super) fn auth(&mut self, auth: &Tree, call: &mut Call) {
        let Some(kind) = auth.get("type").text() else { return };
        let settings = auth.get(kind);
        match kind {
            "noauth" | "none" => {}
            "bearer" => {
                let token = self.setting(settings, "token");
                let token = if token.is_empty() { self.missing("ACCESS_TOKEN") } else { token };
                set(call, "Authorization", Text::literal("Bearer ").then(token));
            }
            "oauth2" => {
                let token = self.setting(settings, "accessToken");
                let token = if token.is_empty() { self.missing("ACCESS_TOKEN") } else { token };
                match setting(settings, "addTokenTo").as_deref() {
                    Some("queryParams") => call.url.query.push((Text::literal("access_token"), Some(token))),
                    _ => set(call, "Authorization", Text::literal("Bearer ").then(token)),
                }
            }
            "basic" => self.basic(settings, call),
            "apikey" => {
                let key = setting(settings, "key").unwrap_or_else(|| "X-API-Key".to_owned());
                let value = self.setting(settings, "value");
                let value = match value.as_literal() {
                    None => value,
                    Some("") => self.missing("API_KEY"),
                    // Whatever its name, it is a key.
                    Some(literal) => {
                        self.secret("API_KEY", literal, &format!("authorization of {}", call.name))
                    }
                };
                match setting(settings, "in").as_deref() {
                    Some("query") => call.url.query.push((Text::literal(url::encode(&key)), Some(value))),
                    _ => set(call, &key, value),
                }
            }
            other => self.plan.notes.add(format!(
                "authorization of type {} was not converted; set it in the script",
                js::label(other)
            )),
        }
    }

    fn basic(&mut self, settings: &Tree, call: &mut Call) {
        let name = self.setting(settings, "username");
        let password = self.setting(settings, "password");
        let password = match password.as_literal() {
            None | Some("") => password,
            Some(literal) => self.secret("PASSWORD", literal, &format!("password of {}", call.name)),
        };
        let pair = name.then(Text::literal(":")).then(password);
        let code = format!("encoding.b64encode({})", pair.js());
        let code = if pair.is_variable() { Text::code(code) } else { Text::constant(code) };
        set(call, "Authorization", Text::literal("Basic ").then(code));
    }

    fn setting(&mut self, settings: &Tree, name: &str) -> Text {
        let value = setting(settings, name).unwrap_or_default();
        self.text(&value)
    }

    /// A secret that the collection does not have.
    fn missing(&mut self, variable: &str) -> Text {
        self.secret(variable, "", "authorization without a value in the collection")
    }

    /// The variable of a secret: the same one for the same place and value.
    fn secret(&mut self, wish: &str, value: &str, place: &str) -> Text {
        let known = self.keys.iter().find(|(known, variable, _)| known == value && variable == wish);
        if let Some((_, _, text)) = known {
            return text.clone();
        }
        let text = self.plan.secret(wish, place.to_owned());
        self.keys.push((value.to_owned(), wish.to_owned(), text.clone()));
        text
    }
}

/// A setting: version 2.1 has a list of them, 2.0 an object.
fn setting(settings: &Tree, name: &str) -> Option<String> {
    match settings {
        Tree::List(items) => {
            items.iter().find(|item| item.get("key").text() == Some(name))?.get("value").scalar()
        }
        settings => settings.get(name).scalar(),
    }
}

fn set(call: &mut Call, name: &str, value: Text) {
    if !call.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
        call.headers.push((name.to_owned(), value));
    }
}
