//! `k6/x/redis`, and `k6/experimental/redis`, as k6 called it before.

use std::cell::Cell;
use std::rc::Rc;

use datastore::redis::{Client, Reply, Settings};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Rest, This};
use rquickjs::{Array, Class, Ctx, Exception, Object, Persistent, Value};
use serde_json::Value as Json;

use crate::dialer::VuDialer;
use crate::js::registry::Builtin;
use crate::js::{self, Args, js_lifetime};
use crate::state::VuState;
use crate::state::events::Completion;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/redis", build };
pub(crate) const EXPERIMENTAL: Builtin = Builtin { name: "k6/experimental/redis", build };

/// Key of the methods among a VU's objects.
const METHODS_OBJECT: &str = "k6/x/redis Client.prototype";

/// Commands of one client whose promise is pending. A script that sends more does not wait for its replies.
const PENDING_MAX: usize = 10_000;

/// Depth of an options object.
const OPTIONS_DEPTH_MAX: usize = 8;

/// The kind of an argument.
#[derive(Clone, Copy)]
enum Takes {
    /// Any value, as text.
    Text,
    /// A text, number or boolean.
    Scalar,
    /// A whole number.
    Integer,
}

/// The meaning of a reply.
#[derive(Clone, Copy)]
enum Gives {
    /// The reply itself.
    Reply,
    /// Whether it is 1.
    Flag,
    /// Fields and their values in turn.
    Map,
}

/// A method that sends one command.
struct Method {
    name: &'static str,
    command: &'static str,
    takes: &'static [Takes],
    rest: Option<Takes>,
    gives: Gives,
}

const fn method(name: &'static str, command: &'static str, takes: &'static [Takes]) -> Method {
    Method { name, command, takes, rest: None, gives: Gives::Reply }
}

impl Method {
    const fn rest(mut self, rest: Takes) -> Method {
        self.rest = Some(rest);
        self
    }

    const fn gives(mut self, gives: Gives) -> Method {
        self.gives = gives;
        self
    }
}

use Takes::{Integer, Scalar, Text};

const METHODS: &[Method] = &[
    method("set", "SET", &[Text, Scalar]),
    method("get", "GET", &[Text]),
    method("getSet", "GETSET", &[Text, Scalar]),
    method("del", "DEL", &[]).rest(Text),
    method("getDel", "GETDEL", &[Text]),
    method("exists", "EXISTS", &[]).rest(Text),
    method("incr", "INCR", &[Text]),
    method("incrBy", "INCRBY", &[Text, Integer]),
    method("decr", "DECR", &[Text]),
    method("decrBy", "DECRBY", &[Text, Integer]),
    method("randomKey", "RANDOMKEY", &[]),
    method("mget", "MGET", &[]).rest(Text),
    method("expire", "EXPIRE", &[Text, Integer]).gives(Gives::Flag),
    method("ttl", "TTL", &[Text]),
    method("persist", "PERSIST", &[Text]).gives(Gives::Flag),
    method("lpush", "LPUSH", &[Text]).rest(Scalar),
    method("rpush", "RPUSH", &[Text]).rest(Scalar),
    method("lpop", "LPOP", &[Text]),
    method("rpop", "RPOP", &[Text]),
    method("lrange", "LRANGE", &[Text, Integer, Integer]),
    method("lindex", "LINDEX", &[Text, Integer]),
    method("lset", "LSET", &[Text, Integer, Text]),
    method("lrem", "LREM", &[Text, Integer, Text]),
    method("llen", "LLEN", &[Text]),
    method("hset", "HSET", &[Text, Text, Scalar]),
    method("hsetnx", "HSETNX", &[Text, Text, Scalar]).gives(Gives::Flag),
    method("hget", "HGET", &[Text, Text]),
    method("hdel", "HDEL", &[Text]).rest(Text),
    method("hgetall", "HGETALL", &[Text]).gives(Gives::Map),
    method("hkeys", "HKEYS", &[Text]),
    method("hvals", "HVALS", &[Text]),
    method("hlen", "HLEN", &[Text]),
    method("hincrby", "HINCRBY", &[Text, Text, Integer]),
    method("sadd", "SADD", &[Text]).rest(Scalar),
    method("srem", "SREM", &[Text]).rest(Scalar),
    method("sismember", "SISMEMBER", &[Text, Scalar]).gives(Gives::Flag),
    method("smembers", "SMEMBERS", &[Text]),
    method("srandmember", "SRANDMEMBER", &[Text]),
    method("spop", "SPOP", &[Text]),
    method("sendCommand", "", &[Text]).rest(Scalar),
];

/// The JavaScript object's own part.
struct RedisClient(Rc<Inner>);
js_lifetime!(RedisClient);

struct Inner {
    client: Client,
    pending: Cell<usize>,
}

