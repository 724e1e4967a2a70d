//! `k6/x/sql/driver/mysql` against a real MariaDB. The expected results are k6's, seen by running it.

use model::IterationEnd;

use super::{Left, cut, run_against};

const SHOW: &str = "
const show = (run) => {
  try { console.log(JSON.stringify(run())); } catch (error) { console.log(String(error)); }
};
const text = (bytes) => String.fromCharCode(...bytes);";

fn run(url: &str, body: &str) -> Left {
    let source = format!(
        "import sql from 'k6/x/sql'; import mysql, {{ loadTLS, addTLS, TLS_1_2 }} from 'k6/x/sql/driver/mysql'; {SHOW}
         const db = sql.open(mysql, __ENV.BASE);
         export default function () {{ {body} }}"
    );
    run_against(url, 1, &source)
}

#[track_caller]
fn check(url: &str, calls: &[(&str, &str)]) {
    super::check_calls(calls, |body| run(url, body));
}

const CREATE: &str = "db.exec(`CREATE TABLE t (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, ti TINYINT, bi BIGINT, ub BIGINT UNSIGNED, \
     f FLOAT, d DOUBLE, de DECIMAL(10,3), v VARCHAR(50), bl BLOB, da DATE, dt DATETIME(3), ti2 TIME, y YEAR, b BIT(9), \
     e ENUM('a','b'), bo BOOLEAN)`).rowsAffected()";

const INSERT: &str = "db.exec(`INSERT INTO t VALUES (1, -5, 9007199254740993, 18446744073709551615, 1.5, 0.1, 12.340, 'é', \
     x'00ff', '2024-02-03', '2024-02-03 04:05:06.789', '-01:02:03', 2024, b'100000001', 'b', true)`).rowsAffected()";

#[test]
fn values() {
    let Some(lab) = super::start_server(lab::MARIADB) else { return };
    let row = |unsigned: &str| {
        format!(
            "[{{\"id\":1,\"ti\":-5,\"bi\":9007199254740992,\"ub\":{unsigned},\"f\":1.5,\"d\":0.1,\
             \"de\":[49,50,46,51,52,48],\"v\":[195,169],\"bl\":[0,255],\"da\":[50,48,50,52,45,48,50,45,48,51],\
             \"dt\":[50,48,50,52,45,48,50,45,48,51,32,48,52,58,48,53,58,48,54,46,55,56,57],\
             \"ti2\":[45,48,49,58,48,50,58,48,51],\"y\":2024,\"b\":[1,1],\"e\":[98],\"bo\":1}}]"
        )
    };
    check(
        &lab.url("mariadb"),
        &[
            (CREATE, "0"),
            (INSERT, "1"),
            ("db.query('SELECT * FROM t')", &row("18446744073709552000")),
            (
                "db.query('SELECT * FROM t WHERE id = ?', 1)",
                &row("[49,56,52,52,54,55,52,52,48,55,51,55,48,57,53,53,49,54,49,53]"),
            ),
            ("db.query('SELECT v, de FROM t WHERE id = ?', 2)", "[]"),
            (
                "((r) => [r.rowsAffected(), r.lastInsertId()])(db.exec('INSERT INTO t (v) VALUES (?), (?)', 'q', null))",
                "[2,2]",
            ),
            ("db.query('SELECT v, da, bo FROM t WHERE id = 3')", "[{\"v\":null,\"da\":null,\"bo\":null}]"),
            ("db.query('SELECT v, da, bo FROM t WHERE id = ?', 3)", "[{\"v\":null,\"da\":null,\"bo\":null}]"),
            ("text(db.query('SELECT v FROM t WHERE v = ?', 'q')[0].v)", "\"q\""),
            (
                "db.query('SELECT ? a, ? b, ? c, ? d, ? e, ? f', 1, 'x', true, null, 1.5, new Uint8Array([65, 0]))",
                "[{\"a\":1,\"b\":[120],\"c\":1,\"d\":null,\"e\":1.5,\"f\":[65,0]}]",
            ),
            ("text(db.query('SELECT ? a', new Date(0))[0].a)", "\"1970-01-01\""),
            ("text(db.query('SELECT ? a', new Date(1500))[0].a)", "\"1970-01-01 00:00:01.500\""),
            ("text(db.query(\"SELECT repeat('x', 200000) a\")[0].a.slice(0, 3))", "\"xxx\""),
            (
                "sql.open(mysql, `${__ENV.BASE}?parseTime=true`).query('SELECT da, dt FROM t WHERE id = ?', 1)",
                "[{\"da\":\"2024-02-03T00:00:00.000Z\",\"dt\":\"2024-02-03T04:05:06.789Z\"}]",
            ),
        ],
    );
}

