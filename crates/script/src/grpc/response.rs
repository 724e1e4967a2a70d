//! From the outcome of a call to what the script gets.

use std::rc::Rc;
use std::sync::Arc;

use grpc::{DecodeError, Schema, Status};
use rquickjs::{Ctx, Value};

use super::call::{Outcome, Prepared};
use super::client::{Client, Known};
use super::metadata;
use crate::js;
use crate::state::VuState;

/// Bytes of most responses.
const RESPONSE_BYTES: usize = 512;

/// Trailers that have a place of their own.
const OWN_TRAILERS: [&str; 2] = ["grpc-status", "grpc-message"];

/// `{ message, error, headers, trailers, status }`, as one JSON text: the engine makes objects of a text faster than they
/// are made one property at a time.
pub(super) fn finish<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    prepared: &Prepared,
    outcome: Outcome,
) -> rquickjs::Result<Value<'js>> {
    let mut json = Vec::with_capacity(RESPONSE_BYTES);
    json.extend_from_slice(b"{\"message\":");
    // A failed call has a message without anything in it, as in k6.
    if prepared.discards {
        json.extend_from_slice(b"null");
    } else {
        let bytes = outcome.message.as_deref().unwrap_or_default();
        json.extend_from_slice(&read(ctx, decoded(vu, &prepared.client, &prepared.known, bytes))?);
    }
    json.extend_from_slice(b",\"error\":");
    match outcome.status.code {
        grpc::Code::OK => json.extend_from_slice(b"null"),
        _ => error_json(ctx, vu, &prepared.client, &outcome.status, &mut json)?,
    }
    json.extend_from_slice(b",\"headers\":");
    metadata::write(&mut json, outcome.fields.headers.as_ref(), &[]);
    json.extend_from_slice(b",\"trailers\":");
    metadata::write(&mut json, outcome.fields.trailers.as_ref(), &OWN_TRAILERS);
    json.extend_from_slice(format!(",\"status\":{}}}", outcome.status.code.0).as_bytes());
    parse(ctx, json)
}

/// A message as an object.
pub(super) fn message<'js>(
    ctx: &Ctx<'js>,
    vu: &Rc<VuState>,
    client: &Client,
    known: &Known,
    bytes: &[u8],
) -> rquickjs::Result<Value<'js>> {
    parse(ctx, read(ctx, decoded(vu, client, known, bytes))?)
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
    parse(ctx, json)
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

fn parse<'js>(ctx: &Ctx<'js>, json: Vec<u8>) -> rquickjs::Result<Value<'js>> {
    js::json_parse(ctx, &json)
}

/// Writes a text in quotes.
pub(super) fn write_text(json: &mut Vec<u8>, text: &str) {
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(json, text);
}
