//! `k6/x/amqp` against a real RabbitMQ. The expected results are k6's, seen by running it.

use super::{Left, run_against, start_server};

fn run(url: &str, body: &str) -> Left {
    let source = format!(
        "import Amqp from 'k6/x/amqp'; import Queue from 'k6/x/amqp/queue'; import Exchange from 'k6/x/amqp/exchange';
         const show = (run) => {{
           try {{ console.log(JSON.stringify(run())); }} catch (error) {{ console.log(String(error)); }}
         }};
         const heard = (queue_name, auto_ack) => {{
           const all = [];
           Amqp.listen({{ queue_name, auto_ack, listener: (text) => all.push(text) }});
           return all;
         }};
         export default function () {{ {body} }}"
    );
    run_against(url, 1, &source)
}

#[track_caller]
fn check(url: &str, calls: &[(&str, &str)]) {
    super::check_calls(calls, |body| run(url, body));
}

#[test]
fn queues_exchanges_and_messages() {
    let Some(lab) = start_server(lab::RABBITMQ) else { return };
    check(
        &lab.url("rabbitmq"),
        &[
            ("Amqp.publish({ queue_name: 'q', body: 'x' })", "GoError: connection not initialised"),
            (
                "Amqp.start({ connection_url: 'http://x' })",
                "GoError: AMQP scheme must be either 'amqp://' or 'amqps://'",
            ),
            ("Amqp.start({ connection_url: __ENV.BASE })", "1"),
            ("Queue.declare({ name: 'q' })", "{\"name\":\"q\",\"messages\":0,\"consumers\":0}"),
            ("Queue.declare({}).name.startsWith('amq.gen-')", "true"),
            (
                "Queue.declare({ name: 'q', durable: true })",
                "GoError: Exception (406) Reason: \"PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but current is 'false'\"",
            ),
            (
                "Queue.inspect('none')",
                "GoError: Exception (404) Reason: \"NOT_FOUND - no queue 'none' in vhost '/'\"",
            ),
            ("Exchange.declare({ name: 'x', kind: 'direct' })", "undefined"),
            ("Exchange.declare({ name: 'y', kind: 'fanout' })", "undefined"),
            ("Queue.bind({ queue_name: 'q', routing_key: 'rk', exchange_name: 'x' })", "undefined"),
            (
                "Exchange.bind({ destination_exchange_name: 'y', source_exchange_name: 'x', routing_key: 'k' })",
                "undefined",
            ),
            (
                "Exchange.unbind({ destination_exchange_name: 'y', source_exchange_name: 'x', routing_key: 'k' })",
                "undefined",
            ),
            (
                "Amqp.publish({ queue_name: 'q', body: 'hello', content_type: 'text/plain', persistent: true, timestamp: 1700000000, headers: { a: '1', n: 5, l: [true, null, 1.5], t: { b: 2 } } })",
                "undefined",
            ),
            ("Amqp.publish({ queue_name: 'rk', exchange: 'x', body: 'by the exchange' })", "undefined"),
            ("Amqp.publish({ queue_name: 'q', body: 'x'.repeat(300000) })", "undefined"),
            ("Queue.inspect('q').messages", "3"),
            ("heard('q', false).map((text) => text.length)", "[5,15,300000]"),
            ("heard('q', true).map((text) => text.slice(0, 5))", "[\"hello\",\"by th\",\"xxxxx\"]"),
            ("heard('q', true)", "[]"),
            (
                "Amqp.publish({ queue_name: 'q', exchange: 'none', body: 'z' })",
                "GoError: Exception (404) Reason: \"NOT_FOUND - no exchange 'none' in vhost '/'\"",
            ),
            (
                "Amqp.publish({ queue_name: 'q', body: JSON.stringify({ a: 'x' }), content_type: 'application/x-msgpack' })",
                "undefined",
            ),
            ("Queue.purge('q', false)", "1"),
            ("Queue.unbind({ queue_name: 'q', routing_key: 'rk', exchange_name: 'x' })", "undefined"),
            (
                "[Queue.delete('q'), Exchange.delete('x'), Exchange.delete('y'), Exchange.delete('none')]",
                "[null,null,null,null]",
            ),
            (
                "Queue.declare({ name: 'q', connection_id: 99 })",
                "GoError: connection with ID 99 not initialised",
            ),
            (
                "heard('none', true)",
                "GoError: Exception (404) Reason: \"NOT_FOUND - no queue 'none' in vhost '/'\"",
            ),
            (
                "Exchange.declare({ name: 'z', kind: 'nope' })",
                "GoError: Exception (503) Reason: \"COMMAND_INVALID - unknown exchange type 'nope'\"",
            ),
            ("Queue.inspect('q')", "GoError: Exception (504) Reason: \"channel/connection is not open\""),
            ("Amqp.start({ connection_url: __ENV.BASE })", "2"),
            (
                "Queue.declare({ name: 'q2', exclusive: true, args: { 'x-message-ttl': 1000 } }).name",
                "\"q2\"",
            ),
        ],
    );
}
