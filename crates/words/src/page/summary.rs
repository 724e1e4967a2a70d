//! The summary of a run.

crate::page_catalogue! {
    @shared {
        thresholds_none = no_thresholds_defined;
        thresholds_of_step = thresholds_of_step;
        largest_cost = largest_cost;
        checks = checks;
        environment = environment;
        commit = commit;
        dirty = uncommitted;
        scenario = scenario;
        note = note;
    }
    thresholds_held(passed, total) =
        "{passed} of {total} thresholds passed"
        | "임계값 {passed} / {total} 통과";
    limited_by = "Bottleneck" | "병목";
    safe_load = "Safe load" | "안전 부하";
    exit_code(code) = "exit code {code}" | "종료 코드 {code}";
    per_second_of(rate) = "{rate} on average" | "평균 {rate}";
    of_requests = "of all requests" | "전체 요청 중";
    dropped_of(dropped, due) = "{dropped} of {due} dropped" | "{dropped} / {due} 누락";
    against_limit = "vs limit" | "기준 대비";
    no_bar = "no scale" | "눈금 없음";
    held = "passed" | "통과";
    holds = "met" | "만족";
    crossed = "crossed" | "위반";
    broken = "crossed" | "위반";
    not_judged = "not evaluated" | "평가 안 됨";
    aborts = "aborts" | "중단";
    aborts_why = "The run stops when this threshold is crossed" | "이 임계값을 위반하면 실행을 중단합니다";
    metrics_sub = "the same numbers as in the terminal and in files" | "터미널과 파일의 수치와 같습니다";
    metrics_none = "No metric has samples." | "표본이 있는 지표가 없습니다.";
    untimed(count) = "avg excludes {count} failed requests" | "avg는 실패 {count}건 제외";
    check = "Check" | "체크";
    checks_held(passed, total) = "{passed} of {total} always passed" | "{passed} / {total} 항상 통과";
    checks_none = "The script defines no checks." | "스크립트에 정의된 체크가 없습니다.";
    passes = "Passes" | "성공";
    fails = "Fails" | "실패";
    failed_some = "failed" | "실패";
    env_host = "host" | "호스트";
    env_system = "system" | "운영체제";
    env_cores = "cores" | "코어";
    env_memory = "memory" | "메모리";
    env_memory_limit = "memory limit" | "메모리 한도";
    env_execution_segment = "execution segment" | "실행 구간(segment)";
    env_merged_from = "merged from" | "합친 실행";
    environment_sub = "recorded with the run" | "실행과 함께 기록됨";
    not_stated = "not specified" | "지정되지 않음";
    open_loop = "open loop" | "열린 부하";
    closed_loop = "closed loop" | "닫힌 부하";
    imported_from(source, file) = "Imported from {source} ({file})." | "{source} ({file})에서 가져옴.";
    rerun = "Run again" | "다시 실행";
    note_hint = "Changes, observations" | "변경 사항, 관찰한 점";
    note_none = "No note." | "메모가 없습니다.";
    note_saved = "Saved." | "저장했습니다.";
    save = "Save" | "저장";
    to_audit = "Arithmetic check of these numbers →" | "이 수치의 산술 검사 →";
}
