//! The diagnosis: findings, time breakdown, predictions, remedies.

crate::page_catalogue! {
    @shared {
        screen_bottleneck = chapter_bottleneck;
        findings = bottleneck_findings;
        outcome_limited = diagnosis_limited;
        outcome_no_server_bottleneck = diagnosis_no_bottleneck;
        outcome_generator = diagnosis_generator;
        outcome_cannot_tell = diagnosis_inconclusive;
        role_limits = bottleneck_limits;
        role_contributes = bottleneck_contributes;
        role_outcome = bottleneck_outcome;
        cost_logic = bottleneck_cost_logic;
        cost_setting = bottleneck_cost_setting;
        cost_cache = bottleneck_cost_cache;
        cost_resource = bottleneck_cost_resource;
        cost_architecture = bottleneck_cost_architecture;
        does_waits = bottleneck_queued;
        does_works = bottleneck_service;
        does_travels = bottleneck_network;
        does_unseen = bottleneck_unattributed;
        way_little = bottleneck_method_little;
        against_measured = bottleneck_difference;
        prediction = find_prediction;
        ruled_out = bottleneck_ruled_out;
        ruled_out_sub = diagnosis_checked;
    }
    findings_sub = "ordered by the share of latency explained" | "지연 시간을 많이 설명하는 순";
    finding_n(number) = "Finding {number}" | "진단 결과 {number}";
    finding_of(count) = "finding 1 of {count}" | "진단 결과 1 / {count}";
    cost_is(cost) = "cost: {cost}" | "비용: {cost}";
    where_time_spent(operation) = "Time breakdown of {operation}" | "{operation}의 시간 분석";
    where_time_spent_sub(count, mean) =
        "mean of {count}, {mean}; hatched = queueing, solid = service time, colour = stage"
        | "{count}건 평균 {mean}. 빗금은 큐 대기, 채움은 처리 시간, 색은 단계";
    waits_all(share) = "Queueing {share}" | "큐 대기 {share}";
    waits_in(time, count) = "{time} in {count} places" | "{time}, {count}곳";
    at_low_load = "At low load" | "낮은 부하에서";
    same_ways(mean) = "Breakdown of {mean} by method" | "방법별 {mean} 분석";
    way_traces = "Traces" | "트레이스";
    way_logs = "Logs" | "로그";
    waiting = "Queueing" | "큐 대기";
    working = "Service time" | "처리 시간";
    rest = "Rest" | "나머지";
    sum = "Sum" | "합계";
    by_difference = "by subtraction" | "차이로 계산";
    time_caption_waits(share, time, mean) =
        "{share} of the time is queueing: {time} of {mean}."
        | "큐 대기가 시간의 {share}입니다({time} / {mean}).";
    time_caption_works(share, time, mean) =
        "{share} of the time is queueing ({time} of {mean}); the rest is service time."
        | "큐 대기가 시간의 {share}입니다({time} / {mean}). 나머지는 처리 시간입니다.";
    time_none =
        "Time breakdown unavailable: there are no traces and no task times."
        | "시간 분석 불가: 트레이스와 작업 시간이 없습니다.";
    claim = "Claim" | "진단";
    numbers = "Numbers" | "수치";
    copy_finding = "Copy finding" | "진단 결과 복사";
    copy_command = "Copy command" | "명령 복사";
    demand_title(resource) = "{resource} against throughput" | "처리량 대비 {resource}";
    demand_sub = "slope = service demand" | "기울기 = 서비스 수요";
    query_window(source, from, to, step, points) =
        "{source}, {from} to {to}, step {step}, {points} points"
        | "{source}, {from} ~ {to}, 간격 {step}, 측정점 {points}개";
    open_lanes(from, to) = "Evidence {from}–{to}" | "증거 {from}–{to}";
    prediction_sub = "a test that can refute this diagnosis" | "진단을 반증할 수 있는 실험";
    prediction_none =
        "No prediction: the service demand is not known precisely enough."
        | "예측 없음: 서비스 수요를 충분히 정확하게 알 수 없습니다.";
    forecast_now = "now" | "현재";
    forecast_then = "predicted" | "예측";
    next_limit(limit) = "Next bottleneck: {limit}." | "다음 병목: {limit}.";
    wrong_if = "Refuted if" | "반증 조건:";
    remedies = "Order of remedies" | "조치 순서";
    remedies_sub = "cheapest first" | "비용이 적은 순";
    of_finding(number) = "(finding {number})" | "(진단 결과 {number})";
    ruled_out_none = "No cause was ruled out." | "배제한 원인이 없습니다.";
    ruled_out_here = "Ruled out for this finding:" | "이 진단에서 배제한 원인:";
    is_not = "no" | "아님";
    examples = "Examples" | "예시";
    examples_sub = "requests that support the finding" | "진단의 근거가 되는 요청";
    missing = "Not connected" | "연결되지 않음";
    missing_first = "Sources to connect" | "연결할 소스";
    missing_sub = "evidence that would narrow the diagnosis" | "진단을 더 좁혀 줄 증거";
    to_validity = "Load generator →" | "부하 생성기의 상태 →";
    to_bottleneck = "All findings, queries and examples →" | "모든 진단 결과, 쿼리, 예시 →";
    key_findings = "select a finding or a step of a sweep" | "진단 결과 또는 스윕의 단계 선택";
}
