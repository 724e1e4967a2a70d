//! RabbitMQ, through the HTTP API of its management plugin: queues, their consumers, and the limits of its nodes.
//!
//! The API is that of 3.8 to 4.1 (`/api/overview`, `/api/queues`, `/api/consumers`, `/api/nodes`). The plugin refreshes its
//! statistics at the finest interval of `sample_retention_policies`, by default every five seconds. Rates are therefore reported
//! after each refresh, from the increase of counters, and never from the averages that the server keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::{Evidence, RecordKind, SignalId};
use serde_json::Value;

use super::Kind;
use crate::answer::{Answer, Counters, Fields, FirstSeen, OptionalQuery, SignalQuery, fields, line};
use crate::contract::{About, CALL_LIMIT, Check, ErrorKind, Moment, Period, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::settings::{Settings, SettingsError, password_variable};

/// Queues with series of their own; the rest is summed up.
const QUEUES_MAX: usize = 200;

/// Name of the remaining queues.
const OTHER: &str = "other";

/// Maximum number of nodes.
const NODES_MAX: usize = 32;

/// Timeout of each of up to four queries per call, so that all end within [`CALL_LIMIT`].
const QUESTION_LIMIT: Duration = Duration::from_secs(2);
const _: () = assert!(4 * QUESTION_LIMIT.as_secs() < CALL_LIMIT.as_secs());

/// Number of sampling periods without a refresh after which a warning is recorded.
const STALE_STEPS: f64 = 1.5;

/// Settings that refresh statistics each second, in queues and channels and in the plugin.
const FRESHER: &str = "collect_statistics_interval = 1000 and management.sample_retention_policies.global.minute = 1, \
                       .basic.minute = 1 and .detailed.minute = 1";

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "rabbitmq",
    provides: "RabbitMQ: queues (ready, unacknowledged, rates, consumers, prefetch) and node limits.",
    example: "http://monitor@localhost:15672",
    settings: &[
        ("step", "interval between queries [default: 1s]"),
        ("vhost", "collect only this virtual host"),
    ],
    open,
};

const QUEUE_COLUMNS: &str = "name,vhost,type,durable,messages_ready,messages_unacknowledged,consumers,\
                             consumer_utilisation,memory,message_stats.publish,message_stats.deliver_get,\
                             message_stats.ack";
const CONSUMER_COLUMNS: &str = "prefetch_count,queue.name,queue.vhost";
const NODE_COLUMNS: &str = "name,uptime,mem_used,mem_limit,mem_alarm,disk_free,disk_free_alarm,fd_used,fd_total,\
                            sockets_used,sockets_total";

/// Levels of a queue by JSON pointer.
const QUEUE_NOW: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::QueueReady, "GET /api/queues: messages_ready"), "/messages_ready"),
    (
        SignalQuery::new(SignalId::QueueUnacked, "GET /api/queues: messages_unacknowledged"),
        "/messages_unacknowledged",
    ),
    (SignalQuery::new(SignalId::QueueConsumers, "GET /api/queues: consumers"), "/consumers"),
    (SignalQuery::new(SignalId::QueueMemory, "GET /api/queues: memory"), "/memory"),
];

/// Counters of a queue by JSON pointer.
const QUEUE_COUNTS: &[(SignalQuery, &str)] = &[
    (
        SignalQuery::new(SignalId::QueuePublished, "GET /api/queues: message_stats.publish"),
        "/message_stats/publish",
    ),
    (
        SignalQuery::new(SignalId::QueueDelivered, "GET /api/queues: message_stats.deliver_get"),
        "/message_stats/deliver_get",
    ),
    (SignalQuery::new(SignalId::QueueAcked, "GET /api/queues: message_stats.ack"), "/message_stats/ack"),
];

const UTILISATION: SignalQuery =
    SignalQuery::new(SignalId::QueueUtilisation, "GET /api/queues: consumer_utilisation");
const PREFETCH: SignalQuery =
    SignalQuery::new(SignalId::QueuePrefetch, "GET /api/consumers: prefetch_count, added up per queue");

