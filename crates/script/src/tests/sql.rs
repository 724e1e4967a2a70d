//! `k6/x/sql` against a real PostgreSQL, and SQLite.

use model::IterationEnd;

use super::{Left, cut, logged, run_against};

const SHOW: &str = "
const show = (run) => {
  try { console.log(JSON.stringify(run())); } catch (error) { console.log(String(error)); }
};";

fn run(url: &str, body: &str) -> Left {
    let source = format!(
        "import sql from 'k6/x/sql'; import postgres from 'k6/x/sql/driver/postgres'; {SHOW}
         const db = sql.open(postgres, __ENV.BASE + '?sslmode=disable');
         export default function () {{ {body} }}"
    );
    run_against(url, 1, &source)
}

#[track_caller]
fn check(url: &str, calls: &[(&str, &str)]) {
    super::check_calls(calls, |body| run(url, body));
}

#[test]
fn postgres() {
    let Some(lab) = super::start_server(lab::POSTGRES) else { return };
    let url = lab.url("postgres");
    check(
        &url,
        &[
            (
                "db.exec('CREATE TABLE roster (id SERIAL PRIMARY KEY, name VARCHAR(50) NOT NULL); CREATE TYPE mood AS ENUM (\\'ok\\')').rowsAffected()",
                "0",
            ),
            ("db.exec(\"INSERT INTO roster (name) VALUES ('Peter'), ('Wendy')\").rowsAffected()", "2"),
            ("db.exec('INSERT INTO roster (name) VALUES ($1)', 'James').rowsAffected()", "1"),
            ("db.query('SELECT * FROM roster WHERE name = $1;', 'Peter')", "[{\"id\":1,\"name\":\"Peter\"}]"),
            (
                "sql.query(db, 'SELECT name FROM roster WHERE id > $1 ORDER BY id', 1)",
                "[{\"name\":\"Wendy\"},{\"name\":\"James\"}]",
            ),
            ("db.query('SELECT 1 WHERE false')", "[]"),
            (
                "db.query(\"SELECT true b, 2::int2 s, 3::int8 l, 1.5::float8 f, 12.340::numeric n, NULL x, 'é'::text t, 'ok'::mood m\")",
                "[{\"b\":true,\"s\":2,\"l\":3,\"f\":1.5,\"n\":\"12.340\",\"x\":null,\"t\":\"é\",\"m\":\"ok\"}]",
            ),
            (
                "db.query(\"SELECT '{\\\"a\\\": 1}'::jsonb j, ARRAY[1,2] a, '2024-02-03'::date d, '2024-02-03 04:05:06.5+00'::timestamptz z, '01:02:03'::time c\")",
                "[{\"j\":\"{\\\"a\\\": 1}\",\"a\":[1,2],\"d\":\"2024-02-03T00:00:00.000Z\",\"z\":\"2024-02-03T04:05:06.500Z\",\"c\":\"01:02:03\"}]",
            ),
            (
                "db.query('SELECT $1::uuid u, $2::bytea y, $3::bool b, $4::timestamptz t, $5::text n', '6f1ed002-ab5d-4e0c-8d3b-2f4f7ab7b0b1', new Uint8Array([1, 255]), true, new Date(0), null)",
                "[{\"u\":\"6f1ed002-ab5d-4e0c-8d3b-2f4f7ab7b0b1\",\"y\":{\"0\":1,\"1\":255},\"b\":true,\"t\":\"1970-01-01T00:00:00.000Z\",\"n\":null}]",
            ),
            ("db.query('SELECT * FROM none')", "GoError: pq: relation \"none\" does not exist"),
            (
                "db.query(\"SELECT '(1,2)'::point p\")",
                "GoError: pq: error deserializing column 0: values of type point are not supported; select them as text (column::text)",
            ),
            (
                "db.query(\"SELECT repeat('x', 1000000) FROM generate_series(1, 100)\")",
                "GoError: the result exceeds 64 MiB; select fewer rows, with LIMIT",
            ),
            (
                "db.exec('UPDATE roster SET name = name').lastInsertId()",
                "GoError: LastInsertId is not supported by this driver; use RETURNING in query()",
            ),
            (
                "sql.open('postgres', __ENV.BASE).query('SELECT 1')",
                "GoError: pq: SSL is not enabled on the server; set sslmode=disable to connect without",
            ),
            (
                "sql.open('postgres', 'postgres://u@localhost:1/d').query('SELECT 1')",
                "GoError: dial tcp 127.0.0.1:1: connect: connection refused",
            ),
            (
                "db.query('SELECT pg_terminate_backend(pg_backend_pid())').length > 5",
                "GoError: pq: terminating connection due to administrator command",
            ),
            ("db.query('SELECT 1 one')", "[{\"one\":1}]"),
            ("[db.close()].length", "1"),
            ("db.query('SELECT 1')", "GoError: sql: database is closed"),
        ],
    );
}

#[test]
fn a_statement_ends_with_its_iteration() {
    let Some(lab) = super::start_server(lab::POSTGRES) else { return };
    let left = cut(|| run(&lab.url("postgres"), "db.query('SELECT pg_sleep(60)');"));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    let endless = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t";
    let source = format!(
        "import sql from 'k6/x/sql'; const db = sql.open('sqlite3', ':memory:');
         export default function () {{ db.query('{endless}'); }}"
    );
    assert_eq!(cut(|| run_against("", 1, &source)).ends, [IterationEnd::Interrupted]);
}

#[test]
fn sqlite() {
    let logs = logged(&format!(
        "import sql from 'k6/x/sql'; import driver from 'k6/x/sql/driver/sqlite3'; {SHOW}
         const early = sql.open(driver, ':memory:');
         show(() => early.query('SELECT 1 one'));
         export default function () {{
           const db = sql.open(driver, ':memory:?_fk=1');
           show(() => db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, up BOOLEAN, raw BLOB); CREATE TABLE u (id)').rowsAffected());
           const done = db.exec('INSERT INTO t (name, up, raw) VALUES (?, ?, ?), ($4, 0, NULL)', 'a', true, new Uint8Array([7]), 'b');
           show(() => [done.rowsAffected(), done.lastInsertId()]);
           show(() => db.query('SELECT * FROM t WHERE id = ?', 1));
           show(() => db.query('SELECT id, up FROM t WHERE name = $1', 'b'));
           show(() => db.query('PRAGMA foreign_keys'));
           show(() => db.query('SELECT missing'));
           show(() => db.query('SELECT ?'));
           show(() => sql.open(driver, 'a.db?_auth=1'));
           show(() => sql.open('mssql', ''));
           show(() => sql.open({{}}, ''));
         }}"
    ));
    let expect = [
        "[{\"one\":1}]",
        "0",
        "[2,2]",
        "[{\"id\":1,\"name\":\"a\",\"up\":true,\"raw\":{\"0\":7}}]",
        "[{\"id\":2,\"up\":false}]",
        "[{\"foreign_keys\":1}]",
        "GoError: no such column: missing",
    ];
    // The init context runs once before the VUs, and once in each.
    assert_eq!(logs[logs.len() - 11..logs.len() - 4], expect);
    assert!(logs[logs.len() - 4].contains("parameter"), "{logs:?}");
    assert!(logs[logs.len() - 3].contains("_auth is not supported"), "{logs:?}");
    assert_eq!(logs[logs.len() - 2], "GoError: unknown driver \"mssql\"; use mysql, postgres or sqlite3");
    assert!(logs[logs.len() - 1].contains("is no driver"), "{logs:?}");
}
