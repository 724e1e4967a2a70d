//! `k6/x/dns`: questions to a name server, and to the operating system.

use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use model::{Instant, Mark, SystemClock, TagSetId};
use rquickjs::{Ctx, Exception, Object, Persistent, Value};
use wire::{QueryError, RecordType};

use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::events::Completion;
use crate::state::own_metrics::own_metrics;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/dns", build };

/// The port of a name server that names none.
const PORT: u16 = 53;

const RECORD_TYPES: &[(&str, RecordType)] =
    &[("A", RecordType::A), ("AAAA", RecordType::Aaaa), ("TXT", RecordType::Txt)];

/// Names of a server's refusals by their codes, as the extension of k6 has them.
const REFUSALS: &[&str] =
    &["Success", "FormatError", "ServerFailure", "NonExistingDomain", "NotImplemented", "Refused"];

const FUNCTIONS: &[(&str, NativeFn)] = &[("resolve", resolve), ("lookup", lookup)];

own_metrics! {
    /// The metrics of the module.
    Metrics of "k6/x/dns" {
        /// Questions to name servers.
        resolutions = "dns_resolutions", Counter, Default;
        /// Until the answer of a name server.
        resolution_duration = "dns_resolution_duration", Trend, Time;
        /// Share of questions without an answer, or with a refusal.
        resolution_failed = "dns_resolution_failed", Rate, Default;
        /// Questions to the operating system.
        lookups = "dns_lookups", Counter, Default;
        /// Until the answer of the operating system.
        lookup_duration = "dns_lookup_duration", Trend, Time;
        /// Share of questions to the operating system that failed.
        lookup_failed = "dns_lookup_failed", Rate, Default;
    }
}

/// Three metrics of one kind of questions.
type Three = [model::MetricId; 3];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    Metrics::declare(&vu.init.metrics).map_err(|text| js::go_error(ctx, &text))?;
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    Ok(module)
}

/// The outcome of a question.
struct Outcome {
    result: Result<Vec<String>, Failure>,
    mark: Mark,
}

/// An error for the script: its name, its text, and the code of a refusal.
struct Failure {
    name: &'static str,
    message: String,
    code: Option<u8>,
}

/// `resolve(query, recordType, nameserver)`: a promise of the records.
fn resolve<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let query = given_text(args, 0)?;
    let (kind, server) = (given_text(args, 1)?, given_text(args, 2)?);
    let record = RECORD_TYPES.iter().find(|(name, _)| *name == kind).map(|(_, record)| *record);
    let record = record.ok_or_else(|| {
        format!(
            "resolve operation failed with unsupported record type, {kind} is an invalid DNS record type: use A, AAAA or TXT"
        )
    });
    let address = address_of(&server);
    let (record, address) = match (record, address) {
        (Ok(record), Ok(address)) => (record, address),
        (Err(text), _) | (_, Err(text)) => return refused(args, &text),
    };
    let metrics = metrics(args)?;
    let three = [metrics.resolutions, metrics.resolution_duration, metrics.resolution_failed];
    let tags = [("query", query.clone()), ("recordType", kind), ("nameserver", address.to_string())];
    let vu = args.vu.clone();
    promise(args, three, &tags, async move {
        let Some(client) = vu.http.client() else { return too_early() };
        outcome(client.query(address, &query, record).await)
    })
}

fn outcome(answer: Result<Vec<String>, QueryError>) -> Outcome {
    let error = match answer {
        Ok(records) => return Outcome { result: Ok(records), mark: Mark::Measured },
        Err(error) => error,
    };
    let (name, code, mark) = match &error {
        // A refusal is an answer, too.
        QueryError::Refused(code) => {
            let name = REFUSALS.get(usize::from(*code)).copied().unwrap_or("UnknownError");
            (name, Some(*code), Mark::Measured)
        }
        QueryError::Timeout { .. } => ("Error", None, Mark::TimedOut),
        _ => ("Error", None, Mark::Failed),
    };
    Outcome { result: Err(Failure { name, message: error.to_string(), code }), mark }
}

