//! Predictions of throughput or mean response time after a remedy that removes a share of the time or of the work.

use model::Unit;
use model::diagnosis::{Change, FigureName, Measured, NextLimit, Prediction, Refutation, SlotKind};

use super::case_view::View;
use super::ceilings::{self, Ceiling};
use super::thresholds::case_view::{RELATIVE_MIN, WAITS_MIN};
use super::thresholds::prediction::{
    BETWEEN_RUNS, CEILING_MAX, FREED_COUNTED_MAX, FREED_MAX, FREED_MIN, OF_CEILING, PROMISED_MAX,
    SLOTS_TIMES, WIDTH_MAX,
};

/// The saving of a remedy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    /// Share of response time that is removed.
    pub(super) share: f64,
    /// Share of the saturated resource's work that is removed.
    pub(super) freed: f64,
}

/// Work that a remedy takes off a resource.
#[derive(Clone, Copy, Debug)]
struct Freed {
    /// Smallest and largest share of its work.
    shares: (f64, f64),
    /// How many times its present use it can have; `None` if its use is unknown, so that it may be saturated.
    headroom: Option<f64>,
}

impl View<'_> {
    /// Predicts the effect of removing a share of the time: higher throughput in a closed workload, lower latency in an
    /// open one.
    pub(super) fn without(&self, share: f64, change: Change) -> Option<Prediction> {
        let ceiling = ceilings::lowest_above(self, self.level.throughput_per_s(), share);
        self.predicted((share, share), change, ceiling, None)
    }

    /// Predicts the effect of removing a share of the time, up to the ceiling of a resource that the remedy leaves as it is.
    pub(super) fn without_up_to(&self, share: f64, change: Change, most: Ceiling) -> Option<Prediction> {
        let through = self.level.throughput_per_s();
        let ceilings = ceilings::lowest_above(self, through, share).into_iter().chain(Some(most));
        let lowest = ceilings.filter(|it| it.per_s > through).min_by(|a, b| a.per_s.total_cmp(&b.per_s));
        self.predicted((share, share), change, lowest, None)
    }

    /// Predicts the effect of raising a limit of concurrency from `from` to [`SLOTS_TIMES`] as many, or to as many as the users need.
    /// All are in use at the limit, so each lets the same number of requests through (utilisation law, X = k / S).
    pub(super) fn with_slots(&self, share: f64, kind: SlotKind, from: f64) -> Option<Prediction> {
        let through = self.level.throughput_per_s();
        let change = |to| Change::Slots { kind, from, to };
        let Some(unlimited) = self.without_any(share).filter(|_| from >= 1.0 && through > 0.0) else {
            return self.without(share, change((from * SLOTS_TIMES).max(from + 1.0)));
        };
        let enough = (unlimited * from / through).ceil();
        let to = (from * SLOTS_TIMES).min(enough).max(from + 1.0);
        let by_slots = through * to / from;
        if by_slots >= unlimited {
            return self.without(share, change(to));
        }
        let lowest = ceilings::lowest_above(self, through, share);
        // A ceiling that is a lower bound does not replace a rate that is counted.
        if lowest.as_ref().is_some_and(|ceiling| ceiling.is_firm && ceiling.per_s < by_slots) {
            return self.without(share, change(to));
        }
        let least = lowest.map_or(by_slots, |ceiling| by_slots.min(ceiling.per_s));
        let (least, most) = (least * (1.0 - OF_CEILING), by_slots * (1.0 + OF_CEILING));
        Some(Prediction {
            change: change(to),
            now: Some(Measured::exact(FigureName::Throughput, through, Unit::PerSecond)),
            then: Some(Measured::within(FigureName::Throughput, by_slots, Unit::PerSecond, (least, most))),
            next_limit: NextLimit::SameSlots,
            wrong_if: Refutation::ThroughputBelow { per_s: least },
            command: self.level.command.clone(),
        })
    }

    /// Returns the throughput of a closed workload after a share of the time is gone, if nothing else limits it.
    fn without_any(&self, share: f64) -> Option<f64> {
        let (vus, mean_s, through) =
            (self.level.closed_vus?, self.level.mean_s()?, self.level.throughput_per_s());
        let cycle_s = vus / through;
        (cycle_s.is_finite() && cycle_s > 0.0)
            .then(|| vus / (cycle_s - mean_s.min(cycle_s) * share).max(f64::MIN_POSITIVE))
    }

    /// Predicts the effect of a remedy that also frees a share of a saturated resource.
    pub(super) fn without_work(&self, gone: Gone, change: Change) -> Option<Prediction> {
        self.without_between(gone, gone, change)
    }

    /// Predicts the effect between a smallest and a largest saving. Savings of work below [`FREED_MIN`] count as time only.
    pub(super) fn without_between(&self, least: Gone, most: Gone, change: Change) -> Option<Prediction> {
        if least.freed < FREED_MIN {
            let gone = least.share.midpoint(most.share);
            let ceiling = ceilings::lowest_above(self, self.level.throughput_per_s(), gone);
            return self.predicted((least.share, most.share), change, ceiling, None);
        }
        let freed = Freed { shares: (least.freed, most.freed), headroom: None };
        self.predicted((least.share, most.share), change, None, Some(freed))
    }

    /// Predicts the effect of taking work off a resource that can have `headroom` times its present use.
    pub(super) fn without_work_of(
        &self,
        least: Gone,
        most: Gone,
        headroom: f64,
        change: Change,
    ) -> Option<Prediction> {
        let freed = Freed { shares: (least.freed, most.freed), headroom: Some(headroom) };
        self.predicted((least.share, most.share), change, None, Some(freed))
    }

    /// Predicts the effect of removing time that was spent while others queued, between a smallest and a largest share. Its share of all
    /// work goes from their queueing time as well (queueing is shared in proportion to demand; utilisation law).
    pub(super) fn without_holding(&self, (least, most): (f64, f64), change: Change) -> Option<Prediction> {
        let waits = self.share_of_waits();
        if waits < WAITS_MIN {
            let gone = least.midpoint(most);
            let ceiling = ceilings::lowest_above(self, self.level.throughput_per_s(), gone);
            return self.predicted((least, most), change, ceiling, None);
        }
        let gone = |share: f64| {
            let demand = (share / (self.share_traced() - waits).max(share)).min(1.0);
            Gone { share: (share + waits * demand).min(1.0), freed: demand }
        };
        self.without_between(gone(least), gone(most), change)
    }

    /// Returns the throughput of a saturated resource after the share `freed` of its work is gone: 1 / (1 - freed) times as much
    /// (utilisation law), but at most what the users of a closed workload can request without any wait.
    fn predicted(
        &self,
        shares: (f64, f64),
        change: Change,
        ceiling: Option<Ceiling>,
        freed: Option<Freed>,
    ) -> Option<Prediction> {
        let (mean_s, through) = (self.level.mean_s()?, self.level.throughput_per_s());
        let share = shares.0.midpoint(shares.1);
        if mean_s <= 0.0 || through <= 0.0 || share <= 0.0 {
            return None;
        }
        let (low, high) = (self.share_interval(shares.0).0, self.share_interval(shares.1).1);
        let command = self.level.command.clone();
        let Some(vus) = self.level.closed_vus else {
            let after_s = |share: f64| mean_s * (1.0 - share);
            return Some(Prediction {
                change,
                now: Some(Measured::exact(FigureName::MeanTime, mean_s, Unit::Seconds)),
                then: Some(Measured::within(
                    FigureName::MeanTime,
                    after_s(share),
                    Unit::Seconds,
                    (after_s(high), after_s(low)),
                )),
                next_limit: NextLimit::Remainder,
                wrong_if: Refutation::MeanAbove { seconds: after_s(low) },
                command,
            });
        };
        // The pause of users is known better from the middle of a run than from all of it, in which long requests are cut off.
        let whole_s = vus / through;
        let cycle_s = self.level.pause_s().map_or(whole_s, |pause_s| whole_s.min(mean_s + pause_s));
        let (mean_s, least_s) = (mean_s.min(cycle_s), self.level.poll_interval_s().unwrap_or(0.0));
        let rest_s = |share: f64| (mean_s * (1.0 - share)).max(least_s.min(mean_s));
        let after = |share: f64| vus / (cycle_s - mean_s + rest_s(share)).max(f64::MIN_POSITIVE);
        let firm = ceiling.as_ref().filter(|ceiling| ceiling.is_firm);
        let cap = |rate: f64| firm.map_or(rate, |ceiling| rate.min(ceiling.per_s.max(through)));
        let (mut least, mut most) = (cap(after(low)), cap(after(high)));
        let mut then = cap(after(share));
        if let Some(Freed { shares, headroom }) = freed {
            let most_through = through * headroom.unwrap_or(1.0);
            let freed_max = if headroom.is_some() { FREED_COUNTED_MAX } else { FREED_MAX };
            let by_law = |freed: f64| (most_through / (1.0 - freed.min(freed_max))).min(after(1.0));
            let (lowest, highest) =
                (by_law(shares.0 * (1.0 - RELATIVE_MIN)), by_law(shares.1 * (1.0 + RELATIVE_MIN)));
            let middle = by_law(shares.0).midpoint(by_law(shares.1));
            least = least.min(lowest * (1.0 - OF_CEILING));
            // A resource whose use is known limits what the time alone would let through.
            (then, most) = match headroom {
                Some(_) => (then.min(middle), most.min(highest * (1.0 + OF_CEILING))),
                None => (middle, most.max(highest * (1.0 + OF_CEILING))),
            };
        } else if firm.is_some_and(|ceiling| after(high) > ceiling.per_s) {
            (least, most) = (least.min(then * (1.0 - OF_CEILING)), most.max(then * (1.0 + OF_CEILING)));
        } else if let Some(loose) = ceiling.as_ref().filter(|ceiling| !ceiling.is_firm) {
            least = least.min(loose.per_s * (1.0 - OF_CEILING));
        } else if ceiling.is_none() && least > through * PROMISED_MAX {
            // A resource without a known limit may limit first, so the interval extends from there. What the law expects stays.
            least = through * PROMISED_MAX;
        }
        (least, most) = (least * (1.0 - BETWEEN_RUNS), most * (1.0 + BETWEEN_RUNS));
        let next_limit = match ceiling {
            Some(Ceiling { resource, per_s, .. }) if after(share) > per_s => {
                NextLimit::Resource { resource, ceiling_per_s: Some(per_s) }
            }
            Some(Ceiling { resource, per_s, .. }) if per_s <= then * CEILING_MAX => {
                NextLimit::Users { resource, ceiling_per_s: per_s }
            }
            None if freed.is_none() => NextLimit::Unknown,
            _ => NextLimit::UsersOrRemainder,
        };
        Some(Prediction {
            change,
            now: Some(Measured::exact(FigureName::Throughput, through, Unit::PerSecond)),
            then: Some(rate_within(then, (least, most))),
            next_limit,
            wrong_if: Refutation::ThroughputBelow { per_s: least },
            command,
        })
    }
}

