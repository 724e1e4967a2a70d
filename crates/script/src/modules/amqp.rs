//! `k6/x/amqp`, `k6/x/amqp/queue` and `k6/x/amqp/exchange`: queues and exchanges of AMQP brokers.

mod msgpack;

use std::rc::Rc;
use std::time::Duration;

use datastore::amqp::{AmqpError, Connection, Field, Fields, Method, Publication, Settings};
use datastore::{Dial, Tls};
use rquickjs::{Array, Ctx, Object, Value};

use crate::dialer::VuDialer;
use crate::error::unwind;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/amqp", build: |ctx, vu| build(ctx, vu, FUNCTIONS) };
pub(crate) const QUEUE: Builtin =
    Builtin { name: "k6/x/amqp/queue", build: |ctx, vu| build(ctx, vu, QUEUE_FUNCTIONS) };
pub(crate) const EXCHANGE: Builtin =
    Builtin { name: "k6/x/amqp/exchange", build: |ctx, vu| build(ctx, vu, EXCHANGE_FUNCTIONS) };

/// The version of the extension whose functions these are.
const VERSION: &str = "v0.4.1";

/// Connections of one VU. A script that opens more opens one in each iteration.
const CONNECTIONS_MAX: usize = 1000;

/// How long a connection and its login may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Depth of a table.
const DEPTH_MAX: usize = 8;

/// The content type whose bodies are JSON in the script, and MessagePack on the way.
const MESSAGE_PACK: &str = "application/x-msgpack";

const FUNCTIONS: &[(&str, NativeFn)] = &[("start", start), ("publish", publish), ("listen", listen)];

const QUEUE_FUNCTIONS: &[(&str, NativeFn)] = &[
    ("declare", declare_queue),
    ("inspect", inspect),
    ("delete", delete_queue),
    ("purge", purge),
    ("bind", |args| bind_queue(args, false)),
    ("unbind", |args| bind_queue(args, true)),
];

const EXCHANGE_FUNCTIONS: &[(&str, NativeFn)] = &[
    ("declare", declare_exchange),
    ("delete", delete_exchange),
    ("bind", |args| bind_exchange(args, false)),
    ("unbind", |args| bind_exchange(args, true)),
];

fn build<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    functions: &[(&'static str, NativeFn)],
) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("version", VERSION)?;
    js::set_natives(&module, vu, functions)?;
    Ok(module)
}

/// `start({ connection_url })`: connects; the number of the connection.
fn start<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    if !args.vu.is_running() {
        return Err(args.error("connecting to an AMQP broker in the init context is not supported"));
    }
    let url = Options::new(args).text("connection_url")?;
    let settings = Settings::parse(&url).map_err(|error| args.error(error.to_string()))?;
    args.vu.init.secrets.hide(Some(settings.password.clone()).filter(|password| password != "guest"));
    let dialer = VuDialer(args.vu.clone());
    let opening = async {
        let mut stream = dialer.open(&settings.host, settings.port).await.map_err(AmqpError::Dial)?;
        if settings.is_encrypted {
            let encrypted = dialer.encrypt(stream, &settings.host, &Tls::default()).await;
            stream = encrypted.map_err(AmqpError::Dial)?;
        }
        Connection::open(stream, &settings).await
    };
    let opened = wait(args, async {
        tokio::time::timeout(CONNECT_TIMEOUT, opening).await.unwrap_or_else(|_| {
            Err(AmqpError::Dial(format!("dial: no connection within {CONNECT_TIMEOUT:?} (i/o timeout)")))
        })
    })?;
    let connection = opened.map_err(|error| args.error(error.to_string()))?;
    let mut connections = args.vu.amqp.borrow_mut();
    if connections.len() >= CONNECTIONS_MAX {
        return Err(args.error(format!(
            "this VU has {CONNECTIONS_MAX} connections; keep the number that start() returns, and use it again"
        )));
    }
    connections.push(Some(connection));
    Ok(Value::new_number(args.ctx.clone(), connections.len() as f64))
}

/// Waits for something: the script stands still, the thread does not.
fn wait<T>(args: &Args<'_, '_>, work: impl Future<Output = T>) -> rquickjs::Result<T> {
    let done = vu::block_on(std::pin::pin!(work));
    args.vu.step_ended();
    done.map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))
}

