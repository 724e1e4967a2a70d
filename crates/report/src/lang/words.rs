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
    no_response_time,
    all_held, crossed, exit_code, exit_message, unmeasured, no_thresholds, part_only, partial, live,
    partial_note, live_note, part_note,
    // The identity.
    run, started, elapsed, commit, uncommitted, target, tags, note,
    // Titles of sections.
    thresholds, key_numbers, endpoints, errors, checks, parts, exemplars, generator, metrics, environment, options, log,
    ch_summary, ch_configuration, ch_results, ch_infrastructure, ch_logs, ch_bottleneck, ch_comparison, ch_changes,
    ch_appendix, raw, raw_is,
    // What to connect where a section has nothing to say.
    miss_results, miss_infrastructure, miss_evidence, miss_queues, miss_database, miss_tasks, miss_bottleneck,
    miss_changes, miss_capacity,
    // When what happened.
    timeline, timeline_what, timeline_elapsed, timeline_until, timeline_setup, timeline_scenarios,
    timeline_scenarios_ended, timeline_teardown, timeline_ended, script,
    // What limits the target.
    bn_time, bn_time_of, bn_findings, bn_finding, bn_none, bn_ruled_out, bn_connect, bn_part, bn_does, bn_waits, bn_works, bn_travels,
    bn_unseen, bn_rest, bn_sum, bn_apart, bn_way, bn_way_traces, bn_way_little, bn_way_logs, bn_limits, bn_contributes,
    bn_outcome, bn_prediction, bn_cost, bn_remedy, bn_suspect, bn_why_not, bn_cost_logic, bn_cost_setting, bn_cost_cache,
    bn_cost_resource, bn_cost_architecture,
    // How much load is safe.
    cap_title, cap_name, cap_load, cap_throughput, cap_gain, cap_slo, cap_remark, cap_resource, cap_demand, cap_used,
    cap_ceiling, requests_rate,
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
    fault_worker_cpu, fault_throttled, fault_run_delay, fault_steal, fault_timer_lag, fault_coverage, fault_long_windows,
    fault_network, fault_exhausted, fault_ports, fault_descriptors, fault_retransmission, fault_connects,
    fault_recorded, fault_windows_lost, fault_workers_lost, fault_little, fault_unsteady, fault_clock,
    topic_rate, topic_cpu, topic_throttled, topic_run_delay, topic_steal, topic_timer_lag, topic_coverage,
    topic_segments, topic_requests, topic_ports, topic_descriptors, topic_clock,
    // The machine.
    env_can_send, env_can_send_is, env_at_least, env_asked_for, env_asked_for_is,
    // Runs of other tools.
    imported, imported_from, figures, reading,
    // Annotations.
    annotation, annotations_more,
    // Comparisons and histories.
    cmp_comparable, cmp_no_finding, cmp_no_run, cmp_unequal_rate, cmp_unequal_vus, cmp_open_and_closed,
    cmp_untrusted, cmp_valid, cmp_unknown, cmp_degraded, cmp_invalid, cmp_no_steady, cmp_too_short,
    cmp_warming_up, cmp_level_shift, cmp_scripts, cmp_durations, cmp_load_unknown, cmp_closed_loop,
    cmp_versions, cmp_only_on, cmp_steady, cmp_steady_seconds, cmp_steady_none, cmp_before, cmp_after,
    cmp_figures, cmp_series, cmp_figure, cmp_change, cmp_verdict, cmp_whole_run, cmp_mean, cmp_errors,
    cmp_goodput, cmp_throughput, cmp_improved, cmp_regressed, cmp_equivalent, cmp_inconclusive,
    cmp_more_minutes, cmp_more_runs, cmp_more_none, cmp_not_available, cmp_why_unsteady, cmp_why_load,
    cmp_why_support, cmp_why_censored, cmp_why_none, cmp_closing, cmp_worst, cmp_within_run, cmp_rows_hidden,
    cmp_endpoints_hidden, cmp_legend, cmp_levels, cmp_levels_none, hist_no_change, hist_too_few, hist_since, hist_left_out, hist_requests,
    // Runs that are made one after the other.
    rep_line, rep_title, rep_range, rep_deviation, rep_interval, rep_detectable, rep_none, rep_legend,
    // Findings of the auditor.
    aud_nothing, aud_found, aud_error, aud_errors, aud_warning, aud_warnings, aud_note, aud_notes, aud_source,
    aud_sources, aud_more, aud_severity_error, aud_severity_warning, aud_severity_note, aud_original, aud_implies,
    aud_mend, aud_caveat, aud_more_of, aud_follows, aud_not_understood, aud_and_more, aud_figure, aud_left_out,
    // What the servers did meanwhile: lanes, sentences, tables.
    ev_replicas_wanted, ev_cache_other, ev_dropped, ev_proxy_other, ev_process_cpu,
    ev_runtime_other, ev_node_other, ev_host_other,
    ev_queue_depth, ev_queue_unacked, ev_queue_consumers, ev_queue_published, ev_queue_delivered, ev_queue_acked,
    ev_queue_utilisation, ev_queue_prefetch, ev_queue_other, ev_replicas, ev_container_cpu, ev_container_throttled,
    ev_container_memory, ev_restarts, ev_workers_other, ev_sessions, ev_connections, ev_locks, ev_commits, ev_blocks,
    ev_database_other, ev_memory, ev_ops, ev_hits, ev_evicted, ev_clients, ev_requests, ev_heap, ev_gc,
    ev_pool_active, ev_pool_pending, ev_node_cpu, ev_node_memory, ev_host_cpu, ev_run_queue, ev_network, ev_segments,
    ev_listen, ev_running, ev_limit, ev_gap_unsaid, ev_story_changed, ev_story_changed_max, ev_story_pressed,
    ev_story_pressed_one, ev_story_peak, ev_story_peaks, ev_story_one_peak, ev_story_left, ev_story_seen,
    ev_story_gap, ev_title, ev_title_sources, ev_title_configuration, ev_title_queues, ev_title_database, ev_title_tasks,
    ev_title_lanes, ev_title_queries, ev_source, ev_health, ev_ok, ev_gaps, ev_silent, ev_points, ev_failures,
    ev_queue, ev_start, ev_peak, ev_peak_at, ev_end, ev_unacked_peak, ev_consumers, ev_prefetch, ev_statement,
    ev_calls, ev_total, ev_mean, ev_share, ev_blocks_hit, ev_blocks_read, ev_wait, ev_sessions_mean,
    ev_share_of_sessions, ev_task, ev_min, ev_avg, ev_max, ev_subject, ev_known, ev_lane, ev_series,
    ev_step, ev_window, ev_beyond, ev_lost, ev_title_profiles, ev_profile, ev_function, ev_own, ev_profile_share,
    ev_title_ways, ev_way_of, ev_way_sum, ev_way_measured, ev_way_biased, ev_part, ev_part_queue, ev_part_between, ev_part_submit,
    ev_part_poll, ev_whole, ev_law_rate, ev_law_ready, ev_law_unacked, ev_law_wait, ev_law_wait_by_law, ev_law_stay,
    ev_law_stay_by_law, ev_law_off, ev_law_note,
    // How much load a system bears.
    cap_vus, cap_line, cap_line_between, cap_above_all, cap_below_all, cap_no_line, cap_not_asked, cap_held,
    cap_above_broke, cap_above_held, cap_recovered, cap_not_recovered, cap_broke, cap_plan, cap_lower_bound,
    cap_line_itself, cap_ends, cap_flat, cap_rises, cap_grows, cap_knee_range, cap_no_knee, cap_baseline, cap_normal,
    cap_knee, cap_past_knee, cap_saturated, cap_slo_exceeded, cap_collapse, cap_unknown, cap_asked, cap_ramp,
    cap_narrow, cap_hold, cap_above, cap_descent, cap_of_load, cap_of_purpose, cap_of_throughput, cap_of_time,
    cap_of_power, cap_of_verdict, cap_of_levels, cap_of_demands,
    cap_of_resource, cap_of_demand, cap_of_idle, cap_of_limit, cap_of_ceiling, cap_of_missing, cap_left,
    cap_missing_objectives, cap_missing_levels, cap_missing_load_above, cap_missing_load_below,
    cap_missing_valid_levels, cap_missing_measurement, cap_missing_evidence, cap_missing_limits, cap_missing_hold,
    cap_missing_repeats, cap_missing_monotony, cap_missing_agreement, cap_missing_budget,
    cap_level_useless, cap_level_again, cap_level_held, cap_level_not_held, cap_level_above_broke, cap_level_above_kept,
    cap_level_recovered, cap_level_not_recovered, cap_level_breaks, cap_level_by, cap_level_unsure, cap_level_fell,
    cap_level_flat, cap_level_repeated,
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
