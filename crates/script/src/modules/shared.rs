//! `plimsoll/shared`: counters, queues and maps of all VUs of a run.
//!
//! Values are kept as JSON texts, so that nothing of one VU's engine reaches another's. Every operation is atomic.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::pin::pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::GoDuration;
use rquickjs::{Ctx, Object, Value};
use tokio::sync::Notify;

use crate::error::unwind;
use crate::js::prelude::Prelude;
use crate::js::registry::Builtin;
use crate::js::{self, Args, NativeFn};
use crate::state::VuState;
use crate::state::stop::StopReason;

pub(crate) const MODULE: Builtin = Builtin { name: "plimsoll/shared", build };

static PRELUDE: Prelude = Prelude::new("plimsoll/shared", include_str!("../../js/shared.js"));

/// Counters, queues and maps of one script. A script that names more makes names of values.
const NAMES_MAX: usize = 1_000;

/// Entries of a queue or a map unless the script says otherwise, and at most.
const ENTRIES_DEFAULT: usize = 100_000;
/// See [`ENTRIES_DEFAULT`].
const ENTRIES_MAX: usize = 10_000_000;

/// Bytes of all values and keys of a process.
const BYTES_MAX: usize = 256 << 20;

/// Bytes that an entry takes besides its value and its key.
const ENTRY_BYTES: usize = 64;

/// The longest wait of `pop()`, as that of timers.
const WAIT_MAX: Duration = Duration::from_millis(2_147_483_647);

const NATIVES: &[(&str, NativeFn)] = &[
    ("declare", declare),
    ("add", add),
    ("exchange", exchange),
    ("push", push),
    ("pop", pop),
    ("size", size),
    ("mapSet", map_set),
    ("mapGet", map_get),
    ("mapKeys", map_keys),
    ("clear", clear),
];

/// The shared values of a script.
#[derive(Default)]
pub(crate) struct SharedValues {
    named: Mutex<HashMap<(Kind, String), Arc<Shared>>>,
    bytes: Arc<std::sync::atomic::AtomicUsize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Counter,
    Queue,
    Map,
}

impl Kind {
    const NAMES: [(&str, Kind); 3] = [("counter", Kind::Counter), ("queue", Kind::Queue), ("map", Kind::Map)];
}

/// One counter, queue or map.
pub(crate) struct Shared {
    name: String,
    entries_max: usize,
    bytes: Arc<std::sync::atomic::AtomicUsize>,
    /// Wakes who waits for an entry of a queue, in the order in which they came.
    came: Notify,
    content: Mutex<Content>,
}

