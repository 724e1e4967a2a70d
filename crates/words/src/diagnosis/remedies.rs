//! The remedies of findings.

use model::diagnosis::{Remedy, ResourceKind};

use super::amount;
use super::numbers::percent;
use crate::{Lang, text};

/// Returns a remedy as an instruction.
pub fn remedy(lang: Lang, remedy: &Remedy) -> String {
    match remedy {
        Remedy::RaiseProcessor { kind: ResourceKind::Thread, place, .. } => text!(
            lang,
            "Reduce the CPU time per request in {place}, or run more of its threads or processes.",
            "{place}의 요청당 CPU 시간을 줄이거나, 스레드나 프로세스를 늘리십시오."
        ),
        Remedy::RaiseProcessor { kind, place, limit } => {
            let limit = amount(lang, *kind, *limit);
            text!(
                lang,
                "Reduce the CPU time per request, or give {place} more than {limit}.",
                "요청당 CPU 시간을 줄이거나, {place}에 {limit}보다 많이 할당하십시오."
            )
        }
        Remedy::FreeProcessors { place } => text!(
            lang,
            "Stop the other programs during the test, or run {place} on a machine of its own.",
            "테스트하는 동안 다른 프로그램을 멈추거나, {place}를 별도 서버에서 실행하십시오."
        ),
        Remedy::RaiseCpuLimit { place } => text!(
            lang,
            "Raise the CPU limit of {place}, or remove it.",
            "{place}의 CPU 제한을 올리거나 없애십시오."
        ),
        Remedy::AllocateLess => text!(
            lang,
            "Allocate less memory per request, or use a concurrent garbage collector.",
            "요청당 메모리 할당을 줄이거나, 동시(concurrent) 가비지 컬렉터를 사용하십시오."
        ),
        Remedy::MoveOffEventLoop { place } => text!(
            lang,
            "Move long work of {place} to worker threads, split it, or run more processes.",
            "{place}의 긴 작업을 워커 스레드로 옮기거나, 나누거나, 프로세스를 늘리십시오."
        ),
        Remedy::EnlargeCache { place } => text!(
            lang,
            "Raise the memory limit of {place} until the keys fit, or store less per key.",
            "키가 모두 들어가도록 {place}의 메모리 한도를 올리거나, 키마다 저장하는 양을 줄이십시오."
        ),
        Remedy::RaiseMemoryLimit { place } => text!(
            lang,
            "Raise the memory limit of {place}, or reduce its concurrency.",
            "{place}의 메모리 한도를 올리거나, 동시 처리 수를 줄이십시오."
        ),
        Remedy::EnlargePool => text!(
            lang,
            "Raise the limit of the connection pool, or hold connections for less time.",
            "커넥션 풀의 최대 크기를 늘리거나, 커넥션을 쥐고 있는 시간을 줄이십시오."
        ),
        Remedy::MultiplexConnections => text!(
            lang,
            "Use several connections, or a protocol that multiplexes requests, such as HTTP/2.",
            "연결을 여러 개 쓰거나, HTTP/2처럼 요청을 다중화하는 프로토콜을 사용하십시오."
        ),
        Remedy::ShortenTransactions => text!(
            lang,
            "Shorten the transaction that holds the row lock, or move the counter elsewhere.",
            "행 잠금을 쥔 트랜잭션을 줄이거나, 카운터를 다른 곳으로 옮기십시오."
        ),
        Remedy::ReduceDiskWaits => text!(
            lang,
            "Write in larger batches, or use a faster disk. For reads, add memory or an index.",
            "쓰기를 모아서 처리하거나 더 빠른 디스크를 쓰십시오. 읽기라면 메모리를 늘리거나 인덱스를 만드십시오."
        ),
        Remedy::AcceptFaster => text!(
            lang,
            "Accept connections without delay, raise the backlog, and keep connections open.",
            "연결을 지체 없이 accept하고, 백로그를 늘리고, 연결을 유지하십시오."
        ),
        Remedy::KeepConnections => text!(
            lang,
            "Keep connections between services open, and resume TLS sessions.",
            "서비스 간 연결을 유지(keep-alive)하고, TLS 세션을 재개하십시오."
        ),
        Remedy::BatchStatements => text!(
            lang,
            "Load the rows with one statement: join, query in a batch, or cache them.",
            "필요한 행을 쿼리 하나로 가져오십시오. 조인하거나, 일괄 조회하거나, 캐시하십시오."
        ),
        Remedy::CreateIndex => text!(
            lang,
            "Create an index on the column in the condition.",
            "조건에 쓰는 칼럼에 인덱스를 만드십시오."
        ),
        Remedy::CacheResult => text!(
            lang,
            "Query less data, or cache the result: a projection, a cache, a materialized view.",
            "조회하는 데이터를 줄이거나 결과를 캐시하십시오. 프로젝션, 캐시, 구체화된 뷰가 있습니다."
        ),
        Remedy::MoveJob => text!(
            lang,
            "Run the job less often, at night, or on a replica.",
            "작업을 더 드물게, 야간에, 또는 복제본에서 실행하십시오."
        ),
        Remedy::FindJob => text!(
            lang,
            "Find the job with this period (refresh, report, backup), and run it less often or elsewhere.",
            "이 주기로 도는 작업(갱신, 리포트, 백업)을 찾아 더 드물게 또는 다른 곳에서 실행하십시오."
        ),
        Remedy::RefillOnce => text!(
            lang,
            "Let one request refill the cache, and serve the stale value until then.",
            "요청 하나만 캐시를 다시 채우게 하고, 그동안은 이전 값을 제공하십시오."
        ),
        Remedy::CallLess => text!(
            lang,
            "Call it asynchronously, call it less often, or make it faster.",
            "비동기로 호출하거나, 호출 횟수를 줄이거나, 더 빠르게 만드십시오."
        ),
        Remedy::CacheLookups => text!(
            lang,
            "Cache DNS answers, or use a closer name server.",
            "DNS 응답을 캐시하거나, 더 가까운 네임 서버를 사용하십시오."
        ),
        Remedy::RaiseRateLimit => text!(
            lang,
            "Have the rate limit raised, or batch several calls into one.",
            "호출 한도를 올려 달라고 하거나, 여러 호출을 하나로 묶으십시오."
        ),
        Remedy::ReleaseLock { service } => text!(
            lang,
            "Release the lock of {service} before the call, or let several calls run at once.",
            "{service}에서 호출 전에 락을 풀거나, 여러 호출을 동시에 실행하십시오."
        ),
        Remedy::SplitKey => text!(
            lang,
            "Spread the work over several keys or counters, or remove the lock.",
            "여러 키나 카운터로 나누거나, 잠금을 없애십시오."
        ),
        Remedy::AddWorkers { service, cacheable: Some((operation, share)) } => {
            let share = percent(*share);
            text!(
                lang,
                "Add workers or instances to {service}, or cache the answer of {operation}, which is {share} of its work.",
                "{service}의 워커나 인스턴스를 늘리거나, 작업의 {share}를 차지하는 {operation}의 응답을 캐시하십시오."
            )
        }
        Remedy::AddWorkers { service, cacheable: None } => text!(
            lang,
            "Add workers or instances to {service}, or do less work per request.",
            "{service}의 워커나 인스턴스를 늘리거나, 요청당 작업을 줄이십시오."
        ),
        Remedy::RaisePrefetch => text!(
            lang,
            "Raise the prefetch to at least the number of tasks that a worker processes at once.",
            "프리페치를 워커가 동시에 처리하는 작업 수 이상으로 올리십시오."
        ),
        Remedy::LowerPrefetch => text!(
            lang,
            "Lower the prefetch to the number of tasks that a consumer processes at once, or give long tasks a queue of their own.",
            "프리페치를 컨슈머가 동시에 처리하는 작업 수로 낮추거나, 긴 작업에 별도의 큐를 쓰십시오."
        ),
        Remedy::RaiseClientConnections { service } => text!(
            lang,
            "Raise the connection limit of the HTTP client in {service}. If it is not the limit, the callee needs more workers.",
            "{service}의 HTTP 클라이언트 연결 한도를 올리십시오. 그것이 한도가 아니라면 호출받는 쪽의 워커를 늘려야 합니다."
        ),
        Remedy::AddConsumers => text!(
            lang,
            "Add consumers to the queue: restore those of idle workers, or start more workers.",
            "큐의 컨슈머를 늘리십시오. 컨슈머를 잃은 워커를 복구하거나 워커를 더 띄우십시오."
        ),
        Remedy::RaiseMaximum { scaler } => text!(
            lang,
            "Raise the maximum number of replicas of {scaler}.",
            "{scaler}의 최대 복제본 수를 올리십시오."
        ),
        Remedy::AcknowledgeMessages => text!(
            lang,
            "Acknowledge processed messages, and move messages that fail to a dead-letter queue.",
            "처리한 메시지는 확인 응답(ack)하고, 실패하는 메시지는 데드 레터 큐로 옮기십시오."
        ),
        Remedy::AdmitMore => text!(
            lang,
            "Raise the limit that refuses requests, such as limit_req or limit_conn of NGINX, if the service behind it can take more.",
            "뒤에 있는 서비스에 여유가 있으면 요청을 거절하는 제한(NGINX의 limit_req, limit_conn 등)을 올리십시오."
        ),
        Remedy::StartTarget => text!(
            lang,
            "Check that the target runs, and that it listens at the address in the script.",
            "대상이 실행 중인지, 스크립트의 주소에서 연결을 받는지 확인하십시오."
        ),
        Remedy::BalanceReplicas => text!(
            lang,
            "Check why the other replicas get less: they reject requests, or the balancer ignores their load.",
            "다른 복제본이 왜 덜 받는지 확인하십시오. 요청을 거절하거나, 로드 밸런서가 부하를 고려하지 않는 경우입니다."
        ),
        Remedy::RaiseWorkerMemory => text!(
            lang,
            "Raise the worker's memory limit and its concurrency, or hold the memory for less time.",
            "워커의 메모리 한도와 동시 처리 수를 올리거나, 메모리를 쥐고 있는 시간을 줄이십시오."
        ),
        Remedy::LogAsynchronously => text!(
            lang,
            "Write logs asynchronously, without waiting for the disk.",
            "디스크를 기다리지 않도록 로그를 비동기로 쓰십시오."
        ),
        Remedy::ShortenResponses => text!(
            lang,
            "Return only the fields that are shown, paginate, and compress.",
            "화면에 쓰는 필드만 반환하고, 페이지로 나누고, 압축하십시오."
        ),
        Remedy::RaiseBandwidth => text!(
            lang,
            "Raise the bandwidth limit, or send less: compress, or return fewer items.",
            "대역폭 한도를 올리거나, 압축하거나 항목 수를 줄여 덜 보내십시오."
        ),
        Remedy::CheckOutcome => text!(
            lang,
            "Find out why it never occurs: requests succeed, but the business outcome does not.",
            "왜 한 번도 발생하지 않는지 확인하십시오. 요청은 성공하지만 비즈니스 결과가 없습니다."
        ),
    }
}
