//! Claims whose sentences depend on which of their numbers are known, and the claims about caches and calls without an answer.

use model::diagnosis::{Admission, Refusal, Resource};

use super::numbers::{count, percent, rate, time};
use super::{amount, resource_name};
use crate::{Lang, text};

/// Returns the texts of [`Claim::ProcessorAtLimit`](model::diagnosis::Claim::ProcessorAtLimit), whose ceiling may be unknown.
pub(super) fn processor_at_limit(
    lang: Lang,
    resource: &Resource,
    used: f64,
    limit: f64,
    at_limit_share: f64,
    ceiling_per_s: Option<f64>,
) -> [String; 3] {
    let kind = resource.kind;
    let name = resource_name(lang, resource);
    let (used, limit) = (count(used), amount(lang, kind, limit));
    let at_limit = percent(at_limit_share);
    let ceiling = ceiling_per_s.map(rate);
    [
        text!(
            lang,
            "{name} saturated: {used} of {limit} in use, at the limit {at_limit} of the time",
            "{name} 포화: {limit} 중 {used} 사용, 전체 시간의 {at_limit} 동안 한계"
        ),
        text!(
            lang,
            "{used} of {limit} in use, at the limit {at_limit} of the time",
            "{limit} 중 {used} 사용, 전체 시간의 {at_limit} 동안 한계"
        ),
        match &ceiling {
            Some(ceiling) => text!(
                lang,
                "{name} allows at most {ceiling}. Any load above that queues.",
                "{name}로는 최대 {ceiling}까지 처리할 수 있습니다. 그 이상의 부하는 큐에서 대기합니다."
            ),
            None => text!(
                lang,
                "{name} is fully used. Any additional load queues.",
                "{name} 사용률이 한계입니다. 부하가 늘면 큐에서 대기합니다."
            ),
        },
    ]
}

/// Returns the texts of [`Claim::ProcessorsTaken`](model::diagnosis::Claim::ProcessorsTaken).
pub(super) fn processors_taken(
    lang: Lang,
    place: &str,
    used: f64,
    others: f64,
    cores: f64,
    waiting_share: f64,
) -> [String; 3] {
    let (used, others, cores) = (count(used), count(others), count(cores));
    let share = percent(waiting_share);
    [
        text!(
            lang,
            "CPU of the machine saturated by other programs: they use {others} of {cores} cores, and {place} waits for one {share} of response time",
            "다른 프로그램 때문에 서버 CPU 포화: {cores}코어 중 {others}코어를 다른 프로그램이 사용하고, {place}의 코어 대기가 응답 시간의 {share}"
        ),
        text!(
            lang,
            "{others} of {cores} cores used by other programs, {used} by {place}, which waits {share} of response time for a core",
            "{cores}코어 중 다른 프로그램이 {others}코어, {place}가 {used}코어 사용, 코어 대기가 응답 시간의 {share}"
        ),
        text!(
            lang,
            "Threads of {place} are ready to run and wait for a core, because programs that serve no request of this test use {others} of {cores} cores.",
            "{place}의 스레드가 실행할 준비를 마치고도 코어를 기다립니다. 이 테스트의 요청을 처리하지 않는 프로그램이 {cores}코어 중 {others}코어를 사용하기 때문입니다."
        ),
    ]
}

/// Returns the texts of [`Claim::PoolExhausted`](model::diagnosis::Claim::PoolExhausted), with the numbers of its pool that are known.
pub(super) fn pool_exhausted(
    lang: Lang,
    place: &str,
    waiting_share: f64,
    mean_wait_s: Option<f64>,
    pending: Option<f64>,
    connections: Option<f64>,
) -> [String; 3] {
    let share = percent(waiting_share);
    let (wait, pending, connections) = (mean_wait_s.map(time), pending.map(count), connections.map(count));
    [
        match &connections {
            Some(connections) => text!(
                lang,
                "Connection pool exhausted in {place}: requests spend {share} of their time waiting for one of {connections} connections",
                "{place} 커넥션 풀 고갈: 요청 시간의 {share}를 커넥션 {connections}개를 기다리며 보냄"
            ),
            None => text!(
                lang,
                "Connection pool exhausted in {place}: requests spend {share} of their time waiting for a connection",
                "{place} 커넥션 풀 고갈: 요청 시간의 {share}를 커넥션을 기다리며 보냄"
            ),
        },
        match &wait {
            Some(wait) => text!(
                lang,
                "{wait} of waiting per request, {share} of response time",
                "요청당 {wait} 대기, 응답 시간의 {share}"
            ),
            None => text!(lang, "{share} of response time", "응답 시간의 {share}"),
        },
        match &pending {
            Some(pending) => text!(
                lang,
                "On average {pending} requests of {place} wait for a database connection. That is {share} of response time.",
                "{place}에서 평균 {pending}개의 요청이 데이터베이스 커넥션을 기다립니다. 응답 시간의 {share}입니다."
            ),
            None => text!(
                lang,
                "Requests of {place} spend {share} of their time waiting for a database connection.",
                "{place}의 요청이 응답 시간의 {share} 동안 데이터베이스 커넥션을 기다립니다."
            ),
        },
    ]
}

