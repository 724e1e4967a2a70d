//! The service: one thread that answers, and what runs beside the requests.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use lab::Assignment;
use labkit::{Attribute, Control, Log, Metrics, SpanKind, Timed, Trace, Tracer};
use model::{Instant, SystemClock};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_postgres::{Client, Error};

use crate::cache::Cache;
use crate::database::{self, Pool};
use crate::queries::{self, Sort};
use crate::store::{Store, Switches, Variant};
use crate::{data, faults, metrics};

/// Pages of a list that can be asked for.
const PAGE_MAX: i64 = 1000;

/// Layers that parse an answer that is too long, and write it again.
const CHATTY_LAYERS: usize = 3;

/// How often the database's statistics are read.
const SAMPLE_PERIOD: Duration = Duration::from_millis(100);

/// A sample: sessions that wait for a lock, and rows of visits read in sequence so far.
const SAMPLE: &str = "select (select count(*) from pg_stat_activity where wait_event_type = 'Lock')::float8, \
                      (select seq_tup_read from pg_stat_user_tables where relname = 'visit')::float8";

/// Serves the app store until the process is ended.
pub(crate) fn serve(assignment: &Assignment) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| format!("start: {error}"))?.block_on(run(assignment))
}

async fn run(assignment: &Assignment) -> Result<(), String> {
    let variant =
        Variant::from_name(&assignment.variant).ok_or_else(|| format!("be {:?}", assignment.variant))?;
    let url = assignment.server("postgres")?;
    let metrics = Arc::new(Metrics::new(metrics::ALL));
    let listen = |error: std::io::Error| format!("listen: {error}");
    let (control, orders) = Control::open(assignment.control_port, metrics.clone()).map_err(listen)?;
    let failed = |error: Error| format!("use the database: {error}");
    // The database counts a connection's reads when it closes, those of building indexes too, which are none of a request.
    let maker = database::connect(url).await.map_err(failed)?;
    data::make(&maker, variant).await.map_err(failed)?;
    drop(maker);
    let client = database::connect(url).await.map_err(failed)?;
    let store = Arc::new(Store {
        variant,
        pool: Pool::new(url, variant.round_trip(), metrics.clone()),
        cache: Cache::default(),
        switches: Switches::default(),
        tracer: Tracer::new(assignment.otlp.as_deref(), "appstore", metrics.clone()),
        log: Log::create(&assignment.log).map_err(|error| format!("write the log: {error}"))?,
        metrics,
    });
    let rows = client.query(queries::CATEGORIES, &[]).await.map_err(failed)?;
    store.cache.replace(&rows);
    let every = Duration::from_secs(assignment.refresh_s.max(1));
    tokio::spawn(refresh(store.clone(), client, every));
    tokio::spawn(sample(store.clone(), database::connect(url).await.map_err(failed)?));
    tokio::spawn(faults::obey(store.clone(), url.to_owned(), orders));
    let address = (Ipv4Addr::LOCALHOST, assignment.port);
    let listener = tokio::net::TcpListener::bind(address).await.map_err(listen)?;
    // An answer must not wait for the acknowledgement of the one before.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    control.set_ready();
    axum::serve(listener, router(store)).await.map_err(|error| format!("serve: {error}"))
}

fn router(store: Arc<Store>) -> Router {
    Router::new()
        .route("/apps/first-page", get(first_page))
        .route("/apps/first-page/{category}", get(first_page_of))
        .route("/apps/{id}", get(detail))
        .route("/apps/{id}/downloads", post(download))
        .route_layer(middleware::from_fn_with_state(store.clone(), observe))
        .with_state(store)
}

#[derive(Debug, Default, Deserialize)]
struct PageQuery {
    page: Option<i64>,
    /// Only the list in this order.
    sort: Option<String>,
}

impl PageQuery {
    fn page(&self) -> Result<i64, Refusal> {
        let page = self.page.unwrap_or_default();
        if (0..=PAGE_MAX).contains(&page) { Ok(page) } else { Err(Refusal::BadPage) }
    }

    /// The orders of the lists that are asked for: all, unless one is named.
    fn sorts(&self) -> Result<Vec<Sort>, Refusal> {
        let Some(name) = &self.sort else { return Ok(Sort::ALL.to_vec()) };
        let named = Sort::ALL.into_iter().find(|sort| sort.name() == name);
        named.map(|sort| vec![sort]).ok_or(Refusal::BadSort)
    }
}

