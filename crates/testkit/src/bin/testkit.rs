//! The test servers as a program, for benches and for clients in other processes.
//!
//! The first line on stdout is the server's address. It ends when stdin ends or on SIGTERM or SIGINT, and its last
//! line is what it saw, as JSON.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use testkit::http::Counting;
use testkit::tls::IDENTITIES;
use testkit::{HTTP2_STREAMS_MAX, Identity, Listen, Server, Shop, ShopConfig, StallConfig};

const USAGE: &str = "\
Servers with known behaviour. The first line on stdout is the address.

  testkit serve   the counting server, with a route for every behaviour
    --tls              speaks TLS instead of plain HTTP
    --tls-port PORT    speaks TLS on this port too
    --http2            speaks HTTP/2, too, where it speaks TLS
    --identity KIND    valid (the default), expired, wrong-host, self-signed, unknown-ca, client-certificate,
                       any-host (the default with --catch-all)
    --catch-all        answers 200 to everything, whatever the host
  testkit hold    answers after ?ms= and says how long it held the request
  testkit stall   answers quickly, but for one stall
    --service-ms MS    what a reply takes (1)
    --offset-ms MS     from the first request to the stall (10000)
    --length-ms MS     how long the stall is (1000)
  testkit portal  a site with sessions that refuses stale tokens
  testkit shop    a shop that saturates at slots / hold
    --slots N          slots of its pool (8)
    --hold-ms MS       how long a query holds one (20)
    --queue N          requests that may wait for one (400)

  --port PORT          listens on this port of 127.0.0.1 (a free one)
  --ignore-stdin       does not end when stdin ends
";

/// The command line.
#[derive(Debug, Default)]
struct Options {
    verb: Option<String>,
    port: u16,
    tls: bool,
    tls_port: Option<u16>,
    http2: bool,
    identity: Option<Identity>,
    catch_all: bool,
    stall: StallConfig,
    shop: ShopConfig,
    ignore_stdin: bool,
    help: bool,
}

fn main() -> ExitCode {
    let options = match parse(Parser::from_env()) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("testkit: {error}; see testkit --help");
            return ExitCode::from(2);
        }
    };
    if options.help {
        print(USAGE.trim_end());
        return ExitCode::SUCCESS;
    }
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("testkit: failed to {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut parser: Parser) -> Result<Options, lexopt::Error> {
    let mut options = Options::default();
    let ms = |parser: &mut Parser| Ok::<_, lexopt::Error>(Duration::from_millis(parser.value()?.parse()?));
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Value(verb) if options.verb.is_none() => options.verb = Some(verb.string()?),
            Arg::Long("port") => options.port = parser.value()?.parse()?,
            Arg::Long("tls") => options.tls = true,
            Arg::Long("tls-port") => options.tls_port = Some(parser.value()?.parse()?),
            Arg::Long("http2") => options.http2 = true,
            Arg::Long("identity") => options.identity = Some(parser.value()?.parse_with(identity)?),
            Arg::Long("catch-all") => options.catch_all = true,
            Arg::Long("service-ms") => options.stall.service = ms(&mut parser)?,
            Arg::Long("offset-ms") => options.stall.offset = ms(&mut parser)?,
            Arg::Long("length-ms") => options.stall.length = ms(&mut parser)?,
            Arg::Long("slots") => options.shop.slots = parser.value()?.parse()?,
            Arg::Long("hold-ms") => options.shop.hold = ms(&mut parser)?,
            Arg::Long("queue") => options.shop.queue_limit = parser.value()?.parse()?,
            Arg::Long("ignore-stdin") => options.ignore_stdin = true,
            Arg::Long("help") | Arg::Short('h') => options.help = true,
            other => return Err(other.unexpected()),
        }
    }
    let verbs = ["serve", "hold", "stall", "portal", "shop"];
    if options.help || options.verb.as_deref().is_some_and(|verb| verbs.contains(&verb)) {
        return Ok(options);
    }
    Err(format!("one of {} is needed", verbs.join(", ")).into())
}

