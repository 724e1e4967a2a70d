//! Doubts about findings, their data, or the whole diagnosis.

use model::Grade;
use model::diagnosis::Caveat;

use super::numbers::{count, percent, rate, whole};
use crate::{Lang, text};

/// Returns a caveat as a sentence.
pub fn caveat(lang: Lang, caveat: &Caveat) -> String {
    match caveat {
        Caveat::OneRun => text!(
            lang,
            "Only one run was given, so growth with load is unknown. Add runs at lower load.",
            "실행이 하나뿐이라 부하에 따른 변화를 알 수 없습니다. 더 낮은 부하의 실행을 추가하십시오."
        ),
        Caveat::Measurement { grade } => {
            let grade = match (lang, grade) {
                (Lang::En, grade) => grade.as_str(),
                (Lang::Ko, Grade::Valid) => lang.valid(),
                (Lang::Ko, Grade::Degraded) => lang.degraded(),
                (Lang::Ko, Grade::Invalid) => lang.invalid(),
                (Lang::Ko, Grade::Unmeasured) => lang.not_measured(),
            };
            text!(lang, "The measurement itself is {grade}.", "측정의 유효성: {grade}.")
        }
        Caveat::GeneratorWaited { outside_share } => {
            let share = percent(*outside_share);
            text!(
                lang,
                "The load generator waited for a core beside the target, which added at most {share} of response time. Servers measured the other part with their own clocks.",
                "부하 생성기가 대상과 같은 기계에서 코어를 기다렸습니다. 그로 인한 시간은 응답 시간의 {share} 이하이며, 나머지는 서버가 자신의 시계로 잰 값입니다."
            )
        }
        Caveat::SpansBeyond { spans } => {
            let spans = whole(*spans as f64);
            text!(
                lang,
                "{spans} spans of further operations are not listed separately.",
                "그 밖의 작업에 속한 스팬 {spans}개는 따로 구분하지 않았습니다."
            )
        }
        Caveat::BiasedTraces => text!(
            lang,
            "No trace of the unbiased sample was kept: shares are those of slow and failed requests.",
            "무작위 표본의 트레이스가 없습니다. 비율은 느리거나 실패한 요청 기준입니다."
        ),
        Caveat::TracedAreSlower => text!(
            lang,
            "Traced requests took longer than all requests on average, so they are not a fair sample.",
            "추적된 요청의 평균이 전체 요청보다 깁니다. 대표성 있는 표본이 아닙니다."
        ),
        Caveat::TwoClocks => text!(
            lang,
            "The network part is the request duration minus the server span. Both are durations, so the clocks need not agree.",
            "네트워크 구간은 요청 시간에서 서버 스팬을 뺀 값입니다. 둘 다 길이이므로 시계가 일치할 필요는 없습니다."
        ),
        Caveat::WaitEstimatesDiffer { difference_share } => {
            let share = percent(*difference_share);
            text!(
                lang,
                "Wait estimates differ by {share}: one of the methods does not cover all waiting.",
                "대기 시간 추정치가 {share} 차이 납니다. 한 방법이 대기를 모두 보지 못합니다."
            )
        }
        Caveat::StagesUnknown => text!(
            lang,
            "Without traces, stages cannot be separated.",
            "트레이스가 없어 단계를 구분할 수 없습니다."
        ),
        Caveat::OverLimit { peak_share } => {
            let share = percent(*peak_share);
            text!(
                lang,
                "Peak use is {share} of the limit, which is impossible: a cgroup is counted twice, or the limit belongs to another.",
                "최대 사용량이 한도의 {share}로 불가능한 값입니다. cgroup이 중복 집계되었거나 다른 대상의 한도입니다."
            )
        }
        Caveat::ConstantLoad => text!(
            lang,
            "The load hardly varied, so idle use is counted as demand.",
            "부하가 거의 일정해서 유휴 사용량도 수요로 계산됩니다."
        ),
        Caveat::CoreOwnerUnknown => text!(
            lang,
            "The machine does not report which process uses the core.",
            "어느 프로세스가 코어를 쓰는지 이 기계에서는 알 수 없습니다."
        ),
        Caveat::DatabaseCapacity => text!(
            lang,
            "More connections help only while the database has spare capacity.",
            "데이터베이스에 여유가 있을 때만 커넥션을 늘린 효과가 있습니다."
        ),
        Caveat::QuotaUnknown => text!(
            lang,
            "The quota itself was not collected. The kernel counts throttled periods in cpu.stat.",
            "쿼터 값은 수집되지 않았습니다. 스로틀링된 주기는 커널의 cpu.stat에 있습니다."
        ),
        Caveat::CollectorUnconfirmed => text!(
            lang,
            "Garbage collection metrics of the runtime would confirm the cause.",
            "런타임의 GC 지표가 있으면 원인을 확인할 수 있습니다."
        ),
        Caveat::CountedTwice { times } => {
            let times = count(*times);
            text!(
                lang,
                "Use is {times} times the limit, which is impossible: a cgroup is counted twice.",
                "사용량이 한도의 {times}배로 불가능한 값입니다. cgroup이 중복 집계되었습니다."
            )
        }
        Caveat::MachineWide => {
            text!(lang, "The counters cover the whole machine.", "카운터는 기계 전체의 값입니다.")
        }
        Caveat::PacketLoss => text!(
            lang,
            "Packet loss in the network looks the same. TCP counters of the target's kernel would confirm the cause.",
            "네트워크의 패킷 손실도 똑같이 보입니다. 대상 커널의 TCP 카운터로 확인할 수 있습니다."
        ),
        Caveat::HandshakeCost { waiting_share } => {
            let share = percent(*waiting_share);
            text!(
                lang,
                "The cost of a handshake was not measured; {share} of response time is queueing.",
                "핸드셰이크 비용은 측정되지 않았습니다. 응답 시간의 {share}가 큐 대기입니다."
            )
        }
        Caveat::CallsUnattributed => text!(
            lang,
            "Without traces, calls cannot be attributed to single requests.",
            "트레이스가 없어 호출이 어느 요청에 속하는지 알 수 없습니다."
        ),
        Caveat::PlanUnknown => text!(
            lang,
            "The query plan was not collected. EXPLAIN (ANALYZE, BUFFERS) shows it.",
            "실행 계획은 수집되지 않았습니다. EXPLAIN (ANALYZE, BUFFERS)로 확인할 수 있습니다."
        ),
        Caveat::SessionsIdle { idle_share } => {
            let share = percent(*idle_share);
            text!(
                lang,
                "Sessions sleep or wait for their client in {share} of their active time, without CPU, disk or locks.",
                "세션은 활성 시간의 {share} 동안 CPU, 디스크, 잠금 없이 잠들어 있거나 클라이언트를 기다립니다."
            )
        }
        Caveat::NoDatabaseCounters => {
            text!(lang, "Database statistics were not collected.", "데이터베이스 통계가 수집되지 않았습니다.")
        }
        Caveat::UntracedRequests => text!(
            lang,
            "A request without a stored trace could execute it, too.",
            "트레이스가 저장되지 않은 요청이 실행했을 수도 있습니다."
        ),
        Caveat::PeriodicLoad => text!(
            lang,
            "A periodic offered load shows the same pattern.",
            "부하 자체가 주기적이어도 같은 패턴이 나타납니다."
        ),
        Caveat::NoBaseline => text!(
            lang,
            "Nothing shows that the calls are slower than usual. Compare with a healthy run.",
            "호출이 평소보다 느리다는 근거는 없습니다. 정상 실행과 비교하십시오."
        ),
        Caveat::PoolOrCallee { at_once } => {
            let at_once = count(*at_once);
            text!(
                lang,
                "A pool of {at_once} connections in the caller and a callee with {at_once} workers look the same. Traces of the callee, or the client's connection metrics (http.client.open_connections), would decide.",
                "호출하는 쪽의 연결 {at_once}개짜리 풀과 호출받는 쪽의 워커 {at_once}개는 똑같이 보입니다. 호출받는 쪽의 트레이스나 클라이언트의 연결 지표(http.client.open_connections)가 있으면 구분할 수 있습니다."
            )
        }
        Caveat::WorkersDoNotHelp => {
            text!(lang, "More workers alone change nothing.", "워커만 늘려서는 달라지지 않습니다.")
        }
        Caveat::KeysUnknown => {
            text!(lang, "The number of keys was not collected.", "키의 수는 수집되지 않았습니다.")
        }
        Caveat::WorkersUnknown => text!(
            lang,
            "The number of workers was not collected, nor whether there is CPU for more.",
            "워커 수와, 워커를 늘릴 CPU 여유가 있는지는 수집되지 않았습니다."
        ),
        Caveat::ConsumersBusy => text!(
            lang,
            "The work of the consumers may be the bottleneck. Check it first.",
            "컨슈머가 하는 일이 병목일 수 있습니다. 먼저 확인하십시오."
        ),
        Caveat::NodeCapacity => text!(
            lang,
            "More replicas need free capacity on the nodes.",
            "복제본을 늘리려면 노드에 여유가 있어야 합니다."
        ),
        Caveat::Throughput { per_s } => {
            let per_s = rate(*per_s);
            text!(
                lang,
                "Throughput, repeated work included, is {per_s}.",
                "중복 작업을 포함한 처리량은 {per_s}입니다."
            )
        }
        Caveat::BusiestUnconfirmed => text!(
            lang,
            "Resource metrics of the busiest replica would confirm that it is at its limit.",
            "가장 바쁜 복제본의 리소스 지표가 있으면 한계 도달을 확인할 수 있습니다."
        ),
        Caveat::WaitReasonUnknown => text!(
            lang,
            "The reason for the wait was not collected: memory, a semaphore and a lock look the same.",
            "대기 원인은 수집되지 않았습니다. 메모리, 세마포어, 잠금이 똑같이 보입니다."
        ),
        Caveat::WaitWithoutSpan => text!(
            lang,
            "Any other wait without a span looks the same.",
            "스팬이 없는 다른 대기도 똑같이 보입니다."
        ),
        Caveat::SizeUnconfirmed => text!(
            lang,
            "A run with smaller responses would confirm that size is the cause.",
            "응답이 더 작은 실행이 있으면 크기가 원인인지 확인할 수 있습니다."
        ),
        Caveat::SlowProxy => text!(lang, "A slow proxy looks the same.", "느린 프록시도 똑같이 보입니다."),
        Caveat::NoCapacityEffect => {
            text!(lang, "It has no effect on capacity.", "처리 용량에는 영향이 없습니다.")
        }
    }
}
