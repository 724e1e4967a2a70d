//! The answer of `plimsoll find`.

crate::catalogue! {
    find_objectives(slos) = "searching for the maximum load that meets: {slos}" | "다음 SLO를 만족하는 부하 한계를 찾습니다: {slos}";
    find_safe_load = "Safe load" | "안전 부하";
    find_confirmed = "Confirmation" | "확인";
    find_bottleneck = "Bottleneck" | "병목";
    find_evidence = "Evidence" | "증거";
    find_change = "Change first" | "먼저 바꿀 것";
    find_prediction = "Prediction" | "예측";
    find_connect = "Connect" | "연결할 소스";
    find_no_safe_load = "not found" | "찾지 못했습니다";
    find_nothing_measured = "unknown: no step was measured" | "알 수 없음: 측정된 단계가 없습니다";
    find_predicted_requests(now, then, next) = "{now} requests/s now, {then} after the change; next limit: {next}" | "현재 초당 요청 {now}개, 변경 후 {then}. 다음 한계: {next}";
    find_predicted(now, then, next) = "{now} now, {then} after the change; next limit: {next}" | "현재 {now}, 변경 후 {then}. 다음 한계: {next}";
    find_load(load, rate, factor, lower) = "{load}, {rate}: {factor} × the lower confidence bound of {lower}" | "{load}, {rate}: 신뢰 구간 하한 {lower}의 {factor}배";
    find_iterations(rate) = "{rate} iterations/s" | "초당 반복 {rate}회";
    find_busy(vus) = "which keeps up to {vus} busy" | "동시 사용 최대 {vus}";
    find_load_highest(load, rate, factor) = "{load}, {rate}: {factor} × the highest step, which meets the SLOs" | "{load}, {rate}: SLO를 만족한 가장 높은 단계의 {factor}배";
    find_load_estimate(load, rate, factor) = "{load}, {rate}: {factor} × the point estimate, whose confidence interval is unknown" | "{load}, {rate}: 점 추정값의 {factor}배(신뢰 구간 없음)";
}
