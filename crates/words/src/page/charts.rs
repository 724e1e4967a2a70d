//! Charts over time, their captions, and the reasons for missing numbers.

crate::page_catalogue! {
    @shared {
        rate = evidence_law_rate;
    }
    rate_sub = "iterations per second, planned and finished" | "초당 반복, 계획과 완료";
    offered = "offered" | "계획";
    due = "Due" | "예정";
    finished = "finished" | "완료";
    dropped = "dropped" | "누락";
    response_time = "Response time" | "응답 시간";
    from_due = "from the due time, band p50–p95" | "예정 시각부터, 띠는 p50–p95";
    limit_line(limit) = "limit {limit}" | "한도 {limit}";
    errors_by_kind = "Errors by kind" | "종류별 오류";
    per_second_sub = "per second" | "초당";
    vus_and_flight = "VUs and requests in flight" | "VU와 처리 중인 요청";
    vus_sub = "VUs at the end of each interval, mean requests" | "VU는 각 구간의 끝, 요청은 평균";
    in_flight = "in flight" | "처리 중";
    caption_dropped(from, rate, time) =
        "Iterations were dropped from {from} on; peak {rate} at {time}."
        | "{from}부터 반복이 누락되었습니다. 최대 {rate} ({time} 시점).";
    caption_plan_kept = "All planned iterations started." | "계획한 반복이 모두 시작되었습니다.";
    caption_no_plan =
        "No planned rate: each VU starts its next iteration when the previous one ends."
        | "계획한 반복 속도가 없습니다. VU는 이전 반복이 끝나면 다음 반복을 시작합니다.";
    caption_worst(series, value, time) =
        "Highest {series}: {value} at {time}."
        | "{series} 최댓값: {value} ({time} 시점).";
    absent_closed_loop = "closed loop" | "닫힌 부하";
    absent_fewer_than_10_samples_beyond_it =
        "fewer than 10 samples beyond it"
        | "이 값을 넘는 표본이 10개 미만";
    absent_no_requests = "no requests" | "요청 없음";
    absent_no_samples = "no samples" | "표본 없음";
    mark_timeout = "timeout" | "시간 제한";
    mark_cut = "cut off" | "중단됨";
    absent_no_time = "no time" | "시간 없음";
    absent_not_measured = "not measured" | "측정하지 않음";
    caption_few_samples(series, times) =
        "{series} has too few samples at {times}."
        | "{series}의 표본이 부족한 구간: {times}.";
    caption_widened(series) =
        "{series}: several points together, since one alone has too few samples."
        | "{series}: 한 점만으로는 표본이 부족해 여러 점을 합쳤습니다.";
    caption_partial(seconds) =
        "Rates of the last {seconds} s are left out: less than half a second."
        | "마지막 {seconds}초의 속도는 0.5초 미만이라 표시하지 않습니다.";
    statuses_over_time = "Responses by status code" | "상태 코드별 응답";
    status_none = "no response" | "응답 없음";
    status_other = "other" | "기타";
    pinned = "pinned" | "고정됨";
    metric_usual = "default" | "기본값";
    metric_over_time = "Metric over time" | "시간별 지표";
    series_tags = "Tags" | "태그";
    series_tags_hint = "name=value, …" | "이름=값, …";
    caption_at_least(series, times) =
        "{series} is a lower bound at {times}: requests failed, timed out or were cut off."
        | "{series} 값이 하한인 구간: {times}. 실패하거나 시간 초과되거나 중단된 요청이 있습니다.";
    caption_failed(series, times) =
        "{series} falls among failed requests at {times}."
        | "{series} 값이 실패한 요청에 해당하는 구간: {times}.";
    caption_errors_from(time) = "First error at {time}." | "첫 오류: {time} 시점.";
    caption_no_errors = "No errors." | "오류가 없습니다.";
    caption_vus(vus, time, requests) =
        "Peak VUs: {vus} at {time}. Peak requests in flight: {requests}."
        | "최대 VU: {vus} ({time} 시점). 처리 중인 요청 최대: {requests}.";
}
