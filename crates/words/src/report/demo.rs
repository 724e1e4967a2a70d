//! The answer of `plimsoll demo`.

crate::catalogue! {
    demo_plan =
        "The demo tests a shop twice: as it is, and with its bottleneck removed. Each test takes 28 s."
        | "데모는 쇼핑몰을 두 번 테스트합니다. 먼저 그대로, 다음에는 병목을 없애고 테스트합니다. 한 번에 28초가 걸립니다.";
    demo_before(connections, hold, capacity) =
        "1. As it is: {connections} database connections, each held for {hold}, allow {capacity} queries/s. 30 visitors come, then 120."
        | "1. 변경 전: 데이터베이스 커넥션 {connections}개를 {hold}씩 사용하므로 초당 쿼리 {capacity}개까지 가능합니다. 방문자 30명, 이어서 120명이 옵니다.";
    demo_after(connections, before) =
        "2. The change: {connections} connections instead of {before}. The same visitors come again."
        | "2. 변경: 커넥션을 {before}개에서 {connections}개로 늘립니다. 같은 방문자가 다시 옵니다.";
    demo_result = "Result" | "결과";
    demo_met(metric, value, condition) =
        "p95 of {metric} {value}: meets {condition}"
        | "{metric} p95 {value}: {condition} 충족";
    demo_violated(metric, value, condition) =
        "p95 of {metric} {value}: violates {condition}"
        | "{metric} p95 {value}: {condition} 위반";
    demo_validity = "Measurement" | "측정";
    demo_answer = "The answer" | "결론";
    demo_limited_by = "Limited by" | "병목";
    demo_changed = "Changed" | "변경";
    demo_connections(before, after) = "{after} connections instead of {before}" | "커넥션 {before}개 → {after}개";
    demo_predicted = "Predicted" | "예측";
    demo_requests(rate) = "{rate} requests/s" | "초당 요청 {rate}개";
    demo_interval(rate, least, most) =
        "{rate} requests/s, between {least} and {most}"
        | "초당 요청 {rate}개({least} ~ {most}개)";
    demo_no_prediction = "no throughput" | "처리량 예측 없음";
    demo_measured = "Measured" | "측정값";
    demo_confirmed(before, after) =
        "{after} requests/s, {before} before: as predicted"
        | "초당 요청 {after}개(변경 전 {before}개): 예측과 일치";
    demo_refuted(before, after) =
        "{after} requests/s, {before} before: not as predicted"
        | "초당 요청 {after}개(변경 전 {before}개): 예측과 다름";
    demo_unpredicted(before, after) =
        "{after} requests/s, {before} before"
        | "초당 요청 {after}개(변경 전 {before}개)";
    demo_faster(metric, before, after) = "p95 of {metric} {after}, {before} before" | "{metric} p95 {after}(변경 전 {before})";
    demo_unknown_load =
        "not measured: both tests end at 120 visitors. Measure it in about two minutes:"
        | "측정하지 않았습니다. 두 테스트 모두 방문자 120명까지만 옵니다. 약 2분 동안 측정하는 명령:";
    demo_load_at_least =
        "120 visitors or more: no test had more. Measure the maximum in about two minutes:"
        | "방문자 120명 이상. 더 많은 방문자로는 테스트하지 않았습니다. 약 2분 동안 최대 부하를 측정하는 명령:";
    demo_everything = "All results" | "전체 결과";
    demo_own = "With your own script:" | "직접 작성한 스크립트로 실행하기:";
    demo_own_run = "run the test" | "테스트 실행";
    demo_own_diagnose = "find the bottleneck and the effect of a fix" | "병목과 변경 효과 찾기";
}
