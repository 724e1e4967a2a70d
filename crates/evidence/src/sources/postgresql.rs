//! PostgreSQL 13 and later: sessions and their wait events at 10 Hz, server counters, and the time of each statement.
//!
//! The source uses one read-only connection whose statements time out after two seconds. Each statement carries [`MARK`], by which
//! it is excluded from the evidence.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use model::{Evidence, RecordKind, SignalId};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::Kind;
use crate::answer::{Answer, Counters, Fields, OptionalQuery, SignalQuery};
use crate::contract::{About, Check, ErrorKind, Moment, Period, Source, SourceError};
use crate::settings::{Settings, SettingsError, password_variable};
use database::{Database, number, text};
use sessions::{Blocked, SESSIONS_SQL, Sessions};
use statements::{Looked, STATEMENTS_MAX};
use tables::Tables;
use tls::Tls;

mod database;
mod sessions;
mod statements;
mod tables;
mod tls;

/// Sampling interval of sessions.
const PERIOD: Duration = Duration::from_millis(100);

/// Interval of the signals.
const STEP: Duration = Duration::from_secs(1);

/// The first server version with the required columns, as the server numbers versions.
const VERSION_MIN: u32 = 130_000;
const VERSION_OF_QUERY_IDS: u32 = 140_000;
const VERSION_OF_CHECKPOINTER: u32 = 170_000;

/// The first extension version with planning and execution times.
const EXTENSION_VERSION_MIN: (u32, u32) = (1, 8);

/// Comment in every statement of this source, after the first word, where `pg_stat_statements` keeps it in all versions.
const MARK: &str = "/* plimsoll */";

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "postgresql",
    provides: "PostgreSQL: sessions by wait event, locks, connections, transactions, checkpoints, scans of whole tables, and what \
            statements took.",
    example: "postgres://plimsoll@localhost:5432/app",
    settings: &[("ca", "PEM file of certificate authorities, with sslmode=require [default: the system's]")],
    open,
};

const CONNECTIONS_MAX: SignalQuery = SignalQuery::new(SignalId::ConnectionsMax, "SHOW max_connections");

/// Counters of the server, in the order of the columns of [`counts_sql`].
const COUNTS: &[SignalQuery] = &[
    SignalQuery::new(SignalId::Commits, "pg_stat_database: xact_commit of all databases"),
    SignalQuery::new(SignalId::Rollbacks, "pg_stat_database: xact_rollback of all databases"),
    SignalQuery::new(SignalId::BlocksHit, "pg_stat_database: blks_hit of all databases"),
    SignalQuery::new(SignalId::BlocksRead, "pg_stat_database: blks_read of all databases"),
    SignalQuery::new(SignalId::TempBytes, "pg_stat_database: temp_bytes of all databases"),
    SignalQuery::new(SignalId::Deadlocks, "pg_stat_database: deadlocks of all databases"),
    SignalQuery::new(
        SignalId::Checkpoints,
        "pg_stat_bgwriter, since 17 pg_stat_checkpointer: timed and requested",
    ),
    SignalQuery::new(
        SignalId::CheckpointBlocks,
        "pg_stat_bgwriter, since 17 pg_stat_checkpointer: buffers written",
    ),
];

/// Query for the version, permissions and settings of the server.
const LAYOUT_SQL: &str = "SELECT /* plimsoll */ current_setting('server_version_num'), current_setting('server_version'), \
     current_setting('max_connections'), current_user, pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')::text, \
     (SELECT setting FROM pg_settings WHERE name = 'shared_preload_libraries'), \
     (SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace \
     WHERE extname = 'pg_stat_statements'), \
     (SELECT extversion FROM pg_extension WHERE extname = 'pg_stat_statements'); \
     SELECT /* plimsoll */ name, current_setting(name) FROM pg_settings WHERE name IN ('shared_buffers', 'work_mem', \
     'effective_cache_size', 'max_connections', 'max_wal_size', 'checkpoint_timeout', 'synchronous_commit', 'fsync', \
     'jit', 'track_io_timing', 'random_page_cost', 'max_parallel_workers_per_gather', 'default_transaction_isolation')";

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    Ok(Box::new(Postgresql::new(settings)?))
}