fn identity(name: &str) -> Result<Identity, String> {
    let known = IDENTITIES.iter().find(|(known, _)| *known == name);
    known.map(|(_, identity)| *identity).ok_or_else(|| "no such identity".to_owned())
}

fn run(options: &Options) -> Result<(), Box<dyn std::error::Error>> {
    let identity =
        options.identity.unwrap_or(if options.catch_all { Identity::AnyHost } else { Identity::Valid });
    let http2_streams_max = if options.http2 { HTTP2_STREAMS_MAX } else { 0 };
    let listen = Listen { port: options.port, tls: options.tls.then_some(identity), http2_streams_max };
    match options.verb.as_deref() {
        Some("hold") => attend(&[&testkit::hold::start(listen)?], &[], options),
        Some("stall") => attend(&[&testkit::stall::start(options.stall, listen)?], &[], options),
        Some("portal") => attend(&[&testkit::portal::start(listen)?], &[], options),
        Some("shop") => {
            let shop = Shop::start(ShopConfig { listen, ..options.shop })?;
            let capacity = format!("capacity_per_second={}", shop.capacity_per_second());
            attend(&[shop.server()], &[capacity], options)
        }
        _ => {
            let counting = || if options.catch_all { Counting::catch_all() } else { Counting::new() };
            let server = Server::start(counting(), listen)?;
            match options.tls_port {
                None => attend(&[&server], &[], options),
                Some(port) => {
                    let beside =
                        Server::start(counting(), Listen { port, tls: Some(identity), http2_streams_max })?;
                    attend(&[&server, &beside], &[], options)
                }
            }
        }
    }
}

/// Prints where the servers are, waits for the end, prints what they saw.
fn attend(
    servers: &[&Server],
    facts: &[String],
    options: &Options,
) -> Result<(), Box<dyn std::error::Error>> {
    // Set up before the address is out, so that who has the address may send the signal.
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    for server in servers {
        print(&server.url(""));
    }
    for files in servers.iter().filter_map(|server| server.tls_files()) {
        print(&format!("ca={}", files.ca().display()));
        print(&format!("client_certificate={}", files.client_certificate().display()));
        print(&format!("client_key={}", files.client_key().display()));
    }
    facts.iter().for_each(|fact| print(fact));
    let (end, ended) = channel();
    if !options.ignore_stdin {
        let end = end.clone();
        std::thread::spawn(move || {
            let mut ignored = [0; 1024];
            while std::io::stdin().read(&mut ignored).is_ok_and(|bytes| bytes > 0) {}
            let _ = end.send(());
        });
    }
    std::thread::spawn(move || {
        signals.forever().next();
        let _ = end.send(());
    });
    ended.recv()?;
    for server in servers {
        print(&server.seen().to_json().to_string());
    }
    Ok(())
}

fn print(line: &str) {
    // A closed standard output is no reason to fail.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(arguments: &str, expect: Result<&str, &str>) {
        let got = parse(Parser::from_args(arguments.split_whitespace()));
        let got = got.map(|options| format!("{options:?}")).map_err(|error| error.to_string());
        match (got, expect) {
            (Ok(got), Ok(part)) => assert!(got.contains(part), "{arguments}: {got}"),
            (Err(got), Err(part)) => assert!(got.contains(part), "{arguments}: {got}"),
            (got, _) => panic!("{arguments}: {got:?}"),
        }
    }

    #[test]
    fn command_lines() {
        check("serve --port 80", Ok("port: 80"));
        check(
            "serve --tls --identity expired",
            Ok("tls: true, tls_port: None, http2: false, identity: Some(Expired)"),
        );
        check("stall --offset-ms 5", Ok("offset: 5ms"));
        check("shop --slots 3 --hold-ms=7", Ok("slots: 3, hold: 7ms"));
        check("--help", Ok("help: true"));
        check("", Err("one of serve"));
        check("sell", Err("one of serve"));
        check("serve --port x", Err("invalid digit"));
        check("serve --identity x", Err("no such identity"));
        check("serve --what", Err("--what"));
    }
}