/// Returns the texts of [`Claim::FewConsumers`](model::diagnosis::Claim::FewConsumers), whose workers may be unknown.
pub(super) fn few_consumers(
    lang: Lang,
    queue: &str,
    consumers: f64,
    workers: Option<f64>,
    waiting_share: f64,
) -> [String; 3] {
    let (consumers, workers, share) = (count(consumers), workers.map(count), percent(waiting_share));
    [
        text!(
            lang,
            "Too few consumers on {queue}: tasks queue {share} of their time for one of {consumers} consumers",
            "{queue} 컨슈머 부족: 작업 시간의 {share}를 컨슈머 {consumers}개를 기다리며 보냄"
        ),
        text!(
            lang,
            "{consumers} consumers, {share} of task time is queueing",
            "컨슈머 {consumers}개, 작업 시간의 {share}가 큐 대기"
        ),
        match &workers {
            Some(workers) => text!(
                lang,
                "{workers} workers run, but only {consumers} consume from {queue}. Tasks queue for {share} of their time.",
                "실행 중인 워커는 {workers}개인데 {queue}의 컨슈머는 {consumers}개뿐입니다. 작업 시간의 {share}가 큐 대기입니다."
            ),
            None => text!(
                lang,
                "Tasks spend {share} of their time waiting for one of {consumers} consumers of {queue}.",
                "작업 시간의 {share}를 {queue}의 컨슈머 {consumers}개를 기다리며 보냅니다."
            ),
        },
    ]
}

/// Returns the texts of [`Claim::Refused`](model::diagnosis::Claim::Refused), whose limit may be unknown.
pub(super) fn refused(
    lang: Lang,
    by: Refusal,
    refused_share: f64,
    passed_per_s: f64,
    limit: Admission,
) -> [String; 3] {
    let (share, passed) = (percent(refused_share), rate(passed_per_s));
    let way = match by {
        Refusal::Status(status) => text!(lang, "status {status}", "상태 코드 {status}"),
        Refusal::Connection => text!(lang, "a closed connection", "연결 끊김"),
    };
    if limit == Admission::Closed {
        return [
            text!(
                lang,
                "Target not reached: {share} of the requests found their connection refused or closed",
                "대상에 연결 안 됨: 요청의 {share}에서 연결 거부 또는 끊김"
            ),
            text!(lang, "no request reaches the target", "대상에 도달한 요청 없음"),
            text!(
                lang,
                "The connections of {share} of the requests were refused or closed, and no request passed.",
                "요청의 {share}에서 연결이 거부되거나 끊겨 통과한 요청이 없습니다."
            ),
        ];
    }
    [
        text!(
            lang,
            "Requests refused: {share}, most with {way}; {passed} pass",
            "요청 거절: {share}, 대부분 {way}. {passed} 통과"
        ),
        text!(lang, "{share} of the requests are refused", "요청의 {share} 거절"),
        match limit {
            Admission::Rate => text!(
                lang,
                "A rate limit refuses {share} of the requests, most with {way}. The others pass at a distance, {passed}.",
                "처리율 제한이 요청의 {share}를 거절하며 대부분 {way}입니다. 나머지는 간격을 두고 {passed} 통과합니다."
            ),
            Admission::Concurrency(at_once) => {
                let at_once = count(at_once);
                text!(
                    lang,
                    "A limit of {at_once} at a time refuses {share} of the requests, most with {way}. A request passes when another ends.",
                    "동시 {at_once}개 제한이 요청의 {share}를 거절하며 대부분 {way}입니다. 다른 요청이 끝나야 다음 요청이 통과합니다."
                )
            }
            Admission::Unknown | Admission::Closed => text!(
                lang,
                "The target refuses {share} of the requests, most with {way}. Its log or configuration names the limit.",
                "대상이 요청의 {share}를 거절하며 대부분 {way}입니다. 어떤 제한인지는 대상의 로그나 설정에서 확인하십시오."
            ),
        },
    ]
}

/// Returns the texts of [`Claim::CacheEvicts`](model::diagnosis::Claim::CacheEvicts).
pub(super) fn cache_evicts(lang: Lang, place: &str, evicted_per_s: f64, missed_share: f64) -> [String; 3] {
    let (evicted, missed) = (rate(evicted_per_s), percent(missed_share));
    [
        text!(
            lang,
            "Cache memory exhausted in {place}: {evicted} evictions, {missed} of the reads miss",
            "{place} 캐시 메모리 고갈: 축출 {evicted}, 조회의 {missed}가 미스"
        ),
        text!(
            lang,
            "{evicted} evictions, {missed} of the reads miss",
            "축출 {evicted}, 조회의 {missed}가 미스"
        ),
        text!(
            lang,
            "{place} evicts keys at {evicted} to stay below its memory limit, and {missed} of the reads miss.",
            "{place}에서 메모리 한도를 지키려고 키가 {evicted} 속도로 축출되고, 조회의 {missed}가 캐시 미스입니다."
        ),
    ]
}

/// Returns the texts of [`Claim::Unanswered`](model::diagnosis::Claim).
pub(super) fn unanswered(
    lang: Lang,
    service: &str,
    callee: &str,
    waiting: f64,
    mean_s: f64,
    time_share: f64,
) -> [String; 3] {
    let (mean, calls, share) = (time(mean_s), count(waiting), percent(time_share));
    [
        text!(
            lang,
            "{service} waits for answers of {callee}: {mean} per request, {share} of response time",
            "{service}의 {callee} 응답 대기: 요청당 {mean}, 응답 시간의 {share}"
        ),
        text!(lang, "{mean} per request, {share} of response time", "요청당 {mean}, 응답 시간의 {share}"),
        text!(
            lang,
            "The kernel shows {calls} connections of {service} to {callee} that wait for an answer, on average. That is {share} of response time.",
            "커널 기준으로 {service}에서 {callee}(으)로 연결되어 응답을 기다리는 연결이 평균 {calls}개입니다. 응답 시간의 {share}입니다."
        ),
    ]
}
