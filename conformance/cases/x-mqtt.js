//! service: mosquitto
// k6/x/mqtt: subscriptions and messages of every quality, as events and promises.
import { Client } from 'k6/x/mqtt';

const text = (payload) => String.fromCharCode(...new Uint8Array(payload));

export default function () {
  const client = new Client({ client_id: 'c1', tags: { app: 'x' } });
  client.on('end', () => console.log('end', client.connected));
  client.on('error', (error) => console.log('error', error.method));
  client.on('connect', async () => {
    console.log('connect', client.connected);
    await client.subscribeAsync('t/#', { qos: 1 });
    await client.subscribeAsync('u', { qos: 2, tags: { s: '1' } });
    client.publish('t/1', 'hello', { qos: 1, tags: { p: '1' } });
    await client.publishAsync('t/2', 'AB', { qos: 2 });
    await client.unsubscribeAsync('u');
    client.publish('u', 'unread');
    client.publish('t/3', 'bye');
  });
  client.on('message', (topic, payload) => {
    console.log(topic, Object.prototype.toString.call(payload), text(payload));
    if (topic === 't/3') client.end();
  });
  client.connect(__ENV.SERVICE, { tags: { c: '1' } });
  console.log('returned', client.connected);
}
