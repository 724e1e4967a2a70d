//! `Event`, `EventTarget`, `AbortController` and `AbortSignal` (WHATWG DOM).

use super::lazy::Lazy;
use super::part::Part;
use super::performance;
use crate::js::NativeFn;

pub(super) static PART: Part = Part::new("globals/events", include_str!("../../js/events.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] =
    &[("now", performance::now), ("setTimeout", super::set_timeout), ("clearTimeout", super::clear_timer)];

pub(super) const EVENT: Lazy = Lazy { name: "Event", build: |ctx, vu| PART.member(ctx, vu, "Event") };
pub(super) const CUSTOM_EVENT: Lazy =
    Lazy { name: "CustomEvent", build: |ctx, vu| PART.member(ctx, vu, "CustomEvent") };
pub(super) const TARGET: Lazy =
    Lazy { name: "EventTarget", build: |ctx, vu| PART.member(ctx, vu, "EventTarget") };
pub(super) const ABORT_CONTROLLER: Lazy =
    Lazy { name: "AbortController", build: |ctx, vu| PART.member(ctx, vu, "AbortController") };
pub(super) const ABORT_SIGNAL: Lazy =
    Lazy { name: "AbortSignal", build: |ctx, vu| PART.member(ctx, vu, "AbortSignal") };
