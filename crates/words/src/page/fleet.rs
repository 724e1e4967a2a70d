//! The agents that made the load.

crate::page_catalogue! {
    @shared {
        fleet_agents = fleet_agents;
        fleet_agent = fleet_agent;
        fleet_share = fleet_share;
        fleet_state = fleet_state;
        fleet_due = fleet_due;
        fleet_achieved = fleet_achieved;
        fleet_cpu = fleet_cpu;
        fleet_lateness = fleet_lateness;
        agent_joining = agent_joining;
        agent_running = agent_running;
        agent_suspect = agent_suspect;
        agent_ended = agent_ended;
        agent_lost = agent_lost;
    }
    fleet_sub(count, skew, error) =
        "{count} agents · started within {skew} · clocks known to ±{error}"
        | "에이전트 {count}개 · 시작 시차 {skew} · 시계 오차 ±{error}";
    fleet_none = "One process made the load of this run." | "이 실행의 부하는 프로세스 하나가 만들었습니다.";
    fleet_requests = "Requests" | "요청";
    fleet_late = "Start skew" | "시작 시차";
    fleet_offset = "Clock offset" | "시계 오프셋";
    fleet_from(second) = "since {second}" | "{second}부터";
    fleet_lost(from, to) = "load missing {from}–{to}" | "{from}~{to} 부하 없음";
    fleet_lost_since(from) = "load missing since {from}" | "{from}부터 부하 없음";
    fleet_shares = "Iterations per second by agent" | "에이전트별 초당 반복";
    absent_no_arrival_rate = "no arrival rate" | "도착률 없음";
    absent_it_had_no_part = "it had no part" | "맡은 부분 없음";
}
