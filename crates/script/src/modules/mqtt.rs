//! `k6/x/mqtt`: clients of MQTT brokers.

mod open;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use datastore::mqtt::{Event, MqttError, Session};
use model::{Mark, SystemClock, SystemTag, SystemTags, TagSetId};
use rquickjs::{Ctx, Exception, Object, Persistent, Value};

use self::open::Asked;
use crate::error::unwind;
use crate::event_line::{EventLine, EventSource};
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::events::{Completion, TimerCall};
use crate::state::open_streams::OpenStream;
use crate::state::own_metrics::own_metrics;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/mqtt", build };

static PRELUDE: Prelude = Prelude::new("k6/x/mqtt", include_str!("../../js/mqtt.js"));

const PROTOCOL: &str = "MQTT/3.1.1";

const NATIVES: &[(&str, NativeFn)] = &[
    ("mayConnect", may_connect),
    ("connect", connect),
    ("isConnected", is_connected),
    ("publish", |args| sync(args, publication(args)?)),
    ("publishAsync", |args| promise(args, publication(args)?)),
    ("subscribe", |args| sync(args, subscription(args)?)),
    ("subscribeAsync", |args| promise(args, subscription(args)?)),
    ("unsubscribe", |args| sync(args, unsubscription(args)?)),
    ("unsubscribeAsync", |args| promise(args, unsubscription(args)?)),
    ("end", end),
    ("received", received),
    ("later", later),
    ("fail", |args| Err(args.error(args.string(0)?))),
    ("warn", |args| {
        args.vu.warn(args.string(0)?);
        args.undefined()
    }),
];

own_metrics! {
    /// The metrics of the module.
    Metrics of "k6/x/mqtt" {
        /// Calls that succeeded, and messages that handlers took, by `method`.
        calls = "mqtt_calls", Counter, Default;
        /// Calls that failed, by `method`.
        errors = "mqtt_errors", Counter, Default;
        /// Messages that were published.
        sent = "mqtt_messages_sent", Counter, Default;
        /// Messages that came.
        received = "mqtt_messages_received", Counter, Default;
    }
}

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    Metrics::declare(&vu.init.metrics).map_err(|text| js::go_error(ctx, &text))?;
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

/// A connection of a script's client.
struct Client {
    session: Rc<Session>,
    url: Arc<str>,
}

impl OpenStream for Client {
    fn cut_off(&self) {
        self.session.leave();
    }
}

impl EventSource for Client {
    type Event = Event;

    async fn ready(&self) {
        self.session.ready().await;
    }

    fn take_event(&self) -> Option<Event> {
        self.session.take_event()
    }

    fn is_last(event: &Event) -> bool {
        matches!(event, Event::Over(_))
    }

    fn deliver(&self, ctx: &Ctx<'_>, line: &EventLine, event: Event) -> rquickjs::Result<()> {
        match event {
            Event::Message { topic, payload } => {
                let payload = js::array_buffer(ctx, &payload)?;
                line.dispatch(ctx, ("message", topic, payload))
            }
            Event::Over(error) => {
                if let Some(error) = error {
                    line.dispatch(ctx, ("error", error.to_string()))?;
                }
                line.dispatch(ctx, ("end",))
            }
        }
    }
}

/// Tags of a call: those of the script, its topic, and those of the system.
type Tags = Vec<(Arc<str>, Arc<str>)>;

/// The own properties of argument `index`, as texts.
fn tags(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<Tags> {
    let mut tags = Tags::new();
    let given = args.get(index);
    if given.is_object() {
        js::each_property(&given, |name, value| {
            let value = js::to_string(args.ctx, &value)?;
            tags.push((name.to_text()?.into(), value.into()));
            Ok(())
        })?;
    }
    Ok(tags)
}

fn tag_set(vu: &VuState, own: &Tags, url: &Arc<str>, method: Option<&str>, topic: Option<&str>) -> TagSetId {
    let system = vu.plan().map_or(SystemTags::NONE, |plan| plan.system_tags);
    let mut all = own.clone();
    for (tag, value) in [
        (SystemTag::Proto, Some(PROTOCOL.into())),
        (SystemTag::Url, Some(url.clone())),
        (SystemTag::Method, method.map(Arc::from)),
    ] {
        if let Some(value) = value.filter(|_| system.has(tag)) {
            all.push((tag.as_str().into(), value));
        }
    }
    if let Some(topic) = topic {
        all.push(("topic".into(), topic.into()));
    }
    let base = vu.tags.borrow_mut().id(&vu.cache);
    vu.cache.extend(base, all)
}

/// Counts one call.
fn count(vu: &VuState, metric: fn(&Metrics) -> model::MetricId, tags: TagSetId) {
    if let Ok(metrics) = Metrics::declare(&vu.init.metrics) {
        vu.record(metric(&metrics), tags, 1.0, Mark::Measured, SystemClock::now());
    }
}

/// Counts a call's success or failure.
fn count_call(vu: &VuState, own: &Tags, url: &Arc<str>, method: &str, topic: Option<&str>, is_done: bool) {
    let tags = tag_set(vu, own, url, Some(method), topic);
    let metric = if is_done { |metrics: &Metrics| metrics.calls } else { |metrics: &Metrics| metrics.errors };
    count(vu, metric, tags);
}

fn client_of(args: &Args<'_, '_>) -> rquickjs::Result<Rc<Client>> {
    let id = args.get(0).as_number().unwrap_or_default() as u32;
    args.vu.streams.get(id).ok_or_else(|| args.error("the client is not connected"))
}

/// Waits for something: the script stands still, the thread does not.
fn wait<T>(args: &Args<'_, '_>, work: impl Future<Output = T>) -> rquickjs::Result<T> {
    let done = vu::block_on(std::pin::pin!(work));
    args.vu.step_ended();
    done.map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))
}

