//! Suspects that were checked and ruled out.

use model::diagnosis::RuledOut;

use super::numbers::{bytes, count, percent, rate, time, whole};
use super::{amount, resource_name};
use crate::{Lang, text};

/// The texts about a suspect that was ruled out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledOutText {
    /// The suspect.
    pub suspect: String,
    /// The check.
    pub reason: String,
    /// The number that rules it out.
    pub number: String,
}

/// Returns the texts about a suspect that was ruled out.
pub fn ruled_out(lang: Lang, ruled_out: &RuledOut) -> RuledOutText {
    let [suspect, reason, number] = match ruled_out {
        RuledOut::LoadGenerator => [
            text!(lang, "the load generator", "부하 생성기"),
            text!(lang, "its CPU, lateness and connections were checked", "CPU, 시작 지연, 연결을 확인함"),
            text!(lang, "VALID", "유효"),
        ],
        RuledOut::Processor { resource, used, limit, full_share, at_limit_share } => {
            let (name, used, limit) =
                (resource_name(lang, resource), count(*used), amount(lang, resource.kind, *limit));
            let (full, share) = (percent(*full_share), percent(*at_limit_share));
            [
                text!(lang, "{name}", "{name}"),
                text!(
                    lang,
                    "at {full} of its limit or above for {share} of the time",
                    "한도의 {full} 이상인 시간이 전체의 {share}"
                ),
                text!(lang, "{used} of {limit}", "{limit} 중 {used}"),
            ]
        }
        RuledOut::Throttling { place, throttled_share } => {
            let share = percent(*throttled_share);
            [
                text!(lang, "CPU throttling of {place}", "{place}의 CPU 스로틀링"),
                text!(lang, "throttled scheduling periods", "스로틀링된 스케줄링 주기"),
                text!(lang, "{share}", "{share}"),
            ]
        }
        RuledOut::GarbageCollection { place, share } => {
            let share = percent(*share);
            [
                text!(lang, "garbage collection of {place}", "{place}의 가비지 컬렉션"),
                text!(lang, "its share of the time", "전체 시간에서 차지하는 비율"),
                text!(lang, "{share}", "{share}"),
            ]
        }
        RuledOut::Pauses { place, stalled_share } => {
            let share = percent(*stalled_share);
            [
                text!(lang, "pauses of {place}", "{place}의 정지"),
                text!(
                    lang,
                    "it stalled with requests open, but not regularly",
                    "요청 처리 중에 멈췄지만 규칙적이지 않음"
                ),
                text!(lang, "{share} of the time", "전체 시간의 {share}"),
            ]
        }
        RuledOut::CacheEvictions { missed_share, evicted_per_s } => {
            let (missed, evicted) = (percent(*missed_share), rate(*evicted_per_s));
            [
                text!(lang, "cache memory", "캐시 메모리"),
                text!(lang, "{missed} of the reads miss", "조회의 {missed}가 미스"),
                text!(lang, "{evicted} evicted", "축출 {evicted}"),
            ]
        }
        RuledOut::Memory { place, peak_share } => {
            let share = percent(*peak_share);
            [
                text!(lang, "memory of {place}", "{place}의 메모리"),
                text!(lang, "peak use of the limit", "한도 대비 최대 사용량"),
                text!(lang, "{share}", "{share}"),
            ]
        }
        RuledOut::ConnectionPools { pending } => {
            let pending = count(pending.unwrap_or(0.0));
            [
                text!(lang, "connection pools", "커넥션 풀"),
                text!(lang, "requests that wait for a connection", "커넥션을 기다리는 요청"),
                text!(lang, "{pending} wait", "{pending}개 대기"),
            ]
        }
        RuledOut::RowLocks { sessions } => {
            let sessions = count(*sessions);
            [
                text!(lang, "row locks", "행 잠금"),
                text!(lang, "sessions that wait for a lock of another", "다른 세션의 잠금을 기다리는 세션"),
                text!(lang, "{sessions} wait", "{sessions}개 대기"),
            ]
        }
        RuledOut::LogSync { sessions } => {
            let sessions = count(*sessions);
            [
                text!(lang, "write-ahead log", "WAL 동기화"),
                text!(
                    lang,
                    "commits that wait for the log on disk",
                    "로그가 디스크에 기록되기를 기다리는 커밋"
                ),
                text!(lang, "{sessions} wait", "{sessions}개 대기"),
            ]
        }
        RuledOut::DiskReads { sessions } => {
            let sessions = count(*sessions);
            [
                text!(lang, "database reads from disk", "데이터베이스의 디스크 읽기"),
                text!(lang, "sessions that wait for blocks from disk", "디스크의 블록을 기다리는 세션"),
                text!(lang, "{sessions} wait", "{sessions}개 대기"),
            ]
        }
        RuledOut::AcceptQueue { dropped_per_s } => {
            let dropped = rate(*dropped_per_s);
            [
                text!(lang, "accept queue", "accept 큐"),
                text!(lang, "connections that the kernel dropped", "커널이 버린 연결"),
                text!(lang, "{dropped}", "{dropped}"),
            ]
        }
        RuledOut::ConnectionChurn { taken_per_s, per_request, others_per_s } => {
            let (taken, each, others) = (rate(*taken_per_s), count(*per_request), rate(*others_per_s));
            [
                text!(lang, "new connections", "새 연결"),
                text!(
                    lang,
                    "{taken} accepted, {each} per request beyond those of the test",
                    "초당 수락 {taken}, 테스트 연결을 빼면 요청당 {each}개"
                ),
                text!(lang, "{others}", "{others}"),
            ]
        }
        RuledOut::NoRepeatedStatements => [
            text!(lang, "N+1 queries", "N+1 쿼리"),
            text!(lang, "statements that repeat below one span", "한 스팬 아래에서 되풀이되는 쿼리"),
            text!(lang, "none", "없음"),
        ],
        RuledOut::RepeatedStatement { statement, times, time_share } => {
            let (times, share) = (count(*times), percent(*time_share));
            [
                text!(lang, "N+1 queries", "N+1 쿼리"),
                text!(lang, "{times} times per request: {statement}", "요청당 {times}회: {statement}"),
                text!(lang, "{share} of response time", "응답 시간의 {share}"),
            ]
        }
        RuledOut::SlowStatement { statement, time_share } => {
            let share = percent(*time_share);
            [
                text!(lang, "slow statements", "느린 쿼리"),
                text!(lang, "the slowest: {statement}", "가장 느린 쿼리: {statement}"),
                text!(lang, "{share} of response time", "응답 시간의 {share}"),
            ]
        }
        RuledOut::BackgroundStatement { statement, database_share, time_share } => {
            let (share, waited) = (percent(*database_share), percent(*time_share));
            [
                text!(lang, "periodic jobs", "주기적 작업"),
                text!(lang, "the largest: {statement}", "가장 큰 작업: {statement}"),
                text!(
                    lang,
                    "{share} of database time, {waited} of response time",
                    "데이터베이스 시간의 {share}, 응답 시간의 {waited}"
                ),
            ]
        }
        RuledOut::SlowCalls { service, operation, time_share } => {
            let share = percent(*time_share);
            [
                text!(lang, "calls of other services", "외부 서비스 호출"),
                text!(
                    lang,
                    "the slowest: {operation} in {service}",
                    "가장 느린 호출: {service}의 {operation}"
                ),
                text!(lang, "{share} of response time", "응답 시간의 {share}"),
            ]
        }
        RuledOut::CallsHeldBack { held, calls } => {
            let (held, calls) = (whole(*held as f64), whole(*calls as f64));
            [
                text!(lang, "downstream rate limit", "외부 호출 한도"),
                text!(lang, "calls that waited or were rejected", "지연되거나 거절된 호출"),
                text!(lang, "{held} of {calls}", "{calls}회 중 {held}회"),
            ]
        }
        RuledOut::Queues { ready } => {
            let ready = count(*ready);
            [
                text!(lang, "queues", "큐"),
                text!(lang, "messages that wait for a consumer", "컨슈머를 기다리는 메시지"),
                text!(lang, "{ready} ready", "{ready}개 대기"),
            ]
        }
        RuledOut::WorkerSlots { through_per_s, service_s, busy, slots } => {
            let (through, service, busy, slots) =
                (rate(*through_per_s), time(*service_s), whole(*busy), count(*slots));
            [
                text!(lang, "worker slots", "워커 슬롯"),
                text!(lang, "X·S = {through} × {service}", "X·S = {through} × {service}"),
                text!(lang, "{busy} of {slots} busy", "{slots}개 중 {busy}개 사용"),
            ]
        }
        RuledOut::ScalerMaximum { scaler, at_maximum_share, waiting_share, replicas, maximum } => {
            let (at_maximum, share) = (percent(*at_maximum_share), percent(*waiting_share));
            let (replicas, maximum) = (count(*replicas), count(*maximum));
            [
                text!(lang, "maximum of autoscaler {scaler}", "오토스케일러 {scaler}의 최대치"),
                text!(
                    lang,
                    "at its maximum {at_maximum} of the time; {share} of the time is queueing",
                    "최대치인 시간이 전체의 {at_maximum}, 큐 대기가 {share}"
                ),
                text!(lang, "{replicas} of {maximum}", "{maximum}개 중 {replicas}개"),
            ]
        }
        RuledOut::Redelivery { queue, again_share } => {
            let share = percent(*again_share);
            [
                text!(lang, "redelivered messages", "메시지 재전달"),
                text!(lang, "most of them on {queue}", "가장 많은 큐: {queue}"),
                text!(lang, "{share}", "{share}"),
            ]
        }
        RuledOut::UnevenReplicas { group, replicas, times } => {
            let times = count(*times);
            [
                text!(lang, "uneven replicas", "복제본 불균형"),
                text!(
                    lang,
                    "the busiest of {replicas} replicas: {group}",
                    "복제본 {replicas}개 중 가장 바쁜 것: {group}"
                ),
                text!(lang, "{times} × its share", "자기 몫의 {times}배"),
            ]
        }
        RuledOut::ResponseSize { body_bytes } => {
            let size = bytes(*body_bytes);
            [
                text!(lang, "response size", "응답 크기"),
                text!(lang, "mean size of a response", "응답의 평균 크기"),
                text!(lang, "{size}", "{size}"),
            ]
        }
    };
    RuledOutText { suspect, reason, number }
}
