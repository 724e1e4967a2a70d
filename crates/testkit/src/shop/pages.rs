//! Pages of the shop. Carts live in a cookie, so that the shop stores no visitors and needs no limit but the
//! cart's own.

use std::fmt::Write;

use serde_json::{Value, json};

use super::pool::{PoolConfig, PoolState};
use crate::reply::Reply;
use crate::request::{Request, form_pairs};

const CATEGORIES: [&str; 4] = ["rope", "sail", "anchor", "paint"];

/// Products there are; ids count from 1.
const PRODUCTS: u64 = 200;

/// Products on one page of a list.
const PAGE_PRODUCTS: usize = 20;

/// Items a cart holds.
const MAX_CART_ITEMS: u64 = 100;

/// The cookie with the cart: product and quantity of each line, as in `12x2.40x1`.
const CART_COOKIE: &str = "cart";

/// One line of a cart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    product: u64,
    quantity: u64,
}

pub(super) fn home() -> Reply {
    let links: String = CATEGORIES
        .iter()
        .map(|name| format!("<li><a href=\"/products?category={name}\">{name}</a></li>"))
        .collect();
    let page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><title>The chandlery</title></head>\
         <body><h1>The chandlery</h1><ul>{links}</ul></body></html>\n"
    );
    Reply::new(200, &[("content-type", "text/html; charset=utf-8")], page.as_bytes())
}

/// `/products?category=…`: a page of a category, or of everything.
pub(super) fn products(request: &Request) -> Reply {
    let category = request.query_value("category");
    let wanted = |id: &u64| category.as_deref().is_none_or(|name| name == category_of(*id));
    let products: Vec<Value> = (1..=PRODUCTS).filter(wanted).take(PAGE_PRODUCTS).map(describe).collect();
    Reply::json(200, &json!({"category": category, "products": products}))
}

/// `/product/ID`.
pub(super) fn product(path: &str) -> Reply {
    match path.strip_prefix("/product/").and_then(|id| id.parse().ok()) {
        Some(id @ 1..=PRODUCTS) => Reply::json(200, &describe(id)),
        _ => Reply::json(404, &json!({"error": "no such product"})),
    }
}

/// `POST /cart` with `product` and `quantity` (1 by default), as a form or as JSON.
pub(super) fn add_to_cart(request: &Request) -> Reply {
    let Some(line) = wanted_line(request) else {
        return Reply::json(400, &json!({"error": "product must name a product, quantity a number"}));
    };
    let mut cart = cart(request);
    match cart.iter_mut().find(|had| had.product == line.product) {
        Some(had) => had.quantity = had.quantity.saturating_add(line.quantity),
        None => cart.push(line),
    }
    let items = items(&cart);
    if items > MAX_CART_ITEMS {
        return Reply::json(409, &json!({"error": "the cart is full"}));
    }
    let lines: Vec<String> = cart.iter().map(|line| format!("{}x{}", line.product, line.quantity)).collect();
    let cookie = format!("{CART_COOKIE}={}; Path=/; HttpOnly", lines.join("."));
    let headers = [("content-type", "application/json"), ("set-cookie", cookie.as_str())];
    Reply::new(201, &headers, json!({"items": items}).to_string().as_bytes())
}

/// The lines of the request's cart; those that are none are left out.
pub(super) fn cart(request: &Request) -> Vec<Line> {
    let cookies = request.cookies();
    let text = cookies.iter().find(|(name, _)| name == CART_COOKIE).map_or("", |(_, value)| value);
    let line = |text: &str| {
        let (product, quantity) = text.split_once('x')?;
        line(product.parse().ok()?, quantity.parse().ok()?)
    };
    text.split('.').filter_map(line).take(MAX_CART_ITEMS as usize).collect()
}

