//! Whether the numbers can be trusted, in words: the first line of everything.

use std::ops::Range;

use model::{Amount, Fault, Grade, Reason, Validity};

use crate::{Lang, number};

/// Reasons in the line; the reports have all of them.
const REASONS_MAX: usize = 3;

/// Ranges of seconds that are named one by one.
const RANGES_MAX: usize = 5;

/// `VALID`, or `DEGRADED: timers fired up to 41ms late (limit 10ms) in 3 of 30 s (12–14)`: the verdict and its reasons with
/// their numbers, and the checks that were not made.
pub fn line(validity: &Validity, lang: Lang) -> String {
    let grave: Vec<&Reason> = validity.reasons.iter().filter(|reason| reason.grade != Grade::Valid).collect();
    let mut parts: Vec<String> =
        grave.iter().take(REASONS_MAX).map(|one| reason(one, validity, lang)).collect();
    if grave.len() > REASONS_MAX {
        parts.push(lang.more_rows(grave.len() - REASONS_MAX));
    }
    let mut text = word(validity.grade, lang).to_owned();
    if !parts.is_empty() {
        text += &format!(": {}", parts.join("; "));
    }
    if let Some(unmeasured) = unmeasured(validity, lang) {
        text += &format!(" ({unmeasured})");
    }
    text
}

/// Each reason in a sentence with its numbers, in their order.
pub fn sentences(validity: &Validity, lang: Lang) -> Vec<String> {
    validity.reasons.iter().map(|one| reason(one, validity, lang)).collect()
}

/// The topic of a fault, in a few words.
pub fn topic_of(fault: Fault, lang: Lang) -> &'static str {
    words::validity::topic(fault, lang)
}

/// An amount as people read it.
pub fn amount_text(of: Amount) -> String {
    amount(of)
}

/// The same behind the word that says what it is about, for the first line of a page.
pub(crate) fn headline(validity: &Validity, lang: Lang) -> String {
    format!("{}: {}", lang.validity(), line(validity, lang))
}

/// The checks that were not made; `None` where all were.
pub(crate) fn unmeasured(validity: &Validity, lang: Lang) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in validity.unmeasured.iter().map(|fault| topic_of(*fault, lang)) {
        // Some faults have one topic.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| lang.validity_unmeasured(names.join(", ")))
}

/// One reason with its numbers, and the seconds in which it was so.
pub(crate) fn reason(reason: &Reason, validity: &Validity, lang: Lang) -> String {
    let text = sentence(reason, lang);
    if reason.windows.is_empty() {
        return text;
    }
    let (bad, of) = (reason.window_count().to_string(), validity.windows.len().to_string());
    format!("{text} {}", lang.validity_windows(bad, of, ranges(&reason.windows)))
}

/// The verdict in a word.
pub(crate) fn word(grade: Grade, lang: Lang) -> &'static str {
    match grade {
        Grade::Valid => lang.valid(),
        Grade::Unmeasured => lang.not_measured(),
        Grade::Degraded => lang.degraded(),
        Grade::Invalid => lang.invalid(),
    }
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Share(share) => number::percent(share),
        Amount::Milliseconds(ms) => number::duration(ms, None),
        Amount::Count(count) => number::plain(count),
    }
}

