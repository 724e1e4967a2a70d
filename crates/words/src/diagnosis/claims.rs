//! The sentences of claims: headline, numbers in one line, and the claim itself.

use model::diagnosis::{Claim, Reading};

use super::numbers::{bytes, count, data_rate, percent, rate, time, whole};
use super::variants;
use crate::{Lang, text};

/// The texts of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimText {
    /// The headline: subject, verb, number, limit.
    pub headline: String,
    /// The numbers in one line.
    pub summary: String,
    /// The claim in one or two sentences.
    pub claim: String,
}

/// Returns what a statement reads per call, with its unit.
fn reading(lang: Lang, reading: Reading) -> String {
    match reading {
        Reading::Blocks(blocks) => {
            let blocks = count(blocks);
            text!(lang, "{blocks} blocks", "{blocks}블록")
        }
        Reading::Rows(rows) => {
            let rows = count(rows);
            text!(lang, "{rows} rows", "{rows}행")
        }
    }
}

/// Returns the texts of a claim.
pub fn claim(lang: Lang, claim: &Claim) -> ClaimText {
    let [headline, summary, claim] = match claim {
        Claim::ProcessorAtLimit { resource, used, limit, at_limit_share, ceiling_per_s } => {
            variants::processor_at_limit(lang, resource, *used, *limit, *at_limit_share, *ceiling_per_s)
        }
        Claim::ProcessorsTaken { place, used, others, cores, waiting_share } => {
            variants::processors_taken(lang, place, *used, *others, *cores, *waiting_share)
        }
        Claim::Throttled { place, throttled_share } => {
            let share = percent(*throttled_share);
            [
                text!(
                    lang,
                    "CPU of {place} throttled by its cgroup quota in {share} of the scheduling periods",
                    "{place}의 CPU가 cgroup 쿼터에 걸림: 스케줄링 주기의 {share}에서 스로틀링"
                ),
                text!(
                    lang,
                    "throttled in {share} of the scheduling periods",
                    "스케줄링 주기의 {share}에서 스로틀링"
                ),
                text!(
                    lang,
                    "{place} uses up its CPU quota in {share} of the scheduling periods. Its threads then stop until the next period.",
                    "{place}의 CPU 쿼터가 스케줄링 주기의 {share}에서 소진됩니다. 그때마다 다음 주기까지 스레드가 멈춥니다."
                ),
            ]
        }
        Claim::QuotaUsedUp { place, used_cores, stalls_per_s, stalled_share } => {
            let (cores, stalls, share) = (count(*used_cores), count(*stalls_per_s), percent(*stalled_share));
            [
                text!(
                    lang,
                    "{place} likely throttled by a CPU quota: it uses {cores} cores and stalls for {share} of the time",
                    "{place}의 CPU 쿼터 소진 추정: {cores}코어를 쓰면서 전체 시간의 {share} 동안 멈춤"
                ),
                text!(
                    lang,
                    "{stalls} stalls per second, {share} of the time",
                    "초당 {stalls}회 멈춤, 전체 시간의 {share}"
                ),
                text!(
                    lang,
                    "{place} never uses more than {cores} cores and stalls {stalls} times per second while requests are open. That is the pattern of a CPU quota.",
                    "{place}의 CPU 사용량은 {cores}코어를 넘지 않고, 처리 중인 요청이 있는데도 초당 {stalls}회 멈춥니다. CPU 쿼터가 걸렸을 때의 패턴입니다."
                ),
            ]
        }
        Claim::GarbageCollection { place, stalled_share } => {
            let share = percent(*stalled_share);
            [
                text!(
                    lang,
                    "Garbage collection pauses {place} for {share} of the time",
                    "{place}의 가비지 컬렉션 정지: 전체 시간의 {share}"
                ),
                text!(
                    lang,
                    "in the garbage collector for {share} of the time",
                    "전체 시간의 {share} 동안 가비지 컬렉션"
                ),
                text!(
                    lang,
                    "The runtime of {place} spends {share} of the time in its garbage collector. All requests wait meanwhile.",
                    "{place}의 런타임이 전체 시간의 {share} 동안 가비지 컬렉션을 합니다. 그동안 모든 요청이 대기합니다."
                ),
            ]
        }
        Claim::Pauses { place, stalled_share, pauses, mean_s } => {
            let (share, pauses, mean) = (percent(*stalled_share), count(*pauses), time(*mean_s));
            [
                text!(
                    lang,
                    "{place} pauses as a whole: {pauses} pauses of {mean}, {share} of the time",
                    "{place} 전체 정지: 평균 {mean}씩 {pauses}회, 전체 시간의 {share}"
                ),
                text!(
                    lang,
                    "{pauses} pauses of {mean} each, {share} of the time",
                    "평균 {mean}씩 {pauses}회 정지, 전체 시간의 {share}"
                ),
                text!(
                    lang,
                    "Nothing in {place} starts or ends during {pauses} pauses of {mean} each, although requests are open. That is {share} of the time.",
                    "처리 중인 요청이 있는데도 {place}에서 아무것도 시작되거나 끝나지 않는 정지가 평균 {mean}씩 {pauses}회 나타납니다. 전체 시간의 {share}입니다."
                ),
            ]
        }
        Claim::EventLoopBlocked { place, wait_s, delay_s, time_share } => {
            let (wait, delay, share) = (time(*wait_s), time(*delay_s), percent(*time_share));
            [
                text!(
                    lang,
                    "Event loop of {place} blocked: requests wait at least {wait} for their turn, {share} of response time",
                    "{place}의 이벤트 루프 블로킹: 요청마다 최소 {wait} 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "event loop delay p99 {delay}, {share} of response time",
                    "이벤트 루프 지연 p99 {delay}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "Callbacks block the event loop of {place}: its delay has a p99 of {delay}. Requests wait at least {wait} each.",
                    "{place}의 콜백이 이벤트 루프를 막습니다. 지연의 p99는 {delay}이고, 요청마다 최소 {wait}씩 기다립니다."
                ),
            ]
        }
        Claim::CacheEvicts { place, evicted_per_s, missed_share } => {
            variants::cache_evicts(lang, place, *evicted_per_s, *missed_share)
        }
        Claim::MemoryFull { place, peak_share } => {
            let share = percent(*peak_share);
            [
                text!(
                    lang,
                    "{place} at its memory limit: {share} in use at the peak",
                    "{place} 메모리 한도 도달: 최대 {share} 사용"
                ),
                text!(lang, "{share} of the memory limit at the peak", "최대 사용량이 메모리 한도의 {share}"),
                text!(
                    lang,
                    "{place} uses {share} of its memory limit at the peak. Above the limit the kernel kills it.",
                    "{place}의 최대 메모리 사용량이 한도의 {share}입니다. 한도를 넘으면 커널이 프로세스를 종료합니다(OOM)."
                ),
            ]
        }
        Claim::PoolExhausted { place, waiting_share, mean_wait_s, pending, connections } => {
            variants::pool_exhausted(lang, place, *waiting_share, *mean_wait_s, *pending, *connections)
        }
        Claim::HeadOfLine { service, waiting_share, mean_wait_s } => {
            let (share, wait) = (percent(*waiting_share), time(*mean_wait_s));
            [
                text!(
                    lang,
                    "Head-of-line blocking in {service}: requests spend {share} of their time behind other responses",
                    "{service} HOL(head-of-line) 블로킹: 요청 시간의 {share}를 다른 응답 뒤에서 대기"
                ),
                text!(
                    lang,
                    "{wait} of waiting per call, {share} of response time",
                    "호출당 {wait} 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "Calls of {service} wait {wait} until another response has left their connection. That is {share} of response time.",
                    "{service}의 호출이 같은 연결의 앞선 응답이 끝날 때까지 평균 {wait} 기다립니다. 응답 시간의 {share}입니다."
                ),
            ]
        }
        Claim::CallsInLine { service, operation, at_once, open, one_s, waiting_share } => {
            let (at_once, open) = (count(*at_once), count(*open));
            let (one, share) = (time(*one_s), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Head-of-line blocking in {service}: {open} calls of {operation} are open, and {at_once} are served at a time",
                    "{service} HOL(head-of-line) 블로킹: {operation} 호출 {open}개 중 동시에 처리되는 것은 {at_once}개"
                ),
                text!(
                    lang,
                    "{at_once} calls at a time, {one} each; {share} of response time is waiting for the calls before",
                    "한 번에 호출 {at_once}개, 각 {one}. 응답 시간의 {share}가 앞선 호출 대기"
                ),
                text!(
                    lang,
                    "{service} has {open} calls of {operation} open on average, but they complete as if {at_once} were served at a time, {one} each. The others wait for a connection of the caller or for the callee.",
                    "{service}의 {operation} 호출은 평균 {open}개가 진행 중이지만, 한 번에 {at_once}개씩 각 {one}에 처리됩니다. 나머지는 호출하는 쪽의 연결이나 호출받는 쪽을 기다립니다."
                ),
            ]
        }
        Claim::HeldByConsumers { queue, held, busy, slots, waiting_share } => {
            let (held, busy, slots) = (count(*held), count(*busy), count(*slots));
            let share = percent(*waiting_share);
            [
                text!(
                    lang,
                    "Head-of-line blocking in consumers of {queue}: {held} tasks wait behind others, with {busy} of {slots} slots busy",
                    "{queue} 컨슈머의 HOL(head-of-line) 블로킹: 슬롯 {slots}개 중 {busy}개만 사용 중인데 작업 {held}개가 다른 작업 뒤에서 대기"
                ),
                text!(
                    lang,
                    "{held} tasks wait inside consumers, {busy} of {slots} slots are busy; {share} of task time is waiting",
                    "컨슈머 안에서 작업 {held}개 대기, 슬롯 {slots}개 중 {busy}개 사용. 작업 시간의 {share}가 대기"
                ),
                text!(
                    lang,
                    "Consumers of {queue} hold {held} messages that they do not process yet, while only {busy} of {slots} slots are busy. Tasks wait {share} of their time behind a longer one, with other consumers idle.",
                    "{queue}의 컨슈머가 아직 처리하지 않는 메시지 {held}개를 쥐고 있는데, 슬롯 {slots}개 중 {busy}개만 사용 중입니다. 작업 시간의 {share} 동안 긴 작업 뒤에서 기다리고 다른 컨슈머는 놀고 있습니다."
                ),
            ]
        }
        Claim::RowLocks { sessions, longest_s, waiting_share, blocker } => {
            let (sessions, longest, share) = (count(*sessions), time(*longest_s), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Row lock contention: {sessions} sessions wait for locks, {share} of response time",
                    "행 잠금 경합: 세션 {sessions}개가 잠금 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{sessions} sessions wait, for up to {longest}",
                    "세션 {sessions}개 대기, 최대 {longest}"
                ),
                match blocker {
                    Some(blocker) => text!(
                        lang,
                        "Requests spend {share} of their time waiting for a lock of another transaction: {blocker}.",
                        "요청이 응답 시간의 {share} 동안 다른 트랜잭션의 잠금을 기다립니다: {blocker}."
                    ),
                    None => text!(
                        lang,
                        "Requests spend {share} of their time waiting for a lock of another transaction.",
                        "요청이 응답 시간의 {share} 동안 다른 트랜잭션의 잠금을 기다립니다."
                    ),
                },
            ]
        }
        Claim::LogSync { sessions, waiting_share } => {
            let (sessions, share) = (count(*sessions), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Commits wait for the write-ahead log: {sessions} sessions wait, {share} of response time",
                    "커밋의 WAL 동기화 대기: 세션 {sessions}개 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{sessions} sessions wait, {share} of response time",
                    "세션 {sessions}개 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "Commits wait until the write-ahead log is on disk. That is {share} of response time.",
                    "커밋이 WAL이 디스크에 기록될 때까지 기다립니다. 응답 시간의 {share}입니다."
                ),
            ]
        }
        Claim::DiskReads { sessions, waiting_share } => {
            let (sessions, share) = (count(*sessions), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Database reads wait for the disk: {sessions} sessions wait, {share} of response time",
                    "데이터베이스의 디스크 읽기 대기: 세션 {sessions}개 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{sessions} sessions wait, {share} of response time",
                    "세션 {sessions}개 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "Sessions wait until blocks are read from disk. That is {share} of response time.",
                    "세션이 디스크에서 블록을 읽을 때까지 기다립니다. 응답 시간의 {share}입니다."
                ),
            ]
        }
        Claim::ConnectionsDropped { late_requests, late_share, dropped_per_s } => {
            let (late, share, dropped) =
                (count(*late_requests), percent(*late_share), dropped_per_s.map(rate));
            [
                match &dropped {
                    Some(dropped) => text!(
                        lang,
                        "Accept queue overflows: {dropped} dropped or repeated SYNs, {late} requests took 1, 2, 3, 4, 5 or 7 s",
                        "accept 큐 오버플로: SYN 유실 또는 재전송 {dropped}, 1~5초나 7초 걸린 요청 {late}개"
                    ),
                    None => text!(
                        lang,
                        "Accept queue overflow suspected: {late} requests took 1, 2, 3, 4, 5 or 7 s",
                        "accept 큐 오버플로 의심: 1~5초나 7초 걸린 요청 {late}개"
                    ),
                },
                text!(lang, "{late} requests took 1, 2, 3, 4, 5 or 7 s", "1~5초나 7초 걸린 요청 {late}개"),
                text!(
                    lang,
                    "{share} of the requests waited for a retransmitted SYN, which the kernel sends after 1, 3 and 7 s, and Linux since 6.5 each second at first.",
                    "요청의 {share}에서 SYN 재전송을 기다렸습니다. 커널은 1, 3, 7초 뒤에, 리눅스 6.5부터는 처음에 1초마다 SYN을 다시 보냅니다."
                ),
            ]
        }
        Claim::ConnectionsNotReused { per_request, opened_per_s, requests_per_s } => {
            let (each, opened, requests) = (count(*per_request), rate(*opened_per_s), rate(*requests_per_s));
            [
                text!(
                    lang,
                    "Connections are not reused: {each} new connections per request, {opened}",
                    "연결이 재사용되지 않음: 요청당 새 연결 {each}개, {opened}"
                ),
                text!(
                    lang,
                    "{each} new connections per request, {opened}",
                    "요청당 새 연결 {each}개, {opened}"
                ),
                text!(
                    lang,
                    "Servers accept {opened} new connections for {requests} requests, beyond those of the test. Each costs a handshake.",
                    "테스트 자체의 연결을 빼고도 요청 {requests}에 새 연결이 {opened} 생깁니다. 연결마다 핸드셰이크 비용이 듭니다."
                ),
            ]
        }
        Claim::RepeatedStatement { statement, times, time_share, requests_share } => {
            let (times, share, requests) = (count(*times), percent(*time_share), percent(*requests_share));
            [
                text!(
                    lang,
                    "N+1 queries: one statement runs {times} times per request, {share} of response time",
                    "N+1 쿼리: 요청당 같은 쿼리 {times}회 실행, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{share} of response time, in {requests} of the requests",
                    "응답 시간의 {share}, 요청의 {requests}에서 발생"
                ),
                text!(
                    lang,
                    "One statement runs again and again and takes {share} of response time: {statement}",
                    "같은 쿼리가 되풀이 실행되어 응답 시간의 {share}를 차지합니다: {statement}"
                ),
            ]
        }
        Claim::RepeatedCalls { statement, calls_per_request, database_share } => {
            let (calls, share) = (count(*calls_per_request), percent(*database_share));
            [
                text!(
                    lang,
                    "N+1 queries suspected: one statement runs {calls} times per request, {share} of database time",
                    "N+1 쿼리 의심: 요청당 같은 쿼리 {calls}회 실행, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "{calls} calls per request, {share} of database time",
                    "요청당 {calls}회, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "Each request makes {calls} calls of one statement: {statement}",
                    "요청마다 같은 쿼리가 {calls}회 호출됩니다: {statement}"
                ),
            ]
        }
        Claim::MissingIndex { statement, read, rows, mean_s, database_share } => {
            let (read, rows, mean, share) =
                (reading(lang, *read), count(*rows), time(*mean_s), percent(*database_share));
            let noun = if rows == "1" { "row" } else { "rows" };
            [
                text!(
                    lang,
                    "Missing index: each call reads {read} for {rows} {noun}, {share} of database time",
                    "인덱스 누락: 호출마다 {rows}행을 위해 {read} 읽음, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "{mean} per call, {read}, {share} of database time",
                    "호출당 {mean}, {read}, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "Each call reads {read} for {rows} {noun}, although its condition selects few. No index leads to them: {statement}",
                    "조건에 맞는 행은 {rows}개인데 호출마다 {read}을 읽습니다. 조건에 맞는 인덱스가 없습니다: {statement}"
                ),
            ]
        }
        Claim::SlowStatement { statement, read, mean_s, database_share } => {
            let (read, mean, share) = (reading(lang, *read), time(*mean_s), percent(*database_share));
            [
                text!(
                    lang,
                    "Slow statement: {mean} per call, {share} of database time",
                    "느린 쿼리: 호출당 {mean}, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "{mean} per call, {read}, {share} of database time",
                    "호출당 {mean}, {read}, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "One statement takes {share} of database time, {mean} per call: {statement}",
                    "쿼리 하나가 데이터베이스 시간의 {share}를 차지하며, 호출당 {mean} 걸립니다: {statement}"
                ),
            ]
        }
        Claim::SlowTracedStatement { statement, mean_s, time_share } => {
            let (mean, share) = (time(*mean_s), percent(*time_share));
            [
                text!(
                    lang,
                    "Slow statement: {mean} per call, {share} of response time",
                    "느린 쿼리: 호출당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{mean} per call, {share} of response time",
                    "호출당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "One statement takes {mean} per call. With the queueing for its worker that is {share} of response time: {statement}",
                    "쿼리 하나가 호출당 {mean} 걸립니다. 워커 대기까지 합하면 응답 시간의 {share}입니다: {statement}"
                ),
            ]
        }
        Claim::BackgroundStatement { statement, every_s, mean_s, calls, database_share } => {
            let (every, mean, calls, share) =
                (time(*every_s), time(*mean_s), count(*calls), percent(*database_share));
            [
                text!(
                    lang,
                    "Periodic job competes with requests: {share} of database time, {mean} every {every}",
                    "주기적 작업이 요청과 경합: 데이터베이스 시간의 {share}, {every}마다 {mean}"
                ),
                text!(
                    lang,
                    "{mean} every {every}, {share} of database time",
                    "{every}마다 {mean}, 데이터베이스 시간의 {share}"
                ),
                text!(
                    lang,
                    "A statement that no request executes takes {share} of database time in {calls} calls: {statement}",
                    "어떤 요청도 실행하지 않는 쿼리가 {calls}회 호출되어 데이터베이스 시간의 {share}를 차지합니다: {statement}"
                ),
            ]
        }
        Claim::PeriodicLatency { period_s, correlation } => {
            let (period, correlation) = (time(*period_s), count(*correlation));
            [
                text!(
                    lang,
                    "Response times rise every {period}: autocorrelation {correlation}",
                    "응답 시간이 {period}마다 상승: 자기상관 {correlation}"
                ),
                text!(
                    lang,
                    "autocorrelation {correlation} at {period}",
                    "{period} 간격의 자기상관 {correlation}"
                ),
                text!(
                    lang,
                    "Something runs every {period} and delays requests, independent of the load.",
                    "부하와 상관없이 {period}마다 실행되는 작업이 요청을 지연시킵니다."
                ),
            ]
        }
        Claim::CacheStampede { statement, concurrent, mean_s, requests_share } => {
            let (concurrent, mean, share) = (count(*concurrent), time(*mean_s), percent(*requests_share));
            [
                text!(
                    lang,
                    "Cache stampede: {concurrent} requests refill the same entry at once, {mean} each",
                    "캐시 스탬피드: 요청 {concurrent}개가 같은 항목을 동시에 다시 채움, 각 {mean}"
                ),
                text!(
                    lang,
                    "{concurrent} at once of {mean} each, in {share} of the requests",
                    "동시에 {concurrent}개, 각 {mean}, 요청의 {share}에서 발생"
                ),
                text!(
                    lang,
                    "{share} of the requests load the same data, {concurrent} of them at once and none in between: {statement}",
                    "요청의 {share}에서 같은 데이터를 읽으며, {concurrent}개가 동시에 몰리고 그 사이에는 없습니다: {statement}"
                ),
            ]
        }
        Claim::Unanswered { service, callee, waiting, mean_s, time_share } => {
            variants::unanswered(lang, service, callee, *waiting, *mean_s, *time_share)
        }
        Claim::SlowCalls { service, operation, mean_s, calls, time_share } => {
            let (mean, calls, share) = (time(*mean_s), count(*calls), percent(*time_share));
            [
                text!(
                    lang,
                    "{service} waits for {operation}: {mean} per call, {share} of response time",
                    "{service}의 {operation} 호출 대기: 호출당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{mean} per call, {share} of response time",
                    "호출당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{operation} takes {mean} per call in {calls} traced calls. That is {share} of response time, queueing included.",
                    "추적된 {calls}회의 {operation} 호출이 평균 {mean} 걸립니다. 큐 대기를 포함하면 응답 시간의 {share}입니다."
                ),
            ]
        }
        Claim::NameResolution { service, mean_s, time_share } => {
            let (mean, share) = (time(*mean_s), percent(*time_share));
            [
                text!(
                    lang,
                    "{service} resolves a DNS name for every request: {mean} each, {share} of response time",
                    "{service}의 요청마다 DNS 조회: 회당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{mean} per lookup, {share} of response time",
                    "조회당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "Each lookup takes {mean} and occupies a worker of {service}. That is {share} of response time.",
                    "DNS 조회가 매번 {mean} 걸리며 {service}의 워커를 점유합니다. 응답 시간의 {share}입니다."
                ),
            ]
        }
        Claim::CallsPaced { operation, per_s, slow_s, mean_s, time_share } => {
            let (per_s, slow, mean, share) =
                (rate(*per_s), time(*slow_s), time(*mean_s), percent(*time_share));
            [
                text!(
                    lang,
                    "Rate limit on {operation}: calls pass at a constant {per_s}, {share} of response time",
                    "{operation} 호출 한도: 일정하게 {per_s}만 통과, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{mean} per call, {share} of response time",
                    "호출당 {mean}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "The same number of calls passes every second ({per_s} in traces), some at once and others after {slow}. That is the pattern of a rate limit.",
                    "초마다 같은 수의 호출만 통과하며(트레이스 기준 {per_s}), 일부는 즉시, 일부는 {slow} 뒤에 통과합니다. 호출 한도가 걸렸을 때의 패턴입니다."
                ),
            ]
        }
        Claim::CallsHeldBack { service, held_share, mean_s, time_share } => {
            let (held, mean, share) = (percent(*held_share), time(*mean_s), percent(*time_share));
            [
                text!(
                    lang,
                    "Downstream rate limit: {held} of the calls of {service} are delayed, {share} of response time",
                    "외부 호출 한도: {service} 호출의 {held}가 지연, 응답 시간의 {share}"
                ),
                text!(lang, "{held} of the calls waited, {mean} each", "호출의 {held}가 평균 {mean}씩 대기"),
                text!(
                    lang,
                    "A rate limit holds back {held} of the calls of {service} for {mean} each. That is {share} of response time.",
                    "{service} 호출의 {held}가 호출 한도 때문에 평균 {mean}씩 지연됩니다. 응답 시간의 {share}입니다."
                ),
            ]
        }
        Claim::Serialised { operation, done_per_s, one_s, busy_share, mean_s } => {
            let (done, one, busy, mean) =
                (rate(*done_per_s), time(*one_s), percent(*busy_share), time(*mean_s));
            let most = rate(1.0 / one_s);
            [
                text!(
                    lang,
                    "{operation} runs one at a time: {done} of at most {most}, utilisation {busy}",
                    "{operation} 직렬화: 최대 {most} 중 {done} 처리, 사용률 {busy}"
                ),
                text!(
                    lang,
                    "{done} × {one} = {busy} utilisation; each takes {mean} with queueing",
                    "{done} × {one} = 사용률 {busy}. 큐 대기를 포함하면 평균 {mean}"
                ),
                text!(
                    lang,
                    "{operation} completes at most {most}, because each execution waits for the one before it.",
                    "{operation} 작업은 앞의 작업이 끝나야 시작되므로 최대 {most}까지만 처리됩니다."
                ),
            ]
        }
        Claim::CallsInTurn { service, operation, done_per_s, one_s, waiting_share } => {
            let (per_s, one, share) = (rate(*done_per_s), time(*one_s), percent(*waiting_share));
            [
                text!(
                    lang,
                    "{service} calls {operation} one at a time: requests wait {share} of their time for their turn",
                    "{service}의 {operation} 호출이 한 번에 하나씩만 실행됨: 요청 시간의 {share} 동안 차례를 대기"
                ),
                text!(
                    lang,
                    "one call at a time, {one} each; {share} of response time before the call",
                    "한 번에 호출 하나, 각 {one}. 응답 시간의 {share}가 호출 전 대기"
                ),
                text!(
                    lang,
                    "{service} never has two calls of {operation} open. Each takes {one}, so at most {per_s} complete. A lock is probably held across the call.",
                    "{service}에서 {operation} 호출은 동시에 두 개 이상 실행되지 않습니다. 각 {one}이므로 최대 {per_s}입니다. 호출하는 동안 락을 쥐고 있을 가능성이 큽니다."
                ),
            ]
        }
        Claim::WorkersBusy { service, operation, at_once, through_per_s, waiting_share } => {
            let (at_once, through, share) = (count(*at_once), rate(*through_per_s), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Worker slots exhausted in {service}: requests queue {share} of their time for one of about {at_once}",
                    "{service} 워커 고갈: 약 {at_once}개의 워커를 기다리며 요청 시간의 {share} 동안 큐 대기"
                ),
                text!(lang, "{share} of response time in {operation}", "응답 시간의 {share}가 {operation}"),
                text!(
                    lang,
                    "Requests of {service} queue for {share} of their time ({operation}). It processes about {at_once} at once, and throughput stays at {through}.",
                    "{service}의 요청이 응답 시간의 {share} 동안 큐에서 대기합니다({operation}). 동시에 약 {at_once}개만 처리하며 처리량은 {through}에 머뭅니다."
                ),
            ]
        }
        Claim::QueuedInFront { service, at_once, through_per_s, waiting_share } => {
            let (at_once, through, share) = (count(*at_once), rate(*through_per_s), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Worker slots exhausted: {service} processes {at_once} at a time, and requests queue {share} of their time in front of it",
                    "워커 고갈: {service}가 한 번에 {at_once}개씩 처리하며, 요청은 그 앞에서 시간의 {share} 동안 큐 대기"
                ),
                text!(
                    lang,
                    "{share} of response time in front of {service}, {at_once} at a time",
                    "응답 시간의 {share}가 {service} 앞, 한 번에 {at_once}개 처리"
                ),
                text!(
                    lang,
                    "{service} never processes more than {at_once} at a time. Each request starts when another ends, and throughput stays at {through}.",
                    "{service}는 한 번에 {at_once}개까지만 처리합니다. 요청은 다른 요청이 끝나야 시작되며, 처리량은 {through}에 머뭅니다."
                ),
            ]
        }
        Claim::PacedInFront { service, per_s, waiting_share } => {
            let (per_s, share) = (rate(*per_s), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Rate limit in front of {service}: requests pass evenly at {per_s} and queue {share} of their time",
                    "{service} 앞의 처리율 제한: 요청이 {per_s}로 일정하게 통과하며, 시간의 {share} 동안 큐 대기"
                ),
                text!(
                    lang,
                    "{share} of response time in front of {service}, {per_s} at even intervals",
                    "응답 시간의 {share}가 {service} 앞, 일정한 간격으로 {per_s}"
                ),
                text!(
                    lang,
                    "Requests reach {service} at even intervals, {per_s}, and queue before that. A proxy or gateway in front limits the rate.",
                    "요청이 {service}에 일정한 간격({per_s})으로 도달하고 그 전에 큐에서 대기합니다. 앞단의 프록시나 게이트웨이가 처리율을 제한합니다."
                ),
            ]
        }
        Claim::Plateau {
            service,
            operation,
            in_flight,
            low_in_flight,
            through_per_s,
            low_through_per_s,
            time_share,
        } => {
            let (high, low) = (count(*in_flight), count(*low_in_flight));
            let (through, low_through, share) =
                (rate(*through_per_s), rate(*low_through_per_s), percent(*time_share));
            [
                text!(
                    lang,
                    "Worker slots exhausted in {service}: throughput stays at {through} with {high} requests in flight",
                    "{service} 워커 고갈: 처리 중인 요청이 {high}개여도 처리량은 {through}"
                ),
                text!(
                    lang,
                    "{low_through} with {low} in flight, {through} with {high}",
                    "처리 중 {low}개일 때 {low_through}, {high}개일 때 {through}"
                ),
                text!(
                    lang,
                    "With {high} requests in flight instead of {low}, throughput is {through}. {share} of the added response time is {operation} in {service}.",
                    "처리 중인 요청이 {low}개에서 {high}개로 늘어도 처리량은 {through}입니다. 늘어난 응답 시간의 {share}가 {service}의 {operation}입니다."
                ),
            ]
        }
        Claim::PrefetchUsedUp { queue, consumers, each, held, prefetch, ready } => {
            let (consumers, each, ready) = (count(*consumers), count(*each), count(*ready));
            let (held, prefetch) = (count(*held), count(*prefetch));
            [
                text!(
                    lang,
                    "Prefetch exhausted on {queue}: {held} of {prefetch} messages held while {ready} wait",
                    "{queue} 프리페치 소진: {prefetch}개 중 {held}개 점유, {ready}개 대기"
                ),
                text!(
                    lang,
                    "{held} of {prefetch} held, {ready} ready",
                    "{prefetch}개 중 {held}개 점유, {ready}개 대기"
                ),
                text!(
                    lang,
                    "{consumers} consumers of {queue} may hold {each} messages each and always do, while {ready} more wait. No more are processed at once.",
                    "{queue}의 컨슈머 {consumers}개가 각각 최대 {each}개의 메시지를 항상 쥐고 있고, {ready}개가 더 기다립니다. 그 이상은 동시에 처리되지 않습니다."
                ),
            ]
        }
        Claim::FewConsumers { queue, consumers, workers, waiting_share } => {
            variants::few_consumers(lang, queue, *consumers, *workers, *waiting_share)
        }
        Claim::ScalerAtMaximum { scaler, replicas, at_maximum_share, waiting_share } => {
            let (replicas, at_maximum, share) =
                (count(*replicas), percent(*at_maximum_share), percent(*waiting_share));
            [
                text!(
                    lang,
                    "Autoscaler at its maximum: {scaler} has {replicas} of {replicas} replicas while {share} of task time is queueing",
                    "오토스케일러 최대치 도달: {scaler} 복제본 {replicas}/{replicas}개, 작업 시간의 {share}가 큐 대기"
                ),
                text!(
                    lang,
                    "{replicas} of {replicas} replicas for {at_maximum} of the time",
                    "전체 시간의 {at_maximum} 동안 복제본 {replicas}/{replicas}개"
                ),
                text!(
                    lang,
                    "{scaler} has all {replicas} replicas that it may start, and {share} of task time is queueing.",
                    "{scaler}의 복제본이 최대치인 {replicas}개인데, 작업 시간의 {share}가 큐 대기입니다."
                ),
            ]
        }
        Claim::Refused { by, refused_share, passed_per_s, limit } => {
            variants::refused(lang, *by, *refused_share, *passed_per_s, *limit)
        }
        Claim::Redelivered { queue, again_share } => {
            let share = percent(*again_share);
            [
                text!(
                    lang,
                    "Redelivered messages on {queue}: {share} of the work is repeated",
                    "{queue} 메시지 재전달: 작업의 {share}가 중복 처리"
                ),
                text!(lang, "{share} of the work is repeated", "작업의 {share}가 중복 처리"),
                text!(
                    lang,
                    "{share} of the deliveries on {queue} are messages that were processed before.",
                    "{queue}의 전달 중 {share}가 이미 처리한 메시지입니다."
                ),
            ]
        }
        Claim::UnevenReplicas { replica, group, replicas, times, requests_share } => {
            let (times, share) = (count(*times), percent(*requests_share));
            [
                text!(
                    lang,
                    "Uneven replicas: {replica} gets {share} of the requests of {replicas} replicas",
                    "복제본 불균형: 복제본 {replicas}개 중 {replica}에 요청의 {share} 집중"
                ),
                text!(
                    lang,
                    "{times} × its share, of {replicas} replicas",
                    "복제본 {replicas}개 중 자기 몫의 {times}배"
                ),
                text!(
                    lang,
                    "{replica} gets {share} of the requests of {replicas} replicas, {times} times its share ({group}).",
                    "복제본 {replicas}개 중 {replica}에 요청의 {share}가 몰립니다. 자기 몫의 {times}배입니다({group})."
                ),
            ]
        }
        Claim::WaitsInWorker { operation, mean_wait_s, time_share } => {
            let (wait, share) = (time(*mean_wait_s), percent(*time_share));
            [
                text!(
                    lang,
                    "{operation} waits inside its worker: {wait} before its first call, {share} of the time",
                    "{operation}의 워커 내부 대기: 첫 호출까지 {wait}, 전체의 {share}"
                ),
                text!(
                    lang,
                    "{wait} before the first call, {share} of the time",
                    "첫 호출까지 {wait}, 전체의 {share}"
                ),
                text!(
                    lang,
                    "{operation} occupies a slot for {wait} before its first call. That is {share} of its time.",
                    "{operation} 작업이 첫 호출 전에 {wait} 동안 슬롯을 점유합니다. 전체 시간의 {share}입니다."
                ),
            ]
        }
        Claim::WaitsAtEnd { service, mean_wait_s, cpu_s, time_share } => {
            let (wait, cpu, share) = (time(*mean_wait_s), time(*cpu_s), percent(*time_share));
            [
                text!(
                    lang,
                    "Synchronous logging likely in {service}: requests wait {wait} at their end, {share} of response time",
                    "{service} 동기 로깅 추정: 요청 끝에서 {wait} 대기, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "{wait} after the last call, {share} of response time",
                    "마지막 호출 뒤 {wait}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "Each request of {service} waits {wait} after its last call and uses only {cpu} of CPU time in total.",
                    "{service}의 요청이 마지막 호출 뒤 {wait} 기다리는데, 요청 전체의 CPU 시간은 {cpu}뿐입니다."
                ),
            ]
        }
        Claim::LargeResponses { body_bytes, time_share } => {
            let (size, share) = (bytes(*body_bytes), percent(*time_share));
            [
                text!(
                    lang,
                    "Large responses: {size} each, {share} of response time is writing and sending them",
                    "큰 응답: 평균 {size}, 응답 시간의 {share}가 생성과 전송"
                ),
                text!(
                    lang,
                    "{size} per response, {share} of response time",
                    "응답당 {size}, 응답 시간의 {share}"
                ),
                text!(
                    lang,
                    "A response has {size}. The service itself and the network take {share} of response time.",
                    "응답 크기가 평균 {size}입니다. 응답 시간의 {share}가 서비스 자체와 네트워크에서 쓰입니다."
                ),
            ]
        }
        Claim::BandwidthSaturated { bytes_per_s, is_even, outside_s, outside_share } => {
            let (data, outside, share) = (data_rate(*bytes_per_s), time(*outside_s), percent(*outside_share));
            let even = is_even.then_some(());
            [
                text!(
                    lang,
                    "Response bandwidth is saturated at {data}: {share} of response time is outside the service",
                    "응답 대역폭 포화({data}): 응답 시간의 {share}가 서비스 밖에서 소요"
                ),
                text!(
                    lang,
                    "{data}, {share} of response time is outside the service",
                    "{data}, 응답 시간의 {share}가 서비스 밖"
                ),
                match even {
                    Some(()) => text!(
                        lang,
                        "Responses arrive at {data}, hardly more in any second. A request spends {outside} ({share}) outside the service.",
                        "응답이 {data}로 들어오며 어느 초에도 거의 그 이상이 되지 않습니다. 요청이 서비스 밖에서 {outside}({share}) 보냅니다."
                    ),
                    None => text!(
                        lang,
                        "Responses arrive at {data}. A request spends {outside} ({share}) outside the service.",
                        "응답이 {data}로 들어옵니다. 요청이 서비스 밖에서 {outside}({share}) 보냅니다."
                    ),
                },
            ]
        }
        Claim::OutcomeNeverOccurs { outcome, tasks } => {
            let tasks = whole(*tasks as f64);
            [
                text!(
                    lang,
                    "Business outcome never occurs: none of {tasks} tasks ended as {outcome}",
                    "비즈니스 결과 0건: 작업 {tasks}개 중 {outcome} 결과 없음"
                ),
                text!(lang, "none of {tasks} tasks", "작업 {tasks}개 중 0개"),
                text!(
                    lang,
                    "None of {tasks} tasks ended as {outcome}, which the script names as an outcome.",
                    "스크립트가 지정한 {outcome} 결과가 작업 {tasks}개 중 한 번도 나오지 않았습니다."
                ),
            ]
        }
    };
    ClaimText { headline, summary, claim }
}
