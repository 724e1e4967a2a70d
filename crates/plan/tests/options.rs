//! Options of all sources as data: the input, and the resulting plan or message.

use std::collections::BTreeMap;

use model::plan::{Compat, Executor, Plan};
use plan::{CliOptions, Level, Options, PlanError, ResolveContext, Warning, consolidate, resolve};

/// Everything from nothing to a plan: config file, script, environment (`A=b C=d`), flags.
fn run(
    config: &str,
    script: &str,
    env: &str,
    cli: &CliOptions,
    compat: Compat,
) -> Result<(Plan, Vec<String>), PlanError> {
    let exports = ["default".to_owned(), "login".to_owned()];
    let context = ResolveContext {
        exports: Some(&exports),
        compat,
        user_agent: Some("plimsoll"),
        ..Default::default()
    };
    let variables: BTreeMap<String, String> = env
        .split_whitespace()
        .filter_map(|it| it.split_once('='))
        .map(|(k, v)| (k.into(), v.into()))
        .collect();
    let (config, mut warnings) = Options::from_config_json(config)?;
    let (script, more) = Options::from_script_json(script)?;
    warnings.extend(more);
    let env = Options::from_env(&variables)?;
    let cli = Options::from_cli(cli)?;
    let sources = [
        (Level::CommandLine, cli),
        (Level::ConfigFile, config),
        (Level::Script, script),
        (Level::Environment, env),
    ];
    let (merged, more) = consolidate(&sources, compat);
    warnings.extend(more);
    let (plan, more) = resolve(merged, &context)?;
    warnings.extend(more);
    Ok((plan, warnings.iter().map(Warning::to_string).collect()))
}

fn of_script(script: &str) -> Result<(Plan, Vec<String>), PlanError> {
    run("{}", script, "", &CliOptions::default(), Compat::Honest)
}

/// Checks the error for a script's options.
fn check_error(script: &str, expect: &str) {
    let error = of_script(script).map(|(plan, _)| plan.options_json).unwrap_err();
    assert_eq!(error.to_string(), expect, "{script}");
}

/// Checks the warnings for a script's options.
fn check_warnings(script: &str, expect: &[&str]) {
    assert_eq!(of_script(script).unwrap().1, expect, "{script}");
}

/// The only scenario's executor, in words.
fn check_levels(config: &str, script: &str, env: &str, cli: CliOptions, expect: &str) {
    let (plan, _) = run(config, script, env, &cli, Compat::Honest).unwrap();
    assert_eq!(plan::describe_scenarios(&plan).join("; "), expect, "{config} {script} {env} {cli:?}");
}

