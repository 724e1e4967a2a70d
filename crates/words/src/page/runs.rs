//! The list of runs: filters, statuses, verdicts, trends.

crate::page_catalogue! {
    @shared {
        load_shape = capacity_load;
        requests_rate = requests_rate;
        trend_no_change = history_no_change;
        figure_requests_per_second = history_requests;
        status_failed = failed;
        verdict_caps_inconclusive = diagnosis_inconclusive;
        grade_valid = valid;
        grade_unmeasured = not_measured;
        grade_degraded = degraded;
        grade_invalid = invalid;
    }
    script_example = "part of its name" | "이름의 일부";
    all_runs = "All runs" | "모든 실행";
    chosen(count) = "{count} selected" | "{count}개 선택됨";
    compare_chosen = "Compare" | "비교";
    runs_sub(count) = "{count} shown, newest first" | "{count}개, 최신순";
    runs_none(directory) =
        "No runs in {directory} yet. Create one with “plimsoll run script.js”."
        | "{directory}에 실행이 없습니다. “plimsoll run script.js”로 만들 수 있습니다.";
    runs_none_demo =
        "Or watch an example first: it tests a built-in shop, finds its bottleneck and tests the remedy."
        | "예제를 먼저 볼 수도 있습니다. 내장된 상점을 테스트하고, 병목을 찾고, 해결책을 다시 테스트합니다.";
    runs_none_match = "No run matches these filters." | "필터에 맞는 실행이 없습니다.";
    choose = "Select" | "선택";
    choose_run(run) = "Select run {run}" | "실행 {run} 선택";
    only_script(script) = "Only runs of {script}" | "{script}의 실행만 보기";
    start_unknown = "unknown" | "알 수 없음";
    load_shape_of(run) = "Requests per second over run {run}" | "실행 {run}의 초당 요청 수";
    held_of(passed, total) = "{passed} of {total} passed" | "{passed} / {total} 통과";
    passed_although =
        "Thresholds passed although requests failed"
        | "요청이 실패했지만 임계값은 모두 통과했습니다";
    study_levels(name, levels) = "Study {name}: {levels} levels" | "스터디 {name}: {levels}단계";
    slo_met = "SLO met" | "SLO 충족";
    slo_violated = "SLO violated" | "SLO 위반";
    level_of(load) = "level {load}" | "{load} 단계";
    baseline = "baseline run" | "기준 실행";
    baseline_is = "Baseline run of its script" | "이 스크립트의 기준 실행";
    baseline_make = "Set as the baseline run of its script" | "이 스크립트의 기준 실행으로 지정";
    baseline_of(run) = "Baseline: run {run}" | "기준 실행: {run}";
    newest = "Newest" | "최신";
    older = "Older runs" | "이전 실행";
    unreadable = "Unreadable files" | "읽을 수 없는 파일";
    unreadable_sub =
        "files in the run directory that are not valid runs"
        | "실행 디렉터리에 있지만 올바른 실행이 아닌 파일";
    trend = "Trend of one script" | "스크립트 추이";
    trend_short = "trend" | "추이";
    trend_of(figure) =
        "{figure} per run, from the oldest to the newest"
        | "오래된 실행부터 최신 실행까지의 {figure}";
    trend_none =
        "No finished run of this script has these metrics."
        | "이 스크립트의 완료된 실행 중 이 지표가 있는 것이 없습니다.";
    trend_change(run, before, after, p_value) =
        "since run {run}: {before} → {after} (p = {p_value})."
        | "실행 {run}부터: {before} → {after} (p = {p_value}).";
    trend_left_out(runs) = "Older runs not shown: {runs}." | "더 오래된 실행 {runs}개는 표시하지 않았습니다.";
    figure_p50 = "p50" | "p50";
    figure_p95 = "p95" | "p95";
    figure_p99 = "p99" | "p99";
    figure_error_share = "failed requests" | "실패한 요청";
    status_live = "Running" | "실행 중";
    status_passed = "Passed" | "통과";
    status_ended = "Completed" | "완료";
    status_partial = "Partial" | "불완전";
    status_imported = "Imported" | "가져옴";
    verdict_pass = "pass" | "통과";
    verdict_fail = "fail" | "실패";
    verdict_inconclusive = "inconclusive" | "판단 불가";
    verdict_caps_pass = "PASS" | "통과";
    verdict_caps_fail = "FAIL" | "실패";
    grade_none = "not evaluated" | "평가 안 됨";
    so_far(grade) = "{grade} so far" | "현재까지 {grade}";
}
