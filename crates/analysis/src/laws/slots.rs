//! Whether slots had run out: by Little's law, busy slots are throughput × time of service.

use model::audit::{LawClaim, SlotUse};
use model::{Derived, Figure, FigureLabel, Unit};

use super::little;
use crate::audit::{Facts, Slots};

/// From this share of busy slots on, work waits for slots even if they are enough on average.
const BUSY_SHARE_FULL: f64 = 0.8;

/// Busy slots, and the time outside service.
pub fn derive(facts: &Facts) -> Vec<Derived> {
    let stages: f64 = facts.stages.iter().map(|stage| stage.service).sum();
    facts.slots.iter().take(super::ROWS_MAX).filter_map(|slots| of_slots(slots, stages)).collect()
}

fn of_slots(slots: &Slots, stages_s: f64) -> Option<Derived> {
    let service_s = slots.service.unwrap_or(stages_s);
    if service_s <= 0.0 || slots.slots <= 0.0 {
        return None;
    }
    let busy = little::in_flight(slots.throughput, service_s);
    let share = busy / slots.slots;
    let mut figures = vec![
        Figure::new(FigureLabel::Throughput, slots.throughput, Unit::PerSecond),
        Figure::new(FigureLabel::ServiceTime, service_s, Unit::Seconds),
        Figure::new(FigureLabel::Slots, slots.slots, Unit::Count),
        Figure::new(FigureLabel::BusySlots, busy, Unit::Count),
        Figure::new(FigureLabel::BusyShare, share * 100.0, Unit::Percent),
    ];
    if let Some(response_s) = slots.response.filter(|response| *response > service_s) {
        figures.push(Figure::new(FigureLabel::TimeOutsideService, response_s - service_s, Unit::Seconds));
        figures.push(Figure::new(
            FigureLabel::ShareOutsideService,
            (1.0 - service_s / response_s) * 100.0,
            Unit::Percent,
        ));
    }
    let used = match share {
        share if share < BUSY_SHARE_FULL => SlotUse::Free,
        share if share <= 1.0 => SlotUse::NearlyExhausted,
        _ => SlotUse::Impossible,
    };
    Some(Derived {
        claim: LawClaim::BusySlots { pool: slots.what.clone(), busy, slots: slots.slots, used },
        figures,
        place: slots.place.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::figure;
    use super::*;
    use crate::audit::testing::facts;

    #[test]
    fn busy_slots_decide() {
        let check = |throughput: &str, expect: SlotUse| {
            let text = format!("what,slots,throughput,service\nworkers,100,{throughput},2s\n");
            let found = derive(&facts(&[&text]));
            let is_expected = matches!(found[0].claim, LawClaim::BusySlots { used, .. } if used == expect);
            assert!(is_expected, "{found:?}");
        };
        check("39.9/s", SlotUse::Free);
        check("40/s", SlotUse::NearlyExhausted);
        check("50/s", SlotUse::NearlyExhausted);
        check("50.1/s", SlotUse::Impossible);
    }

    #[test]
    fn stages_add_up_where_no_service_is_given() {
        let facts =
            facts(&["stage,service\na,4s\nb,1s\n", "what,slots,throughput,response\nw,100,2/s,20s\n"]);
        let found = derive(&facts);
        assert_eq!(figure(&found, &FigureLabel::BusySlots), 10.0);
        assert_eq!(figure(&found, &FigureLabel::TimeOutsideService), 15.0);
        assert_eq!(figure(&found, &FigureLabel::ShareOutsideService), 75.0);
    }
}
