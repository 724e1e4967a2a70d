//! Server-side evidence: lanes, the timeline in sentences, and tables.

crate::catalogue! {
    evidence_replicas_desired = "Replicas, desired and available" | "복제본 수(요청, 가용)";
    evidence_cache_other = "Cache" | "캐시";
    evidence_dropped = "Dropped connections" | "끊긴 연결";
    evidence_proxy_other = "Proxy" | "프록시";
    evidence_process_cpu = "Process CPU" | "프로세스 CPU 사용량";
    evidence_runtime_other = "Runtime" | "런타임";
    evidence_node_other = "Nodes" | "노드";
    evidence_host_other = "Host" | "호스트";
    evidence_queue_depth = "Queue depth (ready)" | "큐 길이(ready)";
    evidence_queue_unacked = "Unacknowledged messages" | "미확인(unacked) 메시지";
    evidence_queue_consumers = "Consumers" | "컨슈머 수";
    evidence_queue_published = "Messages published" | "발행 메시지";
    evidence_queue_delivered = "Messages delivered" | "전달 메시지";
    evidence_queue_acked = "Messages acknowledged" | "확인(ack)된 메시지";
    evidence_queue_utilisation = "Consumer utilisation" | "컨슈머 사용률";
    evidence_queue_prefetch = "Prefetch" | "프리페치 수";
    evidence_queue_other = "Queues" | "큐";
    evidence_autoscaler = "Autoscaler at its limit (1 = yes)" | "오토스케일러 한계 도달(1 = 예)";
    evidence_log_lines = "Log lines and errors" | "로그 줄과 오류";
    evidence_replicas = "Replicas" | "복제본 수";
    evidence_container_cpu = "Container CPU" | "컨테이너 CPU 사용량";
    evidence_container_throttled = "CPU throttling" | "CPU 스로틀링";
    evidence_container_memory = "Container memory" | "컨테이너 메모리";
    evidence_restarts = "Restarts" | "재시작 횟수";
    evidence_workers_other = "Workers" | "워커";
    evidence_sessions = "Active database sessions by wait event" | "대기 이벤트별 활성 DB 세션";
    evidence_connections = "Connections" | "커넥션 수";
    evidence_locks = "Sessions waiting for locks" | "락 대기 세션";
    evidence_commits = "Transactions" | "트랜잭션";
    evidence_blocks = "Blocks" | "블록 접근";
    evidence_database_other = "Database" | "데이터베이스";
    evidence_memory = "Memory" | "메모리";
    evidence_ops = "Commands" | "명령 처리";
    evidence_hits = "Cache hits and misses" | "캐시 히트와 미스";
    evidence_evicted = "Evicted keys" | "퇴출(evict)된 키";
    evidence_clients = "Clients" | "클라이언트 수";
    evidence_requests = "Requests" | "요청";
    evidence_heap = "Heap" | "힙 메모리";
    evidence_gc = "Garbage collection time" | "GC 시간 비율";
    evidence_pool_active = "Pool connections in use" | "사용 중인 풀 커넥션";
    evidence_pool_pending = "Requests waiting for a pool connection" | "풀 커넥션 대기";
    evidence_node_cpu = "Node CPU" | "노드 CPU 사용량";
    evidence_node_memory = "Node memory" | "노드 메모리";
    evidence_host_cpu = "CPU, total and per core" | "CPU 사용률, 전체와 코어별";
    evidence_host_programs = "CPU of the programs under load" | "부하를 받는 프로그램의 CPU";
    evidence_run_queue = "Run queue length" | "실행 큐 길이";
    evidence_network = "Network" | "네트워크";
    evidence_segments = "TCP retransmissions" | "TCP 재전송";
    evidence_listen = "Listen queue overflows" | "listen 큐 오버플로";
    evidence_running = "running" | "실행 중";
    evidence_limit(limit) = "limit {limit}" | "한도 {limit}";
    evidence_gap_unexplained =
        "no data; the source reported no reason"
        | "측정값 없음 (소스가 이유를 보고하지 않음)";
    evidence_story_changed(lane, series, before, after) =
        "{lane}: {series} changed from {before} to {after}"
        | "{lane} 변경: {series} {before} → {after}";
    evidence_story_changed_max(lane, series, before, after) =
        "{lane}: {series} changed from {before} to {after}, its maximum"
        | "{lane} 변경: {series} {before} → {after} (최댓값)";
    evidence_story_pressed(lane, count, share, duration) =
        "{lane}: the mean of {count} series exceeded {share} of the limit for {duration}"
        | "{lane}: 계열 {count}개의 평균이 {duration} 동안 한도의 {share} 초과";
    evidence_story_pressed_one(lane, share, duration) =
        "{lane} exceeded {share} of its limit for {duration}"
        | "{lane}: {duration} 동안 한도의 {share} 초과";
    evidence_story_peak(series, value, time) = "{series} {value} at {time}" | "{series} {value} ({time})";
    evidence_story_peaks(lane, peaks) = "{lane}: peaks in order: {peaks}" | "{lane}: 최고점 순서: {peaks}";
    evidence_story_one_peak(lane, peak) = "{lane}: peak {peak}" | "{lane}: 최고점 {peak}";
    evidence_story_left(series) = "Not drained at the end: {series}" | "종료 시 남은 메시지: {series}";
    evidence_story_seen(lane, value, series, time) =
        "{lane}: first seen here, peak {value}{series} at {time}"
        | "{lane}: 이 시점부터 발생, 최고 {value}{series} (시점 {time})";
    evidence_story_gap(source, duration, reason) =
        "{source}: no data for {duration}: {reason}"
        | "{source}: {duration} 동안 측정값 없음: {reason}";
    evidence_title = "Evidence: server-side metrics during the run" | "증거: 실행 중 서버 측 지표";
    evidence_title_sources = "Sources and health" | "소스와 상태";
    evidence_title_configuration = "Infrastructure and configuration" | "인프라와 설정";
    evidence_title_queues = "Queues" | "큐";
    evidence_title_database = "Database" | "데이터베이스";
    evidence_title_tasks = "Tasks" | "작업";
    evidence_title_lanes = "Server metrics" | "서버 지표";
    evidence_title_queries = "Queries" | "수집 쿼리";
    evidence_source = "Source" | "소스";
    evidence_health = "Health" | "상태";
    evidence_ok = "complete" | "정상";
    evidence_gaps = "with gaps" | "공백 있음";
    evidence_no_data = "no data" | "측정값 없음";
    evidence_points = "Data points" | "데이터 포인트";
    evidence_failures = "Failures" | "실패";
    evidence_queue = "Queue" | "큐";
    evidence_start = "Start" | "시작";
    evidence_peak = "Peak" | "최고";
    evidence_peak_at = "Peak time" | "최고 시점";
    evidence_end = "End" | "끝";
    evidence_unacked_peak = "Peak unacknowledged" | "미확인 최고";
    evidence_consumers = "Consumers (min / steady / max)" | "컨슈머 (최소 / 안정 / 최대)";
    evidence_prefetch = "Prefetch" | "프리페치 수";
    evidence_statement = "Statement" | "SQL 문";
    evidence_calls = "Calls" | "호출 수";
    evidence_total = "Total time" | "총 시간";
    evidence_mean = "Mean" | "평균";
    evidence_share = "Share of database time" | "DB 시간 비율";
    evidence_blocks_hit = "Buffer hits" | "버퍼 히트";
    evidence_blocks_read = "Blocks read" | "읽은 블록";
    evidence_wait = "Wait event" | "대기 이벤트";
    evidence_sessions_mean = "Mean sessions" | "평균 세션";
    evidence_session_share = "Share" | "비율";
    evidence_task = "Task" | "작업";
    evidence_min = "Min" | "최소";
    evidence_avg = "Mean" | "평균";
    evidence_max = "Max" | "최대";
    evidence_subject = "Component" | "구성 요소";
    evidence_details = "Details" | "내용";
    evidence_metric = "Metric" | "지표";
    evidence_series = "Series" | "계열";
    evidence_step = "Step" | "간격";
    evidence_window(from, to) =
        "Time range of all queries: {from} to {to}."
        | "모든 쿼리의 시간 범위: {from} ~ {to}.";
    evidence_beyond(count) = "Rows not shown: {count}." | "{count}건은 생략했습니다.";
    evidence_lost(count) =
        "Data points and records dropped at the run file's size limit: {count}."
        | "실행 파일 크기 제한으로 버린 데이터 포인트와 레코드: {count}건.";
    evidence_title_profiles = "Profiles" | "프로파일";
    evidence_profile(name, start, duration, total) =
        "{name} from {start}, {duration}, {total} in total. Functions by self time:"
        | "{name} ({start}부터 {duration}, 총 {total}). 자체 시간이 큰 함수:";
    evidence_function = "Function" | "함수";
    evidence_own = "Self" | "자체";
    evidence_profile_share = "Share" | "비율";
    evidence_title_paths = "Task latency from submission to result" | "작업 제출부터 결과까지의 시간";
    evidence_path_mean(operation, traces) =
        "{operation}, mean of {traces} traces:"
        | "{operation}, 트레이스 {traces}개 평균:";
    evidence_path_sum(sum, mean, off) =
        "Segments add up to {sum} of {mean} (difference {off})."
        | "구간의 합은 {sum}, 전체는 {mean} (차이 {off}).";
    evidence_path_measured(count, mean, off) =
        "Client-side mean over all {count} tasks: {mean} (difference {off})."
        | "클라이언트에서 측정한 작업 {count}건의 평균: {mean} (차이 {off}).";
    evidence_path_biased =
        "The traces are not an unbiased sample, so these means do not extend to other tasks."
        | "이 트레이스들은 편향된 표본이므로 다른 작업을 대표하지 않습니다.";
    evidence_segment = "Segment" | "구간";
    evidence_segment_queue(name) = "wait in {name}" | "{name} 대기";
    evidence_segment_between(name) = "until {name}" | "{name} 전까지";
    evidence_segment_submit(name) = "submission of {name}" | "{name} 제출";
    evidence_segment_poll(name) =
        "result ready, until the next poll by {name}"
        | "완료 후 {name}의 다음 조회까지";
    evidence_path_total = "total" | "합계";
    evidence_law_rate = "Rate" | "처리율";
    evidence_law_ready = "Ready, mean" | "평균 ready";
    evidence_law_unacked = "Unacknowledged, mean" | "평균 미확인";
    evidence_law_wait = "Wait from traces" | "트레이스의 대기 시간";
    evidence_law_wait_by_law = "Ready ÷ rate" | "ready ÷ 처리율";
    evidence_law_stay = "Wait and service from traces" | "트레이스의 대기 + 처리 시간";
    evidence_law_stay_by_law = "(Ready + unacknowledged) ÷ rate" | "(ready + 미확인) ÷ 처리율";
    evidence_law_difference = "Difference" | "차이";
    evidence_law_note =
        "Little's law: time = messages ÷ rate. Prefetched messages are unacknowledged but still wait. If the first difference is large and the second is small, messages wait in the consumers' prefetch buffers."
        | "리틀의 법칙: 시간 = 메시지 수 ÷ 처리율. 프리페치된 메시지는 미확인 상태로 계속 대기합니다. 첫 번째 차이가 크고 두 번째 차이가 작으면 메시지가 컨슈머의 프리페치 버퍼에서 대기한 것입니다.";
}