/// `mayConnect()`: throws in the init context, before arguments are looked at, as in k6, which crashes there.
fn may_connect<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if !args.vu.is_running() {
        let text = "connecting to an MQTT broker in the init context is not supported";
        if !args.vu.is_strict() {
            return Err(args.error(text));
        }
        *args.vu.abort_reason.borrow_mut() = Some(text.to_owned());
        return Err(unwind(args.ctx, &args.vu.stop, StopReason::Crashed));
    }
    args.undefined()
}

/// `connect(urls, settings, tags, method, dispatch)`: waits for a connection to the first broker that takes it. Its number, or the
/// text of the failure.
fn connect<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(dispatch) = args.get(4).into_function() else {
        return Err(args.type_error("a client needs a function that takes its events"));
    };
    let asked = Asked::read(args)?;
    let (own, method) = (tags(args, 2)?, args.string(3)?);
    let mut failure = String::new();
    for broker in &asked.brokers {
        let limit = asked.timeout;
        let opening = open::open(args.vu, broker, &asked.settings);
        let opened = wait(args, async move {
            tokio::time::timeout(limit, opening).await.unwrap_or_else(|_| {
                Err(format!(
                    "network Error : no connection within {} (i/o timeout)",
                    model::GoDuration::from(limit)
                ))
            })
        })?;
        match opened {
            Ok(session) => {
                count_call(args.vu, &own, &broker.url, &method, None, true);
                return listen(args, dispatch, Client { session, url: broker.url.clone() });
            }
            Err(text) => {
                count_call(args.vu, &own, &broker.url, &method, None, false);
                failure = text;
            }
        }
    }
    js::string_from_bytes(args.ctx, failure.as_bytes())
}

/// Passes the events of a connection on, the first of which is that it is open.
fn listen<'js>(
    args: &Args<'_, 'js>,
    dispatch: rquickjs::Function<'js>,
    client: Client,
) -> rquickjs::Result<Value<'js>> {
    let client = Rc::new(client);
    let Some(id) = args.vu.streams.add(client.clone()) else {
        client.session.leave();
        return Err(args.error("too many connections are open in this VU; end those that are not needed"));
    };
    let line = EventLine::new(args.ctx, args.vu, dispatch, id);
    args.vu.events.spawn(Box::pin(async move {
        let completion: Completion = Box::new(move |ctx| {
            line.clone().listen(client);
            line.dispatch(ctx, ("connect",))
        });
        completion
    }));
    Ok(Value::new_number(args.ctx.clone(), id.into()))
}

/// `isConnected(id)`
fn is_connected<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let id = args.get(0).as_number().unwrap_or_default() as u32;
    let client: Option<Rc<Client>> = args.vu.streams.get(id);
    let is_connected = client.is_some_and(|client| client.session.is_connected());
    Ok(Value::new_bool(args.ctx.clone(), is_connected))
}

/// A call to a broker that is answered later.
struct Call {
    client: Rc<Client>,
    method: &'static str,
    topics: Vec<String>,
    payload: Vec<u8>,
    qos: u8,
    is_retained: bool,
    /// Tags of the call.
    tags: Tags,
    /// Tags of the message.
    message_tags: Tags,
}

impl Call {
    async fn run(&self) -> Result<(), MqttError> {
        let session = &self.client.session;
        match self.method {
            "publish" => session.publish(&self.topics[0], &self.payload, self.qos, self.is_retained).await,
            "subscribe" => session.subscribe(&self.topics, self.qos).await,
            _ => session.unsubscribe(&self.topics).await,
        }
    }

    /// Counts what the broker had a part in.
    fn count(&self, vu: &VuState, done: &Result<(), MqttError>) {
        if matches!(done, Err(MqttError::Invalid(_))) {
            return;
        }
        let (url, is_done) = (&self.client.url, done.is_ok());
        for topic in &self.topics {
            count_call(vu, &self.tags, url, self.method, Some(topic), is_done);
            if self.method == "publish" && is_done {
                let tags = tag_set(vu, &self.message_tags, url, None, Some(topic));
                count(vu, |metrics| metrics.sent, tags);
            }
        }
    }
}

