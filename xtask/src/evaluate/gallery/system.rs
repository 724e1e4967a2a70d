//! A stack that runs: its processes on loopback ports, loaded and diagnosed by the program itself (`PLIMSOLL_BIN`).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use model::SystemClock;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;

use super::stack::{self, Load, Setting, Stack};
use crate::evaluate::cases::binary;
use crate::workspace;

/// A process that accepts no connection after this time has failed.
const READY_MAX: Duration = Duration::from_secs(90);

/// Between the end signal and the kill.
const END_MAX: Duration = Duration::from_secs(4);

/// With more failed requests, the stack does not work.
const FAILED_MAX: f64 = 0.02;

const POLL: Duration = Duration::from_millis(50);

/// The exit codes of a run that was measured to its end, whatever thresholds and validity say.
const MEASURED: [i32; 2] = [0, 99];

/// A stack's processes. Dropping it ends them and removes their folder.
pub(in crate::evaluate) struct System {
    plimsoll: PathBuf,
    stack: Stack,
    work: PathBuf,
    variables: BTreeMap<String, String>,
    processes: Vec<Process>,
    beside: Option<String>,
}

/// A process and all that it starts, which are one process group.
struct Process {
    child: Child,
}

impl System {
    /// Installs the stack's packages if they are missing, and starts it in a setting.
    pub(in crate::evaluate) fn start(stack: &Stack, setting: &Setting) -> anyhow::Result<System> {
        let work = std::env::temp_dir().join(format!("plimsoll-gallery-{}", std::process::id()));
        let cache = cache()?.join(&stack.name);
        for folder in [&work, &cache] {
            std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        }
        let mut system = System {
            plimsoll: binary("PLIMSOLL_BIN")?,
            stack: stack.clone(),
            variables: variables(stack, &work, &cache)?,
            work,
            processes: Vec::new(),
            beside: setting.beside.clone(),
        };
        let env = system.environment(setting);
        system.variables.extend(env);
        system.run_to_end("setup", "./setup")?;
        for process in &stack.process {
            system.spawn(&process.port, &process.run)?;
            system.wait_for(&process.port)?;
        }
        if let Some(prepare) = setting.prepare.as_deref().filter(|command| !command.is_empty()) {
            system.run_to_end("prepare", prepare)?;
        }
        Ok(system)
    }

    /// One run under load, the diagnosis of it, and the exported summary.
    pub(in crate::evaluate) fn run(&mut self, load: &Load, may_fail: bool) -> anyhow::Result<(Value, Value)> {
        let beside = self.beside.clone().filter(|command| !command.is_empty());
        if let Some(command) = beside {
            self.spawn("beside", &command)?;
        }
        let summary = self.work.join("summary.json");
        let mut command = self.loading(load, &["run", "--quiet"])?;
        command.arg("--summary-export").arg(&summary).stdin(Stdio::null()).stdout(self.log("run")?);
        let status = command.stderr(self.log("run")?).status().context("run the program")?;
        ensure!(
            status.code().is_some_and(|code| MEASURED.contains(&code)),
            "run the script to its end: {status}\n{}",
            self.tail("run")
        );
        let summary = read_json(&summary)?;
        let failed = summary["metrics"]["http_req_failed"]["value"].as_f64().unwrap_or(1.0);
        ensure!(
            may_fail || failed <= FAILED_MAX,
            "{}: {:.0} % of the requests failed\n{}",
            self.stack.name,
            failed * 100.0,
            self.tail(load.port())
        );
        Ok((diagnosis(&self.last_run()?)?, summary))
    }

    /// The program under the load of a case, with all sources connected: `words` are the verb and its flags.
    pub(in crate::evaluate) fn loading(&self, load: &Load, words: &[&str]) -> anyhow::Result<Command> {
        let mut command = Command::new(&self.plimsoll);
        command.args(words).arg("--runs").arg(self.runs()).arg("--project").arg(self.project()?);
        let address = self.variable("OTLP")?.trim_start_matches("http://").to_owned();
        command.arg(format!("--otlp={address}")).args(["--trace-sample", load.sample()]);
        let base = format!("http://127.0.0.1:{}", self.variable(&format!("PORT_{}", load.port()))?);
        for (name, value) in load.variables().into_iter().chain([("BASE", base)]) {
            command.args(["--env", &format!("{name}={value}")]);
        }
        command.arg(stack::folder().join("load.js"));
        Ok(command)
    }

