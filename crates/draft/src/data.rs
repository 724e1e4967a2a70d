//! Rows for values that differ between users: login names, and terms that were searched for.

use crate::correlate::Exchange;
use crate::plan::{Body, Call, Data, Node, Plan};
use crate::secrets::is_password;
use crate::text::Text;
use crate::{Settings, url};

/// Names of fields that hold a login name, without separators, in lowercase.
const LOGIN_NAMES: &[&str] = &[
    "username",
    "user",
    "login",
    "email",
    "mail",
    "userid",
    "loginid",
    "account",
    "identifier",
    "emailaddress",
    "useremail",
    "phone",
    "loginname",
    "accountname",
    "sessionusernameoremail",
];

/// Names of fields that hold a search term.
const SEARCH_NAMES: &[&str] = &["q", "query", "search", "term", "keyword", "keywords", "searchterm", "s"];

/// Rows of a file.
const ROWS_MAX: usize = 1_000;

/// Moves login names and search terms into files. Returns the statements that choose a row.
pub(crate) fn logins(exchanges: &mut [Exchange], plan: &mut Plan, settings: &Settings) -> Vec<String> {
    let mut lines = Vec::new();
    let names = login_names(exchanges);
    if let Some((field, _)) = names.first().cloned() {
        let column = crate::js::camel_case(&field, "username");
        let (rows, row) = (plan.free_name("users"), plan.free_name("user"));
        for exchange in exchanges.iter_mut() {
            each_field(&mut exchange.call, &mut |_, text| {
                let is_name =
                    text.as_literal().is_some_and(|value| names.iter().any(|(_, name)| name == value));
                if is_name {
                    *text = Text::code(format!("{row}.{column}"));
                }
            });
        }
        lines.push(format!("const {row} = {rows}[(exec.vu.idInTest - 1) % {rows}.length];"));
        let of_row = |(_, name): &(String, String)| vec![(column.clone(), name.clone())];
        plan.data.push(Data {
            rows: names.iter().take(ROWS_MAX).map(of_row).collect(),
            file: format!("{}.users.json", settings.stem),
            name: rows,
            row,
            table: None,
        });
    }
    searches(exchanges, plan, settings);
    lines
}

/// Login names: fields beside a password, each with its value.
fn login_names(exchanges: &mut [Exchange]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for exchange in exchanges {
        let mut fields: Vec<(String, String)> = Vec::new();
        each_field(&mut exchange.call, &mut |name, text| {
            if let Some(value) = text.as_literal() {
                fields.push((name.to_owned(), value.to_owned()));
            }
        });
        if !fields.iter().any(|(name, value)| is_password(name) && !value.is_empty()) {
            continue;
        }
        let is_login = |(name, value): &(String, String)| {
            !value.is_empty() && LOGIN_NAMES.contains(&plain(name).as_str())
        };
        if let Some(login) = fields.into_iter().find(is_login)
            && !found.iter().any(|(_, name)| *name == login.1)
        {
            found.push(login);
        }
    }
    found
}

/// Moves search terms into a file if the recording has several.
fn searches(exchanges: &mut [Exchange], plan: &mut Plan, settings: &Settings) {
    let mut terms: Vec<String> = Vec::new();
    let is_search = |name: &str| SEARCH_NAMES.contains(&plain(name).as_str());
    let mut visit = |act: &mut dyn FnMut(&mut Text)| {
        for exchange in exchanges.iter_mut() {
            for (name, value) in &mut exchange.call.url.query {
                if let (Some(name), Some(value)) = (name.as_literal(), value.as_mut())
                    && is_search(name)
                {
                    act(value);
                }
            }
        }
    };
    visit(&mut |value| {
        let term = value.as_literal().map(|value| url::decode(value, true)).unwrap_or_default();
        if !term.trim().is_empty() && terms.len() < ROWS_MAX && !terms.contains(&term) {
            terms.push(term);
        }
    });
    if terms.len() < 2 {
        return;
    }
    let name = plan.free_name("searches");
    let code = format!("encodeURIComponent(pick({name}).term)");
    visit(&mut |value| {
        if value.as_literal().is_some_and(|value| !value.is_empty()) {
            *value = Text::code(code.clone());
        }
    });
    let rows = terms.into_iter().map(|term| vec![("term".to_owned(), term)]).collect();
    let file = format!("{}.searches.json", settings.stem);
    plan.data.push(Data { name, row: String::new(), file, rows, table: None });
}

fn plain(name: &str) -> String {
    // `user[email]` is the email.
    let last = name.trim_end_matches(']').rsplit('[').next().unwrap_or(name);
    last.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Calls `act` for every field of a body.
fn each_field(call: &mut Call, act: &mut dyn FnMut(&str, &mut Text)) {
    match &mut call.body {
        Body::Form(fields) => {
            for (name, value) in fields {
                act(name.as_literal().unwrap_or_default(), value);
            }
        }
        Body::Multipart(parts) => parts.iter_mut().for_each(|part| act(&part.name.clone(), &mut part.value)),
        Body::Json(node) => node.each_leaf("", &mut |name, leaf| {
            if let Node::Text(text) = leaf {
                act(name, text);
            }
        }),
        Body::None | Body::Text(_) | Body::File(_) => {}
    }
}
