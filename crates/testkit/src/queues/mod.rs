//! Simulated queues whose capacity can be computed, in virtual time: ground truth for statistics.
//!
//! A [`Setup`] says who comes, how many servers there are and what keeps a job from being done at once. [`Simulation`] plays
//! it, event by event and with nothing but arithmetic, and gives every job with its arrival, start and finish, from which
//! windows and histograms can be made. The same seed gives the same jobs on every machine. What [`laws`] knows in closed form,
//! the tests hold the simulation to.
//!
//! | Kind | In Kendall's notation | What limits it |
//! |---|---|---|
//! | [`Setup::servers`] | M/M/c, M/G/c | c servers |
//! | [`Setup::fixed`] | M/D/1 | one server that always takes as long |
//! | [`Setup::pool`] | M/M/c/K | c servers; of what finds K jobs inside, nothing enters |
//! | [`Setup::lock`] | – | a critical section that one of the c servers is in at a time |
//! | [`Setup::feedback`] | M/M/c with Bernoulli feedback | c servers, and jobs that come again |
//! | [`Setup::retries`] | – | c servers, and clients that give up, come again, and leave their work behind |
//!
//! Every one of them with arrivals from outside (Poisson, in steps of constant rate) or from a closed loop of customers who
//! think between two jobs.
//!
//! ```
//! use testkit::queues::{Arrivals, Setup, Simulation, Times};
//!
//! // 80 jobs a second for a minute, two servers that hold each for 20 ms: four fifths of what they can do.
//! let setup = Setup::servers(Arrivals::poisson(80.0, 60.0), 2, Times::Exponential { mean_s: 0.020 });
//! assert_eq!(setup.capacity_per_s(), 100.0);
//! let waited_s: Vec<f64> = Simulation::new(setup, 7).unwrap().map(|job| job.start_s - job.arrival_s).collect();
//! assert!(waited_s.len() > 4_000);
//! ```

pub mod laws;
mod random;
mod simulation;
#[cfg(test)]
mod tests;

pub use random::Times;
pub use simulation::Simulation;

/// Jobs that a system without a limit of its own may hold. More are dropped, and can be seen to be.
pub const PLACES_MAX: u32 = 1 << 20;

/// Customers of a closed loop.
pub const CUSTOMERS_MAX: u32 = 1 << 20;

/// The arrivals: how many, and when.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// From outside, whatever became of earlier jobs: a Poisson process whose rate changes from step to step.
    Open {
        /// One after the other.
        steps: Vec<Step>,
    },
    /// From customers who think, have one job done, and think again.
    Closed {
        /// How many of them.
        customers: u32,
        /// How long they think.
        think: Times,
        /// After so many seconds no new jobs come.
        for_s: f64,
    },
}

/// A time of constant load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Jobs a second.
    pub per_s: f64,
    /// How many seconds long.
    pub for_s: f64,
}

impl Arrivals {
    /// A Poisson process of one rate.
    pub fn poisson(per_s: f64, for_s: f64) -> Arrivals {
        Arrivals::Open { steps: vec![Step { per_s, for_s }] }
    }

    /// A closed loop with exponential think times.
    pub fn closed(customers: u32, think_mean_s: f64, for_s: f64) -> Arrivals {
        Arrivals::Closed { customers, think: Times::Exponential { mean_s: think_mean_s }, for_s }
    }
}

/// Why jobs come again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Again {
    /// A job that was served comes again with this probability, whatever it was like.
    Chance(f64),
    /// Clients give up on what is not served within so many seconds of its arrival, and on what is dropped. The server knows
    /// nothing of that and does the work all the same.
    SlowerThan(f64),
}

/// Jobs that come again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retry {
    /// Why.
    pub again: Again,
    /// How long after.
    pub pause: Times,
    /// How often a job comes at most, the first time included.
    pub attempts_max: u32,
}

/// A system and its load.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// The arrivals.
    pub arrivals: Arrivals,
    /// Jobs that are served at a time; the others wait in the order of their arrival.
    pub servers: u32,
    /// How long a server takes, without the critical section.
    pub service: Times,
    /// Jobs that may be inside, waiting ones included. What finds it full is dropped.
    pub places: u32,
    /// How long a job is in the critical section at the end of its service, where one job is at a time. Its server waits
    /// with it.
    pub critical: Option<Times>,
    /// Jobs that come again.
    pub retry: Option<Retry>,
}

impl Setup {
    /// c servers and nothing else: M/M/c where the service times are exponential.
    pub fn servers(arrivals: Arrivals, servers: u32, service: Times) -> Setup {
        Setup { arrivals, servers, service, places: PLACES_MAX, critical: None, retry: None }
    }

    /// One server that always takes `service_s` seconds: M/D/1.
    pub fn fixed(arrivals: Arrivals, service_s: f64) -> Setup {
        Setup::servers(arrivals, 1, Times::Fixed { s: service_s })
    }

