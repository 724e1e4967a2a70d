//! `k6/x/redis` against real servers. The expected results are k6's, seen by running it.

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

use lab::{LabError, Launch, Place, Server};
use model::IterationEnd;

use super::{Left, cut, logged, run_against, start_server as start};

/// Logs what each promise gives.
const SHOW: &str = "
const show = async (run) => {
  try { console.log(JSON.stringify(await run())); } catch (error) { console.log(`${error instanceof Error} ${error}`); }
};";

fn run(url: &str, body: &str) -> Left {
    let source = format!(
        "import redis from 'k6/x/redis'; import exec from 'k6/execution'; {SHOW}
         const c = new redis.Client(__ENV.BASE);
         export default async function () {{ {body} }}"
    );
    run_against(url, 1, &source)
}

#[track_caller]
fn check(url: &str, calls: &[(&str, &str)]) -> Left {
    let body: String = calls.iter().map(|(call, _)| format!("await show(() => {call});\n")).collect();
    let left = run(url, &body);
    let expect: Vec<&str> = calls.iter().map(|(_, expect)| *expect).collect();
    for (index, (call, expect)) in calls.iter().enumerate() {
        assert_eq!(left.logs.get(index).map(String::as_str), Some(*expect), "{call}");
    }
    assert_eq!(left.logs.len(), expect.len(), "{:?}", left.logs);
    assert_eq!(left.ends, [IterationEnd::Completed]);
    left
}

const NIL: &str = "true redis: nil";

#[test]
fn keys() {
    let Some(lab) = start(lab::REDIS) else { return };
    check(
        &lab.url("redis"),
        &[
            ("c.isConnected()", "false"),
            ("c.randomKey()", NIL),
            ("c.isConnected()", "true"),
            ("c.get('a')", NIL),
            ("c.set('a', 'é', 0)", "\"OK\""),
            ("c.get('a')", "\"é\""),
            ("c.ttl('a')", "-1"),
            ("c.ttl('none')", "-2"),
            ("c.set('e', 1.5, 100)", "\"OK\""),
            ("c.ttl('e')", "100"),
            ("c.get('e')", "\"1.5\""),
            ("c.set('v', 1e21)", "\"OK\""),
            ("c.get('v')", "\"1000000000000000000000\""),
            ("c.set('v', true)", "\"OK\""),
            ("c.get('v')", "\"1\""),
            (
                "c.set('v', {})",
                "true unsupported type provided for argument at index 1, supported types are string, number, and boolean",
            ),
            (
                "c.lpush('l', 'ok', null)",
                "true unsupported type provided for argument at index 2, supported types are string, number, and boolean",
            ),
            ("c.del('a', 'e')", "2"),
            ("c.del()", "true ERR wrong number of arguments for 'del' command"),
            ("c.getSet('g', 'n')", NIL),
            ("c.getSet('g', 'm')", "\"n\""),
            ("c.getDel('g')", "\"m\""),
            ("c.getDel('g')", NIL),
            ("c.exists('v', 'none')", "1"),
            ("c.incr('n')", "1"),
            ("c.incrBy('n', 5)", "6"),
            ("c.decr('n')", "5"),
            ("c.decrBy('n', 2)", "3"),
            ("c.set('t', 'x').then(() => c.incr('t'))", "true ERR value is not an integer or out of range"),
            ("c.mget('n', 'none')", "[\"3\",null]"),
            ("c.expire('n', 10)", "true"),
            ("c.expire('none', 10)", "false"),
            ("c.persist('n')", "true"),
            ("c.persist('n')", "false"),
            ("c.del('v', 't').then(() => c.randomKey())", "\"n\""),
            ("Promise.all([1, 2, 3].map(() => c.incr('n')))", "[4,5,6]"),
        ],
    );
}

