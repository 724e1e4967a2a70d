//! The texts of a diagnosis: headline, findings, remedies, predictions, doubts, and the evidence to connect.
//!
//! Numbers in sentences have three significant digits. Everything is matched exhaustively, so a new claim needs its sentences here.

mod caveats;
mod claims;
mod figures;
pub mod labels;
mod missing;
mod numbers;
mod predictions;
mod remedies;
mod ruled_out;
mod times;
mod variants;

#[cfg(test)]
mod tests;

use model::Diagnosis;
use model::diagnosis::{Inconclusive, Outcome, ResourceKind};

pub use caveats::caveat;
pub use claims::{ClaimText, claim};
pub use figures::{demand_caption, demand_through, demand_used, figure_name, note};
pub use missing::{MissingText, missing};
pub use numbers::number;
pub use predictions::{change, next_limit, refutation};
pub use remedies::remedy;
pub use ruled_out::{RuledOutText, ruled_out};
pub use times::{basis, stage, timed_unit};

use crate::{Lang, text};
use numbers::{count, percent, time};

/// Returns the headline of a diagnosis: its main finding, or the reason why there is none.
pub fn headline(lang: Lang, diagnosis: &Diagnosis) -> String {
    match &diagnosis.outcome {
        Outcome::Limited => {
            diagnosis.findings.first().map(|finding| claim(lang, &finding.claim).headline).unwrap_or_default()
        }
        Outcome::NoServerBottleneck { growth: Some(growth) } => {
            let growth = count(*growth);
            text!(
                lang,
                "no server resource is at its limit; response time at the highest load is {growth} times that at the lowest",
                "한계에 이른 서버 리소스가 없습니다. 최고 부하의 응답 시간은 최저 부하의 {growth}배입니다"
            )
        }
        Outcome::NoServerBottleneck { growth: None } => {
            text!(lang, "no server resource is at its limit", "한계에 이른 서버 리소스가 없습니다")
        }
        Outcome::Generator { fault } => {
            let fault = crate::validity::topic(*fault, lang);
            text!(
                lang,
                "the load generator is the bottleneck ({fault}); the target's limit is unknown",
                "부하 생성기가 병목입니다({fault}). 대상 시스템의 한계는 알 수 없습니다"
            )
        }
        Outcome::CannotTell { why, .. } => inconclusive(lang, *why),
    }
}

fn inconclusive(lang: Lang, why: Inconclusive) -> String {
    match why {
        Inconclusive::NoRun => text!(lang, "no run was given", "실행이 주어지지 않았습니다"),
        Inconclusive::NoRequests => text!(lang, "no request completed", "완료된 요청이 없습니다"),
        Inconclusive::NoEvidence => {
            text!(lang, "no server-side metrics were collected", "서버 쪽 지표가 수집되지 않았습니다")
        }
        Inconclusive::NoTracesAndProcessors => text!(
            lang,
            "neither traces nor CPU metrics of the servers were collected",
            "서버의 트레이스와 CPU 지표가 모두 수집되지 않았습니다"
        ),
        Inconclusive::Growth { times } => {
            let times = count(times);
            text!(
                lang,
                "response time at the highest load is {times} times that at the lowest, and no known resource is at its limit",
                "최고 부하의 응답 시간이 최저 부하의 {times}배인데, 한계에 이른 리소스가 확인되지 않습니다"
            )
        }
        Inconclusive::Queueing { share, mean_s } => {
            let (share, mean) = (percent(share), time(mean_s));
            text!(
                lang,
                "requests queue for {share} of their {mean}, and no known resource is at its limit",
                "요청이 응답 시간 {mean} 중 {share}를 큐에서 기다리는데, 한계에 이른 리소스가 확인되지 않습니다"
            )
        }
        Inconclusive::Unaccounted { share, mean_s } => {
            let (share, mean) = (percent(share), time(mean_s));
            text!(
                lang,
                "services hold requests for {share} of their {mean} without using CPU, and no span shows a wait",
                "서비스가 응답 시간 {mean} 중 {share} 동안 CPU를 쓰지 않고 요청을 붙잡고 있는데, 대기를 기록한 스팬이 없습니다"
            )
        }
        Inconclusive::Untraced { outside_s, mean_s } => {
            let (outside, mean) = (time(outside_s), time(mean_s));
            text!(
                lang,
                "{outside} of a request's {mean} are outside of all spans",
                "요청 시간 {mean} 중 {outside} 구간이 어떤 스팬에도 속하지 않습니다"
            )
        }
    }
}