const NODE_NOW: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::NodeMemory, "GET /api/nodes: mem_used"), "/mem_used"),
    (SignalQuery::new(SignalId::NodeMemoryLimit, "GET /api/nodes: mem_limit"), "/mem_limit"),
    (SignalQuery::new(SignalId::NodeFiles, "GET /api/nodes: fd_used"), "/fd_used"),
    (SignalQuery::new(SignalId::NodeFilesLimit, "GET /api/nodes: fd_total"), "/fd_total"),
    (SignalQuery::new(SignalId::NodeSockets, "GET /api/nodes: sockets_used"), "/sockets_used"),
    (SignalQuery::new(SignalId::NodeSocketsLimit, "GET /api/nodes: sockets_total"), "/sockets_total"),
    (SignalQuery::new(SignalId::NodeDiskFree, "GET /api/nodes: disk_free"), "/disk_free"),
];

/// Alarms that block publishers.
const ALARMS: &[(&str, &str)] = &[("memory alarm", "/mem_alarm"), ("disk alarm", "/disk_free_alarm")];

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    Ok(Box::new(RabbitMq::new(settings)?))
}

struct RabbitMq {
    name: String,
    client: Client,
    user: Option<String>,
    step: Duration,
    vhost: Option<String>,
    /// Facts from the first query.
    begun: Option<Begun>,
    consumers: OptionalQuery,
    nodes: OptionalQuery,
    freshness: Freshness,
    counters: Counters,
    few: FirstSeen,
    /// Maximum number of queues summed up as the rest.
    rest_max: usize,
    /// Configuration of queues by label.
    configuration: BTreeMap<String, Fields>,
    /// Active alarms by node and name.
    alarms: BTreeSet<(String, &'static str)>,
}

/// Facts from the first query.
#[derive(Clone, Copy)]
struct Begun {
    /// Whether the server counts messages per queue.
    counts_messages: bool,
}

/// Detects refreshed statistics by the uptime of a node, which is refreshed with them.
#[derive(Debug, Default)]
struct Freshness {
    uptime_ms: Option<f64>,
    interval_ms_min: Option<f64>,
}

impl Source for RabbitMq {
    fn about(&self) -> About {
        About { name: self.name.clone(), kind: KIND.name, address: self.client.base().to_owned() }
    }

