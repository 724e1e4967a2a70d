//! documented: k6 v2.3, --features async-metric-context
// An async function is a group until its promise is settled; what it awaits does not take it out of the group.
import { check, group } from 'k6';
import http from 'k6/http';

const url = (name) => `${__ENV.BASE}/status/200?${name}`;
const get = (name) => http.asyncRequest('GET', url(name), null, { tags: { name } });
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export default async function () {
  const value = await group('one', async () => {
    await get('one-first');
    check(await get('one-second'), { 'in one': (r) => r.status === 200 });
    await 5;
    http.get(url('x'), { tags: { name: 'one-after-a-number' } });
    setTimeout(() => http.get(url('x'), { tags: { name: 'one-timer' } }), 1);
    await pause(20);
    try {
      await Promise.reject(new Error('no'));
    } catch (error) {
      await get('one-after-a-rejection');
    }
    return 'given';
  });
  await get('between');
  const both = [
    group('left', async () => {
      await pause(10);
      await get('left');
      await group('deep', async () => {
        await get('left-deep');
      });
      await get('left-again');
    }),
    group('right', async () => {
      await get('right');
      await pause(30);
      await get('right-again');
    }),
  ];
  await get('beside');
  await Promise.all(both);
  await get('after');
  try {
    await group('failing', async () => {
      await get('failing');
      throw new Error('on purpose');
    });
  } catch (error) {
    console.log(value, error.message);
  }
  await get('last');
}
