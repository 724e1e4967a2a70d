//! Histories of runs, and repeated runs.

crate::catalogue! {
    history_no_change = "No statistically significant change." | "통계적으로 유의한 변화가 없습니다.";
    history_too_few(runs) =
        "Change detection needs at least {runs} runs."
        | "변화를 감지하려면 실행이 {runs}회 이상 필요합니다.";
    history_since(series, direction, run, before, after, p_value) =
        "{series} {direction} since run {run}: {before} → {after} (p = {p_value})"
        | "{series} {direction}: 실행 {run}부터 {before} → {after} (p = {p_value})";
    history_left_out(runs) =
        "Older runs not shown: {runs}; raise --limit to see more."
        | "더 오래된 실행 {runs}개는 표시하지 않았습니다. --limit을 늘리십시오.";
    history_requests = "requests/s" | "초당 요청";
    repeats_line(number, total, side, facts, run) =
        "run {number} of {total}{side}: {facts}  {run}"
        | "실행 {number}/{total}{side}: {facts}  {run}";
    repeats_title(runs) = "Variance over {runs} runs" | "반복 실행 {runs}회의 편차";
    repeats_range = "min … max" | "최소 … 최대";
    repeats_deviation = "std dev" | "표준편차";
    repeats_interval = "95 % CI of the mean" | "평균의 95 % 신뢰 구간";
    repeats_detectable = "detectable" | "감지 가능";
    repeats_none =
        "at least two runs with the same metrics are needed to estimate variance"
        | "편차를 추정하려면 같은 지표가 있는 실행이 2회 이상 필요합니다";
    repeats_legend(runs) =
        "Std dev: relative to the mean, in %. Detectable: smallest change found with 80 % power at {runs} runs per side."
        | "표준편차: 평균 대비 %. 감지 가능: 양쪽 {runs}회씩 실행할 때 검정력 80 %로 찾을 수 있는 가장 작은 변화.";
}
