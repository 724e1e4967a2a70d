//! The parts of a prediction: the change, the limit after it, and the measurement that refutes it.

use model::diagnosis::{Change, NextLimit, Refutation, SlotKind};

use super::numbers::{count, rate, time};
use super::{amount, resource_name};
use crate::{Lang, text};

/// Returns the change that a prediction is about.
pub fn change(lang: Lang, change: &Change) -> String {
    match change {
        Change::ProcessorLimit { kind, place, from, to } => {
            let (from, to) = (count(*from), amount(lang, *kind, *to));
            text!(lang, "{place} from {from} to {to}", "{place}: {from}에서 {to}로")
        }
        Change::CpuLimitRaised => text!(lang, "the CPU limit is raised", "CPU 제한을 올림"),
        Change::LoopFree => {
            text!(lang, "no callback blocks the event loop", "이벤트 루프를 막는 콜백이 없음")
        }
        Change::NoPauses => text!(lang, "there are no pauses", "정지가 없음"),
        Change::NoEvictions => text!(lang, "the cache evicts nothing", "캐시에서 축출이 없음"),
        Change::EnoughConnections => text!(lang, "the pool has enough connections", "풀의 커넥션이 충분함"),
        Change::Slots { kind, from, to } => {
            let (from, to) = (count(*from), count(*to));
            match kind {
                SlotKind::Connections => {
                    text!(lang, "{to} connections instead of {from}", "커넥션 {from}개 → {to}개")
                }
                SlotKind::Workers => {
                    text!(lang, "{to} workers instead of {from}", "워커 {from}개 → {to}개")
                }
                SlotKind::Consumers => {
                    text!(lang, "{to} consumers instead of {from}", "컨슈머 {from}개 → {to}개")
                }
            }
        }
        Change::NoConnectionWait => {
            text!(lang, "calls do not wait for a connection", "호출이 연결을 기다리지 않음")
        }
        Change::NoLockWait => text!(lang, "no session waits for a lock", "잠금을 기다리는 세션이 없음"),
        Change::NoDiskWait => text!(lang, "no session waits for the disk", "디스크를 기다리는 세션이 없음"),
        Change::NoDroppedConnections => text!(lang, "no connection is dropped", "버려지는 연결이 없음"),
        Change::OneStatement => {
            text!(lang, "one statement replaces the repeated ones", "되풀이되는 쿼리를 하나로 합침")
        }
        Change::IndexExists => text!(lang, "the index exists", "인덱스를 만듦"),
        Change::ResultCached => text!(lang, "the result of the statement is cached", "쿼리 결과를 캐시함"),
        Change::AnswerCached { operation } => {
            text!(lang, "the answer of {operation} is cached", "{operation}의 응답을 캐시함")
        }
        Change::NoJob => text!(lang, "the job does not run", "작업이 실행되지 않음"),
        Change::OneRefill => {
            text!(lang, "the cache is refilled once per expiry", "만료될 때마다 한 번만 캐시를 채움")
        }
        Change::NoCallWait => text!(lang, "no request waits for the call", "호출을 기다리는 요청이 없음"),
        Change::NoRateLimit => text!(lang, "no call is delayed", "지연되는 호출이 없음"),
        Change::NoSerialisation => text!(lang, "nothing is serialised", "직렬화되는 작업이 없음"),
        Change::EnoughWorkers => text!(lang, "there are enough workers", "워커가 충분함"),
        Change::MoreProxies { service } => text!(
            lang,
            "more replicas of {service}, which only forwards requests",
            "요청을 전달만 하는 {service}의 복제본을 늘림"
        ),
        Change::EnoughPrefetch => text!(lang, "the prefetch is large enough", "프리페치가 충분함"),
        Change::EnoughConsumers => {
            text!(lang, "no task waits for a consumer", "컨슈머를 기다리는 작업이 없음")
        }
        Change::MaximumRaised => {
            text!(lang, "the maximum of the autoscaler is raised", "오토스케일러의 최대치를 올림")
        }
        Change::NoRedelivery => text!(lang, "no message is redelivered", "재전달되는 메시지가 없음"),
        Change::BalancedReplicas => {
            text!(lang, "replicas share the load evenly", "복제본이 부하를 고르게 나눔")
        }
        Change::NoWorkerWait => text!(lang, "nothing waits inside the worker", "워커 안에서 기다리지 않음"),
        Change::NoEndWait => {
            text!(lang, "requests do not wait after their last call", "마지막 호출 뒤에 기다리지 않음")
        }
        Change::SmallResponses => text!(lang, "responses are a tenth of the size", "응답 크기가 10분의 1"),
        Change::EnoughBandwidth => {
            text!(lang, "the network has spare bandwidth", "네트워크 대역폭에 여유가 있음")
        }
        Change::StatementFast { alike: 0 | 1 } => {
            text!(lang, "the statement takes next to no time", "쿼리 시간이 거의 0이 됨")
        }
        Change::StatementFast { alike } => text!(
            lang,
            "the statement, or all {alike} on the same tables, take next to no time",
            "이 쿼리, 또는 같은 테이블을 읽는 쿼리 {alike}개의 시간이 거의 0이 됨"
        ),
    }
}

