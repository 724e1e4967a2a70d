//! Capacity studies: maximum load, knees, steps, service demand.

crate::catalogue! {
    capacity_title = "Trend over load" | "부하에 따른 추이";
    capacity_name = "Maximum load" | "부하 한계";
    capacity_load = "Load" | "부하";
    capacity_throughput = "Throughput" | "처리량";
    capacity_gain = "Gain" | "증가율";
    capacity_slo = "SLO" | "SLO";
    capacity_remark = "Remark" | "비고";
    capacity_resource = "Resource" | "자원";
    capacity_demand = "Service demand" | "서비스 수요";
    capacity_used = "Utilisation" | "사용률";
    capacity_ceiling = "Maximum throughput" | "최대 처리량";
    requests_rate = "Requests/s" | "초당 요청";
    capacity_vu = "1 VU" | "VU 1개";
    capacity_vus(count) = "{count} VUs" | "VU {count}개";
    capacity_line(load, interval, objective) =
        "Maximum load: {load} (confidence interval {interval}), limited by the SLO {objective}."
        | "부하 한계: {load} (신뢰 구간 {interval}). 제한하는 SLO: {objective}.";
    capacity_line_between(load, lower, upper, objective) =
        "Maximum load: {load} (between the steps at {lower} and {upper}), limited by the SLO {objective}."
        | "부하 한계: {load} ({lower} 단계와 {upper} 단계 사이). 제한하는 SLO: {objective}.";
    capacity_above_all(load) =
        "Every step meets the SLOs: maximum load is above {load}."
        | "모든 단계가 SLO를 만족합니다. 부하 한계는 {load} 이상입니다.";
    capacity_above_highest(load) =
        "The highest step meets the SLOs, although a lower one violated them: maximum load is above {load}."
        | "더 낮은 단계는 SLO를 위반했지만 가장 높은 단계는 만족합니다. 부하 한계는 {load} 이상입니다.";
    capacity_below_lowest(objective, load) =
        "{load} violates the SLO {objective}, although a higher step meets it: maximum load is below {load}."
        | "더 높은 단계는 만족하지만 {load} 부하가 SLO {objective} 조건을 위반합니다. 부하 한계는 {load} 미만입니다.";
    capacity_below_all(objective, load) =
        "No step meets the SLO {objective}: maximum load is below {load}."
        | "SLO {objective} 조건을 만족하는 단계가 없습니다. 부하 한계는 {load} 미만입니다.";
    capacity_no_line = "Maximum load could not be determined." | "부하 한계를 결정할 수 없습니다.";
    capacity_no_valid =
        "No step has a measurement that counts, so the maximum load is unknown."
        | "유효한 측정이 있는 단계가 없어 부하 한계를 알 수 없습니다.";
    capacity_no_slo =
        "No SLOs are defined, so there is no maximum load to report."
        | "정의된 SLO가 없어 부하 한계가 없습니다.";
    capacity_held(duration, load, above, recovered) =
        "Confirmed by {duration} at {load}{above}{recovered}."
        | "{load} 부하를 {duration} 동안 유지해 확인했습니다{above}{recovered}.";
    capacity_above_broke = "; a higher load violated an SLO" | "; 더 높은 부하는 SLO를 위반했습니다";
    capacity_above_held = "; a higher load also met the SLOs" | "; 더 높은 부하도 SLO를 만족했습니다";
    capacity_recovered = "; the target recovered when the load went down" | "; 부하를 낮추자 회복했습니다";
    capacity_not_recovered =
        "; after it, so did this load: the target recovers late, or the load is at its limit"
        | "; 그 뒤에는 이 부하도 위반했습니다(회복이 늦거나 한계에 가까운 부하)";
    capacity_broke(load) =
        "Not confirmed: {load} violated an SLO during the longer hold."
        | "확인되지 않았습니다. {load} 부하를 더 오래 유지하자 SLO를 위반했습니다.";
    capacity_plan(load, detail, factor, basis) =
        "Safe load: {load}{detail} ({factor} × {basis})."
        | "안전 부하: {load}{detail} ({factor} × {basis}).";
    capacity_lower_bound = "the lower confidence bound" | "신뢰 구간 하한";
    capacity_highest_step = "the highest step, which meets the SLOs" | "SLO를 만족한 가장 높은 단계";
    capacity_busy(count) = ", which keeps up to {count} busy" | ", 동시 사용 최대 {count}";
    capacity_point_estimate =
        "the point estimate, whose confidence interval is unknown"
        | "점 추정값(신뢰 구간 없음)";
    capacity_limited_by(resource, rate) =
        "Limiting resource: {resource}, exhausted at {rate}."
        | "제한하는 자원: {resource}, 처리량 {rate}에서 소진됩니다.";
    capacity_flat(load, least, most) =
        "Throughput is flat from {load} on, at {least} to {most}."
        | "처리량이 {load}부터 정체됩니다: {least} ~ {most}.";
    capacity_rises(rate) =
        "Throughput still rises at the highest step, to {rate}."
        | "처리량은 가장 높은 단계에서도 {rate}까지 계속 증가합니다.";
    capacity_grows(first, last, time_before, time_after, rate_before, rate_after) =
        "From {first} to {last}, response time goes from {time_before} to {time_after} and throughput from {rate_before} to {rate_after}."
        | "부하 {first} → {last}: 응답 시간 {time_before} → {time_after}, 처리량 {rate_before} → {rate_after}.";
    capacity_knee_range(found, all, least, most) =
        "{found} of {all} methods find a knee, between {least} and {most}."
        | "{all}개 방법 중 {found}개가 {least} ~ {most} 사이에서 변곡점을 찾았습니다.";
    capacity_knee_at(found, all, load) =
        "{found} of {all} methods find a knee, at {load}."
        | "{all}개 방법 중 {found}개가 {load}에서 변곡점을 찾았습니다.";
    capacity_no_knee = "No method finds a knee." | "변곡점을 찾은 방법이 없습니다.";
    capacity_baseline = "baseline" | "기준선";
    capacity_normal = "normal" | "정상";
    capacity_knee = "knee" | "변곡점";
    capacity_past_knee = "past the knee" | "변곡점 초과";
    capacity_saturated = "saturated" | "포화";
    capacity_slo_exceeded = "SLO exceeded" | "SLO 초과";
    capacity_collapse = "collapse" | "붕괴";
    capacity_unknown = "unknown" | "알 수 없음";
    capacity_step = "requested" | "지정";
    capacity_ramp = "ramp" | "탐색";
    capacity_bisect = "bisect" | "이분 탐색";
    capacity_hold = "hold" | "유지";
    capacity_above = "above limit" | "한계 초과";
    capacity_descent = "descent" | "하강";
    capacity_column_load = "load" | "부하";
    capacity_column_purpose = "purpose" | "목적";
    capacity_column_throughput = "throughput" | "처리량";
    capacity_column_time = "response time" | "응답 시간";
    capacity_column_power = "power" | "파워";
    capacity_column_verdict = "verdict" | "판정";
    capacity_column_levels = "Load steps" | "부하 단계";
    capacity_column_demands = "Service demand" | "서비스 수요";
    capacity_column_resource = "resource" | "자원";
    capacity_column_demand = "per request" | "요청당";
    capacity_column_idle = "idle" | "유휴";
    capacity_column_limit = "limit" | "한도";
    capacity_column_ceiling = "exhausted at" | "소진 처리량";
    capacity_unsure_rows =
        "✓? and ✗? may be chance: the step is near the limit, short, or DEGRADED"
        | "✓?, ✗? 우연일 수 있습니다. 한계에 가깝거나 측정이 짧거나 DEGRADED인 단계입니다";
    capacity_unknown_rows =
        "? not measured, or the measurement does not count"
        | "? 측정되지 않았거나 측정이 유효하지 않습니다";
    capacity_column_missing = "Limitations" | "제한 사항";
    capacity_time_left(time) = "about {time} left" | "약 {time} 남음";
    capacity_missing_objectives =
        "No SLOs are defined; add them with --slo."
        | "정의된 SLO가 없습니다. --slo로 지정하십시오.";
    capacity_missing_levels(have, needed) =
        "Loads with a measurement that counts: {have}; at least {needed} are needed."
        | "유효하게 측정한 부하가 {have}개입니다. 최소 {needed}개가 필요합니다.";
    capacity_missing_load_above =
        "No step violates the SLOs above the highest that meets them; add a higher load to bound the maximum."
        | "SLO를 만족한 가장 높은 단계 위에 위반한 단계가 없습니다. 더 높은 부하를 추가하십시오.";
    capacity_missing_load_below =
        "No step meets the SLOs below the lowest that violates them; add a lower load to bound the maximum."
        | "SLO를 위반한 가장 낮은 단계 아래에 만족한 단계가 없습니다. 더 낮은 부하를 추가하십시오.";
    capacity_missing_valid_levels(count) =
        "Steps excluded because their measurement is invalid: {count}."
        | "측정이 유효하지 않아 제외한 단계: {count}개.";
    capacity_missing_full_weight(count) =
        "Steps that count with less weight because their measurement is DEGRADED: {count}."
        | "측정이 DEGRADED라 낮은 가중치로 반영한 단계: {count}개.";
    capacity_missing_measurement(objective) =
        "No step measured {objective}."
        | "측정된 단계가 없는 항목: {objective}.";
    capacity_missing_evidence =
        "No server metrics were collected, so the limiting resource is unknown; connect sources with --evidence."
        | "서버 지표를 수집하지 않아 제한하는 자원을 알 수 없습니다. --evidence로 소스를 연결하십시오.";
    capacity_missing_limits =
        "No resource has a known limit, so saturation cannot be determined."
        | "한도를 아는 자원이 없어 포화 여부를 판단할 수 없습니다.";
    capacity_missing_hold =
        "The maximum load was not confirmed by a longer hold."
        | "부하 한계를 더 오래 유지해 확인하지 않았습니다.";
    capacity_missing_repeats =
        "Each load was measured once, so run-to-run variance is unknown."
        | "각 부하를 한 번씩만 측정해 실행 간 편차를 알 수 없습니다.";
    capacity_missing_monotony =
        "A higher load met the SLOs that a lower one violated: another factor changed during the sweep."
        | "더 높은 부하는 SLO를 만족하고 낮은 부하는 위반했습니다. 측정 중 다른 조건이 바뀌었습니다.";
    capacity_missing_agreement =
        "The knee estimates of the methods differ by more than a factor of two."
        | "방법 간 변곡점 추정이 두 배 이상 다릅니다.";
    capacity_missing_budget =
        "The time budget ran out before the interval was narrow enough."
        | "구간을 충분히 좁히기 전에 시간 예산을 다 썼습니다.";
    capacity_level_excluded(validity) = "Excluded: measurement {validity}." | "제외: 측정 {validity}.";
    capacity_level_weighed =
        "Counts with less weight: measurement DEGRADED."
        | "낮은 가중치로 반영: 측정 DEGRADED.";
    capacity_level_again = "Measured again." | "다시 측정했습니다.";
    capacity_level_held(duration) = "Met the SLOs for {duration}." | "{duration} 동안 SLO를 만족했습니다.";
    capacity_level_not_held(duration) =
        "Violated an SLO within {duration} of the hold."
        | "유지 중 {duration} 안에 SLO를 위반했습니다.";
    capacity_level_above_broke =
        "Violated an SLO, as expected above the maximum load."
        | "부하 한계 위이므로 예상대로 SLO를 위반했습니다.";
    capacity_level_above_kept =
        "Met the SLOs although it is above the maximum load."
        | "부하 한계 위인데도 SLO를 만족했습니다.";
    capacity_level_recovered = "Recovered when the load went down." | "부하를 낮추자 회복했습니다.";
    capacity_level_not_recovered =
        "Violated an SLO after the overload: the target recovers late, or this load is at its limit."
        | "과부하 뒤에 SLO를 위반했습니다. 회복이 늦거나 한계에 가까운 부하입니다.";
    capacity_level_breaks(objective, excess) =
        "First step to violate {objective}{excess}."
        | "처음으로 SLO를 위반한 단계: {objective}{excess}.";
    capacity_level_by(percent) = ", by {percent}" | " (초과 {percent})";
    capacity_level_unsure(objective, probability) =
        "Uncertain: {objective} is met with probability {probability}."
        | "불확실: {objective} 충족 확률 {probability}.";
    capacity_level_fell(percent, rate) =
        "Throughput is {percent} below the {rate} of a lower load."
        | "더 낮은 부하의 처리량 {rate} 대비 {percent} 감소했습니다.";
    capacity_level_flat =
        "Throughput stops growing with load here."
        | "이 단계부터 부하를 늘려도 처리량이 늘지 않습니다.";
    capacity_level_repeated(count) =
        "One of {count} measurements at this load."
        | "이 부하의 측정 {count}회 중 하나입니다.";
}
