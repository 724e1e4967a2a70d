//! The remedy of each claim, and its caveats.

use model::audit::AuditClaim;

use super::{count, seconds};
use crate::{Lang, text};

/// Returns the remedy of a finding as a sentence.
pub fn remedy(lang: Lang, claim: &AuditClaim) -> String {
    match claim {
        AuditClaim::WindowDiffers { .. } => text!(
            lang,
            "take start and end from the load generator's record, and query every series with these two timestamps",
            "부하 생성기가 기록한 시작과 끝 시각을 쓰고, 모든 계열을 그 두 시각으로 조회하십시오"
        ),
        AuditClaim::ZoneMislabelled { .. } => text!(
            lang,
            "write timestamps in UTC with their offset (RFC 3339), all from one clock",
            "시각은 하나의 시계에서 가져와 모두 UTC로, 오프셋과 함께(RFC 3339) 적으십시오"
        ),
        AuditClaim::UsageAboveLimit { .. } => match lang {
            Lang::En => "sum over containers alone (container!=\"\", image!=\"\"), check the label `container` for sidecars, and read limits by the same label".to_owned(),
            Lang::Ko => "컨테이너만 더하고(container!=\"\", image!=\"\"), 레이블 `container`에서 사이드카를 확인하고, 한도도 같은 레이블로 읽으십시오".to_owned(),
        },
        AuditClaim::SnapshotOutside { .. } => text!(
            lang,
            "use a time series over the run's window, and its maximum instead of its last value",
            "실행 시간대의 시계열을 쓰고, 마지막 값이 아니라 최댓값을 보십시오"
        ),
        AuditClaim::TooFewPoints { step_max_s, .. } => {
            let step = seconds(*step_max_s);
            text!(
                lang,
                "scrape at least every {step}, with a rate() range of at least four scrape intervals",
                "{step} 이하의 간격으로 수집하고, rate()의 구간은 수집 간격의 네 배 이상으로 두십시오"
            )
        }
        AuditClaim::PointsLost { .. } | AuditClaim::PointsGained { .. } => text!(
            lang,
            "store aggregates per interval, or give each point a unique key; stores keyed by timestamp and tags overwrite duplicates",
            "구간별 집계를 저장하거나 포인트마다 고유한 키를 주십시오. 시각과 태그를 키로 쓰는 저장소는 중복을 덮어씁니다"
        ),
        AuditClaim::QueueInService { .. } => text!(
            lang,
            "use rabbitmq_queue_messages_ready for queued messages and rabbitmq_queue_messages_unacked for messages in service",
            "대기는 rabbitmq_queue_messages_ready로, 처리 중은 rabbitmq_queue_messages_unacked로 보십시오"
        ),
        AuditClaim::PercentileOfMeans { .. } => text!(
            lang,
            "compute percentiles of requests from mergeable histograms, or label this one as a percentile of means",
            "합칠 수 있는 히스토그램에서 요청의 백분위수를 구하거나, 이 값을 평균의 백분위수라고 표시하십시오"
        ),
        AuditClaim::QuantileUnsupported { independent, .. } => {
            let independent = count(*independent);
            text!(
                lang,
                "measure longer, or report a percentile that {independent} samples support",
                "더 오래 측정하거나, 표본 {independent}개가 뒷받침하는 백분위수를 보고하십시오"
            )
        }
        AuditClaim::LoadsDiffer { .. } => text!(
            lang,
            "test each version at the same load, or compare the service demand per request (utilisation × processors ÷ throughput)",
            "각 버전을 같은 부하로 시험하거나, 요청당 서비스 수요(사용률 × 프로세서 ÷ 처리량)를 비교하십시오"
        ),
        AuditClaim::CriterionUnmeasured { .. } => text!(
            lang,
            "measure it in the same run, and report the verdict as incomplete until then",
            "같은 실행에서 측정하고, 그때까지는 판정이 불완전하다고 적으십시오"
        ),
        AuditClaim::LimitsConflict { .. } => text!(
            lang,
            "keep one limit per metric; if one is a goal and the other an SLO, label them so and judge by the SLO",
            "지표마다 한도를 하나만 두십시오. 하나가 목표이고 하나가 SLO라면 그렇게 표시하고 SLO로 판정하십시오"
        ),
        AuditClaim::OneResult { .. } => text!(
            lang,
            "report only one of them; to measure both, use a fixed arrival rate and measure response time from the due time",
            "둘 중 하나만 보고하십시오. 둘 다 측정하려면 도착률을 고정하고 예정 시각부터 응답 시간을 재십시오"
        ),
        AuditClaim::FailuresLowerMedian { .. } | AuditClaim::FailuresAsZero { .. } => text!(
            lang,
            "report the response times of successful requests and the error rate separately, or rank failures above every success",
            "성공한 요청의 응답 시간과 오류율을 따로 보고하거나, 실패를 모든 성공보다 느린 것으로 계산하십시오"
        ),
        AuditClaim::MaximumIsTimeout { .. } => text!(
            lang,
            "treat timed-out requests as right-censored: percentiles below them stay exact, percentiles among them are lower bounds, and the mean is undefined",
            "타임아웃된 요청을 우측 중도절단으로 다루십시오. 그 아래의 백분위수는 정확하고, 그 사이의 백분위수는 하한이며, 평균은 정의되지 않습니다"
        ),
        AuditClaim::LostSyns { .. } => text!(
            lang,
            "check ListenOverflows, ListenDrops and TCPSynRetrans on both sides, and nf_conntrack. Raise the listen backlog (somaxconn) or enable keep-alive to open fewer connections",
            "양쪽의 ListenOverflows, ListenDrops, TCPSynRetrans와 nf_conntrack을 확인하십시오. listen backlog(somaxconn)를 늘리거나 keep-alive로 새 연결을 줄이십시오"
        ),
        AuditClaim::OutcomeZero { .. } => text!(
            lang,
            "inspect one response, then add a check and a threshold for the outcome, so that a run without it fails",
            "응답 하나를 직접 확인하고, 결과에 대한 체크와 임계값을 추가해 결과가 없는 실행이 실패하게 하십시오"
        ),
        AuditClaim::SourcesDisagree { .. } => text!(
            lang,
            "check the definition and time range of each source, then report one and name its source",
            "각 소스의 정의와 시간 범위를 확인하고, 하나만 출처와 함께 보고하십시오"
        ),
        AuditClaim::ChangeWithoutBaseline { .. } | AuditClaim::ValueWithoutBaseline { .. } => text!(
            lang,
            "add the baseline with its run, load and duration, or remove the row from the comparison",
            "기준값을 그 실행, 부하, 시간과 함께 추가하거나, 그 행을 비교에서 빼십시오"
        ),
        AuditClaim::ChangeWrong { .. } => text!(
            lang,
            "compute changes from the displayed figures with a program",
            "변화율은 표시된 수치에서 프로그램으로 계산하십시오"
        ),
        AuditClaim::ChangeMismarked { .. } => {
            text!(lang, "derive the mark from the metric's direction", "표시는 지표의 방향에서 계산하십시오")
        }
    }
}

