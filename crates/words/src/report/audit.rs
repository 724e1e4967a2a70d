//! Headings of audit reports.

crate::catalogue! {
    audit_nothing(sources) = "no findings in {sources}" | "{sources}에서 발견된 문제가 없습니다";
    audit_found(counts, more, sources) = "{counts}{more} in {sources}" | "{counts}{more} 발견 ({sources})";
    audit_error(count) = "{count} error" | "오류 {count}건";
    audit_errors(count) = "{count} errors" | "오류 {count}건";
    audit_warning(count) = "{count} warning" | "경고 {count}건";
    audit_warnings(count) = "{count} warnings" | "경고 {count}건";
    audit_note(count) = "{count} note" | "참고 {count}건";
    audit_notes(count) = "{count} notes" | "참고 {count}건";
    audit_source(count) = "{count} source" | "소스 {count}개";
    audit_sources(count) = "{count} sources" | "소스 {count}개";
    audit_more(count) = " and {count} more" | " 외 {count}건";
    audit_severity_error = "error" | "오류";
    audit_severity_warning = "warning" | "경고";
    audit_severity_note = "note" | "참고";
    audit_impact = "Impact" | "영향";
    audit_remedy = "Remedy" | "조치";
    audit_caveat = "Caveat" | "주의";
    audit_more_findings(count, rule) = "{count} more of {rule}" | "{rule}: {count}건 더 있음";
    audit_derived = "Derived figures" | "수치에서 계산한 값";
    audit_input = "Input" | "입력";
    audit_checked = "Rules checked, with the number of values" | "검사한 규칙(값의 수)";
    audit_unchecked = "Rules without input" | "입력이 없어 검사하지 못한 규칙";
    audit_ignored = "Ignored input" | "해석하지 못한 입력";
    audit_more_remarks(count) = "… and {count} more" | "… 외 {count}건";
    audit_figure = "Figure" | "수치";
    audit_left_out(bytes, count) =
        "Findings omitted at the report limit of {bytes} bytes: {count}. For all of them, use `--format json`."
        | "보고서 크기 제한({bytes}바이트)으로 {count}개 항목을 생략했습니다. 전체는 `--format json`으로 확인하십시오.";
}
