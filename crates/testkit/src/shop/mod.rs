//! The demo's target: a small shop whose bottleneck is planted and computable.
//!
//! Product lists and checkouts each hold one of a few slots (think of database connections) for a fixed time on a
//! timer. Everything else is as good as free, so the shop saturates at slots / hold with its CPU idle.

mod pages;
pub mod pool;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::SystemClock;

use crate::connection::Service;
use crate::reply::Reply;
use crate::request::Request;
use crate::seen::Seen;
use crate::server::{Listen, Server, StartError};
use crate::timer::Timer;
use pool::{Pool, PoolConfig, PoolState};

/// How the shop is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShopConfig {
    /// Slots in the pool.
    pub slots: usize,
    /// How long a product list or a checkout holds a slot.
    pub hold: Duration,
    /// Requests that may wait for a slot; one more is answered 503.
    pub queue_limit: usize,
    /// Where it listens.
    pub listen: Listen,
}

impl Default for ShopConfig {
    /// 8 slots held for 20 ms each: 400 queries a second, with a queue for one second's worth of them.
    fn default() -> ShopConfig {
        ShopConfig { slots: 8, hold: Duration::from_millis(20), queue_limit: 400, listen: Listen::default() }
    }
}

impl ShopConfig {
    /// Queries (product lists and checkouts together) per second that the shop completes at most.
    pub fn capacity_per_second(&self) -> f64 {
        self.pool().capacity_per_second()
    }

    fn pool(&self) -> PoolConfig {
        PoolConfig { slots: self.slots.max(1), hold: self.hold, queue_limit: self.queue_limit }
    }
}

/// A running shop.
#[derive(Debug)]
pub struct Shop {
    server: Server,
    config: ShopConfig,
    shelves: Arc<Shelves>,
}

impl Shop {
    /// Opens the shop.
    pub fn start(config: ShopConfig) -> Result<Shop, StartError> {
        Shop::open(config, |service| Server::start(service, config.listen))
    }

    /// Opens the shop for HTTP/1.1 in the clear alone ([`Server::start_plain`]), on the port of `config.listen`.
    pub fn start_plain(config: ShopConfig) -> Result<Shop, StartError> {
        Shop::open(config, |service| Server::start_plain(service, config.listen.port))
    }

    fn open(
        config: ShopConfig,
        start: impl FnOnce(ShopService) -> Result<Server, StartError>,
    ) -> Result<Shop, StartError> {
        let shelves = Arc::new(Shelves {
            config: config.pool(),
            pool: Mutex::new(Pool::new(config.pool())),
            orders: AtomicU64::new(0),
        });
        let timer = Timer::start().map_err(StartError::Thread)?;
        let service = ShopService { shelves: Arc::clone(&shelves), timer };
        Ok(Shop { server: start(service)?, config, shelves })
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        self.server.url(path)
    }

    /// The server beneath.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Requests and responses so far.
    pub fn seen(&self) -> Seen {
        self.server.seen()
    }

    /// Counters and state of the pool.
    pub fn pool(&self) -> PoolState {
        self.shelves.pool_state()
    }

    /// Watches the pool until the channel closes, and returns the maximum number of queries per second completed over one interval.
    pub fn busiest_per_s(&self, interval: Duration, is_over: Receiver<()>) -> f64 {
        let (mut before, mut completed) = (SystemClock::now(), self.pool().completed);
        let mut busiest: f64 = 0.0;
        while is_over.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            let (now, now_completed) = (SystemClock::now(), self.pool().completed);
            let per_s = (now_completed - completed) as f64 / now.since(before).as_secs_f64();
            busiest = busiest.max(per_s);
            (before, completed) = (now, now_completed);
        }
        busiest
    }

    /// Queries (product lists and checkouts together) per second that the shop completes at most.
    pub fn capacity_per_second(&self) -> f64 {
        self.config.capacity_per_second()
    }
}

/// State shared by all connections.
#[derive(Debug)]
struct Shelves {
    config: PoolConfig,
    pool: Mutex<Pool>,
    orders: AtomicU64,
}

impl Shelves {
    fn pool_state(&self) -> PoolState {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        // Asked under the lock, so that the pool's time never goes backwards.
        pool.state(SystemClock::now())
    }
}

#[derive(Debug)]
struct ShopService {
    shelves: Arc<Shelves>,
    timer: Timer,
}

impl ShopService {
    /// Holds a slot for its time; false when the queue is full.
    async fn query(&self) -> bool {
        let reserved = {
            let mut pool = self.shelves.pool.lock().unwrap_or_else(PoisonError::into_inner);
            pool.reserve(SystemClock::now())
        };
        match reserved {
            Some(reservation) => {
                self.timer.sleep_until(reservation.finish).await;
                true
            }
            None => false,
        }
    }
}

