//! Every text of a diagnosis, in every language: complete, in the field's terms, and with readable numbers.

use model::diagnosis::{
    Admission, Caveat, Change, Claim, Hypothesis, Inconclusive, MissingKind, NextLimit, Outcome, Reading,
    Refusal, Refutation, Remedy, Resource, ResourceKind, RuledOut, SlotKind,
};
use model::{Diagnosis, Fault, Grade};

use super::*;

/// A share, a time, a rate and a count with more digits than readers should see.
const SHARE: f64 = 0.784_321;
const TIME_S: f64 = 0.042_137_9;
const RATE: f64 = 1_148.237;
const COUNT: f64 = 16_324.71;

fn name() -> String {
    "shop".to_owned()
}

fn resource(kind: ResourceKind) -> Resource {
    Resource { kind, place: name() }
}

/// Every kind of claim, with each of its optional numbers and without.
fn claims() -> Vec<Claim> {
    let mut claims: Vec<Claim> = ResourceKind::ALL
        .iter()
        .flat_map(|kind| {
            [None, Some(RATE)].map(|ceiling_per_s| Claim::ProcessorAtLimit {
                resource: resource(*kind),
                used: 0.978_32,
                limit: 1.0,
                at_limit_share: SHARE,
                ceiling_per_s,
            })
        })
        .collect();
    let (waiting_share, time_share, requests_share, database_share) = (SHARE, SHARE, SHARE, SHARE);
    let (mean_s, mean_wait_s) = (TIME_S, TIME_S);
    for number in [None, Some(COUNT)] {
        let (pending, connections) = (number, number.map(|_| 8.0));
        let optional_s = number.map(|_| TIME_S);
        claims.extend([
            Claim::PoolExhausted {
                place: name(),
                waiting_share,
                mean_wait_s: optional_s,
                pending,
                connections,
            },
            Claim::RowLocks {
                sessions: COUNT,
                longest_s: TIME_S,
                waiting_share,
                blocker: number.map(|_| "update app".to_owned()),
            },
            Claim::ConnectionsDropped { late_requests: COUNT, late_share: SHARE, dropped_per_s: number },
            Claim::FewConsumers { queue: name(), consumers: COUNT, workers: number, waiting_share },
        ]);
    }
    for limit in [Admission::Rate, Admission::Concurrency(8.0), Admission::Unknown, Admission::Closed] {
        for by in [Refusal::Status(503), Refusal::Connection] {
            claims.push(Claim::Refused { by, refused_share: SHARE, passed_per_s: RATE, limit });
        }
    }
    for is_even in [true, false] {
        claims.push(Claim::BandwidthSaturated {
            bytes_per_s: 6_512_345.0,
            is_even,
            outside_s: TIME_S,
            outside_share: SHARE,
        });
    }
    claims.extend([
        Claim::Throttled { place: name(), throttled_share: SHARE },
        Claim::QuotaUsedUp { place: name(), used_cores: 0.2, stalls_per_s: 9.87654, stalled_share: SHARE },
        Claim::GarbageCollection { place: name(), stalled_share: SHARE },
        Claim::Pauses { place: name(), stalled_share: SHARE, pauses: COUNT, mean_s },
        Claim::EventLoopBlocked { place: name(), wait_s: mean_wait_s, delay_s: TIME_S, time_share },
        Claim::CacheEvicts { place: name(), evicted_per_s: RATE, missed_share: SHARE },
        Claim::MemoryFull { place: name(), peak_share: SHARE },
        Claim::HeadOfLine { service: name(), waiting_share, mean_wait_s },
        Claim::ProcessorsTaken { place: name(), used: 0.05, others: 1.9, cores: 2.0, waiting_share },
        Claim::CallsInLine {
            service: name(),
            operation: name(),
            at_once: 2.0,
            open: COUNT,
            one_s: TIME_S,
            waiting_share,
        },
        Claim::HeldByConsumers { queue: name(), held: COUNT, busy: 2.381, slots: 4.0, waiting_share },
        Claim::LogSync { sessions: COUNT, waiting_share },
        Claim::DiskReads { sessions: COUNT, waiting_share },
        Claim::ConnectionsNotReused { per_request: 0.981_23, opened_per_s: RATE, requests_per_s: RATE },
        Claim::RepeatedStatement { statement: name(), times: COUNT, time_share, requests_share },
        Claim::RepeatedCalls { statement: name(), calls_per_request: COUNT, database_share },
        Claim::MissingIndex {
            statement: name(),
            read: Reading::Blocks(COUNT),
            rows: 1.0,
            mean_s,
            database_share,
        },
        Claim::MissingIndex {
            statement: name(),
            read: Reading::Rows(COUNT),
            rows: 1.0,
            mean_s,
            database_share,
        },
        Claim::SlowStatement { statement: name(), read: Reading::Blocks(COUNT), mean_s, database_share },
        Claim::SlowTracedStatement { statement: name(), mean_s, time_share },
        Claim::BackgroundStatement {
            statement: name(),
            every_s: TIME_S,
            mean_s,
            calls: COUNT,
            database_share,
        },
        Claim::PeriodicLatency { period_s: 20.0, correlation: SHARE },
        Claim::CacheStampede { statement: name(), concurrent: COUNT, mean_s, requests_share },
        Claim::SlowCalls { service: name(), operation: name(), mean_s, calls: COUNT, time_share },
        Claim::Unanswered { service: name(), callee: name(), waiting: COUNT, mean_s, time_share },
        Claim::NameResolution { service: name(), mean_s, time_share },
        Claim::CallsPaced { operation: name(), per_s: RATE, slow_s: TIME_S, mean_s, time_share },
        Claim::CallsHeldBack { service: name(), held_share: SHARE, mean_s, time_share },
        Claim::Serialised { operation: name(), done_per_s: RATE, one_s: TIME_S, busy_share: SHARE, mean_s },
        Claim::CallsInTurn {
            service: name(),
            operation: name(),
            done_per_s: RATE,
            one_s: TIME_S,
            waiting_share,
        },
        Claim::WorkersBusy {
            service: name(),
            operation: name(),
            at_once: COUNT,
            through_per_s: RATE,
            waiting_share,
        },
        Claim::QueuedInFront { service: name(), at_once: COUNT, through_per_s: RATE, waiting_share },
        Claim::PacedInFront { service: name(), per_s: RATE, waiting_share },
        Claim::Plateau {
            service: name(),
            operation: name(),
            in_flight: COUNT,
            low_in_flight: COUNT,
            through_per_s: RATE,
            low_through_per_s: RATE,
            time_share,
        },
        Claim::PrefetchUsedUp {
            queue: name(),
            consumers: COUNT,
            each: COUNT,
            held: COUNT,
            prefetch: COUNT,
            ready: COUNT,
        },
        Claim::ScalerAtMaximum { scaler: name(), replicas: 3.0, at_maximum_share: SHARE, waiting_share },
        Claim::Redelivered { queue: name(), again_share: SHARE },
        Claim::UnevenReplicas {
            replica: name(),
            group: name(),
            replicas: 3,
            times: 1.987_65,
            requests_share,
        },
        Claim::WaitsInWorker { operation: name(), mean_wait_s, time_share },
        Claim::WaitsAtEnd { service: name(), mean_wait_s, cpu_s: 0.001_234_5, time_share },
        Claim::LargeResponses { body_bytes: 60_123.4, time_share },
        Claim::OutcomeNeverOccurs { outcome: name(), tasks: 50 },
    ]);
    claims
}

