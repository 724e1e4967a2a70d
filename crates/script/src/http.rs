//! `k6/http`.

mod batch;
mod body;
mod debug;
mod expected;
mod fetch;
pub(crate) mod fetch_globals;
mod flight;
mod form;
mod jar;
mod ocsp;
mod page;
mod params;
mod perform;
mod response;
mod samples;
mod span;
pub(crate) mod streaming;
pub(crate) mod suspects;
mod url;

use std::pin::pin;
use std::rc::Rc;

use rquickjs::{Ctx, Object, Persistent, Value};

use crate::error::unwind;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn, lazy};
use crate::state::VuState;
use crate::state::stop::StopReason;
pub(crate) use jar::{Jar, after_setup};
use params::Prepared;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/http", build };

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("get", |args| bodyless(args, "GET")),
    ("head", |args| bodyless(args, "HEAD")),
    ("post", |args| with_body(args, "POST")),
    ("put", |args| with_body(args, "PUT")),
    ("patch", |args| with_body(args, "PATCH")),
    ("del", |args| with_body(args, "DELETE")),
    ("options", |args| with_body(args, "OPTIONS")),
    ("request", request),
    ("asyncRequest", async_request),
    ("batch", batch::batch),
    ("cookieJar", jar::current),
    ("file", form::file),
    ("expectedStatuses", expected::expected_statuses),
    ("setResponseCallback", expected::set_response_callback),
    ("url", url::template),
];

const CONSTANTS: &[(&str, &str)] = &[
    ("TLS_1_0", "tls1.0"),
    ("TLS_1_1", "tls1.1"),
    ("TLS_1_2", "tls1.2"),
    ("TLS_1_3", "tls1.3"),
    ("OCSP_STATUS_GOOD", "good"),
    ("OCSP_STATUS_REVOKED", "revoked"),
    ("OCSP_STATUS_SERVER_FAILED", "server_failed"),
    ("OCSP_STATUS_UNKNOWN", "unknown"),
    ("OCSP_REASON_UNSPECIFIED", "unspecified"),
    ("OCSP_REASON_KEY_COMPROMISE", "key_compromise"),
    ("OCSP_REASON_CA_COMPROMISE", "ca_compromise"),
    ("OCSP_REASON_AFFILIATION_CHANGED", "affiliation_changed"),
    ("OCSP_REASON_SUPERSEDED", "superseded"),
    ("OCSP_REASON_CESSATION_OF_OPERATION", "cessation_of_operation"),
    ("OCSP_REASON_CERTIFICATE_HOLD", "certificate_hold"),
    ("OCSP_REASON_REMOVE_FROM_CRL", "remove_from_crl"),
    ("OCSP_REASON_PRIVILEGE_WITHDRAWN", "privilege_withdrawn"),
    ("OCSP_REASON_AA_COMPROMISE", "aa_compromise"),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    for (name, value) in CONSTANTS {
        module.set(*name, *value)?;
    }
    module.set("CookieJar", js::constructor(ctx, vu, "CookieJar", jar::construct)?)?;
    lazy::prepare::<response::Received>(ctx, vu)?;
    Ok(module)
}

/// `get(url, params?)`, `head(url, params?)`
fn bodyless<'js>(args: &Args<'_, 'js>, method: &'static str) -> rquickjs::Result<Value<'js>> {
    send(args, params::prepare(args, method, &args.get(0), None, args.given(1))?)
}

/// `post(url, body?, params?)` and its like.
fn with_body<'js>(args: &Args<'_, 'js>, method: &'static str) -> rquickjs::Result<Value<'js>> {
    send(args, params::prepare(args, method, &args.get(0), args.given(1), args.given(2))?)
}

/// `request(method, url, body?, params?)`
fn request<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let method = args.string(0)?;
    send(args, params::prepare(args, &method, &args.get(1), args.given(2), args.given(3))?)
}

/// Sends a request and waits: the script stands still, the thread does not.
fn send<'js>(args: &Args<'_, 'js>, mut prepared: Box<Prepared>) -> rquickjs::Result<Value<'js>> {
    match wait(args.vu, &mut prepared) {
        Ok(done) => {
            args.vu.step_ended();
            response::finish(args.ctx, args.vu, done)
        }
        Err(vu::Interrupted) => Err(unwind(args.ctx, &args.vu.stop, StopReason::Interrupted)),
    }
}

/// In a function of its own: the request is off the stack when the response is made.
#[inline(never)]
fn wait(vu: &Rc<VuState>, prepared: &mut Prepared) -> Result<perform::Done, vu::Interrupted> {
    // Pinned here, because it is large and would be moved otherwise.
    vu::block_on(pin!(perform::perform(vu, prepared)))
}

/// `asyncRequest(method, url, body?, params?)`: the same as a promise.
fn async_request<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (promise, resolve, reject) = args.ctx.promise()?;
    let method = args.string(0)?;
    let mut prepared = match params::prepare(args, &method, &args.get(1), args.given(2), args.given(3)) {
        Ok(prepared) => prepared,
        Err(rquickjs::Error::Exception) if args.vu.stop.reason() == StopReason::None => {
            reject.call::<_, ()>((args.ctx.catch(),))?;
            return Ok(promise.into_value());
        }
        Err(error) => return Err(error),
    };
    let vu = args.vu.clone();
    let resolve = Persistent::save(args.ctx, resolve);
    let reject = Persistent::save(args.ctx, reject);
    args.vu.events.spawn(Box::pin(async move {
        let done = perform::perform(&vu, &mut prepared).await;
        let completion: crate::state::events::Completion = Box::new(move |ctx| {
            vu.step_ended();
            match response::finish(ctx, &vu, done) {
                Ok(response) => resolve.restore(ctx)?.call((response,)),
                Err(rquickjs::Error::Exception) => reject.restore(ctx)?.call((ctx.catch(),)),
                Err(error) => Err(error),
            }
        });
        completion
    }));
    Ok(promise.into_value())
}
