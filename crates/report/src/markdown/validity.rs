//! Measurement validity: every reason and remark, and the checks that were not made.

use model::Grade;

use crate::validity;

use super::Context;

pub(super) fn body(context: &Context<'_>) -> Option<String> {
    let (lang, found) = (context.lang, context.report.summary.validity.as_ref()?);
    let mut text = String::new();
    for reason in &found.reasons {
        let mark = match reason.grade {
            Grade::Invalid => "❌",
            Grade::Degraded => "⚠️",
            Grade::Valid | Grade::Unmeasured => "ℹ️",
        };
        text += &format!("* {mark} {}\n", validity::reason(reason, found, lang));
    }
    text.extend(validity::unmeasured(found, lang).map(|unmeasured| format!("* {unmeasured}\n")));
    (!text.is_empty()).then_some(text)
}
