//! Resource use of the generator against its limits.

use analysis::audit::{Family, UsageFact};
use model::Vital;
use runfile::Reader;

use crate::{Failure, failed};

/// Returns readings that cannot exceed their limit unless they are wrong. CPU is missing, since a quota is no whole number of
/// cores; so are ports, since each target has the whole range.
///
/// # Errors
/// The file is damaged.
pub(super) fn usages(reader: &Reader) -> Result<Vec<UsageFact>, Failure> {
    let states = reader.generator_states().map_err(|error| failed(&error))?;
    let most = |vital: Vital| states.iter().filter_map(|state| state.get(vital)).reduce(f64::max);
    let host = &reader.header().host;
    let memory = host.memory_limit_bytes.unwrap_or(host.memory_bytes);
    // A merged run has generators on several machines, but the limit of only one.
    if !reader.header().merged_from.is_empty() {
        return Ok(Vec::new());
    }
    let all = [
        ("the generator's memory", most(Vital::Resident), Some(memory as f64), Family::Bytes),
        (
            "the generator's file descriptors",
            most(Vital::Descriptors),
            most(Vital::DescriptorsMax),
            Family::Plain,
        ),
    ];
    let known = all.into_iter().filter_map(|(resource, used, limit, family)| {
        Some(UsageFact { resource, used: used?, limit: limit.filter(|limit| *limit > 0.0)?, family })
    });
    Ok(known.collect())
}
