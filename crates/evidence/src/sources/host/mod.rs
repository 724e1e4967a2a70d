//! Metrics of a machine from its kernel: this machine, or another one that runs `plimsoll host-agent`.
//!
//! This machine is the load generator, and also the target if both are on the same machine. The source needs no server, no grant
//! and no setting.

mod reading;

use std::collections::BTreeMap;
use std::time::Duration;

use host::{Listener, Listeners, Machine, Tcp};
use model::signal::label;
use model::{Datum, Evidence, Instant, Record, RecordKind, Signal, SignalId, SystemClock};

use super::Kind;
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::gathered::Gathered;
use crate::http::{self, Client, Door};
use crate::lines::harmless;
use crate::settings::{Settings, SettingsError, password_variable};
use reading::Received;
pub use reading::reading;

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "host",
    provides: "This machine, or one with a host-agent: CPU per core and of the programs under load, threads that wait for a core, memory, network, \
            retransmissions, full accept queues, calls without an answer.",
    example: "local",
    settings: &[("step", "interval between readings [default: 1s]")],
    open,
};

/// Default and minimum interval between readings: a core's ticks are hundredths of a second.
const STEP: Duration = Duration::from_secs(1);
const STEP_MIN: Duration = Duration::from_millis(100);
/// Path of the host agent.
pub const PATH: &str = "/v1/machine";
/// Timeout for the answer of another machine.
const ANSWER_LIMIT: Duration = Duration::from_secs(2);
/// Maximum length of a program's name; the kernel's have 15 characters (Linux, `TASK_COMM_LEN`).
const PROGRAM_CHARS_MAX: usize = 40;
/// Maximum number of series: a machine of 256 cores with 16 interfaces, and 32 programs, each with calls to 8 others.
const SERIES_MAX: usize = 928;

struct Host {
    about: About,
    /// The agent of another machine; `None` for this machine.
    agent: Option<Client>,
    step: Duration,
    /// The programs under load, where they are on this machine.
    listeners: Option<Listeners>,
    gathered: Gathered,
    /// The last reading, and its time by the clock of the machine.
    before: Option<(Instant, Machine)>,
    /// Number of cores and interfaces of one reading beyond the limits.
    left_out: usize,
}

/// One value with its query.
struct Value {
    signal: SignalId,
    labels: Vec<(&'static str, String)>,
    file: &'static str,
    value: Option<f64>,
}

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    let is_local = ["", "local"].contains(&settings.address.as_str());
    let (address, agent) = if is_local {
        ("local".to_owned(), None)
    } else {
        let Door { base, authorization, .. } = http::door(settings)?;
        (base.clone(), Some(Client::patient(&base, authorization, ANSWER_LIMIT)))
    };
    let step = settings.duration("step", STEP)?;
    if step < STEP_MIN {
        return Err(settings.wrong("step", "the minimum is 100ms"));
    }
    let about = About { name: settings.name.clone(), kind: KIND.name, address };
    let listeners = agent.is_none().then(|| Listeners::new(std::process::id()));
    let gathered = Gathered::new(SERIES_MAX);
    Ok(Box::new(Host { about, agent, step, listeners, gathered, before: None, left_out: 0 }))
}

impl Source for Host {
    fn about(&self) -> About {
        self.about.clone()
    }

