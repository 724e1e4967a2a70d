//! A parcel service on axum, sqlx over PostgreSQL and reqwest. Spans are those of its layers, its client, its pool and its handlers.

use std::{env, sync::Arc, time::Duration};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use axum_tracing_opentelemetry::middleware::{OtelAxumLayer, OtelInResponseLayer};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::{propagation::TraceContextPropagator, trace::SdkTracerProvider};
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_tracing::TracingMiddleware;
use serde_json::{Value, json};
use sqlx::{Postgres, postgres::PgPoolOptions};
use tokio::sync::Mutex;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::prelude::*;

struct Desk {
    pool: sqlx_tracing::Pool<Postgres>,
    client: ClientWithMiddleware,
    carrier: String,
    /// The tariff that the carrier answered last.
    tariff: Mutex<Value>,
    lock_across_call: bool,
    call_in_transaction: bool,
    print_on_worker: bool,
    print: Duration,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    trace()?;
    let pool = PgPoolOptions::new().max_connections(number("POOL")?).connect(&env::var("DATABASE")?).await?;
    let desk = Desk {
        pool: pool.into(),
        client: ClientBuilder::new(reqwest::Client::new()).with(TracingMiddleware::default()).build(),
        carrier: env::var("CARRIER")?,
        tariff: Mutex::default(),
        lock_across_call: number("LOCK_ACROSS_CALL")? == 1,
        call_in_transaction: number("CALL_IN_TRANSACTION")? == 1,
        print_on_worker: number("PRINT_ON_WORKER")? == 1,
        print: Duration::from_millis(number("PRINT_MS")?.into()),
    };
    let app = Router::new()
        .route("/customers/{id}/parcels", get(parcels))
        .route("/statistics", get(statistics))
        .route("/tariff", get(tariff))
        .route("/labels/{id}", get(label))
        .route("/lockers/{id}/reservations", post(reserve))
        .layer(OtelInResponseLayer::default())
        .layer(OtelAxumLayer::default())
        .with_state(Arc::new(desk));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{}", env::var("PORT_APP")?)).await?;
    Ok(axum::serve(listener, app).await?)
}

fn trace() -> anyhow::Result<()> {
    let exporter = SpanExporter::builder().with_http().build()?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    opentelemetry::global::set_text_map_propagator(TraceContextPropagator::new());
    tracing_subscriber::registry()
        .with(EnvFilter::from_default_env())
        .with(tracing_subscriber::fmt::layer())
        .with(tracing_opentelemetry::layer().with_tracer(provider.tracer(env!("CARGO_PKG_NAME"))))
        .init();
    Ok(())
}

#[tracing::instrument(skip_all)]
async fn parcels(State(desk): State<Arc<Desk>>, Path(customer): Path<i32>) -> Result<Json<Value>, Failure> {
    let sql = "SELECT id, status FROM parcels WHERE customer_id = $1 ORDER BY weight DESC LIMIT 20";
    let found: Vec<(i32, String)> = sqlx::query_as(sql).bind(customer).fetch_all(&desk.pool).await?;
    Ok(Json(json!(found)))
}

/// The statistics of a day, for which the database works 40 ms.
#[tracing::instrument(skip_all)]
async fn statistics(State(desk): State<Arc<Desk>>) -> Result<Json<Value>, Failure> {
    let sql = "SELECT count(*) FROM lockers, pg_sleep(0.04)";
    let lockers: i64 = sqlx::query_scalar(sql).fetch_one(&desk.pool).await?;
    Ok(Json(json!({ "lockers": lockers })))
}

#[tracing::instrument(skip_all)]
async fn tariff(State(desk): State<Arc<Desk>>) -> Result<Json<Value>, Failure> {
    if desk.lock_across_call {
        let mut tariff = desk.tariff.lock().await;
        *tariff = ask_carrier(&desk).await?;
        return Ok(Json(tariff.clone()));
    }
    let answer = ask_carrier(&desk).await?;
    *desk.tariff.lock().await = answer.clone();
    Ok(Json(answer))
}

#[tracing::instrument(skip_all)]
async fn label(State(desk): State<Arc<Desk>>, Path(parcel): Path<i32>) -> Result<Json<Value>, Failure> {
    // The printer's driver blocks its thread until the label is printed.
    let took = desk.print;
    let print = move || std::thread::sleep(took);
    if desk.print_on_worker {
        print();
    } else {
        tokio::task::spawn_blocking(print).await?;
    }
    Ok(Json(json!({ "printed": parcel })))
}

/// The carrier is asked before the transaction, or inside it, where the locker's row stays locked meanwhile.
#[tracing::instrument(skip_all)]
async fn reserve(State(desk): State<Arc<Desk>>, Path(locker): Path<i32>) -> Result<Json<Value>, Failure> {
    if !desk.call_in_transaction {
        ask_carrier(&desk).await?;
    }
    let mut transaction = desk.pool.begin().await?;
    let sql = "UPDATE lockers SET free = free - 1 WHERE id = $1";
    sqlx::query(sql).bind(locker).execute(&mut transaction.executor()).await?;
    if desk.call_in_transaction {
        ask_carrier(&desk).await?;
    }
    transaction.commit().await?;
    Ok(Json(json!({ "reserved": locker })))
}

async fn ask_carrier(desk: &Desk) -> anyhow::Result<Value> {
    Ok(desk.client.get(&desk.carrier).send().await?.error_for_status()?.json().await?)
}

/// An error as a response, as in axum's examples.
struct Failure(anyhow::Error);

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0.to_string()).into_response()
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

fn number(name: &str) -> anyhow::Result<u32> {
    Ok(env::var(name)?.parse()?)
}
