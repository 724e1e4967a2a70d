//! A run in progress.

crate::page_catalogue! {
    @shared {
        phase_running = evidence_running;
        phase_ended = timeline_ended;
    }
    live_sub(seconds) = "{seconds} s per point, drag to zoom" | "점 하나가 {seconds}초, 끌어서 확대";
    live_connecting = "connecting to the server" | "서버에 연결 중";
    live_open = "live" | "실시간";
    live_lost = "connection lost, retrying" | "연결이 끊겨 다시 시도 중";
    live_polling = "read from its file" | "파일에서 읽는 중";
    live_ended = "The run has ended." | "실행이 끝났습니다.";
    live_waiting(seconds) = "No data received for {seconds} s." | "{seconds}초 동안 받은 데이터가 없습니다.";
    last_data(seconds) = "last data {seconds} s ago" | "마지막 데이터 {seconds}초 전";
    pause_view = "Pause view" | "화면 멈춤";
    go_on_view = "Resume view" | "계속";
    paused = "paused" | "일시 정지";
    stopping = "stopping" | "중지하는 중";
    stop = "Stop" | "중지";
    stop_ask = "Stop this run?" | "실행을 중지할까요?";
    stop_what =
        "Iterations in progress may finish. Teardown and the summary follow, as at the end of a run."
        | "진행 중인 반복은 끝날 수 있고, 실행이 끝날 때처럼 teardown과 요약이 이어집니다.";
    go_on = "Keep running" | "계속 실행";
    reopen_with = "Reopen with:" | "다시 열기:";
    now = "Now" | "현재";
    just_crossed(threshold, value) = "{threshold} is crossed: {value}" | "{threshold} 위반: {value}";
    holds_again(threshold, value) = "{threshold} is met again: {value}" | "{threshold} 다시 만족: {value}";
    pace_saturated(rate, missed) =
        "Saturated at {rate}: {missed} not sent"
        | "{rate}에서 포화: {missed} 미전송";
    pace_losing(rate, missed) = "Nearly on plan: {rate}, {missed} not sent" | "거의 계획대로 진행: {rate}, {missed} 미전송";
    pace_keeping(rate) = "On plan: {rate}, nothing dropped" | "계획대로 진행: {rate}, 누락 없음";
    live_so_far(passed, total) =
        "In progress: {passed} of {total} thresholds met so far"
        | "실행 중: 지금까지 임계값 {total}개 중 {passed}개 충족";
    live_failing(share) = "{share} of requests fail" | "요청의 {share} 실패";
    pace_closed(vus, rate) = "{vus} VUs: {rate} iterations" | "VU {vus}개: 반복 {rate}";
    pace_over(seconds) = "over the last {seconds} s" | "최근 {seconds}초";
    objective_is(name, value, limit) = "{name}: {value}, limit {limit}" | "{name}: {value}, 기준 {limit}";
    last_seen = "Last seen (elapsed time)" | "마지막 발생(경과 시간)";
    newest_lines(count, total) = "newest {count} of {total}" | "최신 {count}줄 / 전체 {total}줄";
    phase_initializing = "initialising VUs" | "VU 초기화 중";
    phase_setup = "setup" | "setup";
    phase_teardown = "teardown" | "teardown";
}
