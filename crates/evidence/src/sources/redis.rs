//! Redis 6 and later: `INFO` every second, time per command, slow commands and latency events.
//!
//! Only the names of commands are kept, because their arguments contain user data.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use model::{Evidence, Instant, RecordKind, SignalId, SystemClock};
use redis::{
    Client, Connection, ConnectionAddr, FromRedisValue, IntoConnectionInfo, ProtocolVersion, RedisError,
    TlsCertificates, Value,
};

use super::Kind;
use crate::answer::{self, Answer, Counters, FirstSeen, OptionalQuery, SignalQuery, clip, fields};
use crate::contract::{About, CALL_LIMIT, Check, ErrorKind, Moment, Period, Source, SourceError};
use crate::settings::{Settings, SettingsError, password_variable};

/// Timeout of connecting, and of a query.
const LIMIT: Duration = Duration::from_secs(2);

/// Maximum duration of a call.
const CALL: Duration = Duration::from_secs(8);
const _: () = assert!(CALL.as_secs() < CALL_LIMIT.as_secs());

/// Maximum number of slow commands and latency events of a run.
const HAPPENINGS_MAX: usize = 200;

/// Maximum number of commands.
const COMMANDS_MAX: usize = 50;

/// Entries of the slow log per query: its default capacity.
const SLOW_AT_ONCE: i64 = 128;

/// Maximum number of databases.
const DATABASES_MAX: usize = 16;

/// Commands of this source, as versions of the server name them.
const OWN_COMMANDS: &[&str] = &[
    "INFO",
    "SLOWLOG",
    "SLOWLOG GET",
    "LATENCY",
    "LATENCY LATEST",
    "CLIENT SETNAME",
    "CLIENT SETINFO",
    "CONFIG GET",
];

/// Name of the connection among the server's clients.
const CLIENT_NAME: &str = "plimsoll";

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "redis",
    provides: "Redis: memory, evictions, hits, clients, time per command, slow commands and latency events.",
    example: "redis://plimsoll@localhost:6379",
    settings: &[
        ("step", "interval between queries [default: 1s]"),
        ("ca", "PEM file of certificate authorities, with rediss:// [default: the system's]"),
    ],
    open,
};

/// Levels by name in `INFO`.
const NOW: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::MemoryUsed, "INFO: used_memory"), "used_memory"),
    (SignalQuery::new(SignalId::MemoryRss, "INFO: used_memory_rss"), "used_memory_rss"),
    (SignalQuery::new(SignalId::Blocked, "INFO: blocked_clients"), "blocked_clients"),
    (SignalQuery::new(SignalId::ClientsMax, "INFO: maxclients"), "maxclients"),
];

/// Counters by name in `INFO`.
const COUNTS: &[(SignalQuery, &str)] = &[
    (SignalQuery::new(SignalId::Ops, "INFO: total_commands_processed"), COMMANDS_PROCESSED),
    (SignalQuery::new(SignalId::Hits, "INFO: keyspace_hits"), "keyspace_hits"),
    (SignalQuery::new(SignalId::Misses, "INFO: keyspace_misses"), "keyspace_misses"),
    (SignalQuery::new(SignalId::Evicted, "INFO: evicted_keys"), "evicted_keys"),
    (SignalQuery::new(SignalId::Expired, "INFO: expired_keys"), "expired_keys"),
    (SignalQuery::new(SignalId::RejectedConnections, "INFO: rejected_connections"), "rejected_connections"),
    (SignalQuery::new(SignalId::BytesIn, "INFO: total_net_input_bytes"), "total_net_input_bytes"),
    (SignalQuery::new(SignalId::BytesOut, "INFO: total_net_output_bytes"), "total_net_output_bytes"),
];

/// Configuration in `INFO`.
const CONFIGURED: &[&str] = &[
    "redis_version",
    "redis_mode",
    "role",
    "os",
    "maxmemory",
    "maxmemory_policy",
    "maxclients",
    "io_threads_active",
];

const COMMANDS_PROCESSED: &str = "total_commands_processed";

