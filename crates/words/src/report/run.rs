//! A run: its verdict, its identity, and the columns and remarks of its tables.

crate::catalogue! {
    pass = "Pass" | "통과";
    fail = "Fail" | "실패";
    inconclusive = "Inconclusive" | "판단 불가";
    ok = "OK" | "정상";
    ok_at(load) = "OK at {load}" | "{load}에서 정상";
    not_ok = "Not OK" | "기준 미달";
    not_ok_at(load) = "Not OK at {load}" | "{load}에서 기준 미달";
    load_vus(count) = "{count} VUs" | "VU {count}개";
    load_vus_up_to(count) = "up to {count} VUs" | "최대 VU {count}개";
    load_rate(rate) = "{rate}/s on average" | "평균 초당 {rate}회";
    objective(name, observed, limit) = "{name} {observed}, limit {limit}" | "{name} {observed}, 기준 {limit}";
    closest(objective) = "closest to its limit: {objective}" | "여유가 가장 작은 지표: {objective}";
    requests_failed(share) = "{share} of requests failed" | "요청의 {share} 실패";
    no_response_time =
        "Response time from the due time needs an arrival-rate executor. Every scenario here is a closed loop, so request duration is shown instead."
        | "예정 시각 기준 응답 시간은 arrival-rate executor에서만 측정됩니다. 모든 시나리오가 닫힌 루프이므로 요청 소요 시간을 표시합니다.";
    all_passed(total) = "all thresholds passed ({total})" | "임계값 {total}개를 모두 만족했습니다";
    crossed(crossed, total) =
        "{crossed} of {total} thresholds failed"
        | "임계값 {total}개 중 {crossed}개를 위반했습니다";
    exit_code(code) = "the run ended with exit code {code}" | "실행이 종료 코드 {code}번으로 끝났습니다";
    exit_message(code, message) = "exit code {code}, {message}" | "종료 코드 {code}, {message}";
    unmeasured(count, total) =
        "{count} of {total} thresholds had no data"
        | "임계값 {total}개 중 {count}개는 측정값이 없어 평가하지 못했습니다";
    passed_invalidly(total) =
        "the measurement is invalid, although all thresholds passed ({total})"
        | "임계값 {total}개를 모두 만족했지만 측정이 유효하지 않습니다";
    no_thresholds = "the run has no thresholds" | "이 실행에는 임계값이 없습니다";
    step_at(load) = "Step of a study at {load}, judged by the SLOs of the study" | "스터디의 {load} 단계입니다. 스터디의 SLO로 판정합니다";
    partial_range = "statistics cover part of the run" | "실행의 일부 구간만 집계했습니다";
    partial = "the run's record is incomplete" | "실행 기록이 불완전합니다";
    live = "the run is still in progress" | "아직 실행 중입니다";
    partial_note =
        "**Incomplete run.** The process was killed or could not write its results. Statistics end at the last recorded second."
        | "**불완전한 실행.** 프로세스가 강제 종료되었거나 결과를 기록하지 못했습니다. 마지막으로 기록된 시점까지 집계했습니다.";
    live_note =
        "**Run in progress.** Statistics cover the run so far and will change."
        | "**실행 중.** 현재까지 집계한 값이며 계속 바뀝니다.";
    partial_range_note(from, to) =
        "**Part of a run.** Statistics cover {from} to {to} after the start; thresholds are defined for the whole run."
        | "**일부 구간.** 시작 후 {from} ~ {to} 구간을 집계했습니다. 임계값은 전체 실행을 기준으로 합니다.";
    run = "run" | "실행";
    started = "started" | "시작";
    elapsed = "duration" | "소요 시간";
    commit = "commit" | "커밋";
    uncommitted = "with uncommitted changes" | "커밋되지 않은 변경 있음";
    target = "target version" | "대상 버전";
    tags = "tags" | "태그";
    note = "Note" | "메모";
    metric = "Metric" | "지표";
    condition = "Condition" | "조건";
    observed = "Measured" | "측정값";
    limit = "Limit" | "기준";
    margin = "Margin" | "여유";
    value = "Value" | "값";
    precision = "Precision" | "정밀도";
    count = "Count" | "횟수";
    error_code = "Code" | "코드";
    message = "Message" | "메시지";
    example = "Example" | "예시";
    name = "Name" | "이름";
    endpoint = "Endpoint" | "엔드포인트";
    requests = "Requests" | "요청";
    failed = "Failed" | "실패";
    succeeded = "Succeeded" | "성공";
    at = "Time" | "시점";
    duration = "Duration" | "소요 시간";
    status = "Status code" | "상태 코드";
    trace = "Trace" | "트레이스";
    cause = "Cause" | "원인";
    scenario = "Scenario" | "시나리오";
    group = "Group" | "그룹";
    failed_requests = "Failed requests" | "실패한 요청";
    iterations = "Iterations" | "반복";
    failed_iterations = "Failed iterations" | "실패한 반복";
    dropped_iterations = "Dropped iterations" | "누락된 반복";
    vus_max = "Maximum VUs" | "최대 VU";
    received = "Received" | "수신량";
    sent = "Sent" | "송신량";
    out_of(count, total) = "{count} of {total}" | "{total}건 중 {count}건";
    per_second(rate) = "{rate}/s" | "{rate}/s";
    no_thresholds_defined = "This run has no thresholds." | "이 실행에는 임계값이 없습니다.";
    thresholds_of_step = "A step of a study has no thresholds. The SLOs of the study judge it, without its warm-up." | "스터디의 단계에는 임계값이 없습니다. 워밍업을 뺀 값을 스터디의 SLO로 판정합니다.";
    more_rows(count) = "… and {count} more" | "… 외 {count}건";
    all_checks_passed(checks, calls) =
        "All checks passed ({checks} checks, {calls} evaluations)."
        | "체크 {checks}개가 모두 성공했습니다 (평가 {calls}회).";
    errors_beyond(count) =
        "Errors not listed, because there are too many distinct ones: {count}."
        | "서로 다른 오류가 너무 많아 표시하지 않은 오류: {count}건.";
    drops_none = "No iterations were dropped." | "누락된 반복이 없습니다.";
    workers = "Worker threads" | "워커 스레드";
    workers_lost = "Unresponsive worker threads" | "응답하지 않은 워커 스레드";
    samples_lost = "Samples not exported" | "내보내지 못한 샘플";
    windows_lost = "Seconds not stored" | "저장하지 못한 구간(초)";
    fleet_agents = "Agents" | "에이전트";
    fleet_agent = "Agent" | "에이전트";
    fleet_share = "Share" | "비율";
    fleet_state = "State" | "상태";
    fleet_due = "Due" | "예정";
    fleet_achieved = "Achieved" | "달성";
    fleet_cpu = "CPU, peak" | "최대 CPU";
    fleet_lateness = "Start delay p99" | "시작 지연 p99";
    fleet_lost(from, to) = "load missing {from}–{to}" | "{from}~{to} 부하 없음";
    fleet_lost_since(from) = "load missing since {from}" | "{from}부터 부하 없음";
    agent_joining = "joining" | "참여 중";
    agent_running = "running" | "실행 중";
    agent_suspect = "not heard" | "응답 없음";
    agent_ended = "ended" | "종료";
    agent_lost = "agent lost" | "에이전트 유실";
    nothing_lost = "No data was lost." | "유실된 데이터가 없습니다.";
    lateness = "Start delay" | "시작 지연";
    log_before(lines) = "Earlier lines not shown: {lines}." | "이전 로그 {lines}줄은 생략했습니다.";
    left_out(bytes, sections, run) =
        "Sections omitted at the report limit of {bytes} bytes: {sections}. For the complete report, run `plimsoll report {run} --format json`."
        | "보고서 크기 제한({bytes}바이트)으로 생략한 항목: {sections}. 전체 내용은 `plimsoll report {run} --format json`으로 확인하십시오.";
    exact = "exact" | "정확";
    approximate = "±0.1 %" | "±0.1 %";
    without_failed(count) = "avg excludes {count} failed requests" | "avg는 실패 {count}건 제외";
    precision_note =
        "*exact*: computed from every value. *±0.1 %*: computed from a histogram with at most this relative error. Failed requests rank above every successful one: `≥ 60 s (timeout)` is a lower bound."
        | "*정확*: 모든 값으로 계산했습니다. *±0.1 %*: 상대 오차가 이 범위인 히스토그램으로 계산했습니다. 실패한 요청은 모든 성공보다 느린 것으로 간주합니다. `≥ 60 s (timeout)`은 하한값입니다.";
    drop_vus_exhausted = "all VUs busy, maxVUs reached" | "모든 VU가 사용 중이고 maxVUs에 도달함";
    drop_vu_starting =
        "all VUs busy, another VU initialising"
        | "모든 VU가 사용 중이고 새 VU를 초기화하는 중";
    drop_time_up = "scenario ended" | "시나리오 종료";
    drop_agent_lost = "agent lost" | "에이전트 유실";
    slowest = "slowest" | "가장 느림";
    bucket = "sample" | "표본";
    imported = "imported" | "가져온 시각";
    imported_from(source, file) =
        "Imported from {source} ({file}). Not included in the source:"
        | "{source} ({file})에서 가져온 결과입니다. 원본에 없는 정보:";
    reading = "Meaning" | "의미";
    annotation(metric, condition, observed, limit) =
        "{metric}: {condition} measured {observed}, limit {limit}"
        | "{metric}: {condition} 측정값 {observed}, 기준 {limit}";
    annotations_more(count) =
        "{count} more thresholds failed; see the step summary for the full list"
        | "위반한 임계값이 {count}개 더 있습니다. 전체 목록은 단계 요약에 있습니다";
}
