//! The audit of a run.

crate::page_catalogue! {
    @shared {
        audit_derived = audit_derived;
        audit_remarks = audit_ignored;
        remedy = diagnosis_remedy;
        severity_error = audit_severity_error;
        severity_warning = audit_severity_warning;
        severity_note = audit_severity_note;
    }
    audit_findings = "Audit findings" | "검산 결과";
    audit_sub(count) = "{count}, most severe first" | "{count}개, 심각한 순";
    audit_none =
        "No arithmetic errors were found in these numbers."
        | "이 수치에서 산술적인 문제를 찾지 못했습니다.";
    audit_beyond = "Not listed individually:" | "개별로 표시하지 않음:";
    audit_derived_sub = "from laws that hold for any system" | "모든 시스템에 성립하는 법칙으로 계산";
    audit_derived_none = "No law applies to these measurements." | "이 측정값에 적용되는 법칙이 없습니다.";
    implies = "Impact:" | "영향:";
    caveats = "Caveats:" | "주의:";
    strength_arithmetic = "arithmetic" | "산술";
    strength_limit = "bound" | "한계";
    strength_statistics = "statistics" | "통계";
    strength_pattern = "pattern" | "양상";
}