    fn probe(&mut self) -> Vec<Check> {
        let machine = match self.read() {
            Ok(reading) => reading.machine,
            Err(trouble) => return vec![self.unread(trouble)],
        };
        let mut checks = vec![Check::works("/proc/stat", format!("{} cores", machine.cores.len()))];
        let mut also = |what: &str, is_there: bool, remedy: &str| {
            checks.push(match is_there {
                true => Check::works(what, "there"),
                false => Check::lacks(what, "not readable", remedy),
            });
        };
        also("/proc/meminfo", machine.memory_bytes_available.is_some(), "mount /proc");
        also("/proc/net/snmp and netstat", machine.tcp.is_some(), "mount /proc");
        also("/proc/pressure/cpu", machine.cpu_pressure_us.is_some(), "boot the kernel with psi=1");
        checks
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let Received { at, machine, left_out } = self.read()?;
        self.left_out = self.left_out.max(left_out);
        let mut values = levels(&machine);
        if let Some((before_at, before)) = &self.before {
            // After a restart the machine's clock begins anew.
            let elapsed_s = at.since(*before_at).as_secs_f64();
            if elapsed_s > 0.0 {
                values.extend(growth(before, &machine, elapsed_s));
            }
        }
        let programs = self.listeners.as_mut().map(|listeners| listeners.read(at)).unwrap_or_default();
        values.extend(programs.iter().flat_map(used));
        for value in values {
            if let Some(signal) = self.signal(value, now.at) {
                self.gathered.add(signal);
            }
        }
        self.before = Some((at, machine));
        Ok(Evidence { signals: self.gathered.take_due(now.at), ..Evidence::default() })
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let (signals, records) = (self.gathered.take(), self.beyond(period.to.at));
        Ok(Evidence { signals, records: records.into_iter().collect(), ..Evidence::default() })
    }
}

impl Host {
    /// Returns the warning about data beyond the limits.
    fn beyond(&self, at: Instant) -> Option<Record> {
        let counts =
            [("cores_and_interfaces", self.left_out as f64), ("points", self.gathered.dropped as f64)];
        let fields: BTreeMap<String, Datum> = counts
            .into_iter()
            .filter(|(_, count)| *count > 0.0)
            .map(|(name, count)| (name.to_owned(), count.into()))
            .collect();
        let (source, subject) = (self.about.name.clone(), "host metrics are incomplete".to_owned());
        (!fields.is_empty()).then_some(Record { source, kind: RecordKind::Warning, at, subject, fields })
    }

    /// Reads the machine.
    fn read(&self) -> Result<Received, SourceError> {
        let Some(agent) = &self.agent else {
            let machine = Machine::read().ok_or_else(|| SourceError::new("cannot read /proc/stat"))?;
            return Ok(Received { at: SystemClock::now(), machine, left_out: 0 });
        };
        let text = agent.text(PATH, &[])?;
        reading::read(&text).map_err(|error| {
            SourceError::new(format!(
                "GET {}{PATH}: not a response of plimsoll host-agent: {error}",
                agent.base()
            ))
        })
    }

    fn unread(&self, trouble: SourceError) -> Check {
        if self.agent.is_none() {
            return Check::fails("/proc/stat", "not readable", "run on Linux with /proc mounted");
        }
        let variable = password_variable(&self.about.name);
        let remedy = format!(
            "run plimsoll host-agent on that machine; if others can reach it, with a token, and set the token here in {variable}"
        );
        Check::fails("host-agent", trouble.message, remedy)
    }

    fn signal(&self, value: Value, at: Instant) -> Option<Signal> {
        let number = value.value?;
        Some(Signal {
            source: self.about.name.clone(),
            name: value.signal.into(),
            labels: value.labels.into_iter().map(|(label, text)| (label.to_owned(), text)).collect(),
            unit: value.signal.unit().to_owned(),
            query: value.file.to_owned(),
            step: self.step,
            points: vec![(at, number)],
        })
    }
}

/// Returns the levels of one reading.
fn levels(machine: &Machine) -> Vec<Value> {
    let count = |signal, file, value: Option<u64>| plain(signal, file, value.map(|count| count as f64));
    let bytes = |signal, value| count(signal, "/proc/meminfo", value);
    let used = machine.memory_bytes_max.zip(machine.memory_bytes_available);
    vec![
        count(SignalId::RunQueue, "/proc/stat procs_running", machine.runnable),
        count(SignalId::Blocked, "/proc/stat procs_blocked", machine.blocked),
        bytes(SignalId::MemoryUsed, used.map(|(total, available)| total.saturating_sub(available))),
        bytes(SignalId::MemoryLimit, machine.memory_bytes_max),
    ]
}

