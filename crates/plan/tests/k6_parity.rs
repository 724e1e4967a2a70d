//! Compares the echo of options with k6 v2.2's for the same options (`tests/k6/`).

use plan::{Level, Options, PlanError, ResolveContext, consolidate, resolve};

/// Options from a script alone: as derived, and as a plan.
fn plan_of(script: &str) -> Result<(Options, model::Plan), PlanError> {
    let context = ResolveContext::default();
    let (options, _) = Options::from_script_json(script)?;
    let (merged, _) = consolidate(&[(Level::Script, options)], context.compat);
    let (plan, _) = resolve(merged.clone(), &context)?;
    Ok((merged.derive(&context)?.0, plan))
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// Pairs of lines: the script's options, then `k6 inspect --execution-requirements`.
#[test]
fn inspect_prints_what_k6_prints() {
    let lines: Vec<&str> = include_str!("k6/inspect.txt").lines().collect();
    assert!(lines.len() >= 40, "at least twenty pairs");
    for pair in lines.chunks(2) {
        let (options, plan) = plan_of(pair[0]).unwrap_or_else(|error| panic!("{}: {error}", pair[0]));
        let ours = json(&plan::inspect_json_with_requirements(&options, &plan));
        let theirs = json(pair[1]);
        for (key, value) in theirs.as_object().unwrap() {
            assert_eq!(ours.get(key), Some(value), "{key} of {}", pair[0]);
        }
        assert_eq!(ours.as_object().unwrap().len(), theirs.as_object().unwrap().len(), "{}", pair[0]);
    }
}

/// Compares the order of the members and the indentation exactly.
#[test]
fn inspect_looks_as_k6_does() {
    let script = include_str!("k6/inspect.txt").lines().nth(18).unwrap();
    let (options, plan) = plan_of(script).unwrap();
    let theirs = include_str!("k6/inspect_indented.json").trim_end();
    assert_eq!(plan::inspect_json_with_requirements(&options, &plan), theirs);
}

/// The script's options, then what its iterations logged of `exec.test.options`.
#[test]
fn test_options_are_those_of_k6() {
    let (script, theirs) = include_str!("k6/test_options.txt").trim_end().split_once('\n').unwrap();
    let (_, plan) = plan_of(script).unwrap();
    assert_eq!(json(&plan.options_json), json(theirs));
    assert_eq!(plan.options_json, theirs, "the order of the members");
}

/// Blocks of a script's options and the lines that `k6 run` prints before the start.
#[test]
fn the_start_is_described_as_by_k6() {
    for block in include_str!("k6/start_lines.txt").trim_end().split("\n\n") {
        let (script, expect) = block.split_once('\n').unwrap();
        let (_, plan) = plan_of(script).unwrap();
        let mut lines = vec![plan::describe_header(&plan)];
        lines.extend(plan::describe_scenarios(&plan));
        assert_eq!(lines.join("\n"), expect, "{script}");
    }
}
