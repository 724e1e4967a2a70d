//! The sentence of each claim: true if its numbers are.

use model::audit::AuditClaim;

use super::labels::connect_statistic;
use super::{count, per_second, percent, seconds};
use crate::{Lang, text};

/// Returns the claim of a finding as a sentence.
pub fn claim(lang: Lang, claim: &AuditClaim) -> String {
    match claim {
        AuditClaim::WindowDiffers { begins_late_s, ends_late_s, .. } => {
            let begins = offset(lang, *begins_late_s, Edge::Start);
            let ends = offset(lang, *ends_late_s, Edge::End);
            text!(
                lang,
                "the analysed window does not match the run: it begins {begins} and ends {ends}",
                "분석한 시간대가 실행 시간대와 다릅니다. {begins}에 시작해 {ends}에 끝납니다"
            )
        }
        AuditClaim::ZoneMislabelled { event, shown, zone, actual_h, .. } => {
            let actual = format!("UTC{actual_h:+}");
            text!(
                lang,
                "{event}: {shown} is labelled {zone} but is in {actual}",
                "{event}: {shown}에 {zone} 표시가 있지만 실제로는 {actual} 시각입니다"
            )
        }
        AuditClaim::UsageAboveLimit { resource, used, limit, .. } => text!(
            lang,
            "{resource}: usage of {used} exceeds its limit of {limit}, which is impossible",
            "{resource}: 사용량 {used}가 한도 {limit}보다 큽니다. 있을 수 없는 값입니다"
        ),
        AuditClaim::SnapshotOutside { reading, off_s, is_after } => {
            let off = seconds(*off_s);
            match is_after {
                true => text!(
                    lang,
                    "{reading} was read {off} after its end: it does not describe the run",
                    "{reading}: 실행이 끝나고 {off} 뒤에 읽은 값이라 실행을 나타내지 않습니다"
                ),
                false => text!(
                    lang,
                    "{reading} was read {off} before its start: it does not describe the run",
                    "{reading}: 실행이 시작되기 {off} 전에 읽은 값이라 실행을 나타내지 않습니다"
                ),
            }
        }
        AuditClaim::TooFewPoints { series, points, span_s, .. } => {
            let (points, span) = (count(*points), seconds(*span_s));
            text!(
                lang,
                "{series} has {points} points over {span}: too few to identify a peak",
                "{series}: {span} 동안 데이터 포인트가 {points}개뿐이라 최고점을 판단할 수 없습니다"
            )
        }
        AuditClaim::PointsLost { kind, lost, sent } => {
            let (lost, sent) = (count(*lost), count(*sent));
            text!(
                lang,
                "{lost} of {sent} {kind} were not recorded",
                "{kind} {sent}개 중 {lost}개가 기록되지 않았습니다"
            )
        }
        AuditClaim::PointsGained { kind, gained } => {
            let gained = count(*gained);
            text!(
                lang,
                "{gained} more {kind} were recorded than sent",
                "{kind}: 보낸 것보다 {gained}개 더 기록되었습니다"
            )
        }
        AuditClaim::QueueInService { queue, in_service, peak } => {
            let (in_service, peak) = (count(*in_service), count(*peak));
            text!(
                lang,
                "{queue}: up to {in_service} of its {peak} messages were in service, not queued",
                "{queue}: 메시지 {peak}개 중 최대 {in_service}개는 대기가 아니라 처리 중이었습니다"
            )
        }
        AuditClaim::PercentileOfMeans { metric, quantile, source, presented_as } => text!(
            lang,
            "p{quantile} of {metric} is computed from {source}, not from {presented_as}",
            "{metric}의 p{quantile}은 {presented_as}가 아니라 {source}에서 계산한 값입니다"
        ),
        AuditClaim::QuantileUnsupported { metric, quantile, needed, independent } => {
            let (needed, independent) = (count(*needed), count(*independent));
            text!(
                lang,
                "p{quantile} of {metric} needs {needed} independent samples and has {independent}",
                "{metric}의 p{quantile}에는 독립 표본 {needed}개가 필요한데 {independent}개뿐입니다"
            )
        }
        AuditClaim::LoadsDiffer { least_per_s, most_per_s } => {
            let (least, most) = (per_second(*least_per_s), per_second(*most_per_s));
            let factor = count(most_per_s / least_per_s);
            text!(
                lang,
                "response times are compared at different loads: {least} and {most}, a factor of {factor}",
                "응답 시간을 서로 다른 부하에서 비교했습니다. {least}와 {most}, {factor}배 차이입니다"
            )
        }
        AuditClaim::CriterionUnmeasured { statistic, metric, limit, .. } => text!(
            lang,
            "success criterion not measured: {statistic} of {metric} (limit {limit})",
            "성공 기준을 측정하지 않았습니다: {metric}의 {statistic} (한도 {limit})"
        ),
        AuditClaim::LimitsConflict { statistic, metric, first, second } => text!(
            lang,
            "{statistic} of {metric} has two conflicting limits, {first} and {second}",
            "{metric}의 {statistic}에 서로 다른 두 한도 {first}와 {second}가 있습니다"
        ),
        AuditClaim::OneResult { run, in_flight, threads } => {
            let (in_flight, threads) = (count(*in_flight), count(*threads));
            text!(
                lang,
                "{run}: closed loop: throughput × latency is {in_flight}, equal to the {threads} threads; they are one result, not two",
                "{run}: 닫힌 루프입니다. 처리량 × 지연 시간이 {in_flight}로 스레드 {threads}개와 같아, 두 결과가 아니라 하나입니다"
            )
        }
        AuditClaim::FailuresLowerMedian { metric, failed, successful_s, all_s } => {
            let (failed, successful, all) = (count(*failed), seconds(*successful_s), seconds(*all_s));
            text!(
                lang,
                "{metric}: {failed} failed requests lower the median from {successful} to {all}",
                "{metric}: 실패한 요청 {failed}건이 중앙값을 {successful}에서 {all}로 낮춥니다"
            )
        }
        AuditClaim::FailuresAsZero { metric, failed } => {
            let failed = count(*failed);
            text!(
                lang,
                "{metric}: {failed} failed requests are counted with a time of 0",
                "{metric}: 실패한 요청 {failed}건의 시간을 0으로 계산했습니다"
            )
        }
        AuditClaim::MaximumIsTimeout { metric, timeout_s } => {
            let timeout = seconds(*timeout_s);
            text!(
                lang,
                "{metric}: the maximum equals the timeout of {timeout}, so it is a lower bound (≥), not a measurement",
                "{metric}: 최댓값이 타임아웃 {timeout}와 같으므로 측정값이 아니라 하한(≥)입니다"
            )
        }
        AuditClaim::LostSyns { metric, statistic, value_s, lost } => {
            let (statistic, value) = (connect_statistic(lang, *statistic), seconds(*value_s));
            let plural = if *lost == 1 { "" } else { "s" };
            match lang {
                Lang::En => format!(
                    "{metric}: {statistic} of {value} matches {lost} lost and retransmitted SYN{plural}, not slow application code"
                ),
                Lang::Ko => format!(
                    "{metric}: {statistic} {value}는 SYN {lost}개가 유실되어 재전송된 시간과 같습니다. 느린 애플리케이션 코드가 아닙니다"
                ),
            }
        }
        AuditClaim::OutcomeZero { business, technical, technical_percent } => {
            let share = percent(*technical_percent);
            text!(
                lang,
                "{business} is 0 % while {technical} is {share}",
                "{technical} {share}인데 {business} 0 %입니다"
            )
        }
        AuditClaim::SourcesDisagree { fact, low, low_source, high, high_source } => text!(
            lang,
            "{fact}: {low} according to {low_source}, {high} according to {high_source}",
            "{fact}: {low_source}에서는 {low}, {high_source}에서는 {high}입니다"
        ),
        AuditClaim::ChangeWithoutBaseline { metric, change } => text!(
            lang,
            "{metric}: a change of {change} is reported without its baseline",
            "{metric}: 기준값 없이 변화율 {change}만 보고되었습니다"
        ),
        AuditClaim::ValueWithoutBaseline { metric, after } => {
            text!(lang, "{metric}: {after} has no baseline", "{metric}: {after}와 비교할 기준값이 없습니다")
        }
        AuditClaim::ChangeWrong { metric, before, after, actual_percent, reported_percent } => {
            let (actual, reported) = (percent(*actual_percent), percent(*reported_percent));
            text!(
                lang,
                "{metric}: {before} → {after} is a change of {actual}, not of {reported}",
                "{metric}: {before} → {after}의 변화율은 {reported}가 아니라 {actual}입니다"
            )
        }
        AuditClaim::ChangeMismarked { metric, before, after, is_marked_good, is_higher_better } => {
            match (is_marked_good, is_higher_better) {
                (true, false) => text!(
                    lang,
                    "{metric}: {before} → {after} is marked good, but down is better",
                    "{metric}: {before} → {after}를 개선으로 표시했지만 낮을수록 좋은 지표입니다"
                ),
                (true, true) => text!(
                    lang,
                    "{metric}: {before} → {after} is marked good, but up is better",
                    "{metric}: {before} → {after}를 개선으로 표시했지만 높을수록 좋은 지표입니다"
                ),
                (false, false) => text!(
                    lang,
                    "{metric}: {before} → {after} is marked bad, but down is better",
                    "{metric}: {before} → {after}를 악화로 표시했지만 낮을수록 좋은 지표입니다"
                ),
                (false, true) => text!(
                    lang,
                    "{metric}: {before} → {after} is marked bad, but up is better",
                    "{metric}: {before} → {after}를 악화로 표시했지만 높을수록 좋은 지표입니다"
                ),
            }
        }
    }
}

/// An end of the run.
#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}

/// `38.3 s after its start`.
fn offset(lang: Lang, late_s: f64, edge: Edge) -> String {
    let off = seconds(late_s.abs());
    match (edge, late_s < 0.0) {
        (Edge::Start, true) => text!(lang, "{off} before its start", "실행 시작 {off} 전"),
        (Edge::Start, false) => text!(lang, "{off} after its start", "실행 시작 {off} 후"),
        (Edge::End, true) => text!(lang, "{off} before its end", "실행 종료 {off} 전"),
        (Edge::End, false) => text!(lang, "{off} after its end", "실행 종료 {off} 후"),
    }
}
