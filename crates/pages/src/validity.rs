//! `/validity`: the validity of the run and the grade of each second.

use api::page::{GradeRange, Unmeasured, ValidityPage, ValidityReason};
use model::{Grade, Reason};
use report::validity::{amount_text, sentences, topic_of};
use server::PageError;

use super::scope::Scope;
use super::{generator, json, values};

pub(super) fn answer(scope: &Scope) -> Result<String, PageError> {
    let validity = scope.validity()?;
    let amount = |amount: model::Amount| values::value(amount.value(), amount_text(amount));
    let reason = |(reason, sentence): (&Reason, String)| ValidityReason {
        fault: reason.fault.as_str(),
        grade: reason.grade.as_str(),
        sentence,
        observed: amount(reason.observed),
        limit: amount(reason.limit),
        seconds: reason.windows.iter().map(|range| [range.start, range.end - 1]).collect(),
    };
    let unmeasured = validity
        .unmeasured
        .iter()
        .map(|fault| Unmeasured { fault: fault.as_str(), text: topic_of(*fault, scope.lang).to_owned() });
    let states = generator::states(scope)?;
    json(&ValidityPage {
        validity: report::json::validity(validity, scope.lang),
        reasons: validity.reasons.iter().zip(sentences(validity, scope.lang)).map(reason).collect(),
        unmeasured: unmeasured.collect(),
        grades: ranges(&validity.windows),
        strip: generator::facts(scope, &states)?.strip(Some(validity), scope.time_unit()),
    })
}

/// Merges neighbouring windows of the same grade into ranges.
fn ranges(windows: &[(u32, Grade)]) -> Vec<GradeRange> {
    let mut ranges: Vec<GradeRange> = Vec::new();
    for (window, grade) in windows {
        match ranges.last_mut() {
            Some(last) if last.grade == grade.as_str() && last.to + 1 == *window => last.to = *window,
            _ => ranges.push(GradeRange { from: *window, to: *window, grade: grade.as_str() }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_grade_are_one_range() {
        let windows = [(0, Grade::Valid), (1, Grade::Valid), (3, Grade::Valid), (4, Grade::Invalid)];
        let range = |from, to, grade| GradeRange { from, to, grade };
        assert_eq!(ranges(&windows), [range(0, 1, "valid"), range(3, 3, "valid"), range(4, 4, "invalid")]);
    }
}