/// `12–14, 20, …`: windows by their indexes, which are seconds from the start.
fn ranges(windows: &[Range<u32>]) -> String {
    let shown = windows.iter().take(RANGES_MAX).map(|range| match range.end - range.start {
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    });
    let more = (windows.len() > RANGES_MAX).then(|| "...".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

fn sentence(reason: &Reason, lang: Lang) -> String {
    let (observed, limit) = (amount(reason.observed), amount(reason.limit));
    match reason.fault {
        Fault::StartLag => lang.fault_start_lag(observed, limit),
        Fault::Dropped => lang.fault_dropped(observed, limit),
        Fault::DroppedByTarget => lang.fault_dropped_target(observed, limit),
        Fault::DroppedByGenerator => lang.fault_dropped_generator(observed, limit),
        Fault::DroppedWhileStarting => lang.fault_dropped_starting(observed, limit),
        Fault::WorkerCpu => lang.fault_worker_cpu(observed, limit),
        Fault::Throttled => lang.fault_throttled(observed, limit),
        Fault::RunDelay => lang.fault_run_delay(observed, limit),
        Fault::Steal => lang.fault_steal(observed, limit),
        Fault::TimerLag => lang.fault_timer_lag(observed, limit),
        Fault::Coverage => lang.fault_coverage(observed, limit),
        Fault::LongWindows => lang.fault_long_windows(observed, limit),
        Fault::Network => lang.fault_network(observed, limit),
        Fault::Exhausted => lang.fault_exhausted(observed, limit),
        Fault::Ports => lang.fault_ports(observed, limit),
        Fault::Descriptors => lang.fault_descriptors(observed, limit),
        Fault::Retransmission => lang.fault_retransmission(observed, limit),
        Fault::Connects => lang.fault_connects(observed, limit),
        Fault::Recorded => lang.fault_recorded(observed, limit),
        Fault::WindowsLost => lang.fault_windows_lost(observed, limit),
        Fault::WorkersLost => lang.fault_workers_lost(observed, limit),
        Fault::Little => lang.fault_little(observed, limit),
        Fault::Unsteady => lang.fault_unsteady(observed, limit),
        Fault::Clock => lang.fault_clock(observed, limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validity(grade: Grade, reasons: Vec<Reason>) -> Validity {
        Validity { grade, reasons, unmeasured: vec![], windows: vec![(0, Grade::Valid); 30] }
    }

    fn lag(windows: Vec<Range<u32>>) -> Reason {
        Reason {
            fault: Fault::TimerLag,
            grade: Grade::Degraded,
            observed: Amount::Milliseconds(41.0),
            limit: Amount::Milliseconds(10.0),
            windows,
        }
    }

    #[test]
    fn the_line_has_the_reason_and_its_numbers() {
        let check = |validity: &Validity, expect: &str| assert_eq!(line(validity, Lang::En), expect);
        check(&validity(Grade::Valid, vec![]), "VALID");
        let late = validity(Grade::Degraded, vec![lag(vec![12..15, 20..21])]);
        check(&late, "DEGRADED: timers fired up to 41ms late (limit 10ms) in 4 of 30 s (12-14, 20)");
        let remark = Reason { grade: Grade::Valid, ..lag(vec![]) };
        check(&validity(Grade::Valid, vec![remark]), "VALID");
        let same = vec![Fault::Network, Fault::WorkerCpu, Fault::Retransmission];
        let same = Validity { unmeasured: same, ..Validity::default() };
        check(&same, "NOT MEASURED (not measured: TCP retransmissions, worker CPU)");
        let unwatched = Validity { unmeasured: vec![Fault::WorkerCpu, Fault::Ports], ..Validity::default() };
        check(&unwatched, "NOT MEASURED (not measured: worker CPU, local ports)");
        let many = validity(Grade::Degraded, vec![lag(vec![]); 5]);
        assert!(line(&many, Lang::En).ends_with("; … and 2 more"), "{}", line(&many, Lang::En));
    }

    #[test]
    fn every_fault_is_told_in_every_language() {
        for lang in Lang::ALL {
            for fault in Fault::ALL {
                let one = Reason { fault: *fault, ..lag(vec![]) };
                let text = line(&validity(Grade::Invalid, vec![one]), lang);
                assert!(text.contains("41ms"), "{fault:?} in {lang:?}: {text}");
            }
        }
    }

    #[test]
    fn ranges_beyond_the_fifth_are_not_named() {
        let every_other: Vec<_> = (0..7).map(|index| index * 2..index * 2 + 1).collect();
        assert_eq!(ranges(&every_other), "0, 2, 4, 6, 8, ...");
    }
}
