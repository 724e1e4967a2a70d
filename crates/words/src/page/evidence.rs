//! Server-side evidence: lanes, queues, database, profiles.

crate::page_catalogue! {
    @shared {
        evidence_view_timeline = find_evidence;
        lane_load = capacity_load;
        points = evidence_points;
        refused = evidence_failures;
        health_ok = evidence_ok;
        health_gaps = evidence_gaps;
        health_silent = evidence_no_data;
        queues = evidence_queue_other;
        queue = evidence_queue;
        start_value = evidence_start;
        peak = evidence_peak;
        peak_at = evidence_peak_at;
        end_value = evidence_end;
        unacked_peak = evidence_unacked_peak;
        consumers_of = evidence_consumers;
        prefetch = evidence_prefetch;
        utilisation = capacity_used;
        way_title = evidence_title_paths;
        way_whole = evidence_path_total;
        law_title = bottleneck_method_little;
        law_rate = evidence_law_rate;
        law_ready = evidence_law_ready;
        law_unacked = evidence_law_unacked;
        law_wait = evidence_law_wait;
        law_wait_by_law = evidence_law_wait_by_law;
        law_stay = evidence_law_stay;
        law_stay_by_law = evidence_law_stay_by_law;
        law_off = evidence_law_difference;
        law_note = evidence_law_note;
        tasks = evidence_title_tasks;
        task = evidence_task;
        least = evidence_min;
        most = evidence_max;
        mean_of = evidence_mean;
        own = evidence_own;
        statement = evidence_statement;
        database_share = evidence_share;
        calls = evidence_calls;
        total_time = evidence_total;
        blocks_hit = evidence_blocks_hit;
        blocks_read = evidence_blocks_read;
        wait_event = timeline_event;
        sessions_mean = evidence_sessions_mean;
        share_of = evidence_session_share;
        running_session = evidence_running;
    }
    to_evidence = "Server-side metrics" | "서버 측 지표";
    evidence_view_queues = "Queues and workers" | "큐와 워커";
    evidence_view_database = "Database and cache" | "데이터베이스와 캐시";
    evidence_view_host = "Host and runtime" | "호스트와 런타임";
    evidence_sub(count) =
        "Sources: {count}, aligned with the load; each lane shows its query"
        | "소스 {count}개, 부하와 같은 시간축, 지표마다 쿼리 표시";
    evidence_none =
        "No server-side metrics were collected during this run."
        | "이 실행 중에 수집한 서버 측 지표가 없습니다.";
    evidence_none_here =
        "The sources of this run reported no metrics of this kind."
        | "이 실행의 수집 소스 중 이 종류의 지표를 보고한 것이 없습니다.";
    evidence_how =
        "These lines in plimsoll.toml add a source for the next run. Passwords come from the environment or a file, never from plimsoll.toml."
        | "plimsoll.toml에 다음 줄을 추가하면 다음 실행부터 이 소스를 수집합니다. 비밀번호는 plimsoll.toml이 아니라 환경 변수나 파일에서 읽습니다.";
    evidence_doctor =
        "“plimsoll doctor” checks each source and prints the missing grant, flag or limit. “plimsoll collect RUN” backfills metrics that are still available."
        | "“plimsoll doctor”는 소스마다 부족한 권한, 플래그, 한도를 출력합니다. “plimsoll collect RUN”은 아직 조회할 수 있는 지표를 나중에 수집합니다.";
    evidence_lost(count) =
        "Data points and records dropped at the run file's size limit: {count}."
        | "실행 파일 크기 제한으로 버린 데이터 포인트와 레코드: {count}건.";
    lanes_beyond(count) = "{count} lanes are not shown." | "지표 {count}개는 생략했습니다.";
    rows_beyond(count) = "{count} table rows are not shown." | "표의 {count}행은 생략했습니다.";
    series_beyond(count) =
        "{count} series with lower peaks are not shown"
        | "최고값이 더 낮은 계열 {count}개는 생략";
    by_generator = "generator, exact" | "부하 생성기, 정확한 값";
    every(interval) = "every {interval}" | "{interval} 간격";
    when_it_happens = "on each event" | "이벤트마다";
    added_up = "summed" | "합산";
    gap_is(from, to, reason) = "no data from {from} to {to}: {reason}" | "{from} ~ {to} 측정값 없음: {reason}";
    query = "Query" | "쿼리";
    copy_query = "Copy query" | "쿼리 복사";
    at_peak = "at their peaks" | "최고값";
    at_second(time) = "at {time}" | "{time} 시점";
    story = "Timeline of server-side events" | "서버 측 이벤트 타임라인";
    story_sub = "derived from the lanes" | "위 지표에서 추출";
    story_none = "No notable events in this window." | "이 구간에는 눈에 띄는 이벤트가 없습니다.";
    sources = "Sources" | "소스";
    sources_sub = "sources queried, and missing data" | "수집 소스와 누락된 데이터";
    queues_sub =
        "ready messages; unacknowledged ones are counted separately"
        | "대기(ready) 메시지 기준, 미확인(unacked) 메시지는 별도";
    way_sub(operation, traces) =
        "{operation}, mean of {traces} traces"
        | "{operation}, 트레이스 {traces}개 평균";
    way_sum(sum, mean, off) =
        "Segments add up to {sum} of {mean} (difference {off})."
        | "구간의 합은 {sum}, 전체는 {mean} (차이 {off}).";
    way_measured(count, mean, off) =
        "Client-side mean over all {count} tasks: {mean} (difference {off})."
        | "클라이언트에서 측정한 작업 {count}건의 평균: {mean} (차이 {off}).";
    of_whole_run = "whole run, regardless of the window" | "구간과 관계없이 전체 실행의 값";
    profile = "Profile" | "프로파일";
    profile_sub(source, subject, start, duration, total) =
        "{source} {subject} from {start}, {duration}, {total} in total"
        | "{source} {subject} ({start}부터 {duration}, 총 {total})";
    profile_is(subject, duration) =
        "Flame graph of {subject} over {duration}; functions by self time are in the table below"
        | "플레임 그래프: {subject} ({duration} 동안). 자체 시간이 큰 함수는 아래 표에 있습니다";
    flame_how =
        "Callers are above their callees; width is the share of the total. Click a frame to zoom in."
        | "호출한 함수가 위에 있고, 너비는 전체에서 차지하는 비율입니다. 프레임을 누르면 확대됩니다.";
    frames_left_out(count) =
        "{count} narrower frames are not shown."
        | "더 좁은 프레임 {count}개는 생략했습니다.";
    functions = "Functions by self time" | "자체 시간이 큰 함수";
    statements = "Statements" | "SQL 문";
    statements_sub = "difference between the start and the end of the run" | "실행 시작과 끝의 차이";
    waits = "Sessions by wait event" | "대기 이벤트별 세션";
    waits_sub = "mean number of active sessions over all samples" | "조회 시점별 활성 세션 수의 평균";
    wait_kind = "Kind" | "종류";
    warnings = "Warnings" | "경고";
    warnings_sub = "warnings from metrics sources" | "수집 소스의 경고";
    configuration = "Configuration" | "설정";
    key_query = "show the query of a lane, copy that of a finding" | "지표의 쿼리 보기, 진단 결과의 쿼리 복사";
}
