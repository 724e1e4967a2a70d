//! Plays a [`Setup`], event by event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

use super::random::Random;
use super::{Again, Arrivals, Job, JobEnd, Retry, Setup, SetupError};

/// A system at work. An iterator over attempts in the order in which they leave; it ends when all that came has left.
#[derive(Debug)]
pub struct Simulation {
    setup: Setup,
    /// Of arrivals and thinking, of service, and of retries.
    random: [Random; 3],
    now_s: f64,
    events: BinaryHeap<Reverse<Event>>,
    events_made: u64,
    /// Where the open arrivals are: which step, and when it ends.
    step: (usize, f64),
    jobs: u64,
    waiting: VecDeque<Ticket>,
    busy: u32,
    /// Those before the critical section, and since when.
    before_lock: VecDeque<(Ticket, f64)>,
    is_locked: bool,
    /// The attempt that each client waits for, where clients give up.
    waited_for: HashMap<u64, u32>,
    left: VecDeque<Job>,
}

/// An attempt inside.
#[derive(Clone, Copy, Debug)]
struct Ticket {
    number: u64,
    attempt: u32,
    arrival_s: f64,
    start_s: f64,
    lock_wait_s: f64,
}

#[derive(Clone, Copy, Debug)]
enum EventKind {
    /// The next job from outside.
    Open,
    /// A customer has thought.
    Thought,
    /// A job comes again.
    Again {
        number: u64,
        attempt: u32,
    },
    Served(Ticket),
    Unlocked(Ticket),
    GivenUp {
        number: u64,
        attempt: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Event {
    at_s: f64,
    /// Equal times in the order in which they were made.
    made: u64,
    kind: EventKind,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Event {}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> std::cmp::Ordering {
        self.at_s.total_cmp(&other.at_s).then(self.made.cmp(&other.made))
    }
}

impl Simulation {
    /// A system that is empty and about to begin.
    ///
    /// # Errors
    /// The setup makes no sense.
    pub fn new(setup: Setup, seed: u64) -> Result<Simulation, SetupError> {
        setup.check()?;
        let mut simulation = Simulation {
            random: Random::streams(seed),
            now_s: 0.0,
            events: BinaryHeap::new(),
            events_made: 0,
            step: (0, 0.0),
            jobs: 0,
            waiting: VecDeque::new(),
            busy: 0,
            before_lock: VecDeque::new(),
            is_locked: false,
            waited_for: HashMap::new(),
            left: VecDeque::new(),
            setup,
        };
        match &simulation.setup.arrivals {
            Arrivals::Open { steps } => {
                simulation.step = (0, steps.first().map_or(0.0, |step| step.for_s));
                simulation.expect_next();
            }
            Arrivals::Closed { customers, .. } => (0..*customers).for_each(|_| simulation.think()),
        }
        Ok(simulation)
    }

    fn plan(&mut self, at_s: f64, kind: EventKind) {
        self.events_made += 1;
        self.events.push(Reverse(Event { at_s, made: self.events_made, kind }));
    }

    /// Plans the next job from outside. An arrival after the end of a step is drawn anew from there, at the next step's
    /// rate: the process has no memory.
    fn expect_next(&mut self) {
        let Arrivals::Open { steps } = &self.setup.arrivals else { return };
        let mut from_s = self.now_s;
        while let Some(step) = steps.get(self.step.0) {
            let pause_s =
                if step.per_s > 0.0 { self.random[0].exponential(step.per_s.recip()) } else { f64::INFINITY };
            if from_s + pause_s < self.step.1 {
                return self.plan(from_s + pause_s, EventKind::Open);
            }
            from_s = self.step.1;
            let next = self.step.0 + 1;
            self.step = (next, from_s + steps.get(next).map_or(0.0, |step| step.for_s));
        }
    }

    /// A customer thinks, and comes if there is time left.
    fn think(&mut self) {
        let Arrivals::Closed { think, for_s, .. } = self.setup.arrivals else { return };
        let at_s = self.now_s + self.random[0].time_s(think);
        if at_s < for_s {
            self.plan(at_s, EventKind::Thought);
        }
    }

    fn happen(&mut self, kind: EventKind) {
        match kind {
            EventKind::Open => {
                self.arrive_new();
                self.expect_next();
            }
            EventKind::Thought => self.arrive_new(),
            EventKind::Again { number, attempt } => self.arrive(number, attempt),
            EventKind::Served(ticket) => self.serve(ticket),
            EventKind::Unlocked(ticket) => {
                self.is_locked = false;
                self.leave(ticket);
                if let Some((next, since_s)) = self.before_lock.pop_front() {
                    self.lock(Ticket { lock_wait_s: self.now_s - since_s, ..next });
                }
            }
            EventKind::GivenUp { number, attempt } => {
                if self.waited_for.get(&number) == Some(&attempt) {
                    self.give_up(number, attempt);
                }
            }
        }
    }

    fn arrive_new(&mut self) {
        self.jobs += 1;
        self.arrive(self.jobs - 1, 1);
    }

    fn arrive(&mut self, number: u64, attempt: u32) {
        let now_s = self.now_s;
        let ticket = Ticket { number, attempt, arrival_s: now_s, start_s: now_s, lock_wait_s: 0.0 };
        let again = self.setup.retry.map(|retry| retry.again);
        if self.waiting.len() + self.busy as usize >= self.setup.places as usize {
            self.record(ticket, JobEnd::Dropped);
            match again {
                Some(Again::SlowerThan(_)) => self.give_up(number, attempt),
                _ => self.think(),
            }
            return;
        }
        if let Some(Again::SlowerThan(limit_s)) = again {
            self.waited_for.insert(number, attempt);
            self.plan(now_s + limit_s, EventKind::GivenUp { number, attempt });
        }
        if self.busy < self.setup.servers { self.start(ticket) } else { self.waiting.push_back(ticket) }
    }

    fn start(&mut self, ticket: Ticket) {
        self.busy += 1;
        let takes_s = self.random[1].time_s(self.setup.service);
        self.plan(self.now_s + takes_s, EventKind::Served(Ticket { start_s: self.now_s, ..ticket }));
    }

    /// The part beside others is over; what is left is the critical section, if there is one.
    fn serve(&mut self, ticket: Ticket) {
        match (self.setup.critical, self.is_locked) {
            (None, _) => self.leave(ticket),
            (Some(_), true) => self.before_lock.push_back((ticket, self.now_s)),
            (Some(_), false) => self.lock(ticket),
        }
    }

    fn lock(&mut self, ticket: Ticket) {
        self.is_locked = true;
        let takes_s = self.setup.critical.map_or(0.0, |critical| self.random[1].time_s(critical));
        self.plan(self.now_s + takes_s, EventKind::Unlocked(ticket));
    }

    fn leave(&mut self, ticket: Ticket) {
        self.busy -= 1;
        match self.setup.retry {
            None => self.succeed(ticket),
            Some(Retry { again: Again::Chance(chance), pause, attempts_max }) => {
                if ticket.attempt < attempts_max && self.random[2].unit() < chance {
                    self.record(ticket, JobEnd::Served);
                    let at_s = self.now_s + self.random[2].time_s(pause);
                    self.plan(at_s, EventKind::Again { number: ticket.number, attempt: ticket.attempt + 1 });
                } else {
                    self.succeed(ticket);
                }
            }
            Some(Retry { again: Again::SlowerThan(_), .. }) => {
                if self.waited_for.get(&ticket.number) == Some(&ticket.attempt) {
                    self.waited_for.remove(&ticket.number);
                    self.succeed(ticket);
                } else {
                    self.record(ticket, JobEnd::Wasted);
                }
            }
        }
        if let Some(next) = self.waiting.pop_front() {
            self.start(next);
        }
    }

    fn succeed(&mut self, ticket: Ticket) {
        self.record(ticket, JobEnd::Served);
        self.think();
    }

    /// A client comes again, or has no attempts left.
    fn give_up(&mut self, number: u64, attempt: u32) {
        self.waited_for.remove(&number);
        match self.setup.retry {
            Some(retry) if attempt < retry.attempts_max => {
                let at_s = self.now_s + self.random[2].time_s(retry.pause);
                self.plan(at_s, EventKind::Again { number, attempt: attempt + 1 });
            }
            _ => self.think(),
        }
    }

    fn record(&mut self, ticket: Ticket, end: JobEnd) {
        let Ticket { number, attempt, arrival_s, start_s, lock_wait_s } = ticket;
        let finish_s = self.now_s;
        self.left.push_back(Job { number, attempt, arrival_s, start_s, finish_s, lock_wait_s, end });
    }
}

impl Iterator for Simulation {
    type Item = Job;

    fn next(&mut self) -> Option<Job> {
        loop {
            if let Some(job) = self.left.pop_front() {
                return Some(job);
            }
            let Reverse(event) = self.events.pop()?;
            self.now_s = event.at_s;
            self.happen(event.kind);
        }
    }
}