    fn probe(&mut self) -> Vec<Check> {
        let overview = match self.client.json("/api/overview", &[]) {
            Ok(overview) => overview,
            Err(error) => {
                let remedy = self.remedy(error.kind);
                return vec![Check::fails("management API", error.message, remedy)];
            }
        };
        let counts = match counts_messages(&overview) {
            true => Check::works("message rates", text(&overview, "/rates_mode")),
            false => Check::lacks(
                "message rates",
                "the server collects no message statistics",
                "management.rates_mode = basic",
            ),
        };
        let user = self.user.as_deref().unwrap_or("USER");
        let tags = format!("rabbitmqctl set_user_tags {user} monitoring");
        let tried = |what: &str, path: &str, columns: &str| match self.list(path, columns) {
            Ok(list) => Check::works(what, list.len().to_string()),
            Err(SourceError { message: why, .. }) => Check::lacks(what, why, tags.clone()),
        };
        vec![
            Check::works("management API", format!("RabbitMQ {}", text(&overview, "/rabbitmq_version"))),
            tried("queues", "/api/queues", "name"),
            tried("consumers", "/api/consumers", CONSUMER_COLUMNS),
            tried("nodes", "/api/nodes", "name"),
            counts,
        ]
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let mut answer = Answer::new(&self.name, now.at, self.step);
        let begun = self.begin(&mut answer)?;
        let queues = self.list("/api/queues", QUEUE_COLUMNS)?;
        let client = &self.client;
        let consumers =
            self.consumers.ask(&mut answer, || list(client, "/api/consumers", CONSUMER_COLUMNS))?;
        let nodes = self.nodes.ask(&mut answer, || list(client, "/api/nodes", NODE_COLUMNS))?;
        let is_fresh = self.freshness.is_fresh(nodes.as_deref().and_then(<[Value]>::first));
        if is_fresh {
            self.counters.turn(now.at);
        }
        self.add_nodes(&mut answer, nodes.as_deref().unwrap_or_default());
        let prefetch = consumers.map(|consumers| self.prefetch(&consumers));
        self.add_queues(&mut answer, &queues, prefetch.as_ref(), is_fresh && begun.counts_messages);
        Ok(answer.evidence())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let mut answer = Answer::new(&self.name, period.to.at, self.step);
        for (queue, known) in std::mem::take(&mut self.configuration) {
            answer.record(RecordKind::Configuration, &queue, known);
        }
        if self.rest_max > 0 {
            let text = format!(
                "up to {} queues beyond the first {QUEUES_MAX} are summed up as {OTHER:?}",
                self.rest_max
            );
            answer.warning(&text);
        }
        let step_ms = self.step.as_secs_f64() * 1e3;
        if let Some(interval_ms) = self.freshness.interval_ms_min.filter(|ms| *ms > step_ms * STALE_STEPS) {
            answer.warning(&format!(
                "depths and rates are up to {:.1} s old, the statistics interval of the server; to refresh them every \
                 second, set {FRESHER} in rabbitmq.conf",
                interval_ms / 1e3
            ));
        }
        Ok(answer.evidence())
    }
}

impl RabbitMq {
    fn new(settings: &Settings) -> Result<RabbitMq, SettingsError> {
        let Door { base, user, authorization } = http::door(settings)?;
        Ok(RabbitMq {
            name: settings.name.clone(),
            client: Client::patient(&base, authorization, QUESTION_LIMIT),
            user,
            step: settings.duration("step", Duration::from_secs(1))?,
            vhost: settings.values.get("vhost").cloned(),
            begun: None,
            consumers: OptionalQuery::new("consumers and prefetch"),
            nodes: OptionalQuery::new("nodes and node limits"),
            freshness: Freshness::default(),
            counters: Counters::default(),
            few: FirstSeen::new(QUEUES_MAX),
            rest_max: 0,
            configuration: BTreeMap::new(),
            alarms: BTreeSet::new(),
        })
    }

    /// Reads the server's facts at the first query.
    fn begin(&mut self, answer: &mut Answer) -> Result<Begun, SourceError> {
        if let Some(begun) = self.begun {
            return Ok(begun);
        }
        let overview = self.client.json("/api/overview", &[])?;
        let known = ["rabbitmq_version", "erlang_version", "cluster_name", "rates_mode"]
            .map(|name| (name, text(&overview, &format!("/{name}")).into()));
        answer.record(RecordKind::Configuration, &self.name, fields(known));
        let begun = Begun { counts_messages: counts_messages(&overview) };
        self.begun = Some(begun);
        Ok(begun)
    }

    fn list(&self, path: &str, columns: &str) -> Result<Vec<Value>, SourceError> {
        list(&self.client, path, columns)
    }

    /// Returns the label of a queue, if it is collected.
    fn label(&self, name: &Value, vhost: &Value) -> Option<String> {
        let (name, vhost) = (name.as_str()?, vhost.as_str()?);
        match &self.vhost {
            Some(only) => (vhost == only).then(|| name.to_owned()),
            None if vhost == "/" => Some(name.to_owned()),
            None => Some(format!("{vhost}/{name}")),
        }
    }

    /// Returns the total prefetch limit of each queue's consumers; `None` if one has no limit.
    fn prefetch(&self, consumers: &[Value]) -> BTreeMap<String, Option<f64>> {
        let mut sums = BTreeMap::new();
        for consumer in consumers {
            let queue = &consumer["queue"];
            let Some(label) = self.label(&queue["name"], &queue["vhost"]) else { continue };
            let limit = consumer["prefetch_count"].as_f64().filter(|limit| *limit > 0.0);
            let sum = sums.entry(label).or_insert(Some(0.0));
            *sum = sum.zip(limit).map(|(sum, limit)| sum + limit);
        }
        sums
    }

