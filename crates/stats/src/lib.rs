//! Statistics of dependent measurements: what a load test's per-second figures allow one to say, and no more.
//!
//! Pure functions of numbers. Each names its source, and each is checked against an independent implementation. The crate
//! knows nothing of runs, metrics or reports.
//!
//! Neighbouring seconds of a run resemble each other, so that 600 of them may be worth 40. [`long_run`] measures by how
//! much; [`sheet`] turns a run's per-second histograms into the series that it needs; [`ratio`] makes intervals of both.

mod autocorrelation;
mod block_length;
mod bootstrap;
mod discovery;
mod distributions;
mod divisive;
mod error_ratio;
mod exact;
mod level_shift;
mod long_run;
mod mser;
mod paired;
mod random;
mod rank_sum;
mod ratio;
mod sheet;
mod split;
mod support;

pub use autocorrelation::{autocorrelation, effective_sample_number};
pub use block_length::block_length;
pub use bootstrap::{Resampling, bootstrap_difference};
pub use discovery::adjusted_p_values;
pub(crate) use distributions::beta_cdf;
pub use distributions::{beta_quantile, f_tail, normal_cdf, normal_quantile, student_cdf, student_quantile};
pub use divisive::{ChangePoint, DivisiveOptions, change_points};
pub use error_ratio::{ErrorRatio, ErrorSide, error_ratio, over_dispersion};
pub use exact::{Separation, paired_separation, separation};
pub use level_shift::{LevelShift, kolmogorov_tail, level_shift, studentised_kolmogorov_tail};
pub use long_run::{LongRun, long_run, long_run_about_lines};
pub use mser::{Truncation, mser, mser5};
pub use paired::{PlanStrata, follows_load, paired};
pub use random::Random;
pub use rank_sum::rank_sum_p_value;
pub use ratio::{Estimate, Interval, RatioEstimate, log_ratio};
pub use sheet::{Sheet, SheetPart, Tail};
pub use split::Split;
pub use support::{independent_samples_min, is_supported};