/// A throughput with its interval. Where hardly any time would be left and nothing reported a limit, the law expects more than anyone
/// has measured: then it is the lower bound, without an interval.
fn rate_within(per_s: f64, (least, most): (f64, f64)) -> Measured {
    if most > least * WIDTH_MAX {
        return Measured::exact(FigureName::Throughput, least, Unit::PerSecond);
    }
    Measured::within(FigureName::Throughput, per_s, Unit::PerSecond, (least, most))
}

#[cfg(test)]
mod tests {
    use super::super::case::{Case, Level};
    use super::super::testing::{flat, level, request, sampled, span};
    use super::*;

    #[test]
    fn users_who_go_round_go_faster_and_plans_do_not() {
        let mut level = level(10, 100, 0.1);
        let case = |level: &Level| Case { levels: vec![level.clone()] };
        let open = case(&level);
        let prediction = View::new(&open).expect("a run").without(0.5, Change::NoJob).expect("a time");
        assert_eq!(prediction.then.expect("a time").value, 0.05);
        level.closed_vus = Some(20.0);
        let closed = case(&level);
        let prediction = View::new(&closed).expect("a run").without(0.5, Change::NoJob).expect("a time");
        // A cycle of 200 ms, of which 50 ms are removed.
        let then = prediction.then.expect("a rate");
        assert_eq!((then.value * 10.0).round(), 1333.0);
        let (low, high) = then.interval.expect("an interval");
        assert!(low < 133.0 && high > 134.0, "{low} {high}");
    }