const MEMORY_MAX: SignalQuery = SignalQuery::new(SignalId::MemoryMax, "INFO: maxmemory");
const CLIENTS: SignalQuery = SignalQuery::new(SignalId::Clients, "INFO: connected_clients");
const CPU: SignalQuery = SignalQuery::new(SignalId::Cpu, "INFO: used_cpu_sys + used_cpu_user");
const KEYS: SignalQuery = SignalQuery::new(SignalId::Keys, "INFO: keyspace");
const SLOW_COMMANDS: SignalQuery = SignalQuery::new(SignalId::SlowCommands, "SLOWLOG GET");

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    Ok(Box::new(Redis::new(settings)?))
}

struct Redis {
    name: String,
    address: String,
    user: Option<String>,
    client: Client,
    connection: Option<Connection>,
    step: Duration,
    counters: Counters,
    databases: FirstSeen,
    slow_log: OptionalQuery,
    latency: OptionalQuery,
    commands: OptionalQuery,
    /// Deadline of the call.
    deadline: Instant,
    /// Number of own queries, which the server counts, too.
    own: u64,
    /// Command counters at the start of the run.
    before: Option<BTreeMap<String, Taken>>,
    /// The number of the next entry of the slow log, if known.
    slow_next: Option<i64>,
    /// Slow commands so far.
    slow_count: f64,
    /// Time of the latest occurrence of each latency event, in the server's seconds, if known.
    latency_at: Option<HashMap<String, i64>>,
    happenings: usize,
    happenings_untold: u64,
}

/// Totals of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Taken {
    calls: f64,
    total_ms: f64,
}

/// An entry of the slow log, without arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slow {
    number: i64,
    at_s: i64,
    took_us: i64,
    command: String,
    arguments: usize,
    client: String,
}

impl Source for Redis {
    fn about(&self) -> About {
        About { name: self.name.clone(), kind: KIND.name, address: self.address.clone() }
    }

    fn probe(&mut self) -> Vec<Check> {
        self.begin_call();
        let info = match self.ask::<String>(&["INFO"]) {
            Ok(info) => info,
            Err(error) => {
                let remedy = self.remedy(error.kind);
                return vec![Check::fails("INFO", error.message, remedy)];
            }
        };
        let known = read_info(&info);
        let version = known.get("redis_version").copied().unwrap_or("(unknown version)");
        vec![
            Check::works("INFO", format!("Redis {}", clip(version))),
            self.check(&["INFO", "commandstats"], "+info"),
            self.check(&["SLOWLOG", "GET", "1"], "+slowlog|get"),
            self.check(&["LATENCY", "LATEST"], "+latency|latest"),
            self.check_threshold(),
        ]
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        self.begin_call();
        let mut answer = Answer::new(&self.name, now.at, self.step);
        let is_first = self.before.is_none();
        if is_first {
            let taken = self.part(&mut answer, |redis| &mut redis.commands, Redis::commands)?;
            self.before = Some(taken.unwrap_or_default());
        }
        let info: String = self.ask(&["INFO"])?;
        let known = read_info(&info);
        if is_first {
            let known = CONFIGURED
                .iter()
                .filter_map(|name| Some(((*name).to_owned(), clip(known.get(name)?).into())));
            answer.record(RecordKind::Configuration, &self.name, known.collect());
        }
        self.add_info(&mut answer, &known, now);
        let slow = self.part(&mut answer, |redis| &mut redis.slow_log, Redis::slow)?;
        let clock = server_clock(&known, now);
        if let Some(slow) = slow {
            self.add_slow(&mut answer, slow, &clock);
        }
        let events = self.part(&mut answer, |redis| &mut redis.latency, Redis::latency)?;
        if let Some(events) = events {
            self.add_latency(&mut answer, events, &clock);
        }
        Ok(answer.evidence())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        self.begin_call();
        let mut answer = Answer::new(&self.name, period.to.at, self.step);
        let Some(before) = self.before.take() else { return Ok(answer.evidence()) };
        if self.happenings_untold > 0 {
            let text =
                format!("{} more slow commands and latency events were left out", self.happenings_untold);
            answer.warning(&text);
        }
        if let Some(now) = self.part(&mut answer, |redis| &mut redis.commands, Redis::commands)? {
            add_commands(&mut answer, &before, &now);
        }
        Ok(answer.evidence())
    }
}