    /// Keeps the file of the last run, for [`diagnosis`] of it later.
    pub(in crate::evaluate) fn keep_run(&self, part: &str) -> anyhow::Result<()> {
        let path = kept_run(part)?;
        let folder = path.parent().context("find the folder of the runs")?;
        std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        std::fs::copy(self.last_run()?, &path).with_context(|| format!("write {}", path.display()))?;
        Ok(())
    }

    fn last_run(&self) -> anyhow::Result<PathBuf> {
        let entries = std::fs::read_dir(self.runs()).context("list the runs")?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        // Names begin with the time.
        let runs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "plimsoll"));
        runs.max().context("find the run")
    }

    /// The environment of a setting: the stack's, with the changes of the setting.
    fn environment(&self, setting: &Setting) -> BTreeMap<String, String> {
        let mut env = self.stack.env.clone();
        env.extend(setting.env.clone());
        env.into_iter().map(|(name, value)| (name, self.expanded(&value))).collect()
    }

    /// A text with the values of the variables that it names.
    fn expanded(&self, text: &str) -> String {
        // Longer names first, because one can begin with another.
        let mut names: Vec<&String> = self.variables.keys().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names
            .iter()
            .fold(text.to_owned(), |text, name| text.replace(&format!("${name}"), &self.variables[*name]))
    }

    /// Writes the project file, which lists the evidence sources.
    fn project(&self) -> anyhow::Result<PathBuf> {
        let mut text = "[evidence.host]\naddress = \"local\"\n".to_owned();
        for (name, settings) in &self.stack.evidence {
            writeln!(text, "\n[evidence.{name}]").context("write the project file")?;
            for (key, value) in settings {
                writeln!(text, "{key} = {:?}", self.expanded(value)).context("write the project file")?;
            }
        }
        let path = self.work.join("plimsoll.toml");
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
        Ok(path)
    }

    /// A command that ends with this process, even if this process is killed.
    fn command(&self, command: &str) -> Command {
        let mut bash = Command::new("setpriv");
        bash.args(["--pdeathsig", "TERM", "bash", "-c", command]).current_dir(self.stack.folder());
        bash.envs(&self.variables).stdin(Stdio::null());
        bash
    }

    fn run_to_end(&self, name: &str, command: &str) -> anyhow::Result<()> {
        let mut bash = self.command(command);
        bash.stdout(self.log(name)?).stderr(self.log(name)?);
        let status = bash.status().with_context(|| format!("run {command:?}"))?;
        ensure!(status.success(), "{}: {command:?}: {status}\n{}", self.stack.name, self.tail(name));
        Ok(())
    }

    fn spawn(&mut self, name: &str, command: &str) -> anyhow::Result<()> {
        let mut bash = self.command(command);
        bash.stdout(self.log(name)?).stderr(self.log(name)?).process_group(0);
        let child = bash.spawn().with_context(|| format!("start {command:?}"))?;
        self.processes.push(Process { child });
        Ok(())
    }

    /// Waits until the process that was started last accepts connections.
    fn wait_for(&mut self, port: &str) -> anyhow::Result<()> {
        let number: u16 = self.variable(&format!("PORT_{port}"))?.parse().context("read a port")?;
        let address = SocketAddr::from(([127, 0, 0, 1], number));
        let began = SystemClock::now();
        while TcpStream::connect_timeout(&address, POLL).is_err() {
            let process = self.processes.last_mut().context("find the process")?;
            if let Some(status) = process.child.try_wait().context("wait for a process")? {
                bail!("{port} ended before it was ready: {status}\n{}", self.tail(port));
            }
            ensure!(
                SystemClock::now().since(began) < READY_MAX,
                "{port} was not ready in time\n{}",
                self.tail(port)
            );
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn variable(&self, name: &str) -> anyhow::Result<&str> {
        self.variables.get(name).map(String::as_str).with_context(|| format!("find ${name}"))
    }

    /// Where its runs are.
    pub(in crate::evaluate) fn runs(&self) -> PathBuf {
        self.work.join("runs")
    }

    fn log(&self, name: &str) -> anyhow::Result<File> {
        let path = self.work.join(format!("{name}.log"));
        let mut options = File::options();
        options.create(true).append(true);
        options.open(&path).with_context(|| format!("open {}", path.display()))
    }

    /// The last lines of a log, for an error message.
    fn tail(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.work.join(format!("{name}.log"))).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(15)..].join("\n")
    }
}

