//! Comparisons of runs.

crate::catalogue! {
    comparison_comparable = "Comparability" | "비교 가능성";
    comparison_no_obstacle = "No obstacle found." | "비교를 막는 문제가 없습니다.";
    comparison_no_run(side) = "side {side} has no run" | "{side} 쪽에 실행이 없습니다";
    comparison_unequal_rate(a, b) =
        "planned rates differ: {a}/s and {b}/s. Latency and throughput are not compared at unequal load; to override, use --despite-unequal-load"
        | "계획한 부하가 다릅니다: {a}/s, {b}/s. 부하가 다르면 지연 시간과 처리량을 비교하지 않습니다 (강제하려면 --despite-unequal-load)";
    comparison_unequal_vus(a, b) =
        "VU counts differ: {a} and {b}. Latency and throughput are not compared at unequal load; to override, use --despite-unequal-load"
        | "VU 수가 다릅니다: {a}, {b}. 부하가 다르면 지연 시간과 처리량을 비교하지 않습니다 (강제하려면 --despite-unequal-load)";
    comparison_unequal_plan =
        "the planned load follows another course over time. Latency and throughput are not compared at unequal load; to override, use --despite-unequal-load"
        | "계획한 부하의 시간에 따른 변화가 다릅니다. 부하가 다르면 지연 시간과 처리량을 비교하지 않습니다 (강제하려면 --despite-unequal-load)";
    comparison_open_and_closed =
        "one side is an open workload, the other a closed one. Latency is not compared; to override, use --despite-unequal-load"
        | "한쪽은 열린 부하, 다른 쪽은 닫힌 부하입니다. 지연 시간을 비교하지 않습니다 (강제하려면 --despite-unequal-load)";
    comparison_run_validity(run, side, validity) =
        "run {run} ({side}): validity {validity}"
        | "실행 {run} ({side}): 유효성 {validity}";
    comparison_affected(run, reasons, figures) =
        "{run} ({reasons}); {figures} may be affected"
        | "{run} ({reasons}), {figures}에 영향이 있을 수 있습니다";
    comparison_affected_times = "latencies" | "지연 시간";
    comparison_affected_rates = "rates" | "처리량";
    comparison_affected_both = "latencies and rates" | "지연 시간과 처리량";
    comparison_valid = "valid" | "유효";
    comparison_not_checked = "not checked" | "확인 안 됨";
    comparison_degraded = "degraded" | "주의";
    comparison_invalid = "invalid" | "무효";
    comparison_no_steady(run, side, reason) =
        "run {run} ({side}) has no steady state: {reason}. To compare the whole run, use --despite-no-steady-part"
        | "실행 {run} ({side})에 안정 구간이 없습니다: {reason} (전체를 비교하려면 --despite-no-steady-part)";
    comparison_too_short(seconds, needed) =
        "{seconds} s is too short; at least {needed} s needed"
        | "{seconds}초는 너무 짧습니다 (최소 {needed}초)";
    comparison_warming_up =
        "the level was still changing halfway through"
        | "중간까지도 수준이 계속 변했습니다";
    comparison_level_shift(second, before, after) =
        "the level changed at {second} s from {before} to {after}"
        | "{second}초에 수준이 바뀌었습니다: {before} → {after}";
    comparison_scripts(a, b) = "scripts differ: {a} and {b}" | "스크립트가 다릅니다: {a}, {b}";
    comparison_durations(a, b) = "planned durations differ: {a} and {b}" | "계획한 시간이 다릅니다: {a}, {b}";
    comparison_load_unknown =
        "the load of at least one side is unknown, so equal load cannot be verified"
        | "한쪽 이상의 부하를 알 수 없어 같은 부하인지 확인할 수 없습니다";
    comparison_closed_loop =
        "both workloads are closed: VUs wait for the target, so throughput and latency are not independent results"
        | "양쪽 모두 닫힌 부하입니다. VU가 대상의 응답을 기다리므로 처리량과 지연 시간은 독립된 결과가 아닙니다";
    comparison_versions(a, b) = "target versions: {a} and {b}" | "대상 버전: {a}, {b}";
    comparison_hosts(a, b) =
        "hosts differ: endpoints of {a} are compared with those of {b} by method and path"
        | "호스트가 다릅니다: {a}와(과) {b}의 엔드포인트를 메서드와 경로로 맞춰 비교합니다";
    comparison_only_on(series, side) = "{series} is on side {side} only" | "{series}: {side} 쪽에만 있습니다";
    comparison_steady = "Steady state" | "안정 구간";
    comparison_steady_seconds(start, end, total) =
        "seconds {start} to {end} of {total}"
        | "{start}초 ~ {end}초 (전체 {total}초)";
    comparison_steady_none(reason) = "none: {reason}" | "없음: {reason}";
    comparison_paired = "Same seconds of the same plan" | "같은 계획의 같은 시점끼리 비교";
    comparison_seconds = "Compared seconds" | "비교한 구간";
    comparison_before = "before" | "이전";
    comparison_after = "after" | "이후";
    comparison_figures = "Results" | "결과";
    comparison_series = "Series" | "계열";
    comparison_figure = "Statistic" | "통계량";
    comparison_change = "After / before" | "변화 (이후/이전)";
    comparison_verdict = "Verdict" | "판정";
    comparison_whole_run = "whole run" | "전체 실행";
    comparison_mean = "mean" | "평균";
    comparison_errors = "error rate" | "오류율";
    comparison_goodput = "successful responses" | "정상 응답";
    comparison_throughput = "iterations" | "반복";
    comparison_improved = "improved" | "개선";
    comparison_regressed = "regressed" | "악화";
    comparison_equivalent = "equivalent" | "동등";
    comparison_equivalent_ms(margin) =
        "equivalent (differs by less than {margin})"
        | "동등 (차이 {margin} 미만)";
    comparison_by_ranks(verdict) = "{verdict} (values do not overlap)" | "{verdict} (값이 겹치지 않음)";
    comparison_inconclusive(remedy) = "inconclusive ({remedy})" | "판단 불가 ({remedy})";
    comparison_more_minutes(minutes) =
        "needs about {minutes} more min per side"
        | "양쪽 각각 약 {minutes}분 더 필요";
    comparison_more_runs(runs) = "needs about {runs} more runs per side" | "양쪽 각각 약 {runs}회 더 필요";
    comparison_more_none = "more data would not resolve this" | "더 측정해도 결론이 나지 않음";
    comparison_not_available(reason) = "not available ({reason})" | "판정 없음 ({reason})";
    comparison_why_unsteady = "no steady state" | "안정 구간 없음";
    comparison_why_short(needed) = "shorter than {needed} s" | "{needed}초보다 짧음";
    comparison_why_load = "unequal load" | "부하가 다름";
    comparison_why_support(have, needed) =
        "{have} independent samples, {needed} needed"
        | "독립 표본 {have}개, {needed}개 필요";
    comparison_why_censored = "falls among failed requests" | "실패한 요청 구간에 있음";
    comparison_margin = "the margin in milliseconds" | "밀리초 한계";
    comparison_why_below(margin) = "below {margin}: not judged" | "{margin} 미만: 판정하지 않음";
    comparison_why_none = "no data" | "측정값 없음";
    comparison_closing(regressed, improved, equivalent, inconclusive, unavailable) =
        "Regressed {regressed}, improved {improved}, equivalent {equivalent}, inconclusive {inconclusive}, not available {unavailable}."
        | "악화 {regressed}, 개선 {improved}, 동등 {equivalent}, 판단 불가 {inconclusive}, 판정 없음 {unavailable}.";
    comparison_worst(series, before, after) =
        "Largest regression: {series}, {before} → {after}."
        | "가장 큰 악화: {series}, {before} → {after}.";
    comparison_times(ratio, figure) = "{ratio}× {figure}" | "{figure} {ratio}배";
    comparison_higher(percent, figure) = "{percent} % higher {figure}" | "{figure} {percent} % 증가";
    comparison_lower(percent, figure) = "{percent} % lower {figure}" | "{figure} {percent} % 감소";
    comparison_points(figure, before, after) = "{figure} {before} → {after}" | "{figure} {before}에서 {after}";
    comparison_at(change, series) = "{change} at {series}" | "{series}의 {change}";
    comparison_at_others(change, count) = "{change} and {count} more" | "{change} 외 {count}개";
    comparison_both(first, second) = "{first} and {second}" | "{first} 및 {second}";
    comparison_answer_throughput = "throughput" | "처리량";
    comparison_answer_improved(changes) = "{changes}; nothing regressed." | "{changes}. 악화된 항목은 없습니다.";
    comparison_answer_regressed(changes) = "Regressed: {changes}; nothing improved." | "악화: {changes}. 개선된 항목은 없습니다.";
    comparison_answer_mixed(worse, better) = "Regressed: {worse}. Improved: {better}." | "악화: {worse}. 개선: {better}.";
    comparison_answer_equivalent(margin) =
        "No change: every judged figure is equivalent within {margin} %."
        | "변화 없음: 판정한 모든 값이 {margin} % 이내로 동등합니다.";
    comparison_answer_open(count) =
        "No statistically significant change. Figures that need more data: {count}."
        | "통계적으로 유의한 변화가 없습니다. 데이터가 더 필요한 값: {count}개.";
    comparison_answer_incomparable(reason) = "Not comparable: {reason}." | "비교 불가: {reason}.";
    comparison_answer_apart =
        "Nothing to compare: the sides have no endpoint in common."
        | "비교할 것이 없습니다: 양쪽에 공통된 엔드포인트가 없습니다.";
    comparison_answer_failed =
        "Nothing to compare: every request failed on both sides."
        | "비교할 것이 없습니다: 양쪽의 모든 요청이 실패했습니다.";
    comparison_answer_unjudged(reason) = "Nothing could be judged: {reason}." | "판정할 수 있는 값이 없습니다: {reason}.";
    comparison_within_run(runs) =
        "Within-run only: with fewer than {runs} runs per side, run-to-run variance is unknown. Confidence intervals apply to these runs alone."
        | "실행 내부 비교: 한쪽이 {runs}회 미만이라 실행 간 편차를 알 수 없습니다. 신뢰 구간은 이 실행들에만 해당합니다.";
    comparison_rows_hidden(count) =
        "Rows not shown: {count}. To list all rows, use --format json."
        | "{count}개 행은 생략했습니다. 전체는 --format json에서 볼 수 있습니다.";
    comparison_endpoints_hidden(count) =
        "Endpoints not compared, because they have the fewest requests: {count}."
        | "요청이 가장 적은 엔드포인트 {count}개는 비교하지 않았습니다.";
    comparison_legend(confidence, margin, margin_ms) =
        "Intervals: {confidence} % CI. Equivalence margin: ±{margin} % or {margin_ms}, whichever is larger. q: p-value adjusted for false discovery rate. Failed and timed-out requests rank above every success."
        | "구간: {confidence} % 신뢰 구간. 동등성 한계: ±{margin} %, {margin_ms} 중 큰 값. q: 거짓 발견율(FDR)로 보정한 p-값. 실패와 시간 초과는 모든 성공보다 느린 것으로 간주합니다.";
    comparison_evidence = "Evidence" | "증거";
    comparison_evidence_note =
        "means of whole runs, without a verdict"
        | "실행 전체의 평균이며 판정은 하지 않습니다";
    comparison_request = "request" | "요청";
    comparison_task = "task" | "작업";
    comparison_fact_cpu(work) = "CPU time per {work}" | "{work}당 CPU 시간";
    comparison_fact_queries(work) = "queries per {work}" | "{work}당 쿼리";
    comparison_fact_traced_queries(work) = "database calls per {work}, by traces" | "{work}당 DB 호출 (트레이스)";
    comparison_fact_spans(work) = "spans per {work}" | "{work}당 스팬";
    comparison_fact_pool = "connections in use" | "사용 중인 커넥션";
    comparison_fact_wait(work) = "connection wait per {work}, sampled" | "{work}당 커넥션 대기 시간 (표본)";
    comparison_of_limit(value, limit) = "{value} of {limit}" | "{value} / {limit}";
    comparison_only_in(side) = "only in {side}" | "{side}에만 있음";
    comparison_evidence_hidden(count) =
        "Services, databases and pools not shown: {count}."
        | "표시하지 않은 서비스, 데이터베이스, 커넥션 풀: {count}개.";
    comparison_baseline = "baseline" | "기준선";
    comparison_run_answer(side, run, answer) = "{side} ({run}): {answer}" | "{side} ({run}): {answer}";
    comparison_counts(side, counts) = "{side}: {counts}" | "{side}: {counts}";
    comparison_marks =
        "✓ improved, ✗ regressed, = equivalent, ~ inconclusive, – not judged; changes are from A."
        | "✓ 개선, ✗ 악화, = 동등, ~ 판단 불가, – 판정 없음. 변화는 A를 기준으로 합니다.";
    comparison_many_adjusted(count) =
        "Verdicts hold over all {count} comparisons together."
        | "판정은 비교 {count}개 전체에 대해 보정했습니다.";
    comparison_baseline_parts(sides) =
        "The figures of A are those compared with the first run that shares them; {sides} are compared with other seconds of A."
        | "A의 값은 같은 항목이 있는 첫 번째 실행과 비교한 구간의 값입니다. {sides}는 A의 다른 구간과 비교했습니다.";
    comparison_levels = "Server CPU" | "서버 CPU";
    comparison_levels_none =
        "no source reported server CPU in all of these runs; add one with --evidence"
        | "모든 실행에서 서버 CPU를 수집한 소스가 없습니다. --evidence로 추가하십시오";
}
