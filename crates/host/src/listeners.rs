//! Programs on this machine that a load reaches: who listens on the ports that the generator is connected to, who listens on the
//! ports that those are connected to, and so on. Programs that the load does not reach are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use model::Instant;

use crate::calls::{CallWatch, Caller, Calls};
use crate::files::{numbers, text};

/// Time between two searches for programs; each reads the descriptors of every process.
const SEARCH_EVERY: Duration = Duration::from_secs(5);
/// Maximum number of processes and of descriptors of each that a search reads.
const PROCESSES_MAX: usize = 4096;
const DESCRIPTORS_MAX: usize = 4096;
/// Maximum number of programs and of threads of each.
const PROGRAMS_MAX: usize = 32;
const THREADS_MAX: usize = 512;

/// The states of a socket (Linux, `include/net/tcp_states.h`).
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// CPU use of a program since the last reading.
#[derive(Clone, Debug, PartialEq)]
pub struct Listener {
    /// Name of its processes, of at most 15 characters.
    pub name: String,
    /// TCP ports on which it listens.
    pub ports: Vec<u16>,
    /// CPU time of all its processes per second: cores.
    pub cores: f64,
    /// CPU time of its busiest thread per second, at most 1.
    pub busiest_thread: f64,
    /// Threads that are ready to run and wait for a core, on average.
    pub waiting: f64,
    /// Connections that clients have opened and the program has not accepted yet.
    pub queued: u64,
    /// Its calls of others; empty where they were not counted this time.
    pub calls: Vec<Calls>,
}

/// The programs that the load of a process reaches.
#[derive(Debug)]
pub struct Listeners {
    generator: u32,
    /// Ports that were reached so far; connections come and go.
    reached: BTreeSet<u16>,
    /// Ports on which the generator listens: programs send their spans there.
    own_ports: BTreeSet<u16>,
    programs: Vec<Program>,
    calls: Option<CallWatch>,
    searched_at: Option<Instant>,
    read_at: Option<Instant>,
    /// Times of each thread at the last reading.
    before: HashMap<(u32, u32), Times>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Program {
    name: String,
    ports: BTreeSet<u16>,
    processes: Vec<u32>,
}

/// Times of a thread so far, nanoseconds (Documentation/scheduler/sched-stats.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Times {
    run_ns: u64,
    delay_ns: u64,
}

/// A TCP socket of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Socket {
    port: u16,
    remote_port: u16,
    /// Whether the other end is on this machine.
    is_local: bool,
    state: u8,
}

/// A process with the sockets that it has open.
#[derive(Debug)]
struct Process {
    id: u32,
    parent: u32,
    name: String,
    sockets: Vec<Socket>,
}

impl Listeners {
    /// Returns the programs that the load of this process reaches.
    pub fn new(generator: u32) -> Listeners {
        Listeners {
            generator,
            reached: BTreeSet::new(),
            own_ports: BTreeSet::new(),
            programs: Vec::new(),
            calls: CallWatch::start(),
            searched_at: None,
            read_at: None,
            before: HashMap::new(),
        }
    }

    /// Reads the CPU use since the last call; empty for the first one. Processes of other users are visible to root only.
    pub fn read(&mut self, now: Instant) -> Vec<Listener> {
        if self.searched_at.is_none_or(|at| now.since(at) >= SEARCH_EVERY) {
            self.searched_at = Some(now);
            let processes = processes(&sockets());
            self.reached.append(&mut reached(&processes, self.generator));
            self.programs = programs(&processes, &self.reached, self.generator);
            self.own_ports = listening_ports(&processes, self.generator);
            if let Some(calls) = &self.calls {
                calls.set(self.programs.iter().filter_map(caller).collect());
            }
        }
        let elapsed_s = self.read_at.replace(now).map_or(0.0, |at| now.since(at).as_secs_f64());
        let mut after = HashMap::new();
        for process in self.programs.iter().flat_map(|program| &program.processes) {
            after.extend(threads(*process).map(|(thread, times)| ((*process, thread), times)));
        }
        let before = std::mem::replace(&mut self.before, after);
        if elapsed_s <= 0.0 {
            return Vec::new();
        }
        let queued = accept_queues();
        let mut calls = self.calls.as_ref().map(CallWatch::take).unwrap_or_default();
        let known =
            |program: &&Program| program.processes.iter().any(|id| before.keys().any(|(of, _)| of == id));
        let is_others = |calls: &Calls| !self.own_ports.contains(&calls.callee.port());
        let mut calls_of = |program: &Program| {
            let own = program.ports.first().and_then(|port| calls.remove(port)).unwrap_or_default();
            own.into_iter().filter(is_others).collect()
        };
        let used = |program: &Program| Listener {
            queued: program.ports.iter().filter_map(|port| queued.get(port)).sum(),
            calls: calls_of(program),
            ..self.used(program, &before, elapsed_s)
        };
        self.programs.iter().filter(known).map(used).collect()
    }

