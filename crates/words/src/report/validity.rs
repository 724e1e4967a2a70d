//! Measurement validity: grades, faults, and the capacity of the load generator.

crate::catalogue! {
    measurement_validity = "Measurement validity" | "측정 유효성";
    validity = "validity" | "유효성";
    valid = "VALID" | "유효";
    not_measured = "NOT MEASURED" | "측정 안 됨";
    degraded = "DEGRADED" | "주의";
    invalid = "INVALID" | "무효";
    validity_windows(bad, total, seconds) =
        "in {bad} of {total} s ({seconds})"
        | "({total}초 중 {bad}초, {seconds}초 지점)";
    validity_unmeasured(topics) = "not measured: {topics}" | "측정하지 않음: {topics}";
    fault_start_lag(observed, limit) =
        "p99 iteration start delay {observed} (limit {limit})"
        | "반복 시작 지연 p99 {observed} (한도 {limit})";
    fault_dropped(observed, limit) =
        "{observed} of planned iterations were dropped (limit {limit})"
        | "계획한 반복 중 {observed} 누락 (한도 {limit})";
    fault_dropped_target(observed, limit) =
        "{observed} of planned iterations were dropped (limit {limit}): every VU was waiting for the target and the load generator was idle. The offered load is below the plan"
        | "계획한 반복 중 {observed} 누락 (한도 {limit}): 모든 VU가 대상의 응답을 기다렸고 부하 생성기는 여유가 있었습니다. 실제 부하가 계획보다 낮습니다";
    fault_dropped_generator(observed, limit) =
        "{observed} of planned iterations were dropped (limit {limit}): the load generator was saturated"
        | "계획한 반복 중 {observed} 누락 (한도 {limit}): 부하 생성기가 포화 상태였습니다";
    fault_dropped_starting(observed, limit) =
        "{observed} of planned iterations were dropped (limit {limit}) while VUs were initialising: raise preAllocatedVUs"
        | "VU 초기화 중 계획한 반복의 {observed} 누락 (한도 {limit}): preAllocatedVUs를 늘리십시오";
    fault_worker_cpu(observed, limit) =
        "a worker thread used {observed} of its core (limit {limit})"
        | "워커 스레드의 코어 사용률 {observed} (한도 {limit})";
    fault_throttled(observed, limit) =
        "CPU throttled by its cgroup quota {observed} of the time (limit {limit})"
        | "cgroup CPU 할당량으로 스로틀링된 시간 {observed} (한도 {limit})";
    fault_run_delay(observed, limit) =
        "a worker thread waited for a core {observed} of the time (limit {limit})"
        | "워커 스레드가 코어를 기다린 시간 {observed} (한도 {limit})";
    fault_steal(observed, limit) =
        "CPU steal {observed} (limit {limit})"
        | "CPU 스틸 {observed} (한도 {limit})";
    fault_timer_lag(observed, limit) =
        "timers fired up to {observed} late (limit {limit})"
        | "타이머 최대 지연 {observed} (한도 {limit})";
    fault_coverage(observed, limit) =
        "{observed} of the run has no recorded data (limit {limit})"
        | "실행 시간 중 {observed}에 기록된 데이터가 없습니다 (한도 {limit})";
    fault_long_windows(observed, limit) =
        "one-second windows took up to {observed} (limit {limit})"
        | "1초 집계 구간의 최대 길이 {observed} (한도 {limit})";
    fault_network(observed, limit) =
        "no data received for {observed} s during TCP retransmissions (limit {limit})"
        | "TCP 재전송 중 {observed}초간 수신 없음 (한도 {limit})";
    fault_exhausted(observed, limit) =
        "{observed} of requests failed because local ports, file descriptors or buffers were exhausted (limit {limit})"
        | "로컬 포트, 파일 디스크립터 또는 버퍼 고갈로 실패한 요청 {observed} (한도 {limit})";
    fault_ports(observed, limit) =
        "{observed} of local ports in use (limit {limit})"
        | "로컬 포트 사용률 {observed} (한도 {limit})";
    fault_descriptors(observed, limit) =
        "{observed} of file descriptors in use (limit {limit})"
        | "파일 디스크립터 사용률 {observed} (한도 {limit})";
    fault_retransmission(observed, limit) =
        "{observed} of TCP segments in this network namespace were retransmitted (limit {limit})"
        | "이 네트워크 네임스페이스의 TCP 재전송률 {observed} (한도 {limit})";
    fault_connects(observed, limit) =
        "{observed} of connections took 1, 2, 3, 4, 5 or 7 s, the delays of SYN retransmissions (limit {limit})"
        | "연결 중 {observed}에 SYN 재전송 지연(1~5초, 7초) 발생 (한도 {limit})";
    fault_recorded(observed, limit) =
        "requests sent and requests recorded differ by {observed} (limit {limit})"
        | "보낸 요청 수와 기록된 요청 수의 차이 {observed} (한도 {limit})";
    fault_windows_lost(observed, limit) =
        "{observed} of the run's seconds were not stored (limit {limit})"
        | "저장되지 않은 구간 {observed} (한도 {limit})";
    fault_workers_lost(observed, limit) =
        "{observed} worker threads did not deliver their samples (limit {limit})"
        | "샘플을 전달하지 못한 워커 스레드 {observed}개 (한도 {limit})";
    fault_agents_lost(observed, limit) =
        "{observed} agents were lost during the load, so less than the plan was offered (limit {limit})"
        | "부하 중 유실된 에이전트 {observed}개, 계획보다 적은 부하 (한도 {limit})";
    fault_little(observed, limit) =
        "{observed} of request time not covered by any metric (limit {limit})"
        | "어떤 지표에도 포함되지 않은 요청 시간 {observed} (한도 {limit})";
    fault_unsteady(observed, limit) =
        "request duration shifted permanently by {observed} at constant load (limit {limit})"
        | "일정한 부하에서 요청 소요 시간이 {observed} 바뀐 뒤 돌아오지 않았습니다 (한도 {limit})";
    fault_clock(observed, limit) =
        "the system clock was stepped by {observed} (limit {limit})"
        | "시스템 시각이 {observed} 변경되었습니다 (한도 {limit})";
    topic_rate = "arrival rate" | "도착률";
    topic_cpu = "worker CPU" | "워커 CPU";
    topic_throttled = "CPU throttling" | "CPU 스로틀링";
    topic_run_delay = "CPU run queue delay" | "CPU 실행 대기";
    topic_steal = "CPU steal" | "CPU 스틸";
    topic_timer_lag = "timers" | "타이머";
    topic_coverage = "recording windows" | "집계 구간";
    topic_segments = "TCP retransmissions" | "TCP 재전송";
    topic_requests = "requests" | "요청";
    topic_ports = "local ports" | "로컬 포트";
    topic_descriptors = "file descriptors" | "파일 디스크립터";
    topic_clock = "system clock" | "시스템 시각";
    generator_capacity = "generator capacity" | "부하 생성기 한계";
    generator_capacity_measured(rate, cpu, time) =
        "{rate} requests/s on schedule, {cpu} CPU per request (measured {time})"
        | "예정대로 보낼 수 있는 요청 {rate}/s, 요청당 CPU {cpu} (측정 {time})";
    at_least(rate) = "≥ {rate}" | "≥ {rate}";
    highest_planned_rate = "highest planned rate" | "계획한 최대 부하";
    highest_planned_rate_of_capacity(rate, percent) =
        "{rate} requests/s, {percent} % of the generator capacity"
        | "요청 {rate}/s, 부하 생성기 한계의 {percent} %";
}