/// Texts with names alone, such as a resource's, may have no word in the language.
#[track_caller]
fn check(lang: Lang, text: &str) {
    assert!(!text.trim().is_empty());
    assert!(!text.contains(['{', '}']) && !text.contains("  "), "{text}");
    for banned in ["told", "tells", "nobody", "what is", "whoever"] {
        assert!(!text.to_lowercase().contains(&banned.to_lowercase()), "{banned}: {text}");
    }
    for number in text.split(|glyph: char| !glyph.is_ascii_digit() && !matches!(glyph, '.' | ',')) {
        let digits = number.trim_matches(['.', ',']);
        let significant = digits.replace(['.', ','], "");
        let significant = significant.trim_matches('0');
        assert!(significant.len() <= 3, "{number} has more than three digits: {text}");
        let longest = digits.split('.').next().unwrap_or("").split(',').map(str::len).max().unwrap_or(0);
        assert!(longest <= 3, "{number} has no separator of thousands: {text}");
    }
    if lang == Lang::Ko {
        assert!(text.contains(|glyph: char| ('가'..='힣').contains(&glyph)), "{text}");
    }
}

#[test]
fn every_claim_has_its_sentences() {
    let all = claims();
    for fault in model::diagnosis::FaultKind::ALL {
        assert!(all.iter().any(|claim| claim.fault() == *fault), "no claim of {fault:?}");
    }
    for detector in model::diagnosis::DetectorId::ALL {
        assert!(all.iter().any(|claim| claim.detector() == *detector), "no claim of {detector:?}");
    }
    for lang in Lang::ALL {
        for one in &all {
            let ClaimText { headline, summary, claim } = claim(lang, one);
            [headline, summary, claim].iter().for_each(|text| check(lang, text));
        }
    }
}