enum Content {
    Counter(f64),
    Queue(VecDeque<Box<str>>),
    Map(BTreeMap<Box<str>, Box<str>>),
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes bytes of the budget.
    ///
    /// # Errors
    /// A text for the user: it is exhausted.
    fn take_bytes(&self, bytes: usize) -> Result<(), String> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.bytes.fetch_add(bytes, Relaxed) + bytes <= BYTES_MAX {
            return Ok(());
        }
        self.bytes.fetch_sub(bytes, Relaxed);
        Err(format!(
            "shared values exceed the limit of {} MiB; take entries out, or share ids instead of what they stand for",
            BYTES_MAX >> 20
        ))
    }

    fn give_bytes(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, std::sync::atomic::Ordering::Relaxed);
    }

    /// Appends a value; false when the queue is full.
    fn push(&self, value: Box<str>) -> Result<bool, String> {
        let mut content = self.lock();
        let Content::Queue(queue) = &mut *content else { return Ok(false) };
        if queue.len() >= self.entries_max {
            return Ok(false);
        }
        self.take_bytes(value.len() + ENTRY_BYTES)?;
        queue.push_back(value);
        drop(content);
        self.came.notify_one();
        Ok(true)
    }

    fn pop(&self) -> Option<Box<str>> {
        let mut content = self.lock();
        let Content::Queue(queue) = &mut *content else { return None };
        let value = queue.pop_front()?;
        self.give_bytes(value.len() + ENTRY_BYTES);
        Some(value)
    }

    /// Waits for a value.
    async fn popped(&self) -> Box<str> {
        loop {
            let mut came = pin!(self.came.notified());
            // Before the look, so that what comes in between wakes it.
            came.as_mut().enable();
            if let Some(value) = self.pop() {
                return value;
            }
            came.await;
        }
    }

    /// Replaces the value of a key, or removes it; the value before. `only_new` leaves a key that is there as it is.
    fn replace(
        &self,
        key: Box<str>,
        value: Option<Box<str>>,
        only_new: bool,
    ) -> Result<Option<Box<str>>, String> {
        let mut content = self.lock();
        let Content::Map(map) = &mut *content else { return Ok(None) };
        let key_bytes = key.len() + ENTRY_BYTES;
        let Some(value) = value else {
            let before = map.remove(&key);
            if let Some(before) = &before {
                self.give_bytes(before.len() + key_bytes);
            }
            return Ok(before);
        };
        let before = map.get(&key);
        if let Some(before) = before.filter(|_| only_new) {
            return Ok(Some(before.clone()));
        }
        if before.is_none() && map.len() >= self.entries_max {
            return Err(format!(
                "the map \"{}\" is full: it has {} entries; remove some, or set max",
                self.name, self.entries_max
            ));
        }
        self.take_bytes(value.len() + key_bytes)?;
        let before = map.insert(key, value);
        if let Some(before) = &before {
            self.give_bytes(before.len() + key_bytes);
        }
        Ok(before)
    }

    fn clear(&self) {
        match &mut *self.lock() {
            Content::Counter(value) => *value = 0.0,
            Content::Queue(queue) => {
                self.give_bytes(queue.iter().map(|value| value.len() + ENTRY_BYTES).sum());
                queue.clear();
            }
            Content::Map(map) => {
                self.give_bytes(map.iter().map(|(key, value)| key.len() + value.len() + ENTRY_BYTES).sum());
                map.clear();
            }
        }
    }
}

fn build<'js>(ctx: &Ctx<'js>, vu: &Rc<VuState>) -> rquickjs::Result<Object<'js>> {
    if vu.binding().is_some_and(|binding| !binding.run.share.is_whole()) {
        return Err(js::go_error(
            ctx,
            "plimsoll/shared holds values of one process, and this test runs in several; run it with one agent and without \
             --execution-segment",
        ));
    }
    PRELUDE.run(ctx, vu, NATIVES)?.into_object().ok_or(rquickjs::Error::Exception)
}

/// `declare(kind, name, max)`: the number in this VU of a counter, queue or map, which is the same one for all that use the name.
fn declare<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let (kind, name) = (args.string(0)?, args.string(1)?);
    let Some((_, kind)) = Kind::NAMES.into_iter().find(|(known, _)| *known == kind) else {
        return Err(args.type_error("no such kind of shared value"));
    };
    let max = args.given(2).map(|max| js::to_number(args.ctx, &max)).transpose()?;
    let entries_max = match max {
        None => ENTRIES_DEFAULT,
        Some(max) if max >= 1.0 && max <= ENTRIES_MAX as f64 => max as usize,
        Some(max) => {
            return Err(args.type_error(format!("invalid max {max}: use a number from 1 to {ENTRIES_MAX}")));
        }
    };
    let values = &args.vu.init.shared_values;
    let mut named = values.named.lock().unwrap_or_else(PoisonError::into_inner);
    let count = named.len();
    let shared = match named.entry((kind, name.clone())) {
        std::collections::hash_map::Entry::Occupied(known) => known.get().clone(),
        std::collections::hash_map::Entry::Vacant(_) if count >= NAMES_MAX => {
            return Err(args
                .error(format!("more than {NAMES_MAX} names of shared values: use keys of a map instead")));
        }
        std::collections::hash_map::Entry::Vacant(place) => {
            let content = match kind {
                Kind::Counter => Content::Counter(0.0),
                Kind::Queue => Content::Queue(VecDeque::new()),
                Kind::Map => Content::Map(BTreeMap::new()),
            };
            let bytes = values.bytes.clone();
            let made = Shared { name, entries_max, bytes, came: Notify::new(), content: Mutex::new(content) };
            place.insert(Arc::new(made)).clone()
        }
    };
    drop(named);
    let mut known = args.vu.shared_values.borrow_mut();
    let number = known.iter().position(|known| Arc::ptr_eq(known, &shared)).unwrap_or_else(|| {
        known.push(shared);
        known.len() - 1
    });
    Ok(Value::new_number(args.ctx.clone(), number as f64))
}