struct Postgresql {
    name: String,
    address: String,
    database: Database,
    /// Version, permissions and settings at the last connection.
    layout: Option<Arc<Layout>>,
    /// Whether the beginning of the run was recorded.
    is_begun: bool,
    counters: Counters,
    sessions: Sessions,
    blocked: Blocked,
    statements: OptionalQuery,
    scanned: OptionalQuery,
    tables: Tables,
    /// Statement counters at the start of the run.
    before: Option<Looked>,
}

/// Version, permissions and settings of a server.
#[derive(Clone, Debug, Default)]
struct Layout {
    version_number: u32,
    version: String,
    connections_max: Option<f64>,
    user: String,
    /// Whether other users' sessions are visible.
    sees_sessions: bool,
    /// Preloaded libraries of the server; `None` if they are not visible.
    libraries: Option<String>,
    /// The schema of `pg_stat_statements`, and its version.
    extension: Option<(String, String)>,
    settings: Fields,
}

impl Source for Postgresql {
    fn about(&self) -> About {
        About { name: self.name.clone(), kind: KIND.name, address: self.address.clone() }
    }

    fn probe(&mut self) -> Vec<Check> {
        let layout = match self.connect() {
            Ok(layout) => layout,
            Err(error) => {
                let remedy = self.remedy(error.kind);
                return vec![Check::fails("connection", error.message, remedy)];
            }
        };
        let version = format!("PostgreSQL {}", layout.version);
        if layout.version_number < VERSION_MIN {
            return vec![Check::fails("version", version, "connect to PostgreSQL 13 or later")];
        }
        let counts = match self.database.rows(&counts_sql(&layout)) {
            Ok(_) => Check::works("pg_stat_database", "transactions, blocks, checkpoints"),
            Err(SourceError { message: why, .. }) => Check::lacks("pg_stat_database", why, layout.grant()),
        };
        let statements = self.check_statements(&layout);
        vec![Check::works("connection", version), layout.check_sessions(), counts, statements]
    }

    fn period(&self) -> Option<Duration> {
        Some(PERIOD)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let mut answer = Answer::new(&self.name, now.at, STEP);
        let layout = self.connect()?;
        if !self.is_begun {
            self.begin(&mut answer, &layout)?;
        }
        if layout.sees_sessions {
            let rows = self.database.rows(SESSIONS_SQL)?;
            self.sessions.look(&rows);
        }
        // Half a period early counts as due, because the next call comes a whole period later.
        let is_due = self.sessions.reported_at().is_none_or(|at| now.at.since(at) + PERIOD / 2 >= STEP);
        if is_due {
            if self.sessions.waited_for_locks() {
                let rows = self.database.rows(&sessions::blocked_sql(layout.has_query_ids()))?;
                self.blocked.look(&rows, now.at);
            }
            self.sessions.add_to(&mut answer, now.at);
            self.add_counts(&mut answer, &layout, now)?;
        }
        Ok(answer.evidence())
    }

    fn look_back(&mut self, period: &Period) -> Result<Evidence, SourceError> {
        let mut answer = Answer::new(&self.name, period.to.at, STEP);
        // Time per statement is a difference: without its beginning there is no result.
        if !self.is_begun {
            return Ok(answer.evidence());
        }
        self.is_begun = false;
        self.sessions.add_to(&mut answer, period.to.at);
        self.blocked.add_to(&mut answer);
        let Some(before) = self.before.take() else { return Ok(answer.evidence()) };
        let layout = self.connect()?;
        self.add_statements(&mut answer, &layout, &before)?;
        Ok(answer.evidence())
    }
}

