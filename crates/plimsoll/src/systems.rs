//! The systems of the lab.

use lab::System;

/// The systems. To add one, create a folder in `lab` and a line here.
pub(crate) const SYSTEMS: &[&System] = &[&appstore::SYSTEM, &feed::SYSTEM, &ingress::SYSTEM, &scan::SYSTEM];
