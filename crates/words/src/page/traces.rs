//! The list of traces, and single traces.

crate::page_catalogue! {
    @shared {
        kept_sample = bucket;
        kept_error = audit_severity_error;
        kept_slowest = slowest;
        where_time = bottleneck_time;
        part_network = evidence_network;
        part_database = evidence_database_other;
    }
    screen_traces = "Traces" | "트레이스";
    traces_none = "No traces were received." | "받은 트레이스가 없습니다.";
    traces_how =
        "“plimsoll run --otlp” receives traces. Point the services at it with OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 and run again."
        | "“plimsoll run --otlp”로 받을 수 있습니다. 서비스에 OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 을 설정하고 다시 실행하십시오.";
    traces_of(count, total) = "{count} of {total} found" | "{count} / {total}개 찾음";
    traces_sample(sampled, share, errors, slowest, buckets) =
        "{sampled} of the unbiased sample ({share} of all), {errors} with errors, {slowest} slowest, {buckets} one per histogram bucket"
        | "편향 없는 표본 {sampled}개 (전체의 {share}), 오류 {errors}개, 가장 느린 {slowest}개, 히스토그램 구간별 {buckets}개";
    traces_no_sample(errors, slowest, buckets) =
        "no unbiased sample, {errors} with errors, {slowest} slowest, {buckets} one per histogram bucket"
        | "편향 없는 표본 없음, 오류 {errors}개, 가장 느린 {slowest}개, 히스토그램 구간별 {buckets}개";
    traces_biased =
        "No unbiased sample: slow and failed traces are over-represented."
        | "편향 없는 표본이 없어 느린 트레이스와 실패가 실제보다 많이 포함되어 있습니다.";
    traces_left_out(count) =
        "{count} shorter traces are not listed; use the filter to find them."
        | "더 짧은 트레이스 {count}개는 목록에 없습니다. 필터로 찾으십시오.";
    traces_list = "Traces" | "트레이스";
    service = "Service" | "서비스";
    operation = "Operation" | "오퍼레이션";
    at_least_ms = "Min. ms" | "최소 ms";
    kept_why = "Kept" | "보관 이유";
    kept_bucket = "bucket" | "구간 대표";
    kept_found = "found" | "검색됨";
    traces_found(count) = "{count} found in a trace store" | "트레이스 저장소에서 찾은 {count}개";
    with_errors = "with errors" | "오류 있음";
    without_errors = "without errors" | "오류 없음";
    spans = "Spans" | "스팬";
    place = "Percentile" | "백분위";
    place_why =
        "Share of all received spans of this operation that took no longer"
        | "수신한 이 오퍼레이션의 스팬 중 이보다 오래 걸리지 않은 비율";
    answer = "Response" | "응답";
    where_time_sub(traces, mean) = "mean of {traces} traces, {mean}" | "트레이스 {traces}개 평균, {mean}";
    part_target = "Service processing" | "서비스 처리";
    part_external = "External calls" | "외부 호출";
    part_queue = "Queueing" | "큐 대기";
    part_unseen = "Unattributed" | "미분류";
    part_poll = "Waiting for the next poll" | "다음 조회까지 대기";
    part_connecting = "Connecting" | "연결 수립";
    parts_clocks =
        "Network: request time minus the time of the answering span, each measured by its own clock."
        | "네트워크: 요청 시간에서 응답한 스팬의 시간을 뺀 값이며, 각 시간은 해당 시스템의 시계로 잰 길이입니다.";
    parts_sentence(share, part, time, total) =
        "{share} of the time is {part}: {time} of {total}."
        | "시간의 {share}: {part} ({time} / {total}).";
    stages_title = "Stage by stage" | "단계별";
    stages_sub(total) = "the means add up to {total}" | "평균의 합은 {total}";
    stage_queue(name) = "wait in {name}" | "{name} 대기";
    stage_work(name) = "{name}" | "{name}";
    before_work(operation) = "wait before {operation}" | "{operation} 앞 대기";
    stage_between(name) = "until {name}" | "{name} 전까지";
    stage_submit(name) = "submission of {name}" | "{name} 제출";
    stage_poll(name) = "result ready, until the next poll by {name}" | "완료 후 {name}의 다음 조회까지";
    over_run = "Over the run" | "실행 중";
    over_run_sub =
        "one mark per trace, logarithmic; circles are the unbiased sample"
        | "트레이스마다 표시 하나, 로그 척도, 원은 편향 없는 표본";
    trace_at(duration, time, operation, kept) =
        "{duration} at {time}: {operation}, {kept}"
        | "{duration} ({time} 시점): {operation}, {kept}";
    fast_slow = "Slow against fast" | "느린 것과 빠른 것";
    fast_slow_sub(operation, slow, slow_min, fast, fast_max) =
        "{operation}: {slow} of at least {slow_min} against {fast} of at most {fast_max}"
        | "{operation}: {slow_min} 이상 {slow}개, {fast_max} 이하 {fast}개";
    fast = "Fast" | "빠름";
    slow = "Slow" | "느림";
    more_by = "Longer by" | "증가";
    exemplar_fastest = "fastest" | "가장 빠름";
    exemplar_typical = "typical" | "보통";
    trace_of(id) = "Trace {id}" | "트레이스 {id}";
    trace_sub(spans, services) = "{spans} spans, {services} services" | "스팬 {spans}개, 서비스 {services}개";
    to_traces = "All traces" | "모든 트레이스";
    true_scale = "True scale" | "실제 척도";
    compressed(count) = "{count} waits are shortened below" | "아래에서는 대기 {count}개를 줄여 그립니다";
    compressed_none = "drawn to scale" | "실제 척도로 그림";
    show_linear = "Show linear" | "실제 척도로 보기";
    show_compressed = "Shorten waits" | "대기 줄이기";
    path_only = "Critical path only" | "임계 경로만";
    all_spans = "All spans" | "모든 스팬";
    critical_path = "Critical path" | "임계 경로";
    waiting_key = "wait" | "대기";
    span_head = "Span, service, duration" | "스팬, 서비스, 소요 시간";
    wait_in(name) = "wait in {name}" | "{name} 대기";
    until_next = "until the next span" | "다음 스팬까지";
    folded = "collapsed" | "접힘";
    n_plus_one = "N+1" | "N+1";
    spans_times(count, operation) = "{count} × {operation}" | "{count} × {operation}";
    selected_span = "Selected span" | "선택한 스팬";
    selected_none = "Select a row to see its details." | "행을 선택하면 자세한 내용을 볼 수 있습니다.";
    starts_at = "Starts" | "시작";
    own_time = "Self time" | "자체 시간";
    on_critical_path = "On the critical path" | "임계 경로에서";
    span_kind = "Kind" | "종류";
    side_internal = "internal" | "내부";
    side_server = "server" | "서버";
    side_client = "client" | "클라이언트";
    side_producer = "producer" | "생산자";
    side_consumer = "consumer" | "소비자";
    works_with = "Peer" | "상대";
    attributes = "Attributes" | "속성";
    calls_in_a_row(count) = "{count}, sequential" | "{count}회, 순차";
    total_mean = "Total, mean" | "합계, 평균";
    repeats_claim(count, parent) =
        "The same statement ran {count} times in {parent}."
        | "같은 구문이 {count}번 실행되었습니다: {parent}.";
    repeats_share = "Share of the path" | "경로에서의 비중";
    repeats_without = "Without them" | "없을 때";
    repeats_remedy =
        "Fetch all rows with one statement. Cost: query."
        | "SQL 문 하나로 모두 조회하십시오. 비용: 쿼리.";
    open_evidence(time) = "Open evidence around {time} →" | "{time} 전후의 증거 보기 →";
    trace_sentence(share, part) = "{share} of the critical path is {part}." | "임계 경로의 {share}: {part}.";
    trace_sentence_also(share, part) = "{share} is {part}." | "{share}: {part}.";
    flaw_orphans(count) =
        "{count} spans have a parent that was not received."
        | "스팬 {count}개는 상위 스팬을 받지 못했습니다.";
    flaw_circles(count) = "{count} spans with a parent cycle." | "부모 관계가 순환하는 스팬 {count}개.";
    flaw_twins(count) = "{count} spans with a duplicate ID." | "ID가 중복된 스팬 {count}개.";
    flaw_cut(count) =
        "{count} spans ended after the span that waited for them and are truncated."
        | "스팬 {count}개는 기다린 스팬보다 늦게 끝나 잘라 그렸습니다.";
    flaw_moved(count) =
        "{count} spans use another clock and were moved into their call."
        | "스팬 {count}개는 시계가 달라 호출 안으로 옮겼습니다.";
    flaw_adopted(count) =
        "{count} spans were moved below the call that they answer; they named its parent."
        | "스팬 {count}개는 응답한 호출 아래로 옮겼습니다.";
    rows_left_out(count) = "{count} spans are not shown." | "스팬 {count}개는 생략했습니다.";
    rows_bare(count) =
        "{count} spans are shown without attributes: there were too many."
        | "속성이 너무 많아 스팬 {count}개는 속성 없이 표시합니다.";
}