    #[test]
    fn no_more_than_twice_as_much_is_promised_where_no_limit_was_told() {
        let mut level = level(10, 100, 0.1);
        level.closed_vus = Some(10.5);
        let of = |level: &Level, share| {
            let case = Case { levels: vec![level.clone()] };
            let prediction = View::new(&case).expect("a run").without(share, Change::NoJob).expect("a rate");
            let then = prediction.then.expect("a rate");
            (then.value.round(), then.interval.map(|(low, high)| (low.round(), high.round())))
        };
        // A cycle of 105 ms, of which about 90 ms are removed.
        assert_eq!(of(&level, 0.9), (700.0, Some((190.0, 1838.0))));
        assert_eq!(of(&level, 0.4), (162.0, Some((145.0, 181.0))));
        // A core that is a tenth used has ten times the throughput as its ceiling.
        level.evidence.signals = vec![flat("core_cpu", &[("core", "1")], 10, 0.1)];
        assert_eq!(of(&level, 0.9).0, 700.0);
        // Without think time, of which 99 ms are removed: 10,000/s by the law, which nothing supports.
        (level.closed_vus, level.evidence.signals) = (Some(10.0), Vec::new());
        assert_eq!(of(&level, 0.99), (190.0, None));
    }

    /// The prediction of 50 requests/s of 400 ms, of which a share is waiting for one of two connections.
    fn more_connections(users: f64, share: f64, cpu: f64) -> Prediction {
        let mut level = level(10, 50, 0.4);
        level.closed_vus = Some(users);
        level.evidence.signals = vec![flat("core_cpu", &[("core", "1")], 10, cpu)];
        let case = Case { levels: vec![level] };
        View::new(&case).expect("a run").with_slots(share, SlotKind::Connections, 2.0).expect("a rate")
    }