/// The value that argument 0 names.
fn shared_of(args: &Args<'_, '_>) -> rquickjs::Result<Arc<Shared>> {
    if !args.vu.is_running() {
        return Err(args.error(
            "shared values can be used in setup(), iterations and teardown(), not in the init context",
        ));
    }
    let number = js::to_number(args.ctx, &args.get(0))? as usize;
    let known = args.vu.shared_values.borrow().get(number).cloned();
    known.ok_or_else(|| args.error("no such shared value"))
}

/// `add(counter, by)`: the sum.
fn add<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let by = js::to_number(args.ctx, &args.get(1))?;
    if !by.is_finite() {
        return Err(args.type_error(format!("add() takes a number, and {by} is none")));
    }
    let shared = shared_of(args)?;
    let mut content = shared.lock();
    let Content::Counter(value) = &mut *content else { return args.undefined() };
    *value += by;
    Ok(Value::new_number(args.ctx.clone(), *value))
}

/// `exchange(counter, value, expected?)`: sets the value, where it is `expected`; the value before.
fn exchange<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let to = js::to_number(args.ctx, &args.get(1))?;
    let expected = args.given(2).map(|expected| js::to_number(args.ctx, &expected)).transpose()?;
    if !to.is_finite() {
        return Err(args.type_error(format!("a counter holds a number, and {to} is none")));
    }
    let shared = shared_of(args)?;
    let mut content = shared.lock();
    let Content::Counter(value) = &mut *content else { return args.undefined() };
    let before = *value;
    if expected.is_none_or(|expected| expected == before) {
        *value = to;
    }
    Ok(Value::new_number(args.ctx.clone(), before))
}

/// `push(queue, json)`: whether there was capacity.
fn push<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let is_taken = shared.push(args.string(1)?.into()).map_err(|text| args.error(text))?;
    Ok(Value::new_bool(args.ctx.clone(), is_taken))
}

/// `pop(queue, timeout?)`: the first value as JSON; waits for it at most so long. `undefined` where none came.
fn pop<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let value = match (shared.pop(), args.given(1)) {
        (None, Some(timeout)) => {
            let timeout = timeout_of(args, &timeout)?;
            let waited = vu::block_on(async {
                tokio::select! {
                    biased;
                    value = shared.popped() => Some(value),
                    () = tokio::time::sleep(timeout) => None,
                }
            });
            let value =
                waited.map_err(|vu::Interrupted| unwind(args.ctx, &args.vu.stop, StopReason::Interrupted))?;
            args.vu.step_ended();
            value
        }
        (value, _) => value,
    };
    match value {
        Some(json) => js::string_from_bytes(args.ctx, json.as_bytes()),
        None => args.undefined(),
    }
}

/// Seconds, or a text with a unit.
fn timeout_of(args: &Args<'_, '_>, given: &Value<'_>) -> rquickjs::Result<Duration> {
    let seconds = match given.as_number() {
        Some(seconds) => Some(seconds),
        None => {
            let text = given.as_string().map(rquickjs::String::to_string).transpose()?.unwrap_or_default();
            // A number without a unit could be either seconds or milliseconds.
            let has_unit = text.parse::<f64>().is_err();
            GoDuration::parse(&text).filter(|_| has_unit).map(|duration| duration.ns as f64 / 1e9)
        }
    };
    match seconds {
        Some(seconds) if seconds >= 0.0 => Ok(Duration::from_secs_f64(seconds.min(WAIT_MAX.as_secs_f64()))),
        _ => Err(args.type_error("invalid timeout: use seconds, or a text with a unit such as \"500ms\"")),
    }
}

/// `size(value)`: entries of a queue or a map, or the value of a counter.
fn size<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let size = match &*shared.lock() {
        Content::Counter(value) => *value,
        Content::Queue(queue) => queue.len() as f64,
        Content::Map(map) => map.len() as f64,
    };
    Ok(Value::new_number(args.ctx.clone(), size))
}

