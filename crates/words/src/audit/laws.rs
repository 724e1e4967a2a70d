//! The sentence of each law's result, and the law's assumptions.

use model::audit::{LawClaim, ShiftVerdict, SlotUse};
use model::capacity::Verdict;

use super::{per_second, seconds};
use crate::{Lang, text};

/// Returns the result of a law as a sentence.
pub fn law(lang: Lang, claim: &LawClaim) -> String {
    match claim {
        LawClaim::ChangesMatch { matching, verifiable } => text!(
            lang,
            "{matching} of {verifiable} reported changes match their own figures",
            "보고된 변화율 {verifiable}개 중 {matching}개가 자신의 수치와 맞습니다"
        ),
        LawClaim::InFlight { run, in_flight, threads } => text!(
            lang,
            "{run}: throughput × time = {in_flight:.1} of {threads} threads",
            "{run}: 처리량 × 시간 = 스레드 {threads}개 중 {in_flight:.1}개"
        ),
        LawClaim::MeanShift { before, after, change_percent, trend } => {
            let trend = self::trend(lang, *trend);
            text!(
                lang,
                "{before} → {after}: the mean time changed by {change_percent:.1} %: {trend}",
                "{before} → {after}: 평균 시간이 {change_percent:.1} % 변했습니다: {trend}"
            )
        }
        LawClaim::ErrorShift { before, after, errors_before, errors_after, trend } => {
            let trend = self::trend(lang, *trend);
            text!(
                lang,
                "{before} → {after}: errors {errors_before} → {errors_after}: {trend}",
                "{before} → {after}: 오류 {errors_before}건 → {errors_after}건: {trend}"
            )
        }
        LawClaim::CpuDemand { version, per_request_s, ceiling_per_s } => {
            let (demand, ceiling) = (seconds(*per_request_s), per_second(*ceiling_per_s));
            text!(
                lang,
                "{version}: each request needs {demand} of CPU, so the processors saturate at {ceiling}",
                "{version}: 요청 하나에 CPU {demand}가 필요하므로 프로세서는 {ceiling}에서 포화됩니다"
            )
        }
        LawClaim::Saturation { low_per_min, high_per_min, knee_low, knee_high } => text!(
            lang,
            "response time grows linearly with VUs: throughput saturates at {low_per_min:.0} to {high_per_min:.0}/min, with the knee at {knee_low:.0} to {knee_high:.0} VUs",
            "응답 시간이 VU 수에 비례해 늘어납니다. 처리량은 분당 {low_per_min:.0}~{high_per_min:.0}에서 포화되고 변곡점은 VU {knee_low:.0}~{knee_high:.0}개입니다"
        ),
        LawClaim::Crossing { limit_s, vus } => {
            let limit = seconds(*limit_s);
            text!(lang, "p95 reaches {limit} at {vus:.0} VUs", "p95가 VU {vus:.0}개에서 {limit}에 이릅니다")
        }
        LawClaim::Steps { steps } => {
            let step = |(vus, verdict): &(f64, Verdict)| format!("{vus} {}", verdict_name(lang, *verdict));
            let steps = steps.iter().map(step).collect::<Vec<String>>().join(", ");
            text!(lang, "by VUs: {steps}", "VU별: {steps}")
        }
        LawClaim::Collapse { best_per_s, best_vus, fallen_per_s, fallen_vus, lost_percent } => text!(
            lang,
            "throughput falls from {best_per_s:.0}/s at {best_vus} VUs to {fallen_per_s:.0}/s at {fallen_vus} VUs, by {lost_percent:.0} %: congestion collapse",
            "처리량이 VU {best_vus}개의 {best_per_s:.0}/s에서 VU {fallen_vus}개의 {fallen_per_s:.0}/s로 {lost_percent:.0} % 줄었습니다: 혼잡 붕괴"
        ),
        LawClaim::BusySlots { pool, busy, slots, used } => {
            let verdict = match (used, lang) {
                (SlotUse::Free, Lang::En) => "exhaustion is refuted",
                (SlotUse::Free, Lang::Ko) => "고갈이 아닙니다",
                (SlotUse::NearlyExhausted, Lang::En) => "nearly exhausted",
                (SlotUse::NearlyExhausted, Lang::Ko) => "거의 고갈되었습니다",
                (SlotUse::Impossible, Lang::En) => "impossible: one of the figures is wrong",
                (SlotUse::Impossible, Lang::Ko) => "있을 수 없는 값입니다. 수치 가운데 하나가 틀렸습니다",
            };
            text!(
                lang,
                "{pool}: {busy:.0} of {slots:.0} slots were busy on average: {verdict}",
                "{pool}: 슬롯 {slots:.0}개 중 평균 {busy:.0}개가 사용 중이었습니다: {verdict}"
            )
        }
    }
}