/// Why there is no answer.
enum Refusal {
    BadPage,
    BadSort,
    NotFound,
    Database(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Database(error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, error) = match self {
            Refusal::BadPage => (StatusCode::BAD_REQUEST, format!("page is not between 0 and {PAGE_MAX}")),
            Refusal::BadSort => (StatusCode::BAD_REQUEST, "there is no such order".to_owned()),
            Refusal::NotFound => (StatusCode::NOT_FOUND, "there is no such thing".to_owned()),
            Refusal::Database(error) => (StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        };
        (status, json!({ "error": error }).to_string()).into_response()
    }
}

type Shared = State<Arc<Store>>;

async fn first_page(State(store): Shared, Query(query): Query<PageQuery>, request: Request) -> Response {
    let mut call = Call::begin(store, &request);
    let result = call.lists(None, &query).await;
    call.end(result)
}

async fn first_page_of(
    State(store): Shared,
    Path(code): Path<String>,
    Query(query): Query<PageQuery>,
    request: Request,
) -> Response {
    let mut call = Call::begin(store, &request);
    let result = call.lists(Some(&code), &query).await;
    call.end(result)
}

async fn detail(State(store): Shared, Path(app_id): Path<i64>, request: Request) -> Response {
    let mut call = Call::begin(store, &request);
    let result = call.detail(app_id).await;
    call.end(result)
}

async fn download(State(store): Shared, Path(app_id): Path<i64>, request: Request) -> Response {
    let mut call = Call::begin(store, &request);
    let result = call.download(app_id).await;
    call.end(result)
}

/// A request on its way.
struct Call {
    store: Arc<Store>,
    trace: Trace,
    route: &'static str,
    path: String,
    began: Instant,
}

impl Call {
    fn begin(store: Arc<Store>, request: &Request) -> Call {
        let trace = store.tracer.trace(traceparent(request.headers()));
        let (route, path) = (route_of(request), request.uri().path().to_owned());
        Call { store, trace, route, path, began: SystemClock::now() }
    }

    /// All lists of a page, one after the other on the one connection of the request.
    async fn lists(&mut self, code: Option<&str>, query: &PageQuery) -> Result<String, Refusal> {
        let (page, sorts, store) = (query.page()?, query.sorts()?, &self.store);
        let mut session = store.pool.session(&mut self.trace).await?;
        let category = match code {
            None => None,
            Some(code) => Some(store.category_of_code(&mut session, code).await?.ok_or(Refusal::NotFound)?),
        };
        let mut lists = BTreeMap::new();
        for sort in sorts {
            lists.insert(sort.name(), store.list(&mut session, sort, category.as_ref(), page).await?);
        }
        let mut text = to_json(&lists);
        if store.switches.chatty.load(Ordering::Relaxed) {
            (0..CHATTY_LAYERS).for_each(|_| text = rewritten(&text));
        }
        Ok(text)
    }

    async fn detail(&mut self, app_id: i64) -> Result<String, Refusal> {
        let mut session = self.store.pool.session(&mut self.trace).await?;
        let detail = self.store.detail(&mut session, app_id).await?.ok_or(Refusal::NotFound)?;
        Ok(to_json(&detail))
    }

    async fn download(&mut self, app_id: i64) -> Result<String, Refusal> {
        let mut session = self.store.pool.session(&mut self.trace).await?;
        session.query("record a download", queries::RECORD_DOWNLOAD, &[&app_id]).await?;
        Ok("{}".to_owned())
    }

    /// Logs what became of it, and ends its trace.
    fn end(self, result: Result<String, Refusal>) -> Response {
        let response = match result {
            Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
            Err(refusal) => refusal.into_response(),
        };
        let status = response.status();
        let fields = json!({
            "trace_id": self.trace.id(),
            "route": self.route,
            "path": self.path,
            "status": status.as_u16(),
            "duration_ms": SystemClock::now().ms_since(self.began),
        });
        let level = if status.is_server_error() { "error" } else { "info" };
        let waited = self.store.log.line(level, "request", fields);
        self.store.metrics.add(metrics::LOG_SYNC_SECONDS, "", waited.as_secs_f64());
        self.trace.end(Timed {
            name: self.route.into(),
            kind: SpanKind::Server,
            began: self.began,
            ended: SystemClock::now(),
            attributes: vec![
                ("http.route", Attribute::Text(self.route.into())),
                ("url.path", Attribute::Text(self.path.into())),
                ("http.response.status_code", Attribute::Number(status.as_u16().into())),
            ],
            is_error: status.is_server_error(),
        });
        response
    }
}

/// Plain data of ours always has a JSON form.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn rewritten(text: &str) -> String {
    serde_json::from_str::<serde_json::Value>(text).map(|value| value.to_string()).unwrap_or_default()
}

