//! Options from every source, merged, validated and turned into a [`model::Plan`].
//!
//! The way through: [`Options::from_config_json`], [`Options::from_script_json`], [`Options::from_env`] and
//! [`Options::from_cli`] each read one source; [`consolidate`] merges them; [`Options::derive`] turns shortcuts into
//! scenarios; [`resolve`] checks everything and makes the plan. The names, forms and defaults are k6's.

mod cli;
mod consolidate;
mod constant;
mod demand;
mod describe;
mod echo;
mod error;
mod executors;
mod json;
mod limits;
pub mod network;
mod options;
mod resolve;
pub mod scenario;
pub mod segment;
pub mod stripe;
pub mod thresholds;
pub mod tls;
mod value;

pub use cli::CliOptions;
pub use consolidate::consolidate;
pub use constant::{ConstantLoad, Pace, RATE_TIME_S};
pub use demand::{ScenarioDemand, VuDemand, vu_demand};
pub use describe::{describe_header, describe_scenario, describe_scenarios};
pub use echo::{exported_options_json, inspect_json, inspect_json_with_requirements, test_options_json};
pub use error::{PlanError, Problem, Warning};
pub use executors::STAGES_MAX;
pub use limits::{LimitExceeded, LoadLimits};
pub use model::GoDuration;
pub use options::{Level, Options, SegmentOption, SequenceOption};
pub use resolve::{ResolveContext, SCENARIOS_MAX, resolve};
pub use segment::{SegmentError, parse_segment, parse_sequence};
pub use stripe::Stripe;

/// The most VUs that one number in the options may ask for. It bounds every list that has an entry per VU.
pub const VUS_MAX: u64 = 1_000_000;