#[test]
fn failures_have_their_cause() {
    let Some(lab) = super::start_server(lab::MARIADB) else { return };
    let url = lab.url("mariadb");
    check(
        &url,
        &[
            ("db.query('SELECT ? a', 1, 2)", "GoError: sql: expected 1 arguments, got 2"),
            ("db.query('SELECT * FROM none')", "GoError: Error 1146 (42S02): Table 'lab.none' doesn't exist"),
            (
                "db.exec('SELECT 1; SELECT 2')",
                "GoError: Error 1064 (42000): You have an error in your SQL syntax; check the manual that corresponds to your \
                 MariaDB server version for the right syntax to use near 'SELECT 2' at line 1",
            ),
            (
                "sql.open(mysql, `${__ENV.BASE}?multiStatements=true`).exec('SELECT 1; SELECT 2').rowsAffected()",
                "0",
            ),
            ("db.queryWithTimeout('50ms', 'SELECT SLEEP(1)')", "GoError: context deadline exceeded"),
            ("db.queryWithTimeout('1s', 'SELECT SLEEP(0.01) s')", "[{\"s\":0}]"),
            (
                "db.queryWithTimeout('x', 'SELECT 1')",
                "GoError: time: invalid duration \"x\"; write a number and its unit, such as 500ms or 2s",
            ),
            (
                "sql.open(mysql, __ENV.BASE.replace('lab:', 'lab:x')).query('SELECT 1')",
                "GoError: Error 1045 (28000): Access denied for user 'lab'@'127.0.0.1' (using password: YES)",
            ),
            (
                "sql.open(mysql, 'u@tcp(localhost:1)/d').query('SELECT 1')",
                "GoError: dial tcp 127.0.0.1:1: connect: connection refused",
            ),
            (
                "sql.open(mysql, 'nonsense')",
                "GoError: invalid data source name: missing the slash separating the database name; write \
                 USER:PASSWORD@tcp(HOST:PORT)/DATABASE",
            ),
            (
                "sql.open(mysql, `${__ENV.BASE}?tls=skip-verify`).query('SELECT 1')",
                "GoError: TLS requested but server does not support TLS; remove tls from the data source name",
            ),
            ("sql.open(mysql, `${__ENV.BASE}?tls=preferred`).query('SELECT 1 a')", "[{\"a\":1}]"),
            (
                "sql.open(mysql, `${__ENV.BASE}?sql_mode=%27ANSI%27`).query('SELECT @@sql_mode LIKE \\'%ANSI%\\' a')",
                "[{\"a\":1}]",
            ),
            (
                "[loadTLS({ enableTLS: true, insecureSkipTLSverify: true, minVersion: TLS_1_2 }), addTLS('u@/d'), addTLS('u@/d?a=1')]",
                "[null,\"u@/d?tls=custom\",\"u@/d?a=1&tls=custom\"]",
            ),
            ("db.query('SELECT 1 one')", "[{\"one\":1}]"),
            ("(db.close(), db.query('SELECT 1'))", "GoError: sql: database is closed"),
        ],
    );
}

#[test]
fn a_statement_ends_with_its_iteration() {
    let Some(lab) = super::start_server(lab::MARIADB) else { return };
    let left = cut(|| run(&lab.url("mariadb"), "db.query('SELECT SLEEP(20)');"));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
}
