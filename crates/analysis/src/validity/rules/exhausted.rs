//! Requests that failed because the generator's machine had no port, descriptor or buffer left for them.

use model::{Amount, Fault};

use crate::validity::judge::{Case, Limits, Ruling};

/// One is one too many; one in a hundred makes the error rate a number about the generator.
const LIMITS: Limits = Limits::new(0.0, 0.01);

pub(super) fn judge(case: &Case<'_>) -> Ruling {
    if case.all.iter().all(|second| second.requests_finished == 0) {
        return Ruling::NotApplicable;
    }
    let (exhausted, requests) = case.seconds.iter().fold((0u64, 0u64), |(exhausted, requests), second| {
        (exhausted.saturating_add(second.exhausted), requests.saturating_add(second.requests_finished))
    });
    let share = |exhausted: u64, requests: u64| exhausted as f64 / requests.max(1) as f64;
    let run = case.by_run(Fault::Exhausted, Amount::Share, LIMITS, share(exhausted, requests));
    let seconds = case.by_second(Fault::Exhausted, Amount::Share, LIMITS, |second| {
        Some(share(second.exhausted, second.requests_finished))
    });
    match (run, seconds) {
        (Ruling::Bad(reason, _), Ruling::Bad(of_seconds, bad)) => {
            Ruling::Bad(model::Reason { windows: of_seconds.windows, ..reason }, bad)
        }
        (run, _) => run,
    }
}

#[cfg(test)]
mod tests {
    use model::{Fault, Grade};

    use crate::validity::testing::{Run, grade};

    #[test]
    fn one_is_one_too_many() {
        let failing = |every: u32| {
            let run =
                Run::clean(30).change(|index, second| second.exhausted = u64::from(index % every == 0) * 3);
            grade(Fault::Exhausted, &run)
        };
        assert_eq!(grade(Fault::Exhausted, &Run::clean(30)), Grade::Valid);
        assert_eq!(failing(30), Grade::Degraded);
        assert_eq!(failing(1), Grade::Invalid);
    }
}
