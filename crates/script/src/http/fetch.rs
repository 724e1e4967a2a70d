//! The natives below `fetch()`: a request from explicit arguments, and a response of bytes.

use rquickjs::{Array, Ctx, Function, Object, Persistent, Value};
use tokio::sync::oneshot;

use super::params::{self, ResponseType};
use super::perform::{self, Done};
use crate::js::{self, Args};
use crate::state::http::SharedJar;
use crate::state::stop::StopReason;

/// `send(method, url, body, params, headers, options)`: the promise of an answer, and a function that gives it up.
/// `headers` are names and values in turn, `options` say whether redirects are followed and cookies are sent.
pub(crate) fn send<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = args.ctx.promise()?;
    let method = args.string(0)?;
    let mut prepared = match params::prepare(args, &method, &args.get(1), args.given(2), args.given(3)) {
        Ok(prepared) => prepared,
        Err(rquickjs::Error::Exception) if args.vu.stop.reason() == StopReason::None => {
            reject.call::<_, ()>((args.ctx.catch(),))?;
            return pair(args.ctx, promise.into_value(), crate::js::closure(args.ctx, || {})?);
        }
        Err(error) => return Err(error),
    };
    let headers: Vec<String> =
        args.get(4).as_array().into_iter().flat_map(Array::iter::<String>).collect::<Result<_, _>>()?;
    for header in headers.chunks_exact(2) {
        params::set_header(&mut prepared.request, &header[0], header[1].clone());
    }
    if let Some(options) = args.get(5).as_object() {
        if options.get::<_, String>("redirect")? != "follow" {
            prepared.redirects_max = 0;
            prepared.warns_at_redirect_limit = false;
        }
        if options.get::<_, bool>("omitsCookies")? {
            prepared.jar = SharedJar::default();
        }
    }
    // A failed fetch is a rejected promise, and a body is bytes until the script says what it is.
    prepared.throws = true;
    prepared.response_type = ResponseType::Binary;
    prepared.request.keep_body = true;
    let (abort, aborted) = oneshot::channel::<()>();
    let vu = args.vu.clone();
    let resolve = Persistent::save(args.ctx, resolve);
    args.vu.events.spawn(Box::pin(async move {
        let given_up = async {
            // Dropped unused when the script lets go of it, which gives nothing up.
            if aborted.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let done = tokio::select! {
            biased;
            () = given_up => None,
            done = perform::perform(&vu, &mut prepared) => Some(done),
        };
        let completion: crate::state::events::Completion = Box::new(move |ctx| {
            vu.step_ended();
            match done {
                Some(done) => resolve.restore(ctx)?.call((answer(ctx, done)?,)),
                None => Ok(()),
            }
        });
        completion
    }));
    let abort = std::cell::Cell::new(Some(abort));
    let give_up = move || {
        if let Some(abort) = abort.take() {
            // The request may have ended.
            let _ = abort.send(());
        }
    };
    pair(args.ctx, promise.into_value(), crate::js::closure(args.ctx, give_up)?)
}

fn pair<'js>(ctx: &Ctx<'js>, promise: Value<'js>, abort: Function<'js>) -> rquickjs::Result<Value<'js>> {
    let pair = Array::new(ctx.clone())?;
    pair.set(0, promise)?;
    pair.set(1, abort)?;
    Ok(pair.into_value())
}

/// `{ problem }`, or `{ status, statusText, url, redirected, headers, body }`.
fn answer<'js>(ctx: &Ctx<'js>, done: Done) -> rquickjs::Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let facts = &done.facts;
    let response = match (&done.throws, &facts.exchange.result) {
        (None, Ok(response)) => response,
        (problem, _) => {
            object.set("problem", problem.as_deref().unwrap_or("the request failed"))?;
            return Ok(object);
        }
    };
    let status_line = response.status_line_text();
    let reason = status_line.split_once(' ').map_or("", |(_, reason)| reason);
    object.set("status", response.status)?;
    object.set("statusText", reason)?;
    object.set("url", facts.target.as_str())?;
    object.set("redirected", facts.target.as_str() != facts.request.target.as_str())?;
    let headers = Array::new(ctx.clone())?;
    for (index, (name, value)) in response.headers.iter().enumerate() {
        headers.set(2 * index, js::string_from_bytes(ctx, name)?)?;
        headers.set(2 * index + 1, js::string_from_bytes(ctx, value)?)?;
    }
    object.set("headers", headers)?;
    object.set("body", js::byte_array(ctx, &response.body)?)?;
    Ok(object)
}