/// Returns the assumptions of a law's result.
pub fn assumptions(lang: Lang, claim: &LawClaim) -> Vec<String> {
    match claim {
        LawClaim::ChangesMatch { .. } | LawClaim::InFlight { .. } | LawClaim::Steps { .. } => Vec::new(),
        LawClaim::MeanShift { .. } => vec![
            text!(
                lang,
                "one run each: run-to-run variance is not included",
                "실행이 하나씩이라 실행 간 변동은 포함되지 않았습니다"
            ),
            text!(
                lang,
                "variance and autocorrelation are inferred from the table's percentiles and differences",
                "분산과 자기상관은 표의 백분위수와 차이에서 추정했습니다"
            ),
        ],
        LawClaim::ErrorShift { .. } => vec![text!(
            lang,
            "bursts of errors vary more than this test assumes; one run each",
            "몰려서 생기는 오류는 이 검정이 가정하는 것보다 변동이 큽니다. 실행이 하나씩입니다"
        )],
        LawClaim::CpuDemand { .. } => vec![text!(
            lang,
            "idle utilisation is counted as demand, so the ceiling is too low; measuring two loads separates them",
            "유휴 사용률도 수요로 계산해 상한이 실제보다 낮습니다. 두 부하를 측정하면 구분할 수 있습니다"
        )],
        LawClaim::Saturation { .. } => vec![text!(
            lang,
            "p95 is used instead of the mean; under saturation both grow at the same rate",
            "평균 대신 p95를 썼습니다. 포화 상태에서는 둘이 같은 속도로 늘어납니다"
        )],
        LawClaim::Crossing { .. } => vec![text!(
            lang,
            "interpolated between two load steps measured once each",
            "한 번씩 측정한 두 부하 단계 사이를 보간했습니다"
        )],
        LawClaim::Collapse { .. } => vec![text!(
            lang,
            "means over whole runs, including ramps",
            "램프를 포함한 실행 전체의 평균입니다"
        )],
        LawClaim::BusySlots { .. } => vec![text!(
            lang,
            "mean over the run; if service was slower than logged (CPU starvation), more slots were busy",
            "실행 전체의 평균입니다. 처리가 로그보다 느렸다면(CPU 부족) 사용 중인 슬롯은 더 많았습니다"
        )],
    }
}

const fn trend(lang: Lang, trend: ShiftVerdict) -> &'static str {
    match (trend, lang) {
        (_, Lang::En) => trend.as_str(),
        (ShiftVerdict::Improved, Lang::Ko) => "개선",
        (ShiftVerdict::Regressed, Lang::Ko) => "악화",
        (ShiftVerdict::Inconclusive, Lang::Ko) => "판단 불가",
    }
}

const fn verdict_name(lang: Lang, verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Baseline => lang.capacity_baseline(),
        Verdict::Normal => lang.capacity_normal(),
        Verdict::Knee => lang.capacity_knee(),
        Verdict::PastKnee => lang.capacity_past_knee(),
        Verdict::Saturated => lang.capacity_saturated(),
        Verdict::SloExceeded => lang.capacity_slo_exceeded(),
        Verdict::Collapse => lang.capacity_collapse(),
        Verdict::Unknown => lang.capacity_unknown(),
    }
}