/// Returns the rates since the previous reading.
fn growth(before: &Machine, now: &Machine, elapsed_s: f64) -> Vec<Value> {
    let cpu = |signal, value| plain(signal, "/proc/stat", value);
    let mut values = vec![cpu(SignalId::Cpu, now.all.busy_since(&before.all))];
    for (number, ticks) in &now.cores {
        // Cores can be taken offline and online.
        let Some((_, earlier)) = before.cores.iter().find(|(earlier, _)| earlier == number) else { continue };
        let labels = vec![("core", number.to_string())];
        values.push(Value { labels, ..cpu(SignalId::CoreCpu, ticks.busy_since(earlier)) });
    }
    let pressure_us = grown(before.cpu_pressure_us, now.cpu_pressure_us);
    let waiting = pressure_us.map(|us| us / 1e6 / elapsed_s);
    values.push(plain(SignalId::CpuWaiting, "/proc/pressure/cpu", waiting));
    for interface in &now.interfaces {
        let Some(earlier) = before.interfaces.iter().find(|earlier| earlier.name == interface.name) else {
            continue;
        };
        let both = [
            (SignalId::NetworkIn, earlier.bytes_in, interface.bytes_in),
            (SignalId::NetworkOut, earlier.bytes_out, interface.bytes_out),
        ];
        for (signal, earlier, bytes) in both {
            let per_s = grown(Some(earlier), Some(bytes)).map(|bytes| bytes / elapsed_s);
            let labels = vec![("interface", interface.name.clone())];
            values.push(Value { labels, ..plain(signal, "/proc/net/dev", per_s) });
        }
    }
    let tcp = |signal, file, field: fn(&Tcp) -> Option<u64>| {
        let count = grown(before.tcp.as_ref().and_then(field), now.tcp.as_ref().and_then(field));
        plain(signal, file, count.map(|count| count / elapsed_s))
    };
    let (snmp, netstat) = ("/proc/net/snmp", "/proc/net/netstat");
    values.extend([
        tcp(SignalId::SegmentsSent, snmp, |tcp| Some(tcp.segments_sent)),
        tcp(SignalId::SegmentsRepeated, snmp, |tcp| Some(tcp.segments_repeated)),
        tcp(SignalId::SynRepeated, netstat, |tcp| Some(tcp.syn_repeated)),
        tcp(SignalId::ListenDrops, netstat, |tcp| Some(tcp.listen_drops)),
        tcp(SignalId::ListenOverflows, netstat, |tcp| tcp.listen_overflows),
        tcp(SignalId::ConnectionsTaken, snmp, |tcp| tcp.passive_opens),
    ]);
    values
}

/// Returns the CPU use of a program, what waits for it to accept, and what it waits for.
fn used(program: &Listener) -> Vec<Value> {
    // Several programs can have the same name, such as that of an interpreter.
    let port = program.ports.first().map(|port| format!(":{port}")).unwrap_or_default();
    let name = harmless(&program.name, PROGRAM_CHARS_MAX) + &port;
    let labels = vec![(label::PROGRAM, name)];
    let value = |signal, file, number| Value { labels: labels.clone(), ..plain(signal, file, Some(number)) };
    let times = "/proc/PID/task/TID/schedstat";
    let mut values = vec![
        value(SignalId::ListenerCpu, times, program.cores),
        value(SignalId::ListenerThread, times, program.busiest_thread),
        value(SignalId::ListenerWaiting, times, program.waiting),
        value(SignalId::ListenerQueue, "/proc/self/net/tcp", program.queued as f64),
    ];
    values.extend(program.calls.iter().flat_map(|calls| {
        let of = |signal, number: f64| {
            let mut value = value(signal, "sock_diag(7), tcp_info", number);
            value.labels.push((label::CALLEE, calls.callee.to_string()));
            value
        };
        [of(SignalId::CallsOpen, calls.open), of(SignalId::CallsUnanswered, calls.unanswered)]
    }));
    values
}

