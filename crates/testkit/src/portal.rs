//! A site with sessions: every form, page and sign-in gets a fresh token, and a token that was not issued to the session is refused.
//!
//! A client that repeats recorded requests fails here, and one that takes tokens from responses does not. The way through it:
//! `GET /`, `GET /sign-in` (a form with a token), `POST /sign-in` (a redirect to `/account`, a cookie), `GET /account` (a page with a token
//! in its head), `POST /api/token` (an access token), `GET /api/products`, `POST /api/orders` (an order with a new id and a new reference),
//! `GET /api/orders/ID`, `GET /receipts/REFERENCE`.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::connection::Service;
use crate::reply::Reply;
use crate::request::{Request, form_pairs};
use crate::server::{Listen, Server, StartError};

/// The password of every visitor.
pub const PASSWORD: &str = "hunter2-hunter2";

/// Tokens that are remembered; the oldest is forgotten.
const TOKENS_MAX: usize = 10_000;

const STYLE: &str = "body { font-family: sans-serif }\n";

/// The script of the account's page: it asks for a token and for products.
const ACCOUNT_SCRIPT: &str = "\
const csrf = document.querySelector('meta[name=csrf-token]').content;
let token;
async function begin() {
  const answer = await fetch('/api/token', { method: 'POST', headers: { 'X-CSRF-Token': csrf } });
  token = (await answer.json()).access_token;
  const products = await fetch('/api/products', { headers: { Authorization: `Bearer ${token}` } });
  window.products = (await products.json()).products;
  document.body.dataset.ready = 'yes';
}
async function order() {
  const answer = await fetch('/api/orders', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'X-CSRF-Token': csrf },
    body: JSON.stringify({ product: window.products[2].id, quantity: 1, note: `for ${document.body.dataset.name}` }),
  });
  const order = await answer.json();
  await fetch(`/api/orders/${order.id}`, { headers: { Authorization: `Bearer ${token}` } });
  window.location = `/receipts/${order.reference}`;
}
begin();
";

/// Starts the site.
///
/// # Errors
/// The port cannot be had.
pub fn start(listen: Listen) -> Result<Server, StartError> {
    Server::start(Portal::default(), listen)
}

#[derive(Default)]
struct Portal {
    issued: AtomicU64,
    tokens: Mutex<Tokens>,
}

/// Tokens with what they are for.
#[derive(Default)]
struct Tokens {
    uses: HashMap<String, String>,
    order: VecDeque<String>,
}

impl Service for Portal {
    async fn answer(&self, request: &Request) -> Reply {
        let path = request.path().to_owned();
        match (request.method(), path.as_str()) {
            ("GET", "/") => page("The portal", "<p><a href=\"/sign-in\">Sign in</a></p>", ""),
            ("GET", "/style.css") => Reply::new(200, &[("content-type", "text/css")], STYLE.as_bytes()),
            ("GET", "/account.js") => {
                Reply::new(200, &[("content-type", "text/javascript")], ACCOUNT_SCRIPT.as_bytes())
            }
            ("GET", "/pixel.gif") => Reply::new(200, &[("content-type", "image/gif")], b"GIF89a"),
            ("GET", "/count") => Reply::json(200, &json!({"counted": true})),
            ("GET", "/sign-in") => self.form(),
            ("POST", "/sign-in") => self.sign_in(request),
            ("GET", "/account") => self.account(request),
            ("POST", "/api/token") => self.access_token(request),
            ("GET", "/api/products") => self.products(request),
            ("POST", "/api/orders") => self.order(request),
            ("GET", path) if path.starts_with("/api/orders/") => {
                self.shown(request, "order", &path["/api/orders/".len()..])
            }
            ("GET", path) if path.starts_with("/receipts/") => {
                self.receipt(request, &path["/receipts/".len()..])
            }
            _ => Reply::json(404, &json!({"error": "no such page"})),
        }
    }
}

impl Portal {
    /// A token that nothing else has; `use_of` is what it is good for.
    fn issue(&self, use_of: &str) -> String {
        let number = self.issued.fetch_add(1, Ordering::Relaxed) + 1;
        // Odd multipliers permute the numbers, so that no two tokens are alike.
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995_0000_0000;
        let token = format!("{mixed:016x}{:08x}", number.wrapping_mul(0x85eb_ca6b) & 0xffff_ffff);
        self.remember(&token, use_of);
        token
    }

    fn remember(&self, token: &str, use_of: &str) {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.uses.insert(token.to_owned(), use_of.to_owned());
        tokens.order.push_back(token.to_owned());
        if tokens.order.len() > TOKENS_MAX
            && let Some(oldest) = tokens.order.pop_front()
        {
            tokens.uses.remove(&oldest);
        }
    }

    /// Whether a token was issued for this.
    fn is_good(&self, token: &str, use_of: &str) -> bool {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.uses.get(token).is_some_and(|known| known == use_of)
    }

