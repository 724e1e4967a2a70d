//! The names of numbers, and the notes beside them.

use model::diagnosis::{DemandLine, FigureName, Note, ResourceKind};

use super::numbers::{count, percent, rate, time, whole};
use super::{amount, resource_kind};
use crate::{Lang, text};

/// Returns the name of a number.
pub fn figure_name(lang: Lang, name: &FigureName) -> String {
    match name {
        FigureName::Throughput => text!(lang, "throughput", "처리량"),
        FigureName::MeanTime => text!(lang, "mean response time", "평균 응답 시간"),
        FigureName::Ceiling => text!(lang, "throughput ceiling", "최대 처리량"),
        FigureName::Used => text!(lang, "use", "사용량"),
        FigureName::Limit => text!(lang, "limit", "한도"),
        FigureName::AtLimitTime => text!(lang, "time at the limit", "한계에 있는 시간"),
        FigureName::RequestDemand => text!(lang, "demand of a request", "요청당 수요"),
        FigureName::DemandCeiling => text!(lang, "ceiling, limit / demand", "최대 처리량(한도 / 수요)"),
        FigureName::ThrottledPeriods => {
            text!(lang, "throttled scheduling periods", "스로틀링된 스케줄링 주기")
        }
        FigureName::ThrottledTime => text!(lang, "throttled time", "스로틀링된 시간"),
        FigureName::StallRate => text!(lang, "stalls per second", "초당 멈춤 횟수"),
        FigureName::StalledTime => text!(lang, "stalled time", "멈춘 시간"),
        FigureName::CollectorTime => text!(lang, "time in the garbage collector", "가비지 컬렉션 시간"),
        FigureName::PauseLength => text!(lang, "length of a pause", "정지 길이"),
        FigureName::PauseRate => text!(lang, "pauses per second", "초당 정지 횟수"),
        FigureName::RequestTimeShare => text!(lang, "share of response time", "응답 시간 비율"),
        FigureName::TimeShare => text!(lang, "share of the time", "시간 비율"),
        FigureName::EvictionRate => text!(lang, "evicted keys", "키 축출"),
        FigureName::MissRatio => text!(lang, "cache misses", "캐시 미스"),
        FigureName::MemoryUsed => text!(lang, "memory in use", "메모리 사용량"),
        FigureName::MemoryLimit => text!(lang, "memory limit", "메모리 한도"),
        FigureName::MemoryPeak => text!(lang, "peak memory", "최대 메모리"),
        FigureName::ConnectionWait => text!(lang, "wait for a connection", "커넥션 대기"),
        FigureName::PendingRequests => text!(lang, "requests that wait", "대기 요청"),
        FigureName::ConnectionsInUse => text!(lang, "connections in use", "사용 중인 커넥션"),
        FigureName::ConnectionsMax => text!(lang, "connection limit", "커넥션 한도"),
        FigureName::WaitingSessions => text!(lang, "sessions that wait", "대기 세션"),
        FigureName::LongestWait => text!(lang, "longest wait", "최장 대기"),
        FigureName::LateRequests => {
            text!(lang, "requests that took 1, 2, 3, 4, 5 or 7 s", "1~5초나 7초 걸린 요청")
        }
        FigureName::RefusedRequests => text!(lang, "refused requests", "거절된 요청"),
        FigureName::DroppedPackets => text!(lang, "packets dropped or sent again", "유실 또는 재전송된 패킷"),
        FigureName::AcceptedConnections => text!(lang, "accepted connections", "수락한 연결"),
        FigureName::OwnConnections => text!(lang, "connections of the test", "테스트 자체의 연결"),
        FigureName::ConnectionsPerRequest => text!(lang, "connections per request", "요청당 연결"),
        FigureName::QueueingShare => text!(lang, "share of queueing", "큐 대기 비율"),
        FigureName::ExecutionsPerRequest => text!(lang, "executions per request", "요청당 실행 횟수"),
        FigureName::RequestsWithStatement => text!(lang, "requests with the statement", "쿼리를 실행한 요청"),
        FigureName::CallsPerRequest => text!(lang, "calls per request", "요청당 호출"),
        FigureName::DatabaseTimeShare => text!(lang, "share of database time", "데이터베이스 시간 비율"),
        FigureName::CallTime => text!(lang, "time per call", "호출당 시간"),
        FigureName::BlocksPerCall => text!(lang, "blocks per call", "호출당 블록"),
        FigureName::RowsExaminedPerCall => text!(lang, "rows examined per call", "호출당 검사한 행"),
        FigureName::RowsPerCall => text!(lang, "rows per call", "호출당 행"),
        FigureName::SameTablesShare => {
            text!(lang, "statements on the same tables", "같은 테이블을 읽는 쿼리")
        }
        FigureName::Calls => text!(lang, "calls", "호출 수"),
        FigureName::BusySessions => text!(lang, "sessions that execute it", "실행 중인 세션"),
        FigureName::Period => text!(lang, "period", "주기"),
        FigureName::Correlation => text!(lang, "autocorrelation", "자기상관"),
        FigureName::QuietTime => text!(lang, "response time between", "평소 응답 시간"),
        FigureName::Concurrent => text!(lang, "at the same time", "동시 실행"),
        FigureName::ConcurrentByChance => text!(lang, "expected by chance", "우연히 겹칠 기댓값"),
        FigureName::RequestsThatLoad => text!(lang, "requests that load", "데이터를 읽는 요청"),
        FigureName::ServiceWorkShare => text!(lang, "share of service time", "서비스 작업 비율"),
        FigureName::WorkerWaitShare => text!(lang, "queueing for workers", "워커 큐 대기"),
        FigureName::CallsHeldBack => text!(lang, "delayed calls", "지연된 호출"),
        FigureName::HeldBackTime => text!(lang, "delay of a call", "호출 지연"),
        FigureName::DoneRate => text!(lang, "completed", "완료"),
        FigureName::ServiceTime => text!(lang, "service time", "처리 시간"),
        FigureName::BusyShare => text!(lang, "utilisation", "사용률"),
        FigureName::MeanOfAll => text!(lang, "mean time", "평균 시간"),
        FigureName::QueueWait => text!(lang, "queueing time", "큐 대기 시간"),
        FigureName::AtOnce => text!(lang, "processed at once", "동시 처리"),
        FigureName::InFlight => text!(lang, "requests in flight", "처리 중인 요청"),
        FigureName::OperationTime => text!(lang, "operation time", "작업 시간"),
        FigureName::Prefetch => text!(lang, "prefetch", "프리페치"),
        FigureName::MessagesHeld => text!(lang, "unacknowledged messages", "미확인 메시지"),
        FigureName::MessagesReady => text!(lang, "ready messages", "대기 메시지"),
        FigureName::QueueWaitShare => text!(lang, "share of queueing time", "큐 대기 비율"),
        FigureName::Consumers => text!(lang, "consumers", "컨슈머"),
        FigureName::Workers => text!(lang, "running workers", "실행 중인 워커"),
        FigureName::Replicas => text!(lang, "replicas", "복제본"),
        FigureName::AtMaximumTime => text!(lang, "time at the maximum", "최대치인 시간"),
        FigureName::RepeatedWork => text!(lang, "repeated work", "중복 작업"),
        FigureName::TracedWork => text!(lang, "traced deliveries", "추적된 전달"),
        FigureName::FirstCallWait => text!(lang, "wait before the first call", "첫 호출까지 대기"),
        FigureName::WorkTime => text!(lang, "processing time", "처리 시간"),
        FigureName::EndWait => text!(lang, "wait at the end", "요청 끝의 대기"),
        FigureName::ThreadBusy => text!(lang, "utilisation of one thread", "스레드 하나의 사용률"),
        FigureName::RequestCpu => text!(lang, "CPU time of a request", "요청당 CPU 시간"),
        FigureName::ResponseSize => text!(lang, "response size", "응답 크기"),
        FigureName::ServiceShare => text!(lang, "share of the service itself", "서비스 자체의 비율"),
        FigureName::OutsideShare => text!(lang, "share outside the service", "서비스 밖의 비율"),
        FigureName::DataRate => text!(lang, "data rate", "데이터 전송률"),
        FigureName::DataRateVariation => text!(lang, "variation of the data rate", "전송률의 변동"),
        FigureName::OutsideTime => text!(lang, "time outside the service", "서비스 밖의 시간"),
        FigureName::ReceivingShare => text!(lang, "share of receiving", "수신 비율"),
        FigureName::Tasks => text!(lang, "tasks", "작업"),
        FigureName::UpperBound => text!(lang, "upper bound of the share", "비율의 상한"),
        FigureName::Replica(name) => name.clone(),
        FigureName::TasksEndedAs(outcome) => text!(lang, "ended as {outcome}", "{outcome} 결과"),
    }
}

