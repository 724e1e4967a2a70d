//! `structuredClone` (HTML).

use crate::js::library::JsLibrary;
use crate::js::registry::LazyGlobal;

static LIBRARY: JsLibrary = JsLibrary::new("globals/clone", include_str!("../../js/clone.js"), &[]);

pub(crate) const CLONE: LazyGlobal =
    LazyGlobal { name: "structuredClone", build: |ctx, vu| LIBRARY.member(ctx, vu, "structuredClone") };