    fn form(&self) -> Reply {
        let token = self.issue("form");
        let form = format!(
            "<form method=\"post\" action=\"/sign-in\"><input type=\"hidden\" name=\"form_token\" value=\"{token}\">\
             <input name=\"username\"><input name=\"password\" type=\"password\"><button>Sign in</button></form>"
        );
        page("Sign in", &form, "")
    }

    fn sign_in(&self, request: &Request) -> Reply {
        let pairs = form_pairs(&String::from_utf8_lossy(&request.body));
        let field = |name: &str| pairs.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value);
        if !self.is_good(field("form_token"), "form")
            || field("password") != PASSWORD
            || field("username").is_empty()
        {
            return Reply::json(403, &json!({"error": "stale form or wrong password"}));
        }
        let session = self.issue("session");
        let cookie = format!("session={session}; Path=/; HttpOnly");
        Reply::new(302, &[("location", "/account"), ("set-cookie", &cookie)], b"")
    }

    fn account(&self, request: &Request) -> Reply {
        let Some(session) = self.session(request) else { return refused() };
        let token = self.issue(&format!("csrf {session}"));
        let head = format!("<meta name=\"csrf-token\" content=\"{token}\">");
        // The pixel and the counter are another site's: another host.
        let port = request
            .header("host")
            .and_then(|host| host.rsplit_once(':').map(|(_, port)| port.to_owned()))
            .unwrap_or_default();
        let body = format!(
            "<p>Your account</p><button onclick=\"order()\">Order</button><img src=\"http://localhost:{port}/pixel.gif\">\
             <script src=\"/account.js\"></script><script>fetch('http://localhost:{port}/count', {{ mode: 'no-cors' }})</script>"
        );
        page("Account", &body, &head)
    }

    fn access_token(&self, request: &Request) -> Reply {
        let Some(session) = self.session(request).filter(|session| self.has_csrf(request, session)) else {
            return refused();
        };
        let token = self.issue(&format!("access {session}"));
        Reply::json(200, &json!({"token_type": "Bearer", "access_token": token}))
    }

    fn products(&self, request: &Request) -> Reply {
        if self.bearer(request).is_none() {
            return refused();
        }
        let products: Vec<Value> =
            (40..50).map(|id| json!({"id": id, "name": format!("Rope no. {id}")})).collect();
        Reply::json(200, &json!({"products": products}))
    }

    fn order(&self, request: &Request) -> Reply {
        let Some(session) = self.bearer(request).filter(|session| self.has_csrf(request, session)) else {
            return refused();
        };
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        if !body["product"].as_u64().is_some_and(|id| (40..50).contains(&id)) {
            return Reply::json(400, &json!({"error": "no such product"}));
        }
        let reference = self.issue(&format!("receipt {session}"));
        let id = 700 + self.issued.fetch_add(1, Ordering::Relaxed);
        self.remember(&format!("order-{id}"), &format!("order {session}"));
        Reply::json(201, &json!({"id": id, "reference": reference, "status": "accepted"}))
    }

    fn shown(&self, request: &Request, kind: &str, id: &str) -> Reply {
        let session = self
            .bearer(request)
            .filter(|session| self.is_good(&format!("order-{id}"), &format!("{kind} {session}")));
        match session {
            Some(_) => Reply::json(200, &json!({"id": id.parse().unwrap_or(0), "status": "packed"})),
            None => refused(),
        }
    }

    fn receipt(&self, request: &Request, reference: &str) -> Reply {
        let session =
            self.session(request).filter(|session| self.is_good(reference, &format!("receipt {session}")));
        if session.is_none() {
            return refused();
        }
        page("Receipt", "<p>Thank you</p>", "")
    }

    fn session(&self, request: &Request) -> Option<String> {
        let cookies = request.cookies();
        let (_, session) = cookies.into_iter().find(|(name, _)| name == "session")?;
        self.is_good(&session, "session").then_some(session)
    }

    fn has_csrf(&self, request: &Request, session: &str) -> bool {
        request.header("x-csrf-token").is_some_and(|token| self.is_good(&token, &format!("csrf {session}")))
    }

    /// The session whose access token the request has.
    fn bearer(&self, request: &Request) -> Option<String> {
        let session = self.session(request)?;
        let value = request.header("authorization")?;
        let token = value.strip_prefix("Bearer ")?;
        self.is_good(token, &format!("access {session}")).then_some(session)
    }
}

fn refused() -> Reply {
    Reply::json(403, &json!({"error": "stale or missing token"}))
}

fn page(title: &str, body: &str, head: &str) -> Reply {
    let mut page = String::new();
    let _ = writeln!(
        page,
        "<!DOCTYPE html><html lang=\"en\"><head><title>{title}</title><link rel=\"stylesheet\" href=\"/style.css\">{head}</head>\
         <body data-name=\"anna\"><h1>{title}</h1>{body}</body></html>"
    );
    Reply::new(200, &[("content-type", "text/html; charset=utf-8")], page.as_bytes())
}
