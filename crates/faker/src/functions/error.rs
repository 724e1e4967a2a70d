//! Texts of errors.

use super::{Function, filled, text};
use crate::lists::pick;
use crate::random::Draw;

pub(super) const FUNCTIONS: &[Function] = &[
    text("databaseError", |draw| error(draw, "error.database")),
    text("error", |draw| error(draw, "error.generic")),
    text("errorObjectWord", |draw| error(draw, "error.object")),
    text("gRPCError", |draw| error(draw, "error.grpc")),
    text("httpClientError", |draw| error(draw, "error.http_client")),
    text("httpError", |draw| error(draw, "error.http")),
    text("httpServerError", |draw| error(draw, "error.http_server")),
    text("runtimeError", |draw| error(draw, "error.runtime")),
    text("validationError", |draw| error(draw, "error.validation")),
];

fn error(draw: &mut Draw, list: &str) -> String {
    let template = pick(draw, list);
    filled(draw, template)
}
