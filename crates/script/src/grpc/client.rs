//! `Client`: loaded types and one connection.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use grpc::{Method, Schema};
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Class, Ctx, Object, Value};

use super::connect::Connection;
use super::{call, connect, load};
use crate::js::{self, Args, NativeFn, js_lifetime};

/// The JavaScript object.
pub(super) struct ClientObject(Rc<Client>);
js_lifetime!(ClientObject);

impl<'js> Trace<'js> for ClientObject {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for ClientObject {
    const NAME: &'static str = "Client";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

const METHODS: &[(&str, NativeFn)] = &[
    ("load", load::load),
    ("loadProtoset", load::load_protoset),
    ("connect", connect::connect),
    ("invoke", call::invoke),
    ("asyncInvoke", call::async_invoke),
    ("healthCheck", call::health_check),
    ("close", close),
];

/// One client of a script.
#[derive(Default)]
pub(super) struct Client {
    schemas: RefCell<Vec<Arc<Schema>>>,
    connection: RefCell<Option<Rc<Connection>>>,
}

/// A method with the schema of its types.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) method: Arc<Method>,
    pub(super) schema: Arc<Schema>,
}

impl Client {
    /// Adds types. Those that are there already are not there twice.
    pub(super) fn add(&self, schema: Arc<Schema>) {
        let mut schemas = self.schemas.borrow_mut();
        if !schemas.iter().any(|known| Arc::ptr_eq(known, &schema)) {
            schemas.push(schema);
        }
    }

    /// All types, for what an `Any` holds.
    pub(super) fn schemas(&self) -> Vec<Arc<Schema>> {
        self.schemas.borrow().clone()
    }

    /// The method at a path, with or without a slash before it.
    pub(super) fn method(&self, path: &str) -> Option<Known> {
        let schemas = self.schemas.borrow();
        schemas
            .iter()
            .rev()
            .find_map(|schema| Some(Known { method: schema.method(path)?.clone(), schema: schema.clone() }))
    }

    /// The connection, where there is one.
    pub(super) fn connection(&self) -> Option<Rc<Connection>> {
        self.connection.borrow().clone()
    }

    /// Takes a connection in place of the one before.
    pub(super) fn set_connection(&self, connection: Option<Rc<Connection>>) {
        if let Some(before) = self.connection.replace(connection) {
            before.close();
        }
    }
}

/// `new Client()`
pub(super) fn construct<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let object = Class::instance(args.ctx.clone(), ClientObject(Rc::default()))?.into_inner();
    js::set_natives(&object, args.vu, METHODS)?;
    Ok(object.into_value())
}

/// The client behind a JavaScript object.
pub(super) fn client_of(object: &Object<'_>) -> Option<Rc<Client>> {
    Some(Class::<ClientObject>::from_object(object)?.borrow().0.clone())
}

/// The client that a method was called on.
pub(super) fn this_client(args: &Args<'_, '_>) -> rquickjs::Result<Rc<Client>> {
    let client = args.this().as_object().and_then(client_of);
    client.ok_or_else(|| args.type_error("this is not a gRPC client"))
}

/// `close()`: ends the connection, and with it the streams that are open on it.
fn close<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    this_client(args)?.set_connection(None);
    args.undefined()
}