#[test]
fn lists_hashes_and_sets() {
    let Some(lab) = start(lab::REDIS) else { return };
    check(
        &lab.url("redis"),
        &[
            ("c.rpush('l', 1, 2, 'c')", "3"),
            ("c.lpush('l', 0)", "4"),
            ("c.lrange('l', 0, -1)", "[\"0\",\"1\",\"2\",\"c\"]"),
            ("c.lrange('none', 0, -1)", "[]"),
            ("c.lindex('l', 1)", "\"1\""),
            ("c.lindex('l', 99)", NIL),
            ("c.lset('l', 0, 'z')", "\"OK\""),
            ("c.lset('l', 99, 'z')", "true ERR index out of range"),
            ("c.lrem('l', 0, 'z')", "1"),
            ("c.llen('l')", "3"),
            ("c.lpop('l')", "\"1\""),
            ("c.rpop('l')", "\"c\""),
            ("c.lpop('none')", NIL),
            ("c.hset('h', 'f', 'v')", "1"),
            ("c.hsetnx('h', 'f', 'v')", "false"),
            ("c.hsetnx('h', 'k', 3)", "true"),
            ("c.hget('h', 'f')", "\"v\""),
            ("c.hget('h', 'none')", NIL),
            ("c.hgetall('h')", "{\"f\":\"v\",\"k\":\"3\"}"),
            ("c.hgetall('none')", "{}"),
            ("c.hkeys('h')", "[\"f\",\"k\"]"),
            ("c.hvals('h')", "[\"v\",\"3\"]"),
            ("c.hlen('h')", "2"),
            ("c.hincrby('h', 'k', 4)", "7"),
            ("c.hdel('h', 'f', 'k')", "2"),
            ("c.hgetall('l')", "true WRONGTYPE Operation against a key holding the wrong kind of value"),
            ("c.sadd('s', 1, 'x')", "2"),
            ("c.srem('s', 1)", "1"),
            ("c.sismember('s', 'x')", "true"),
            ("c.sismember('s', 'q')", "false"),
            ("c.smembers('s')", "[\"x\"]"),
            ("c.srandmember('s')", "\"x\""),
            ("c.spop('s')", "\"x\""),
            ("c.spop('s')", NIL),
            ("c.sendCommand('GET', 'none')", NIL),
            ("c.sendCommand('LRANGE', 'l', 0, -1)", "[\"2\"]"),
            ("c.sendCommand('EVAL', 'return {1,{2,\"x\"},false}', 0)", "[1,[2,\"x\"],null]"),
            ("c.sendCommand('EVAL', 'return {1,redis.error_reply(\"E bad\")}', 0)", "[1,\"E bad\"]"),
        ],
    );
}

#[test]
fn options_that_are_none() {
    let left = logged(
        "import redis from 'k6/experimental/redis';
         for (const given of ['http://x', 'redis://h/abc', 5, {}, { foo: 1 }, { cluster: { nodes: [] } },
                              { socket: { host: 'h', port: 'x' } }]) {
           try { new redis.Client(given); console.log('no error'); } catch (error) { console.log(String(error)); }
         }
         new redis.Client({ socket: { host: 'h', port: 1, readTimeout: 1 }, username: 'u', password: 'p', database: 2 });
         new redis.Client('redis://h').get('a').catch((error) => console.log(String(error)));
         export default () => {}",
    );
    let expect = [
        "GoError: invalid options; reason: redis: invalid URL scheme: http; expected redis://HOST:PORT or rediss://HOST:PORT",
        "GoError: invalid options; reason: redis: invalid database number: \"abc\"",
        "GoError: invalid options type: int; expected string or object",
        "GoError: invalid options; reason: empty socket options; set `socket.host`, or `cluster.nodes`",
    ];
    assert_eq!(left[..4], expect);
    assert!(left[4].contains("unknown field `foo`"), "{}", left[4]);
    assert!(left[5].contains("cluster nodes property cannot be empty"), "{}", left[5]);
    assert!(left[6].contains("invalid type: string \"x\""), "{}", left[6]);
    assert_eq!(left[7], "connecting to a redis server in the init context is not supported");
}

#[test]
fn failures_have_their_cause() {
    let Some(lab) = start(lab::REDIS) else { return };
    let url = lab.url("redis");
    let port = lab.ports("redis")[0];
    check(
        &url,
        &[
            (
                "new redis.Client('redis://localhost:1').get('a')",
                "true dial tcp 127.0.0.1:1: connect: connection refused",
            ),
            (
                "new redis.Client(__ENV.BASE.replace('//:', '//:x')).get('a')",
                "true WRONGPASS invalid username-password pair or user is disabled.",
            ),
            ("new redis.Client(`${__ENV.BASE}/99`).get('a')", "true ERR DB index is out of range"),
            (
                "new redis.Client(`${__ENV.BASE}?read_timeout=50ms`).sendCommand('BLPOP', 'none', 30)",
                &format!("true read 127.0.0.1:{port}: nothing within 50ms (i/o timeout)"),
            ),
            // A connection that the server closed while it was idle is replaced.
            ("c.set('a', 1)", "\"OK\""),
            (
                "new redis.Client(__ENV.BASE).sendCommand('CLIENT', 'KILL', 'TYPE', 'normal').then((n) => n > 0)",
                "true",
            ),
            ("c.get('a')", "\"1\""),
        ],
    );
}

