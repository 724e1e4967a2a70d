// A visit to the demo's shop: browse, select a product, add it to the cart, and sometimes buy it.
//
//   plimsoll demo                                    starts the shop and runs this script
//   SHOP=http://127.0.0.1:8080 k6 run examples/shop.js   runs it against a shop of your own
//
// Product lists and checkouts share a small pool of slots (think of database connections). With the demo's 8 slots
// held for 20 ms each, the shop completes at most 400 of them a second, even with an idle CPU.

import http from 'k6/http';
import { check, group, sleep } from 'k6';
import { Counter, Rate, Trend } from 'k6/metrics';

const SHOP = __ENV.SHOP || 'http://127.0.0.1:8080';
const CATEGORIES = ['rope', 'sail', 'anchor', 'paint'];

const checkoutTime = new Trend('checkout_time', true);
const ordersPlaced = new Counter('orders_placed');
const turnedAway = new Rate('turned_away');

export const options = {
  stages: [
    { duration: '3s', target: 30 },
    { duration: '7s', target: 30 },
    // Four times the visitors offer about twice the capacity of the pool, so every list now waits for a slot.
    { duration: '5s', target: 120 },
    { duration: '10s', target: 120 },
    { duration: '3s', target: 0 },
  ],
  thresholds: {
    http_req_failed: ['rate<0.01'],
    http_req_duration: ['p(95)<300'],
    'http_req_duration{name:checkout}': ['p(95)<300'],
    // Passes with 30 visitors; crossed with 120, on purpose.
    checkout_time: ['p(95)<100'],
    checks: ['rate>0.99'],
    turned_away: ['rate<0.01'],
  },
};

export function setup() {
  const response = http.get(`${SHOP}/`, { tags: { name: 'home' } });
  if (response.status !== 200) {
    throw new Error(`the shop at ${SHOP} is closed: status ${response.status}, ${response.error}`);
  }
  return { categories: CATEGORIES };
}

export default function (data) {
  const category = data.categories[(__VU + __ITER) % data.categories.length];
  let product;

  group('look around', () => {
    const home = http.get(`${SHOP}/`, { tags: { name: 'home' } });
    check(home, { 'the shop is open': (response) => response.status === 200 });

    const list = http.get(`${SHOP}/products?category=${category}`, { tags: { name: 'products' } });
    turnedAway.add(list.status === 503);
    const listed = check(list, {
      'products are listed': (response) => response.status === 200,
      'all are of the category': (response) =>
        response.status === 200 && response.json('products').every((entry) => entry.category === category),
    });
    if (!listed) {
      return;
    }
    const products = list.json('products');
    product = products[__ITER % products.length];

    const page = http.get(`${SHOP}/product/${product.id}`, { tags: { name: 'product' } });
    check(page, { 'the product has a price': (response) => response.json('price_cents') > 0 });
  });

  sleep(0.1);

  // Every third visitor buys.
  if (product && __ITER % 3 === 0) {
    group('buy', () => {
      const added = http.post(
        `${SHOP}/cart`,
        { product: String(product.id), quantity: '2' },
        { tags: { name: 'cart' } },
      );
      check(added, { 'it is in the cart': (response) => response.status === 201 });

      const receipt = http.post(`${SHOP}/checkout`, null, { tags: { name: 'checkout' } });
      turnedAway.add(receipt.status === 503);
      checkoutTime.add(receipt.timings.duration);
      if (check(receipt, { 'the order is placed': (response) => response.status === 201 })) {
        ordersPlaced.add(1);
      }
    });
  }

  sleep(0.1);
}

export function teardown() {
  const metrics = http.get(`${SHOP}/metrics`, { tags: { name: 'metrics' } });
  const completed = /^shop_pool_completed_total (\S+)$/m.exec(metrics.body);
  if (completed) {
    console.log(`the shop's pool completed ${completed[1]} queries since it opened`);
  }
}
