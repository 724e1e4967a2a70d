//! Distributions of request times.

crate::page_catalogue! {
    @shared {
        metric_http_req_duration = elapsed;
    }
    histogram = "Histogram" | "히스토그램";
    histogram_none(metric) =
        "{metric} has no timed samples in this window."
        | "이 구간에 {metric}의 측정값이 없습니다.";
    histogram_caption(count) = "n = {count}; the axis is logarithmic." | "n = {count}, 로그 축입니다.";
    untimed_caption(count) =
        "{count} requests failed without a time. They are in no bucket and rank above every success."
        | "{count}건은 시간 없이 실패하여 구간에 없으며, 모든 성공보다 느린 것으로 간주합니다.";
    bounded_caption(count) =
        "{count} requests timed out or were cut off. They are in no bucket: only a lower bound of their time is known."
        | "{count}건은 시간 초과되거나 중단되어 하한값만 알 수 있으므로 구간에 없습니다.";
    above = "above" | "초과";
    up_to = "up to" | "이하";
    log_scale(metric) = "{metric}, logarithmic axis" | "{metric}, 로그 축";
    of_which = "Scope" | "대상";
    population(count, precision) = "n = {count}, {precision}" | "n = {count}, {precision}";
    percentiles = "Percentile curve" | "백분위수 곡선";
    percentiles_sub = "only where at least 10 samples lie beyond" | "그 위에 표본이 10개 이상인 곳만";
    percentiles_none = "Too few samples for percentiles." | "백분위수를 구하기에 표본이 부족합니다.";
    at_least_caption =
        "Dotted: lower bounds, because of timeouts or responses that were cut off."
        | "점선은 시간 초과되거나 중단된 응답 때문에 하한값입니다.";
    curves_caption =
        "The gap between the curves is the delay from the due time to the start of a request."
        | "두 곡선의 차이는 예정 시각부터 요청이 시작될 때까지의 지연입니다.";
    quantiles = "Quantiles" | "분위수";
    quantiles_sub =
        "quantiles with too few samples are not shown"
        | "표본이 부족한 분위수는 표시하지 않습니다";
    quantile = "Quantile" | "분위수";
    needs(count) = "needs {count} samples" | "표본 {count}개 필요";
    heat = "Heat map over time" | "시간별 히트맵";
    heat_cell(time, from, to, count) =
        "at {time}, {from} to {to}: {count} samples"
        | "{time} 시점, {from} ~ {to}: 표본 {count}개";
    heat_caption(count, seconds) =
        "Darker cells hold more samples, up to {count} in {seconds} s; the shade is logarithmic."
        | "진할수록 표본이 많습니다. 최대 {count}개 ({seconds}초). 농도는 로그 척도입니다.";
    metric_http_req_response_time = "from the due time" | "예정 시각부터";
}
