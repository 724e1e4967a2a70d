//! `plimsoll run --observer-effect`: measures the cost of tracing. Side A is the test without traces, side B the test with them;
//! the comparison covers requests and the CPU time that servers report.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use analysis::compare::{Level, LevelRow};
use analysis::steady::Steady;
use model::{Instant, Signal, SignalId};
use report::comparison::ComparisonReport;
use runs::{Candidate, Exit, Failure};
use session::Context;
use session::receiving::SHARE_DEFAULT;

use crate::flags::RunFlags;
use crate::settings::receive_settings;

/// CPU signals of servers, from all sources.
const CPU: [SignalId; 5] =
    [SignalId::ProcessCpu, SignalId::JvmProcessCpu, SignalId::ContainerCpu, SignalId::NodeCpu, SignalId::Cpu];

/// Maximum number of servers whose CPU is shown: those that use most.
const SERVERS_MAX: usize = 20;

/// Returns the flags of both sides: without traces, and with them.
///
/// # Errors
/// Side B would have no traces either.
pub(super) fn sides(flags: &RunFlags, context: &Context) -> Result<Vec<RunFlags>, Failure> {
    let (mut without, mut with) = (flags.clone(), flags.clone());
    // Flags override variables.
    without.otlp.otlp = Some(false.to_string());
    without.otlp.trace_sample = Some(0.to_string());
    if flags.otlp.trace_sample.is_none() && context.env.setting("TRACE_SAMPLE").is_none() {
        with.otlp.trace_sample = Some(SHARE_DEFAULT.to_string());
    }
    if !receive_settings(&with.otlp, None, context)?.makes_traces() {
        let text = "failed to measure the overhead of tracing: --trace-sample selects no requests";
        return Err(Failure::new(Exit::InvalidConfig, text));
    }
    Ok(vec![without, with])
}

/// Returns the servers' CPU in every run, in the seconds that the comparison used; for a run without steady state, in all seconds
/// under load.
///
/// # Errors
/// A run cannot be read.
pub(super) fn levels(
    report: &ComparisonReport,
    a: &[PathBuf],
    b: &[PathBuf],
) -> Result<Vec<LevelRow>, Failure> {
    let of_side = |paths: &[PathBuf], steady: &[Steady]| -> Result<Vec<ServerCpu>, Failure> {
        paths.iter().zip(steady).map(|(path, steady)| server_cpu(path, steady)).collect()
    };
    let comparison = &report.comparison;
    let (of_a, of_b) = (of_side(a, &comparison.steady_a)?, of_side(b, &comparison.steady_b)?);
    let mut levels = shared_levels(&of_a, &of_b);
    levels.sort_by(|a, b| mean(b).total_cmp(&mean(a)));
    levels.truncate(SERVERS_MAX);
    Ok(analysis::compare::levels(&levels, &report.options))
}

/// CPU of servers in one run by name: the interval between values in seconds, and the values.
type ServerCpu = BTreeMap<String, (f64, Vec<f64>)>;

fn server_cpu(path: &std::path::Path, steady: &Steady) -> Result<ServerCpu, Failure> {
    let candidate = Candidate::open(path)?;
    let Some(part) = candidate.instants(steady.seconds())? else { return Ok(ServerCpu::new()) };
    let signals = candidate.reader().signals().map_err(|error| runs::failed(&error))?;
    let of_cpu = signals.iter().filter(|signal| signal.name.id().is_some_and(|id| CPU.contains(&id)));
    Ok(of_cpu.map(|signal| (name(signal), (signal.step.as_secs_f64(), within(signal, &part)))).collect())
}

fn within(signal: &Signal, part: &Range<Instant>) -> Vec<f64> {
    signal.points.iter().filter(|(at, _)| part.contains(at)).map(|(_, value)| *value).collect()
}

/// Returns the name of a signal, for example `appstore process_cpu {job="service"}`.
fn name(signal: &Signal) -> String {
    let labels: Vec<String> =
        signal.labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
    let labels = if labels.is_empty() { String::new() } else { format!(" {{{}}}", labels.join(",")) };
    format!("{} {}{labels}", signal.source, signal.name)
}

/// Returns the servers that occur in every run of both sides.
fn shared_levels(a: &[ServerCpu], b: &[ServerCpu]) -> Vec<Level> {
    let Some(first) = a.first() else { return Vec::new() };
    let level = |(name, (step_s, _)): (&String, &(f64, Vec<f64>))| {
        let of = |runs: &[ServerCpu]| -> Option<Vec<Vec<f64>>> {
            let values = runs.iter().map(|run| run.get(name).map(|(_, values)| values.clone()));
            values.map(|values| values.filter(|values| !values.is_empty())).collect()
        };
        Some(Level { name: name.clone(), step_s: *step_s, a: of(a)?, b: of(b)? })
    };
    first.iter().filter_map(level).collect()
}

fn mean(level: &Level) -> f64 {
    let values: Vec<f64> = level.b.iter().flatten().copied().collect();
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(servers: &[(&str, &[f64])]) -> ServerCpu {
        servers.iter().map(|(name, values)| ((*name).to_owned(), (1.0, values.to_vec()))).collect()
    }

    #[test]
    fn only_what_every_run_tells_is_compared() {
        let a = [run(&[("shop", &[0.1, 0.2]), ("db", &[0.3])]), run(&[("shop", &[0.1]), ("db", &[0.3])])];
        let b = [run(&[("shop", &[0.2]), ("db", &[])])];
        let levels = shared_levels(&a, &b);
        let [shop] = &levels[..] else { panic!("one server: {levels:?}") };
        assert_eq!((shop.name.as_str(), shop.a.len(), shop.b.len()), ("shop", 2, 1));
        assert_eq!(mean(shop), 0.2);
        assert!(shared_levels(&[], &b).is_empty());
    }
}