/// Returns the note beside a number.
pub fn note(lang: Lang, note: &Note) -> String {
    match note {
        Note::MeanOfRun => text!(lang, "mean of the run", "실행 전체 평균"),
        Note::OfTime => text!(lang, "of the time", "전체 시간 중"),
        Note::OfRequestTime => text!(lang, "of response time", "응답 시간 중"),
        Note::OfTaskTime => text!(lang, "of task time", "작업 시간 중"),
        Note::OfRequests => text!(lang, "of the requests", "요청 중"),
        Note::OfWaiting => text!(lang, "mean of the requests that wait", "대기한 요청의 평균"),
        Note::OfAllCalls => text!(lang, "mean of all calls", "모든 호출의 평균"),
        Note::Sampled => text!(lang, "mean of ten samples per second", "초당 10회 표본의 평균"),
        Note::EachSecond => text!(lang, "the same in every second", "매초 같음"),
        Note::LowerBound => text!(lang, "lower bound", "하한"),
        Note::InPauses => text!(lang, "in pauses, or behind them", "정지 중이거나 그 뒤의 대기"),
        Note::OfRequestsWithIt => text!(lang, "mean of the requests with it", "해당 요청의 평균"),
        Note::MadeRoom => text!(lang, "to make space for others", "다른 키를 넣기 위해"),
        Note::WithoutQueueing => text!(lang, "without queueing", "큐 대기 제외"),
        Note::OfThose => text!(lang, "mean of those", "해당 호출의 평균"),
        Note::RateTimesService => {
            text!(lang, "rate × service time, for one at a time", "처리율 × 처리 시간, 한 번에 하나 기준")
        }
        Note::WorkPerSecond => text!(lang, "time of all work, per second", "초당 전체 작업 시간"),
        Note::WaitingMessages => text!(lang, "messages that wait", "대기 메시지"),
        Note::AllQueues => text!(lang, "messages that wait, in all queues", "모든 큐의 대기 메시지"),
        Note::MaximumReplicas => text!(lang, "the configured maximum", "설정된 최대치"),
        Note::Mean => text!(lang, "mean", "평균"),
        Note::AllOfIt => text!(lang, "in total", "합계"),
        Note::OfAllRequests => text!(lang, "mean of all requests", "모든 요청의 평균"),
        Note::OfSeconds => text!(lang, "mean of the seconds", "초별 값의 평균"),
        Note::MedianOfSeconds => text!(lang, "median of the seconds", "초별 값의 중앙값"),
        Note::NotInTraces => {
            text!(lang, "none of them in the trace of a request", "요청의 트레이스에는 없음")
        }
        Note::OfLoaders => text!(lang, "mean over the requests that load", "읽는 요청의 평균"),
        Note::OnePlusRate => text!(lang, "1 + rate × length", "1 + 처리율 × 길이"),
        Note::Confidence95 => text!(lang, "95 % confidence", "95 % 신뢰수준"),
        Note::MeanOfSeries(series) => {
            text!(lang, "mean of the run, {series} series", "실행 전체 평균, 시계열 {series}개")
        }
        Note::MeanOf(number) => {
            let number = whole(*number as f64);
            text!(lang, "mean of {number}", "{number}개의 평균")
        }
        Note::MeanOfCalls(calls) => {
            let calls = whole(*calls);
            text!(lang, "mean of {calls} calls", "호출 {calls}회의 평균")
        }
        Note::ShareOfRequests(share) => {
            let share = percent(*share);
            text!(lang, "{share} of all requests", "전체 요청의 {share}")
        }
        Note::OfStatements(statements) => {
            text!(
                lang,
                "of database time, {statements} statements",
                "데이터베이스 시간 중, 쿼리 {statements}개"
            )
        }
        Note::CountAtLow(value) => {
            let value = count(*value);
            text!(lang, "{value} at the lowest load", "최저 부하에서 {value}")
        }
        Note::RateAtLow(value) => {
            let value = rate(*value);
            text!(lang, "{value} at the lowest load", "최저 부하에서 {value}")
        }
        Note::SecondsAtLow(value) => {
            let value = time(*value);
            text!(lang, "{value} at the lowest load", "최저 부하에서 {value}")
        }
        Note::Consumers(consumers) => {
            let consumers = count(*consumers);
            text!(lang, "{consumers} consumers", "컨슈머 {consumers}개")
        }
        Note::Queue(queue) => text!(lang, "queue {queue}", "큐 {queue}"),
    }
}