impl<'js> Trace<'js> for RedisClient {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for RedisClient {
    const NAME: &'static str = "RedisClient";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set("Client", js::constructor(ctx, vu, "Client", construct)?)?;
    Ok(module)
}

/// `new Client(urlOrOptions)`
fn construct<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let given = args.get(0);
    let settings = if given.is_string() {
        Settings::from_url(&args.string(0)?)
    } else if given.is_object() && !given.is_function() && !given.is_array() {
        Settings::from_json(&options(args, &given, 0)?)
    } else {
        let kind = given.type_name();
        return Err(args.error(format!("invalid options type: {kind}; expected string or object")));
    };
    let settings = settings.map_err(|error| args.error(error.to_string()))?;
    args.vu.init.secrets.hide(settings.secrets());
    let client = Client::new(settings, Rc::new(VuDialer(args.vu.clone())));
    let inner = Rc::new(Inner { client, pending: Cell::new(0) });
    let object = Class::instance(args.ctx.clone(), RedisClient(inner))?.into_inner();
    object.set_prototype(Some(&methods(args.ctx, args.vu)?))?;
    Ok(object.into_value())
}

/// The options as JSON; bytes are those of texts.
fn options<'js>(args: &Args<'_, 'js>, value: &Value<'js>, depth: usize) -> rquickjs::Result<Json> {
    if depth > OPTIONS_DEPTH_MAX {
        return Err(args.error("invalid options; reason: they are nested too deeply"));
    }
    if let Some(bytes) = js::bytes_of(value) {
        return Ok(Json::String(String::from_utf8_lossy(&bytes).into_owned()));
    }
    if let Some(flag) = value.as_bool() {
        return Ok(Json::Bool(flag));
    }
    if let Some(number) = value.as_number() {
        let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
        return Ok(if is_whole { Json::from(number as i64) } else { Json::from(number) });
    }
    if value.is_undefined() || value.is_null() {
        return Ok(Json::Null);
    }
    if let Some(array) = value.as_array() {
        let values = array.iter::<Value<'js>>().map(|value| options(args, &value?, depth + 1));
        return values.collect::<rquickjs::Result<_>>().map(Json::Array);
    }
    if value.is_object() {
        let mut fields = serde_json::Map::new();
        js::each_property(value, |name, field| {
            fields.insert(name.to_text()?, options(args, &field, depth + 1)?);
            Ok(())
        })?;
        return Ok(Json::Object(fields));
    }
    js::to_string(args.ctx, value).map(Json::String)
}

/// The methods of all clients of a VU.
fn methods<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    if let Some(known) = vu.builtin_objects.borrow().get(METHODS_OBJECT).cloned() {
        return known.restore(ctx);
    }
    let object = Object::new(ctx.clone())?;
    for method in METHODS {
        let state = vu.clone();
        let send = move |ctx: Ctx<'js>, this: This<Value<'js>>, given: Rest<Value<'js>>| {
            send(&ctx, &state, method, &this.0, &given.0)
        };
        object.set(method.name, js::closure(ctx, send)?.with_name(method.name)?)?;
    }
    js::set_natives(&object, vu, &[("isConnected", is_connected)])?;
    vu.builtin_objects.borrow_mut().insert(METHODS_OBJECT, Persistent::save(ctx, object.clone()));
    Ok(object)
}

fn inner_of<'js>(ctx: &Ctx<'js>, this: &Value<'js>) -> rquickjs::Result<Rc<Inner>> {
    match this.as_object().and_then(Class::<RedisClient>::from_object) {
        Some(client) => Ok(client.borrow().0.clone()),
        None => Err(Exception::throw_type(ctx, "this is not a Redis client")),
    }
}

/// `isConnected()`
fn is_connected<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let inner = inner_of(args.ctx, &args.this())?;
    Ok(Value::new_bool(args.ctx.clone(), inner.client.is_connected()))
}

/// Sends a method's command; a promise of what it gives.
fn send<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    method: &'static Method,
    this: &Value<'js>,
    given: &[Value<'js>],
) -> rquickjs::Result<Value<'js>> {
    let inner = inner_of(ctx, this)?;
    let (promise, resolve, reject) = ctx.promise()?;
    let refusal = if !vu.is_running() {
        Some("connecting to a redis server in the init context is not supported".to_owned())
    } else if inner.pending.get() >= PENDING_MAX {
        Some(format!(
            "{PENDING_MAX} commands of this client wait for their replies; await some before sending more"
        ))
    } else {
        None
    };
    let command = match refusal {
        Some(refusal) => Err(refusal),
        None => command_of(ctx, method, given)?,
    };
    let command = match command {
        Ok(command) => command,
        Err(problem) => {
            reject.call::<_, ()>((failure(ctx, &problem)?,))?;
            return Ok(promise.into_value());
        }
    };
    inner.pending.set(inner.pending.get() + 1);
    let pending = Pending(inner);
    let functions = [resolve, reject].map(|function| Persistent::save(ctx, function));
    let state = vu.clone();
    vu.events.spawn(Box::pin(async move {
        let result = pending.0.client.call(&command).await;
        drop(pending);
        let completion: Completion = Box::new(move |ctx| {
            state.step_ended();
            let [resolve, reject] = functions;
            match result.map(|reply| value_of(ctx, method.gives, &reply)) {
                Ok(Some(value)) => resolve.restore(ctx)?.call((value?,)),
                Ok(None) => reject.restore(ctx)?.call((failure(ctx, "redis: nil")?,)),
                Err(error) => reject.restore(ctx)?.call((failure(ctx, &error.to_string())?,)),
            }
        });
        completion
    }));
    Ok(promise.into_value())
}

