//! `k6/x/mqtt` against a real Mosquitto. The expected results are k6's, seen by running it, where they make sense.

use model::IterationEnd;

use super::{Left, cut, run_against, start_server};

fn run(url: &str, body: &str) -> Left {
    let source = format!(
        "import {{ Client, QoS }} from 'k6/x/mqtt';
         const text = (payload) => String.fromCharCode(...new Uint8Array(payload));
         export default function () {{
           const c = new Client({{ client_id: 'c1', tags: {{ app: 'x' }} }});
           c.on('end', () => console.log('end', c.connected));
           c.on('error', (error) => console.log('error', error.name, error.method, error.message, String(error)));
           {body}
         }}"
    );
    run_against(url, 1, &source)
}

/// Samples of the module, as text without their values.
fn samples(left: &Left) -> Vec<String> {
    let own = left.samples.iter().filter(|sample| sample.0.starts_with("mqtt_"));
    own.map(|(metric, tags, _, _)| format!("{metric} {tags}")).collect()
}

#[test]
fn messages_of_every_quality() {
    let Some(lab) = start_server(lab::MOSQUITTO) else { return };
    let left = run(
        &lab.url("mosquitto"),
        "c.on('connect', async () => {
           console.log('connect', c.connected);
           c.subscribe('t/#', { qos: 1 });
           await c.subscribeAsync(['u', 'v'], { qos: QoS.ExactlyOnce, tags: { s: '1' } });
           c.publish('t/1', 'hello', { qos: 1, tags: { p: '1' } });
           await c.publishAsync('u', new Uint8Array([1, 2, 255]).buffer, { qos: 2 });
           await c.unsubscribeAsync('v');
           c.publish('v', 'unread', { qos: 1 });
           c.publish('t/2', 'bye');
         });
         c.on('message', (topic, payload) => {
           console.log(topic, Object.prototype.toString.call(payload), text(payload).length);
           if (topic === 't/2') c.end();
         });
         c.connect(__ENV.BASE, { tags: { c: '1' } });
         console.log('returned', c.connected);",
    );
    assert_eq!(left.ends, [IterationEnd::Completed]);
    let expect = [
        "returned true",
        "connect true",
        "t/1 [object ArrayBuffer] 5",
        "u [object ArrayBuffer] 3",
        "t/2 [object ArrayBuffer] 3",
        "end false",
    ];
    assert_eq!(left.logs, expect);
    let samples = samples(&left);
    let count = |start: &str| samples.iter().filter(|sample| sample.starts_with(start)).count();
    assert_eq!((count("mqtt_calls "), count("mqtt_errors ")), (13, 0), "{samples:#?}");
    assert_eq!((count("mqtt_messages_sent "), count("mqtt_messages_received ")), (4, 3), "{samples:#?}");
    let publication = samples.iter().find(|sample| sample.contains("method=publish")).expect("a publication");
    for tag in
        ["app=x", "c=1", "client_id=c1", "p=1", "topic=t/1", "proto=MQTT/3.1.1", "url=mqtt://127.0.0.1:"]
    {
        assert!(publication.contains(tag), "{publication}: {tag}");
    }
    assert!(!publication.contains("lab:"), "{publication}");
}

#[test]
fn mistakes_and_refusals() {
    let Some(lab) = start_server(lab::MOSQUITTO) else { return };
    let left = run(
        &lab.url("mosquitto"),
        "const show = (run) => { try { run(); } catch (error) { console.log(String(error)); } };
         show(() => c.publish('a', 'b'));
         show(() => c.connect('ws://localhost/mqtt'));
         show(() => c.connect('foo://localhost'));
         show(() => c.on('message', 5));
         show(() => c.connect(undefined));
         show(() => c.connect(['mqtt://localhost']));
         c.connect('mqtt://localhost:1');
         c.connect(__ENV.BASE.replace('lab:', 'lab:x'));
         c.on('connect', async () => {
           show(() => c.publish('t/#', 'x'));
           show(() => c.publish('t', 5));
           show(() => c.publish('t', 'x', { qos: 3 }));
           show(() => c.subscribe('a/#/b'));
           await c.subscribeAsync('a/#/b').catch((error) => console.log(error.method, String(error)));
           c.end();
         });
         c.connect(__ENV.BASE);",
    );
    let expect = [
        "GoError: publish() needs a connection: the client is not connected",
        "GoError: invalid broker URL: ws:// (MQTT over WebSocket) is not supported; expected mqtt://HOST:PORT or mqtts://HOST:PORT",
        "GoError: invalid broker URL: unknown protocol foo://; expected mqtt://HOST:PORT or mqtts://HOST:PORT",
        "GoError: the handler of \"message\" must be a function",
        "GoError: invalid type: expected string or object with servers",
        "GoError: invalid type: expected string or object with servers",
        "error MQTTError connect network Error : dial tcp 127.0.0.1:1: connect: connection refused MQTT error during connect: network Error : dial tcp 127.0.0.1:1: connect: connection refused",
        "error MQTTError connect not Authorized MQTT error during connect: not Authorized",
        "GoError: invalid topic \"t/#\": expected a name without # and +",
        "GoError: invalid type: a payload is a string or an ArrayBuffer",
        "GoError: invalid qos 3: expected 0, 1 or 2",
        "GoError: invalid topic \"a/#/b\": # stands alone at the end, and + for a whole level",
        "subscribe MQTT error during subscribe: invalid topic \"a/#/b\": # stands alone at the end, and + for a whole level",
        "end false",
    ];
    assert_eq!(left.logs, expect);
    assert_eq!(left.ends, [IterationEnd::Completed]);
    assert_eq!(samples(&left).iter().filter(|sample| sample.starts_with("mqtt_errors ")).count(), 2);
}

#[test]
fn a_client_that_waits_ends_with_its_iteration() {
    let Some(lab) = start_server(lab::MOSQUITTO) else { return };
    let left = cut(|| run(&lab.url("mosquitto"), "c.connect(__ENV.BASE, { keepalive: 1 });"));
    assert_eq!(left.ends, [IterationEnd::Interrupted]);
    assert!(left.logs.is_empty(), "{:?}", left.logs);
}

#[test]
fn a_failure_without_a_handler_is_a_warning() {
    let left = run_against(
        "",
        1,
        "import { Client } from 'k6/x/mqtt';
         export default function () { new Client().connect('mqtt://localhost:1'); }",
    );
    let expect =
        "MQTT error during connect: network Error : dial tcp 127.0.0.1:1: connect: connection refused";
    assert_eq!(left.logs, [expect]);
    assert_eq!(left.ends, [IterationEnd::Completed]);
}