    fn used(&self, program: &Program, before: &HashMap<(u32, u32), Times>, elapsed_s: f64) -> Listener {
        let mut listener = Listener {
            name: program.name.clone(),
            ports: program.ports.iter().copied().collect(),
            cores: 0.0,
            busiest_thread: 0.0,
            waiting: 0.0,
            queued: 0,
            calls: Vec::new(),
        };
        for (thread, now) in
            self.before.iter().filter(|((process, _), _)| program.processes.contains(process))
        {
            // A thread that began since has no earlier times.
            let earlier = before.get(thread).copied().unwrap_or_default();
            let per_s =
                |now_ns: u64, earlier_ns: u64| now_ns.saturating_sub(earlier_ns) as f64 / 1e9 / elapsed_s;
            let cores = per_s(now.run_ns, earlier.run_ns);
            listener.cores += cores;
            listener.busiest_thread = listener.busiest_thread.max(cores.min(1.0));
            listener.waiting += per_s(now.delay_ns, earlier.delay_ns);
        }
        listener
    }
}

/// Returns the ports that the generator is connected to, directly and through the programs that listen on them.
fn reached(processes: &[Process], generator: u32) -> BTreeSet<u16> {
    let mut ports: BTreeSet<u16> = BTreeSet::new();
    let mut callers = vec![generator];
    while let Some(caller) = callers.pop() {
        let of_caller = processes.iter().filter(|process| process.id == caller);
        let called = of_caller
            .flat_map(|process| &process.sockets)
            .filter(|socket| socket.state == ESTABLISHED && socket.is_local);
        // A server's own end of a connection has the client's port as its remote port, on which no process listens.
        let is_new = |port: &u16| !ports.contains(port);
        let new: Vec<u16> = called.map(|socket| socket.remote_port).filter(is_new).collect();
        for port in new {
            let listening =
                processes.iter().filter(|process| process.id != generator && process.listens(port));
            let ids: Vec<u32> = listening.map(|process| process.id).collect();
            if ids.is_empty() || !ports.insert(port) {
                continue;
            }
            callers.extend(members(processes, &ids));
        }
    }
    ports
}

/// Returns the programs that listen on these ports.
fn programs(processes: &[Process], ports: &BTreeSet<u16>, generator: u32) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    for port in ports {
        let listening = processes.iter().filter(|process| process.id != generator && process.listens(*port));
        let ids: Vec<u32> = listening.map(|process| process.id).collect();
        let Some(first) = processes.iter().find(|process| ids.contains(&process.id)) else { continue };
        if let Some(program) = programs.iter_mut().find(|program| program.processes.contains(&first.id)) {
            program.ports.insert(*port);
            continue;
        }
        if programs.len() < PROGRAMS_MAX {
            programs.push(Program {
                name: first.name.clone(),
                ports: BTreeSet::from([*port]),
                processes: members(processes, &ids),
            });
        }
    }
    programs
}

/// Returns these processes and their descendants of the same name: workers of a server. Others that it starts are no part of it.
fn members(processes: &[Process], ids: &[u32]) -> Vec<u32> {
    let mut members: Vec<u32> = ids.to_vec();
    let mut at = 0;
    while let Some(id) = members.get(at).copied() {
        let name = processes.iter().find(|process| process.id == id).map(|process| &process.name);
        let children = processes.iter().filter(|process| process.parent == id && Some(&process.name) == name);
        let new: Vec<u32> = children.map(|process| process.id).filter(|id| !members.contains(id)).collect();
        members.extend(new);
        at += 1;
    }
    members
}

fn caller(program: &Program) -> Option<Caller> {
    let port = *program.ports.first()?;
    Some(Caller { port, serves: program.ports.clone(), processes: program.processes.clone() })
}

fn listening_ports(processes: &[Process], id: u32) -> BTreeSet<u16> {
    let own = processes.iter().filter(|process| process.id == id).flat_map(|process| &process.sockets);
    own.filter(|socket| socket.state == LISTEN).map(|socket| socket.port).collect()
}

impl Process {
    fn listens(&self, port: u16) -> bool {
        self.sockets.iter().any(|socket| socket.state == LISTEN && socket.port == port)
    }
}

/// The tables of TCP sockets of this network namespace.
const TABLES: [&str; 2] = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];

