//! Korean of the auditor: the sentences of rules and laws, and the names of figures.
//!
//! `analysis` words findings in English, with their names and numbers. In Korean a finding is the sentence of its rule with the
//! same figures below and the original beside it.

use super::RuleWords;

/// By the names of the rules.
pub(super) const RULES: &[(&str, RuleWords)] = &[
    (
        "wrong-window",
        RuleWords {
            finds: "분석한 시간대가 실행 시간대와 다릅니다",
            implies: "부하가 없던 시간이 평균에 섞이고, 분석 구간의 비율과 시작값은 실행의 값이 아닙니다",
            mend: "부하 생성기가 남긴 시작과 끝 시각을 그대로 쓰고, 모든 계열을 그 두 시각으로 조회하십시오",
        },
    ),
    (
        "time-zone",
        RuleWords {
            finds: "시각에 다른 시간대의 표시가 붙어 있습니다",
            implies: "표시를 믿는 사람은 로그, 대시보드, 쿼리에서 실행이 아닌 시간을 보게 됩니다",
            mend: "시각은 오프셋과 함께(RFC 3339) 모두 UTC로 적고, 하나의 시계에서 가져오십시오",
        },
    ),
    (
        "usage-above-limit",
        RuleWords {
            finds: "사용량이 한도보다 큽니다. 있을 수 없는 값입니다",
            implies: "계열이 이 자원보다 많은 것을 더하고 있습니다. 파드와 컨테이너의 cgroup을 함께 더했다면 실제 값은 절반입니다",
            mend: "컨테이너만 더하고(container!=\"\", image!=\"\"), 레이블 `container`의 값을 확인해 사이드카를 찾으십시오",
        },
    ),
    (
        "snapshot-outside",
        RuleWords {
            finds: "한 시점의 측정값을 실행 시간 밖에서 읽었습니다",
            implies: "쉬고 있는 시스템을 읽은 것입니다. 그때 보인 여유는 부하 중의 여유가 아닙니다",
            mend: "실행 시간대의 계열을 쓰고, 마지막 값이 아니라 가장 큰 값을 보십시오",
        },
    ),
    (
        "too-few-points",
        RuleWords {
            finds: "데이터 포인트가 너무 적어 최고점이나 추세를 판단할 수 없습니다",
            implies: "실제 최고점을 놓쳤을 수 있고, 관측한 최고점의 시각도 수집 간격만큼 불확실합니다",
            mend: "더 자주 수집하고, rate()의 구간은 수집 간격의 네 배 이상으로 두십시오",
        },
    ),
    (
        "lost-points",
        RuleWords {
            finds: "보낸 수와 기록된 수가 다릅니다. 데이터 포인트가 덮어써졌거나 유실되었습니다",
            implies: "횟수와 비율이 적어도 이만큼 틀렸고, 백분위수는 얼마나 틀렸는지 알 수 없습니다",
            mend: "구간별 집계를 저장하거나 점마다 고유한 키를 주십시오. 시각과 태그가 키인 저장소는 같은 키의 점을 하나만 남깁니다",
        },
    ),
    (
        "queue-in-service",
        RuleWords {
            finds: "큐 길이에 처리 중인 메시지가 들어 있습니다",
            implies: "이 값은 ready + unacknowledged이므로, 길이만으로는 밀려 있었다고 말할 수 없습니다",
            mend: "대기는 rabbitmq_queue_messages_ready로, 처리 중은 rabbitmq_queue_messages_unacked로 보십시오",
        },
    ),
    (
        "percentile-of-means",
        RuleWords {
            finds: "평균의 백분위수를 요청의 백분위수로 제시했습니다",
            implies: "평균은 느린 요청을 감춥니다. 요청의 백분위수는 읽는 사람이 생각하는 것보다 큽니다",
            mend: "시간에 따라 더할 수 있는 히스토그램으로 요청의 백분위수를 구하거나, 이 값을 있는 그대로 이름 붙이십시오",
        },
    ),
    (
        "unsupported-quantile",
        RuleWords {
            finds: "표본 수가 이 백분위수를 뒷받침하지 못합니다",
            implies: "이 실행의 극단값 몇 개일 뿐입니다. 같은 시스템을 다시 실행하면 다른 값이 나오고, 변화도 증거가 되지 않습니다",
            mend: "더 오래 측정하거나, 이 표본 수가 뒷받침하는 백분위수를 보고하십시오",
        },
    ),
    (
        "unequal-load",
        RuleWords {
            finds: "부하가 다른 버전들을 비교했습니다",
            implies: "응답 시간은 부하에 따라 달라지므로, 차이가 버전 때문인지 부하 때문인지 나눌 수 없습니다",
            mend: "같은 부하를 주거나, 부하와 무관한 값을 비교하십시오: 요청당 수요(사용률 × 프로세서 ÷ 처리량)",
        },
    ),
    (
        "unmeasured-criterion",
        RuleWords {
            finds: "성공 기준의 일부를 측정하지 않았습니다",
            implies: "판정을 확정할 수 없습니다. 측정하지 않은 기준은 실패했을 수도 있습니다",
            mend: "같은 실행에서 측정하고, 그때까지는 판정이 완전하지 않다고 적으십시오",
        },
    ),
    (
        "conflicting-slos",
        RuleWords {
            finds: "하나의 수치에 서로 다른 두 한도가 있습니다",
            implies: "어느 쪽을 읽느냐에 따라 통과 여부와 안전하다고 부르는 부하가 달라집니다",
            mend: "수치마다 한도를 하나만 두십시오. 하나가 목표이고 하나가 의무라면 그렇게 이름 붙이고 의무로 판정하십시오",
        },
    ),
    (
        "closed-loop",
        RuleWords {
            finds: "닫힌 루프의 처리량과 지연 시간을 독립된 결과로 제시했습니다",
            implies: "각 VU는 응답을 기다린 뒤에 다음 요청을 보내므로 처리량은 VU ÷ 지연 시간입니다. 하나가 다른 하나를 확인해 주지 않습니다",
            mend: "둘 중 하나만 보고하십시오. 둘 다 알려면 고정된 도착률을 주고 예정 시각부터 응답 시간을 재십시오",
        },
    ),
    (
        "failed-as-fast",
        RuleWords {
            finds: "실패한 요청이 0이나 빠른 응답으로 시간에 들어갔습니다",
            implies: "한꺼번에 많이 실패할수록 대상이 빨라 보입니다. 모든 요청의 백분위수가 실제보다 낮습니다",
            mend: "성공의 시간과 실패의 비율을 따로 보고하거나, 실패를 모든 성공보다 느린 것으로 두십시오",
        },
    ),
    (
        "censored-timeout",
        RuleWords {
            finds: "포기한 요청을 시간 제한 값으로 계산했습니다",
            implies: "포기하지 않았다면 더 오래 걸렸을 것이고 얼마나인지는 알 수 없습니다. 평균과 최댓값은 실제의 하한일 뿐입니다",
            mend: "시간 제한보다 큰 값(우측 중도절단)으로 다루십시오. 그 아래의 백분위수는 그대로 맞습니다",
        },
    ),
    (
        "syn-retransmission",
        RuleWords {
            finds: "연결 시간이 SYN 재전송 시점인 1, 3, 7초 등에 있습니다",
            implies: "애플리케이션 아래에서 연결이 받아들여지지 않았습니다: accept 큐이나 연결 표가 가득 찼거나 패킷이 유실되었습니다",
            mend: "양쪽의 ListenOverflows, ListenDrops, TCPSynRetrans와 nf_conntrack을 확인하십시오",
        },
    ),
    (
        "business-zero",
        RuleWords {
            finds: "기술적으로는 모두 성공했는데 사용자가 원하는 결과는 0입니다",
            implies: "중요한 경로가 실행되지 않았거나 조용히 실패합니다. 측정한 시간은 오류 페이지의 시간일 수 있습니다",
            mend: "응답 하나를 직접 확인한 뒤, 그 결과를 체크와 임계값으로 만드십시오",
        },
    ),
    (
        "sources-disagree",
        RuleWords {
            finds: "두 소스의 값이 서로 다릅니다",
            implies: "하나는 다른 것, 다른 시간, 또는 전체의 일부에 관한 값입니다. 여기에 근거한 결론은 확정할 수 없습니다",
            mend: "각각이 무엇을 어느 시간 동안 세는지 확인하고, 하나만 출처와 함께 적으십시오",
        },
    ),
    (
        "before-missing",
        RuleWords {
            finds: "비교할 이전 값이 없습니다",
            implies: "이 변화를 확인할 수 없고, 좋아졌는지 나빠졌는지도 말할 수 없습니다",
            mend: "이전 값을 그 실행, 부하, 시간과 함께 적으십시오. 없으면 그 행을 비교에서 빼십시오",
        },
    ),
    (
        "change-arithmetic",
        RuleWords {
            finds: "적힌 변화율이나 표시가 그 자신의 수치에서 나오지 않습니다",
            implies: "수치나 변화 가운데 적어도 하나가 틀렸고, 읽는 사람은 손해를 이득으로, 이득을 손해로 볼 수 있습니다",
            mend: "변화율과 표시는 보이는 수치와 지표의 방향에서 프로그램으로 계산하십시오",
        },
    ),
];

