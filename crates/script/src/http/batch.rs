//! `batch(requests)`: several requests at once.

use std::collections::HashMap;
use std::rc::Rc;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rquickjs::{Array, Object, Value};
use tokio::sync::Semaphore;

use super::params::{self, Prepared};
use super::perform::{Done, perform};
use super::response;
use crate::error::unwind;
use crate::js::Args;
use crate::state::VuState;
use crate::state::stop::StopReason;

/// Requests in one batch; a batch is kept whole in memory.
const REQUESTS_MAX: usize = 100_000;

/// An array or an object of requests; the responses come in the same shape.
pub(super) fn batch<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let given = args.get(0);
    let (keys, requests) = read(args, &given)?;
    let outcome = vu::block_on(run(args.vu, requests));
    let Ok(mut done) = outcome else {
        return Err(unwind(args.ctx, &args.vu.stop, StopReason::Interrupted));
    };
    args.vu.step_ended();
    if let Some(failed) = done.iter().position(|done| done.throws.is_some()) {
        return response::finish(args.ctx, args.vu, done.swap_remove(failed));
    }
    match keys {
        None => {
            let responses = Array::new(args.ctx.clone())?;
            for (index, done) in done.into_iter().enumerate() {
                responses.set(index, response::finish(args.ctx, args.vu, done)?)?;
            }
            Ok(responses.into_value())
        }
        Some(keys) => {
            let responses = Object::new(args.ctx.clone())?;
            for (key, done) in keys.into_iter().zip(done) {
                responses.set(key, response::finish(args.ctx, args.vu, done)?)?;
            }
            Ok(responses.into_value())
        }
    }
}

type Requests = (Option<Vec<String>>, Vec<Prepared>);

fn read<'js>(args: &Args<'_, 'js>, given: &Value<'js>) -> rquickjs::Result<Requests> {
    let mut prepared = Vec::new();
    if let Some(array) = given.as_array() {
        if array.len() > REQUESTS_MAX {
            return Err(args.error(format!("a batch holds at most {REQUESTS_MAX} requests")));
        }
        for item in array.iter::<Value<'js>>() {
            prepared.push(*read_one(args, &item?)?);
        }
        return Ok((None, prepared));
    }
    let Some(object) = given.as_object() else {
        return Err(
            args.type_error("invalid http.batch() argument type: expected an array or an object of requests")
        );
    };
    let mut keys = Vec::new();
    for entry in object.props::<String, Value<'js>>() {
        let (key, item) = entry?;
        keys.push(key);
        prepared.push(*read_one(args, &item)?);
    }
    Ok((Some(keys), prepared))
}

/// A URL, `[method, url, body?, params?]`, or `{ method, url, body, params }`.
fn read_one<'js>(args: &Args<'_, 'js>, item: &Value<'js>) -> rquickjs::Result<Box<Prepared>> {
    let given = |value: Value<'js>| (!value.is_undefined() && !value.is_null()).then_some(value);
    if let Some(array) = item.as_array() {
        let at = |index: usize| -> rquickjs::Result<Value<'js>> {
            if index < array.len() { array.get(index) } else { Ok(Value::new_undefined(args.ctx.clone())) }
        };
        if array.len() < 2 {
            return Err(args.error("a batch request given as an array needs at least a method and a URL"));
        }
        let method = crate::js::to_string(args.ctx, &at(0)?)?;
        return params::prepare(args, &method, &at(1)?, given(at(2)?), given(at(3)?));
    }
    if let Some(object) = item.as_object() {
        let is_template = object.contains_key("name")?
            && object.contains_key("toString")?
            && !object.contains_key("method")?;
        if !is_template {
            let url: Value<'js> = object.get("url")?;
            if url.is_undefined() {
                return Err(args.error("a batch request given as an object needs a `url`"));
            }
            let method = match given(object.get("method")?) {
                Some(method) => crate::js::to_string(args.ctx, &method)?,
                None => "GET".into(),
            };
            return params::prepare(
                args,
                &method,
                &url,
                given(object.get("body")?),
                given(object.get("params")?),
            );
        }
    }
    params::prepare(args, "GET", item, None, None)
}

/// Sends them, as many at a time as the options allow in all and to one host, and keeps their order.
async fn run(vu: &Rc<VuState>, requests: Vec<Prepared>) -> Vec<Done> {
    let (total, per_host) = vu.plan().map_or((1, 1), |plan| (plan.http.batch, plan.http.batch_per_host));
    let all = Semaphore::new(total.max(1) as usize);
    let mut hosts: HashMap<String, Rc<Semaphore>> = HashMap::new();
    for prepared in &requests {
        hosts.entry(prepared.url.target.authority().to_owned()).or_insert_with(|| {
            Rc::new(Semaphore::new(if per_host == 0 { Semaphore::MAX_PERMITS } else { per_host as usize }))
        });
    }
    let count = requests.len();
    let mut running = FuturesUnordered::new();
    for (index, mut prepared) in requests.into_iter().enumerate() {
        let host = hosts[prepared.url.target.authority()].clone();
        let all = &all;
        running.push(async move {
            let _host = host.acquire().await;
            let _slot = all.acquire().await;
            (index, perform(vu, &mut prepared).await)
        });
    }
    let mut done: Vec<Option<Done>> = (0..count).map(|_| None).collect();
    while let Some((index, finished)) = running.next().await {
        done[index] = Some(finished);
    }
    done.into_iter().flatten().collect()
}
