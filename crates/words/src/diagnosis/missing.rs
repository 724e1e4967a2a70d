//! Evidence that was not collected: its name, its use, and how to connect it.

use model::diagnosis::MissingKind;

use crate::{Lang, text};

/// The texts about evidence that was not collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingText {
    /// The evidence.
    pub name: String,
    /// Its use.
    pub shows: String,
    /// The flag or setting that connects it.
    pub connect: String,
}

/// Returns the texts about a kind of evidence.
pub fn missing(lang: Lang, kind: MissingKind) -> MissingText {
    let [name, shows, connect] = match kind {
        MissingKind::ServerProcessors => [
            text!(lang, "CPU metrics of the servers", "서버의 CPU 지표"),
            text!(
                lang,
                "whether a CPU is at its limit, and the throughput that it allows",
                "CPU가 한계에 이르렀는지, 그 CPU로 낼 수 있는 최대 처리량"
            ),
            text!(
                lang,
                "--evidence prometheus=http://PROMETHEUS:9090, or for this machine --evidence host=local",
                "--evidence prometheus=http://PROMETHEUS:9090, 이 기계라면 --evidence host=local"
            ),
        ],
        MissingKind::Broker => [
            text!(lang, "metrics of the message broker", "메시지 브로커의 지표"),
            text!(
                lang,
                "ready and unacknowledged messages, consumers and prefetch of each queue",
                "큐별 대기 메시지와 미확인 메시지, 컨슈머 수, 프리페치"
            ),
            text!(
                lang,
                "--evidence rabbitmq=http://USER@HOST:15672",
                "--evidence rabbitmq=http://USER@HOST:15672"
            ),
        ],
        MissingKind::DatabaseCounters => [
            text!(lang, "database statistics", "데이터베이스 통계"),
            text!(
                lang,
                "the statements that take the time, lock waits, blocks read and connections in use",
                "시간을 쓰는 쿼리, 잠금 대기, 읽은 블록 수, 사용 중인 커넥션"
            ),
            text!(
                lang,
                "--evidence postgresql=postgres://USER@HOST:5432/DATABASE (`plimsoll doctor` prints the grants)",
                "--evidence postgresql=postgres://USER@HOST:5432/DATABASE (필요한 권한은 `plimsoll doctor`가 출력합니다)"
            ),
        ],
        MissingKind::KernelCounters => [
            text!(lang, "TCP counters of the servers' kernels", "서버 커널의 TCP 카운터"),
            text!(
                lang,
                "whether the kernel drops connections because the accept queue is full",
                "accept 큐가 가득 차서 커널이 연결을 버리는지"
            ),
            text!(
                lang,
                "on this machine --evidence host=local, elsewhere the node exporter through Prometheus",
                "이 기계에서는 --evidence host=local, 다른 기계에서는 Prometheus의 node exporter"
            ),
        ],
        MissingKind::ConnectionPools => [
            text!(lang, "connection pool metrics", "커넥션 풀 지표"),
            text!(lang, "whether requests wait for a connection", "요청이 커넥션을 기다리는지"),
            text!(
                lang,
                "expose the pool's metrics (HikariCP through Micrometer, or db.client.connection.* of OpenTelemetry) and pass \
                 --evidence scrape=http://SERVICE/metrics",
                "풀 지표를 노출하고(Micrometer의 HikariCP 또는 OpenTelemetry의 db.client.connection.*) --evidence \
                 scrape=http://SERVICE/metrics 지정"
            ),
        ],
        MissingKind::Traces => [
            text!(lang, "traces", "트레이스"),
            text!(
                lang,
                "where requests spend their time: network, service, database or other services",
                "요청이 시간을 쓰는 곳: 네트워크, 서비스, 데이터베이스, 외부 서비스"
            ),
            text!(
                lang,
                "--otlp on the run, and OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4318 in the services",
                "실행에 --otlp, 서비스에 OTEL_EXPORTER_OTLP_ENDPOINT=http://HOST:4318 설정"
            ),
        ],
        MissingKind::ServerWorkers => [
            text!(lang, "metrics of the server's workers", "서버의 워커 지표"),
            text!(
                lang,
                "whether all workers are busy and requests wait for one, or a worker itself waits for a lock",
                "워커가 모두 사용 중이어서 요청이 기다리는지, 아니면 워커가 잠금을 기다리는지"
            ),
            text!(
                lang,
                "expose the server's own metrics (worker or thread pool, active and queued) and pass --evidence \
                 scrape=http://SERVICE/metrics; or start a span where the work on a request begins",
                "서버 자체의 지표(워커나 스레드 풀의 사용 수와 대기 수)를 노출하고 --evidence scrape=http://SERVICE/metrics 지정, \
                 또는 요청 작업이 시작되는 곳에 스팬 추가"
            ),
        ],
    };
    MissingText { name, shows, connect }
}