impl Redis {
    fn new(settings: &Settings) -> Result<Redis, SettingsError> {
        let wrong = |why: &str| settings.wrong("address", why);
        let info = settings
            .address
            .as_str()
            .into_connection_info()
            .map_err(|_| wrong("expected a URL, for example redis://plimsoll@localhost:6379"))?;
        let mut access = info.redis_settings().clone();
        if access.password().is_some() {
            return Err(wrong("it contains a password; set the password in the environment or in a file"));
        }
        let place = match info.addr() {
            ConnectionAddr::Tcp(host, port) => format!("redis://{host}:{port}"),
            ConnectionAddr::Unix(path) => format!("redis+unix://{}", path.display()),
            ConnectionAddr::TcpTls { insecure: true, .. } => {
                return Err(wrong(
                    "without certificate checks the password could be intercepted; remove #insecure",
                ));
            }
            ConnectionAddr::TcpTls { host, port, .. } => format!("rediss://{host}:{port}"),
            _ => return Err(wrong("expected the URL of a Redis server")),
        };
        let user = access.username().map(str::to_owned);
        if let Some(credential) = &settings.credential {
            access = access.set_password(credential);
        }
        access = access.set_protocol(ProtocolVersion::RESP2).set_skip_set_lib_name();
        let root_cert = settings.values.get("ca").map(std::fs::read).transpose();
        let root_cert =
            root_cert.map_err(|error| settings.wrong("ca", &format!("the file cannot be read: {error}")))?;
        let info = info.set_redis_settings(access);
        let client = match info.addr() {
            ConnectionAddr::TcpTls { .. } => {
                Client::build_with_tls(info, TlsCertificates { client_tls: None, root_cert }).map_err(
                    |error| settings.wrong("ca", &format!("the certificates cannot be used: {error}")),
                )?
            }
            _ => Client::open(info).map_err(|_| wrong("expected the URL of a Redis server"))?,
        };
        Ok(Redis {
            name: settings.name.clone(),
            address: place,
            user,
            client,
            connection: None,
            step: settings.duration("step", Duration::from_secs(1))?,
            counters: Counters::default(),
            databases: FirstSeen::new(DATABASES_MAX),
            slow_log: OptionalQuery::new("slow commands"),
            latency: OptionalQuery::new("latency events"),
            commands: OptionalQuery::new("command times"),
            deadline: Instant::ZERO,
            own: 0,
            before: None,
            slow_next: None,
            slow_count: 0.0,
            latency_at: None,
            happenings: 0,
            happenings_untold: 0,
        })
    }

    fn begin_call(&mut self) {
        self.deadline = SystemClock::now() + CALL;
    }