impl Postgresql {
    fn new(settings: &Settings) -> Result<Postgresql, SettingsError> {
        let wrong = |why: &str| settings.wrong("address", why);
        let mut config = Config::from_str(&settings.address)
            .map_err(|_| wrong("expected a URL, for example postgres://plimsoll@localhost:5432/app"))?;
        if config.get_password().is_some() {
            return Err(wrong("it contains a password; set the password in the environment or in a file"));
        }
        let ca = settings.values.get("ca").map(Path::new);
        let tls = match config.get_ssl_mode() {
            SslMode::Require => Some(Tls::trusting(ca).map_err(|why| settings.wrong("ca", &why))?),
            // TLS that the user did not request could fail where plain connections work.
            _ => None,
        };
        if tls.is_none() {
            config.ssl_mode(SslMode::Disable);
        }
        let address = shown(&config).ok_or_else(|| wrong("the host is missing"))?;
        if let Some(credential) = &settings.credential {
            config.password(credential);
        }
        Ok(Postgresql {
            name: settings.name.clone(),
            address,
            database: Database::new(config, tls),
            layout: None,
            is_begun: false,
            counters: Counters::default(),
            sessions: Sessions::new(),
            blocked: Blocked::default(),
            statements: OptionalQuery::new("statements"),
            scanned: OptionalQuery::new("tables"),
            tables: Tables::new(),
            before: None,
        })
    }

    /// Begins a call: connects if necessary, and reads the server's layout.
    fn connect(&mut self) -> Result<Arc<Layout>, SourceError> {
        self.database.begin_call();
        if let Some(layout) = self.layout.clone().filter(|_| self.database.is_connected()) {
            return Ok(layout);
        }
        self.sessions.forget();
        self.database.connect()?;
        let sets = self.database.sets(LAYOUT_SQL)?;
        let layout = Arc::new(
            Layout::read(&sets).ok_or_else(|| SourceError::new("the server did not report its version"))?,
        );
        self.layout = Some(layout.clone());
        Ok(layout)
    }

    /// Records the initial values of counters.
    fn begin(&mut self, answer: &mut Answer, layout: &Layout) -> Result<(), SourceError> {
        let mut known = layout.settings.clone();
        known.insert("version".to_owned(), layout.version.clone().into());
        answer.record(RecordKind::Configuration, &self.name, known);
        if let Err(missing) = layout.check_sessions().outcome {
            answer.warning(&format!("sessions and statements are not collected: {}", missing.why));
        }
        if let Some((schema, _)) = layout.extension.as_ref().filter(|_| layout.sees_sessions) {
            let (part, database) = (&mut self.statements, &mut self.database);
            self.before = part.ask(answer, || look_at_statements(database, schema))?;
        }
        self.is_begun = true;
        Ok(())
    }

    fn add_counts(&mut self, answer: &mut Answer, layout: &Layout, now: Moment) -> Result<(), SourceError> {
        layout.connections_max.into_iter().for_each(|max| answer.number(&CONNECTIONS_MAX, &[], max));
        let rows = self.database.rows(&counts_sql(layout))?;
        let Some(row) = rows.first() else { return Ok(()) };
        self.counters.turn(now.at);
        // The server counts our transactions a little later than we do, so the difference may be negative.
        let own = self.counters.rate("own", self.database.transactions() as f64).unwrap_or_default();
        for (column, what) in COUNTS.iter().enumerate() {
            let Some(count) = number(row, column) else { continue };
            let Some(rate) = self.counters.rate(what.signal.as_str(), count) else { continue };
            let others = if what.signal == SignalId::Commits { (rate - own).max(0.0) } else { rate };
            answer.number(what, &[], others);
        }
        let (part, database) = (&mut self.scanned, &mut self.database);
        if let Some(rows) = part.ask(answer, || database.rows(&tables::sql()))? {
            self.tables.add_to(answer, &mut self.counters, &rows);
        }
        Ok(())
    }

