//! Celebrities.

use super::{Function, pick};

pub(super) const FUNCTIONS: &[Function] = &[
    pick("celebrityActor", "celebrity.actor"),
    pick("celebrityBusiness", "celebrity.business"),
    pick("celebritySport", "celebrity.sport"),
];
