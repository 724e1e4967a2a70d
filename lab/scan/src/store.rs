//! Redis: the state of each scan, the events, and the messages between the system's processes.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, Pipeline, RedisError};
use serde::{Deserialize, Serialize};

use crate::metrics::{self, Series};
use crate::stage::Stage;

/// How long it is known what became of a scan.
const RESULT_SECONDS: u64 = 600;

/// Events that are kept, roughly; older ones go.
const EVENTS_MAX: usize = 10_000;

/// A process that has not reported itself for this long is gone.
const BEAT_MS: u64 = 2000;

/// An answer that takes longer is an error.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// The report of a process about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// The faults that act in it, as they were ordered.
    pub(crate) faults: String,
    /// Messages that it has taken and not acknowledged, by [`Stage::index`].
    pub(crate) held: [usize; 4],
}

/// A connection that all of a process share.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    connection: MultiplexedConnection,
}

/// Redis refuses or is gone; the text reads after "failed to".
fn failed(error: RedisError) -> String {
    format!("use Redis: {error}")
}

impl Store {
    /// Connects.
    ///
    /// # Errors
    /// Redis does not take it.
    pub(crate) async fn connect(url: &str) -> Result<Store, String> {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(ANSWER_LIMIT));
        let client = Client::open(url).map_err(failed)?;
        let connection = client.get_multiplexed_async_connection_with_config(&config).await;
        Ok(Store { connection: connection.map_err(failed)? })
    }

    /// Notes how far a scan is, for polling clients, and as an event.
    ///
    /// # Errors
    /// As for all that follow: Redis refuses or is gone.
    pub(crate) async fn set_state(&self, id: &str, state: &str) -> Result<(), String> {
        let mut pipe = redis::pipe();
        pipe.cmd("SET").arg(task(id)).arg(state).arg("EX").arg(RESULT_SECONDS).ignore();
        pipe.cmd("XADD").arg("events").arg("MAXLEN").arg("~").arg(EVENTS_MAX).arg("*");
        pipe.arg("task").arg(id).arg("state").arg(state).ignore();
        self.send(&pipe).await
    }

    /// How far a scan is; `None` where there is none of this id.
    pub(crate) async fn state(&self, id: &str) -> Result<Option<String>, String> {
        Cmd::new().arg("GET").arg(task(id)).query_async(&mut self.connection.clone()).await.map_err(failed)
    }

    /// Reports a process and its counts since its last report, and returns the faults that are to act.
    pub(crate) async fn beat(
        &self,
        name: &str,
        beat: &Beat,
        counted: &BTreeMap<Series, f64>,
    ) -> Result<String, String> {
        let mut pipe = redis::pipe();
        let text = serde_json::to_string(beat).unwrap_or_default();
        pipe.cmd("SET").arg(format!("beat:{name}")).arg(text).arg("PX").arg(BEAT_MS).ignore();
        for (series, by) in counted {
            pipe.cmd("HINCRBYFLOAT").arg("counters").arg(field(series)).arg(*by).ignore();
        }
        pipe.cmd("GET").arg("faults");
        let (faults,): (Option<String>,) =
            pipe.query_async(&mut self.connection.clone()).await.map_err(failed)?;
        Ok(faults.unwrap_or_default())
    }

    /// The last report of each of these processes; `None` for one that is gone.
    pub(crate) async fn beats(&self, names: &[&str]) -> Result<Vec<Option<Beat>>, String> {
        let mut command = Cmd::new();
        command.arg("MGET");
        names.iter().for_each(|name| {
            command.arg(format!("beat:{name}"));
        });
        let texts: Vec<Option<String>> =
            command.query_async(&mut self.connection.clone()).await.map_err(failed)?;
        Ok(texts.into_iter().map(|text| serde_json::from_str(&text?).ok()).collect())
    }

    /// The counters of all processes, in the order of [`metrics::SHIPPED`].
    pub(crate) async fn counters(&self) -> Result<Vec<f64>, String> {
        let mut command = Cmd::new();
        command.arg("HMGET").arg("counters");
        metrics::SHIPPED.iter().for_each(|series| {
            command.arg(field(series));
        });
        let values: Vec<Option<f64>> =
            command.query_async(&mut self.connection.clone()).await.map_err(failed)?;
        Ok(values.into_iter().map(Option::unwrap_or_default).collect())
    }

    /// Orders the faults that are to act.
    pub(crate) async fn set_faults(&self, faults: &str) -> Result<(), String> {
        self.send(redis::pipe().cmd("SET").arg("faults").arg(faults).ignore()).await
    }

    /// Says where the model is.
    pub(crate) async fn set_llm(&self, address: &str) -> Result<(), String> {
        self.send(redis::pipe().cmd("SET").arg("llm").arg(address).ignore()).await
    }

    /// Where the model is, once it has said so.
    pub(crate) async fn llm(&self) -> Result<Option<String>, String> {
        Cmd::new().arg("GET").arg("llm").query_async(&mut self.connection.clone()).await.map_err(failed)
    }

    async fn send(&self, pipe: &Pipeline) -> Result<(), String> {
        pipe.query_async(&mut self.connection.clone()).await.map_err(failed)
    }
}

fn task(id: &str) -> String {
    format!("task:{id}")
}

fn field((name, labels): &Series) -> String {
    if labels.is_empty() { (*name).to_owned() } else { format!("{name}{{{labels}}}") }
}

/// Messages that processes hold between them, by [`Stage::index`].
pub(crate) fn held(beats: &[Option<Beat>]) -> [usize; 4] {
    Stage::ALL.map(|stage| beats.iter().flatten().map(|beat| beat.held[stage.index()]).sum())
}