impl Drop for System {
    fn drop(&mut self) {
        for process in self.processes.iter_mut().rev() {
            process.end();
        }
        // The folder is in the system's temporary folder, so one that cannot be removed does no harm.
        let _ = std::fs::remove_dir_all(&self.work);
    }
}

impl Process {
    /// Ends the whole group: by SIGTERM, and after a while by SIGKILL.
    fn end(&mut self) {
        let Ok(id) = i32::try_from(self.child.id()) else { return };
        let group = Pid::from_raw(id);
        let began = SystemClock::now();
        // A group that is gone needs no signal.
        let _ = killpg(group, Signal::SIGTERM);
        while matches!(self.child.try_wait(), Ok(None)) && SystemClock::now().since(began) < END_MAX {
            std::thread::sleep(POLL);
        }
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

/// The variables that every command and setting can use.
fn variables(stack: &Stack, work: &Path, cache: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let names: Vec<&String> = stack
        .process
        .iter()
        .flat_map(|process| [&process.port].into_iter().chain(&process.more_ports))
        .collect();
    // All are bound at the same time, so that they differ.
    let bind = || TcpListener::bind(("127.0.0.1", 0)).context("find a free port");
    let listeners = (0..=names.len()).map(|_| bind()).collect::<anyhow::Result<Vec<_>>>()?;
    let ports = listeners
        .iter()
        .map(|listener| Ok(listener.local_addr().context("read a port")?.port()))
        .collect::<anyhow::Result<Vec<u16>>>()?;
    let (receiver, ports) = ports.split_first().context("find a free port")?;
    let otlp = format!("http://127.0.0.1:{receiver}");
    let mut variables: BTreeMap<String, String> =
        names.iter().zip(ports).map(|(name, port)| (format!("PORT_{name}"), port.to_string())).collect();
    for (name, value) in [
        ("WORK", work.display().to_string()),
        ("CACHE", cache.display().to_string()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", otlp.clone()),
        ("OTLP", otlp),
    ] {
        variables.insert(name.to_owned(), value);
    }
    Ok(variables)
}

/// The folder of installed packages and kept runs.
fn cache() -> anyhow::Result<PathBuf> {
    Ok(workspace::target_directory()?.join("gallery"))
}

/// The file of a part's last run; it exists where the part was measured on this machine.
pub(in crate::evaluate) fn kept_run(part: &str) -> anyhow::Result<PathBuf> {
    Ok(cache()?.join("runs").join(format!("{part}.plimsoll")))
}

/// Returns the diagnosis of a run file.
pub(in crate::evaluate) fn diagnosis(run: &Path) -> anyhow::Result<Value> {
    diagnosis_without(run, &[])
}

/// Returns the diagnosis of a run file from less than its evidence.
pub(in crate::evaluate) fn diagnosis_without(run: &Path, kinds: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new(binary("PLIMSOLL_BIN")?);
    command.args(["diagnose", "--json"]);
    kinds.iter().for_each(|kind| {
        command.args(["--without", kind]);
    });
    let output = command.arg(run).output().context("run the program")?;
    ensure!(output.status.success(), "diagnose: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).context("read the diagnosis")
}

pub(in crate::evaluate) fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("parse {}", path.display()))
}
