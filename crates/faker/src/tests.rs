//! Values of a seed as the extension of k6 gives them, and what every function keeps to.

use serde_json::Value as Json;

use super::*;

/// The day of the recording, 2026-11-26: years depend on it.
const NOW_UNIX_S: i64 = 1_795_000_000;

/// First three values of a new source with seed 11, as k6 with xk6-faker printed them: name, arguments, values.
const RECORDED: &str = include_str!("../data/seed-11.tsv");

fn json(value: &Value) -> Json {
    match value {
        Value::Text(text) => Json::from(text.as_str()),
        Value::Number(number) => Json::from(*number),
        Value::Flag(flag) => Json::from(*flag),
        Value::List(values) => values.iter().map(json).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), json(value))).collect(),
    }
}

/// Whole numbers and others are written alike.
fn alike(value: &Json) -> Json {
    match value {
        Json::Number(number) => Json::from(number.as_f64().expect("a number")),
        Json::Array(values) => values.iter().map(alike).collect(),
        Json::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), alike(value))).collect(),
        other => other.clone(),
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn arguments(values: &str) -> Vec<Argument> {
    let values: Vec<Json> = serde_json::from_str(values).expect("JSON");
    let argument = |value: &Json| match value {
        Json::Array(values) => Argument::Many(values.iter().map(text).collect()),
        value => Argument::One(text(value)),
    };
    values.iter().map(argument).collect()
}

fn shown(result: Result<Value, FakerError>) -> Json {
    result.map_or_else(|error| Json::from(error.to_string()), |value| alike(&json(&value)))
}

#[test]
fn a_seed_gives_the_values_of_the_extension() {
    let mut wrong = Vec::new();
    for line in RECORDED.lines() {
        let [name, given, values] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mut faker = Faker::new(11);
        let function = function(name).expect(name);
        let got: Json = (0..3).map(|_| shown(faker.call(function, &arguments(given), NOW_UNIX_S))).collect();
        let expect: Json = serde_json::from_str(values).expect("JSON");
        if got != alike(&expect) {
            wrong.push(format!("{name}{given}: {got}\n  k6: {values}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Arguments that every function with parameters accepts.
fn accepted(function: &Function) -> Vec<Argument> {
    let argument = |name: &str| match name {
        "people" | "teams" | "strs" => Argument::Many(vec!["a".to_owned(), "b".to_owned()]),
        "ints" | "uints" => Argument::Many(vec!["3".to_owned(), "4".to_owned()]),
        _ => Argument::One("2".to_owned()),
    };
    let needed = function.parameters.iter().take_while(|parameter| parameter.default.is_none());
    needed.map(|parameter| argument(parameter.name)).collect()
}

#[test]
fn every_function_makes_something() {
    let mut count = 0;
    for function in CATEGORIES.iter().flat_map(|category| category.functions) {
        let mut faker = Faker::new(5);
        for _ in 0..50 {
            let made = faker.call(function, &accepted(function), NOW_UNIX_S).expect(function.name);
            assert_ne!(made, Value::Text(String::new()), "{}", function.name);
        }
        count += 1;
    }
    assert_eq!(count, 303);
}

#[test]
fn names_of_functions_are_unique() {
    let all = CATEGORIES.iter().flat_map(|category| category.functions).map(|function| function.name);
    let names: std::collections::BTreeSet<&str> = all.clone().collect();
    assert_eq!(names.len(), all.count());
}

#[track_caller]
fn check_refused(name: &str, given: &str, expect: &str) {
    let error = Faker::new(1).call(function(name).expect(name), &arguments(given), 0).expect_err(name);
    assert_eq!(error.to_string(), expect);
}

#[test]
fn arguments_are_checked() {
    check_refused("intRange", "[1]", "missing parameter: max");
    check_refused("intRange", "[\"a\", 2]", "min field could not parse to int value");
    check_refused("randomInt", "[[\"x\"]]", "x value could not parse to int");
    check_refused("dice", "[-1]", "invalid number of dice -1: expected 0 to 10000");
    check_refused("sentence", "[51]", "invalid word count 51: expected 1 to 50");
    check_refused("letterN", "[1000001]", "invalid count 1000001: expected 0 to 1000000");
    check_refused(
        "latitudeRange",
        "[1, 100]",
        "invalid min or max range, must be valid floats and between -90 and 90",
    );
    assert_eq!(function("nope").map(drop), Err(FakerError::Unknown("nope".to_owned())));
}

#[test]
fn dates_keep_to_their_range_and_format() {
    let call = |name: &str, given: &str| {
        let made = Faker::new(9).call(function(name).expect(name), &arguments(given), NOW_UNIX_S);
        made.map(|made| if let Value::Text(text) = made { text } else { panic!("{made:?}") })
    };
    let day = call("dateRange", "[\"2020-01-01\", \"2020-01-03\"]").expect("a day");
    assert!(["2020-01-01", "2020-01-02", "2020-01-03"].contains(&&*day), "{day}");
    assert_eq!(call("date", "[\"yyyy\"]").expect("a year").len(), 4);
    assert!(call("date", "[]").expect("a date").ends_with('Z'));
    let error = call("dateRange", "[\"x\"]").expect_err("no date").to_string();
    assert_eq!(error, "parsing time \"x\" as \"2006-01-02\": cannot parse it");
}
