//! `k6/x/sql` and the modules of its drivers.

mod mysql;

use std::rc::Rc;
use std::time::Duration;

use datastore::sql::{DRIVERS, Database, Executed, Rows, SqlError, Value as SqlValue};
use model::GoDuration;
use rquickjs::class::{JsClass, Readable, Trace, Tracer};
use rquickjs::{Array, Class, Ctx, Function, Object, Value};

use crate::dialer::VuDialer;
use crate::error::unwind;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn, js_lifetime};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) use self::mysql::DRIVER_MODULE as MYSQL;

pub(crate) const MODULE: Builtin = Builtin { name: "k6/x/sql", build };
pub(crate) const POSTGRES: Builtin =
    Builtin { name: "k6/x/sql/driver/postgres", build: |ctx, _| driver(ctx, "postgres") };
pub(crate) const SQLITE: Builtin =
    Builtin { name: "k6/x/sql/driver/sqlite3", build: |ctx, _| driver(ctx, "sqlite3") };

/// Property of a driver's module that names the driver.
const DRIVER: &str = "driver";

/// Rows that are made objects between two looks at the clock.
const ROWS_AT_ONCE: usize = 256;

const FUNCTIONS: &[(&str, NativeFn)] = &[
    ("open", open),
    ("exec", |args| exec(args, &args.get(0), 1, None)),
    ("query", |args| query(args, &args.get(0), 1, None)),
];

const METHODS: &[(&str, NativeFn)] = &[
    ("exec", |args| exec(args, &args.this(), 0, None)),
    ("execWithTimeout", |args| exec(args, &args.this(), 1, Some(time_limit(args)?))),
    ("query", |args| query(args, &args.this(), 0, None)),
    ("queryWithTimeout", |args| query(args, &args.this(), 1, Some(time_limit(args)?))),
    ("close", close),
];

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    js::set_natives(&module, vu, FUNCTIONS)?;
    Ok(module)
}

fn driver<'js>(ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Object<'js>> {
    let module = Object::new(ctx.clone())?;
    module.set(DRIVER, name)?;
    Ok(module)
}

/// The JavaScript object's own part.
struct Handle(Rc<Database>);
js_lifetime!(Handle);

impl<'js> Trace<'js> for Handle {
    fn trace<'a>(&self, _tracer: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Handle {
    const NAME: &'static str = "Database";
    type Mutable = Readable;

    fn constructor(_ctx: &Ctx<'js>) -> rquickjs::Result<Option<rquickjs::function::Constructor<'js>>> {
        Ok(None)
    }
}

/// `open(driver, dataSourceName)`: the driver is a module's default export, or its name.
fn open<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let driver = match args.get(0).as_object() {
        Some(module) => module.get::<_, Option<String>>(DRIVER)?.unwrap_or_default(),
        None => args.string(0)?,
    };
    if driver.is_empty() {
        let known = DRIVERS.join(", ");
        return Err(args.error(format!("the first argument of open() is no driver; import one of {known}")));
    }
    let data_source = args.string(1)?;
    let tls = args.vu.mysql_tls.borrow().clone();
    let opened = Database::open(&driver, &data_source, tls.as_ref(), Rc::new(VuDialer(args.vu.clone())));
    let database = opened.map_err(|error| args.error(error.to_string()))?;
    args.vu.init.secrets.hide(database.secret().map(str::to_owned));
    let object = Class::instance(args.ctx.clone(), Handle(Rc::new(database)))?.into_inner();
    js::set_natives(&object, args.vu, METHODS)?;
    Ok(object.into_value())
}

fn database_of(args: &Args<'_, '_>, value: &Value<'_>) -> rquickjs::Result<Rc<Database>> {
    match value.as_object().and_then(Class::<Handle>::from_object) {
        Some(handle) => Ok(handle.borrow().0.clone()),
        None => Err(args.type_error("this is no database; sql.open() returns one")),
    }
}

/// `close()`
fn close<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    database_of(args, &args.this())?.close();
    args.undefined()
}

/// The timeout that argument 0 is.
fn time_limit(args: &Args<'_, '_>) -> rquickjs::Result<Duration> {
    let text = args.string(0)?;
    let limit = GoDuration::parse(&text).ok_or_else(|| {
        args.error(format!(
            "time: invalid duration {text:?}; write a number and its unit, such as 500ms or 2s"
        ))
    });
    Ok(limit?.to_std())
}

/// `exec(statement, ...parameters)`
fn exec<'js>(
    args: &Args<'_, 'js>,
    database: &Value<'js>,
    first: usize,
    limit: Option<Duration>,
) -> rquickjs::Result<Value<'js>> {
    let database = database_of(args, database)?;
    let (statement, parameters) = (args.string(first)?, parameters(args, &database, first + 1)?);
    let executed = wait(args, &database, limit, database.exec(&statement, parameters))?;
    let Executed { rows_affected, last_insert_id } = executed;
    let result = Object::new(args.ctx.clone())?;
    let affected = js::closure(args.ctx, move || rows_affected as f64)?;
    result.set("rowsAffected", affected.with_name("rowsAffected")?)?;
    let last = js::closure(args.ctx, move |ctx: Ctx<'js>| match last_insert_id {
        Some(id) => Ok(id as f64),
        None => {
            Err(js::go_error(&ctx, "LastInsertId is not supported by this driver; use RETURNING in query()"))
        }
    })?;
    result.set("lastInsertId", last.with_name("lastInsertId")?)?;
    Ok(result.into_value())
}

