// A shop on fastify, mysql2 and undici. `--require @opentelemetry/auto-instrumentations-node/register` starts the tracing.
const { createRequire } = require('node:module');
const { pbkdf2, pbkdf2Sync } = require('node:crypto');
const { promisify } = require('node:util');
// The packages are in the cache folder, outside of the repository.
const load = createRequire(`${process.env.CACHE}/package.json`);
const fastify = load('fastify');
const mysql = load('mysql2/promise');
const { Pool } = load('undici');

const app = fastify();
const pool = mysql.createPool({
  host: '127.0.0.1',
  port: Number(process.env.PORT_MARIADB),
  user: 'gallery',
  password: 'gallery',
  database: 'gallery',
  connectionLimit: Number(process.env.POOL_MAX),
});
const upstream = new Pool(process.env.UPSTREAM, { connections: Number(process.env.HTTP_CONNECTIONS) });
const rows = async (sql, values) => (await pool.query(sql, values))[0];

app.get('/customers/:id/orders', (req) => rows('SELECT total FROM orders WHERE customer_id = ? LIMIT 20', [Number(req.params.id)]));

app.get('/labels', async () => {
  const customers = await rows('SELECT id, name FROM customers WHERE id <= 30');
  if (process.env.LAZY !== '1') {
    return rows('SELECT customer_id, city FROM addresses WHERE customer_id IN (?)', [customers.map((one) => one.id)]);
  }
  const cities = [];
  for (const one of customers) {
    cities.push(await rows('SELECT city FROM addresses WHERE customer_id = ?', [one.id]));
  }
  return cities;
});

app.get('/report', () => rows('SELECT count(*), sleep(0.04) FROM stock WHERE id = 1'));

app.post('/stock/1', () => rows('UPDATE stock SET quantity = quantity - 1 WHERE id = 1'));

app.get('/login', async () => {
  const derive = process.env.SYNC === '1' ? pbkdf2Sync : promisify(pbkdf2);
  const key = await derive('password', 'salt', Number(process.env.ITERATIONS), 32, 'sha512');
  return { key: key.toString('hex') };
});

app.get('/quote', async () => {
  const { body } = await upstream.request({ path: '/', method: 'GET' });
  return body.json();
});

app.listen({ port: Number(process.env.PORT_APP), host: '127.0.0.1' });
