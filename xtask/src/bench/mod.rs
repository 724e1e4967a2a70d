//! Measures the program beside others, one file per case, and keeps the tables of `docs/performance.md`.

mod bars;
mod cases;
mod clients;
mod contest;
mod hour;
mod memory_latency;
mod page;
mod process;
mod server;
mod stats;
mod testkit;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use lexopt::{Arg, ValueExt};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::workspace;
use clients::{Client, Load};
use page::Report;
use server::Server;

/// The core of the clients; the server has another.
const CLIENT_CORE: &str = "1";

/// Both.
const ALL_CORES: &str = "0,1";

/// Rounds without `--rounds`.
const ROUNDS: u32 = 7;

/// Length of a run without `--seconds`.
const SECONDS: u32 = 10;

/// How long all rounds of a comparison together wait for a calm machine, without `--patience`, seconds.
const PATIENCE_S: u32 = 120;

const USAGE: &str = "\
cargo xtask bench: measures the release binary beside wrk, oha (if on the PATH) and k6 (if K6_BIN names one)
  --case NAME      only this case; may be repeated
  --rounds N       rounds of each comparison (7)
  --seconds N      length of each run (10)
  --patience N     how long a comparison waits for a calm machine, in seconds (120)
  --long           also what takes long: memory growth over ten minutes
  --write          rewrites the tables of docs/performance.md
  --list           names the cases
";

/// A thing to measure.
struct Case {
    name: &'static str,
    run: fn(&Bench) -> anyhow::Result<Report>,
}

/// State shared by the cases.
struct Bench {
    rounds: u32,
    seconds: u32,
    patience: Duration,
    long: bool,
    /// A folder for everything that is made on the way.
    folder: PathBuf,
    server: Server,
    plimsoll: PathBuf,
    k6: Option<PathBuf>,
}

impl Bench {
    /// Ours.
    fn plimsoll(&self) -> Client {
        Client::Plimsoll(self.plimsoll.clone())
    }

    /// Ours first, then everybody else who is there.
    fn everybody(&self) -> Vec<Client> {
        let mut clients = self.scripted();
        clients.extend(self.k6.clone().map(Client::K6Tuned));
        clients.extend(clients::find("wrk").map(Client::Wrk));
        clients.extend(clients::find("oha").map(Client::Oha));
        clients
    }

    /// Ours and k6, if it is there.
    fn scripted(&self) -> Vec<Client> {
        let mut clients = vec![self.plimsoll()];
        clients.extend(self.k6.clone().map(Client::K6));
        clients
    }

    /// A load of a committed script on the client's core.
    fn load(&self, script: &str, url: String, vus: u32) -> Load {
        Load {
            script: script_path(script),
            url,
            vus,
            seconds: self.seconds,
            variables: Vec::new(),
            flags: Vec::new(),
            cores: CLIENT_CORE.to_owned(),
        }
    }

    fn progress(&self, text: &str) {
        eprintln!("  {text}");
    }
}

fn script_path(name: &str) -> PathBuf {
    workspace::root().join("xtask/bench").join(name)
}

/// The command line.
struct Options {
    cases: Vec<String>,
    rounds: u32,
    seconds: u32,
    patience_s: u32,
    long: bool,
    write: bool,
}

pub(crate) fn main(parser: lexopt::Parser) -> anyhow::Result<()> {
    let Some(options) = parse(parser)? else { return Ok(()) };
    let cores = std::thread::available_parallelism().context("count the cores")?;
    ensure!(cores.get() >= 2, "give the client and the server a core each: there is one");
    let folder = std::env::temp_dir().join(format!("plimsoll-bench-{}", std::process::id()));
    make_folder(&folder)?;
    let result = measure(&options, folder.clone());
    let removed = std::fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()));
    result.and(removed)
}

