//! Errors, sample requests, logs.

crate::page_catalogue! {
    @shared {
        share_of_errors = evidence_session_share;
        exemplars = exemplars;
        exemplar_slowest = slowest;
        exemplar_bucket = bucket;
        trace = trace;
        level_warning = audit_severity_warning;
        level_error = audit_severity_error;
        source = evidence_source;
    }
    errors_none = "No errors." | "오류가 없습니다.";
    errors_sub(distinct, total) = "{distinct} distinct, {total} in all" | "{distinct}종, 모두 {total}건";
    errors_total(errors, requests) =
        "{errors} errors, {requests} requests"
        | "오류 {errors}건, 요청 {requests}건";
    errors_beyond(count) =
        "Errors not listed, because there are too many distinct ones: {count}."
        | "서로 다른 오류가 너무 많아 표시하지 않은 오류: {count}건.";
    distinct_errors = "Distinct errors" | "서로 다른 오류";
    first_last = "First – last" | "처음 – 마지막";
    look_at = "Zoom to this window" | "이 구간으로 확대";
    example_none = "No example was recorded." | "기록된 예시가 없습니다.";
    exemplars_sub = "representative requests" | "대표 요청";
    trace_not_kept = "trace not stored" | "트레이스가 저장되지 않음";
    exemplars_none = "No sample requests were recorded." | "기록된 요청 예시가 없습니다.";
    exemplar_failed = "failed" | "실패";
    level = "Level" | "수준";
    level_debug = "debug" | "디버그";
    level_info = "info" | "정보";
    runner = "runner" | "실행기";
    logs_sub(count, total) = "{count} of {total} lines" | "{count} / {total}줄";
    logs_none = "The run wrote no log lines." | "기록된 로그가 없습니다.";
    more_lines = "More lines" | "더 보기";
    lines_max(count) =
        "At most {count} lines are shown; use the filter to find others."
        | "최대 {count}줄을 표시합니다. 나머지는 필터로 찾으십시오.";
    lines_lost(count) =
        "{count} lines were not stored: the log exceeded its limit."
        | "로그 한도를 넘어 {count}줄은 저장되지 않았습니다.";
}