/// `publish(id, topic, payload, qos, retain, tags, messageTags)`
fn publication(args: &Args<'_, '_>) -> rquickjs::Result<Call> {
    let client = client_of(args)?;
    let payload = args.get(2);
    let payload = match js::bytes_of(&payload) {
        Some(bytes) => bytes,
        None => js::to_string(args.ctx, &payload)?.into_bytes(),
    };
    Ok(Call {
        client,
        method: "publish",
        topics: vec![args.string(1)?],
        payload,
        qos: qos(args, 3)?,
        is_retained: js::to_bool(&args.get(4)),
        tags: tags(args, 5)?,
        message_tags: tags(args, 6)?,
    })
}

/// `subscribe(id, topics, qos, tags)`
fn subscription(args: &Args<'_, '_>) -> rquickjs::Result<Call> {
    let (qos, tags) = (qos(args, 2)?, tags(args, 3)?);
    Ok(Call { qos, tags, ..topics_call(args, "subscribe")? })
}

/// `unsubscribe(id, topics, tags)`
fn unsubscription(args: &Args<'_, '_>) -> rquickjs::Result<Call> {
    let tags = tags(args, 2)?;
    Ok(Call { tags, ..topics_call(args, "unsubscribe")? })
}

fn topics_call(args: &Args<'_, '_>, method: &'static str) -> rquickjs::Result<Call> {
    let client = client_of(args)?;
    let mut topics = Vec::new();
    if let Some(list) = args.get(1).as_array() {
        for topic in list.iter::<Value<'_>>() {
            topics.push(js::to_string(args.ctx, &topic?)?);
        }
    }
    let (payload, tags, message_tags) = (Vec::new(), Tags::new(), Tags::new());
    Ok(Call { client, method, topics, payload, qos: 0, is_retained: false, tags, message_tags })
}

fn qos(args: &Args<'_, '_>, index: usize) -> rquickjs::Result<u8> {
    match js::to_number(args.ctx, &args.get(index))? {
        0.0 => Ok(0),
        1.0 => Ok(1),
        2.0 => Ok(2),
        other => Err(args.error(format!("invalid qos {other}: expected 0, 1 or 2"))),
    }
}

/// Waits for a call; the text of its failure.
fn sync<'js>(args: &Args<'_, 'js>, call: Call) -> rquickjs::Result<Value<'js>> {
    let done = wait(args, call.run())?;
    call.count(args.vu, &done);
    match done {
        Ok(()) => args.undefined(),
        Err(MqttError::Invalid(text)) => Err(args.error(text)),
        Err(error) => js::string_from_bytes(args.ctx, error.to_string().as_bytes()),
    }
}

/// A promise of a call's end.
fn promise<'js>(args: &Args<'_, 'js>, call: Call) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = args.ctx.promise()?;
    let functions = [resolve, reject].map(|function| Persistent::save(args.ctx, function));
    let vu = args.vu.clone();
    args.vu.events.spawn(Box::pin(async move {
        let done = call.run().await;
        call.count(&vu, &done);
        let completion: Completion = Box::new(move |ctx| {
            vu.step_ended();
            let [resolve, reject] = functions;
            match done {
                Ok(()) => resolve.restore(ctx)?.call(()),
                Err(error) => {
                    let error = Exception::from_message(ctx.clone(), &error.to_string())?;
                    reject.restore(ctx)?.call((error.into_object(),))
                }
            }
        });
        completion
    }));
    Ok(promise.into_value())
}

/// `end(id, tags)`: says goodbye; the event `end` follows.
fn end<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let id = args.get(0).as_number().unwrap_or_default() as u32;
    let client: Option<Rc<Client>> = args.vu.streams.get(id);
    if let Some(client) = client.filter(|client| client.session.is_connected()) {
        wait(args, client.session.end())?;
        count_call(args.vu, &tags(args, 1)?, &client.url, "end", None, true);
    }
    args.undefined()
}

/// `received(id, topic, tags)`: a handler takes a message.
fn received<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Ok(client) = client_of(args) else { return args.undefined() };
    let (topic, own) = (args.string(1)?, tags(args, 2)?);
    count_call(args.vu, &own, &client.url, "message", Some(&topic), true);
    let set = tag_set(args.vu, &own, &client.url, None, Some(&topic));
    count(args.vu, |metrics| metrics.received, set);
    args.undefined()
}

/// `later(function)`: calls it from the event loop.
fn later<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let Some(function) = args.get(0).into_function() else { return args.undefined() };
    let callback = Persistent::save(args.ctx, function);
    let group = crate::async_groups::current(args.vu);
    let call = TimerCall { callback, arguments: Vec::new(), group };
    args.vu.events.start_timer(call, Duration::ZERO, false);
    args.undefined()
}