fn parse(mut parser: lexopt::Parser) -> anyhow::Result<Option<Options>> {
    let mut options = Options {
        cases: Vec::new(),
        rounds: ROUNDS,
        seconds: SECONDS,
        patience_s: PATIENCE_S,
        long: false,
        write: false,
    };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("case") => options.cases.push(parser.value()?.string()?),
            Arg::Long("rounds") => options.rounds = parser.value()?.parse()?,
            Arg::Long("seconds") => options.seconds = parser.value()?.parse()?,
            Arg::Long("patience") => options.patience_s = parser.value()?.parse()?,
            Arg::Long("long") => options.long = true,
            Arg::Long("write") => options.write = true,
            Arg::Long("list") => {
                cases::ALL.iter().for_each(|case| println!("{}", case.name));
                return Ok(None);
            }
            Arg::Long("help") => {
                print!("{USAGE}");
                return Ok(None);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(options.rounds > 0 && options.seconds > 0, "measure nothing: rounds and seconds start at 1");
    if let Some(unknown) = options.cases.iter().find(|name| cases::ALL.iter().all(|case| case.name != **name))
    {
        bail!("find the case {unknown:?}; see --list");
    }
    Ok(Some(options))
}

/// The folder, readable by the server's worker under any user.
fn make_folder(folder: &std::path::Path) -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
        .context("open the folder for nginx")
}

fn measure(options: &Options, folder: PathBuf) -> anyhow::Result<()> {
    allow_open_files()?;
    let plimsoll = release_binary()?;
    let server = Server::start(&folder)?;
    let k6 = std::env::var_os("K6_BIN").filter(|path| !path.is_empty()).map(PathBuf::from);
    if k6.is_none() {
        eprintln!("K6_BIN names no k6: it is left out");
    }
    let bench = Bench {
        rounds: options.rounds,
        seconds: options.seconds,
        patience: Duration::from_secs(options.patience_s.into()),
        long: options.long,
        folder,
        server,
        plimsoll,
        k6,
    };
    let wanted =
        |case: &&Case| options.cases.is_empty() || options.cases.iter().any(|name| name == case.name);
    let page = workspace::root().join("docs/performance.md");
    let mut missed = 0;
    for case in cases::ALL.iter().filter(wanted) {
        eprintln!("{}", case.name);
        let report = (case.run)(&bench).with_context(|| format!("measure {}", case.name))?;
        let text = report.markdown();
        println!("## {}\n\n{text}", case.name);
        missed += report.verdicts.iter().filter(|verdict| !verdict.passed).count();
        if options.write {
            page::write(&page, case.name, &text)?;
        }
    }
    ensure!(missed == 0, "reach {missed} of the required bars");
    Ok(())
}

/// Raises the soft limit of open files to the hard one, for the server and the clients, which inherit it.
fn allow_open_files() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).context("read the limit of open files")?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).context("raise the limit of open files")
}

/// Builds the release binary, unless `PLIMSOLL_BIN` names one.
fn release_binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("PLIMSOLL_BIN").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let built = workspace::cargo().args(["build", "--release", "--quiet", "--package", "plimsoll"]).status();
    ensure!(built.context("run cargo build")?.success(), "build the release binary");
    Ok(workspace::target_directory()?.join("release/plimsoll"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_its_place_on_the_page() {
        let page = std::fs::read_to_string(workspace::root().join("docs/performance.md")).expect("the page");
        for case in cases::ALL {
            assert!(page.contains(&format!("<!-- bench:{} -->\n", case.name)), "{}", case.name);
        }
        assert_eq!(page.matches("<!-- bench:").count(), cases::ALL.len(), "a place without a case");
    }

    #[test]
    fn options_are_read_and_bounded() {
        let check = |arguments: &[&str], expect: bool| {
            assert_eq!(parse(lexopt::Parser::from_args(arguments)).is_ok(), expect, "{arguments:?}");
        };
        check(&["--case", "tls", "--rounds", "2", "--seconds", "1", "--write"], true);
        check(&["--case", "nothing"], false);
        check(&["--rounds", "0"], false);
        check(&["--rounds", "many"], false);
    }
}