/// `query(statement, ...parameters)`: its rows as objects.
fn query<'js>(
    args: &Args<'_, 'js>,
    database: &Value<'js>,
    first: usize,
    limit: Option<Duration>,
) -> rquickjs::Result<Value<'js>> {
    let database = database_of(args, database)?;
    let (statement, parameters) = (args.string(first)?, parameters(args, &database, first + 1)?);
    let Rows { columns, rows } = wait(args, &database, limit, database.query(&statement, parameters))?;
    let array = Array::new(args.ctx.clone())?;
    for (index, row) in rows.into_iter().enumerate() {
        if index % ROWS_AT_ONCE == ROWS_AT_ONCE - 1 {
            args.pause()?;
        }
        let object = Object::new(args.ctx.clone())?;
        for (column, value) in columns.iter().zip(row) {
            object.set(column.as_str(), shown(args.ctx, value)?)?;
        }
        array.set(index, object)?;
    }
    Ok(array.into_value())
}

/// Waits for a statement: the script stands still, the thread does not.
fn wait<T>(
    args: &Args<'_, '_>,
    database: &Database,
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, SqlError>>,
) -> rquickjs::Result<T> {
    if !args.vu.is_running() {
        if !database.is_local() {
            let what =
                "connecting to a database server in the init context is not supported; do it in setup()";
            return Err(args.error(what));
        }
        return here(work).map_err(|error| args.error(error.to_string()));
    }
    // Dropped at its limit, a statement ends, and its connection with it.
    let limited = async {
        match limit {
            Some(limit) => tokio::time::timeout(limit, work)
                .await
                .unwrap_or_else(|_| Err(SqlError::Refused("context deadline exceeded".to_owned()))),
            None => work.await,
        }
    };
    let done = vu::block_on(std::pin::pin!(limited));
    args.vu.step_ended();
    match done {
        Ok(result) => result.map_err(|error| args.error(error.to_string())),
        Err(vu::Interrupted) => Err(unwind(args.ctx, &args.vu.stop, StopReason::Interrupted)),
    }
}

/// Waits on this thread, which the init context has for itself.
fn here<T>(work: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
    let mut cx = std::task::Context::from_waker(&waker);
    let mut work = std::pin::pin!(work);
    loop {
        if let std::task::Poll::Ready(result) = work.as_mut().poll(&mut cx) {
            return result;
        }
        std::thread::park();
    }
}

fn parameters(args: &Args<'_, '_>, database: &Database, first: usize) -> rquickjs::Result<Vec<SqlValue>> {
    (first..args.len()).map(|index| parameter(args, database, index)).collect()
}

fn parameter(args: &Args<'_, '_>, database: &Database, index: usize) -> rquickjs::Result<SqlValue> {
    let value = args.get(index);
    if value.is_undefined() || value.is_null() {
        return Ok(SqlValue::Null);
    }
    if let Some(flag) = value.as_bool() {
        return Ok(SqlValue::Bool(flag));
    }
    if let Some(number) = value.as_number() {
        let is_whole = number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0;
        return Ok(if is_whole { SqlValue::Integer(number as i64) } else { SqlValue::Float(number) });
    }
    if let Some(bytes) = js::bytes_of(&value) {
        return Ok(SqlValue::Bytes(bytes));
    }
    // A date is the text that databases read.
    if let Some(object) = value.as_object()
        && let Ok(iso) = object.get::<_, Function<'_>>("toISOString")
    {
        if database.takes_times() {
            return js::to_number(args.ctx, &value).map(SqlValue::Time);
        }
        return Ok(SqlValue::Text(iso.call((rquickjs::function::This(object.clone()),))?));
    }
    args.string(index).map(SqlValue::Text)
}

fn shown<'js>(ctx: &Ctx<'js>, value: SqlValue) -> rquickjs::Result<Value<'js>> {
    Ok(match value {
        SqlValue::Null => Value::new_null(ctx.clone()),
        SqlValue::Bool(flag) => Value::new_bool(ctx.clone(), flag),
        SqlValue::Integer(number) => Value::new_number(ctx.clone(), number as f64),
        SqlValue::Float(number) => Value::new_number(ctx.clone(), number),
        SqlValue::Text(text) => js::string_from_bytes(ctx, text.as_bytes())?,
        SqlValue::Bytes(bytes) => js::byte_array(ctx, &bytes)?,
        SqlValue::Octets(bytes) => {
            let array = Array::new(ctx.clone())?;
            for (index, byte) in bytes.into_iter().enumerate() {
                array.set(index, i32::from(byte))?;
            }
            array.into_value()
        }
        SqlValue::Time(ms) => {
            let date: rquickjs::function::Constructor<'js> = ctx.globals().get("Date")?;
            date.construct((ms,))?
        }
        SqlValue::List(values) => {
            let array = Array::new(ctx.clone())?;
            for (index, value) in values.into_iter().enumerate() {
                array.set(index, shown(ctx, value)?)?;
            }
            array.into_value()
        }
    })
}
