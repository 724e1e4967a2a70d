//! The impact of each claim on conclusions from the numbers.

use model::audit::AuditClaim;

use super::{count, percent, seconds};
use crate::{Lang, text};

/// Returns the impact of a finding as a sentence.
pub fn impact(lang: Lang, claim: &AuditClaim) -> String {
    match claim {
        AuditClaim::WindowDiffers { analysed_s, rates_percent, .. } => {
            let (analysed, rates) = (seconds(*analysed_s), percent(*rates_percent));
            text!(
                lang,
                "over the analysed {analysed}, rates are {rates} of the run's, start values are not the run's, and averages include idle time",
                "분석한 {analysed} 동안의 비율은 실행의 {rates}이고, 시작값은 실행의 것이 아니며, 평균에는 부하가 없던 시간이 섞입니다"
            )
        }
        AuditClaim::ZoneMislabelled { off_h, .. } => text!(
            lang,
            "logs, dashboards and queries read by this label are {off_h} hours off the run",
            "이 표시대로 로그, 대시보드, 쿼리를 보면 실행과 {off_h}시간 어긋난 시간을 보게 됩니다"
        ),
        AuditClaim::UsageAboveLimit { half: Some((half, share)), .. } => text!(
            lang,
            "the series sums more than this resource; if it adds the pod's and the container's cgroup, the true usage is half: {half}, or {share} of the limit",
            "계열이 이 리소스보다 많은 것을 더하고 있습니다. 파드와 컨테이너의 cgroup을 함께 더했다면 실제 사용량은 절반인 {half}, 한도의 {share}입니다"
        ),
        AuditClaim::UsageAboveLimit { half: None, .. } => text!(
            lang,
            "the series sums more than this resource",
            "계열이 이 리소스보다 많은 것을 더하고 있습니다"
        ),
        AuditClaim::SnapshotOutside { .. } => text!(
            lang,
            "the snapshot shows an idle system; the headroom in it was not available under load",
            "부하가 없는 시스템을 읽은 값입니다. 그때 보인 여유는 부하 중의 여유가 아닙니다"
        ),
        AuditClaim::TooFewPoints { step_s, .. } => {
            let step = seconds(*step_s);
            text!(
                lang,
                "the true peak may be missing, and the time of the observed peak is uncertain by ±{step}",
                "실제 최고점을 놓쳤을 수 있고, 관측한 최고점의 시각도 ±{step}만큼 불확실합니다"
            )
        }
        AuditClaim::PointsLost { .. } | AuditClaim::PointsGained { .. } => text!(
            lang,
            "counts and rates are off by at least this share, percentiles by an unknown amount: losses concentrate in busy moments, where points share a timestamp",
            "횟수와 비율은 적어도 이만큼, 백분위수는 알 수 없는 만큼 틀렸습니다. 데이터 포인트의 시각이 겹치는 바쁜 순간에 유실이 몰립니다"
        ),
        AuditClaim::QueueInService { in_service, peak, .. } => {
            let (least, most) = (count(peak - in_service), count(*peak));
            text!(
                lang,
                "the counter is ready + unacknowledged: between {least} and {most} messages were queued at the peak, so it does not prove a backlog",
                "이 값은 ready + unacknowledged입니다. 최고점에서 대기한 메시지는 {least}~{most}개이므로 밀려 있었다는 증거가 되지 않습니다"
            )
        }
        AuditClaim::PercentileOfMeans { .. } => text!(
            lang,
            "means hide slow requests: the percentile of requests is higher than the reported one, by an amount the means do not reveal",
            "평균은 느린 요청을 감춥니다. 요청의 백분위수는 보고된 값보다 크고, 얼마나 큰지는 평균으로 알 수 없습니다"
        ),
        AuditClaim::QuantileUnsupported { quantile, .. } => text!(
            lang,
            "p{quantile} rests on a few extreme values: repeating the run changes it, so a difference is not evidence of a regression",
            "p{quantile}은 극단값 몇 개로 정해집니다. 다시 실행하면 달라지므로 차이가 있어도 성능 저하의 증거가 되지 않습니다"
        ),
        AuditClaim::LoadsDiffer { .. } => text!(
            lang,
            "response time depends on load, so the effect of the version cannot be separated from the effect of the load",
            "응답 시간은 부하에 따라 달라지므로, 차이가 버전 때문인지 부하 때문인지 구분할 수 없습니다"
        ),
        AuditClaim::CriterionUnmeasured { measured, criteria, .. } => text!(
            lang,
            "the verdict is inconclusive: {measured} of {criteria} criteria were measured, and the others may have failed",
            "판정을 확정할 수 없습니다. 기준 {criteria}개 중 {measured}개만 측정했고, 나머지는 실패했을 수도 있습니다"
        ),
        AuditClaim::LimitsConflict { .. } => text!(
            lang,
            "pass or fail, and the load considered safe, depend on which limit is applied",
            "어느 한도를 적용하느냐에 따라 통과 여부와 안전하다고 보는 부하가 달라집니다"
        ),
        AuditClaim::OneResult { .. } => text!(
            lang,
            "in a closed loop throughput is threads ÷ latency, so one does not confirm the other; a stall reduces the offered load instead of growing the queue (coordinated omission)",
            "닫힌 루프의 처리량은 스레드 수 ÷ 지연 시간이므로 하나가 다른 하나를 확인해 주지 않습니다. 멈춤이 생기면 큐가 늘지 않고 가하는 부하가 줄어듭니다(coordinated omission)"
        ),
        AuditClaim::FailuresLowerMedian { .. } | AuditClaim::FailuresAsZero { .. } => text!(
            lang,
            "the more requests fail fast, the faster the target appears; every percentile over all requests is too low",
            "빨리 실패하는 요청이 많을수록 대상이 빨라 보입니다. 전체 요청의 백분위수가 모두 실제보다 낮습니다"
        ),
        AuditClaim::MaximumIsTimeout { .. } => text!(
            lang,
            "timed-out requests would have taken longer: the mean, the maximum and every percentile among them are lower bounds",
            "타임아웃된 요청은 더 오래 걸렸을 것입니다. 평균과 최댓값, 그 사이에 놓인 백분위수는 모두 하한입니다"
        ),
        AuditClaim::LostSyns { .. } => text!(
            lang,
            "connection attempts were dropped below the application: accept queue overflow, full conntrack table or packet loss. Request durations exclude connecting and do not show it",
            "애플리케이션 아래에서 연결 시도가 버려졌습니다: accept 큐 초과, conntrack 테이블 가득 참, 또는 패킷 유실. 요청 시간에는 연결이 포함되지 않아 드러나지 않습니다"
        ),
        AuditClaim::OutcomeZero { .. } => text!(
            lang,
            "the business transaction was not executed, or fails silently: the response times may be those of an error page",
            "업무 트랜잭션이 실행되지 않았거나 조용히 실패합니다. 응답 시간이 오류 페이지의 것일 수 있습니다"
        ),
        AuditClaim::SourcesDisagree { .. } => text!(
            lang,
            "at least one source covers another quantity, another time range or only a part; conclusions based on it are unconfirmed",
            "적어도 한 소스는 다른 양, 다른 시간, 또는 일부만 셉니다. 여기에 근거한 결론은 확정할 수 없습니다"
        ),
        AuditClaim::ChangeWithoutBaseline { .. } | AuditClaim::ValueWithoutBaseline { .. } => text!(
            lang,
            "the change cannot be verified, nor whether it is an improvement or a regression",
            "변화를 확인할 수 없고, 개선인지 악화인지도 알 수 없습니다"
        ),
        AuditClaim::ChangeWrong { .. } => {
            text!(
                lang,
                "at least one of the three figures is wrong",
                "세 수치 가운데 적어도 하나가 틀렸습니다"
            )
        }
        AuditClaim::ChangeMismarked { .. } => text!(
            lang,
            "readers take a regression for an improvement, or the reverse",
            "읽는 사람이 악화를 개선으로, 또는 개선을 악화로 봅니다"
        ),
    }
}