/// `lookup(host)`: a promise of the addresses that the operating system knows.
fn lookup<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let host = given_text(args, 0)?;
    let metrics = metrics(args)?;
    let three = [metrics.lookups, metrics.lookup_duration, metrics.lookup_failed];
    let vu = args.vu.clone();
    promise(args, three, &[("host", host.clone())], async move {
        let Some(client) = vu.http.client() else { return too_early() };
        match client.addresses(&host).await {
            Ok(addresses) => Outcome {
                result: Ok(addresses.iter().map(IpAddr::to_string).collect()),
                mark: Mark::Measured,
            },
            Err(error) => {
                let message = format!("lookup of {host} failed: {}", error.story());
                let failure = Failure { name: "LookupFailed", message, code: None };
                Outcome { result: Err(failure), mark: Mark::Failed }
            }
        }
    })
}

fn too_early() -> Outcome {
    let message = "names cannot be asked for in the init context".to_owned();
    Outcome { result: Err(Failure { name: "Error", message, code: None }), mark: Mark::Failed }
}

fn metrics(args: &Args<'_, '_>) -> rquickjs::Result<Metrics> {
    Metrics::declare(&args.vu.init.metrics).map_err(|text| args.error(text))
}

/// Argument `index` as text; nothing is the empty one.
fn given_text(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<String> {
    args.given(index).map_or_else(|| Ok(String::new()), |value| js::to_string(args.ctx, &value))
}

/// `IP` or `IP:PORT`.
fn address_of(text: &str) -> Result<SocketAddr, String> {
    let ip = |text: &str| text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    if let Ok(ip) = ip(text) {
        return Ok(SocketAddr::new(ip, PORT));
    }
    text.parse().map_err(|_| {
        format!(
            "parsing nameserver address failed: invalid nameserver IP address: {text:?}; expected IP:PORT, for example \
             127.0.0.1:53"
        )
    })
}

/// A promise that is rejected at once.
fn refused<'js>(args: &Args<'_, 'js>, text: &str) -> rquickjs::Result<Value<'js>> {
    let (promise, _, reject) = args.ctx.promise()?;
    let failure = Failure { name: "Error", message: text.to_owned(), code: None };
    reject.call::<_, ()>((error_of(args.ctx, &failure)?,))?;
    Ok(promise.into_value())
}

/// A promise of what `work` finds; its time is measured.
fn promise<'js>(
    args: &Args<'_, 'js>,
    metrics: Three,
    tags: &[(&'static str, String)],
    work: impl Future<Output = Outcome> + 'static,
) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = args.ctx.promise()?;
    let functions = [resolve, reject].map(|function| Persistent::save(args.ctx, function));
    let vu = args.vu.clone();
    let tags = tags_of(&vu, tags);
    args.vu.events.spawn(Box::pin(async move {
        let started = SystemClock::now();
        let Outcome { result, mark } = work.await;
        record(&vu, metrics, tags, (started, SystemClock::now()), mark, result.is_err());
        let completion: Completion = Box::new(move |ctx| {
            vu.step_ended();
            let [resolve, reject] = functions;
            match result {
                Ok(records) => resolve.restore(ctx)?.call((records,)),
                Err(failure) => reject.restore(ctx)?.call((error_of(ctx, &failure)?,)),
            }
        });
        completion
    }));
    Ok(promise.into_value())
}

fn tags_of(vu: &Rc<VuState>, tags: &[(&'static str, String)]) -> TagSetId {
    let base = vu.tags.borrow_mut().id(&vu.cache);
    let own: Vec<(Arc<str>, Arc<str>)> =
        tags.iter().map(|(name, value)| ((*name).into(), value.as_str().into())).collect();
    vu.cache.extend(base, own)
}

fn record(
    vu: &VuState,
    [count, duration, failed]: Three,
    tags: TagSetId,
    (started, finished): (Instant, Instant),
    mark: Mark,
    is_failed: bool,
) {
    let mark = if vu.is_strict() { Mark::Measured } else { mark };
    vu.record(count, tags, 1.0, Mark::Measured, finished);
    vu.record(duration, tags, finished.ms_since(started), mark, finished);
    vu.record(failed, tags, f64::from(u8::from(is_failed)), Mark::Measured, finished);
}

fn error_of<'js>(ctx: &Ctx<'js>, failure: &Failure) -> rquickjs::Result<Value<'js>> {
    let error = Exception::from_message(ctx.clone(), &failure.message)?.into_object();
    error.set("name", failure.name)?;
    error.set("kind", failure.code)?;
    Ok(error.into_value())
}
