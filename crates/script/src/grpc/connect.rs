//! `connect(address, params?)`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use model::plan::ClientCertificate;
use model::{SystemClock, TagSetId};
use rquickjs::{Object, Value};
use rustc_hash::FxHashMap;
use wire::{Channel, ChannelSettings, ChannelTls};

use super::client::this_client;
use super::metadata::{self, Metadata};
use super::params::{Unfit, boolean, duration, read_texts, shown, size};
use super::reflect;
use crate::error::unwind;
use crate::js::{self, Args};
use crate::state::stop::StopReason;

/// k6's limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// gRPC's limit for one message that comes.
const RECEIVE_BYTES_MAX: usize = 4 << 20;

/// A message cannot be longer than its length can say.
const SEND_BYTES_MAX: usize = i32::MAX as usize;

/// Tag sets that are remembered per connection.
const TAGS_MAX: usize = 1_000;

/// An open connection.
pub(super) struct Connection {
    pub(super) channel: Channel,
    /// As the script wrote it; samples carry it.
    pub(super) address: Arc<str>,
    pub(super) receive_bytes_max: usize,
    pub(super) send_bytes_max: usize,
    is_closed: Cell<bool>,
    /// Streams that hear of the end, by their number.
    listeners: RefCell<FxHashMap<u64, Waker>>,
    last_listener: Cell<u64>,
    /// Tag sets of calls without tags of their own, by the VU's tags, the method and the status.
    pub(super) tags: RefCell<FxHashMap<(TagSetId, usize, u32), TagSetId>>,
}

impl Connection {
    /// Whether the script has closed it.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Wakes a task when the script closes it, as long as the result is kept.
    pub(super) fn listen(self: &Rc<Connection>, waker: &Waker) -> Listening {
        let number = self.last_listener.get() + 1;
        self.last_listener.set(number);
        self.listeners.borrow_mut().insert(number, waker.clone());
        Listening { connection: self.clone(), number }
    }

    /// Ends it. Calls that are under way go on; streams end.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.channel.close();
        self.listeners.take().into_values().for_each(Waker::wake);
    }

    /// The tag set for a key, made by `make` the first time.
    pub(super) fn tags(&self, key: (TagSetId, usize, u32), make: impl FnOnce() -> TagSetId) -> TagSetId {
        if let Some(known) = self.tags.borrow().get(&key) {
            return *known;
        }
        let made = make();
        let mut tags = self.tags.borrow_mut();
        if tags.len() >= TAGS_MAX {
            tags.clear();
        }
        tags.insert(key, made);
        made
    }
}

/// A task that hears of the end of a connection.
pub(super) struct Listening {
    connection: Rc<Connection>,
    number: u64,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.connection.listeners.borrow_mut().remove(&self.number);
    }
}

/// What a script asks of a connection.
struct Wanted {
    timeout: Duration,
    is_plain: bool,
    reflects: bool,
    reflect_metadata: Metadata,
    receive_bytes_max: usize,
    send_bytes_max: usize,
    authority: Option<String>,
    tls: ChannelTls,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted {
            timeout: CONNECT_TIMEOUT,
            is_plain: false,
            reflects: false,
            reflect_metadata: Metadata::default(),
            receive_bytes_max: RECEIVE_BYTES_MAX,
            send_bytes_max: SEND_BYTES_MAX,
            authority: None,
            tls: ChannelTls::default(),
        }
    }
}

/// `connect(address, params?)`: opens a connection and waits for it.
pub(super) fn connect<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let client = this_client(args)?;
    let vu = args.vu;
    let Some(http) = vu.http.client().filter(|_| vu.is_running()).cloned() else {
        return Err(args.error("connecting to a gRPC server in the init context is not supported"));
    };
    let address = args.string(0)?;
    let wanted = read(args).map_err(|unfit| unfit.thrown(args, "invalid grpc.connect() parameters"))?;
    client.set_connection(None);
    let target = target_of(&address, wanted.is_plain).map_err(|why| args.error(unconnected(&why)))?;
    let deadline = SystemClock::now() + wanted.timeout;
    let settings = ChannelSettings { target, authority: wanted.authority, tls: wanted.tls };
    let opened = vu::block_on(Channel::connect(&http, settings, deadline));
    let opened = opened.map_err(|vu::Interrupted| unwind(args.ctx, &vu.stop, StopReason::Interrupted))?;
    let channel = opened.map_err(|error| args.error(explained(&error)))?;
    let connection = Rc::new(Connection {
        channel,
        address: address.into(),
        receive_bytes_max: wanted.receive_bytes_max,
        send_bytes_max: wanted.send_bytes_max,
        is_closed: Cell::new(false),
        listeners: RefCell::default(),
        last_listener: Cell::new(0),
        tags: RefCell::default(),
    });
    if wanted.reflects {
        let discovered = reflect::discover(vu, &connection, &wanted.reflect_metadata, deadline);
        let schema = vu::block_on(discovered)
            .map_err(|vu::Interrupted| unwind(args.ctx, &vu.stop, StopReason::Interrupted))?;
        client.add(schema.map_err(|why| args.error(why))?);
    }
    client.set_connection(Some(connection));
    vu.step_ended();
    Ok(Value::new_bool(args.ctx.clone(), true))
}

