//! The labels of a diagnosis on a terminal.

crate::catalogue! {
    diagnosis_limited = "LIMITED" | "병목 확인";
    diagnosis_no_bottleneck = "NO SERVER BOTTLENECK" | "서버 병목 없음";
    diagnosis_generator = "LOAD GENERATOR" | "부하 생성기";
    diagnosis_inconclusive = "INCONCLUSIVE" | "판단 불가";
    diagnosis_more_findings(count) = "… and {count} more findings" | "… 외 결과 {count}개";
    diagnosis_time(unit, mean) = "Where {unit} spends its {mean}" | "{unit} 시간 {mean}의 구성";
    diagnosis_mean_of(count) = "mean of {count}" | "{count}개의 평균";
    diagnosis_at_low(time) = "{time} at low load" | "저부하에서 {time}";
    diagnosis_queued = "queueing" | "큐 대기";
    diagnosis_served = "service time" | "처리 시간";
    diagnosis_in_transit = "network" | "네트워크";
    diagnosis_unattributed = "unattributed" | "미분류";
    diagnosis_traces = "traces" | "트레이스";
    diagnosis_little = "Little's law" | "리틀의 법칙";
    diagnosis_logs = "task logs" | "작업 로그";
    diagnosis_queueing(time) = "queueing {time}" | "큐 대기 {time}";
    diagnosis_service(time) = "service {time}" | "처리 {time}";
    diagnosis_sum(time) = "sum {time}" | "합계 {time}";
    diagnosis_other_methods = "the same by other methods" | "다른 방법으로 구한 값";
    diagnosis_differ(share) = "wait estimates differ by {share}" | "대기 시간 추정치가 {share} 차이";
    diagnosis_caveat = "Caveat" | "주의";
    diagnosis_data = "Data" | "데이터";
    diagnosis_explains(share) = ", explains {share}" | ", 설명력 {share}";
    diagnosis_about(role, explains, strength, cost) = "{role}{explains}, evidence: {strength}, cost: {cost}" | "{role}{explains}, 근거: {strength}, 비용: {cost}";
    diagnosis_remedy = "Remedy:" | "조치:";
    diagnosis_window(from, to, step, points) = "{from} to {to}, step {step} ms, {points} points" | "{from} – {to}, 간격 {step} ms, {points}개 값";
    diagnosis_query = "Query:" | "쿼리:";
    diagnosis_exemplar = "Exemplar:" | "예:";
    diagnosis_not = "Ruled out:" | "제외:";
    diagnosis_prediction = "Prediction:" | "예측:";
    diagnosis_next_limit(limit) = "next bottleneck: {limit}" | "다음 병목: {limit}";
    diagnosis_wrong_if(measurement) = "refuted if {measurement}" | "반증 조건: {measurement}";
    diagnosis_try = "test it:" | "확인:";
    diagnosis_ruled_out = "Ruled out" | "배제한 원인";
    diagnosis_checked = "checked, with the number" | "확인한 항목과 수치";
    diagnosis_more_ruled_out(count) = "… and {count} more (--all)" | "… 외 {count}개 (--all)";
    diagnosis_missing = "Missing evidence" | "추가로 필요한 증거";
    diagnosis_connect = "connect it:" | "연결:";
}
