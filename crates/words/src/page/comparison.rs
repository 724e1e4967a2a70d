//! Comparison of two runs.

crate::page_catalogue! {
    @shared {
        compare_baseline = comparison_baseline;
        comparable_nothing = comparison_no_obstacle;
        steady_none = comparison_why_unsteady;
        series = comparison_series;
        compare_evidence = comparison_evidence;
        compare_evidence_sub = comparison_evidence_note;
        change_improved = comparison_improved;
        change_regressed = comparison_regressed;
        change_equivalent = comparison_equivalent;
        change_caps_inconclusive = diagnosis_inconclusive;
    }
    side_a = "A, before" | "A, 이전";
    side_b = "B, after" | "B, 이후";
    side_more(letter) = "Side {letter}" | "{letter} 쪽";
    side_add = "Add a run" | "실행 추가";
    side_remove = "(remove)" | "(제거)";
    several_sub(margin) =
        "each side against A; equivalence margin ±{margin}"
        | "각 실행을 A와 비교. 동등성 한계 ±{margin}";
    swap = "Swap" | "바꾸기";
    compare_choose =
        "Select two or more runs: A is the reference, each of the others is compared with it."
        | "실행을 두 개 이상 선택하십시오. A를 기준으로 나머지를 비교합니다.";
    comparable = "Are the runs comparable?" | "비교할 수 있는 실행인가?";
    comparable_yes = "COMPARABLE" | "비교 가능";
    comparable_care = "WITH CARE" | "주의해서 비교";
    comparable_no = "NOT COMPARABLE" | "비교 불가";
    within_run_only =
        "Within-run only: with so few runs per side, run-to-run variance is unknown."
        | "실행 내부 비교: 한쪽의 실행 수가 적어 실행 간 편차를 알 수 없습니다.";
    steady_part(from, to, total) =
        "steady {from} to {to} of {total} s"
        | "안정 구간 {from} ~ {to} / {total}초";
    what_changed = "Changes" | "변화";
    what_changed_sub(confidence, margin) =
        "change from A to B with its {confidence} interval; shaded: equivalence margin of ±{margin}"
        | "A에서 B로의 변화와 {confidence} 신뢰 구간. 음영은 동등성 한계 ±{margin}";
    change = "Change" | "변화";
    change_inconclusive = "inconclusive" | "판단 불가";
    change_not_available = "not available" | "판정 없음";
    change_caps_improved = "IMPROVED" | "개선";
    change_caps_regressed = "REGRESSED" | "악화";
    change_caps_equivalent = "EQUIVALENT" | "동등";
    compare_subject = "Service, database or pool" | "서비스, 데이터베이스, 커넥션 풀";
    evidence_left_out(count) =
        "Services, databases and pools not shown: {count}."
        | "표시하지 않은 서비스, 데이터베이스, 커넥션 풀: {count}개.";
    compare_no_rows = "The runs have no metric in common." | "공통된 지표가 없습니다.";
    metrics_differ(metrics) =
        "The curves show different metrics: {metrics}."
        | "곡선의 지표가 서로 다릅니다: {metrics}.";
    overlay = "Over elapsed time" | "경과 시간으로 겹쳐 보기";
    overlay_sub = "each from its own start" | "각자의 시작부터";
}
