//! The results of the auditor: findings and derived figures. All of it is data: the crate `words` has the sentences.

mod claim;
mod figure;
mod law;
mod rule;

pub use claim::AuditClaim;
pub use figure::{ConnectStatistic, Figure, FigureLabel};
pub use law::{Law, LawClaim, ShiftVerdict, SlotUse};
pub use rule::AuditRule;

use crate::finding::{Severity, Strength};

/// A verifiable claim with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The kind of reasoning it rests on.
    pub strength: Strength,
    /// The claim, with the numbers of its sentences.
    pub claim: AuditClaim,
    /// The figures, in the order that the reasoning takes them.
    pub evidence: Vec<Figure>,
    /// The source: a run, or a table and its row.
    pub place: String,
}

impl Finding {
    /// The rule that made it.
    pub const fn rule(&self) -> AuditRule {
        self.claim.rule()
    }
}

/// Figures derived by a law, without a judgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The result, with the numbers of its sentence.
    pub claim: LawClaim,
    /// The figures, derived ones last.
    pub figures: Vec<Figure>,
    /// The source of the figures.
    pub place: String,
}

impl Derived {
    /// The law.
    pub const fn law(&self) -> Law {
        self.claim.law()
    }
}