    #[test]
    fn work_is_taken_off_the_use_that_is_known() {
        let mut level = level(10, 100, 0.1);
        // A cycle of 120 ms: without any of the time, 600 requests/s.
        level.closed_vus = Some(12.0);
        let case = Case { levels: vec![level] };
        let view = View::new(&case).expect("a run");
        let gone = Gone { share: 0.5, freed: 0.5 };
        let then = |headroom| {
            let then = view.without_work_of(gone, gone, headroom, Change::IndexExists).and_then(|it| it.then);
            then.map(|it| it.value.round())
        };
        // Half of the work of a saturated resource is gone, and half of the time: twice as much by its use, 171/s by the time.
        assert_eq!(then(1.0), Some(171.0));
        assert_eq!(
            view.without_work(gone, Change::IndexExists).and_then(|it| it.then).map(|it| it.value),
            Some(200.0)
        );
        let small = Gone { share: 0.5, freed: 0.2 };
        let then = view.without_work_of(small, small, 1.0, Change::IndexExists).and_then(|it| it.then);
        assert_eq!(then.map(|it| it.value), Some(125.0));
    }

    #[test]
    fn a_polled_task_takes_an_interval_of_its_polls() {
        let mut level = level(10, 120, 0.002);
        // Ten tasks a second of a second each, each submitted and polled eleven times, by twelve users.
        level.tasks = Some(super::super::case::Tasks { done: 100, mean_s: Some(1.0), ..Default::default() });
        level.closed_vus = Some(12.0);
        assert_eq!(level.poll_interval_s().map(|interval_s| (interval_s * 1e3).round()), Some(89.0));
        let case = Case { levels: vec![level] };
        let view = View::new(&case).expect("a run");
        let then =
            |share| view.without(share, Change::NoCallWait).and_then(|it| it.then).map(|it| it.value.round());
        // A cycle of 1.2 s, of which 200 ms are think time.
        assert_eq!((then(0.5), then(0.99)), (Some(17.0), Some(42.0)));
    }