    /// Sends a command and returns the response.
    fn ask<T: FromRedisValue>(&mut self, words: &[&str]) -> Result<T, SourceError> {
        let limit = self.deadline.since(SystemClock::now()).min(LIMIT);
        if limit.is_zero() {
            return Err(SourceError::new("the server did not respond in time"));
        }
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect(limit)?,
        };
        self.own += 1;
        let answer = exchange(&mut connection, words, limit);
        // A refusal by the server leaves the connection usable.
        if answer.as_ref().map_or_else(|error| error.code().is_some(), |_| true) {
            self.connection = Some(connection);
        }
        answer.map_err(|error| classified(&error))
    }

    fn connect(&mut self, limit: Duration) -> Result<Connection, SourceError> {
        let connected = self.client.get_connection_with_timeout(limit);
        let mut connection = connected.map_err(|error| classified(&error))?;
        // A user without permission to set a name is served without one. The password was already sent.
        let _: Result<Value, RedisError> =
            exchange(&mut connection, &["CLIENT", "SETNAME", CLIENT_NAME], limit);
        self.own += 2;
        Ok(connection)
    }

    /// Queries an optional part.
    fn part<T>(
        &mut self,
        answer: &mut Answer,
        which: fn(&mut Redis) -> &mut OptionalQuery,
        question: fn(&mut Redis) -> Result<T, SourceError>,
    ) -> Result<Option<T>, SourceError> {
        let mut part = std::mem::replace(which(self), OptionalQuery::new(""));
        let answered = part.ask(answer, || question(self));
        *which(self) = part;
        answered
    }

    fn commands(&mut self) -> Result<BTreeMap<String, Taken>, SourceError> {
        Ok(read_commands(&self.ask::<String>(&["INFO", "commandstats"])?))
    }

    fn slow(&mut self) -> Result<Vec<Slow>, SourceError> {
        let entries: Vec<Value> = self.ask(&["SLOWLOG", "GET", &SLOW_AT_ONCE.to_string()])?;
        Ok(entries.iter().filter_map(Slow::read).collect())
    }

    fn latency(&mut self) -> Result<Vec<(String, i64, i64)>, SourceError> {
        let events: Vec<Value> = self.ask(&["LATENCY", "LATEST"])?;
        let event = |value: &Value| match value {
            Value::Array(parts) => {
                Some((word(parts.first()?)?, whole(parts.get(1)?)?, whole(parts.get(2)?)?))
            }
            _ => None,
        };
        Ok(events.iter().filter_map(event).collect())
    }

    fn add_info(&mut self, answer: &mut Answer, known: &HashMap<&str, &str>, now: Moment) {
        let number = |name: &str| known.get(name)?.parse::<f64>().ok();
        for (what, name) in NOW {
            number(name).into_iter().for_each(|value| answer.number(what, &[], value));
        }
        // Zero means no limit.
        let memory_max = number("maxmemory").filter(|max| *max > 0.0);
        memory_max.into_iter().for_each(|max| answer.number(&MEMORY_MAX, &[], max));
        let clients = number("connected_clients").map(|clients| (clients - 1.0).max(0.0));
        clients.into_iter().for_each(|clients| answer.number(&CLIENTS, &[], clients));
        self.counters.turn(now.at);
        let own = self.counters.rate("own", self.own as f64).unwrap_or_default();
        for (what, name) in COUNTS {
            let rate = number(name).and_then(|count| self.counters.rate(name, count));
            let own = if *name == COMMANDS_PROCESSED { own } else { 0.0 };
            rate.into_iter().for_each(|rate| answer.number(what, &[], (rate - own).max(0.0)));
        }
        let cpu_s = number("used_cpu_sys").zip(number("used_cpu_user")).map(|(sys, user)| sys + user);
        let cpu = cpu_s.and_then(|cpu_s| self.counters.rate("cpu", cpu_s));
        cpu.into_iter().for_each(|cpu| answer.number(&CPU, &[], cpu));
        for (database, text) in known.iter().filter(|(name, _)| is_database(name)) {
            let keys = text.strip_prefix("keys=").and_then(|rest| rest.split(',').next()?.parse().ok());
            if let Some(keys) = keys.filter(|_: &f64| self.databases.has(database)) {
                answer.number(&KEYS, &[("database", database)], keys);
            }
        }
    }

    fn add_slow(&mut self, answer: &mut Answer, entries: Vec<Slow>, clock: &Period) {
        let newest = entries.iter().map(|entry| entry.number + 1).max();
        let Some(next) = self.slow_next else {
            // Earlier slow commands do not belong to the run.
            self.slow_next = Some(newest.unwrap_or(0));
            self.counters.rate(SLOW_COMMANDS.signal.as_str(), 0.0);
            return;
        };
        // The numbers continue when the log is emptied, and restart with the server.
        let newest = newest.unwrap_or(next);
        let next = if newest < next { 0 } else { next };
        self.slow_next = Some(newest);
        let others = entries.into_iter().filter(|entry| entry.number >= next && entry.client != CLIENT_NAME);
        let mut reported = 0.0;
        for entry in others {
            reported += 1.0;
            let known = fields([
                ("what", "slow command".into()),
                ("took_ms", (entry.took_us as f64 / 1e3).into()),
                ("arguments", (entry.arguments as f64).into()),
            ]);
            self.happened(answer, &entry.command, entry.at_s, clock, known);
        }
        // Entries that the log had already dropped were slow commands, too.
        let lost = (newest - next - SLOW_AT_ONCE).max(0);
        self.happenings_untold += lost.unsigned_abs();
        self.slow_count += reported + lost as f64;
        let rate = self.counters.rate(SLOW_COMMANDS.signal.as_str(), self.slow_count);
        rate.into_iter().for_each(|rate| answer.number(&SLOW_COMMANDS, &[], rate));
    }

    fn add_latency(&mut self, answer: &mut Answer, events: Vec<(String, i64, i64)>, clock: &Period) {
        let now = events.iter().map(|(event, at_s, _)| (event.clone(), *at_s)).collect();
        // Earlier latency events do not belong to the run.
        let Some(before) = self.latency_at.replace(now) else { return };
        for (event, at_s, latency_ms) in events {
            if before.get(&event).is_some_and(|known| *known >= at_s) {
                continue;
            }
            let known = fields([("what", "latency event".into()), ("took_ms", (latency_ms as f64).into())]);
            self.happened(answer, &event, at_s, clock, known);
        }
    }

    fn happened(
        &mut self,
        answer: &mut Answer,
        subject: &str,
        at_s: i64,
        clock: &Period,
        known: answer::Fields,
    ) {
        if self.happenings == HAPPENINGS_MAX {
            self.happenings_untold += 1;
            return;
        }
        self.happenings += 1;
        let at = clock.instant(at_s.saturating_mul(1_000_000_000)).min(clock.to.at);
        answer.record_at(at, RecordKind::Happening, subject, known);
    }

    fn check(&mut self, words: &[&str], grant: &str) -> Check {
        match self.ask::<Value>(words) {
            Ok(_) => Check::works(words.join(" "), "permitted"),
            Err(SourceError { message: why, .. }) => Check::lacks(words.join(" "), why, self.grant(grant)),
        }
    }

    /// Checks the threshold of latency events, which is off by default.
    fn check_threshold(&mut self) -> Check {
        let what = "latency-monitor-threshold";
        let remedy = "CONFIG SET latency-monitor-threshold 100";
        match self.ask::<Vec<String>>(&["CONFIG", "GET", what]).as_deref() {
            Ok([_, limit_ms]) if limit_ms != "0" => Check::works(what, format!("{} ms", clip(limit_ms))),
            Ok(_) => Check::lacks(what, "latency events are not recorded", remedy),
            // A user who cannot see the setting gets no advice to change it.
            Err(_) => Check::works(what, "not visible to this user"),
        }
    }

    fn grant(&self, grant: &str) -> String {
        format!("ACL SETUSER {} {grant}", self.user.as_deref().unwrap_or("default"))
    }

    /// Returns the remedy for a failure of `INFO`.
    fn remedy(&self, kind: ErrorKind) -> String {
        let variable = password_variable(&self.name);
        match kind {
            ErrorKind::Forbidden => self.grant("+info"),
            ErrorKind::Unauthenticated => format!(
                "put the password into {variable}; to create the user: ACL SETUSER plimsoll on >PASSWORD +info \
                 +slowlog|get +latency|latest +client|setname"
            ),
            _ => format!("start the server, or correct the address {}", self.address),
        }
    }
}

