//! Requests by scenario, group and endpoint.

crate::page_catalogue! {
    @shared {
        status_code = status;
    }
    requests_sub(count, failed, rate) =
        "{count} requests, {failed} failed, {rate}"
        | "요청 {count}건, 실패 {failed}건, {rate}";
    requests_none = "The script made no HTTP requests in this window." | "이 구간에 HTTP 요청이 없습니다.";
    tree_head = "Scenario, group, endpoint" | "시나리오, 그룹, 엔드포인트";
    per_second_head = "per s" | "초당";
    phases_of_mean = "Phases of the mean" | "평균의 단계";
    share_of_time = "Share of time" | "시간 비율";
    show_times = "Times" | "시간";
    show_statuses = "Status matrix" | "상태 코드 표";
    of_them_failed(count) = "{count} of them failed" | "이 중 {count}건 실패";
    fold(name) = "Fold {name}" | "{name} 접기";
    rows_cut(count) =
        "{count} more rows; use the filter to find them."
        | "{count}개 행이 더 있습니다. 필터로 찾을 수 있습니다.";
    detail = "Detail" | "상세";
    detail_hint =
        "Select a row to see its distribution, phases and status codes."
        | "행을 선택하면 분포, 단계, 상태 코드를 볼 수 있습니다.";
    detail_group =
        "This group contains groups; select one of the rows below it."
        | "하위 그룹이 있는 그룹입니다. 아래의 행을 선택하십시오.";
    node_sub(count, rate) = "{count} requests, {rate}" | "요청 {count}건, {rate}";
    to_distribution = "Distribution" | "분포";
    phases = "Phases" | "단계";
    phase = "Phase" | "단계";
    phases_none = "No request completed." | "완료된 요청이 없습니다.";
    phases_note = "DNS lookup is part of blocked." | "DNS 조회는 대기에 포함됩니다.";
    phase_blocked = "blocked" | "대기";
    phase_lookingUp = "DNS lookup" | "DNS 조회";
    phase_connecting = "connecting" | "연결";
    phase_tls = "TLS" | "TLS";
    phase_sending = "sending" | "송신";
    phase_waiting = "waiting" | "응답 대기";
    phase_receiving = "receiving" | "수신";
    statuses = "Status codes and errors" | "상태 코드와 오류";
    statuses_none = "No status codes were recorded." | "기록된 상태 코드가 없습니다.";
    error_code = "Error code" | "오류 코드";
    kind_scenario = "scenario" | "시나리오";
    kind_group = "group" | "그룹";
    kind_request = "request" | "요청";
    kind_total = "total" | "합계";
}
