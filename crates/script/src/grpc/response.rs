//! From the outcome of a call to what the script gets: objects that are made of JSON texts, because the engine makes them of a text
//! faster than one property at a time.

use std::rc::Rc;
use std::sync::Arc;

use grpc::{DecodeError, Schema, Status};
use rquickjs::{Ctx, Value};

use super::call::{Outcome, Prepared};
use super::client::{Client, Known};
use super::metadata;
use crate::error::unwind;
use crate::js::lazy::{self, Fields, Kind};
use crate::js::{self, NativeFn};
use crate::memory::Charge;
use crate::state::VuState;
use crate::state::stop::StopReason;

/// Bytes of most responses.
const RESPONSE_BYTES: usize = 512;

/// Trailers that have a place of their own.
const OWN_TRAILERS: [&str; 2] = ["grpc-status", "grpc-message"];

/// A response under its JavaScript object.
pub(super) struct Answer {
    /// JSON; `None` where the message was not wanted.
    message: Option<Vec<u8>>,
    /// JSON; `None` where there is none.
    error: Option<Vec<u8>>,
    fields: super::status::Fields,
    status: u32,
    /// The texts, which are not in the JavaScript heap.
    _held: Charge,
}

/// Gives the outcome of a call to the script. The message is read now, so that one that cannot be read is an exception of the call.
pub(super) fn finish<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    prepared: &Prepared,
    outcome: Outcome,
) -> rquickjs::Result<Value<'js>> {
    // A failed call has a message without anything in it, as in k6.
    let bytes = outcome.message.as_deref().unwrap_or_default();
    let message = match prepared.discards {
        true => None,
        false => Some(read(ctx, decoded(vu, &prepared.client, &prepared.known, bytes))?),
    };
    let error = match outcome.status.code {
        grpc::Code::OK => None,
        _ => {
            let mut json = Vec::with_capacity(RESPONSE_BYTES);
            error_json(ctx, vu, &prepared.client, &outcome.status, &mut json)?;
            Some(json)
        }
    };
    let bytes = [&message, &error].into_iter().flatten().map(Vec::len).sum();
    let Some(held) = Charge::of(&vu.stop.memory, bytes) else {
        return Err(unwind(ctx, &vu.stop, StopReason::Memory));
    };
    let status = outcome.status.code.0;
    lazy::object(ctx, vu, Answer { message, error, fields: outcome.fields, status, _held: held })
}

impl Fields for Answer {
    const NAME: &'static str = "Response";
    const FIELDS: &'static [&'static str] = &["message", "error", "headers", "trailers", "status"];
    const METHODS: &'static [(&'static str, NativeFn)] = &[];

    fn kind(vu: &VuState) -> &Kind {
        &vu.grpc_responses
    }

    fn make<'js>(&self, ctx: &Ctx<'js>, field: &str) -> rquickjs::Result<Value<'js>> {
        let json = |json: Option<&Vec<u8>>| match json {
            Some(json) => js::json_parse(ctx, json),
            None => Ok(Value::new_null(ctx.clone())),
        };
        match field {
            "message" => json(self.message.as_ref()),
            "error" => json(self.error.as_ref()),
            "headers" => json(Some(&metadata::json(self.fields.headers.as_ref(), &[]))),
            "trailers" => json(Some(&metadata::json(self.fields.trailers.as_ref(), &OWN_TRAILERS))),
            _ => Ok(Value::new_number(ctx.clone(), f64::from(self.status))),
        }
    }
}

/// A message as an object.
pub(super) fn message<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    client: &Client,
    known: &Known,
    bytes: &[u8],
) -> rquickjs::Result<Value<'js>> {
    js::json_parse(ctx, &read(ctx, decoded(vu, client, known, bytes))?)
}

/// `{ code, message, details }`
pub(super) fn error<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    client: &Client,
    status: &Status,
) -> rquickjs::Result<Value<'js>> {
    let mut json = Vec::with_capacity(RESPONSE_BYTES);
    error_json(ctx, vu, client, status, &mut json)?;
    js::json_parse(ctx, &json)
}

fn error_json(
    ctx: &Ctx<'_>,
    vu: &Rc<VuState>,
    client: &Client,
    status: &Status,
    json: &mut Vec<u8>,
) -> rquickjs::Result<()> {
    json.extend_from_slice(format!("{{\"code\":{},\"message\":", status.code.0).as_bytes());
    write_text(json, &status.message);
    json.extend_from_slice(b",\"details\":[");
    let types: Vec<Arc<Schema>> = client.schemas();
    for (index, any) in status.details.iter().enumerate() {
        if index > 0 {
            json.push(b',');
        }
        match grpc::decode_any(&types, any, &mut || !vu.must_stop()) {
            // A detail of a type that is not loaded is no reason to lose the others.
            Err(DecodeError::Bytes(why)) => {
                json.extend_from_slice(b"{\"@error\":");
                write_text(json, &why);
                json.push(b'}');
            }
            detail => json.extend_from_slice(&read(ctx, detail)?),
        }
    }
    json.extend_from_slice(b"]}");
    Ok(())
}

fn decoded(vu: &Rc<VuState>, client: &Client, known: &Known, bytes: &[u8]) -> Result<Vec<u8>, DecodeError> {
    known.schema.decode(&client.schemas(), known.method.output, bytes, &mut || !vu.must_stop())
}

/// The JSON, or the exception in its place.
fn read(ctx: &Ctx<'_>, json: Result<Vec<u8>, DecodeError>) -> rquickjs::Result<Vec<u8>> {
    json.map_err(|error| match error {
        DecodeError::Interrupted => js::throw_uncatchable(ctx),
        DecodeError::Bytes(why) => js::go_error(ctx, &format!("unable to read the server's message: {why}")),
    })
}

/// Writes a text in quotes.
pub(super) fn write_text(json: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(json, text);
}