/// Converts an error of the client library, with the class of its code.
fn classified(error: &RedisError) -> SourceError {
    let kind = match error.code() {
        Some("NOPERM") => ErrorKind::Forbidden,
        Some("NOAUTH" | "WRONGPASS") => ErrorKind::Unauthenticated,
        _ if error.kind() == redis::ErrorKind::AuthenticationFailed => ErrorKind::Unauthenticated,
        _ => ErrorKind::Other,
    };
    SourceError { kind, ..answer::source_error(error) }
}

impl Slow {
    fn read(value: &Value) -> Option<Slow> {
        let Value::Array(parts) = value else { return None };
        let Value::Array(arguments) = parts.get(3)? else { return None };
        Some(Slow {
            number: whole(parts.first()?)?,
            at_s: whole(parts.get(1)?)?,
            took_us: whole(parts.get(2)?)?,
            command: clip(&word(arguments.first()?)?.to_ascii_uppercase()),
            arguments: arguments.len() - 1,
            client: parts.get(5).and_then(word).unwrap_or_default(),
        })
    }
}

fn exchange<T: FromRedisValue>(
    connection: &mut Connection,
    words: &[&str],
    limit: Duration,
) -> Result<T, RedisError> {
    connection.set_read_timeout(Some(limit))?;
    connection.set_write_timeout(Some(limit))?;
    let mut command = redis::cmd(words.first().copied().unwrap_or_default());
    words.iter().skip(1).for_each(|word| {
        command.arg(word);
    });
    command.query(connection)
}

