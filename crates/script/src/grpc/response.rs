//! From the outcome of a call to what the script gets.

use std::rc::Rc;
use std::sync::Arc;

use grpc::{DecodeError, Schema, Status};
use rquickjs::{Array, Ctx, Object, Value};

use super::call::{Outcome, Prepared};
use super::client::{Client, Known};
use super::metadata;
use crate::js;
use crate::state::VuState;

/// Trailers that have a place of their own.
const OWN_TRAILERS: [&str; 2] = ["grpc-status", "grpc-message"];

/// `{ message, error, headers, trailers, status }`
pub(super) fn finish<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    prepared: &Prepared,
    outcome: Outcome,
) -> rquickjs::Result<Value<'js>> {
    let response = Object::new(ctx.clone())?;
    // A failed call has a message without anything in it, as in k6.
    let message = match prepared.discards {
        true => Value::new_null(ctx.clone()),
        false => {
            let bytes = outcome.message.as_deref().unwrap_or_default();
            message(ctx, vu, &prepared.client, &prepared.known, bytes)?
        }
    };
    response.set("message", message)?;
    let error = match outcome.status.code {
        grpc::Code::OK => Value::new_null(ctx.clone()),
        _ => error(ctx, vu, &prepared.client, &outcome.status)?,
    };
    response.set("error", error)?;
    response.set("headers", metadata::to_js(ctx, outcome.fields.headers.as_ref(), &[])?)?;
    response.set("trailers", metadata::to_js(ctx, outcome.fields.trailers.as_ref(), &OWN_TRAILERS)?)?;
    response.set("status", outcome.status.code.0)?;
    Ok(response.into_value())
}

/// A message as an object.
pub(super) fn message<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    client: &Client,
    known: &Known,
    bytes: &[u8],
) -> rquickjs::Result<Value<'js>> {
    let types = client.schemas();
    let json = known.schema.decode(&types, known.method.output, bytes, &mut || !vu.must_stop());
    parsed(ctx, json)
}

/// `{ code, message, details }`
pub(super) fn error<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    client: &Client,
    status: &Status,
) -> rquickjs::Result<Value<'js>> {
    let error = Object::new(ctx.clone())?;
    error.set("code", status.code.0)?;
    error.set("message", status.message.as_str())?;
    let details = Array::new(ctx.clone())?;
    let types: Vec<Arc<Schema>> = client.schemas();
    for (index, any) in status.details.iter().enumerate() {
        let json = grpc::decode_any(&types, any, &mut || !vu.must_stop());
        // A detail of a type that is not loaded is no reason to lose the others.
        let detail = match json {
            Err(DecodeError::Bytes(why)) => {
                let detail = Object::new(ctx.clone())?;
                detail.set("@error", why)?;
                detail.into_value()
            }
            json => parsed(ctx, json)?,
        };
        details.set(index, detail)?;
    }
    error.set("details", details)?;
    Ok(error.into_value())
}

fn parsed<'js>(ctx: &Ctx<'js>, json: Result<Vec<u8>, DecodeError>) -> rquickjs::Result<Value<'js>> {
    let json = match json {
        Ok(json) => json,
        Err(DecodeError::Interrupted) => return Err(js::throw_uncatchable(ctx)),
        Err(DecodeError::Bytes(why)) => {
            return Err(js::go_error(ctx, &format!("unable to read the server's message: {why}")));
        }
    };
    vu::preempt::in_engine(|| ctx.json_parse(json))
}
