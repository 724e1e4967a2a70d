//! The options of a script, or a configuration file, as JSON.

use plan::{
    Options, ResolveContext, exported_options_json, inspect_json, resolve, test_options_json, vu_demand,
};
use serde_json::Value;

/// Options are understood or refused with a reason; what they are written as is understood as the same; a plan that was
/// accepted is within its limits.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = Options::from_config_json(&text);
    let options = match Options::from_script_json(&text) {
        Ok((options, _)) => options,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let written = [inspect_json(&options), test_options_json(&options), exported_options_json(&options)];
    for json in &written {
        assert!(serde_json::from_str::<Value>(json).is_ok(), "{text} was written as {json}");
    }
    let context = ResolveContext::default();
    match resolve(options.clone(), &context) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok((plan, _)) => {
            assert!(vu_demand(&plan).vus_max <= plan::VUS_MAX * plan::SCENARIOS_MAX as u64);
            assert!(serde_json::from_str::<Value>(&plan.options_json).is_ok());
            let again = Options::from_script_json(&written[2]).map(|(options, _)| resolve(options, &context));
            let again = again.unwrap_or_else(|error| panic!("{} is not understood: {error}", written[2]));
            let (again, _) = again.unwrap_or_else(|error| panic!("{} is no plan: {error}", written[2]));
            assert_eq!(format!("{again:?}"), format!("{plan:?}"), "written as {}", written[2]);
        }
    }
}