fn add_commands(answer: &mut Answer, before: &BTreeMap<String, Taken>, now: &BTreeMap<String, Taken>) {
    let others = now.iter().filter(|(command, _)| !OWN_COMMANDS.contains(&command.as_str()));
    let mut taken: Vec<(&String, Taken)> =
        others.map(|(command, taken)| (command, taken.since(before.get(command)))).collect();
    taken.retain(|(_, taken)| taken.calls > 0.0);
    taken.sort_by(|(_, one), (_, other)| other.total_ms.total_cmp(&one.total_ms));
    let all_ms: f64 = taken.iter().map(|(_, taken)| taken.total_ms).sum();
    for (command, Taken { calls, total_ms }) in taken.into_iter().take(COMMANDS_MAX) {
        let share = if all_ms > 0.0 { total_ms / all_ms } else { 0.0 };
        let known = fields([
            ("calls", calls.into()),
            ("total_ms", total_ms.into()),
            ("mean_ms", (total_ms / calls).into()),
            ("share_of_db_time", share.into()),
        ]);
        answer.record(RecordKind::Statement, command, known);
    }
}

impl Taken {
    /// Returns the increase of the counters; after a reset, their values.
    fn since(self, before: Option<&Taken>) -> Taken {
        let Some(before) = before.filter(|before| before.calls <= self.calls) else { return self };
        Taken { calls: self.calls - before.calls, total_ms: (self.total_ms - before.total_ms).max(0.0) }
    }
}

/// Parses the lines of `INFO`.
fn read_info(text: &str) -> HashMap<&str, &str> {
    text.lines().filter_map(|line| line.trim_end().split_once(':')).collect()
}

/// Parses the lines of `INFO commandstats`: `cmdstat_config|get:calls=1,usec=26,…`.
fn read_commands(text: &str) -> BTreeMap<String, Taken> {
    let read = |(name, values): (&str, &str)| {
        let name = name.strip_prefix("cmdstat_")?;
        let value = |wanted: &str| {
            let mut values = values.split(',').filter_map(|value| value.split_once('='));
            values.find(|(known, _)| *known == wanted)?.1.parse::<f64>().ok()
        };
        let taken = Taken { calls: value("calls")?, total_ms: value("usec")? / 1e3 };
        Some((clip(&name.replace('|', " ").to_ascii_uppercase()), taken))
    };
    text.lines().filter_map(|line| read(line.trim_end().split_once(':')?)).collect()
}

/// Returns this moment by the server's clock, which dates its events.
fn server_clock(known: &HashMap<&str, &str>, now: Moment) -> Period {
    let time_us = known.get("server_time_usec").and_then(|text| text.parse::<i64>().ok());
    let wall_ns = time_us.map_or(now.wall_ns, |time_us| time_us.saturating_mul(1000));
    let moment = Moment { at: now.at, wall_ns };
    Period { from: moment, to: moment }
}

