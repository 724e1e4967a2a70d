//! The metrics of `plimsoll/flow`. They are declared by the import, so that scripts without it may use the names.

use super::own_metrics::own_metrics;

own_metrics! {
    /// Their numbers in a run.
    Metrics of "plimsoll/flow" {
        /// Tasks that are over, by `end` and `outcome`.
        tasks = "flow_tasks", Counter, Default;
        /// Share of tasks that were seen to be done.
        finished = "flow_finished", Rate, Default;
        /// From the submission to the answer that said "done": the task completed no later. Unfinished tasks are censored.
        duration = "flow_duration", Trend, Time;
        /// From the submission to the last poll before that: the task completed no earlier.
        duration_lower = "flow_duration_lower", Trend, Time;
        /// Time of the submission.
        submit_duration = "flow_submit_duration", Trend, Time;
        /// Time of a poll.
        poll_duration = "flow_poll_duration", Trend, Time;
        /// Polls, as they are made.
        polls = "flow_polls", Counter, Default;
        /// Polls that were made for a task, whatever became of it.
        polls_per_task = "flow_polls_per_task", Trend, Default;
        /// For each outcome that the script names: the share of tasks that ended with it.
        outcomes = "flow_outcomes", Rate, Default;
    }
}

#[cfg(test)]
mod tests {
    use model::{MetricKind, MetricRegistry, ValueKind};

    use super::*;

    #[test]
    fn a_name_of_the_script_is_not_taken_over() {
        let registry = MetricRegistry::default();
        let first = Metrics::declare(&registry).expect("all names are free");
        let again = Metrics::declare(&registry).expect("every VU declares them");
        assert_eq!((first.tasks, first.outcomes), (again.tasks, again.outcomes));

        let taken = MetricRegistry::default();
        taken.register("flow_polls", MetricKind::Gauge, ValueKind::Default).expect("it is free");
        let text = Metrics::declare(&taken).expect_err("the types differ");
        assert!(text.contains("'flow_polls'") && text.contains("gauge"), "{text}");
    }
}
