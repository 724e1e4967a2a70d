//! Whether slots had run out: by Little's law, busy slots are throughput × time of service.

use model::{Derived, Figure, Unit};

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
        Figure::new("throughput", slots.throughput, Unit::PerSecond),
        Figure::new("service time", service_s, Unit::Seconds),
        Figure::new("slots", slots.slots, Unit::Count),
        Figure::new("busy slots", busy, Unit::Count),
        Figure::new("busy share", share * 100.0, Unit::Percent),
    ];
    if let Some(response_s) = slots.response.filter(|response| *response > service_s) {
        figures.push(Figure::new("time outside service", response_s - service_s, Unit::Seconds));
        figures.push(Figure::new(
            "share of time outside service",
            (1.0 - service_s / response_s) * 100.0,
            Unit::Percent,
        ));
    }
    let verdict = match share {
        share if share < BUSY_SHARE_FULL => "exhaustion is refuted",
        share if share <= 1.0 => "nearly exhausted",
        _ => "impossible: one of the figures is wrong",
    };
    Some(Derived {
        law: "slots",
        says: format!(
            "{}: {busy:.0} of {:.0} slots were busy on average: {verdict}",
            slots.what, slots.slots
        ),
        figures,
        caveats: vec![
            "mean over the run; if service was slower than logged (CPU starvation), more slots were busy"
                .to_owned(),
        ],
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
        let check = |throughput: &str, expect: &str| {
            let text = format!("what,slots,throughput,service\nworkers,100,{throughput},2s\n");
            let found = derive(&facts(&[&text]));
            assert!(found[0].says.contains(expect), "{found:?}");
        };
        check("39.9/s", "refuted");
        check("40/s", "nearly exhausted");
        check("50/s", "nearly exhausted");
        check("50.1/s", "one of the figures is wrong");
    }

    #[test]
    fn stages_add_up_where_no_service_is_given() {
        let facts =
            facts(&["stage,service\na,4s\nb,1s\n", "what,slots,throughput,response\nw,100,2/s,20s\n"]);
        let found = derive(&facts);
        assert_eq!(figure(&found, "busy slots"), 10.0);
        assert_eq!(figure(&found, "time outside service"), 15.0);
        assert_eq!(figure(&found, "share of time outside service"), 75.0);
    }
}