/// Returns the limit after a change.
pub fn next_limit(lang: Lang, limit: &NextLimit) -> String {
    match limit {
        NextLimit::Resource { resource, ceiling_per_s: Some(per_s) } => {
            let (name, per_s) = (resource_name(lang, resource), rate(*per_s));
            text!(lang, "{name}, at {per_s}", "{name}({per_s})")
        }
        NextLimit::Resource { resource, ceiling_per_s: None } => {
            let name = resource_name(lang, resource);
            text!(lang, "{name}", "{name}")
        }
        NextLimit::SameSlots => text!(lang, "the same limit, at its new value", "바뀐 값의 같은 한도"),
        NextLimit::Same { resource } => {
            let name = resource_name(lang, resource);
            text!(lang, "{name} again", "다시 {name}")
        }
        NextLimit::Users { resource, ceiling_per_s } => {
            let (name, per_s) = (resource_name(lang, resource), rate(*ceiling_per_s));
            text!(
                lang,
                "the number of VUs; with more VUs {name}, at {per_s}",
                "VU 수. VU를 늘리면 {name}({per_s})"
            )
        }
        NextLimit::UsersOrRemainder => text!(
            lang,
            "the number of VUs, or the largest remaining part of response time",
            "VU 수, 또는 응답 시간에서 남은 가장 큰 부분"
        ),
        NextLimit::Remainder => {
            text!(lang, "the largest remaining part of response time", "응답 시간에서 남은 가장 큰 부분")
        }
        NextLimit::Shared => {
            text!(lang, "a resource that all replicas share", "모든 복제본이 공유하는 리소스")
        }
        NextLimit::Unchanged { service } => text!(lang, "{service}, as before", "이전과 같이 {service}"),
        NextLimit::Unknown => text!(
            lang,
            "unknown: no resource reported its utilisation against a limit",
            "알 수 없음(한도와 함께 사용률이 수집된 리소스가 없음)"
        ),
    }
}

/// Returns the measurement that refutes a prediction.
pub fn refutation(lang: Lang, refutation: Refutation) -> String {
    match refutation {
        Refutation::ThroughputBelow { per_s } => {
            let per_s = rate(per_s);
            text!(lang, "throughput stays below {per_s}", "처리량이 {per_s}보다 낮게 유지됨")
        }
        Refutation::ThroughputBelowOffered { per_s } => {
            let per_s = rate(per_s);
            text!(
                lang,
                "throughput stays below {per_s} under a higher offered load",
                "더 높은 부하에서도 처리량이 {per_s}보다 낮게 유지됨"
            )
        }
        Refutation::ThroughputAbove { per_s } => {
            let per_s = rate(per_s);
            text!(lang, "throughput rises above {per_s}", "처리량이 {per_s}를 넘음")
        }
        Refutation::MeanAbove { seconds } => {
            let mean = time(seconds);
            text!(lang, "mean response time stays above {mean}", "평균 응답 시간이 {mean}보다 길게 유지됨")
        }
    }
}