/// Does something with the connection that the options name, or with the last one. It is taken out while it is used: work that
/// is cut off ends it.
fn with_connection<T>(
    args: &Args<'_, '_>,
    given: Option<usize>,
    work: impl AsyncFnOnce(&mut Connection) -> Result<T, AmqpError>,
) -> rquickjs::Result<T> {
    let connections = &args.vu.amqp;
    let number = given.unwrap_or_else(|| connections.borrow().len());
    let index = number.checked_sub(1);
    let known = index.is_some_and(|index| index < connections.borrow().len());
    let Some(index) = index.filter(|_| known) else {
        return Err(args.error(match given {
            Some(number) => format!("connection with ID {number} not initialised"),
            None => "connection not initialised".to_owned(),
        }));
    };
    let Some(mut connection) = connections.borrow_mut()[index].take() else {
        return Err(args.error("Exception (504) Reason: \"channel/connection is not open\""));
    };
    let (done, connection) = wait(args, async move {
        let done = work(&mut connection).await;
        (done, connection)
    })?;
    let is_over = matches!(&done, Err(AmqpError::Lost(_) | AmqpError::Refused { is_over: true, .. }));
    if !is_over {
        connections.borrow_mut()[index] = Some(connection);
    }
    done.map_err(|error| args.error(error.to_string()))
}

/// Calls a method over the connection that the options name.
fn call(
    args: &Args<'_, '_>,
    given: Option<usize>,
    method: Method,
) -> rquickjs::Result<datastore::amqp::Reply> {
    with_connection(args, given, async move |connection: &mut Connection| connection.call(&method).await)
}

/// `publish({ queue_name, body, exchange, headers, content_type, … })`
fn publish<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let options = Options::new(args);
    let content_type = options.text("content_type")?;
    let body = options.value("body")?;
    let body = match js::bytes_of(&body) {
        Some(bytes) => bytes,
        None => options.text("body")?.into_bytes(),
    };
    let body = match content_type == MESSAGE_PACK {
        true => msgpack::encode(&body).map_err(|error| args.error(error))?,
        false => body,
    };
    let timestamp = options.number("timestamp")?;
    let publication = Publication {
        exchange: options.text("exchange")?,
        key: options.text("queue_name")?,
        mandatory: options.flag("mandatory")?,
        immediate: options.flag("immediate")?,
        body,
        content_type,
        headers: options.fields("headers")?,
        delivery_mode: if options.flag("persistent")? { 2 } else { 0 },
        timestamp_unix_s: timestamp.filter(|seconds| *seconds > 0.0).map(|seconds| seconds as u64),
    };
    let given = options.connection()?;
    with_connection(args, given, async move |connection: &mut Connection| {
        connection.publish(&publication).await
    })?;
    args.undefined()
}

/// `listen({ queue_name, listener, auto_ack })`: passes the messages that are in a queue to a function.
fn listen<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let options = Options::new(args);
    let Some(listener) = options.value("listener")?.into_function() else {
        return Err(args.type_error("listen() needs a function as its listener"));
    };
    let (queue, acknowledges) = (options.text("queue_name")?, options.flag("auto_ack")?);
    let given = options.connection()?;
    with_connection(args, given, async |connection: &mut Connection| connection.open_queue().await)?;
    let mut left = u32::MAX;
    while left > 0 {
        let next = with_connection(args, given, async |connection: &mut Connection| {
            connection.next(&queue, acknowledges).await
        })?;
        let Some(delivery) = next else { break };
        // What is published meanwhile waits for the next call.
        left = delivery.left.min(left.saturating_sub(1));
        let text = js::string_from_bytes(args.ctx, &delivery.body)?;
        vu::preempt::in_engine(|| listener.call::<_, Value<'js>>((text,)))?;
        args.pause()?;
    }
    with_connection(args, given, async |connection: &mut Connection| connection.close_queue().await)?;
    args.undefined()
}

/// `declare({ name, durable, delete_when_unused, exclusive, args })`
fn declare_queue<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let options = Options::new(args);
    let method = Method::DeclareQueue {
        name: options.text("name")?,
        passive: false,
        durable: options.flag("durable")?,
        exclusive: options.flag("exclusive")?,
        auto_delete: options.flag("delete_when_unused")?,
        arguments: options.fields("args")?,
    };
    queue_object(args, &call(args, options.connection()?, method)?)
}

/// `inspect(name)`
fn inspect<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let method = Method::DeclareQueue {
        name: args.string(0)?,
        passive: true,
        durable: false,
        exclusive: false,
        auto_delete: false,
        arguments: Fields::new(),
    };
    queue_object(args, &call(args, None, method)?)
}

fn queue_object<'js>(args: &Args<'_, 'js>, reply: &datastore::amqp::Reply) -> rquickjs::Result<Value<'js>> {
    let object = Object::new(args.ctx.clone())?;
    object.set("name", reply.name.as_str())?;
    object.set("messages", reply.messages)?;
    object.set("consumers", reply.consumers)?;
    Ok(object.into_value())
}

/// `delete(name)`
fn delete_queue<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    call(args, None, Method::DeleteQueue(args.string(0)?))?;
    args.undefined()
}

/// `purge(name)`: how many messages were removed.
fn purge<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let reply = call(args, None, Method::PurgeQueue(args.string(0)?))?;
    Ok(Value::new_number(args.ctx.clone(), reply.messages.into()))
}

