//! Whether the numbers can be trusted, in words: the first line of everything.

use std::ops::Range;

use model::{Amount, Fault, Grade, Reason, Validity};

use crate::lang::{Words, fill};
use crate::{Lang, number};

/// Reasons in the line; the reports have all of them.
const REASONS_MAX: usize = 3;

/// Ranges of seconds that are named one by one.
const RANGES_MAX: usize = 5;

/// `VALID`, or `DEGRADED: timers woke up to 41ms late (limit 10ms) in 3 of 30 s (12–14)`: the verdict and its reasons with
/// their numbers; what nobody looked for is named.
pub fn line(validity: &Validity, lang: Lang) -> String {
    let words = lang.words();
    let grave: Vec<&Reason> = validity.reasons.iter().filter(|reason| reason.grade != Grade::Valid).collect();
    let mut parts: Vec<String> =
        grave.iter().take(REASONS_MAX).map(|one| reason(one, validity, words)).collect();
    if grave.len() > REASONS_MAX {
        parts.push(fill(words.more_rows, &[&(grave.len() - REASONS_MAX).to_string()]));
    }
    let mut text = word(validity.grade, words).to_owned();
    if !parts.is_empty() {
        text += &format!(": {}", parts.join("; "));
    }
    if let Some(unmeasured) = unmeasured(validity, words) {
        text += &format!(" ({unmeasured})");
    }
    text
}

/// Each reason in a sentence with its numbers, in their order.
pub fn sentences(validity: &Validity, lang: Lang) -> Vec<String> {
    validity.reasons.iter().map(|one| reason(one, validity, lang.words())).collect()
}

/// What a fault is about, in a few words.
pub fn topic_of(fault: Fault, lang: Lang) -> &'static str {
    topic(fault, lang.words())
}

/// An amount as people read it.
pub fn amount_text(of: Amount) -> String {
    amount(of)
}

/// The same behind the word that says what it is about, for the first line of a page.
pub(crate) fn headline(validity: &Validity, lang: Lang) -> String {
    format!("{}: {}", lang.words().validity, line(validity, lang))
}

/// What was not looked for; `None` where everything was.
pub(crate) fn unmeasured(validity: &Validity, words: &Words) -> Option<String> {
    let names: Vec<&str> = validity.unmeasured.iter().map(|fault| topic(*fault, words)).collect();
    (!names.is_empty()).then(|| fill(words.validity_unmeasured, &[&names.join(", ")]))
}

/// One reason with its numbers, and the seconds in which it was so.
pub(crate) fn reason(reason: &Reason, validity: &Validity, words: &Words) -> String {
    let text = fill(sentence(reason.fault, words), &[&amount(reason.observed), &amount(reason.limit)]);
    if reason.windows.is_empty() {
        return text;
    }
    let (bad, of) = (reason.window_count().to_string(), validity.windows.len().to_string());
    format!("{text} {}", fill(words.validity_windows, &[&bad, &of, &ranges(&reason.windows)]))
}

/// The verdict in a word.
pub(crate) fn word(grade: Grade, words: &Words) -> &'static str {
    match grade {
        Grade::Valid => words.valid,
        Grade::Unmeasured => words.unwatched,
        Grade::Degraded => words.degraded,
        Grade::Invalid => words.invalid,
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

fn sentence(fault: Fault, words: &Words) -> &'static str {
    match fault {
        Fault::StartLag => words.fault_start_lag,
        Fault::Dropped => words.fault_dropped,
        Fault::DroppedByTarget => words.fault_dropped_target,
        Fault::DroppedByGenerator => words.fault_dropped_generator,
        Fault::DroppedWhileStarting => words.fault_dropped_starting,
        Fault::WorkerCpu => words.fault_worker_cpu,
        Fault::Throttled => words.fault_throttled,
        Fault::RunDelay => words.fault_run_delay,
        Fault::Steal => words.fault_steal,
        Fault::TimerLag => words.fault_timer_lag,
        Fault::Coverage => words.fault_coverage,
        Fault::LongWindows => words.fault_long_windows,
        Fault::Network => words.fault_network,
        Fault::Exhausted => words.fault_exhausted,
        Fault::Ports => words.fault_ports,
        Fault::Descriptors => words.fault_descriptors,
        Fault::Retransmission => words.fault_retransmission,
        Fault::Connects => words.fault_connects,
        Fault::Recorded => words.fault_recorded,
        Fault::WindowsLost => words.fault_windows_lost,
        Fault::WorkersLost => words.fault_workers_lost,
        Fault::Little => words.fault_little,
        Fault::Unsteady => words.fault_unsteady,
        Fault::Clock => words.fault_clock,
    }
}

/// What was not looked at, in a few words.
fn topic(fault: Fault, words: &Words) -> &'static str {
    match fault {
        Fault::StartLag => words.lateness,
        Fault::Dropped | Fault::DroppedByTarget | Fault::DroppedByGenerator | Fault::DroppedWhileStarting => {
            words.topic_rate
        }
        Fault::WorkerCpu => words.topic_cpu,
        Fault::Throttled => words.topic_throttled,
        Fault::RunDelay => words.topic_run_delay,
        Fault::Steal => words.topic_steal,
        Fault::TimerLag => words.topic_timer_lag,
        Fault::Coverage | Fault::LongWindows | Fault::WindowsLost | Fault::WorkersLost => {
            words.topic_coverage
        }
        Fault::Network | Fault::Retransmission => words.topic_segments,
        Fault::Exhausted | Fault::Recorded | Fault::Little | Fault::Connects | Fault::Unsteady => {
            words.topic_requests
        }
        Fault::Ports => words.topic_ports,
        Fault::Descriptors => words.topic_descriptors,
        Fault::Clock => words.topic_clock,
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
        check(&late, "DEGRADED: timers woke up to 41ms late (limit 10ms) in 4 of 30 s (12-14, 20)");
        let remark = Reason { grade: Grade::Valid, ..lag(vec![]) };
        check(&validity(Grade::Valid, vec![remark]), "VALID");
        let unwatched = Validity { unmeasured: vec![Fault::WorkerCpu, Fault::Ports], ..Validity::default() };
        check(&unwatched, "NOT MEASURED (not measured: CPU of the workers, ports)");
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