/// Returns the name of a kind of resource, for the middle of a sentence.
fn resource_kind(lang: Lang, kind: ResourceKind) -> String {
    match kind {
        ResourceKind::Cpu
        | ResourceKind::NodeCpu
        | ResourceKind::JvmCpu
        | ResourceKind::ProgramCpu
        | ResourceKind::OneThread => {
            text!(lang, "CPU", "CPU")
        }
        ResourceKind::Thread => text!(lang, "thread", "스레드"),
        ResourceKind::Core => text!(lang, "core", "코어"),
        ResourceKind::Disk => text!(lang, "disk", "디스크"),
        ResourceKind::Threads => text!(lang, "threads", "스레드"),
        ResourceKind::TaskSlots => text!(lang, "task slots", "작업 슬롯"),
        ResourceKind::Clients => text!(lang, "client connections", "클라이언트 연결"),
    }
}

/// Returns the name of a resource: its kind and its place.
fn resource_name(lang: Lang, resource: &model::diagnosis::Resource) -> String {
    let place = &resource.place;
    match resource.kind {
        ResourceKind::Cpu => text!(lang, "CPU of {place}", "{place}의 CPU"),
        ResourceKind::NodeCpu => text!(lang, "CPU of node {place}", "노드 {place}의 CPU"),
        ResourceKind::JvmCpu => text!(lang, "CPU of JVM {place}", "JVM {place}의 CPU"),
        ResourceKind::ProgramCpu => text!(lang, "CPU of process {place}", "프로세스 {place}의 CPU"),
        ResourceKind::OneThread => {
            text!(
                lang,
                "CPU of process {place}, one thread at a time,",
                "한 번에 한 스레드만 실행하는 프로세스 {place}의 CPU"
            )
        }
        ResourceKind::Thread => text!(lang, "busiest thread of {place}", "{place}의 가장 바쁜 스레드"),
        ResourceKind::Core => text!(lang, "core {place}", "코어 {place}"),
        ResourceKind::Disk => text!(lang, "disk of {place}", "{place}의 디스크"),
        ResourceKind::Threads => text!(lang, "threads of {place}", "{place}의 스레드"),
        ResourceKind::TaskSlots => text!(lang, "task slots of {place}", "{place}의 작업 슬롯"),
        ResourceKind::Clients => text!(lang, "client connections of {place}", "{place}의 클라이언트 연결"),
    }
}

/// Returns an amount of a resource in its unit.
fn amount(lang: Lang, kind: ResourceKind, value: f64) -> String {
    let value_text = count(value);
    match kind {
        ResourceKind::Cpu
        | ResourceKind::NodeCpu
        | ResourceKind::Core
        | ResourceKind::ProgramCpu
        | ResourceKind::OneThread
        | ResourceKind::Thread => match value_text.as_str() {
            "1" => text!(lang, "1 core", "1코어"),
            _ => text!(lang, "{value_text} cores", "{value_text}코어"),
        },
        ResourceKind::JvmCpu => {
            let share = percent(value);
            text!(lang, "{share} of all cores", "전체 코어의 {share}")
        }
        ResourceKind::Disk => {
            let share = percent(value);
            text!(lang, "{share} of the time", "전체 시간의 {share}")
        }
        ResourceKind::Threads => text!(lang, "{value_text} threads", "스레드 {value_text}개"),
        ResourceKind::TaskSlots => text!(lang, "{value_text} slots", "슬롯 {value_text}개"),
        ResourceKind::Clients => text!(lang, "{value_text} clients", "클라이언트 {value_text}개"),
    }
}