fn is_database(name: &str) -> bool {
    name.strip_prefix("db")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::BulkString(bytes) => Some(clip(&String::from_utf8_lossy(bytes))),
        Value::SimpleString(text) => Some(clip(text)),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lab::REDIS;
    use model::Epoch;

    use super::*;
    use crate::collector::Collector;
    use crate::contract::promises;
    use crate::{encrypted, trial};

    fn made(address: &str, credential: Option<&str>) -> Redis {
        Redis::new(&trial::settings("redis", address, credential)).expect("settings that are right")
    }

    #[test]
    fn addresses_have_no_passwords() {
        let shown = |address| {
            Redis::new(&trial::settings("redis", address, Some("secret"))).map(|it| it.about().address)
        };
        assert_eq!(shown("redis://plimsoll@cache:6380/2").as_deref(), Ok("redis://cache:6380"));
        let why = |address| shown(address).expect_err("it is wrong").to_string();
        assert!(why("redis://:secret@cache").contains("in the environment"));
        assert!(why("http://cache").contains("expected a URL"));
        assert_eq!(shown("rediss://plimsoll@cache:6380/2").as_deref(), Ok("rediss://cache:6380"));
        assert!(why("rediss://cache/#insecure").contains("without certificate checks"));
    }

    #[test]
    fn promises_are_kept_over_tls() {
        let Some((server, authority)) = encrypted::server(REDIS) else { return };
        let password = trial::password(&server.url("redis"));
        let address = format!("rediss://localhost:{}", server.ports("redis")[encrypted::REDIS_PORT]);
        let mut settings = trial::settings("redis", &address, Some(&password));
        let mut unknown = Redis::new(&settings).expect("settings that are right");
        let why = unknown.probe().remove(0).outcome.expect_err("an unknown authority").why;
        assert!(why.to_lowercase().contains("certificate"), "{why}");
        settings.values.insert("ca".to_owned(), authority.display().to_string());
        let mut source = Redis::new(&settings).expect("settings that are right");
        promises::of_a_source(&mut source, Some(&password));
        settings.values.insert("ca".to_owned(), "/nowhere/ca.pem".to_owned());
        assert!(Redis::new(&settings).is_err_and(|error| error.to_string().contains("cannot be read")));
    }

    #[test]
    fn commands_are_ranked_by_what_they_took_meanwhile() {
        let before = read_commands("# Commandstats\r\ncmdstat_get:calls=10,usec=1000,usec_per_call=100\r\n");
        let now = read_commands(
            "cmdstat_get:calls=30,usec=4000\r\ncmdstat_config|get:calls=1,usec=9\r\ncmdstat_sort:calls=2,usec=9000\r\n\
             cmdstat_set:calls=none,usec=1\r\nnonsense",
        );
        let mut answer = Answer::new("redis", Instant::ZERO, Duration::from_secs(1));
        add_commands(&mut answer, &before, &now);
        let evidence = answer.evidence().records;
        let names: Vec<&str> = evidence.iter().map(|record| record.subject.as_str()).collect();
        assert_eq!(names, ["SORT", "GET"]);
        assert_eq!(
            (&evidence[1].fields["calls"], &evidence[1].fields["mean_ms"]),
            (&20.0.into(), &0.15.into())
        );
        assert_eq!(evidence[0].fields["share_of_db_time"], 0.75.into());
    }

    #[test]
    fn happenings_beyond_the_limit_are_counted() {
        let mut source = made("redis://localhost", None);
        let moment = Moment { at: Instant::from_ns(9_000_000_000), wall_ns: 100_000_000_000 };
        let clock = Period { from: moment, to: moment };
        let entry = |number| Slow {
            number,
            at_s: 98,
            took_us: 12_000,
            command: "SORT".to_owned(),
            arguments: 3,
            client: String::new(),
        };
        let mut answer = Answer::new("redis", moment.at, source.step);
        source.add_slow(&mut answer, vec![entry(41)], &clock);
        assert!(answer.evidence().is_empty(), "it was slow before the run");
        let mut answer = Answer::new("redis", moment.at, source.step);
        source.add_slow(&mut answer, (300..428).map(entry).collect(), &clock);
        source.add_slow(&mut answer, (428..528).map(entry).collect(), &clock);
        let evidence = answer.evidence();
        assert_eq!(source.slow_count, f64::from(528 - 42));
        assert_eq!((evidence.records.len(), source.happenings_untold), (HAPPENINGS_MAX, 258 + 28));
        assert_eq!(evidence.records[0].at, Instant::from_ns(7_000_000_000));
        source.add_slow(&mut Answer::new("redis", moment.at, source.step), vec![entry(3)], &clock);
        assert_eq!(source.slow_next, Some(4), "the server began anew");
    }

    #[test]
    fn an_absent_server_is_told() {
        promises::of_an_absent_server(&mut made("redis://127.0.0.1:1", Some("secret")));
    }

    #[test]
    fn a_server_that_never_answers_is_left_in_time() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("an address").port();
        promises::of_an_absent_server(&mut made(&format!("redis://127.0.0.1:{port}"), Some("secret")));
    }

    #[test]
    fn a_server_that_is_killed_leaves_a_gap_with_its_reason() {
        let Some(server) = trial::server(REDIS) else { return };
        let password = trial::password(&server.url("redis"));
        let mut source = made(&format!("redis://127.0.0.1:{}", server.ports("redis")[0]), Some(&password));
        source.step = Duration::from_millis(100);
        let from = SystemClock::now();
        let collector =
            Collector::start(vec![Box::new(source)], Epoch::anchor(&SystemClock)).expect("a thread");
        std::thread::sleep(Duration::from_millis(500));
        drop(server);
        std::thread::sleep(Duration::from_millis(500));
        let mut evidence = collector.take();
        let to = SystemClock::now();
        evidence.append(collector.finish(from, to, &[], Duration::from_secs(5)));
        let points = evidence.signals.iter().filter(|signal| signal.name == "memory_used").count();
        assert!(points >= 2, "earlier evidence stays: {points}");
        let gap = evidence.gaps.iter().find(|gap| gap.from < gap.to).expect("a gap");
        assert!(gap.to == to && !gap.reason.is_empty() && !gap.reason.contains(&password), "{gap:?}");
    }

    #[test]
    fn a_real_server_tells_what_commands_took() {
        let Some(server) = trial::server(REDIS) else { return };
        let url = server.url("redis");
        let (password, port) = (trial::password(&url), server.ports("redis")[0]);
        let mut admin = made(&format!("redis://127.0.0.1:{port}"), Some(&password));
        let mut run = |words: &[&str]| {
            admin.begin_call();
            admin.ask::<Value>(words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
        };
        run(&["CLIENT", "SETNAME", "admin"]);
        run(&["ACL", "SETUSER", "plimsoll", "on", ">quiet-secret", "+info", "+client|setname"]);

        let address = format!("redis://plimsoll@127.0.0.1:{port}");
        let mut source = made(&address, Some("quiet-secret"));
        let remedies = |checks: Vec<Check>| {
            let missing = checks.into_iter().filter_map(|check| check.outcome.err());
            missing.map(|missing| missing.remedy).collect::<Vec<_>>()
        };
        let grants = ["ACL SETUSER plimsoll +slowlog|get", "ACL SETUSER plimsoll +latency|latest"];
        assert_eq!(remedies(source.probe()), grants);
        let evidence = promises::of_a_source(&mut source, Some("quiet-secret"));
        let names: Vec<&str> = evidence.signals.iter().map(|signal| signal.name.as_str()).collect();
        assert!(
            names.contains(&"memory_used") && !names.contains(&"slow_commands"),
            "the rest is reported: {names:?}"
        );
        let wrong = remedies(made(&address, Some("wrong")).probe());
        assert!(wrong[0].contains("PLIMSOLL_REDIS_PASSWORD"), "{wrong:?}");
        run(&["ACL", "SETUSER", "plimsoll", "+slowlog|get", "+latency|latest"]);
        // A new source, because a refused query is not repeated.
        source = made(&address, Some("quiet-secret"));
        assert_eq!(remedies(source.probe()), Vec::<String>::new());

        run(&["CONFIG", "SET", "slowlog-log-slower-than", "20000"]);
        run(&["CONFIG", "SET", "latency-monitor-threshold", "20"]);
        run(&["CONFIG", "SET", "maxmemory", "64mb"]);
        let epoch = Epoch::anchor(&SystemClock);
        let now = || Moment::new(SystemClock::now(), &epoch);
        let from = now();
        let mut evidence = source.sample(from).expect("a first sample");
        (0..40).for_each(|_| run(&["GET", "a key that holds a secret"]));
        run(&["EVAL", "local n = 0; while n < 2e7 do n = n + 1 end", "0"]);
        std::thread::sleep(Duration::from_millis(200));
        let second = now();
        evidence.append(source.sample(second).expect("a second sample"));
        evidence.append(source.look_back(&Period { from, to: now() }).expect("a look back"));

        let number = |name: &str| {
            let mut signals = evidence.signals.iter().filter(|signal| signal.name == name);
            signals.next_back().unwrap_or_else(|| panic!("no {name}")).points[0].1
        };
        let seconds = second.at.since(from.at).as_secs_f64();
        let rounded = |name: &str| (number(name) * seconds).round();
        assert_eq!((rounded("misses"), rounded("ops")), (40.0, 41.0), "without those that ask");
        assert_eq!((number("memory_max"), rounded("slow_commands")), (f64::from(64 << 20), 1.0));
        assert_eq!(number("clients"), 1.0);
        let happened = |what: &str| {
            let mut records = evidence.records.iter().filter(|record| record.kind == RecordKind::Happening);
            records.find(|record| record.fields["what"] == what.into()).unwrap_or_else(|| panic!("no {what}"))
        };
        assert_eq!(happened("slow command").subject, "EVAL");
        assert_eq!(happened("latency event").subject, "command");
        assert!(happened("slow command").at <= second.at);
        let gets = evidence
            .records
            .iter()
            .find(|record| record.subject == "GET")
            .expect("what was asked forty times");
        assert_eq!((gets.kind, &gets.fields["calls"]), (RecordKind::Statement, &40.0.into()));
        assert!(!format!("{evidence:?}").contains("secret"), "arguments are left out");
    }
}