/// Returns the conditions under which a finding is wrong or smaller.
pub fn caveats(lang: Lang, claim: &AuditClaim) -> Vec<String> {
    let caveat = match claim {
        AuditClaim::TooFewPoints { .. } => text!(
            lang,
            "autocorrelated points carry even less information",
            "자기상관이 있는 데이터 포인트는 정보가 더 적습니다"
        ),
        AuditClaim::LoadsDiffer { .. } => text!(
            lang,
            "a version that is faster at higher load is an improvement, but its size is unknown",
            "더 높은 부하에서 더 빠른 버전은 개선이지만, 그 크기는 알 수 없습니다"
        ),
        AuditClaim::UsageAboveLimit { .. } => text!(
            lang,
            "sidecars in the same pod have their own limits and could explain part of the excess",
            "같은 파드의 사이드카는 자신의 한도가 있어 초과분의 일부를 설명할 수 있습니다"
        ),
        AuditClaim::LostSyns { .. } => text!(
            lang,
            "only retransmissions with an initial timeout of 1 s, the Linux default, are recognised (RFC 6298)",
            "첫 타임아웃이 Linux 기본값인 1초인 재전송만 인식합니다(RFC 6298)"
        ),
        AuditClaim::WindowDiffers { .. }
        | AuditClaim::ZoneMislabelled { .. }
        | AuditClaim::SnapshotOutside { .. }
        | AuditClaim::PointsLost { .. }
        | AuditClaim::PointsGained { .. }
        | AuditClaim::QueueInService { .. }
        | AuditClaim::PercentileOfMeans { .. }
        | AuditClaim::QuantileUnsupported { .. }
        | AuditClaim::CriterionUnmeasured { .. }
        | AuditClaim::LimitsConflict { .. }
        | AuditClaim::OneResult { .. }
        | AuditClaim::FailuresLowerMedian { .. }
        | AuditClaim::FailuresAsZero { .. }
        | AuditClaim::MaximumIsTimeout { .. }
        | AuditClaim::OutcomeZero { .. }
        | AuditClaim::SourcesDisagree { .. }
        | AuditClaim::ChangeWithoutBaseline { .. }
        | AuditClaim::ValueWithoutBaseline { .. }
        | AuditClaim::ChangeWrong { .. }
        | AuditClaim::ChangeMismarked { .. } => return Vec::new(),
    };
    vec![caveat]
}
