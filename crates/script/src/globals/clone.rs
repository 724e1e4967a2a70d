//! `structuredClone` (HTML).

use super::lazy::Lazy;
use super::part::Part;

static PART: Part = Part::new("globals/clone", include_str!("../../js/clone.js"), &[]);

pub(super) const CLONE: Lazy =
    Lazy { name: "structuredClone", build: |ctx, vu| PART.member(ctx, vu, "structuredClone") };
