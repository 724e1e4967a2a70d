//! The validity of the measurement.

crate::page_catalogue! {
    @shared {
        validity_of = measurement_validity;
        remark = audit_severity_note;
        generator = generator;
        workers = workers;
        vital_memory = evidence_memory;
        vital_timer_lag = topic_timer_lag;
        vital_descriptors = topic_descriptors;
        vital_segments_repeated = topic_segments;
        host = evidence_host_other;
        workers_lost = workers_lost;
        samples_lost = samples_lost;
        windows_lost = windows_lost;
        drop_vus_exhausted = drop_vus_exhausted;
        drop_vu_starting = drop_vu_starting;
        drop_time_up = drop_time_up;
        strip_steal = topic_steal;
        strip_steady = comparison_steady;
        strip_network = evidence_network;
        strip_throttled = topic_throttled;
    }
    can_trust = "Can this run be trusted?" | "이 실행을 믿을 수 있는가?";
    validity_strip = "Validity at a glance" | "유효성 한눈에";
    validity_sub = "checks of the load generator and its data" | "부하 생성기와 데이터 점검";
    validity_none = "The validity of this run was not evaluated." | "이 실행의 유효성은 평가되지 않았습니다.";
    grades_over_time = "Validity per second" | "초별 유효성";
    seconds_n(seconds) = "{seconds} s" | "{seconds}초";
    reasons = "Reasons" | "이유";
    reasons_sub(count) = "{count}, most severe first" | "{count}개, 심각한 순";
    reasons_none = "No measurement faults were found." | "측정에서 발견된 문제가 없습니다.";
    weight = "Severity" | "심각도";
    looked_at = "Checked" | "확인한 항목";
    not_looked_at = "Not measured:" | "측정하지 않음:";
    workers_n(count) = "{count} worker threads" | "워커 스레드 {count}개";
    vitals_none =
        "No generator metrics were recorded, so the state of the load generator is unknown."
        | "부하 생성기의 지표가 기록되지 않아 상태를 알 수 없습니다.";
    vital_cpu = "CPU" | "CPU";
    vital_waiting = "CPU wait and throttling" | "CPU 대기와 스로틀링";
    vital_lag = "Start delay and timer lag" | "시작 지연과 타이머 지연";
    vital_handles = "Ports and file descriptors" | "포트와 파일 디스크립터";
    vital_network = "TCP retransmissions and drops" | "TCP 재전송과 드롭";
    vital_worker_cpu = "worker" | "워커";
    vital_worker_run_delay = "run queue" | "실행 대기";
    vital_other_cpu = "other threads" | "다른 스레드";
    vital_host_cpu = "host" | "호스트";
    vital_host_steal = "steal" | "스틸";
    vital_throttled = "throttled" | "스로틀링";
    vital_lateness_p99 = "start delay p99" | "시작 지연 p99";
    vital_ports = "sockets" | "소켓";
    vital_syn_repeated = "SYN again" | "SYN 재전송";
    vital_listen_drops = "listen drops" | "listen 큐 드롭";
    vital_resident = "resident" | "상주 메모리";
    at_most(values) = "At most: {values}." | "최댓값: {values}.";
    lost = "Lost data and dropped iterations" | "유실된 데이터와 누락된 반복";
    dropped_in(scenario) = "Dropped in {scenario}" | "{scenario}에서 누락";
    strip_is_ok = "OK:" | "정상:";
    strip_is_warn = "warning:" | "주의:";
    strip_is_fail = "failed:" | "실패:";
    strip_is_unknown = "unknown:" | "알 수 없음:";
    strip_generator_cpu = "Generator CPU" | "생성기 CPU";
    strip_run_delay = "Run queue delay" | "CPU 실행 대기";
    strip_lateness = "Start delay p99" | "시작 지연 p99";
    strip_dropped = "Dropped" | "누락된 반복";
    strip_recorded = "Sent = recorded" | "보낸 수 = 기록 수";
    strip_timer_lag = "Timer lag" | "타이머 지연";
    strip_sockets = "Sockets" | "소켓";
    strip_clock = "System clock" | "시스템 시각";
}