/// Reads the parameters; those that are not there are as in k6.
fn read(args: &Args<'_, '_>) -> Result<Wanted, Unfit> {
    let mut wanted = Wanted::default();
    let Some(params) = args.given(1).and_then(Value::into_object) else { return Ok(wanted) };
    for entry in params.props::<String, Value<'_>>() {
        let (key, value) = entry?;
        match key.as_str() {
            "plaintext" => wanted.is_plain = boolean("plaintext", &value)?,
            "timeout" => wanted.timeout = duration(args, &value)?,
            "reflect" => wanted.reflects = boolean("reflect", &value)?,
            "reflectMetadata" => {
                wanted.reflect_metadata = metadata::read(args, "reflectMetadata", &value)?;
            }
            "maxReceiveSize" => wanted.receive_bytes_max = size("maxReceiveSize", &value)?,
            "maxSendSize" => wanted.send_bytes_max = size("maxSendSize", &value)?,
            "authority" => {
                if !value.is_string() {
                    let text =
                        format!("invalid authority value: '{}', it needs to be a string", shown(&value));
                    return Err(Unfit::Text(text));
                }
                wanted.authority = Some(js::to_string(args.ctx, &value)?).filter(|text| !text.is_empty());
            }
            "tls" => wanted.tls = read_tls(args, &value)?,
            other => return Err(Unfit::Text(format!("unknown connect param: {other:?}"))),
        }
    }
    Ok(wanted)
}

fn read_tls<'js>(args: &Args<'_, 'js>, value: &Value<'js>) -> Result<ChannelTls, Unfit> {
    let Some(tls) = value.as_object().filter(|_| !value.is_array()) else {
        let text = format!(
            "invalid tls value: '{}', expected (optional) keys: cert, key, password, and cacerts",
            shown(value)
        );
        return Err(Unfit::Text(text));
    };
    let text = |name: &str, kind: &str| -> Result<Option<String>, Unfit> {
        let value: Value<'js> = tls.get(name)?;
        match () {
            () if value.is_undefined() || value.is_null() => Ok(None),
            () if value.is_string() => Ok(Some(js::to_string(args.ctx, &value)?)),
            () => {
                let text = format!("invalid tls {name} value: '{}', it needs to be a {kind}", shown(&value));
                Err(Unfit::Text(text))
            }
        }
    };
    let cert = text("cert", "PEM formatted string")?;
    let key = text("key", "PEM formatted string")?;
    let password = text("password", "string")?;
    let certificate = match (cert, key) {
        (Some(cert), Some(key)) => Some(ClientCertificate { cert, key, password, domains: Vec::new() }),
        (None, None) => None,
        _ => {
            let text = "invalid tls value: a client certificate needs both cert and key";
            return Err(Unfit::Text(text.to_owned()));
        }
    };
    let authorities: Value<'js> = tls.get("cacerts")?;
    let Some(authorities) = read_texts(args, &authorities)? else {
        let text = format!(
            "invalid tls cacerts value: '{}', it needs to be a string or an array of PEM formatted strings",
            shown(&authorities)
        );
        return Err(Unfit::Text(text));
    };
    Ok(ChannelTls { certificate, authorities })
}

/// The address of a server: `host:port`, perhaps with a scheme of gRPC's name resolution that means the same.
fn target_of(address: &str, is_plain: bool) -> Result<wire::Target, String> {
    let plain = ["dns:///", "passthrough:///", "dns:"].iter().find_map(|prefix| address.strip_prefix(prefix));
    let plain = plain.unwrap_or(address);
    let has_port = plain.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if !has_port {
        return Err(format!("address {address}: missing port in address; write HOST:PORT"));
    }
    let scheme = if is_plain { "http" } else { "https" };
    wire::Target::parse(&format!("{scheme}://{plain}")).map_err(|error| format!("address {address}: {error}"))
}

/// gRPC's words around a connection that cannot be opened.
fn unconnected(why: &str) -> String {
    format!("connection error: desc = \"transport: error while dialing: {why}\"")
}

/// The same for an error of the connection.
pub(super) fn explained(error: &wire::Error) -> String {
    match (error.kind, error.stage) {
        (wire::Kind::TimedOut, stage) => {
            format!("context deadline exceeded: no connection in time, at stage {stage:?}; see `timeout`")
        }
        (_, wire::Stage::Prepare) if error.kind == wire::Kind::Invalid => error.story().to_owned(),
        (_, wire::Stage::Tls) => {
            format!(
                "connection error: desc = \"transport: authentication handshake failed: {}\"; for a server without TLS \
                 pass {{ plaintext: true }}",
                error.story()
            )
        }
        _ => unconnected(error.story()),
    }
}

/// The values of an object that are not `undefined` or `null`.
pub(super) fn properties<'js>(
    object: &Object<'js>,
) -> impl Iterator<Item = rquickjs::Result<(String, Value<'js>)>> {
    object
        .props::<String, Value<'js>>()
        .filter(|entry| !entry.as_ref().is_ok_and(|(_, value)| value.is_undefined() || value.is_null()))
}