/// `bind({ queue_name, exchange_name, routing_key, args })`, and `unbind`.
fn bind_queue<'js>(args: &Args<'_, 'js>, ends: bool) -> rquickjs::Result<Value<'js>> {
    let options = Options::new(args);
    let method = Method::BindQueue {
        queue: options.text("queue_name")?,
        exchange: options.text("exchange_name")?,
        key: options.text("routing_key")?,
        arguments: options.fields("args")?,
        ends,
    };
    call(args, options.connection()?, method)?;
    args.undefined()
}

/// `declare({ name, kind, durable, auto_delete, internal, args })`
fn declare_exchange<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let options = Options::new(args);
    let method = Method::DeclareExchange {
        name: options.text("name")?,
        kind: options.text("kind")?,
        durable: options.flag("durable")?,
        auto_delete: options.flag("auto_delete")?,
        internal: options.flag("internal")?,
        arguments: options.fields("args")?,
    };
    call(args, options.connection()?, method)?;
    args.undefined()
}

/// `delete(name)`
fn delete_exchange<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    call(args, None, Method::DeleteExchange(args.string(0)?))?;
    args.undefined()
}

/// `bind({ destination_exchange_name, source_exchange_name, routing_key, args })`, and `unbind`.
fn bind_exchange<'js>(args: &Args<'_, 'js>, ends: bool) -> rquickjs::Result<Value<'js>> {
    let options = Options::new(args);
    let method = Method::BindExchange {
        destination: options.text("destination_exchange_name")?,
        source: options.text("source_exchange_name")?,
        key: options.text("routing_key")?,
        arguments: options.fields("args")?,
        ends,
    };
    call(args, options.connection()?, method)?;
    args.undefined()
}

/// Argument 0, an object of options; what is not there has its default.
struct Options<'a, 'b, 'js> {
    args: &'a Args<'b, 'js>,
    object: Option<Object<'js>>,
}

impl<'a, 'b, 'js> Options<'a, 'b, 'js> {
    fn new(args: &'a Args<'b, 'js>) -> Options<'a, 'b, 'js> {
        Options { args, object: args.get(0).into_object() }
    }

    fn value(&self, name: &str) -> rquickjs::Result<Value<'js>> {
        match &self.object {
            Some(object) => object.get(name),
            None => Ok(Value::new_undefined(self.args.ctx.clone())),
        }
    }

    fn text(&self, name: &str) -> rquickjs::Result<String> {
        let value = self.value(name)?;
        match value.is_undefined() || value.is_null() {
            true => Ok(String::new()),
            false => js::to_string(self.args.ctx, &value),
        }
    }

    fn flag(&self, name: &str) -> rquickjs::Result<bool> {
        self.value(name).map(|value| js::to_bool(&value))
    }

    fn number(&self, name: &str) -> rquickjs::Result<Option<f64>> {
        let value = self.value(name)?;
        match value.is_undefined() || value.is_null() {
            true => Ok(None),
            false => js::to_number(self.args.ctx, &value).map(Some),
        }
    }

    fn connection(&self) -> rquickjs::Result<Option<usize>> {
        Ok(self.number("connection_id")?.filter(|number| *number > 0.0).map(|number| number as usize))
    }

    fn fields(&self, name: &str) -> rquickjs::Result<Fields> {
        fields(self.args, &self.value(name)?, 0)
    }
}

fn fields<'js>(args: &Args<'_, 'js>, value: &Value<'js>, depth: usize) -> rquickjs::Result<Fields> {
    let mut fields = Fields::new();
    if value.is_object() {
        js::each_property(value, |name, value| {
            fields.push((name.to_text()?, field(args, &value, depth + 1)?));
            Ok(())
        })?;
    }
    Ok(fields)
}

fn field<'js>(args: &Args<'_, 'js>, value: &Value<'js>, depth: usize) -> rquickjs::Result<Field> {
    if depth > DEPTH_MAX {
        return Err(args.error(format!("a table is nested more than {DEPTH_MAX} times")));
    }
    if value.is_undefined() || value.is_null() {
        return Ok(Field::Nothing);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Field::Flag(flag));
    }
    if let Some(number) = value.as_number() {
        let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
        return Ok(if is_whole { Field::Integer(number as i64) } else { Field::Float(number.to_bits()) });
    }
    if let Some(array) = value.as_array() {
        return list(args, array, depth);
    }
    if value.is_object() && !value.is_function() {
        return fields(args, value, depth).map(Field::Table);
    }
    js::to_string(args.ctx, value).map(Field::Text)
}

fn list<'js>(args: &Args<'_, 'js>, array: &Array<'js>, depth: usize) -> rquickjs::Result<Field> {
    let members = array.iter::<Value<'js>>().map(|member| field(args, &member?, depth + 1));
    members.collect::<rquickjs::Result<_>>().map(Field::List)
}
