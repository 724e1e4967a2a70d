//! NGINX, through its `stub_status` page, in any version.
//!
//! The source's own connection and request are subtracted.

use std::time::Duration;

use model::{Evidence, SignalId};

use super::Kind;
use crate::answer::{Answer, Counters, SignalQuery};
use crate::contract::{About, Check, Moment, Period, Source, SourceError};
use crate::http::{self, Client, Door};
use crate::settings::{Settings, SettingsError};

/// This kind of source.
pub(super) const KIND: Kind = Kind {
    name: "nginx",
    provides: "NGINX: connections by state, dropped connections, and requests.",
    example: "http://localhost/nginx_status",
    settings: &[("step", "interval between queries [default: 1s]")],
    open,
};

const ACTIVE: SignalQuery = SignalQuery::new(SignalId::ConnectionsActive, "stub_status: Active connections");
const READING: SignalQuery = SignalQuery::new(SignalId::Reading, "stub_status: Reading");
const WRITING: SignalQuery = SignalQuery::new(SignalId::Writing, "stub_status: Writing");
const WAITING: SignalQuery = SignalQuery::new(SignalId::Waiting, "stub_status: Waiting");
const ACCEPTED: SignalQuery = SignalQuery::new(SignalId::ConnectionsAccepted, "stub_status: accepts");
const DROPPED: SignalQuery = SignalQuery::new(SignalId::ConnectionsDropped, "stub_status: accepts - handled");
const REQUESTS: SignalQuery = SignalQuery::new(SignalId::Requests, "stub_status: requests");

const REMEDY: &str = "location = /nginx_status { stub_status; allow 127.0.0.1; deny all; }";

fn open(settings: &Settings) -> Result<Box<dyn Source>, SettingsError> {
    Ok(Box::new(Nginx::new(settings)?))
}

struct Nginx {
    name: String,
    client: Client,
    step: Duration,
    counters: Counters,
    /// Number of the source's own requests for the page.
    own: u32,
}

/// Values of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Status {
    active: u64,
    accepts: u64,
    handled: u64,
    requests: u64,
    reading: u64,
    writing: u64,
    waiting: u64,
}

impl Source for Nginx {
    fn about(&self) -> About {
        About { name: self.name.clone(), kind: KIND.name, address: self.client.base().to_owned() }
    }

    fn probe(&mut self) -> Vec<Check> {
        match self.ask() {
            Ok(status) => vec![Check::works("stub_status", format!("{} requests so far", status.requests))],
            Err(SourceError { message: why, .. }) => vec![Check::fails("stub_status", why, REMEDY)],
        }
    }

    fn period(&self) -> Option<Duration> {
        Some(self.step)
    }

    fn sample(&mut self, now: Moment) -> Result<Evidence, SourceError> {
        let status = self.ask()?;
        let mut answer = Answer::new(&self.name, now.at, self.step);
        // One active connection is the query itself.
        answer.number(&ACTIVE, &[], status.active.saturating_sub(1) as f64);
        answer.number(&READING, &[], status.reading as f64);
        answer.number(&WRITING, &[], status.writing.saturating_sub(1) as f64);
        answer.number(&WAITING, &[], status.waiting as f64);
        self.counters.turn(now.at);
        let counts = [
            (&ACCEPTED, status.accepts as f64),
            (&DROPPED, status.accepts.saturating_sub(status.handled) as f64),
            (&REQUESTS, status.requests.saturating_sub(self.own.into()) as f64),
        ];
        for (what, count) in counts {
            let rate = self.counters.rate(what.signal.as_str(), count);
            rate.into_iter().for_each(|rate| answer.number(what, &[], rate));
        }
        Ok(answer.evidence())
    }

    fn look_back(&mut self, _: &Period) -> Result<Evidence, SourceError> {
        Ok(Evidence::default())
    }
}

impl Nginx {
    fn new(settings: &Settings) -> Result<Nginx, SettingsError> {
        let Door { base, authorization, .. } = http::door(settings)?;
        Ok(Nginx {
            name: settings.name.clone(),
            client: Client::new(&base, authorization),
            step: settings.duration("step", Duration::from_secs(1))?,
            counters: Counters::default(),
            own: 0,
        })
    }

    fn ask(&mut self) -> Result<Status, SourceError> {
        let page = self.client.text("", &[])?;
        self.own = self.own.wrapping_add(1);
        let what = "the response is not a stub_status page";
        Status::parse(&page).ok_or_else(|| SourceError::new(format!("GET {}: {what}", self.client.base())))
    }
}

impl Status {
    fn parse(page: &str) -> Option<Status> {
        let words: Vec<&str> = page.split_whitespace().collect();
        let after = |word: &str, further: usize| {
            let at = words.iter().position(|known| *known == word)?;
            words.get(at + further)?.parse::<u64>().ok()
        };
        Some(Status {
            active: after("connections:", 1)?,
            // Three words followed by their three numbers.
            accepts: after("requests", 1)?,
            handled: after("requests", 2)?,
            requests: after("requests", 3)?,
            reading: after("Reading:", 1)?,
            writing: after("Writing:", 1)?,
            waiting: after("Waiting:", 1)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use lab::NGINX;
    use model::{Epoch, SystemClock};

    use super::*;
    use crate::contract::promises;
    use crate::trial;

    fn made(address: &str) -> Nginx {
        Nginx::new(&trial::settings("nginx", address, None)).expect("settings that are right")
    }

    #[test]
    fn the_page_is_read_and_nothing_else_is() {
        let page = "Active connections: 3 \nserver accepts handled requests\n 29 28 131 \n\
                    Reading: 0 Writing: 1 Waiting: 2 \n";
        let status =
            Status { active: 3, accepts: 29, handled: 28, requests: 131, reading: 0, writing: 1, waiting: 2 };
        assert_eq!(Status::parse(page), Some(status));
        assert_eq!(Status::parse("<html>Welcome to nginx!</html>"), None);
        assert_eq!(Status::parse(&page.replace("29", "-1")), None);
        assert_eq!(Status::parse(""), None);
    }

    #[test]
    fn an_absent_server_is_told() {
        promises::of_an_absent_server(&mut made("http://127.0.0.1:1/nginx_status"));
    }

    #[test]
    fn a_real_server_counts_what_others_ask_for() {
        let Some(server) = trial::server(NGINX) else { return };
        let url = server.url("nginx");
        let mut source = made(&format!("{url}/lab/nginx"));
        promises::of_a_source(&mut source, None);
        let wrong = made(&format!("{url}/lab")).probe();
        assert!(wrong[0].outcome.as_ref().is_err_and(|missing| missing.remedy == REMEDY), "{wrong:?}");

        let epoch = Epoch::anchor(&SystemClock);
        let mut sample = || source.sample(Moment::new(SystemClock::now(), &epoch)).expect("it is there");
        let before = sample();
        (0..20).for_each(|_| trial::send("GET", &format!("{url}/lab/nginx"), None, ""));
        let after = sample();
        let number =
            |name: &str| after.signals.iter().find(|signal| signal.name == name).expect(name).points[0];
        let (at, requests) = number("requests");
        let seconds = at.since(before.signals[0].points[0].0).as_secs_f64();
        assert!(
            (requests * seconds - 20.0).abs() < 1e-6,
            "twenty, without those that ask: {}",
            requests * seconds
        );
        assert_eq!(number("connections_dropped").1, 0.0);
        assert!(number("connections_accepted").1 > 0.0);
    }
}
