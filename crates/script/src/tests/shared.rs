//! `plimsoll/shared`: counters, queues and maps of all VUs.

use super::{check_log_with, run};

fn check(body: &str, expect: &str) {
    check_log_with("import { counter, queue, map } from 'plimsoll/shared';", body, expect);
}

#[test]
fn counters_add_up() {
    check(
        "const hits = counter('hits');
         console.log(hits.add(), hits.add(2), counter('hits').get(), hits.set(7), hits.compareAndSet(6, 1), hits.compareAndSet(7, 1), hits.get());",
        "1 3 3 3 false true 1",
    );
}

#[test]
fn queues_are_bounded_and_hold_json() {
    check(
        "const orders = queue('orders', { max: 2 });
         const pushed = [orders.push({ id: 1 }), orders.push([2]), orders.push(3)];
         const began = Date.now();
         console.log(JSON.stringify([pushed, orders.size, orders.pop(), orders.pop(), orders.pop() ?? null, orders.pop(0.05) ?? null]),
           Date.now() - began >= 50, orders.pop({ timeout: '1ms' }) === undefined);",
        "[[true,true,false],2,{\"id\":1},[2],null,null] true true",
    );
}

#[test]
fn maps_set_and_take_in_one_step() {
    check(
        "const m = map('sessions', { max: 2 });
         const got = [m.set('a', 1), m.set('a', 2), m.setIfAbsent('a', 3), m.get('a'), m.has('b'), m.setIfAbsent('b', 4)];
         let problem; try { m.set('c', 1) } catch (error) { problem = error.message }
         console.log(JSON.stringify(got.map((v) => v ?? null)), m.keys().join(), m.take('b'), m.delete('b'), m.size, problem);",
        "[null,1,2,2,false,null] a,b 4 false 1 the map \"sessions\" is full: it has 2 entries; remove some, or set max",
    );
}

#[test]
fn mistakes_are_named() {
    check(
        "const said = []; const say = (call) => { try { call() } catch (error) { said.push(error.message) } };
         say(() => counter()); say(() => queue('q').push(undefined)); say(() => queue('q').pop('5'));
         say(() => map('m', { max: 0 })); say(() => counter('c').add('x'));
         console.log(said.join(' / '));",
        "counter() takes a name: counter(\"orders\") / undefined cannot be shared: use what JSON can hold / \
         invalid timeout: use seconds, or a text with a unit such as \"500ms\" / \
         invalid max 0: use a number from 1 to 10000000 / add() takes a number, and NaN is none",
    );
    let left = run(
        "import { counter } from 'plimsoll/shared'; let text; try { counter('a').add() } catch (error) { text = error.message }
         export default function () { console.log(text) }",
    );
    assert_eq!(
        left.logs,
        ["shared values can be used in setup(), iterations and teardown(), not in the init context"]
    );
}
