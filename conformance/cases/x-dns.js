//! ignore: samples
// k6/x/dns: lookups of the system, refusals, and a server that is not there.
import dns from 'k6/x/dns';

const show = async (run) => {
  try { console.log(JSON.stringify(await run())); } catch (error) { console.log('refused', error.kind); }
};

export default async function () {
  await show(() => dns.lookup('127.0.0.1'));
  await show(async () => (await dns.lookup('localhost')).includes('127.0.0.1'));
  await show(() => dns.resolve('a.test', 'MX', '127.0.0.1:53'));
  await show(() => dns.resolve('a.test', 'A', 'localhost:53'));
  await show(() => dns.resolve('a.test', 'A', '127.0.0.1:1'));
}