    #[test]
    fn without_spans_what_nothing_explains_may_be_queueing() {
        let share = |cores: Option<f64>, traces: u128| {
            let mut level = level(10, 10, 0.1);
            level.evidence.signals.extend(cores.map(|cores| flat("process_cpu", &[], 10, cores)));
            let trace = |number| sampled(number, request("shop", "GET /", 100.0, &[]));
            level.traces = (0..traces).map(trace).collect();
            let case = Case { levels: vec![level] };
            (View::new(&case).expect("a run").share_with_queueing(0.4) * 100.0).round()
        };
        // 40 ms are known and 20 ms computed: of the other 40 ms, two thirds are queueing for what is known.
        assert_eq!(share(Some(0.2), 0), 67.0);
        assert_eq!(share(None, 0), 100.0);
        assert_eq!(share(Some(0.2), 20), 40.0, "spans show the rest");
    }

    #[test]
    fn each_of_more_connections_lets_as_many_through() {
        let of = |users, share, cpu| {
            let prediction = more_connections(users, share, cpu);
            let Change::Slots { from, to, .. } = prediction.change else { panic!("{prediction:?}") };
            let then = prediction.then.expect("a rate");
            (from, to, then.value.round(), then.interval.map(|(low, high)| (low.round(), high.round())))
        };
        // Twenty users would ask for 500 requests/s without waiting: eight connections are all in use again.
        assert_eq!(of(20.0, 0.9, 0.1), (2.0, 8.0, 200.0, Some((180.0, 220.0))));
        // Twice as many let through what the users ask for, so that no more are proposed.
        let (from, to, then, _) = of(20.0, 0.3, 0.1);
        assert_eq!((from, to, then), (2.0, 3.0, 71.0));
        // A core that is half used lets twice as much through at most.
        assert_eq!(of(20.0, 0.9, 0.5).2, 100.0);
    }

    #[test]
    fn a_ceiling_from_little_use_is_a_lower_bound() {
        let of = |cpu| {
            let mut level = level(10, 100, 0.1);
            level.closed_vus = Some(10.5);
            level.evidence.signals = vec![flat("core_cpu", &[("core", "1")], 10, cpu)];
            let case = Case { levels: vec![level] };
            let view = View::new(&case).expect("a run");
            let then = view.without(0.9, Change::NoJob).and_then(|it| it.then).expect("a rate");
            (then.value.round(), then.interval.expect("an interval").0.round())
        };
        // A third of the core may be used without requests as well; two thirds are mostly theirs.
        assert_eq!(of(0.3), (700.0, 285.0));
        assert_eq!(of(0.6).0, 167.0);
    }

    #[test]
    fn what_is_held_while_others_wait_goes_with_its_part_of_their_waits() {
        let of = |number| {
            let mut spans = request("shop", "GET /", 100.0, &[("update app", 60.0, 40.0)]);
            spans.push(span(9, 1, "shop", "wait for a connection", 0.0, 60.0));
            sampled(number, spans)
        };
        let mut level = level(10, 100, 0.1);
        level.traces = (0..20).map(of).collect();
        level.closed_vus = Some(20.0);
        let case = Case { levels: vec![level] };
        let view = View::new(&case).expect("a run");
        let then = |prediction: Option<Prediction>| prediction.and_then(|it| it.then).expect("a rate");
        // A quarter of the 40 ms of work: a quarter of the queueing goes with it, and throughput rises by a third.
        let held = then(view.without_holding((0.1, 0.1), Change::NoJob));
        assert_eq!((held.value * 10.0).round(), 1333.0);
        // All of the work: only think time remains of a cycle.
        let all = then(view.without_holding((0.4, 0.4), Change::NoJob));
        assert_eq!(all.value.round(), 200.0);
        let (low, high) = all.interval.expect("an interval");
        assert!(low < 200.0 && high > 200.0 && high < 240.0, "{low} {high}");
    }
}
