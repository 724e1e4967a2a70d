//! Reports of runs, comparisons, capacity studies and audits.

pub mod audit;
pub mod bottleneck;
pub mod capacity;
pub mod comparison;
pub mod demo;
pub mod evidence;
pub mod find;
pub mod history;
pub mod run;
pub mod sections;
pub mod validity;
pub mod verification;

#[cfg(test)]
mod tests {
    use crate::testing::{Entry, check};

    #[test]
    fn messages_follow_the_rules_of_wording() {
        let catalogues = [
            super::audit::ALL,
            super::bottleneck::ALL,
            super::capacity::ALL,
            super::comparison::ALL,
            super::demo::ALL,
            super::evidence::ALL,
            super::find::ALL,
            super::history::ALL,
            super::run::ALL,
            super::sections::ALL,
            super::validity::ALL,
            super::verification::ALL,
        ];
        // Symbols and terms that Korean engineers write in Latin letters.
        let latin = [
            "per_second",
            "at_least",
            "approximate",
            "capacity_slo",
            "evidence_story_peak",
            "audit_found",
            "comparison_of_limit",
            "comparison_run_answer",
            "comparison_counts",
        ];
        let entries: Vec<Entry> = catalogues.concat();
        check(&entries, &latin);
    }
}