/// Returns the lengths of the accept queues by port. Listening sockets come first in a table, so that connections are not read, of which
/// there may be many.
fn accept_queues() -> BTreeMap<u16, u64> {
    let mut queues = BTreeMap::new();
    for table in TABLES.iter().filter_map(|path| fs::File::open(path).ok()) {
        let lines = BufReader::new(table).lines().map_while(Result::ok).skip(1);
        for (port, queued) in lines.map_while(|line| accept_queue(&line)) {
            *queues.entry(port).or_default() += queued;
        }
    }
    queues
}

/// Parses the line of a listening socket: its port, and the length of its accept queue, which is in the place of received bytes
/// (Linux, `get_tcp4_sock`); `None` for other lines.
fn accept_queue(line: &str) -> Option<(u16, u64)> {
    let words: Vec<&str> = line.split_whitespace().take(5).collect();
    let [_, local, _, state, queues] = words[..] else { return None };
    let (_, port) = local.split_once(':')?;
    let (_, queued) = queues.split_once(':')?;
    (u8::from_str_radix(state, 16) == Ok(LISTEN))
        .then_some((u16::from_str_radix(port, 16).ok()?, u64::from_str_radix(queued, 16).ok()?))
}

/// Returns the TCP sockets of this network namespace by inode.
fn sockets() -> BTreeMap<u64, Socket> {
    let tables = TABLES.map(|path| text(path).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines().skip(1)).filter_map(socket).collect()
}

/// Parses a line of `/proc/net/tcp`: addresses and ports in hexadecimal, state, …, inode in column 10 (proc(5)).
fn socket(line: &str) -> Option<(u64, Socket)> {
    let words: Vec<&str> = line.split_whitespace().take(10).collect();
    let [_, local, remote, state, .., inode] = words[..] else { return None };
    let (address, own_port) = local.split_once(':')?;
    let (remote_address, remote_port) = remote.split_once(':')?;
    let port = |text: &str| u16::from_str_radix(text, 16).ok();
    let socket = Socket {
        port: port(own_port)?,
        remote_port: port(remote_port)?,
        is_local: address == remote_address || is_loopback(remote_address),
        state: u8::from_str_radix(state, 16).ok()?,
    };
    Some((inode.parse().ok().filter(|inode| *inode > 0)?, socket))
}

/// Whether an address is 127.0.0.0/8 or ::1, as the kernel writes it: words of four bytes in the machine's order.
fn is_loopback(address: &str) -> bool {
    let (mapped, last) = address.split_at(address.len().saturating_sub(8));
    let is_ipv4 = mapped.is_empty() || mapped.ends_with("FFFF0000");
    is_ipv4 && last.ends_with("7F") || address == "00000000000000000000000001000000"
}

/// Returns all visible processes that have one of the sockets open, and their children.
fn processes(sockets: &BTreeMap<u64, Socket>) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.take(PROCESSES_MAX).filter_map(|id| process(id, sockets)).collect()
}

fn process(id: u32, sockets: &BTreeMap<u64, Socket>) -> Option<Process> {
    let stat = text(format!("/proc/{id}/stat"))?;
    let (name, parent) = name_and_parent(&stat)?;
    let sockets = open_sockets(id).filter_map(|inode| sockets.get(&inode).copied()).collect();
    Some(Process { id, parent, name: name.to_owned(), sockets })
}

/// Returns the inodes of the sockets that a process has open.
pub(crate) fn open_sockets(id: u32) -> impl Iterator<Item = u64> {
    let descriptors = fs::read_dir(format!("/proc/{id}/fd")).into_iter().flatten().flatten();
    let inode = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse::<u64>().ok()
    };
    descriptors.take(DESCRIPTORS_MAX).filter_map(inode)
}

/// Parses `id (name) state parent …`; the name may have spaces and parentheses (proc(5), `/proc/pid/stat`).
fn name_and_parent(stat: &str) -> Option<(&str, u32)> {
    let (before, after) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    Some((name, after.split_whitespace().nth(1)?.parse().ok()?))
}

