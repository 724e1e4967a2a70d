//! `k6/x/faker` as scripts use it. The expected results are k6's, seen by running it with xk6-faker.

use super::{logged, run};

#[track_caller]
fn check(calls: &[(&str, &str)]) {
    let body: String = calls
        .iter()
        .map(|(call, _)| {
            format!("try {{ console.log(JSON.stringify({call})); }} catch (error) {{ console.log(String(error)); }}\n")
        })
        .collect();
    let source = format!(
        "import faker, {{ Faker }} from 'k6/x/faker'; import * as all from 'k6/x/faker';
         export default function () {{ const f = new Faker(11);\n{body} }}"
    );
    let logs = logged(&source);
    for (index, (call, expect)) in calls.iter().enumerate() {
        assert_eq!(logs.get(index).map(String::as_str), Some(*expect), "{call}");
    }
}

#[test]
fn values_of_a_seed() {
    check(&[
        ("f.person.firstName()", "\"Josiah\""),
        ("new Faker('11').call('firstName')", "\"Josiah\""),
        ("Faker(11).zen.firstName()", "\"Josiah\""),
        ("new Faker(1.5).person.firstName()", "\"Alden\""),
        ("new Faker(-1).person.firstName()", "\"Queenie\""),
        ("new Faker(0).person.firstName().length > 1", "true"),
        (
            "new Faker(11).address.address()",
            "{\"address\":\"53883 Villageborough, San Bernardino, Kentucky 56992\",\"street\":\"53883 Villageborough\",\
             \"city\":\"San Bernardino\",\"state\":\"Kentucky\",\"zip\":\"56992\",\"country\":\"United States of America\",\
             \"latitude\":11.29359,\"longitude\":-145.577493}",
        ),
        ("(() => { const { firstName } = new Faker(11).person; return firstName(); })()", "\"Josiah\""),
        ("new Faker(11).game.dice(3, [6, 20])", "[4,3,2]"),
        ("new Faker(11).internet.url().startsWith('http')", "true"),
    ]);
}

#[test]
fn shapes_and_mistakes() {
    check(&[
        ("Object.keys(f).length", "29"),
        (
            "[typeof faker, typeof faker.call, Object.keys(all).sort()]",
            "[\"object\",\"function\",[\"Faker\",\"default\"]]",
        ),
        ("f.person", "{}"),
        ("['firstName' in f.zen, f.nope, typeof f.person.nope]", "[true,null,\"undefined\"]"),
        ("f.call('nope')", "TypeError: unknown function: nope"),
        ("f.call('firstNam')", "TypeError: unknown function: firstNam; did you mean \"firstName\"?"),
        ("f.numbers.intRange(1)", "TypeError: missing parameter: max"),
        ("f.numbers.intRange('a', 2)", "GoError: min field could not parse to int value"),
        ("f.numbers.intRange(1.5, 2)", "GoError: min field could not parse to int value"),
        ("f.numbers.intRange(4, 4)", "4"),
        ("f.strings.randomString([])", "\"\""),
        ("f.strings.randomString('a', 'b')", "\"a\""),
        ("f.time.dateRange('x')", "GoError: parsing time \"x\" as \"2006-01-02\": cannot parse it"),
        ("Object.keys(f.person.teams(['a', 'b', 'c'], ['x', 'y']))", "[\"x\",\"y\"]"),
    ]);
}

#[test]
fn the_default_has_the_seed_of_its_variable() {
    let left = run(
        "import faker from 'k6/x/faker';
         export default function () { console.log(faker.person.firstName().length > 1, 'person' in faker); }",
    );
    assert_eq!(left.logs, ["true true"]);
}