pub(super) fn receipt(cart: &[Line], order: u64) -> Reply {
    let total_cents: u64 = cart.iter().map(|line| line.quantity * price_cents(line.product)).sum();
    let cookie = format!("{CART_COOKIE}=; Path=/; Max-Age=0");
    let headers = [("content-type", "application/json"), ("set-cookie", cookie.as_str())];
    let receipt = json!({"order": order, "items": items(cart), "total_cents": total_cents});
    Reply::new(201, &headers, receipt.to_string().as_bytes())
}

pub(super) fn empty_cart() -> Reply {
    Reply::json(409, &json!({"error": "the cart is empty"}))
}

pub(super) fn busy() -> Reply {
    let headers = [("content-type", "application/json"), ("retry-after", "1")];
    Reply::new(503, &headers, json!({"error": "too many are waiting"}).to_string().as_bytes())
}

/// The pool in Prometheus' text format, version 0.0.4.
pub(super) fn metrics(config: PoolConfig, state: PoolState) -> Reply {
    // Multiplied before it is divided, so that the sum has no more digits than it needs.
    let held_seconds = (u128::from(state.completed) * config.hold.as_nanos()) as f64 / 1e9;
    let rows = [
        ("slots", "gauge", "Slots in the pool.", config.slots as f64),
        ("queue_limit", "gauge", "Requests that may wait for a slot.", config.queue_limit as f64),
        ("in_use", "gauge", "Slots that are held.", state.in_use as f64),
        ("waiting", "gauge", "Requests that wait for a slot.", state.waiting as f64),
        ("completed_total", "counter", "Queries that are done.", state.completed as f64),
        ("refused_total", "counter", "Requests that found the queue full.", state.refused as f64),
        ("hold_seconds_total", "counter", "Time slots were held by queries that are done.", held_seconds),
        (
            "wait_seconds_total",
            "counter",
            "Time started queries waited for a slot.",
            state.waited_ns as f64 / 1e9,
        ),
    ];
    // The slots stand for connections to a database, by the names that such pools have.
    let of_connections = [
        ("max", "gauge", "Connections that may be open.", config.slots as f64),
        ("used", "gauge", "Connections in use.", state.in_use as f64),
        ("pending_requests", "gauge", "Requests that wait for a connection.", state.waiting as f64),
    ];
    let mut text = String::new();
    let rows = rows.map(|row| ("shop_pool", row)).into_iter();
    for (of, (name, kind, help, value)) in rows.chain(of_connections.map(|row| ("db_client_connection", row)))
    {
        let _ = write!(text, "# HELP {of}_{name} {help}\n# TYPE {of}_{name} {kind}\n{of}_{name} {value}\n");
    }
    Reply::new(200, &[("content-type", "text/plain; version=0.0.4; charset=utf-8")], text.as_bytes())
}

fn wanted_line(request: &Request) -> Option<Line> {
    let body = String::from_utf8_lossy(&request.body);
    if request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        let body: Value = serde_json::from_str(&body).ok()?;
        let quantity = body.get("quantity").map_or(Some(1), Value::as_u64)?;
        return line(body.get("product")?.as_u64()?, quantity);
    }
    let pairs = form_pairs(&body);
    let field = |name: &str| pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    line(field("product")?.parse().ok()?, field("quantity").unwrap_or("1").parse().ok()?)
}

fn line(product: u64, quantity: u64) -> Option<Line> {
    // Cookies come from clients; the bound keeps sums far from overflow.
    let fits = (1..=PRODUCTS).contains(&product) && (1..=u64::from(u32::MAX)).contains(&quantity);
    fits.then_some(Line { product, quantity })
}

fn items(cart: &[Line]) -> u64 {
    cart.iter().map(|line| line.quantity).sum()
}

fn describe(id: u64) -> Value {
    let category = category_of(id);
    json!({"id": id, "name": format!("{category} no. {id}"), "category": category, "price_cents": price_cents(id)})
}

fn category_of(id: u64) -> &'static str {
    CATEGORIES[(id as usize - 1) % CATEGORIES.len()]
}

fn price_cents(id: u64) -> u64 {
    500 + id * 37 % 2000
}