#[test]
fn bytes_count_and_a_command_ends_with_its_iteration() {
    let Some(lab) = start(lab::REDIS) else { return };
    let url = format!("{}?read_timeout=-1", lab.url("redis"));
    let left = cut(|| run(&url, "await c.set('a', 'x'); await c.sendCommand('BLPOP', 'none', 0);"));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    let password = url.trim_start_matches("redis://:").split('@').next().unwrap();
    let auth = format!("*2\r\n$4\r\nAUTH\r\n${}\r\n{password}\r\n", password.len());
    let set = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nx\r\n";
    let pop = "*3\r\n$5\r\nBLPOP\r\n$4\r\nnone\r\n$1\r\n0\r\n";
    let sum = |metric: &str| {
        left.samples.iter().filter(|sample| sample.0 == metric).map(|sample| sample.2).sum::<f64>()
    };
    assert_eq!(sum("data_sent"), (auth.len() + set.len() + pop.len()) as f64);
    assert_eq!(sum("data_received"), 10.0);
    let rest =
        run(&lab.url("redis"), "console.log(await c.sendCommand('CLIENT', 'LIST', 'TYPE', 'normal'));");
    assert!(!rest.logs[0].contains("cmd=blpop"), "{}", rest.logs[0]);
}

/// Redis with TLS alone, for clients with a certificate that this one signed.
#[derive(Debug)]
struct Encrypted {
    certificate: String,
    key: String,
}

impl Server for Encrypted {
    fn name(&self) -> &'static str {
        lab::REDIS.name()
    }

    fn package(&self) -> &'static str {
        lab::REDIS.package()
    }

    fn program(&self) -> &'static str {
        lab::REDIS.program()
    }

    fn is_installed(&self) -> bool {
        lab::REDIS.is_installed()
    }

    fn port_count(&self) -> usize {
        2
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let launches = lab::REDIS.prepare(place)?;
        let owner = std::fs::metadata(&place.directory).expect("it was made");
        for (name, text) in [("certificate.pem", &self.certificate), ("key.pem", &self.key)] {
            let path = place.directory.join(name);
            std::fs::write(&path, text).expect("a file of the test's own");
            std::os::unix::fs::chown(&path, Some(owner.uid()), Some(owner.gid())).expect("its own");
        }
        let conf = std::fs::OpenOptions::new().append(true).open(place.directory.join("redis.conf"));
        let tls = format!(
            "tls-port {}\ntls-cert-file certificate.pem\ntls-key-file key.pem\ntls-ca-cert-file certificate.pem\n\
             tls-auth-clients yes\n",
            place.ports[1]
        );
        conf.expect("it was written").write_all(tls.as_bytes()).expect("a file of the test's own");
        Ok(launches)
    }

    fn is_ready(&self, place: &Place) -> bool {
        lab::REDIS.is_ready(place)
    }

    fn url(&self, place: &Place) -> String {
        lab::REDIS.url(place)
    }
}

#[test]
fn tls_with_a_certificate_of_the_clients_own() {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let server = Box::leak(Box::new(Encrypted { certificate: certificate.clone(), key: key.clone() }));
    let Some(lab) = start(server) else { return };
    let (url, port) = (lab.url("redis"), lab.ports("redis")[1]);
    let password = url.trim_start_matches("redis://:").split('@').next().unwrap();
    let client = |tls: &str| {
        format!(
            "new redis.Client({{ socket: {{ host: 'localhost', port: {port}, tls: {tls} }}, password: '{password}' }})"
        )
    };
    let bytes = format!("Uint8Array.from(`{certificate}`, (c) => c.charCodeAt(0)).buffer");
    let own = client(&format!("{{ ca: [{bytes}], cert: `{certificate}`, key: `{key}` }}"));
    let unknown = client("{}");
    let left =
        run(&url, &format!("await show(() => {own}.set('a', 1)); await show(() => {unknown}.get('a'));"));
    assert_eq!(left.logs[0], "\"OK\"");
    assert!(left.logs[1].contains("certificate signed by unknown authority"), "{:?}", left.logs);
}

/// Answers every command with the same reply, once per connection.
fn answering(reply: String) -> u16 {
    use std::io::Read as _;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten().take(2) {
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(reply.as_bytes());
        }
    });
    port
}

#[test]
fn clusters_and_sentinels_name_another_server() {
    let Some(lab) = start(lab::REDIS) else { return };
    let url = lab.url("redis");
    let real = lab.ports("redis")[0];
    let password = url.trim_start_matches("redis://:").split('@').next().unwrap();
    let moved = answering(format!("+OK\r\n-MOVED 15495 127.0.0.1:{real}\r\n"));
    let sentinel = answering(format!("*2\r\n$9\r\n127.0.0.1\r\n${}\r\n{real}\r\n", real.to_string().len()));
    let body = format!(
        "const cluster = new redis.Client({{ cluster: {{ nodes: ['redis://:{password}@localhost:1', 'redis://:{password}@localhost:{moved}'] }} }});
         await show(() => cluster.set('a', 1)); await show(() => cluster.get('a'));
         const master = new redis.Client({{ socket: {{ host: 'localhost', port: {sentinel} }}, password: '{password}', masterName: 'm' }});
         await show(() => master.incr('a'));"
    );
    assert_eq!(run(&url, &body).logs, ["\"OK\"", "\"1\"", "2"]);
}