    fn add_queues(
        &mut self,
        answer: &mut Answer,
        queues: &[Value],
        prefetch: Option<&BTreeMap<String, Option<f64>>>,
        has_rates: bool,
    ) {
        let mut labelled: Vec<(String, &Value)> = queues
            .iter()
            .filter_map(|queue| Some((self.label(&queue["name"], &queue["vhost"])?, queue)))
            .collect();
        // The first queues keep their series for the whole run, so the deepest come first.
        labelled.sort_by(|(_, one), (_, other)| depth(other).total_cmp(&depth(one)));
        let mut rest = Rest::default();
        let mut rest_count = 0;
        for (label, queue) in labelled {
            let is_told = self.few.has(&label);
            rest_count += usize::from(!is_told);
            let mut add = |what: &'static SignalQuery, value: f64| match is_told {
                true => answer.number(what, &[("queue", &label)], value),
                false => rest.add(what, value),
            };
            for (what, place) in QUEUE_NOW {
                number(queue, place).into_iter().for_each(|value| add(what, value));
            }
            // A queue without any message so far has a depth and no counters. One that has neither is not counted yet.
            let is_counted = has_rates && number(queue, "/messages_ready").is_some();
            for (what, place) in QUEUE_COUNTS.iter().filter(|_| is_counted) {
                let count = number(queue, place).unwrap_or(0.0);
                let rate = self.counters.rate(&format!("{} {label}", what.signal.as_str()), count);
                rate.into_iter().for_each(|rate| add(what, rate));
            }
            let held = prefetch.map(|prefetch| prefetch.get(&label).copied().unwrap_or(Some(0.0)));
            held.flatten().into_iter().for_each(|held| add(&PREFETCH, held));
            if !is_told {
                continue;
            }
            // Utilisations of several queues cannot be added up.
            if let Some(share) = number(queue, "/consumer_utilisation") {
                answer.number(&UTILISATION, &[("queue", &label)], share);
            }
            self.configuration.insert(label, configuration(queue, held));
        }
        self.rest_max = self.rest_max.max(rest_count);
        rest.add_to(answer);
    }

    fn add_nodes(&mut self, answer: &mut Answer, nodes: &[Value]) {
        for node in nodes.iter().take(NODES_MAX) {
            let name = text(node, "/name");
            for (what, place) in NODE_NOW {
                let value = number(node, place);
                value.into_iter().for_each(|value| answer.number(what, &[("node", &name)], value));
            }
            for (alarm, place) in ALARMS {
                let is_on = node.pointer(place).and_then(Value::as_bool) == Some(true);
                let known = (name.clone(), *alarm);
                let has_changed = if is_on { self.alarms.insert(known) } else { self.alarms.remove(&known) };
                if has_changed {
                    let state = if is_on { "on" } else { "off" };
                    let known = fields([("what", (*alarm).into()), ("state", state.into())]);
                    answer.record(RecordKind::Happening, &name, known);
                }
            }
        }
    }

    /// Returns the remedy for a failure of the API.
    fn remedy(&self, kind: ErrorKind) -> String {
        let variable = password_variable(&self.name);
        let user = self.user.as_deref().unwrap_or("plimsoll");
        match kind {
            ErrorKind::Unauthenticated => format!(
                "put the user into the address and the password into {variable}; to create the user: rabbitmqctl \
                 add_user {user} PASSWORD && rabbitmqctl set_user_tags {user} monitoring"
            ),
            ErrorKind::NotFound => "rabbitmq-plugins enable rabbitmq_management".to_owned(),
            _ => "enable the management API (rabbitmq-plugins enable rabbitmq_management) and check its address; the \
                  default port is 15672"
                .to_owned(),
        }
    }
}

impl Freshness {
    /// Returns true if the statistics are new; without a readable node they always count as new.
    fn is_fresh(&mut self, node: Option<&Value>) -> bool {
        let Some(uptime_ms) = node.and_then(|node| number(node, "/uptime")) else { return true };
        let before = self.uptime_ms.replace(uptime_ms);
        let Some(before) = before else { return true };
        if uptime_ms > before {
            let interval = self.interval_ms_min.unwrap_or(f64::MAX).min(uptime_ms - before);
            self.interval_ms_min = Some(interval);
        }
        uptime_ms != before
    }
}