impl Service for ShopService {
    async fn answer(&self, request: &Request) -> Reply {
        let queries = matches!((request.method(), request.path()), ("GET", "/products"));
        if queries && !self.query().await {
            return pages::busy();
        }
        match (request.method(), request.path()) {
            ("GET" | "HEAD", "/") => pages::home(),
            ("GET", "/products") => pages::products(request),
            ("POST", "/cart") => pages::add_to_cart(request),
            ("POST", "/checkout") => match pages::cart(request) {
                // An empty cart is refused before the database is asked.
                cart if cart.is_empty() => pages::empty_cart(),
                _ if !self.query().await => pages::busy(),
                cart => pages::receipt(&cart, self.shelves.orders.fetch_add(1, Ordering::Relaxed) + 1),
            },
            ("GET", "/metrics") => pages::metrics(self.shelves.config, self.shelves.pool_state()),
            ("GET", path) => pages::product(path),
            _ => Reply::text(405, "no such counter\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Instant;
    use serde_json::json;

    use super::*;
    use crate::client::{Client, get};

    fn shop(config: ShopConfig) -> Shop {
        Shop::start(config).expect("open the shop")
    }

    #[test]
    fn a_customer_buys() {
        let shop = shop(ShopConfig { hold: Duration::from_millis(1), ..ShopConfig::default() });
        let mut client = Client::new(shop.server());
        assert!(client.get("/").text().contains("<h1>"));
        let list = client.get("/products?category=rope").json();
        assert_eq!(list["category"], "rope");
        let id = list["products"][0]["id"].as_u64().expect("an id");
        let product = client.get(&format!("/product/{id}")).json();
        assert_eq!((product["id"].as_u64(), product["category"].as_str()), (Some(id), Some("rope")));
        assert_eq!(client.get("/product/100000").status, 404);

        let body = format!("product={id}&quantity=2");
        let added = client.request(&format!(
            "POST /cart HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        assert_eq!(added.status, 201);
        let cookie =
            added.header("set-cookie").and_then(|text| text.split(';').next()).expect("a cart").to_owned();
        let receipt = client.request(&format!("POST /checkout HTTP/1.1\r\nCookie: {cookie}\r\n\r\n"));
        assert_eq!((receipt.status, &receipt.json()["items"]), (201, &json!(2)));
        assert_eq!(client.request("POST /checkout HTTP/1.1\r\n\r\n").status, 409);
        assert_eq!(shop.pool().completed, 2);
    }

    #[test]
    fn carts_take_json_and_refuse_nonsense() {
        let shop = shop(ShopConfig::default());
        for (body, expect) in [
            ("{\"product\": 3}", 201),
            ("{\"product\": 100000}", 400),
            ("{}", 400),
            ("{\"product\":1,\"quantity\":1000}", 409),
        ] {
            let request = format!(
                "POST /cart HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            assert_eq!(Client::new(shop.server()).request(&request).status, expect, "{body}");
        }
    }

    #[test]
    fn a_full_queue_answers_503() {
        let shop = shop(ShopConfig {
            slots: 1,
            hold: Duration::from_millis(300),
            queue_limit: 1,
            ..Default::default()
        });
        let mut clients: Vec<Client> = (0..3).map(|_| Client::new(shop.server())).collect();
        for client in &mut clients {
            client.write("GET /products HTTP/1.1\r\n\r\n");
            // Lets the requests arrive in this order.
            std::thread::sleep(Duration::from_millis(20));
        }
        let statuses: Vec<u16> = clients.iter_mut().map(|client| client.response().status).collect();
        assert_eq!(statuses, [200, 200, 503]);
        assert_eq!(
            shop.pool(),
            PoolState { completed: 2, refused: 1, waited_ns: shop.pool().waited_ns, ..Default::default() }
        );
    }

    #[test]
    fn metrics_tell_the_pool() {
        let shop = shop(ShopConfig { slots: 3, hold: Duration::from_millis(10), ..ShopConfig::default() });
        get(shop.server(), "/products");
        let metrics = get(shop.server(), "/metrics");
        for line in [
            "shop_pool_slots 3",
            "shop_pool_in_use 0",
            "shop_pool_waiting 0",
            "shop_pool_completed_total 1",
            "shop_pool_hold_seconds_total 0.01",
            "db_client_connection_max 3",
            "db_client_connection_used 0",
            "db_client_connection_pending_requests 0",
        ] {
            assert!(metrics.text().lines().any(|got| got == line), "{line}\n{}", metrics.text());
        }
    }

    /// Saturated by twice as many clients as slots, the shop completes slots / hold within 3 %.
    #[test]
    fn throughput_saturates_at_the_computed_capacity() {
        let config = ShopConfig { slots: 4, hold: Duration::from_millis(10), ..ShopConfig::default() };
        let shop = shop(config);
        let time = Duration::from_secs(1);
        let start = SystemClock::now();
        let buy = |client: &mut Client| -> Vec<Instant> {
            let mut answered = Vec::new();
            while SystemClock::now().since(start) < time {
                assert_eq!(client.get("/products").status, 200);
                answered.push(SystemClock::now());
            }
            answered
        };
        let answered: usize = std::thread::scope(|scope| {
            let shop = &shop;
            let buyers: Vec<_> = (0..3 * config.slots)
                .map(|_| scope.spawn(move || buy(&mut Client::new(shop.server()))))
                .collect();
            let within = |at: &&Instant| at.since(start) < time;
            buyers.into_iter().map(|buyer| buyer.join().expect("a buyer").iter().filter(within).count()).sum()
        });
        let ratio = answered as f64 / time.as_secs_f64() / shop.capacity_per_second();
        assert!((0.97..=1.001).contains(&ratio), "{answered} answers in {time:?}: {ratio}");
    }
}
