//! Korean, of the diagnosis: what each kind of finding says, and what helps against it.
//!
//! The room that finds something words it in English, with its names and numbers. In Korean a finding is the sentence of its kind
//! with the same numbers below; the original claim stands beside it.

use super::FindingWords;

/// By the labels of findings.
pub(super) const FINDINGS: &[(&str, FindingWords)] = &[
    (
        "CPU limit",
        FindingWords {
            finds: "허용된 CPU를 모두 쓰고 있어 그 이상의 부하는 기다립니다",
            mend: "CPU 한도를 올리거나 없애고, 아니면 하는 일을 줄이십시오",
        },
    ),
    (
        "CPU saturated",
        FindingWords {
            finds: "코어가 한계까지 바쁩니다. 누구의 일인지는 이 기계가 말해 주지 않습니다",
            mend: "하는 일을 가볍게 하거나 코어를 더 주십시오",
        },
    ),
    (
        "stop-the-world pauses",
        FindingWords {
            finds: "서비스 전체가 되풀이해서 멈춥니다. 무엇을 요청하든 기다립니다",
            mend: "메모리 할당을 줄이거나, 멈추지 않는 가비지 컬렉터를 쓰십시오",
        },
    ),
    (
        "memory limit",
        FindingWords {
            finds: "메모리가 모자라 다시 쓸 것을 버리거나 작업이 자리를 기다립니다",
            mend: "메모리 한도를 올리거나, 한 번에 쥐고 있는 양을 줄이십시오",
        },
    ),
    (
        "connection pool too small",
        FindingWords {
            finds: "요청이 데이터베이스 커넥션을 기다립니다",
            mend: "커넥션 풀의 한도를 올리거나, 커넥션을 더 짧게 쥐십시오",
        },
    ),
    (
        "head-of-line blocking",
        FindingWords {
            finds: "빠른 요청이 같은 연결의 느린 응답 뒤에서 기다립니다",
            mend: "연결을 여러 개 쓰거나, 한 연결로 여러 요청을 동시에 보내는 프로토콜을 쓰십시오",
        },
    ),
    (
        "row lock contention",
        FindingWords {
            finds: "세션이 다른 트랜잭션이 쥔 잠금을 기다립니다",
            mend: "행을 더 짧게 쥐십시오. 트랜잭션을 줄이거나 다른 곳에서 세십시오",
        },
    ),
    (
        "database log sync",
        FindingWords {
            finds: "커밋이 로그가 디스크에 쓰일 때까지 기다립니다",
            mend: "한 번에 더 많이, 더 드물게 쓰거나 더 빠른 디스크를 쓰십시오",
        },
    ),
    (
        "database reads from disk",
        FindingWords {
            finds: "세션이 디스크에서 블록이 올 때까지 기다립니다",
            mend: "메모리를 늘리거나 인덱스를 만드십시오",
        },
    ),
    (
        "accept-queue overflow",
        FindingWords {
            finds: "아무도 받지 않은 새 연결을 커널이 버려, 보낸 쪽이 1초, 3초, 7초 뒤에 다시 보냅니다",
            mend: "연결을 오는 대로 받고 백로그를 늘리며, 연결을 열어 두십시오",
        },
    ),
    (
        "connection churn",
        FindingWords {
            finds: "거의 모든 요청이 새 연결을 만들어 매번 핸드셰이크가 듭니다",
            mend: "서비스 사이의 연결을 열어 두고 세션을 재개하십시오",
        },
    ),
    (
        "N+1 queries",
        FindingWords {
            finds: "한 요청 안에서 같은 문이 되풀이해서 실행됩니다",
            mend: "필요한 것을 문 하나로 가져오십시오. 조인하거나, 한꺼번에 묻거나, 메모리에 두십시오",
        },
    ),
    (
        "missing index",
        FindingWords {
            finds: "문 하나가 내놓는 것보다 훨씬 많이 읽습니다. 찾는 행으로 이끄는 인덱스가 없습니다",
            mend: "조건에 쓰는 열에 인덱스를 만드십시오",
        },
    ),
    (
        "slow statement",
        FindingWords {
            finds: "문 하나가 데이터베이스 시간의 대부분을 씁니다",
            mend: "덜 묻거나 답을 보관하십시오. 프로젝션, 캐시, 구체화된 뷰",
        },
    ),
    (
        "periodic job",
        FindingWords {
            finds: "시계에 맞춰 오는 작업이 요청에 필요한 것을 가져갑니다",
            mend: "드물게, 밤에, 또는 복제본에서 실행하십시오",
        },
    ),
    (
        "cache stampede",
        FindingWords {
            finds: "만료된 캐시를 여러 요청이 한꺼번에 다시 채웁니다",
            mend: "한 요청만 채우게 하고, 그때까지는 옛 값을 주십시오",
        },
    ),
    (
        "slow downstream",
        FindingWords {
            finds: "다른 서비스의 호출이 시간의 큰 부분을 씁니다",
            mend: "기다리지 않고 부르거나, 덜 부르거나, 더 빠르게 하십시오",
        },
    ),
    (
        "downstream rate limit",
        FindingWords {
            finds: "뒤의 서비스가 초당 정해진 수의 호출만 받습니다",
            mend: "한도를 올려 달라고 하거나, 여러 건을 한 번에 부르십시오",
        },
    ),
    (
        "DNS delay",
        FindingWords {
            finds: "요청마다 이름을 찾느라 시간이 듭니다",
            mend: "찾은 것을 보관하거나 가까운 네임 서버에 물으십시오",
        },
    ),
    (
        "hot key",
        FindingWords {
            finds: "한 번에 하나씩만 처리되는 것이 있어 모두 제 차례를 기다립니다",
            mend: "여러 키나 카운터로 나누거나, 차례가 필요 없게 하십시오",
        },
    ),
    (
        "too few workers",
        FindingWords {
            finds: "서비스가 한꺼번에 처리하는 수가 정해져 있어 나머지 요청은 차례를 기다립니다",
            mend: "워커나 인스턴스를 늘리거나, 요청마다 하는 일을 줄이십시오",
        },
    ),
    (
        "too few consumers",
        FindingWords {
            finds: "큐에서 가져가는 워커가 모자라 작업이 기다립니다",
            mend: "더 많은 워커가 큐에서 가져가게 하십시오",
        },
    ),
    (
        "prefetch too small",
        FindingWords {
            finds: "워커가 쥘 수 있는 메시지가 너무 적어 슬롯이 비어 있습니다",
            mend: "프리페치를 워커가 한 번에 할 수 있는 만큼 이상으로 올리십시오",
        },
    ),
    (
        "scaler ceiling",
        FindingWords {
            finds: "오토스케일러가 최대 복제본 수에 이르렀고 작업은 기다립니다",
            mend: "최대 복제본 수를 올리십시오",
        },
    ),
    (
        "redelivered messages",
        FindingWords {
            finds: "이미 처리한 메시지가 다시 와서 같은 일을 또 합니다",
            mend: "끝낸 것은 확인 응답하고, 할 수 없는 것은 따로 두십시오",
        },
    ),
    (
        "replica imbalance",
        FindingWords {
            finds: "한 복제본이 일을 거의 다 하고 나머지는 쉽니다",
            mend: "나머지가 왜 덜 받는지 찾으십시오. 거절하거나, 밸런서가 한가한 쪽을 묻지 않습니다",
        },
    ),
    (
        "synchronous logging",
        FindingWords {
            finds: "요청이 끝에서 아무것도 계산하지 않고 기다립니다. 대개 디스크에 쓰이는 로그 한 줄입니다",
            mend: "디스크를 기다리지 않고 로그를 쓰십시오",
        },
    ),
    (
        "chatty serialisation",
        FindingWords {
            finds: "응답이 길어서 만들고 보내는 데 시간이 듭니다",
            mend: "보여 주는 것만 쪽으로 나누어 답하고 압축하십시오",
        },
    ),
    (
        "bandwidth limit",
        FindingWords {
            finds: "응답이 지나가는 길이 가득 찼습니다",
            mend: "대역폭을 늘리거나, 압축하거나 나누어 덜 보내십시오",
        },
    ),
    (
        "business outcome is zero",
        FindingWords {
            finds: "기술적으로는 모두 성공했는데 스크립트가 말하는 결과가 한 번도 없습니다",
            mend: "왜 한 번도 일어나지 않는지 찾으십시오. 요청은 정상이고 그 목적이 정상이 아닙니다",
        },
    ),
];
