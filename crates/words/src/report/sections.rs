//! Titles of chapters and sections, and notes where a section is empty.

crate::catalogue! {
    thresholds = "Thresholds" | "임계값";
    key_numbers = "Key metrics" | "핵심 지표";
    endpoints = "Endpoints" | "엔드포인트";
    errors = "Errors" | "오류";
    checks = "Checks" | "체크";
    scenarios_and_groups = "Scenarios and groups" | "시나리오와 그룹";
    exemplars = "Sample requests" | "요청 예시";
    generator = "Load generator" | "부하 생성기";
    metrics = "All metrics" | "전체 지표";
    environment = "Environment" | "테스트 환경";
    options = "Options" | "실행 옵션";
    log = "Log" | "로그";
    chapter_summary = "Executive summary" | "요약";
    summary_tested = "Tested" | "테스트 대상";
    summary_requests(count) = "{count} requests" | "요청 {count}건";
    summary_missed = "Missed objectives" | "미달 목표";
    largest_cost = "Largest cost" | "가장 큰 비용";
    summary_relieve =
        "Give the load generator more CPU, a machine of its own, or less load, and repeat the run."
        | "부하 생성기에 CPU를 더 주거나, 별도의 기계에서 실행하거나, 부하를 줄인 뒤 다시 실행하십시오.";
    summary_next = "Next step" | "다음 조치";
    summary_effect = "Predicted effect" | "예상 효과";
    summary_throughput(then) = "throughput of {then}" | "처리량 {then}";
    summary_throughput_from(now, then) =
        "throughput from {now} to {then}"
        | "처리량 {now} → {then}";
    summary_collect(evidence, question) =
        "Collect more evidence ({evidence}), which shows: {question}."
        | "{evidence} 수집. 확인할 내용: {question}.";
    changes_failed(reason) =
        "The comparison with the previous run failed: {reason}."
        | "이전 실행과 비교하지 못했습니다: {reason}.";
    raw_results = "Results as JSON" | "결과 (JSON)";
    chapter_configuration = "Test configuration and timeline" | "테스트 구성과 진행";
    chapter_results = "Results" | "결과";
    chapter_infrastructure = "Infrastructure" | "인프라";
    chapter_logs = "Logs and tasks" | "로그와 작업";
    chapter_bottleneck = "Bottleneck" | "병목";
    chapter_comparison =
        "Comparison with earlier runs and trend over load"
        | "이전 실행과의 비교, 부하에 따른 추이";
    chapter_changes = "Changes since the previous run" | "이전 실행 대비 변화";
    chapter_appendix =
        "Appendix: queries, generator, environment, raw data"
        | "부록: 쿼리, 부하 생성기, 환경, 원본 데이터";
    raw_data = "Raw data" | "원본 데이터";
    raw_data_commands(run) =
        "`plimsoll report {run} --format json` exports this report, `plimsoll export {run} --format parquet` exports per-second data, and `plimsoll serve` shows run {run} in the browser."
        | "`plimsoll report {run} --format json`은 이 보고서 전체를, `plimsoll export {run} --format parquet`은 초별 데이터를 내보냅니다. `plimsoll serve`는 브라우저에서 실행 {run} 결과를 표시합니다.";
    missing_results = "No data was measured." | "측정된 데이터가 없습니다.";
    missing_infrastructure =
        "No source reported pods, limits or images. Add a `kubernetes` or `prometheus` source to `plimsoll.toml`; `plimsoll doctor` checks each source."
        | "파드, 한도, 이미지를 수집한 소스가 없습니다. `plimsoll.toml`에 `kubernetes` 또는 `prometheus` 소스를 추가하고 `plimsoll doctor`로 확인하십시오.";
    missing_evidence =
        "No server-side evidence was collected. Add sources to `plimsoll.toml`, or backfill with `plimsoll collect`."
        | "서버 측 증거를 수집하지 않았습니다. `plimsoll.toml`에 소스를 추가하거나 `plimsoll collect`로 나중에 수집하십시오.";
    missing_queues =
        "No source reported queues. Add a `rabbitmq`, `celery` or `prometheus` source."
        | "큐를 수집한 소스가 없습니다. `rabbitmq`, `celery`, `prometheus` 소스를 추가하십시오.";
    missing_database =
        "No source reported statements or sessions. Add a `postgresql` source."
        | "SQL 문과 세션을 수집한 소스가 없습니다. `postgresql` 소스를 추가하십시오.";
    missing_tasks =
        "No source reported task durations. Add the workers' log as a `log`, `loki` or `celery` source."
        | "작업 시간을 수집한 소스가 없습니다. 워커 로그를 `log`, `loki`, `celery` 소스로 추가하십시오.";
    missing_bottleneck =
        "Not diagnosed yet; run `plimsoll diagnose`."
        | "아직 진단하지 않았습니다. `plimsoll diagnose`를 실행하십시오.";
    missing_changes = "No earlier run of this script exists." | "이 스크립트의 이전 실행이 없습니다.";
    missing_capacity =
        "This run is not part of a sweep. `plimsoll capacity` finds the maximum load that meets the SLOs; `plimsoll sweep` measures the loads you choose."
        | "이 실행은 부하 단계 측정의 일부가 아닙니다. `plimsoll capacity`는 SLO를 만족하는 최대 부하를 찾고, `plimsoll sweep`은 지정한 부하를 측정합니다.";
    timeline = "Test timeline" | "테스트 진행";
    timeline_event = "Event" | "이벤트";
    timeline_elapsed = "Elapsed" | "경과";
    timeline_until = "Duration" | "소요 시간";
    timeline_setup = "setup started" | "setup 시작";
    timeline_scenarios = "scenarios started" | "시나리오 시작";
    timeline_scenarios_ended = "scenarios ended" | "시나리오 종료";
    timeline_teardown = "teardown started" | "teardown 시작";
    timeline_ended = "ended" | "종료";
    script = "Script" | "스크립트";
    figures = "Source figures" | "원본의 수치";
}
