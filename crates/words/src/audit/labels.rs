//! Labels of the auditor's figures.

use model::audit::{ConnectStatistic, FigureLabel};

use crate::{Lang, text};

/// Returns the label of a figure.
pub fn label(lang: Lang, label: &FigureLabel) -> String {
    let [english, korean] = match label {
        FigureLabel::Named(name) => return name.clone(),
        FigureLabel::LimitIn(place) => return text!(lang, "limit in {place}", "한도({place})"),
        FigureLabel::OfferedTo(version) => return text!(lang, "{version}: offered", "{version}: 가한 부하"),
        FigureLabel::P95Of(version) => return text!(lang, "{version}: p95", "{version}의 p95"),
        FigureLabel::PowerAt(vus) => {
            return text!(lang, "power at {vus} VUs, per min per s", "VU {vus}개의 파워(분당 처리량 ÷ 초)");
        }
        FigureLabel::ConnectTime(statistic) => {
            let statistic = connect_statistic(lang, *statistic);
            return text!(lang, "{statistic} connect time", "연결 시간 {statistic}");
        }
        FigureLabel::ActualChange => ["actual change", "적힌 수치의 변화율"],
        FigureLabel::ActualOffset => ["actual offset", "실제 오프셋"],
        FigureLabel::ActualTime => ["actual time", "실제 시각"],
        FigureLabel::After => ["after", "이후"],
        FigureLabel::AnalysisEnd => ["analysis end", "분석 끝"],
        FigureLabel::AnalysisStart => ["analysis start", "분석 시작"],
        FigureLabel::AtLoad => ["at", "지점"],
        FigureLabel::Autocorrelation => ["lag-1 autocorrelation", "자기상관(시차 1)"],
        FigureLabel::AutocorrelationAfter => ["lag-1 autocorrelation after", "이후 자기상관(시차 1)"],
        FigureLabel::AutocorrelationBefore => ["lag-1 autocorrelation before", "이전 자기상관(시차 1)"],
        FigureLabel::Before => ["before", "이전"],
        FigureLabel::BestThroughput => ["best throughput", "최대 처리량"],
        FigureLabel::BusyShare => ["busy share", "사용 비율"],
        FigureLabel::BusySlots => ["busy slots", "사용 중인 슬롯"],
        FigureLabel::Ceiling => ["ceiling", "상한"],
        FigureLabel::CeilingFromAbove => ["ceiling from above", "위에서 본 상한"],
        FigureLabel::CeilingFromBelow => ["ceiling from below", "아래에서 본 상한"],
        FigureLabel::ChangeDifference => ["difference in change", "차이"],
        FigureLabel::ComputedFrom => ["computed from", "계산한 대상"],
        FigureLabel::Consumers => ["consumers", "컨슈머"],
        FigureLabel::Counter => ["counter", "지표"],
        FigureLabel::Criteria => ["criteria", "기준"],
        FigureLabel::CriteriaMeasured => ["criteria with a measured value", "측정된 기준"],
        FigureLabel::DemandPerRequest => ["demand per request", "요청당 수요"],
        FigureLabel::Difference => ["difference", "차이"],
        FigureLabel::EffectiveSampleSize => ["effective sample size", "유효 표본 수"],
        FigureLabel::EffectiveSampleSizeAfter => ["effective sample size after", "이후 유효 표본 수"],
        FigureLabel::EffectiveSampleSizeBefore => ["effective sample size before", "이전 유효 표본 수"],
        FigureLabel::ErrorsAfter => ["errors after", "이후의 오류"],
        FigureLabel::ErrorsBefore => ["errors before", "이전의 오류"],
        FigureLabel::FailedRequests => ["failed requests", "실패한 요청"],
        FigureLabel::FallenThroughput => ["fallen throughput", "줄어든 처리량"],
        FigureLabel::HalfOfUsage => ["half of the usage", "사용량의 절반"],
        FigureLabel::KneeFrom => ["knee from", "변곡점(최소)"],
        FigureLabel::KneeTo => ["knee to", "변곡점(최대)"],
        FigureLabel::LabelledOffset => ["labelled offset", "표시된 오프셋"],
        FigureLabel::Limit => ["limit", "한도"],
        FigureLabel::LostSyns => ["lost SYNs", "그 전에 유실된 SYN"],
        FigureLabel::LostThroughput => ["lost", "감소"],
        FigureLabel::MatchingChanges => ["matching changes", "맞는 변화율"],
        FigureLabel::MaximumPlateauThroughput => ["maximum plateau throughput", "정체 구간 최대 처리량"],
        FigureLabel::MaximumTime => ["maximum time", "가장 긴 시간"],
        FigureLabel::MeanAfter => ["mean after", "이후 평균"],
        FigureLabel::MeanBefore => ["mean before", "이전 평균"],
        FigureLabel::MeanLatency => ["mean latency", "평균 지연 시간"],
        FigureLabel::MeanTime => ["mean time", "평균 시간"],
        FigureLabel::Means => ["means", "평균의 수"],
        FigureLabel::Measured => ["measured", "측정값"],
        FigureLabel::MedianConnectTime => ["median connect time", "연결 시간의 중앙값"],
        FigureLabel::MedianOfAll => ["median of all requests", "전체의 중앙값"],
        FigureLabel::MedianOfSuccessful => ["median of successful requests", "성공의 중앙값"],
        FigureLabel::MessagesInService => ["messages that may be in service", "처리 중일 수 있는 메시지"],
        FigureLabel::MinimumPlateauThroughput => ["minimum plateau throughput", "정체 구간 최소 처리량"],
        FigureLabel::MinimumTime => ["minimum time", "가장 짧은 시간"],
        FigureLabel::Peak => ["peak", "최고점"],
        FigureLabel::Points => ["points", "점"],
        FigureLabel::PointsDifference => ["difference in points", "차이(포인트)"],
        FigureLabel::PointsNeeded => ["points needed for 90 %", "90 %에 필요한 점"],
        FigureLabel::PresentedAs => ["presented as", "제시된 대상"],
        FigureLabel::Processors => ["processors", "프로세서"],
        FigureLabel::ReadAt => ["read at", "읽은 시각"],
        FigureLabel::Recorded => ["recorded", "기록됨"],
        FigureLabel::ReportedChange => ["reported change", "적힌 변화율"],
        FigureLabel::RequestsAfter => ["requests after", "이후의 요청"],
        FigureLabel::RequestsBefore => ["requests before", "이전의 요청"],
        FigureLabel::RetransmissionTimeout => ["cumulative retransmission timeout", "누적 재전송 타임아웃"],
        FigureLabel::RoundingTolerance => ["rounding tolerance", "반올림으로 설명되는 차이"],
        FigureLabel::RunDuration => ["run duration", "실행 시간"],
        FigureLabel::RunEnd => ["run end", "실행 끝"],
        FigureLabel::RunStart => ["run start", "실행 시작"],
        FigureLabel::SamplesNeeded => ["samples needed for a 95 % upper bound", "95 % 신뢰 상한에 필요한 수"],
        FigureLabel::Sent => ["sent", "보냄"],
        FigureLabel::ServiceTime => ["service time", "처리 시간"],
        FigureLabel::ShareBelowLargest => [
            "share of the run below the largest point (95 % confidence)",
            "최댓값이 포함하는 실행 비율(95 % 신뢰)",
        ],
        FigureLabel::ShareOfRequests => ["share of all requests", "전체 요청 중"],
        FigureLabel::ShareOutsideRun => {
            ["share of the window outside the run", "분석 시간 중 실행이 없던 비율"]
        }
        FigureLabel::ShareOutsideService => ["share of time outside service", "처리 외 시간 비율"],
        FigureLabel::Slo => ["SLO", "SLO 한도"],
        FigureLabel::Slots => ["slots", "슬롯"],
        FigureLabel::SlotsPerConsumer => ["slots per consumer", "컨슈머당 슬롯"],
        FigureLabel::StandardDeviations => ["standard deviations", "차이(표준편차 단위)"],
        FigureLabel::StandardError => ["standard error", "표준오차"],
        FigureLabel::StandardErrors => ["difference in standard errors", "차이(표준오차 단위)"],
        FigureLabel::Step => ["step", "간격"],
        FigureLabel::Threads => ["threads", "스레드"],
        FigureLabel::Throughput => ["throughput", "처리량"],
        FigureLabel::ThroughputTimesLatency => ["throughput × latency", "처리량 × 지연 시간"],
        FigureLabel::ThroughputTimesTime => ["throughput × time", "처리량 × 시간"],
        FigureLabel::TimeOutsideService => ["time outside service", "처리 외 시간"],
        FigureLabel::TimeOutsideTheRun => ["time outside the run", "실행에서 벗어난 시간"],
        FigureLabel::Timeout => ["timeout", "시간 제한"],
        FigureLabel::Timestamp => ["timestamp", "표시된 시각"],
        FigureLabel::UnexplainedTime => ["unexplained time per request", "요청당 설명되지 않는 시간"],
        FigureLabel::Usage => ["usage", "사용량"],
        FigureLabel::UsageOfLimit => ["usage relative to the limit", "한도 대비 사용률"],
        FigureLabel::Utilisation => ["utilisation", "사용률"],
        FigureLabel::Values => ["values", "값의 수"],
        FigureLabel::VerifiableChanges => ["verifiable changes", "확인할 수 있는 변화율"],
        FigureLabel::VusAtLimit => ["VUs at the limit", "한도에서의 VU 수"],
    };
    match lang {
        Lang::En => english.to_owned(),
        Lang::Ko => korean.to_owned(),
    }
}

/// Returns the name of a statistic of connect times.
pub(super) fn connect_statistic(lang: Lang, statistic: ConnectStatistic) -> &'static str {
    match (statistic, lang) {
        (ConnectStatistic::P90, _) => "p90",
        (ConnectStatistic::P95, _) => "p95",
        (ConnectStatistic::Largest, Lang::En) => "largest",
        (ConnectStatistic::Largest, Lang::Ko) => "최댓값",
    }
}