/// Sums over the queues without series of their own.
#[derive(Debug, Default)]
struct Rest(Vec<(&'static SignalQuery, f64)>);

impl Rest {
    fn add(&mut self, what: &'static SignalQuery, value: f64) {
        match self.0.iter_mut().find(|(known, _)| known.signal == what.signal) {
            Some((_, sum)) => *sum += value,
            None => self.0.push((what, value)),
        }
    }

    fn add_to(self, answer: &mut Answer) {
        self.0.into_iter().for_each(|(what, sum)| answer.number(what, &[("queue", OTHER)], sum));
    }
}

/// Requests the objects at a path, with only the needed columns.
fn list(client: &Client, path: &str, columns: &str) -> Result<Vec<Value>, SourceError> {
    match client.json(path, &[("columns", columns)])? {
        Value::Array(objects) => Ok(objects),
        _ => Err(SourceError::new(format!("GET {}{path}: expected a JSON list", client.base()))),
    }
}

fn configuration(queue: &Value, prefetch: Option<Option<f64>>) -> Fields {
    let is_durable = queue["durable"].as_bool() == Some(true);
    let durable = if is_durable { "yes" } else { "no" };
    let mut known = fields([("type", text(queue, "/type").into()), ("durable", durable.into())]);
    known.extend(prefetch.map(|limit| {
        let limit = limit.map_or_else(|| "unlimited".into(), Into::into);
        ("prefetch".to_owned(), limit)
    }));
    known
}

fn counts_messages(overview: &Value) -> bool {
    overview["rates_mode"] != "none" && overview["disable_stats"] != true
}

fn depth(queue: &Value) -> f64 {
    let places = ["/messages_ready", "/messages_unacknowledged"];
    places.iter().filter_map(|place| number(queue, place)).sum()
}

fn number(object: &Value, place: &str) -> Option<f64> {
    object.pointer(place)?.as_f64()
}

fn text(object: &Value, place: &str) -> String {
    line(object.pointer(place).and_then(Value::as_str).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use lab::RABBITMQ;
    use model::{Epoch, Instant, SystemClock};
    use serde_json::json;

    use super::*;
    use crate::contract::promises;
    use crate::trial;

    fn made(address: &str, credential: Option<&str>) -> RabbitMq {
        RabbitMq::new(&trial::settings("rabbitmq", address, credential)).expect("settings that are right")
    }

    fn queue(name: &str, vhost: &str, ready: u32) -> Value {
        json!({"name": name, "vhost": vhost, "messages_ready": ready, "messages_unacknowledged": 1,
               "consumers": 2, "consumer_utilisation": 0.5, "memory": 1000, "type": "classic", "durable": true,
               "message_stats": {"publish": 10 * ready, "deliver_get": 7, "ack": 6}})
    }

    fn consumer(queue: &str, prefetch: u32) -> Value {
        json!({"prefetch_count": prefetch, "queue": {"name": queue, "vhost": "/"}})
    }

    /// Returns signals of these queues at the second of two instants, one second apart.
    fn sampled(source: &mut RabbitMq, before: &[Value], queues: &[Value], consumers: &[Value]) -> Evidence {
        let mut answer = Answer::new("rabbitmq", Instant::ZERO, source.step);
        let prefetch = source.prefetch(consumers);
        for (second, queues) in [(1, before), (2, queues)] {
            let at = Instant::from_ns(second * 1_000_000_000);
            answer = Answer::new("rabbitmq", at, source.step);
            source.counters.turn(at);
            source.add_queues(&mut answer, queues, Some(&prefetch), true);
        }
        answer.evidence()
    }

    fn value(evidence: &Evidence, name: &str, queue: &str) -> Option<f64> {
        let found = |signal: &&model::Signal| signal.name == name && signal.labels["queue"] == queue;
        evidence.signals.iter().find(found).map(|signal| signal.points[0].1)
    }

    #[test]
    fn a_queue_is_told_with_its_parts_apart() {
        let mut source = made("http://localhost:15672", None);
        let consumers = [consumer("scan", 10), consumer("scan", 5), consumer("free", 4), consumer("free", 0)];
        let before = [queue("scan", "/", 3), queue("free", "/", 1), queue("none", "vip", 1)];
        let after = [queue("scan", "/", 5), queue("free", "/", 1), queue("none", "vip", 1)];
        let evidence = sampled(&mut source, &before, &after, &consumers);
        let check =
            |name, queue, expect| assert_eq!(value(&evidence, name, queue), expect, "{name} of {queue}");
        check("queue_ready", "scan", Some(5.0));
        check("queue_unacked", "scan", Some(1.0));
        check("queue_published", "scan", Some(20.0));
        check("queue_delivered", "scan", Some(0.0));
        check("queue_utilisation", "scan", Some(0.5));
        check("queue_prefetch", "scan", Some(15.0));
        check("queue_prefetch", "free", None);
        check("queue_prefetch", "vip/none", Some(0.0));
        check("queue_ready", "none", None);
    }

    #[test]
    fn queues_beyond_the_limit_are_added_up() {
        let mut source = made("http://localhost:15672", None);
        let queues: Vec<Value> = (0..250).map(|number| queue(&format!("q{number}"), "/", number)).collect();
        let evidence = sampled(&mut source, &queues, &queues, &[]);
        let named = evidence.signals.iter().filter(|signal| signal.name == "queue_ready").count();
        assert_eq!(named, QUEUES_MAX + 1);
        assert_eq!(value(&evidence, "queue_ready", "q249"), Some(249.0), "the deepest queues have series");
        assert_eq!(value(&evidence, "queue_ready", OTHER), Some((0..50).sum::<u32>().into()));
        assert_eq!(value(&evidence, "queue_utilisation", OTHER), None);
        let moment = Moment { at: Instant::ZERO, wall_ns: 0 };
        let last = source.look_back(&Period { from: moment, to: moment }).expect("no query");
        assert!(last.records.iter().any(|record| record.subject.starts_with("up to 50 queues")), "{last:?}");
    }

    #[test]
    fn rates_wait_for_new_statistics() {
        let mut freshness = Freshness::default();
        let fresh = [1000, 1000, 6000, 6000, 11_500]
            .map(|uptime| freshness.is_fresh(Some(&json!({"uptime": uptime}))));
        assert_eq!(fresh, [true, false, true, false, true]);
        assert_eq!(freshness.interval_ms_min, Some(5000.0));
        assert!(Freshness::default().is_fresh(None));
    }

    #[test]
    fn an_alarm_is_told_when_it_begins_and_ends() {
        let mut source = made("http://localhost:15672", None);
        let mut states = Vec::new();
        for is_on in [false, true, true, false] {
            let mut answer = Answer::new("rabbitmq", Instant::ZERO, source.step);
            source.add_nodes(&mut answer, &[json!({"name": "rabbit@a", "mem_alarm": is_on, "mem_used": 5})]);
            let happened = answer.evidence().records;
            states.push(happened.first().map(|record| record.fields["state"].clone()));
        }
        assert_eq!(states, [None, Some("on".into()), None, Some("off".into())]);
    }

    #[test]
    fn answers_that_are_nonsense_tell_nothing() {
        let mut source = made("http://localhost:15672", None);
        let nonsense =
            [json!(null), json!({"name": 5}), json!({"name": "a", "vhost": "/", "messages_ready": "many"})];
        let evidence = sampled(&mut source, &nonsense, &nonsense, &nonsense);
        let names: Vec<&str> = evidence.signals.iter().map(|signal| signal.name.as_str()).collect();
        assert_eq!(names, ["queue_prefetch"]);
    }

    #[test]
    fn an_absent_server_is_told() {
        promises::of_an_absent_server(&mut made("http://lab@127.0.0.1:1", Some("secret")));
    }

    #[test]
    fn a_real_server_tells_its_queues_and_what_a_user_may_not_see() {
        let Some(server) = trial::server(RABBITMQ) else { return };
        let password = trial::password(&server.url("rabbitmq"));
        let api = format!("http://127.0.0.1:{}/api", server.ports("rabbitmq")[1]);
        let send = |method: &str, path: &str, body: Value| {
            trial::send(method, &format!("{api}{path}"), Some(("lab", &password)), &body.to_string());
        };
        send("PUT", "/queues/%2F/scan.vision", json!({"durable": true}));
        let publish = || {
            let message = json!({"properties": {}, "routing_key": "scan.vision", "payload": "x",
                                 "payload_encoding": "string"});
            send("POST", "/exchanges/%2F/amq.default/publish", message);
        };
        publish();

        let address = format!("http://lab@127.0.0.1:{}", server.ports("rabbitmq")[1]);
        let mut source = made(&address, Some(&password));
        let evidence = trial::until(|| {
            // A server that has just started has no statistics yet.
            let evidence = promises::of_a_source(&mut source, Some(&password));
            evidence.signals.iter().any(|signal| signal.name == "node_memory_limit").then_some(evidence)
        });
        assert_eq!(value(&evidence, "queue_prefetch", "scan.vision"), Some(0.0));

        // The rates add up to the published messages, however refreshes fall between the queries.
        let epoch = Epoch::anchor(&SystemClock);
        let mut sample = || source.sample(Moment::new(SystemClock::now(), &epoch)).expect("it is there");
        let rates_at = |evidence: &Evidence| {
            value(evidence, "queue_published", "scan.vision")
                .map(|rate| (rate, evidence.signals[0].points[0].0))
        };
        let mut last = trial::until(|| {
            let evidence = sample();
            let is_counted = value(&evidence, "queue_ready", "scan.vision") == Some(1.0);
            rates_at(&evidence).filter(|(rate, _)| is_counted && *rate == 0.0).map(|(_, at)| at)
        });
        (0..10).for_each(|_| publish());
        let take = json!({"count": 4, "ackmode": "ack_requeue_false", "encoding": "auto"});
        send("POST", "/queues/%2F/scan.vision/get", take);
        let (mut published, mut taken, mut ready) = (0.0, 0.0, 0.0);
        for _ in 0..30 {
            std::thread::sleep(Duration::from_millis(300));
            let evidence = sample();
            ready = value(&evidence, "queue_ready", "scan.vision").unwrap_or(ready);
            let Some((rate, at)) = rates_at(&evidence) else { continue };
            let seconds = at.since(std::mem::replace(&mut last, at)).as_secs_f64();
            published += rate * seconds;
            taken += value(&evidence, "queue_delivered", "scan.vision").unwrap_or_default() * seconds;
        }
        assert!((9.5..10.5).contains(&published) && (3.5..4.5).contains(&taken), "{published} {taken}");
        assert_eq!(ready, 7.0);

        send("PUT", "/users/plain", json!({"password": "plain-secret", "tags": "management"}));
        send("PUT", "/permissions/%2F/plain", json!({"configure": "", "write": "", "read": ".*"}));
        let address = format!("http://plain@127.0.0.1:{}", server.ports("rabbitmq")[1]);
        let mut source = made(&address, Some("plain-secret"));
        let nodes = source.probe().into_iter().find(|check| check.what == "nodes").expect("nodes are tried");
        let missing = nodes.outcome.expect_err("it may not see nodes");
        assert_eq!(missing.remedy, "rabbitmqctl set_user_tags plain monitoring");
        let evidence = promises::of_a_source(&mut source, Some("plain-secret"));
        assert!(
            value(&evidence, "queue_ready", "scan.vision").is_some(),
            "the rest is reported: {evidence:?}"
        );

        let wrong = made(&address, Some("wrong")).probe();
        let missing = wrong[0].outcome.clone().expect_err("a wrong password");
        assert!(missing.is_fatal && missing.remedy.contains("PLIMSOLL_RABBITMQ_PASSWORD"), "{missing:?}");
    }
}