#[test]
fn a_finding_is_a_headline_with_its_number_and_limit() {
    let pool = Claim::PoolExhausted {
        place: name(),
        waiting_share: SHARE,
        mean_wait_s: Some(TIME_S),
        pending: None,
        connections: Some(8.0),
    };
    assert_eq!(
        [claim(Lang::En, &pool).headline, claim(Lang::Ko, &pool).headline],
        [
            "Connection pool exhausted in shop: requests spend 78 % of their time waiting for one of 8 connections",
            "shop 커넥션 풀 고갈: 요청 시간의 78 %를 커넥션 8개를 기다리며 보냄",
        ]
    );
    let scaler = Claim::ScalerAtMaximum {
        scaler: "scan-worker".to_owned(),
        replicas: 3.0,
        at_maximum_share: 1.0,
        waiting_share: 0.81,
    };
    assert_eq!(
        claim(Lang::En, &scaler).headline,
        "Autoscaler at its maximum: scan-worker has 3 of 3 replicas while 81 % of task time is queueing"
    );
}

#[test]
fn remedies_and_predictions_have_words() {
    let remedies = [
        Remedy::RaiseProcessor { kind: ResourceKind::Cpu, place: name(), limit: COUNT },
        Remedy::FreeProcessors { place: name() },
        Remedy::RaiseCpuLimit { place: name() },
        Remedy::AllocateLess,
        Remedy::MoveOffEventLoop { place: name() },
        Remedy::EnlargeCache { place: name() },
        Remedy::RaiseMemoryLimit { place: name() },
        Remedy::EnlargePool,
        Remedy::MultiplexConnections,
        Remedy::ShortenTransactions,
        Remedy::ReduceDiskWaits,
        Remedy::AcceptFaster,
        Remedy::KeepConnections,
        Remedy::BatchStatements,
        Remedy::CreateIndex,
        Remedy::CacheResult,
        Remedy::MoveJob,
        Remedy::FindJob,
        Remedy::RefillOnce,
        Remedy::CallLess,
        Remedy::CacheLookups,
        Remedy::RaiseRateLimit,
        Remedy::ReleaseLock { service: name() },
        Remedy::SplitKey,
        Remedy::AddWorkers { service: name(), cacheable: None },
        Remedy::AddWorkers { service: name(), cacheable: Some((name(), SHARE)) },
        Remedy::RaisePrefetch,
        Remedy::AddConsumers,
        Remedy::RaiseMaximum { scaler: name() },
        Remedy::AcknowledgeMessages,
        Remedy::AdmitMore,
        Remedy::StartTarget,
        Remedy::BalanceReplicas,
        Remedy::RaiseWorkerMemory,
        Remedy::LogAsynchronously,
        Remedy::ShortenResponses,
        Remedy::RaiseBandwidth,
        Remedy::CheckOutcome,
    ];
    let changes = [
        Change::ProcessorLimit { kind: ResourceKind::Core, place: name(), from: 1.0, to: COUNT },
        Change::StatementFast { alike: 1 },
        Change::StatementFast { alike: 3 },
        Change::AnswerCached { operation: name() },
        Change::MoreProxies { service: name() },
        Change::NoJob,
        Change::EnoughConnections,
        Change::Slots { kind: SlotKind::Connections, from: 2.0, to: 8.0 },
        Change::Slots { kind: SlotKind::Workers, from: 1.0, to: 4.0 },
        Change::Slots { kind: SlotKind::Consumers, from: 1.0, to: 4.0 },
    ];
    let core = || resource(ResourceKind::Core);
    let limits = [
        NextLimit::Resource { resource: core(), ceiling_per_s: Some(RATE) },
        NextLimit::Resource { resource: core(), ceiling_per_s: None },
        NextLimit::Same { resource: core() },
        NextLimit::SameSlots,
        NextLimit::Users { resource: core(), ceiling_per_s: RATE },
        NextLimit::UsersOrRemainder,
        NextLimit::Remainder,
        NextLimit::Shared,
        NextLimit::Unchanged { service: name() },
        NextLimit::Unknown,
    ];
    let refutations = [
        Refutation::ThroughputBelow { per_s: RATE },
        Refutation::ThroughputBelowOffered { per_s: RATE },
        Refutation::ThroughputAbove { per_s: RATE },
        Refutation::MeanAbove { seconds: TIME_S },
    ];
    for lang in Lang::ALL {
        remedies.iter().for_each(|one| check(lang, &remedy(lang, one)));
        changes.iter().for_each(|one| check(lang, &change(lang, one)));
        limits.iter().for_each(|one| check(lang, &next_limit(lang, one)));
        refutations.iter().for_each(|one| check(lang, &refutation(lang, *one)));
    }
}