/// Returns the label of the use of a resource, with its unit.
pub fn demand_used(lang: Lang, kind: ResourceKind) -> String {
    let name = resource_kind(lang, kind);
    match kind {
        ResourceKind::Cpu
        | ResourceKind::NodeCpu
        | ResourceKind::Core
        | ResourceKind::ProgramCpu
        | ResourceKind::OneThread
        | ResourceKind::Thread => {
            text!(lang, "{name}, cores", "{name} 사용량(코어)")
        }
        ResourceKind::JvmCpu | ResourceKind::Disk => text!(lang, "{name}, utilisation", "{name} 사용률"),
        ResourceKind::Threads | ResourceKind::TaskSlots | ResourceKind::Clients => {
            text!(lang, "{name} in use", "사용 중인 {name}")
        }
    }
}

/// Returns the label of throughput beside the use of a resource.
pub fn demand_through(lang: Lang) -> String {
    text!(lang, "requests/s", "초당 요청")
}

/// Returns the caption of a demand line.
pub fn demand_caption(lang: Lang, line: &DemandLine) -> String {
    let used = demand_used(lang, line.resource);
    let most = line.points.iter().map(|point| point.1).fold(0.0, f64::max);
    let (most, slope) = (count(most), count(line.slope));
    match line.limit {
        Some(limit) => {
            let limit = amount(lang, line.resource, limit);
            text!(
                lang,
                "{used}: at most {most}, limit {limit}; {slope} more per request/s",
                "{used}: 최대 {most}, 한도 {limit}. 초당 요청 1개가 늘 때마다 {slope} 증가"
            )
        }
        None => text!(
            lang,
            "{used}: at most {most}; {slope} more per request/s",
            "{used}: 최대 {most}. 초당 요청 1개가 늘 때마다 {slope} 증가"
        ),
    }
}