    fn add_statements(
        &mut self,
        answer: &mut Answer,
        layout: &Layout,
        before: &Looked,
    ) -> Result<(), SourceError> {
        let Some((schema, _)) = &layout.extension else { return Ok(()) };
        let now = look_at_statements(&mut self.database, schema)?;
        let (mut taken, total_ms) = statements::taken(before, &now);
        taken.truncate(STATEMENTS_MAX);
        if taken.is_empty() {
            return Ok(());
        }
        let asked = taken.iter().map(|(statement, _)| statement);
        let texts = statements::texts(&self.database.rows(&statements::texts_sql(schema, asked))?);
        for (statement, counts) in taken {
            let mut known = counts.fields(total_ms);
            let (text, database) = texts.get(&statement).cloned().unwrap_or_default();
            known.insert("queryid".to_owned(), statement.queryid.into());
            known.insert("database".to_owned(), database.into());
            answer.record(RecordKind::Statement, &text, known);
        }
        Ok(())
    }

    fn check_statements(&mut self, layout: &Layout) -> Check {
        let what = "pg_stat_statements";
        if layout.libraries.as_ref().is_some_and(|libraries| !libraries.contains(what)) {
            let remedy = "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf, restart, then \
                          CREATE EXTENSION pg_stat_statements;";
            return Check::lacks(what, "not in shared_preload_libraries", remedy);
        }
        let Some((schema, version)) = &layout.extension else {
            let why = "the extension is not installed in this database";
            return Check::lacks(what, why, "CREATE EXTENSION pg_stat_statements;");
        };
        if !is_new_enough(version) {
            let why = format!("version {version} is older than 1.8");
            return Check::lacks(what, why, "ALTER EXTENSION pg_stat_statements UPDATE;");
        }
        if !layout.sees_sessions {
            return Check::lacks(what, "only this user's own statements are visible", layout.grant());
        }
        match look_at_statements(&mut self.database, schema) {
            Ok(looked) => Check::works(what, format!("{version}, {} statements", looked.len())),
            Err(SourceError { message: why, .. }) => {
                let remedy =
                    "set shared_preload_libraries = 'pg_stat_statements' in postgresql.conf, and restart";
                Check::lacks(what, why, remedy)
            }
        }
    }

    /// Returns the remedy for a failure to connect.
    fn remedy(&self, kind: ErrorKind) -> String {
        let variable = password_variable(&self.name);
        match kind {
            ErrorKind::Unauthenticated => format!(
                "put the password into {variable}; to create the user: CREATE ROLE plimsoll LOGIN PASSWORD '…'; GRANT \
                 pg_monitor TO plimsoll;"
            ),
            ErrorKind::HostRefused => {
                "add a line to pg_hba.conf that admits this host: host all plimsoll ADDRESS/32 scram-sha-256"
                    .to_owned()
            }
            _ => format!("start the server, or correct the address {}", self.address),
        }
    }
}

impl Layout {
    /// Parses the rows of [`LAYOUT_SQL`].
    fn read(sets: &[Vec<tokio_postgres::SimpleQueryRow>]) -> Option<Layout> {
        let [of_server, of_settings, ..] = sets else { return None };
        let row = of_server.first()?;
        let known = |column: usize| Some(text(row, column).to_owned()).filter(|text| !text.is_empty());
        Some(Layout {
            version_number: text(row, 0).parse().ok()?,
            version: text(row, 1).to_owned(),
            connections_max: number(row, 2),
            user: text(row, 3).to_owned(),
            sees_sessions: text(row, 4) == "true",
            // An empty list is visible.
            libraries: row.try_get(5).ok().flatten().map(str::to_owned),
            extension: known(6).zip(known(7)),
            settings: of_settings.iter().map(|row| (text(row, 0).to_owned(), text(row, 1).into())).collect(),
        })
    }

    fn has_query_ids(&self) -> bool {
        self.version_number >= VERSION_OF_QUERY_IDS
    }

    fn check_sessions(&self) -> Check {
        let what = "pg_stat_activity";
        match self.sees_sessions {
            true => Check::works(what, "sessions of all users"),
            false => Check::lacks(what, "only this user's own sessions are visible", self.grant()),
        }
    }