#[test]
fn types_are_named() {
    let read = |what: &str| format!("read the options of the script:\n\t- {what}");
    for (script, what) in [
        (r#"{"vus":"ten"}"#, r#"option "vus" must be a number, got "ten""#),
        (r#"{"vus":1.5}"#, r#"option "vus" must be a whole number, got 1.5"#),
        (r#"{"vus":1e30}"#, r#"option "vus" must be a whole number, got 1e+30"#),
        (r#"{"vus":"2.5"}"#, r#"option "vus" must be a whole number, got "2.5""#),
        (r#"{"vus":true}"#, r#"option "vus" must be a number, got true"#),
        (r#"{"noSetup":"true"}"#, r#"option "noSetup" must be true or false, got "true""#),
        (r#"{"userAgent":5}"#, r#"option "userAgent" must be a string, got 5"#),
        (r#"{"tags":{"a":1}}"#, r#"option "tags.a" must be a string, got 1"#),
        (r#"{"stages":{}}"#, r#"option "stages" must be a list of {duration, target}, got {}"#),
        (r#"{"stages":[{"target":"x"}]}"#, r#"option "stages[0].target" must be a number, got "x""#),
        (
            r#"{"duration":"abc"}"#,
            r#"option "duration" must be a duration such as "1m30s" or a number of milliseconds, got "abc""#,
        ),
        ("5", r#"option "options" must be an object, got 5"#),
        (
            r#"{"scenarios":{"a":{"executor":"constant-vus","bogus":1,"vsu":2}}}"#,
            "option \"scenarios.a.bogus\": no field of executor constant-vus\n\t- option \"scenarios.a.vsu\": \
             no field of executor constant-vus; did you mean \"vus\"?",
        ),
        (
            r#"{"scenarios":{"a":{"executor":"constant-vu"}}}"#,
            "option \"scenarios.a.executor\": unknown executor type 'constant-vu'; did you mean \"constant-vus\"?; \
             the executors are shared-iterations, per-vu-iterations, constant-vus, ramping-vus, \
             constant-arrival-rate, ramping-arrival-rate, externally-controlled",
        ),
        (
            r#"{"executionSegment":"2:3"}"#,
            "option \"executionSegment\": cannot use the segment bound 2: it must lie between 0 and 1",
        ),
    ] {
        check_error(script, &read(what));
    }
}

#[test]
fn everything_wrong_is_said_at_once() {
    check_error(
        r#"{"vus":"ten","rps":"x"}"#,
        "read the options of the script:\n\t- option \"rps\" must be a number, got \"x\"\n\t- option \"vus\" must be \
         a number, got \"ten\"",
    );
    check_error(
        r#"{"scenarios":{
            "a":{"executor":"constant-vus","vus":0,"duration":"100ms","startTime":"-1s","gracefulStop":"-1s","exec":"logn"},
            "x y":{"executor":"shared-iterations","vus":-5,"iterations":0,"maxDuration":"0s","exec":""},
            "c":{"executor":"ramping-vus","startVUs":-1,"stages":[{"duration":"-1s","target":-1},{"target":1},{"duration":"1s"}]},
            "d":{"executor":"constant-arrival-rate","rate":0,"timeUnit":"0s","duration":"1ms","maxVUs":3},
            "e":{"executor":"ramping-arrival-rate","startRate":-1,"timeUnit":"-1s","preAllocatedVUs":10,"maxVUs":5},
            "f":{"executor":"per-vu-iterations","vus":0,"iterations":0,"maxDuration":"100ms"},
            "g":{"executor":"constant-vus","vus":1000001,"duration":"1s"}
        },"summaryTrendStats":["foo","p(101)"],"summaryTimeUnit":"h","tlsVersion":"tls1.1","batch":0,"setupTimeout":-5}"#,
        "accept the configuration:\n\t- \
         scenario a has configuration errors: the startTime can't be negative, the gracefulStop timeout can't be \
         negative, the number of VUs must be more than 0, the duration must be at least 1s, but is 100ms (a number without a unit is in milliseconds; for seconds write 100s)\n\t- \
         scenario a: function 'logn' not found in exports; did you mean \"login\"?\n\t- \
         scenario c has configuration errors: the number of start VUs can't be negative, the duration for stage 1 \
         can't be negative, the target for stage 1 can't be negative, stage 2 doesn't have a duration, stage 3 doesn't \
         have a target\n\t- \
         scenario d has configuration errors: the iteration rate must be more than 0, the timeUnit must be more than 0, \
         the duration must be at least 1s, but is 1ms (a number without a unit is in milliseconds; for seconds write 1s), the number of preAllocatedVUs isn't specified\n\t- \
         scenario e has configuration errors: the startRate value can't be negative, the timeUnit must be more than 0, \
         at least one stage has to be specified, maxVUs can't be less than preAllocatedVUs\n\t- \
         scenario f has configuration errors: the number of VUs must be more than 0, the number of iterations must be \
         more than 0, the maxDuration must be at least 1s, but is 100ms\n\t- \
         scenario g has configuration errors: the number of VUs must be at most 1000000, but is 1000001\n\t- \
         scenario x y has configuration errors: the scenario name should contain only numbers, latin letters, \
         underscores, and dashes, exec value cannot be empty, the number of VUs must be more than 0, the maxDuration \
         must be at least 1s, but is 0s\n\t- \
         option \"setupTimeout\": can't be negative\n\t- \
         option \"batch\": must be from 1 to 4294967295, but is 0\n\t- \
         option \"tlsVersion\": tls1.1 is not supported: the lowest version is tls1.2\n\t- \
         option \"summaryTrendStats\": invalid trend stat 'foo'; use avg, min, med, max, count or p(N)\n\t- \
         option \"summaryTrendStats\": invalid trend stat 'p(101)'; use avg, min, med, max, count or p(N)\n\t- \
         option \"summaryTimeUnit\": invalid summary time unit 'h', use 's', 'ms' or 'us'",
    );
}

#[test]
fn shortcuts_that_contradict() {
    let conflict = |first: &str, second: &str| {
        format!(
            "accept the configuration:\n\t- using `{first}` and `{second}` options simultaneously is not allowed"
        )
    };
    let stages = r#""stages":[{"duration":"1s","target":1}]"#;
    let scenarios = r#""scenarios":{"a":{"executor":"constant-vus","duration":"1s"}}"#;
    check_error(&format!(r#"{{"duration":"1s",{stages}}}"#), &conflict("duration", "stages"));
    check_error(&format!(r#"{{"iterations":5,{stages}}}"#), &conflict("iterations", "stages"));
    check_error(
        &format!(r#"{{"iterations":5,"duration":"1s",{scenarios}}}"#),
        &conflict("iterations", "scenarios"),
    );
    check_error(&format!(r#"{{"duration":"1s",{scenarios}}}"#), &conflict("duration", "scenarios"));
    check_error(
        r#"{"duration":0}"#,
        "accept the configuration:\n\t- option \"duration\": should be more than 0; for a test without end \
         use the externally-controlled executor",
    );
    check_error(
        r#"{"vus":10,"iterations":5}"#,
        "accept the configuration:\n\t- scenario default has configuration errors: the number of iterations (5) can't \
         be less than the number of VUs (10)",
    );
}

#[test]
fn warnings_say_what_was_meant() {
    check_warnings(
        r#"{"threshholds":{},"VUS":3}"#,
        &["unknown option \"threshholds\" in the script; did you mean \"thresholds\"?"],
    );
    check_warnings(
        r#"{"localIPs":"1.2.3.4"}"#,
        &["option \"localIPs\" cannot be set in the script and is ignored"],
    );
    let empty = "`stages` was explicitly set to an empty value, running the script with 1 iteration in 1 VU";
    check_warnings(r#"{"stages":[],"vus":null}"#, &[empty]);
    check_warnings(
        r#"{"vus":3,"scenarios":{"a":{"executor":"constant-vus","duration":"1s"}}}"#,
        &["`vus=3` overrides scenarios configuration"],
    );
    check_warnings(
        r#"{"systemTags":["url","ulr"]}"#,
        &["unknown system tag \"ulr\" is left out; did you mean \"url\"?"],
    );
}

#[test]
fn stronger_sources_win() {
    let cli = |vus: Option<&str>, iterations: Option<&str>, duration: Option<&str>| CliOptions {
        vus: vus.map(String::from),
        iterations: iterations.map(String::from),
        duration: duration.map(String::from),
        ..CliOptions::default()
    };
    let one = "default: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)";
    check_levels("{}", "{}", "", cli(None, None, None), one);
    let script = r#"{"vus":3,"duration":"5s"}"#;
    let config = r#"{"vus":9,"iterations":90,"linger":true}"#;
    check_levels(
        config,
        script,
        "",
        cli(None, None, None),
        "default: 3 looping VUs for 5s (gracefulStop: 30s)",
    );
    check_levels(
        config,
        script,
        "K6_VUS=4",
        cli(None, None, None),
        "default: 4 looping VUs for 5s (gracefulStop: 30s)",
    );
    let ours = "K6_VUS=4 PLIMSOLL_VUS=6";
    check_levels(
        config,
        script,
        ours,
        cli(None, None, None),
        "default: 6 looping VUs for 5s (gracefulStop: 30s)",
    );
    check_levels(
        config,
        script,
        "K6_STAGES=5s:10,10s:0",
        cli(Some("7"), None, None),
        "default: Up to 10 looping VUs for 15s over 2 stages (gracefulRampDown: 30s, gracefulStop: 30s)",
    );
    check_levels(
        config,
        script,
        "K6_STAGES=5s:10",
        cli(None, Some("5"), Some("2s")),
        "default: 5 iterations shared among 3 VUs (maxDuration: 2s, gracefulStop: 30s)",
    );
}

#[test]
fn wrong_variables_and_flags_are_named() {
    let fails =
        |env: &str, cli: CliOptions| run("{}", "{}", env, &cli, Compat::Honest).unwrap_err().to_string();
    assert_eq!(
        fails("K6_VUS=ten K6_NO_SETUP=yes", CliOptions::default()),
        "read the options of the environment:\n\t- option \"K6_VUS\" must be a number, got \"ten\"\n\t- option \
         \"K6_NO_SETUP\" must be true or false, got \"yes\""
    );
    let cli = CliOptions {
        vus: Some("3".to_owned()),
        scenarios: vec!["a".to_owned()],
        tags: vec!["a".to_owned()],
        ..CliOptions::default()
    };
    assert_eq!(
        fails("", cli),
        "read the options of the command line:\n\t- using `--scenario` and `--vus` options simultaneously is not \
         allowed\n\t- option \"--tag\": \"a\" must be name=value"
    );
}

#[test]
fn tags_are_joined_unless_strict() {
    let cli = CliOptions { tags: vec!["b=2=3".to_owned()], ..CliOptions::default() };
    let tags = |compat| {
        let (plan, warnings) = run("{}", r#"{"tags":{"a":"1"}}"#, "", &cli, compat).unwrap();
        (
            plan.tags.into_iter().map(|(name, value)| format!("{name}:{value}")).collect::<Vec<_>>(),
            warnings.len(),
        )
    };
    assert_eq!(tags(Compat::Honest), (vec!["a:1".to_owned(), "b:2=3".to_owned()], 1));
    assert_eq!(tags(Compat::Strict), (vec!["b:2=3".to_owned()], 0));
}

#[test]
fn scenarios_are_selected_and_run_once() {
    let script = r#"{
        "scenarios":{
            "a":{"executor":"ramping-vus","stages":[{"duration":"1m","target":9}],"exec":"login","tags":{"t":"1"},"startTime":"9s"},
            "b":{"executor":"constant-vus","vus":4,"duration":"1m"}
        },
        "thresholds":{"http_reqs{scenario:b}":["count>1"],"http_reqs{scenario:a}":["count>1"]}
    }"#;
    let cli =
        |name: &str, once| CliOptions { scenarios: vec![name.to_owned()], once, ..CliOptions::default() };
    let (plan, warnings) = run("{}", script, "", &cli("a", true), Compat::Honest).unwrap();
    let once = Executor::SharedIterations {
        vus: 1,
        iterations: 1,
        max_duration: std::time::Duration::from_secs(600),
    };
    assert_eq!(plan.scenarios.len(), 1);
    assert_eq!((&plan.scenarios[0].executor, &*plan.scenarios[0].exec), (&once, "login"));
    assert_eq!(plan.scenarios[0].tags.get("t").map(String::as_str), Some("1"));
    assert_eq!(plan.thresholds.len(), 1);
    let skipped = "threshold on \"http_reqs{scenario:b}\" is skipped: its scenario was not selected";
    assert_eq!(warnings, [skipped]);
    let error = run("{}", script, "", &cli("c", false), Compat::Honest).unwrap_err().to_string();
    let expect = "accept the configuration:\n\t- --scenario c: no such scenario; there are a, b";
    assert_eq!(error, expect);
}

/// Every option with every kind of value: each is taken, refused or warned of, and nothing panics.
#[test]
fn no_value_is_too_strange() {
    let keys = plan::test_options_json(&Options::default());
    let keys: serde_json::Value = serde_json::from_str(&keys).unwrap();
    let shortcuts = ["vus", "duration", "iterations", "stages", "cloud"];
    let values = [
        "null",
        "true",
        "-1",
        "0",
        "1.5",
        "1e308",
        "9223372036854775807",
        r#""""#,
        r#""x""#,
        r#""-""#,
        r#""é:%/""#,
        r#""-9223372036854775808""#,
        r#""2562047h""#,
        "[]",
        "[null]",
        "[{}]",
        "[[[]]]",
        r#"["",""]"#,
        "{}",
        r#"{"a":null}"#,
        r#"{"":""}"#,
        r#"{"a":{"executor":"ramping-vus","stages":[{"duration":9e300,"target":-1}]}}"#,
    ];
    let mut refused = 0;
    for key in keys.as_object().unwrap().keys().map(String::as_str).chain(shortcuts) {
        for value in values {
            let outcome = of_script(&format!(r#"{{"{key}":{value}}}"#));
            refused += usize::from(outcome.is_err_and(|error| error.to_string().contains("\n\t- ")));
        }
    }
    assert!(refused > 400, "most values fit few options: {refused}");
}
