// Microtasks run before timers, in order; async functions are awaited.
export default async function () {
  const order = [];
  setTimeout(() => order.push('timer'), 0);
  Promise.resolve().then(() => order.push('microtask 1')).then(() => order.push('microtask 3'));
  (async () => {
    order.push('sync part');
    await null;
    order.push('microtask 2');
  })();
  order.push('end of sync');
  await new Promise((resolve) => setTimeout(resolve, 20));
  console.log(order.join(', '));
  const settled = await Promise.allSettled([Promise.resolve(1), Promise.reject(new Error('no'))]);
  console.log(settled.map((s) => s.status).join());
}