    /// Returns the grant that makes everything visible to this user.
    fn grant(&self) -> String {
        format!("GRANT pg_monitor TO \"{}\";", self.user.replace('"', "\"\""))
    }
}

fn look_at_statements(database: &mut Database, schema: &str) -> Result<Looked, SourceError> {
    Ok(statements::looked(&database.rows(&statements::counts_sql(schema))?))
}

fn counts_sql(layout: &Layout) -> String {
    let checkpoints = if layout.version_number >= VERSION_OF_CHECKPOINTER {
        "SELECT num_timed + num_requested AS count, buffers_written AS blocks FROM pg_stat_checkpointer"
    } else {
        "SELECT checkpoints_timed + checkpoints_req AS count, buffers_checkpoint AS blocks FROM pg_stat_bgwriter"
    };
    format!(
        "SELECT {MARK} sum(xact_commit), sum(xact_rollback), sum(blks_hit), sum(blks_read), sum(temp_bytes), \
         sum(deadlocks), min(c.count), min(c.blocks) FROM pg_stat_database, ({checkpoints}) c"
    )
}

/// Returns the address without password and options.
fn shown(config: &Config) -> Option<String> {
    let host = match config.get_hosts().first()? {
        Host::Tcp(host) => host.clone(),
        Host::Unix(path) => path.display().to_string(),
    };
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let database = config.get_dbname().map(|name| format!("/{name}")).unwrap_or_default();
    Some(format!("postgres://{user}{host}:{port}{database}"))
}

fn is_new_enough(version: &str) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= EXTENSION_VERSION_MIN
}

#[cfg(test)]
mod tests {
    use lab::POSTGRES;
    use model::{Datum, Epoch, Signal, SystemClock};
    use tokio::runtime::Builder;
    use tokio_postgres::NoTls;

    use super::*;
    use crate::contract::promises;
    use crate::{encrypted, trial};

    const SECRET: &str = "quiet-secret";

    fn made(address: &str) -> Postgresql {
        let settings = trial::settings("postgresql", address, Some(SECRET));
        Postgresql::new(&settings).expect("settings that are right")
    }