/// `mapSet(map, key, json?, onlyNew)`: sets or removes a key; the value before as JSON.
fn map_set<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let value = args.given(2).map(|_| args.string(2)).transpose()?;
    let replaced = shared.replace(args.string(1)?.into(), value.map(Into::into), js::to_bool(&args.get(3)));
    json_or_undefined(args, replaced.map_err(|text| args.error(text))?)
}

/// `mapGet(map, key)`: its value as JSON.
fn map_get<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let key = args.string(1)?;
    let value = match &*shared.lock() {
        Content::Map(map) => map.get(key.as_str()).cloned(),
        _ => None,
    };
    json_or_undefined(args, value)
}

fn json_or_undefined<'js>(args: &Args<'_, 'js>, json: Option<Box<str>>) -> rquickjs::Result<Value<'js>> {
    match json {
        Some(json) => js::string_from_bytes(args.ctx, json.as_bytes()),
        None => args.undefined(),
    }
}

/// `mapKeys(map)`: its keys in order.
fn map_keys<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    let shared = shared_of(args)?;
    let keys: Vec<Box<str>> = match &*shared.lock() {
        Content::Map(map) => map.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let made = rquickjs::Array::new(args.ctx.clone())?;
    for (index, key) in keys.iter().enumerate() {
        made.set(index, &**key)?;
    }
    Ok(made.into_value())
}

/// `clear(value)`
fn clear<'js>(args: &Args<'_, 'js>) -> rquickjs::Result<Value<'js>> {
    shared_of(args)?.clear();
    args.undefined()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(content: Content, entries_max: usize) -> Shared {
        Shared {
            name: "m".into(),
            entries_max,
            bytes: Arc::default(),
            came: Notify::new(),
            content: Mutex::new(content),
        }
    }

    #[test]
    fn bytes_are_given_back() {
        let map = shared(Content::Map(BTreeMap::new()), 2);
        let held = || map.bytes.load(std::sync::atomic::Ordering::Relaxed);
        let set = |key: &str, value: Option<&str>| map.replace(key.into(), value.map(Into::into), false);
        assert_eq!(set("a", Some("1")), Ok(None));
        assert_eq!(set("a", Some("22")), Ok(Some("1".into())));
        assert_eq!(held(), 2 + 1 + ENTRY_BYTES);
        set("b", Some("3")).expect("it has capacity");
        assert!(set("c", Some("4")).is_err_and(|text| text.contains("\"m\" is full: it has 2 entries")));
        assert_eq!(map.replace("b".into(), Some("5".into()), true), Ok(Some("3".into())));
        assert_eq!(set("b", None), Ok(Some("3".into())));
        map.clear();
        assert_eq!(held(), 0);

        let queue = shared(Content::Queue(VecDeque::new()), 2);
        let held = || queue.bytes.load(std::sync::atomic::Ordering::Relaxed);
        assert_eq!(
            [queue.push("1".into()), queue.push("2".into()), queue.push("3".into())],
            [Ok(true), Ok(true), Ok(false)]
        );
        assert_eq!(held(), 2 * (1 + ENTRY_BYTES));
        assert_eq!(
            (queue.pop(), queue.pop(), queue.pop(), held()),
            (Some("1".into()), Some("2".into()), None, 0)
        );
        let large: Box<str> = "x".repeat(BYTES_MAX).into();
        assert!(queue.push(large).is_err_and(|text| text.contains("256 MiB")));
        assert_eq!(held(), 0);
    }

    #[test]
    fn who_waits_for_a_value_gets_one_each() {
        let queue = Arc::new(shared(Content::Queue(VecDeque::new()), 100));
        let waiting: Vec<_> = (0..8)
            .map(|_| {
                let queue = queue.clone();
                std::thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
                    runtime.block_on(queue.popped()).parse::<u32>().expect("a number")
                })
            })
            .collect();
        for n in 0..8 {
            assert_eq!(queue.push(n.to_string().into()), Ok(true));
        }
        let mut got: Vec<u32> = waiting.into_iter().map(|thread| thread.join().expect("it ends")).collect();
        got.sort_unstable();
        assert_eq!(got, (0..8).collect::<Vec<u32>>());
    }
}