/// A command whose promise is pending; no longer when this is dropped.
struct Pending(Rc<Inner>);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.pending.set(self.0.pending.get() - 1);
    }
}

/// An error whose text is the message alone, as that of a Go error in k6.
fn failure<'js>(ctx: &Ctx<'js>, message: &str) -> rquickjs::Result<Value<'js>> {
    let error = Exception::from_message(ctx.clone(), message)?.into_object();
    error.set("name", "")?;
    Ok(error.into_value())
}

/// The command of a call; an argument that is none is a problem for the script's promise.
fn command_of<'js>(
    ctx: &Ctx<'js>,
    method: &Method,
    given: &[Value<'js>],
) -> rquickjs::Result<Result<Vec<Vec<u8>>, String>> {
    let mut command = Vec::with_capacity(given.len() + 1);
    if !method.command.is_empty() {
        command.push(method.command.as_bytes().to_vec());
    }
    let count = if method.rest.is_some() { given.len().max(method.takes.len()) } else { method.takes.len() };
    for index in 0..count {
        let Some(takes) = method.takes.get(index).copied().or(method.rest) else { break };
        let value = given.get(index).cloned().unwrap_or_else(|| Value::new_undefined(ctx.clone()));
        match argument(ctx, takes, &value)? {
            Some(bytes) => command.push(bytes),
            None => {
                return Ok(Err(format!(
                    "unsupported type provided for argument at index {index}, supported types are string, number, and boolean"
                )));
            }
        }
    }
    if method.name == "set"
        && let Some(expiration) = given.get(2).filter(|value| !value.is_undefined() && !value.is_null())
    {
        let seconds = js::to_number(ctx, expiration)?;
        if seconds >= 1.0 {
            command.extend([b"EX".to_vec(), (seconds as i64).to_string().into_bytes()]);
        }
    }
    Ok(Ok(command))
}

/// An argument as the server gets it; `None` where its type is none that can be sent.
fn argument<'js>(ctx: &Ctx<'js>, takes: Takes, value: &Value<'js>) -> rquickjs::Result<Option<Vec<u8>>> {
    let is_scalar = value.is_string() || value.as_number().is_some() || value.as_bool().is_some();
    Ok(match takes {
        Text => Some(js::to_string(ctx, value)?.into_bytes()),
        Integer => Some((js::to_number(ctx, value)? as i64).to_string().into_bytes()),
        Scalar if !is_scalar => None,
        Scalar => Some(match (value.as_bool(), value.as_number()) {
            (Some(flag), _) => vec![if flag { b'1' } else { b'0' }],
            (None, Some(number)) => number_text(number).into_bytes(),
            _ => js::to_string(ctx, value)?.into_bytes(),
        }),
    })
}

/// A number without an exponent, as Go writes it.
fn number_text(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    number.to_string()
}

/// Converts a reply to the value of a promise; `None` where the key does not exist.
fn value_of<'js>(ctx: &Ctx<'js>, gives: Gives, reply: &Reply) -> Option<rquickjs::Result<Value<'js>>> {
    Some(match (gives, reply) {
        (_, Reply::Nil) => return None,
        (Gives::Flag, Reply::Integer(number)) => Ok(Value::new_bool(ctx.clone(), *number == 1)),
        (Gives::Map, Reply::Array(replies)) => map_of(ctx, replies),
        _ => shown(ctx, reply),
    })
}

fn map_of<'js>(ctx: &Ctx<'js>, replies: &[Reply]) -> rquickjs::Result<Value<'js>> {
    let object = Object::new(ctx.clone())?;
    for pair in replies.chunks_exact(2) {
        let name = match &pair[0] {
            Reply::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            _ => continue,
        };
        object.set(name, shown(ctx, &pair[1])?)?;
    }
    Ok(object.into_value())
}

fn shown<'js>(ctx: &Ctx<'js>, reply: &Reply) -> rquickjs::Result<Value<'js>> {
    match reply {
        Reply::Nil => Ok(Value::new_null(ctx.clone())),
        Reply::Text(bytes) => js::string_from_bytes(ctx, bytes),
        Reply::Integer(number) => Ok(Value::new_number(ctx.clone(), *number as f64)),
        Reply::Error(words) => js::string_from_bytes(ctx, words.as_bytes()),
        Reply::Array(replies) => {
            let array = Array::new(ctx.clone())?;
            for (index, reply) in replies.iter().enumerate() {
                array.set(index, shown(ctx, reply)?)?;
            }
            Ok(array.into_value())
        }
    }
}
