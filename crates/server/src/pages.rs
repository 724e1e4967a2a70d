//! The routes of `/api/v1`, and the page itself.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use api::page::{ApiError, ApiErrorDetail};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde::Deserialize;
use tokio::sync::Semaphore;

use crate::embedded::decompressed;
use crate::feed::Feed;
use crate::guard::Guard;
use crate::question::{Question, ROOT, View, is_run};
use crate::{Refusal, assets, body};

/// Maximum number of answers computed at once: reading files must leave cores for the load.
const WORKERS_MAX: usize = 2;

/// Maximum size of a request body, bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Maximum size of an answer, bytes.
pub const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Maximum time that an answer waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(60);

/// A header that scripts of the page can set but a foreign form cannot.
const WRITE_HEADER: &str = "x-plimsoll";

/// The published OpenAPI description of these routes.
static DESCRIPTION: LazyLock<String> = LazyLock::new(|| {
    let bytes = decompressed(include_bytes!(concat!(env!("OUT_DIR"), "/description.gz")));
    String::from_utf8(bytes).unwrap_or_default()
});

/// An error of an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The run, metric or range does not exist.
    #[error("{0}")]
    NotFound(String),
    /// A parameter is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The operation is not possible now, or not in this process.
    #[error("{0}")]
    Refused(String),
    /// A file is damaged, or the disk reports an error.
    #[error("{0}")]
    Failed(String),
}

/// A change to the notes on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets the note on a run.
    Note(String),
    /// Sets or clears the run as the baseline of its script.
    Baseline(bool),
}

/// The format of a report that a reader takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFile {
    /// One file with the page and its data.
    Html,
    /// Text with tables.
    Markdown,
}

impl ReportFile {
    /// Returns the format of a name below a run: `report.html`, `report.md`.
    fn named(name: &str) -> Option<ReportFile> {
        match name {
            "report.html" => Some(ReportFile::Html),
            "report.md" => Some(ReportFile::Markdown),
            _ => None,
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            ReportFile::Html => "text/html; charset=utf-8",
            ReportFile::Markdown => "text/markdown; charset=utf-8",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            ReportFile::Html => "html",
            ReportFile::Markdown => "md",
        }
    }
}

/// The data of the page. Calls come from several threads and may block on reading files.
pub trait Pages: Send + Sync + 'static {
    /// Returns the answer to a question as JSON.
    ///
    /// # Errors
    /// See [`PageError`].
    fn answer(&self, question: &Question) -> Result<Arc<str>, PageError>;

    /// Changes the notes on a run, and returns the new ones as JSON.
    ///
    /// # Errors
    /// The run does not exist, or the notes cannot be written.
    fn change(&self, run: &str, change: &Change) -> Result<String, PageError>;

    /// Returns a report on a whole run in the language of a code, `en` or `ko`.
    ///
    /// # Errors
    /// The run does not exist, or its file is damaged.
    fn report(&self, run: &str, file: ReportFile, lang: &str) -> Result<String, PageError>;

    /// Returns the events of a run that this process executes; `None` for other runs.
    fn feed(&self, run: &str) -> Option<Arc<Feed>>;

    /// Ends a run that this process executes.
    ///
    /// # Errors
    /// This process does not execute the run.
    fn stop(&self, run: &str) -> Result<(), Refusal>;
}

#[derive(Clone)]
struct Shared {
    pages: Arc<dyn Pages>,
    guard: Guard,
    turns: Arc<Semaphore>,
}

/// Returns the routes; every other path is the page.
pub(crate) fn router(pages: Arc<dyn Pages>, guard: Guard) -> Router {
    let shared = Shared { pages, guard, turns: Arc::new(Semaphore::new(WORKERS_MAX)) };
    Router::new().route("/api/{*path}", any(api)).fallback(page).with_state(shared)
}

async fn page(request: Request) -> Response {
    match *request.method() {
        Method::GET | Method::HEAD => assets::respond(request.uri().path()),
        _ => error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", "the page can only be read"),
    }
}

