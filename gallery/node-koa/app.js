// A library on Koa, Sequelize over MariaDB, memcached and fetch. `--require …/register.cjs` starts the tracing.
const { createRequire } = require('node:module');
const { promisify } = require('node:util');
// The packages are in the cache folder, outside of the repository.
const load = createRequire(`${process.env.CACHE}/package.json`);
const Koa = load('koa');
const { Router } = load('@koa/router');
const { Sequelize, DataTypes } = load('sequelize');
const Memcached = load('memcached');
const { Agent, fetch } = load('undici');

const number = (name) => Number(process.env[name]);
const sequelize = new Sequelize('gallery', 'gallery', 'gallery', {
  host: '127.0.0.1',
  port: number('PORT_MARIADB'),
  dialect: 'mysql',
  dialectModule: load('mysql2'),
  logging: false,
  pool: { max: number('POOL_MAX'), acquire: 60000 },
  define: { timestamps: false, underscored: true },
});
const Loan = sequelize.define('loan', { memberId: DataTypes.INTEGER, bookId: DataTypes.INTEGER, days: DataTypes.INTEGER });
const Shelf = sequelize.define('shelf', { title: DataTypes.STRING }, { tableName: 'shelves' });
const Book = sequelize.define('book', { title: DataTypes.STRING });
const Counter = sequelize.define('counter', { issued: DataTypes.INTEGER });
Shelf.hasMany(Book);

const memcached = new Memcached(`127.0.0.1:${process.env.PORT_MEMCACHED}`, { poolSize: 10 });
const cacheGet = promisify(memcached.get).bind(memcached);
const cacheSet = promisify(memcached.set).bind(memcached);
const dispatcher = new Agent({ connections: number('HTTP_CONNECTIONS') });

const router = new Router();

router.get('/members/:id/loans', async (ctx) => {
  ctx.body = await Loan.findAll({ where: { memberId: ctx.params.id }, order: [['days', 'DESC']], limit: 20 });
});

router.get('/members/:id/card', async (ctx) => {
  const key = `card:${ctx.params.id}`;
  const kept = await cacheGet(key);
  if (kept) {
    ctx.body = kept;
    return;
  }
  const loans = await Loan.count({ where: { memberId: ctx.params.id } });
  ctx.body = { id: ctx.params.id, loans };
  await cacheSet(key, ctx.body, 60);
});

router.get('/shelves', async (ctx) => {
  const where = { id: Array.from({ length: 25 }, (_, n) => n + 1) };
  if (process.env.LAZY !== '1') {
    ctx.body = await Shelf.findAll({ where, include: Book });
    return;
  }
  const shelves = [];
  for (const shelf of await Shelf.findAll({ where })) {
    shelves.push({ title: shelf.title, books: await shelf.getBooks() });
  }
  ctx.body = shelves;
});

// The statistics of a day, for which the database works 40 ms.
router.get('/statistics', async (ctx) => {
  [ctx.body] = await sequelize.query('SELECT count(*) AS shelves, sleep(0.04) AS slept FROM counters WHERE id = 1');
});

// A reservation asks the publisher while its transaction is open.
router.post('/members/:id/reservations', async (ctx) => {
  ctx.body = await sequelize.transaction(async (transaction) => {
    const loan = await Loan.findOne({ where: { memberId: ctx.params.id }, transaction });
    const answer = await fetch(process.env.UPSTREAM, { dispatcher });
    const { price } = await answer.json();
    await Loan.update({ days: price }, { where: { id: loan.id }, transaction });
    return { loan: loan.id };
  });
});

router.post('/counters/1', async (ctx) => {
  ctx.body = { changed: (await Counter.increment('issued', { where: { id: 1 } })).length };
});

router.get('/price', async (ctx) => {
  const answer = await fetch(process.env.UPSTREAM, { dispatcher });
  ctx.body = await answer.json();
});

// Similar titles: each pair of words is compared in JavaScript.
router.get('/similar/:id', (ctx) => {
  const words = Array.from({ length: number('WORDS') }, (_, n) => `word ${n * 7919} of ${ctx.params.id}`);
  let same = 0;
  for (const one of words) {
    for (const other of words) {
      same += one.localeCompare(other) === 0 ? 1 : 0;
    }
  }
  ctx.body = { same };
});

const app = new Koa();
app.use(router.routes());
app.listen(number('PORT_APP'), '127.0.0.1');
