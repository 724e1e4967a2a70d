//! service: rabbitmq
// k6/x/amqp: queues, exchanges, messages and refusals of the broker.
import Amqp from 'k6/x/amqp';
import Exchange from 'k6/x/amqp/exchange';
import Queue from 'k6/x/amqp/queue';

const show = (run) => {
  try { console.log(JSON.stringify(run())); } catch (error) { console.log(String(error).split('\n')[0]); }
};

export default function () {
  show(() => Amqp.publish({ queue_name: 'q', body: 'x' }));
  show(() => Amqp.start({ connection_url: 'http://x' }));
  show(() => Amqp.start({ connection_url: __ENV.SERVICE }) > 0);
  show(() => { const queue = Queue.declare({ name: 'q' }); return [queue.name, queue.messages, queue.consumers]; });
  show(() => Queue.declare({ name: 'q', durable: true }));
  show(() => Queue.inspect('none'));
  show(() => Exchange.declare({ name: 'x', kind: 'direct' }));
  show(() => Exchange.declare({ name: 'y', kind: 'fanout' }));
  show(() => Queue.bind({ queue_name: 'q', routing_key: 'rk', exchange_name: 'x' }));
  show(() => Exchange.bind({ destination_exchange_name: 'y', source_exchange_name: 'x', routing_key: 'k' }));
  show(() => Exchange.unbind({ destination_exchange_name: 'y', source_exchange_name: 'x', routing_key: 'k' }));
  show(() => Amqp.publish({ queue_name: 'q', body: 'hello', content_type: 'text/plain', persistent: true, timestamp: 1700000000 }));
  show(() => Amqp.publish({ queue_name: 'rk', exchange: 'x', body: 'by the exchange' }));
  show(() => Queue.purge('q', false));
  show(() => Queue.unbind({ queue_name: 'q', routing_key: 'rk', exchange_name: 'x' }));
  show(() => [Queue.delete('q'), Exchange.delete('x'), Exchange.delete('y'), Exchange.delete('none')]);
  show(() => Queue.declare({ name: 'q', connection_id: 99 }));
}