    /// c servers and K places, those of the servers included: M/M/c/K.
    pub fn pool(arrivals: Arrivals, servers: u32, places: u32, service: Times) -> Setup {
        Setup { places, ..Setup::servers(arrivals, servers, service) }
    }

    /// c servers that need one lock: `service` beside each other, then `critical` one after the other.
    pub fn lock(arrivals: Arrivals, servers: u32, service: Times, critical: Times) -> Setup {
        Setup { critical: Some(critical), ..Setup::servers(arrivals, servers, service) }
    }

    /// c servers, and jobs that come again at once with this probability.
    pub fn feedback(arrivals: Arrivals, servers: u32, service: Times, chance: f64) -> Setup {
        let pause = Times::Fixed { s: 0.0 };
        let retry = Some(Retry { again: Again::Chance(chance), pause, attempts_max: u32::MAX });
        Setup { retry, ..Setup::servers(arrivals, servers, service) }
    }

    /// c servers, and clients who wait for `timeout_s` and try up to `attempts_max` times.
    pub fn retries(
        arrivals: Arrivals,
        servers: u32,
        service: Times,
        timeout_s: f64,
        attempts_max: u32,
    ) -> Setup {
        let pause = Times::Fixed { s: 0.0 };
        let retry = Some(Retry { again: Again::SlowerThan(timeout_s), pause, attempts_max });
        Setup { retry, ..Setup::servers(arrivals, servers, service) }
    }

    /// New jobs a second that can be served in the long run, of clients that do not give up.
    pub fn capacity_per_s(&self) -> f64 {
        let critical_s = self.critical.map_or(0.0, |critical| critical.mean_s());
        let of_servers = f64::from(self.servers) / (self.service.mean_s() + critical_s);
        let of_lock = if critical_s > 0.0 { critical_s.recip() } else { f64::INFINITY };
        let visits = match self.retry.map(|retry| retry.again) {
            Some(Again::Chance(chance)) => (1.0 - chance).recip(),
            _ => 1.0,
        };
        of_servers.min(of_lock) / visits
    }

    /// Whether it can be played.
    ///
    /// # Errors
    /// The first of its figures that cannot.
    fn check(&self) -> Result<(), SetupError> {
        let say = |holds: bool, what: &'static str| if holds { Ok(()) } else { Err(SetupError { what }) };
        match &self.arrivals {
            Arrivals::Open { steps } => {
                let is_fine = |step: &Step| is_time(step.per_s) && is_time(step.for_s);
                say(steps.iter().all(is_fine), "rates and lengths of steps are finite and not negative")?;
            }
            Arrivals::Closed { customers, think, for_s } => {
                say((1..=CUSTOMERS_MAX).contains(customers), "a closed loop has 1 to 1,048,576 customers")?;
                say(is_time(*for_s), "the length of a closed loop is finite and not negative")?;
                say(think.is_fine(), "think times are finite and not negative")?;
                // Or a customer who is turned away comes again and again in one instant.
                let is_full = self.places < *customers && think.mean_s() == 0.0;
                say(!is_full, "customers who may be turned away think for a while")?;
            }
        }
        say(self.servers >= 1, "there is a server")?;
        say((1..=PLACES_MAX).contains(&self.places), "there are 1 to 1,048,576 places")?;
        say(self.service.is_fine() && self.service.mean_s() > 0.0, "service takes a finite time")?;
        say(self.critical.is_none_or(|times| times.is_fine()), "a critical section takes a finite time")?;
        let Some(retry) = self.retry else { return Ok(()) };
        say(retry.pause.is_fine() && retry.attempts_max >= 1, "retries have a finite pause and an attempt")?;
        match retry.again {
            Again::Chance(chance) => say((0.0..1.0).contains(&chance), "a chance of retries is below 1"),
            Again::SlowerThan(limit_s) => say(is_time(limit_s) && limit_s > 0.0, "a timeout is above nought"),
        }
    }
}

fn is_time(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// A contradiction in a setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupError {
    what: &'static str,
}

impl std::fmt::Display for SetupError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "simulate a queue of which this does not hold: {}", self.what)
    }
}

impl std::error::Error for SetupError {}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// It was served.
    Served,
    /// It was served, and the client had given up on it before.
    Wasted,
    /// It found no place.
    Dropped,
}

/// One attempt at one job. Times are seconds from the start; those of a dropped one are all when it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Job {
    /// The job's number, from 0 in the order of first arrivals.
    pub number: u64,
    /// Which attempt at it, from 1.
    pub attempt: u32,
    /// When it came.
    pub arrival_s: f64,
    /// When a server took it.
    pub start_s: f64,
    /// When it left.
    pub finish_s: f64,
    /// How long it waited, with its server, for the critical section.
    pub lock_wait_s: f64,
    /// How it ended.
    pub end: JobEnd,
}