async fn api(State(shared): State<Shared>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let path = head.uri.path().replace("%40", "@");
    if head.method == Method::POST && path == "/api/v1/session" {
        return session(&shared.guard, &head.headers);
    }
    if let Err((status, why)) = shared.guard.admit(&head.headers) {
        return error(status, "Not allowed", why);
    }
    let is_read = matches!(head.method, Method::GET | Method::HEAD);
    if !is_read && !head.headers.contains_key(WRITE_HEADER) {
        return error(StatusCode::FORBIDDEN, "Not allowed", "the header X-Plimsoll is missing");
    }
    if is_read && path == "/api/v1/openapi.json" {
        return json(StatusCode::OK, &DESCRIPTION);
    }
    let rest = path.strip_prefix(ROOT).and_then(|rest| rest.strip_prefix("runs/"));
    let of_run = rest.and_then(|rest| rest.split_once('/')).filter(|(run, _)| is_run(run));
    let file = of_run.and_then(|(run, name)| Some((run, ReportFile::named(name)?)));
    if let (&Method::GET, Some((run, file))) = (&head.method, file) {
        return report(&shared, run, file, head.uri.query().unwrap_or_default()).await;
    }
    match (&head.method, of_run) {
        (&Method::GET, Some((run, "events"))) => events(&shared, run, &head.headers),
        (&Method::PUT, Some((run, what @ ("note" | "baseline")))) => change(&shared, run, what, body).await,
        (&Method::POST, Some((run, "stop"))) => match shared.pages.stop(run) {
            Ok(()) => json(StatusCode::ACCEPTED, "{}"),
            Err(why) => error(StatusCode::CONFLICT, "Conflict", &format!("failed to {why}")),
        },
        _ if is_read => match Question::parse(&path, head.uri.query().unwrap_or_default()) {
            Some(question) => read(&shared, question, &head.headers).await,
            None => error(StatusCode::NOT_FOUND, "Not Found", "there is no such answer"),
        },
        _ => error(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed", "this can only be read"),
    }
}

/// Returns a session cookie for a browser that sends the token, so that it need not store the token.
fn session(guard: &Guard, headers: &HeaderMap) -> Response {
    if !headers.contains_key(WRITE_HEADER) {
        return error(StatusCode::FORBIDDEN, "Not allowed", "the header X-Plimsoll is missing");
    }
    let mut response = match guard.open(headers) {
        Ok(cookie) => {
            let mut response = Response::new(Body::empty());
            if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err((status, why)) => return error(status, "Not allowed", why),
    };
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

fn events(shared: &Shared, run: &str, headers: &HeaderMap) -> Response {
    let Some(feed) = shared.pages.feed(run) else {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        return response;
    };
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    feed.answer(last)
}

async fn read(shared: &Shared, question: Question, headers: &HeaderMap) -> Response {
    let (pages, view) = (shared.pages.clone(), question.view);
    let ask = move || pages.answer(&question);
    // The page requests this first, and it reads no file, so it does not queue behind others.
    let answered = if view == View::About { on_thread(ask).await } else { work(shared, ask).await };
    let answer = match answered {
        Ok(answer) => answer,
        Err(why) => return failed(&why),
    };
    if answer.len() > ANSWER_BYTES_MAX {
        let why = "failed to answer: it is too long; ask for a part of the run";
        return error(StatusCode::INTERNAL_SERVER_ERROR, "Too long", why);
    }
    let tag = tag(&answer);
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return response;
    }
    let mut response = json(StatusCode::OK, &answer);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// Returns a report as a file to keep: a browser must not open one under the page's own address.
async fn report(shared: &Shared, run: &str, file: ReportFile, query: &str) -> Response {
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "lang");
    let lang = asked.map_or_else(|| "en".to_owned(), |(_, lang)| lang.into_owned());
    let (pages, named) = (shared.pages.clone(), run.to_owned());
    let text = match work(shared, move || pages.report(&named, file, &lang)).await {
        Ok(text) if text.len() > ANSWER_BYTES_MAX => {
            let why = "failed to answer: the report is too long; write it with plimsoll report";
            return error(StatusCode::INTERNAL_SERVER_ERROR, "Too long", why);
        }
        Ok(text) => text,
        Err(why) => return failed(&why),
    };
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A run's name in the path has hexadecimal digits alone, or is `@last`.
    let name =
        format!("attachment; filename=\"plimsoll-{}.{}\"", run.trim_start_matches('@'), file.extension());
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    response
}

async fn change(shared: &Shared, run: &str, what: &str, body: Body) -> Response {
    let bytes = match body::read(body, BODY_BYTES_MAX).await {
        Ok(bytes) => bytes,
        Err((status, why)) => return error(status, "Couldn't read request", &why),
    };
    let change = match what {
        "note" => serde_json::from_slice(&bytes).map(|Note { note }| Change::Note(note)),
        _ => serde_json::from_slice(&bytes).map(|Baseline { is_baseline }| Change::Baseline(is_baseline)),
    };
    let change = match change {
        Ok(change) => change,
        Err(why) => return error(StatusCode::BAD_REQUEST, "Invalid data", &why.to_string()),
    };
    let (pages, run) = (shared.pages.clone(), run.to_owned());
    match work(shared, move || pages.change(&run, &change)).await {
        Ok(answer) => json(StatusCode::OK, &answer),
        Err(why) => failed(&why),
    }
}

/// Computes an answer on a separate thread when its turn comes.
async fn work<T: Send + 'static>(
    shared: &Shared,
    call: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    let turn = tokio::time::timeout(TURN_TIMEOUT, shared.turns.clone().acquire_owned()).await;
    let Ok(Ok(turn)) = turn else { return Err(unanswered("too much is asked at once")) };
    on_thread(move || {
        let answer = call();
        drop(turn);
        answer
    })
    .await
}

/// Computes an answer on a separate thread. A panic there is a bug that ends one answer.
async fn on_thread<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, PageError> + Send + 'static,
) -> Result<T, PageError> {
    let called = tokio::task::spawn_blocking(call).await;
    called.unwrap_or_else(|_| Err(unanswered("this is a bug of plimsoll")))
}

fn unanswered(why: &str) -> PageError {
    PageError::Failed(format!("failed to answer: {why}"))
}

#[derive(Deserialize)]
struct Note {
    note: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Baseline {
    is_baseline: bool,
}

/// Returns the entity tag of an answer: FNV-1a, whose collisions cost only one outdated screen.
fn tag(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("\"{hash:016x}-{:x}\"", text.len())
}

fn failed(why: &PageError) -> Response {
    let (status, title) = match why {
        PageError::NotFound(_) => (StatusCode::NOT_FOUND, "Not Found"),
        PageError::Invalid(_) => (StatusCode::BAD_REQUEST, "Invalid"),
        PageError::Refused(_) => (StatusCode::CONFLICT, "Conflict"),
        PageError::Failed(_) => (StatusCode::INTERNAL_SERVER_ERROR, "Failed"),
    };
    error(status, title, &why.to_string())
}

fn error(status: StatusCode, title: &str, detail: &str) -> Response {
    let error =
        ApiErrorDetail { status: status.as_u16(), title: title.to_owned(), detail: detail.to_owned() };
    json(status, &serde_json::to_string(&ApiError { error }).unwrap_or_default())
}

fn json(status: StatusCode, text: &str) -> Response {
    let mut response = Response::new(Body::from(text.to_owned()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}
