//! The frame of the page: navigation, theme, access, missing answers, time windows.

crate::page_catalogue! {
    @shared {
        elapsed = timeline_elapsed;
    }
    runs = "Runs" | "실행";
    compare = "Compare" | "비교";
    keys = "Keys" | "단축키";
    close = "Close" | "닫기";
    skip = "Skip to content" | "본문으로 건너뛰기";
    screens = "Screens" | "화면";
    crosshair = "Crosshair" | "십자선";
    table = "Table" | "표";
    chart = "Chart" | "차트";
    share = "Copy link" | "링크 복사";
    copied = "Copied" | "복사됨";
    report = "Report" | "보고서";
    report_print = "Print, or save as PDF" | "인쇄하거나 PDF로 저장";
    mark_doubt = "attention" | "주의";
    report_contents = "Contents" | "목차";
    report_rate = "Requests per second, VUs" | "초당 요청, VU";
    report_latency(metric) = "p95 of {metric}" | "{metric}의 p95";
    report_cpu = "CPU over time" | "시간별 CPU 사용량";
    report_peak(value, time, source) = "Peak: {value} at {time} ({source})." | "최댓값: {value} ({time} 시점, {source}).";
    report_slowest = "Slowest traced request" | "가장 느린 트레이스";
    report_slowest_is(operation, duration, spans) =
        "{operation} took {duration} in {spans} spans:"
        | "{operation}: {duration}, 스팬 {spans}개.";
    report_chart_rate(peak, time) =
        "Peak: {peak} at {time}. The shaded area shows the number of VUs."
        | "최댓값: {peak} ({time} 시점). 음영은 VU 수입니다.";
    report_file = "Exported report" | "내보낸 보고서";
    foot =
        "Times are elapsed times. Hover to see the wall clock and its zone; tooltips show UTC."
        | "시간은 경과 시간입니다. 포인터를 올리면 시간대와 함께 실제 시각이, 도구 설명에는 UTC가 표시됩니다.";
    theme_is(theme) = "Theme: {theme}" | "테마: {theme}";
    theme_system = "System" | "시스템";
    theme_light = "Light" | "밝게";
    theme_dark = "Dark" | "어둡게";
    no_such_page = "Page not found." | "페이지를 찾을 수 없습니다.";
    to_runs = "All runs" | "모든 실행";
    token = "Token" | "토큰";
    token_why =
        "This server requires a token. Open the link that plimsoll printed, or enter the token here."
        | "이 서버에는 토큰이 필요합니다. plimsoll이 출력한 링크를 열거나 토큰을 입력하십시오.";
    token_wrong = "The server rejected this token." | "서버가 이 토큰을 거부했습니다.";
    open = "Open" | "열기";
    no_data = "No data." | "데이터가 없습니다.";
    ask_again = "Retry" | "다시 시도";
    waiting_for(seconds) = "Loading for {seconds} s" | "{seconds}초째 불러오는 중";
    stale =
        "The server no longer responds. The data shown is the last that was received."
        | "서버가 더 이상 응답하지 않습니다. 마지막으로 받은 데이터를 표시합니다.";
    refusal_missing = "Run or time range not found." | "실행 또는 구간을 찾을 수 없습니다.";
    refusal_offline =
        "No response: the process that served this page has ended. Run “plimsoll serve” to open all runs."
        | "응답이 없습니다. 이 페이지를 제공하던 프로세스가 종료되었습니다. “plimsoll serve”로 모든 실행을 열 수 있습니다.";
    refusal_not_in_report =
        "This is not part of an exported report. “plimsoll serve” shows it."
        | "내보낸 보고서에 없는 내용입니다. “plimsoll serve”에서 볼 수 있습니다.";
    refusal_denied =
        "Access denied: the session has expired, or the token is wrong."
        | "접근이 거부되었습니다. 세션이 만료되었거나 토큰이 다릅니다.";
    refusal_failed = "The server returned an error." | "서버가 오류를 반환했습니다.";
    nothing_in_window = "No data was measured in this window." | "이 구간에는 측정값이 없습니다.";
    none_match = "Nothing matches the filter." | "필터에 맞는 항목이 없습니다.";
    whole_run = "Whole run" | "전체 실행";
    window = "Window" | "구간";
    window_is(from, to) = "Part of the run: {from} to {to}." | "일부 구간: {from} ~ {to}.";
    window_numbers =
        "Numbers cover this window. Bottleneck, maximum load, audit and thresholds are those of the whole run."
        | "수치는 이 구간의 값입니다. 병목, 최대 부하, 검산, 임계값은 전체 실행을 기준으로 합니다.";
    window_report =
        "Only the charts are zoomed: the numbers in a report cover the whole run."
        | "차트만 확대되었습니다. 보고서의 수치는 전체 실행의 값입니다.";
    partial = "Incomplete run." | "불완전한 실행.";
    partial_why =
        "The record of this run is incomplete. Statistics end at the last recorded second."
        | "실행 기록이 불완전합니다. 마지막으로 기록된 시점까지 집계했습니다.";
    ended_reopen(command) =
        "The run and its process have ended. To reopen it: {command}"
        | "실행과 그 프로세스가 종료되었습니다. 다시 열려면: {command}";
    readout(time, values) = "at {time}: {values}" | "{time} 시점: {values}";
    step_is(seconds) = "{seconds} s per point" | "점 하나가 {seconds}초";
    chart_hint =
        "Arrow keys move the crosshair, T shows the values as a table."
        | "화살표 키로 십자선을 옮기고 T 키로 값을 표로 봅니다.";
}