fn traceparent(headers: &HeaderMap) -> Option<&str> {
    headers.get("traceparent")?.to_str().ok()
}

/// One of ours, so that no request makes a series or a span's name.
fn route_of(request: &Request) -> &'static str {
    const ROUTES: [(&str, &str); 4] = [
        ("/apps/first-page", "GET /apps/first-page"),
        ("/apps/first-page/{category}", "GET /apps/first-page/{category}"),
        ("/apps/{id}", "GET /apps/{id}"),
        ("/apps/{id}/downloads", "POST /apps/{id}/downloads"),
    ];
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    ROUTES.iter().find(|(pattern, _)| *pattern == path).map_or("other", |(_, name)| name)
}

/// Counts and times every answer, and holds the service to its limit.
async fn observe(State(store): Shared, request: Request, next: Next) -> Response {
    let began = SystemClock::now();
    let labels = match route_of(&request) {
        "GET /apps/first-page" => "route=\"/apps/first-page\"",
        "GET /apps/first-page/{category}" => "route=\"/apps/first-page/{category}\"",
        "GET /apps/{id}" => "route=\"/apps/{id}\"",
        _ => "route=\"/apps/{id}/downloads\"",
    };
    let response = next.run(request).await;
    let throttled = store.switches.throttle();
    let bytes = http_body_bytes(&response);
    store.metrics.add(metrics::THROTTLED_SECONDS, "", throttled.as_secs_f64());
    show_cpu(&store, throttled);
    store.metrics.add(metrics::REQUESTS, "", 1.0);
    store.metrics.add(metrics::RESPONSE_BYTES, "", bytes as f64);
    store.metrics.observe(metrics::REQUEST_SECONDS, labels, SystemClock::now().since(began).as_secs_f64());
    response
}

/// Shows what the service used of its core, of itself and as of a container.
fn show_cpu(store: &Store, throttled: Duration) {
    let used_s = Switches::cpu_used().as_secs_f64();
    let quota = store.switches.quota();
    store.metrics.set(metrics::CPU_SECONDS, "", used_s);
    store.metrics.add(metrics::CFS_THROTTLED_SECONDS, metrics::CONTAINER, throttled.as_secs_f64());
    let of_container = [
        (metrics::USED_SECONDS, used_s),
        (metrics::QUOTA, quota.quota.as_micros() as f64),
        (metrics::PERIOD, quota.period.as_micros() as f64),
        (metrics::PERIODS, quota.periods as f64),
        (metrics::PERIODS_THROTTLED, quota.periods_throttled as f64),
    ];
    of_container.into_iter().for_each(|(name, to)| store.metrics.set(name, metrics::CONTAINER, to));
}

fn http_body_bytes(response: &Response) -> u64 {
    axum::body::HttpBody::size_hint(response.body()).exact().unwrap_or_default()
}

/// Brings views and cache up to date, each so many seconds.
async fn refresh(store: Arc<Store>, client: Client, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        if store.variant.has_views() {
            let began = SystemClock::now();
            for sql in data::REFRESHES {
                if let Err(error) = client.batch_execute(sql).await {
                    store.log.line("error", "refresh", json!({ "error": error.to_string() }));
                }
            }
            let took = SystemClock::now().since(began).as_secs_f64();
            store.metrics.add(metrics::REFRESHES, "", 1.0);
            store.metrics.add(metrics::REFRESH_SECONDS, "", took);
        }
        match client.query(queries::CATEGORIES, &[]).await {
            Ok(rows) => {
                store.cache.replace(&rows);
                store.metrics.add(metrics::CACHE_LOADS, "", 1.0);
            }
            Err(error) => {
                store.log.line("error", "refresh", json!({ "error": error.to_string() }));
            }
        }
    }
}

/// Reads the database's statistics, until it is gone.
async fn sample(store: Arc<Store>, client: Client) {
    let mut rows_before = None;
    loop {
        tokio::time::sleep(SAMPLE_PERIOD).await;
        let Ok(row) = client.query_one(SAMPLE, &[]).await else { return };
        let (waiting, rows): (f64, f64) = (row.get(0), row.get(1));
        store.metrics.add(metrics::LOCK_WAIT_SECONDS, "", waiting * SAMPLE_PERIOD.as_secs_f64());
        let grown = rows - rows_before.unwrap_or(rows);
        store.metrics.add(metrics::VISIT_ROWS_SCANNED, "", grown.max(0.0));
        rows_before = Some(rows);
    }
}
