//! The service map and the operations.

crate::page_catalogue! {
    @shared {
        place_outside = topic_requests;
    }
    screen_services = "Services" | "서비스";
    services_none = "No spans were received." | "받은 스팬이 없습니다.";
    services_map = "Service map" | "서비스 맵";
    services_map_sub(from, to, sample) =
        "{from} to {to}; call rates are those of traced requests, of whose traces {sample} are stored"
        | "{from} ~ {to}, 호출 속도는 트레이스된 요청 기준(트레이스 {sample} 저장)";
    services_traced(traced, requests) =
        "traced: {traced} of {requests} requests"
        | "트레이스된 요청: {requests} 중 {traced}";
    services_map_unsampled(from, to) =
        "{from} to {to}; call rates are unknown without an unbiased sample"
        | "{from} ~ {to}, 편향 없는 표본이 없어 호출 속도는 알 수 없음";
    services_ways = "Service calls" | "서비스 간 호출";
    services_caption(services, queues, databases, others, connections) =
        "Services: {services}; queues: {queues}; databases: {databases}; others: {others}; connections: {connections}."
        | "서비스 {services}개, 큐 {queues}개, 데이터베이스 {databases}개, 기타 {others}개, 연결 {connections}개.";
    services_cut(count) = "{count} more are only in the tables." | "{count}개는 표에만 있습니다.";
    ways_left_out(count) =
        "{count} calls use connections that are not listed individually."
        | "호출 {count}건의 경로는 개별로 표시하지 않습니다.";
    operations = "Operations" | "오퍼레이션";
    operations_sub = "of all spans received" | "받은 모든 스팬";
    operations_left_out(count) =
        "{count} operations with the fewest spans are not listed."
        | "스팬이 가장 적은 오퍼레이션 {count}개는 목록에 없습니다.";
    place_service = "service" | "서비스";
    place_queue = "queue" | "큐";
    place_database = "database" | "데이터베이스";
    place_external = "external" | "외부";
    place_calls = "callee" | "호출 대상";
    wait_p95(time) = "wait p95 {time}" | "대기 p95 {time}";
    from_to = "From" | "보내는 쪽";
    to_whom = "To" | "받는 쪽";
    absent_not_in_the_unbiased_sample = "not in the unbiased sample" | "편향 없는 표본에 없음";
}