    /// Runs these statements one by one on a separate connection.
    fn run(url: &str, statements: &[&str]) {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a connection");
            tokio::spawn(connection);
            for statement in statements {
                client.simple_query(statement).await.unwrap_or_else(|error| panic!("{statement}: {error:?}"));
            }
        });
    }

    fn missing(checks: &[Check], what: &str) -> Option<String> {
        let check = checks.iter().find(|check| check.what == what).expect("it is tried");
        check.outcome.as_ref().err().map(|missing| missing.remedy.clone())
    }

    fn peak(evidence: &Evidence, name: &str, label: &str) -> f64 {
        let is_it =
            |signal: &&Signal| signal.name == name && signal.labels.values().any(|value| value == label);
        let points = evidence.signals.iter().filter(is_it).flat_map(|signal| &signal.points);
        points.map(|(_, value)| *value).fold(0.0, f64::max)
    }

    #[test]
    fn addresses_are_shown_without_what_nobody_needs() {
        let settings = |address| trial::settings("postgresql", address, Some(SECRET));
        let shown = |address| Postgresql::new(&settings(address)).map(|source| source.about().address);
        let plain = "postgres://app@db:5433/shop";
        assert_eq!(shown("postgres://app@db:5433/shop?connect_timeout=9").as_deref(), Ok(plain));
        let why = |address| shown(address).expect_err("it is wrong").to_string();
        assert!(why("postgres://app:secret@db/shop").contains("in the environment"));
        assert!(why("postgres://app@db/shop?sslmode=sometimes").contains("expected a URL"));
        assert!(why("http://db").contains("expected a URL"));
        assert!(why("postgres:///shop").contains("the host is missing"));
    }

    #[test]
    fn promises_are_kept_over_tls() {
        let Some((server, authority)) = encrypted::server(POSTGRES) else { return };
        let url = server.url("postgres");
        let password = trial::password(&url);
        let address =
            format!("postgresql://lab@127.0.0.1:{}/postgres?sslmode=require", server.ports("postgres")[0]);
        let mut settings = trial::settings("postgresql", &address, Some(&password));
        let mut unknown = Postgresql::new(&settings).expect("settings that are right");
        let why = unknown.probe().remove(0).outcome.expect_err("an unknown authority").why;
        assert!(why.contains("certificate"), "{why}");
        settings.values.insert("ca".to_owned(), authority.display().to_string());
        let mut source = Postgresql::new(&settings).expect("settings that are right");
        promises::of_a_source(&mut source, Some(&password));
        source.connect().expect("it is there");
        let rows = source.database.rows("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
        assert_eq!(text(&rows.expect("an answer")[0], 0), "true");
        settings.values.insert("ca".to_owned(), "/nowhere/ca.pem".to_owned());
        assert!(Postgresql::new(&settings).is_err_and(|error| error.to_string().contains("certificates")));
    }

    #[test]
    fn versions_are_compared_by_their_parts() {
        let are_new = ["1.8", "1.10", "2", "1.7", "old"].map(is_new_enough);
        assert_eq!(are_new, [true, true, true, false, false]);
    }

    #[test]
    fn checkpoints_are_where_the_version_counts_them() {
        let sql = |version_number| counts_sql(&Layout { version_number, ..Layout::default() });
        assert!(sql(160_004).contains("pg_stat_bgwriter") && sql(170_000).contains("pg_stat_checkpointer"));
        assert!(
            sessions::blocked_sql(false).contains("NULL")
                && sessions::blocked_sql(true).contains("b.query_id")
        );
    }

    #[test]
    fn an_absent_server_is_told() {
        promises::of_an_absent_server(&mut made("postgres://plimsoll@127.0.0.1:1/app"));
    }

    #[test]
    fn a_server_that_never_answers_is_left_in_time() {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("an address").port();
        promises::of_an_absent_server(&mut made(&format!("postgres://plimsoll@127.0.0.1:{port}/app")));
    }

    #[test]
    fn a_real_server_tells_sessions_locks_and_statements() {
        let Some(server) = trial::server(POSTGRES) else { return };
        let admin = server.url("postgres");
        let port = server.ports("postgres")[0];
        let of_database = |name: &str| format!("postgres://plimsoll@127.0.0.1:{port}/{name}");
        let create_role = format!("CREATE ROLE plimsoll LOGIN PASSWORD '{SECRET}'");
        run(
            &admin,
            &[
                create_role.as_str(),
                "CREATE DATABASE bare",
                "CREATE EXTENSION pg_stat_statements",
                "CREATE TABLE apps (id int PRIMARY KEY, rating float8)",
                "INSERT INTO apps SELECT n, n % 5 FROM generate_series(1, 1000) n",
            ],
        );

        // The remedy for a user without grants must work.
        let mut source = made(&of_database("postgres"));
        let grant = "GRANT pg_monitor TO \"plimsoll\";";
        let checks = source.probe();
        assert_eq!(missing(&checks, "pg_stat_activity").as_deref(), Some(grant));
        assert_eq!(missing(&checks, "pg_stat_statements").as_deref(), Some(grant));
        let evidence = promises::of_a_source(&mut source, Some(SECRET));
        assert!(
            evidence.records.iter().any(|record| record.kind == RecordKind::Warning),
            "{:?}",
            evidence.records
        );
        assert!(evidence.signals.iter().any(|signal| signal.name == "connections_max"));
        assert!(
            !evidence.signals.iter().any(|signal| signal.name == "active_sessions"),
            "incomplete results are left out"
        );
        let create = "CREATE EXTENSION pg_stat_statements;";
        assert_eq!(
            missing(&made(&of_database("bare")).probe(), "pg_stat_statements").as_deref(),
            Some(create)
        );
        run(&admin, &[grant]);
        let mut source = made(&of_database("postgres"));
        assert_eq!(source.probe().into_iter().filter(|check| check.outcome.is_err()).count(), 0);

        let epoch = Epoch::anchor(&SystemClock);
        let now = || Moment::new(SystemClock::now(), &epoch);
        let from = now();
        let mut evidence = source.sample(from).expect("a first sample");
        let work = |statements: &'static [&'static str]| {
            let admin = admin.clone();
            std::thread::spawn(move || run(&admin, statements))
        };
        let workers = [
            work(&["SELECT count(*) FROM apps WHERE rating > 1"; 30]),
            work(&["SELECT pg_sleep(1.9)"]),
            work(&["BEGIN", "UPDATE apps SET rating = 1 WHERE id = 1", "SELECT pg_sleep(0.1)"]),
            work(&["CREATE ROLE other PASSWORD 'other-secret'"]),
        ];
        let holder =
            work(&["BEGIN", "UPDATE apps SET rating = 2 WHERE id = 2", "SELECT pg_sleep(1.5)", "COMMIT"]);
        std::thread::sleep(Duration::from_millis(200));
        let waiter = work(&["UPDATE apps SET rating = 3 WHERE id = 2"]);
        for _ in 0..30 {
            evidence.append(source.sample(now()).expect("it is there"));
            std::thread::sleep(PERIOD);
        }
        workers.into_iter().chain([holder, waiter]).for_each(|worker| worker.join().expect("its work"));
        let at_end = now();
        evidence.append(source.look_back(&Period { from, to: at_end }).expect("a look back"));

        assert!(peak(&evidence, "active_sessions", "PgSleep") > 1.0, "two sleep for a second");
        assert!(peak(&evidence, "active_sessions", "transactionid") > 0.5);
        assert!(peak(&evidence, "connections", "active") > 1.0);
        let points = |name: &str| {
            let signals = evidence.signals.iter().filter(|signal| signal.name == name);
            signals.flat_map(|signal| signal.points.clone()).collect::<Vec<_>>()
        };
        assert!(points("locks_waiting").iter().any(|(_, value)| *value > 0.5));
        assert!(peak(&evidence, "table_rows_scanned", "apps") > 1000.0, "each of thirty reads a thousand");
        assert!(points("connections_max").iter().all(|(_, value)| *value == 60.0));
        let commits = points("commits");
        let mut last = from.at;
        let committed: f64 = commits
            .iter()
            .map(|(at, rate)| rate * at.since(std::mem::replace(&mut last, *at)).as_secs_f64())
            .sum();
        assert!((30.0..55.0).contains(&committed), "without some thirty of our own: {commits:?}");

        let blocked =
            evidence.records.iter().find(|record| record.kind == RecordKind::Happening).expect("a lock");
        assert_eq!((blocked.subject.as_str(), &blocked.fields["blocker"]), ("UPDATE", &"SELECT".into()));
        let statements: Vec<_> =
            evidence.records.iter().filter(|record| record.kind == RecordKind::Statement).collect();
        let counted =
            statements.iter().find(|record| record.subject.starts_with("SELECT count(*) FROM apps"));
        let counted = counted.expect("what was asked thirty times");
        assert_eq!(counted.fields["calls"], 30.0.into());
        assert_eq!(counted.fields["database"], "postgres".into());
        assert!(statements[0].subject.contains("pg_sleep"), "it took most: {statements:?}");
        let own = |record: &&&model::Record| {
            record.subject.contains("pg_stat_") || record.subject.contains("pg_settings")
        };
        assert_eq!(statements.iter().find(own), None);
        let shares = statements.iter().filter_map(|record| match record.fields["share_of_db_time"] {
            Datum::Number(share) => Some(share),
            Datum::Text(_) => None,
        });
        assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(!format!("{evidence:?}").contains("secret"), "passwords are left out");

        drop(server);
        let trouble = source.sample(now()).expect_err("it is gone");
        assert!(!trouble.message.is_empty());
    }
}
