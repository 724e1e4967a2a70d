//! service: mariadb
// k6/x/sql with its driver for MySQL: values of every kind, parameters, results and errors.
import sql from 'k6/x/sql';
import mysql from 'k6/x/sql/driver/mysql';

const db = sql.open(mysql, __ENV.SERVICE);
const show = (run) => {
  try { console.log(JSON.stringify(run())); } catch (error) { console.log(String(error).split('\n')[0].replace(/@'[^']*'/, '@HOST')); }
};
// Names in a fixed order.
const sorted = (rows) => rows.map((row) => Object.keys(row).sort().map((name) => [name, row[name]]));

const CREATE = `CREATE TABLE t (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, ti TINYINT, bi BIGINT, f FLOAT, d DOUBLE,
  de DECIMAL(10,3), v VARCHAR(50), bl BLOB, da DATE, dt DATETIME(3), ti2 TIME, y YEAR, b BIT(9), e ENUM('a','b'), bo BOOLEAN)`;
const INSERT = `INSERT INTO t VALUES (1, -5, 9007199254740993, 1.5, 0.1, 12.340, 'é', x'00ff', '2024-02-03',
  '2024-02-03 04:05:06.789', '-01:02:03', 2024, b'100000001', 'b', true)`;

export default function () {
  show(() => db.exec(CREATE).rowsAffected());
  show(() => db.exec(INSERT).rowsAffected());
  show(() => sorted(db.query('SELECT * FROM t')));
  show(() => sorted(db.query('SELECT * FROM t WHERE id = ?', 1)));
  show(() => db.query('SELECT v FROM t WHERE id = ?', 2));
  show(() => { const done = db.exec('INSERT INTO t (v) VALUES (?), (?)', 'q', null); return [done.rowsAffected(), done.lastInsertId()]; });
  show(() => sorted(db.query('SELECT v, da, bo FROM t WHERE id = 3')));
  show(() => sorted(db.query('SELECT ? a, ? b, ? c, ? d, ? e, ? f', 1, 'x', true, null, 1.5, new Uint8Array([65, 0]))));
  show(() => db.exec("UPDATE t SET v = 'r' WHERE id > ?", 1).rowsAffected());
  show(() => db.exec('DELETE FROM t').rowsAffected());
  show(() => db.query('SELECT ? a', 1, 2));
  show(() => db.query('SELECT * FROM none'));
  show(() => db.queryWithTimeout('50ms', 'SELECT SLEEP(1)'));
  show(() => db.queryWithTimeout('5s', 'SELECT SLEEP(0.01) s'));
  show(() => sql.open(mysql, `${__ENV.SERVICE}?multiStatements=true`).exec('SELECT 1; SELECT 2').rowsAffected());
  show(() => JSON.stringify(sql.open(mysql, `${__ENV.SERVICE}?parseTime=true`).query("SELECT CAST('2024-02-03' AS DATE) da")).slice(0, 27));
  show(() => sql.open(mysql, __ENV.SERVICE.replace('lab:', 'lab:x')).query('SELECT 1'));
  show(() => sql.open(mysql, 'u@tcp(localhost:1)/d').query('SELECT 1'));
  show(() => db.close());
  show(() => db.query('SELECT 1'));
}
