//! Thread groups: the load of a scenario.

use super::functions::Names;
use super::xml::Element;
use crate::js;
use crate::plan::{Load, Plan};
use crate::text::Text;

/// The kinds of thread groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupKind {
    Ordinary,
    SetUp,
    TearDown,
    /// Of a plugin, with a load that JMeter's own group does not have.
    Plugin,
}

/// The kind of a thread group's element; `None` for other elements.
pub(super) fn kind(tag: &str) -> Option<GroupKind> {
    match tag {
        "ThreadGroup" => Some(GroupKind::Ordinary),
        "SetupThreadGroup" => Some(GroupKind::SetUp),
        "PostThreadGroup" => Some(GroupKind::TearDown),
        tag if tag.ends_with("ThreadGroup") => Some(GroupKind::Plugin),
        _ => None,
    }
}

pub(super) fn load(element: &Element, kind: GroupKind, names: &mut Names, plan: &mut Plan) -> Option<Load> {
    let name = js::label(element.name());
    match kind {
        GroupKind::Ordinary => {}
        GroupKind::SetUp => plan.notes.add(format!(
            "set-up thread group {name} is a scenario beside the others; move it into setup() if they need it"
        )),
        GroupKind::TearDown => plan.notes.add(format!(
            "tear-down thread group {name} is a scenario beside the others; move it into teardown()"
        )),
        GroupKind::Plugin => {
            plan.notes
                .add(format!("the load of {name} was not converted; write its stages in options.scenarios"));
            return None;
        }
    }
    let mut number = |name: &str| {
        let text = element.property(name);
        let text = names.text(text, plan);
        (!text.is_empty()).then_some(text)
    };
    let vus = number("ThreadGroup.num_threads").unwrap_or_else(|| Text::literal("1"));
    let ramp_s = number("ThreadGroup.ramp_time").unwrap_or_default();
    let duration = number("ThreadGroup.duration");
    let delay = number("ThreadGroup.delay");
    let is_scheduled = element.is_set("ThreadGroup.scheduler");
    let controller = element.property_element("ThreadGroup.main_controller");
    let loops = controller.map(|controller| controller.property("LoopController.loops")).unwrap_or_default();
    let is_endless = controller.is_none_or(|controller| controller.is_set("LoopController.continue_forever"))
        || loops == "-1";
    let iterations = match (loops, is_endless) {
        ("" | "-1", _) => None,
        (_, true) if is_scheduled => None,
        (loops, _) => Some(names.text(loops, plan)),
    };
    let is_zero = |text: &Text| matches!(text.as_literal(), Some("" | "0"));
    let duration_s = duration.filter(|duration| is_scheduled && !is_zero(duration));
    if iterations.is_some() && duration_s.is_none() && !is_zero(&ramp_s) {
        plan.notes.add(format!("{name}: its VUs start at once, without the ramp-up; iterations are kept"));
    }
    let delay_s = delay.filter(|delay| is_scheduled && !is_zero(delay));
    Some(Load { vus, ramp_s, iterations: iterations.filter(|_| duration_s.is_none()), duration_s, delay_s })
}
