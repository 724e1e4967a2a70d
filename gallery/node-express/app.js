// A shop on express, pg, ioredis and undici. `--require @opentelemetry/auto-instrumentations-node/register` starts the tracing.
const { createRequire } = require('node:module');
// The packages are in the cache folder, outside of the repository.
const load = createRequire(`${process.env.CACHE}/package.json`);
const express = load('express');
const { Pool } = load('pg');
const Redis = load('ioredis');
const { request } = load('undici');

const app = express();
const pool = new Pool({ connectionString: process.env.DATABASE, max: Number(process.env.POOL_MAX) });
const redis = new Redis(Number(process.env.PORT_REDIS), '127.0.0.1');
const items = Array.from({ length: Number(process.env.ITEMS) }, (_, id) => ({ id, name: `item ${id}`, tags: ['a', 'b', 'c'] }));

app.get('/customers/:id/orders', async (req, res) => {
  const found = await pool.query('SELECT total FROM orders WHERE customer_id = $1 LIMIT 20', [Number(req.params.id)]);
  res.json(found.rows);
});

app.get('/report', async (req, res) => {
  const found = await pool.query('SELECT count(*) FROM stock, pg_sleep(0.04)');
  res.json(found.rows);
});

app.post('/stock/1', async (req, res) => {
  await pool.query('UPDATE stock SET quantity = quantity - 1 WHERE id = 1');
  res.json({ sold: 1 });
});

app.get('/catalogue', (req, res) => {
  // A copy by way of JSON, as is usual where an object must not change.
  const copy = JSON.parse(JSON.stringify(items));
  res.json({ count: copy.length });
});

app.get('/sessions/:id', async (req, res) => {
  await redis.set(`session:${req.params.id}`, 'open', 'EX', 60);
  if (process.env.LOOKUP === 'keys') {
    res.json({ open: (await redis.keys(`session:${req.params.id}`)).length });
  } else {
    res.json({ open: await redis.exists(`session:${req.params.id}`) });
  }
});

app.get('/quote', async (req, res) => {
  const { body } = await request(process.env.UPSTREAM);
  res.json(await body.json());
});

app.listen(Number(process.env.PORT_APP), '127.0.0.1');
