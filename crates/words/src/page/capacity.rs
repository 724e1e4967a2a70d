//! Capacity studies: maximum load, steps, knees, service demand.

crate::page_catalogue! {
    @shared {
        maximum_load_title = capacity_name;
        knee = capacity_knee;
        objective = capacity_slo;
        step_load = capacity_load;
        purpose_asked = capacity_step;
        purpose_ramp = capacity_ramp;
        purpose_narrow = capacity_bisect;
        purpose_hold = capacity_hold;
        purpose_above = capacity_above;
        purpose_descent = capacity_descent;
        throughput = capacity_throughput;
        gain = capacity_gain;
        remark_head = capacity_remark;
        knee_power = capacity_column_power;
        resource = capacity_resource;
        ceiling = capacity_ceiling;
        used_share = capacity_used;
        weaker = capacity_column_missing;
    }
    screen_capacity = "Capacity" | "용량";
    capacity_confirmed = "CONFIRMED" | "확인됨";
    capacity_found = "FOUND, NOT CONFIRMED" | "찾음, 미확인";
    capacity_broke = "NOT SUSTAINED" | "유지 실패";
    capacity_above_all = "ABOVE ALL STEPS" | "모든 단계보다 높음";
    capacity_below_all = "BELOW ALL STEPS" | "모든 단계보다 낮음";
    capacity_unknown = "UNKNOWN" | "알 수 없음";
    capacity_none =
        "This run is not part of a capacity study, so the maximum load is unknown."
        | "이 실행은 용량 측정의 단계가 아니어서 부하 한계를 알 수 없습니다.";
    capacity_how =
        "This command finds the maximum load that meets your SLOs, with a confidence interval:"
        | "다음 명령은 SLO를 만족하는 부하 한계와 신뢰 구간을 찾습니다:";
    capacity_next = "Next measurement" | "다음 측정";
    capacity_next_sub = "a command that measures what is still unknown" | "아직 모르는 값을 측정하는 명령";
    study_of(kind, script, steps, time) =
        "{kind} of {script}, {steps} steps, {time} of load"
        | "{kind} · {script}, {steps}단계, 부하 시간 {time}";
    study_sweep = "sweep" | "스윕";
    study_capacity = "search" | "탐색";
    study_table = "table" | "표";
    variant = "Variant" | "구성";
    maximum_load = "maximum load" | "부하 한계";
    maximum_load_is(load) = "maximum load {load}" | "부하 한계 {load}";
    maximum_load_alone(load, interval, objective) =
        "Maximum load {load} ({interval}) for {objective} alone."
        | "{objective} 하나만 보면 부하 한계는 {load}({interval})입니다.";
    maximum_load_alone_above(objective) =
        "Every step meets {objective}." | "모든 단계가 {objective}를 만족합니다.";
    maximum_load_alone_below(objective) =
        "No step meets {objective}." | "{objective}를 만족하는 단계가 없습니다.";
    maximum_load_alone_none(objective) =
        "The steps show no maximum load for {objective} alone."
        | "{objective} 하나만 보면 단계들에서 부하 한계가 드러나지 않습니다.";
    maximum_load_of_all(sentence) = "With every SLO: {sentence}" | "모든 SLO 기준: {sentence}";
    recommended_is(load) = "safe load {load}" | "안전 부하 {load}";
    knee_is(range) = "knee {range}" | "변곡점 {range}";
    hull_label(load, interval, recommended) =
        "Maximum load {load}, interval {interval}; safe load {recommended}"
        | "부하 한계 {load}, 구간 {interval}, 안전 부하 {recommended}";
    throughput_load = "Throughput against offered load" | "부하 대비 처리량";
    per_second_work = "work per second" | "초당 처리 건수";
    offered_load_vus = "offered load, VUs" | "부하, VU";
    offered_load_per_second = "offered load, iterations/s" | "부하, 초당 반복";
    no_waiting = "no queueing" | "큐 대기 없음";
    ceiling_is(rate) = "ceiling {rate}" | "상한 {rate}";
    time_throughput = "Latency against throughput" | "처리량 대비 지연";
    time_throughput_sub(metric) = "{metric}, one dot per step" | "{metric}, 단계마다 점 하나";
    throughput_axis = "throughput, per second" | "처리량, 초당";
    steps = "Steps" | "단계";
    steps_sub = "SLOs are checked before the state is classified" | "SLO를 먼저 검사한 뒤 상태를 분류합니다";
    step_purpose = "Purpose" | "목적";
    power = "Power X/R" | "파워 X/R";
    against_slo = "Against the limit" | "기준 대비";
    inside_slo = "met" | "만족";
    over_slo = "exceeded" | "초과";
    likely = "likely" | "추정";
    state = "State" | "상태";
    not_counted = "excluded" | "판단 제외";
    knees_title = "Knee by method" | "방법별 변곡점";
    method = "Method" | "방법";
    chosen_one = "used" | "사용";
    knee_asymptotic_bounds = "asymptotic bounds" | "점근 한계";
    knee_kneedle = "Kneedle" | "Kneedle";
    knee_two_segments = "two segments" | "두 직선";
    knee_usl = "USL" | "USL";
    demands_title = "Service demand by resource" | "자원별 서비스 수요";
    demands_sub = "usage = demand × throughput + idle usage" | "사용량 = 수요 × 처리량 + 유휴 사용량";
    demands_none =
        "No server metrics were collected, so the limiting resource is unknown."
        | "서버 지표가 수집되지 않아 한계 자원을 알 수 없습니다.";
    per_work = "Per request" | "요청당";
    to_capacity = "All steps →" | "모든 단계 →";
    key_slo = "change the SLO of a sweep" | "스윕의 SLO 바꾸기";
    key_enter = "open the run of a step" | "단계의 실행 열기";
}
