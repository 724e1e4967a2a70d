//! Words of several screens, and the names of the screens.

crate::page_catalogue! {
    @shared {
        script = script;
        thresholds = thresholds;
        verdict = comparison_verdict;
        failed = failed;
        requests = requests;
        iterations = iterations;
        metric = metric;
        figure = audit_figure;
        count = count;
        mean = comparison_mean;
        message = message;
        duration = duration;
        condition = condition;
        observed = observed;
        margin = margin;
        precision = precision;
        precision_exact = exact;
        precision_histogram = approximate;
        activity = bottleneck_activity;
        segment = evidence_segment;
        component = bottleneck_component;
        at = at;
        screen_requests = requests;
        screen_evidence = find_evidence;
        screen_errors = errors;
    }
    status = "Status" | "상태";
    run = "Run" | "실행";
    tag = "Tag" | "태그";
    target = "Target" | "대상";
    started = "Started" | "시작";
    validity = "Validity" | "유효성";
    any = "any" | "전체";
    none = "none" | "없음";
    of_n(total) = "of {total}" | "/ {total}";
    limit = "limit" | "한도";
    filter = "Filter" | "필터";
    metrics = "Metrics" | "지표";
    kind = "Kind" | "종류";
    error = "Error" | "오류";
    request = "Request" | "요청";
    result = "Result" | "결과";
    margin_is(margin) = "margin {margin}" | "여유 {margin}";
    values = "Values" | "값";
    over_time = "Over time" | "시간에 따른 변화";
    over_time_of(series) = "{series} over time" | "{series}의 시간에 따른 변화";
    why = "Why?" | "이유";
    reason = "Reason" | "이유";
    stage = "Stage" | "단계";
    samples = "Samples" | "표본";
    show_all(count) = "Show all {count}" | "{count}개 모두 보기";
    and_more(count) = "and {count} more" | "외 {count}개";
    left_out(count) =
        "{count} endpoints with the fewest requests are not listed."
        | "요청이 가장 적은 엔드포인트 {count}개는 표시하지 않습니다.";
    root = "(no group)" | "(그룹 없음)";
    all_requests = "all requests" | "모든 요청";
    no_response = "no response" | "응답 없음";
    screen_live = "Live" | "실시간";
    screen_summary = "Summary" | "요약";
    screen_distribution = "Distribution" | "분포";
    screen_logs = "Logs" | "로그";
    screen_validity = "Validity" | "유효성";
    screen_audit = "Audit" | "검산";
    screen_fleet = "Fleet" | "에이전트";
}