/// Returns the threads of a process with their times so far.
fn threads(process: u32) -> impl Iterator<Item = (u32, Times)> {
    let entries = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()).take(THREADS_MAX);
    ids.filter_map(move |id| {
        let stat = text(format!("/proc/{process}/task/{id}/schedstat"))?;
        let mut numbers = numbers(&stat);
        Some((id, Times { run_ns: numbers.next()?, delay_ns: numbers.next()? }))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::process::Command;

    use super::*;

    fn listening(port: u16) -> Socket {
        Socket { port, remote_port: 0, is_local: false, state: LISTEN }
    }

    fn connected(remote_port: u16) -> Socket {
        Socket { port: 40_000, remote_port, is_local: true, state: ESTABLISHED }
    }

    fn process(id: u32, parent: u32, name: &str, sockets: &[Socket]) -> Process {
        Process { id, parent, name: name.to_owned(), sockets: sockets.to_vec() }
    }

    #[test]
    fn a_load_reaches_the_server_and_its_database_and_nothing_else() {
        let remote = Socket { is_local: false, ..connected(7000) };
        let processes = [
            process(1, 0, "init", &[listening(22)]),
            process(2, 1, "plimsoll", &[connected(8000), listening(4318), remote]),
            process(3, 1, "gunicorn", &[listening(8000)]),
            process(4, 3, "gunicorn", &[listening(8000), connected(5432)]),
            process(5, 1, "postgres", &[listening(5432)]),
            process(6, 5, "postgres", &[]),
            process(7, 3, "convert", &[]),
            process(8, 1, "spinner", &[listening(7000)]),
        ];
        let ports = reached(&processes, 2);
        assert_eq!(ports, BTreeSet::from([5432, 8000]));
        let found = programs(&processes, &ports, 2);
        let of = |port, name: &str, processes: &[u32]| Program {
            name: name.to_owned(),
            ports: BTreeSet::from([port]),
            processes: processes.to_vec(),
        };
        assert_eq!(found, [of(5432, "postgres", &[5, 6]), of(8000, "gunicorn", &[3, 4])]);
    }

    /// The kernel completes handshakes for a program that accepts nothing.
    #[test]
    fn connections_that_are_not_accepted_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let clients: Vec<_> =
            (0..3).map(|_| std::net::TcpStream::connect(address).expect("connected")).collect();
        assert_eq!(accept_queues().get(&address.port()), Some(&3));
        let accepted = listener.accept().expect("a connection");
        assert_eq!(accept_queues().get(&address.port()), Some(&2));
        drop((clients, accepted));
    }

    #[test]
    fn a_line_of_a_connection_ends_the_listening_sockets() {
        let listening =
            "   0: 0100007F:1F90 00000000:0000 0A 00000000:0000000B 00:00000000 00000000  0 0 4242 1 0";
        assert_eq!(accept_queue(listening), Some((8080, 11)));
        assert_eq!(accept_queue(&listening.replace(" 0A ", " 01 ")), None);
        assert_eq!((accept_queue(""), accept_queue("0: 1 2 0A 4")), (None, None));
    }

    #[test]
    fn lines_of_the_kernel_are_read() {
        let line = "   1: 0100007F:1F90 0100007F:D3A4 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0";
        let socket_of = Socket { port: 8080, remote_port: 0xD3A4, is_local: true, state: ESTABLISHED };
        assert_eq!(socket(line), Some((4242, socket_of)));
        assert_eq!(socket("  sl  local_address rem_address"), None);
        assert_eq!(socket(""), None);
        for (address, expected) in [
            ("0100007F", true),
            ("0500A8C0", false),
            ("0000000000000000FFFF00000100007F", true),
            ("00000000000000000000000001000000", true),
            ("B80D01200000000000000000010000FE", false),
            ("", false),
        ] {
            assert_eq!(is_loopback(address), expected, "{address}");
        }
        assert_eq!(name_and_parent("12 (a (b) c) S 7 1"), Some(("a (b) c", 7)));
        assert_eq!(name_and_parent("12"), None);
    }

    #[test]
    fn a_server_on_this_machine_is_measured() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo ready >&3; sleep 20");
        let mut client = Command::new("bash").args(["-c", &script]).spawn().expect("bash");
        let mut ready = [0; 5];
        let (mut stream, _) = listener.accept().expect("a client");
        std::io::Read::read_exact(&mut stream, &mut ready).expect("a line");
        let mut listeners = Listeners::new(client.id());
        let begun = model::SystemClock::now();
        assert_eq!(listeners.read(begun), []);
        // A busy machine gives this thread a part of a core only, so its own time counts.
        let ran_until = ran() + Duration::from_millis(200);
        while ran() < ran_until {}
        let now = model::SystemClock::now();
        let found = listeners.read(now);
        let least = 0.1 / now.since(begun).as_secs_f64();
        client.kill().expect("a process that runs");
        client.wait().expect("a process that ends");
        let own = found.iter().find(|found| found.ports.contains(&port)).expect("this process listens");
        assert!(own.busiest_thread > least && own.cores >= own.busiest_thread, "{own:?} of at least {least}");
        assert!(listeners.programs.iter().all(|program| !program.processes.contains(&client.id())));
    }

    /// The time that this thread was on a processor so far.
    fn ran() -> Duration {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the thread's times");
        Duration::from_nanos(text.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a time"))
    }
}