fn plain(signal: SignalId, file: &'static str, value: Option<f64>) -> Value {
    Value { signal, labels: Vec::new(), file, value }
}

/// Returns the increase of a counter; `None` after a reset.
fn grown(before: Option<u64>, now: Option<u64>) -> Option<f64> {
    now?.checked_sub(before?).map(|count| count as f64)
}

/// Checks invariants of the values of any two readings.
#[cfg(test)]
fn assert_bounded(before: &Machine, now: &Machine) {
    let values: Vec<Value> = levels(now).into_iter().chain(growth(before, now, 1e-9)).collect();
    assert!(values.len() <= SERIES_MAX, "{} values", values.len());
    for value in &values {
        assert!(value.value.is_none_or(|number| number.is_finite() && number >= 0.0), "{:?}", value.signal);
    }
}

#[cfg(test)]
mod tests {
    use host::{Interface, Ticks};

    use super::*;
    use crate::contract::promises;
    use crate::stage::Pages;

    fn source(address: &str) -> Result<Box<dyn Source>, SettingsError> {
        let settings = Settings {
            name: "here".to_owned(),
            kind: "host".to_owned(),
            address: address.to_owned(),
            ..Settings::default()
        };
        crate::sources::open(&settings)
    }

    #[test]
    fn promises_are_kept_on_this_machine() {
        let evidence =
            promises::of_a_source(source("local").expect("settings that are right").as_mut(), None);
        let of =
            |name: &str| evidence.signals.iter().filter(|signal| signal.name == name).collect::<Vec<_>>();
        let cores = of("core_cpu");
        assert!(!cores.is_empty() && of("cpu").len() == 1, "{evidence:?}");
        assert!(cores.iter().flat_map(|core| &core.points).all(|(_, share)| (0.0..=1.0).contains(share)));
        assert_eq!(of("memory_limit")[0].points.len(), 2);
        assert!(source("elsewhere").is_err());
    }

    #[test]
    fn promises_are_kept_with_another_machine() {
        let agent = Pages::start(|path| match path {
            PATH => (200, reading().expect("the tests run on Linux")),
            _ => (404, String::new()),
        });
        let mut source = source(&agent.url("")).expect("settings that are right");
        let evidence = promises::of_a_source(source.as_mut(), None);
        let of =
            |name: &str| evidence.signals.iter().find(|signal| signal.name == name).map(|it| it.points.len());
        assert_eq!((of("cpu"), of("memory_limit")), (Some(1), Some(2)), "{evidence:?}");
    }

    #[test]
    fn promises_are_kept_without_another_machine() {
        promises::of_an_absent_server(
            source("http://127.0.0.1:9").expect("settings that are right").as_mut(),
        );
        let page = Pages::start(|_| (200, "<html>".to_owned()));
        promises::of_an_absent_server(source(&page.url("")).expect("settings that are right").as_mut());
    }

    #[test]
    fn what_grows_is_told_per_second() {
        let machine = |total, idle, bytes_in, repeated| Machine {
            all: Ticks { total, idle, steal: 0 },
            interfaces: vec![Interface { name: "lo".to_owned(), bytes_in, bytes_out: 0 }],
            tcp: Some(Tcp {
                segments_repeated: repeated,
                passive_opens: Some(repeated * 10),
                ..Tcp::default()
            }),
            ..Machine::default()
        };
        let values = growth(&machine(100, 50, 1_000, 3), &machine(300, 200, 5_000, 9), 2.0);
        let of = |name: &str| {
            values.iter().find(|value| value.signal.as_str() == name).and_then(|value| value.value)
        };
        assert_eq!(of("cpu"), Some(0.25));
        assert_eq!(of("network_in"), Some(2_000.0));
        assert_eq!(of("segments_repeated"), Some(3.0));
        assert_eq!(of("connections_taken"), Some(30.0));
        assert_eq!(of("listen_overflows"), None);
        assert_eq!(grown(Some(5), Some(3)), None);
    }
}
