//! The mistake that each rule looks for, in one line.

use model::AuditRule;

use crate::Lang;

/// Returns the mistake that a rule looks for.
pub const fn rule(lang: Lang, rule: AuditRule) -> &'static str {
    let [english, korean] = match rule {
        AuditRule::WrongWindow => {
            ["the analysed window does not match the run", "분석한 시간대가 실행 시간대와 다릅니다"]
        }
        AuditRule::TimeZone => {
            ["a timestamp is labelled with the wrong time zone", "시각에 다른 시간대의 표시가 붙어 있습니다"]
        }
        AuditRule::UsageAboveLimit => {
            ["usage exceeds the resource's limit", "사용량이 리소스의 한도보다 큽니다"]
        }
        AuditRule::SnapshotOutside => {
            ["a snapshot was taken outside the run", "스냅샷을 실행 시간 밖에서 읽었습니다"]
        }
        AuditRule::TooFewPoints => [
            "a peak or a trend is based on too few points",
            "데이터 포인트가 너무 적어 최고점이나 추세를 판단할 수 없습니다",
        ],
        AuditRule::LostPoints => [
            "points were overwritten or lost: fewer were recorded than sent",
            "데이터 포인트가 덮어써졌거나 유실되어 보낸 수보다 적게 기록되었습니다",
        ],
        AuditRule::QueueInService => {
            ["a queue's length includes messages in service", "큐 길이에 처리 중인 메시지가 들어 있습니다"]
        }
        AuditRule::PercentileOfMeans => [
            "a percentile of means is presented as a percentile of requests",
            "평균의 백분위수를 요청의 백분위수로 제시했습니다",
        ],
        AuditRule::UnsupportedQuantile => {
            ["a percentile needs more samples than there are", "표본 수가 이 백분위수를 뒷받침하지 못합니다"]
        }
        AuditRule::UnequalLoad => {
            ["versions are compared at different loads", "부하가 다른 버전들을 비교했습니다"]
        }
        AuditRule::UnmeasuredCriterion => {
            ["a success criterion was not measured", "성공 기준의 일부를 측정하지 않았습니다"]
        }
        AuditRule::ConflictingSlos => {
            ["one metric has two different limits", "하나의 지표에 서로 다른 두 한도가 있습니다"]
        }
        AuditRule::ClosedLoop => [
            "throughput and latency of a closed loop are reported as independent results",
            "닫힌 루프의 처리량과 지연 시간을 독립된 결과로 제시했습니다",
        ],
        AuditRule::FailedAsFast => [
            "failed requests are counted as zero or as fast responses",
            "실패한 요청을 0이나 빠른 응답으로 계산했습니다",
        ],
        AuditRule::CensoredTimeout => [
            "timed-out requests are counted with the timeout as their duration",
            "타임아웃된 요청의 시간을 타임아웃 값으로 계산했습니다",
        ],
        AuditRule::SynRetransmission => [
            "connect times are at 1, 2, 3, 4, 5 or 7 s, the delays of SYN retransmissions",
            "연결 시간이 SYN 재전송 시점인 1~5초나 7초에 있습니다",
        ],
        AuditRule::BusinessZero => [
            "the business outcome is zero although all requests succeed",
            "모든 요청이 성공했지만 업무 결과는 0입니다",
        ],
        AuditRule::SourcesDisagree => [
            "two sources report different values for the same fact",
            "두 소스가 같은 사실에 대해 다른 값을 보고합니다",
        ],
        AuditRule::BeforeMissing => ["a comparison has no baseline", "비교할 기준값이 없습니다"],
        AuditRule::ChangeArithmetic => [
            "a reported change does not match its own figures",
            "보고된 변화율이 그 자신의 수치와 맞지 않습니다",
        ],
    };
    match lang {
        Lang::En => english,
        Lang::Ko => korean,
    }
}
