//! Keyboard shortcuts.

crate::page_catalogue! {
    key_help = "this list" | "이 목록";
    key_filter = "go to the filter" | "필터로 이동";
    key_tabs = "previous screen, next screen" | "이전 화면, 다음 화면";
    key_whole = "back to the whole run" | "전체 실행으로";
    key_crosshair = "move the crosshair of a chart (Shift: by ten)" | "차트 십자선 이동 (Shift: 10칸)";
    key_ends = "first and last point" | "처음과 마지막 점";
    key_table = "chart as a table" | "차트를 표로";
    key_pause = "pause the live view" | "실시간 화면 멈춤";
    key_stop = "stop the run (asks first)" | "실행 중지 (먼저 확인)";
    key_rows = "rows of the request tree, fold and unfold" | "요청 트리의 행 이동, 접고 펴기";
    key_trace_rows = "spans of a trace, fold and unfold" | "트레이스의 스팬 이동, 접고 펴기";
    key_trace_scale = "waits drawn to scale or shorter" | "대기를 실제 척도 또는 줄여서";
    key_trace_path = "only the critical path of a trace" | "트레이스의 임계 경로만";
    key_close = "close the open dialog" | "열린 창 닫기";
}
