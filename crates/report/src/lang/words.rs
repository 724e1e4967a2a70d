//! What a language has to have words for.
//!
//! A language is a value of [`Words`], so the compiler finds what it lacks. Each `{}` in a text stands for what [`fill`] puts
//! there, in the order of the arguments.

macro_rules! words {
    ($($key:ident),* $(,)?) => {
        /// Every text of a report in one language.
        #[derive(Debug)]
        pub(crate) struct Words {
            $(pub(crate) $key: &'static str,)*
        }

        #[cfg(test)]
        impl Words {
            /// All texts with their keys.
            pub(super) fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($key), self.$key)),*]
            }
        }
    };
}

words! {
    // The verdict.
    pass, fail, inconclusive,
    all_held, crossed, exit_code, exit_message, unmeasured, no_thresholds, part_only, partial, live,
    partial_note, live_note, part_note,
    // The identity.
    run, started, elapsed, commit, uncommitted, target, tags, note,
    // Titles of sections.
    thresholds, key_numbers, endpoints, errors, checks, parts, exemplars, generator, metrics, environment, options, log,
    // Columns.
    metric, condition, observed, limit, margin, value, precision, count, code, message, example, name, endpoint, requests,
    failed, succeeded, at, duration, status, trace, cause, scenario, group,
    // Key numbers.
    failed_requests, iterations, failed_iterations, dropped_iterations, vus_max, received, sent, out_of, per_second,
    // Sentences.
    none_judged, more_rows, all_checks_held, errors_beyond, drops_none, workers, workers_lost, samples_lost, windows_lost,
    nothing_lost, lateness, log_before, left_out, exact, approximate, without_failed, precision_note,
    drop_vus_exhausted, drop_vu_starting, drop_time_up,
    slowest, bucket,
    // Whether the numbers can be trusted.
    trust, validity, valid, unwatched, degraded, invalid, validity_windows, validity_unmeasured,
    fault_start_lag, fault_dropped, fault_dropped_target, fault_dropped_generator, fault_dropped_starting,
    fault_worker_cpu, fault_throttled, fault_run_delay, fault_timer_lag, fault_coverage, fault_long_windows,
    fault_network, fault_exhausted, fault_ports, fault_descriptors, fault_retransmission, fault_connects,
    fault_recorded, fault_windows_lost, fault_workers_lost, fault_little, fault_unsteady, fault_clock,
    topic_rate, topic_cpu, topic_throttled, topic_run_delay, topic_timer_lag, topic_coverage, topic_segments,
    topic_requests, topic_ports, topic_descriptors, topic_clock,
    // Runs of other tools.
    imported, imported_from, figures, reading,
    // Annotations.
    annotation, annotations_more,
}

/// The text with its `{}` replaced; what is missing stays empty.
pub(crate) fn fill(text: &str, arguments: &[&str]) -> String {
    let mut parts = text.split("{}");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        filled.push_str(arguments.get(index).unwrap_or(&""));
        filled.push_str(part);
    }
    filled
}