#[test]
fn caveats_suspects_and_missing_evidence_have_words() {
    let caveats = [
        Caveat::OneRun,
        Caveat::Measurement { grade: Grade::Degraded },
        Caveat::WaitEstimatesDiffer { difference_share: SHARE },
        Caveat::OverLimit { peak_share: 1.84 },
        Caveat::CountedTwice { times: 1.843_21 },
        Caveat::HandshakeCost { waiting_share: SHARE },
        Caveat::Throughput { per_s: RATE },
        Caveat::TwoClocks,
        Caveat::WorkersUnknown,
    ];
    let suspects = [
        RuledOut::LoadGenerator,
        RuledOut::Processor {
            resource: resource(ResourceKind::Cpu),
            used: 0.312_34,
            limit: 1.0,
            full_share: 0.9,
            at_limit_share: 0.0,
        },
        RuledOut::ConnectionPools { pending: None },
        RuledOut::ConnectionPools { pending: Some(COUNT) },
        RuledOut::WorkerSlots { through_per_s: 6.13, service_s: 11.289, busy: 69.21, slots: 400.0 },
        RuledOut::ResponseSize { body_bytes: 1_000.0 },
        RuledOut::UnevenReplicas { group: name(), replicas: 3, times: 1.1 },
    ];
    for lang in Lang::ALL {
        caveats.iter().for_each(|one| check(lang, &caveat(lang, one)));
        for one in &suspects {
            let RuledOutText { suspect, reason, number } = ruled_out(lang, one);
            assert!([suspect, reason, number].iter().all(|text| !text.is_empty()));
        }
        for kind in MissingKind::ALL {
            let MissingText { name, shows, connect } = missing(lang, *kind);
            check(lang, &name);
            check(lang, &shows);
            assert!(connect.contains("--"), "{connect}");
        }
    }
}

#[test]
fn every_outcome_has_a_headline() {
    let outcomes = [
        Outcome::NoServerBottleneck { growth: None },
        Outcome::NoServerBottleneck { growth: Some(1.034_56) },
        Outcome::Generator { fault: Fault::WorkerCpu },
        inconclusive(Inconclusive::NoRun),
        inconclusive(Inconclusive::NoRequests),
        inconclusive(Inconclusive::NoEvidence),
        inconclusive(Inconclusive::NoTracesAndProcessors),
        inconclusive(Inconclusive::Growth { times: 3.000_4 }),
        inconclusive(Inconclusive::Queueing { share: SHARE, mean_s: TIME_S }),
        inconclusive(Inconclusive::Untraced { outside_s: TIME_S, mean_s: TIME_S }),
        inconclusive(Inconclusive::Unaccounted { share: SHARE, mean_s: TIME_S }),
    ];
    for lang in Lang::ALL {
        for outcome in &outcomes {
            check(lang, &headline(lang, &diagnosis(outcome.clone(), Vec::new())));
        }
    }
    let none = diagnosis(inconclusive(Inconclusive::NoEvidence), Vec::new());
    assert_eq!(headline(Lang::En, &none), "no server-side metrics were collected");
}

fn inconclusive(why: Inconclusive) -> Outcome {
    Outcome::CannotTell { why, missing: Vec::new() }
}

fn diagnosis(outcome: Outcome, findings: Vec<Hypothesis>) -> Diagnosis {
    Diagnosis {
        outcome,
        runs: Vec::new(),
        attribution: None,
        time_uses: Vec::new(),
        findings,
        findings_beyond: 0,
        ruled_out: Vec::new(),
        missing: Vec::new(),
        caveats: Vec::new(),
    }
}

#[test]
fn labels_are_in_both_languages() {
    for (key, english, korean) in labels::ALL {
        assert!(!english.is_empty() && !korean.is_empty(), "{key}");
    }
}
