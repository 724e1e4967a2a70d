//! Time breakdowns and findings of the diagnosis in reports.

crate::catalogue! {
    bottleneck_time = "Time breakdown" | "시간 분석";
    bottleneck_time_mean(operation, mean, waiting, share) =
        "{operation}: {mean} on average, of which {waiting} ({share}) is queueing."
        | "{operation}: 평균 {mean}, 그중 큐 대기 {waiting} ({share}).";
    bottleneck_findings = "Findings" | "진단 결과";
    bottleneck_finding = "Finding" | "진단 결과";
    bottleneck_none = "No bottleneck was found." | "발견된 병목이 없습니다.";
    bottleneck_ruled_out = "Ruled out" | "배제한 원인";
    bottleneck_missing_evidence = "Missing evidence" | "추가로 필요한 증거";
    bottleneck_component = "Component" | "구성 요소";
    bottleneck_activity = "Activity" | "활동";
    bottleneck_queued = "queueing" | "큐 대기";
    bottleneck_service = "service time" | "처리 시간";
    bottleneck_network = "network" | "네트워크";
    bottleneck_unattributed = "unattributed" | "미분류";
    bottleneck_other = "Other" | "기타";
    bottleneck_total = "Total" | "합계";
    bottleneck_difference = "Difference from the measured mean" | "측정 평균과의 차이";
    bottleneck_method = "Same breakdown from" | "동일 분해 기준";
    bottleneck_method_traces = "traces" | "트레이스";
    bottleneck_method_little = "Little's law" | "리틀의 법칙";
    bottleneck_method_logs = "logs" | "로그";
    bottleneck_limits = "bottleneck" | "병목";
    bottleneck_contributes = "contributes" | "기여 요인";
    bottleneck_outcome = "business outcome" | "업무 결과";
    bottleneck_prediction(change, refuted_if) =
        "**Prediction.** {change}. Refuted if {refuted_if}"
        | "**예측.** {change}. 반증 조건: {refuted_if}";
    bottleneck_cost = "Cost" | "비용";
    bottleneck_remedy = "Remedy" | "조치";
    bottleneck_suspect = "Suspected cause" | "의심 원인";
    bottleneck_evidence_against = "Evidence against" | "반증";
    bottleneck_cost_logic = "logic" | "로직";
    bottleneck_cost_setting = "setting" | "설정";
    bottleneck_cost_cache = "cache" | "캐시";
    bottleneck_cost_resource = "resource" | "자원";
    bottleneck_cost_architecture = "architecture" | "구조";
}
