//! `Event`, `EventTarget`, `AbortController` and `AbortSignal` (WHATWG DOM).

use super::performance;
use crate::js::NativeFn;
use crate::js::library::JsLibrary;
use crate::js::registry::LazyGlobal;

pub(crate) static LIBRARY: JsLibrary =
    JsLibrary::new("globals/events", include_str!("../../js/events.js"), NATIVES);

const NATIVES: &[(&str, NativeFn)] =
    &[("now", performance::now), ("setTimeout", super::set_timeout), ("clearTimeout", super::clear_timer)];

pub(crate) const EVENT: LazyGlobal =
    LazyGlobal { name: "Event", build: |ctx, vu| LIBRARY.member(ctx, vu, "Event") };
pub(crate) const CUSTOM_EVENT: LazyGlobal =
    LazyGlobal { name: "CustomEvent", build: |ctx, vu| LIBRARY.member(ctx, vu, "CustomEvent") };
pub(crate) const TARGET: LazyGlobal =
    LazyGlobal { name: "EventTarget", build: |ctx, vu| LIBRARY.member(ctx, vu, "EventTarget") };
pub(crate) const ABORT_CONTROLLER: LazyGlobal =
    LazyGlobal { name: "AbortController", build: |ctx, vu| LIBRARY.member(ctx, vu, "AbortController") };
pub(crate) const ABORT_SIGNAL: LazyGlobal =
    LazyGlobal { name: "AbortSignal", build: |ctx, vu| LIBRARY.member(ctx, vu, "AbortSignal") };