/// By the names of the laws: what each derives.
pub(super) const LAWS: &[(&str, &str)] = &[
    ("change", "적힌 변화율 가운데 자신의 수치에서 나오는 것의 수"),
    ("little", "처리량 × 시간과 스레드 수"),
    ("shift", "초별 평균의 평균이 움직였는지 (이웃한 초의 상관을 고려)"),
    ("errors", "오류가 늘었는지"),
    ("demand", "요청당 수요와 거기에서 나오는 처리량 상한"),
    ("asymptotic-bounds", "지연 시간의 기울기에서 나오는 처리량 상한과 변곡점"),
    ("slo-crossing", "p95가 한도를 넘는 VU 수 (보간)"),
    ("ladder", "부하 단계별 판정"),
    ("collapse", "부하가 늘었는데 처리량이 줄어든 지점"),
    ("slots", "평균적으로 사용 중이던 슬롯 수"),
];

/// Names of figures; one that is missing keeps its own.
pub(super) const FIGURES: &[(&str, &str)] = &[
    ("SLO", "SLO 한도"),
    ("lost SYNs", "그 전에 유실된 SYN"),
    ("VUs at the limit", "한도에서의 VU 수"),
    ("after", "이후"),
    ("difference in change", "차이"),
    ("timestamp", "표시된 시각"),
    ("at", "지점"),
    ("before", "이전"),
    ("best throughput", "최대 처리량"),
    ("busy share", "사용 비율"),
    ("busy slots", "사용 중인 슬롯"),
    ("ceiling", "상한"),
    ("ceiling from above", "위에서 본 상한"),
    ("ceiling from below", "아래에서 본 상한"),
    ("reported change", "적힌 변화율"),
    ("actual change", "적힌 수치의 변화율"),
    ("verifiable changes", "확인할 수 있는 변화율"),
    ("matching changes", "맞는 변화율"),
    ("computed from", "계산한 대상"),
    ("consumers", "컨슈머"),
    ("lag-1 autocorrelation", "자기상관(시차 1)"),
    ("counter", "지표"),
    ("criteria", "기준"),
    ("criteria with a measured value", "측정된 기준"),
    ("demand per request", "요청당 수요"),
    ("difference", "차이"),
    ("difference in points", "차이(포인트)"),
    ("errors after", "이후의 오류"),
    ("errors before", "이전의 오류"),
    ("rounding tolerance", "반올림으로 설명되는 차이"),
    ("failed requests", "실패한 요청"),
    ("fallen throughput", "줄어든 처리량"),
    ("half of the usage", "사용량의 절반"),
    ("knee from", "변곡점(최소)"),
    ("knee to", "변곡점(최대)"),
    ("maximum time", "가장 긴 시간"),
    ("limit", "한도"),
    ("mean after", "이후 평균"),
    ("mean before", "이전 평균"),
    ("mean latency", "평균 지연 시간"),
    ("mean time", "평균 시간"),
    ("means", "평균의 수"),
    ("measured", "측정값"),
    ("median connect time", "연결 시간의 중앙값"),
    ("median of all requests", "전체의 중앙값"),
    ("median of successful requests", "성공의 중앙값"),
    ("messages that may be in service", "처리 중일 수 있는 메시지"),
    ("samples needed for a 95 % upper bound", "95 % 신뢰 상한에 필요한 수"),
    ("share of all requests", "전체 요청 중"),
    ("share of the window outside the run", "분석 시간 중 실행이 없던 비율"),
    ("recorded", "기록됨"),
    ("time outside the run", "실행에서 벗어난 시간"),
    ("peak", "최고점"),
    ("points", "점"),
    ("points needed for 90 %", "90 %에 필요한 점"),
    ("presented as", "제시된 대상"),
    ("processors", "프로세서"),
    ("read at", "읽은 시각"),
    ("requests after", "이후의 요청"),
    ("requests before", "이전의 요청"),
    ("sent", "보냄"),
    ("slots", "슬롯"),
    ("minimum time", "가장 짧은 시간"),
    ("step", "간격"),
    ("analysis start", "분석 시작"),
    ("analysis end", "분석 끝"),
    ("actual time", "실제 시각"),
    ("run start", "실행 시작"),
    ("run end", "실행 끝"),
    ("run duration", "실행 시간"),
    ("threads", "스레드"),
    ("throughput", "처리량"),
    ("throughput × latency", "처리량 × 지연 시간"),
    ("throughput × time", "처리량 × 시간"),
    ("service time", "처리 시간"),
    ("time outside service", "처리 외 시간"),
    ("share of time outside service", "처리 외 시간 비율"),
    ("timeout", "시간 제한"),
    ("usage", "사용량"),
    ("usage relative to the limit", "한도 대비 사용률"),
    ("utilisation", "사용률"),
    ("values", "값의 수"),
    ("effective sample size", "유효 표본 수"),
    ("labelled offset", "표시된 오프셋"),
    ("actual offset", "실제 오프셋"),
    ("unexplained time per request", "요청당 설명되지 않는 시간"),
    ("share of the run below the largest point (95 % confidence)", "최댓값이 포함하는 실행 비율(95 % 신뢰)"),
    ("slots per consumer", "컨슈머당 슬롯"),
    ("cumulative retransmission timeout", "누적 재전송 타임아웃"),
    ("difference in standard errors", "차이(표준오차 단위)"),
    ("minimum plateau throughput", "정체 구간 최소 처리량"),
    ("maximum plateau throughput", "정체 구간 최대 처리량"),
    ("standard error", "표준오차"),
    ("effective sample size before", "이전 유효 표본 수"),
    ("effective sample size after", "이후 유효 표본 수"),
    ("lag-1 autocorrelation before", "이전 자기상관(시차 1)"),
    ("lag-1 autocorrelation after", "이후 자기상관(시차 1)"),
    ("standard deviations", "차이(표준편차 단위)"),
];
