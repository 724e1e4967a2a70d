//! Queueing theory, in closed form or by recursion. Rates are per second and times in seconds.

/// The probability that an arrival at M/M/c/c is lost: Erlang's B formula, by its recursion
/// (Kleinrock, *Queueing Systems* 1, 3.5).
///
/// `load` is the rate of arrivals times the mean service time.
pub fn erlang_b(servers: u32, load: f64) -> f64 {
    (1..=servers).fold(1.0, |blocked, servers| load * blocked / (f64::from(servers) + load * blocked))
}

/// The probability that an arrival at M/M/c has to wait: Erlang's C formula (Kleinrock, *Queueing Systems* 1, 3.5). 1 where
/// the servers are overloaded.
pub fn erlang_c(servers: u32, load: f64) -> f64 {
    let used = load / f64::from(servers);
    if used >= 1.0 {
        return 1.0;
    }
    let blocked = erlang_b(servers, load);
    blocked / (1.0 - used * (1.0 - blocked))
}

/// The mean wait before service in M/M/c; infinite where the servers are overloaded.
pub fn mmc_wait_s(per_s: f64, servers: u32, service_mean_s: f64) -> f64 {
    let load = per_s * service_mean_s;
    let spare = f64::from(servers) - load;
    if spare <= 0.0 { f64::INFINITY } else { erlang_c(servers, load) * service_mean_s / spare }
}

/// The mean wait before service in M/G/1, by the Pollaczek–Khinchine formula (Kleinrock, *Queueing Systems* 1, 5.6):
/// `variation` is the standard deviation of service times over their mean, 0 for M/D/1. Infinite where it is overloaded.
pub fn mg1_wait_s(per_s: f64, service_mean_s: f64, variation: f64) -> f64 {
    let used = per_s * service_mean_s;
    if used >= 1.0 {
        return f64::INFINITY;
    }
    used * service_mean_s * (1.0 + variation * variation) / (2.0 * (1.0 - used))
}

/// The share of arrivals at M/D/1 that wait longer than a time before service (A. K. Erlang, 1909; Kleinrock, *Queueing Systems* 1,
/// 5.7). The terms of the sum change their sign, so that digits are lost with waits of more than some twenty services. 1 where it
/// is overloaded.
pub fn md1_waits_longer(per_s: f64, service_s: f64, wait_s: f64) -> f64 {
    let used = per_s * service_s;
    if used >= 1.0 {
        return 1.0;
    }
    let (mut sum, mut factorial) = (0.0, 1.0);
    for served in 0..=(wait_s / service_s) as i32 {
        factorial *= f64::from(served.max(1));
        let ahead = per_s * (f64::from(served) * service_s - wait_s);
        sum += ahead.powi(served) * (-ahead).exp() / factorial;
    }
    1.0 - (1.0 - used) * sum
}

/// The steady state of a system with a bounded number of jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Jobs served a second.
    pub throughput_per_s: f64,
    /// Mean time inside of those that are served.
    pub response_s: f64,
    /// Probability that an arrival is lost.
    pub loss: f64,
}

/// M/M/c/K: of what finds `places` jobs inside, nothing enters (Kleinrock, *Queueing Systems* 1, 3.6).
pub fn mmck(per_s: f64, servers: u32, places: u32, service_mean_s: f64) -> Steady {
    let shares = birth_death(places, |_| per_s, |jobs| completions_per_s(jobs, servers, service_mean_s));
    // Poisson arrivals see what an outside observer sees (Wolff, 1982).
    let loss = shares.last().copied().unwrap_or(0.0);
    let throughput_per_s = per_s * (1.0 - loss);
    Steady { throughput_per_s, response_s: mean_of(&shares) / throughput_per_s, loss }
}

/// A closed loop of `customers` with exponential think times around c exponential servers (the machine repairman's model,
/// Kleinrock, *Queueing Systems* 1, 3.8).
pub fn closed_loop(customers: u32, think_mean_s: f64, servers: u32, service_mean_s: f64) -> Steady {
    let arrivals = |jobs: u32| f64::from(customers - jobs) / think_mean_s;
    let completions = |jobs: u32| completions_per_s(jobs, servers, service_mean_s);
    let shares = birth_death(customers, arrivals, completions);
    let rates = shares.iter().zip(0..).map(|(share, jobs)| share * completions(jobs));
    let throughput_per_s: f64 = rates.sum();
    // Little's law: customers are thinking or inside.
    let response_s = f64::from(customers) / throughput_per_s - think_mean_s;
    Steady { throughput_per_s, response_s, loss: 0.0 }
}

/// A closed loop through several single servers, one after the other, by exact mean value analysis (Reiser and Lavenberg,
/// 1980): each has the mean time that a job needs of it.
pub fn mean_value_analysis(customers: u32, think_mean_s: f64, demands_s: &[f64]) -> Steady {
    let mut queues = vec![0.0; demands_s.len()];
    let mut steady = Steady { throughput_per_s: 0.0, response_s: 0.0, loss: 0.0 };
    for customers in 1..=customers {
        // An arrival sees what the loop with one customer less looks like.
        let responses: Vec<f64> =
            demands_s.iter().zip(&queues).map(|(demand_s, queue)| demand_s * (1.0 + queue)).collect();
        let response_s: f64 = responses.iter().sum();
        let throughput_per_s = f64::from(customers) / (think_mean_s + response_s);
        queues = responses.iter().map(|response_s| throughput_per_s * response_s).collect();
        steady = Steady { throughput_per_s, response_s, loss: 0.0 };
    }
    steady
}

fn completions_per_s(jobs: u32, servers: u32, service_mean_s: f64) -> f64 {
    f64::from(jobs.min(servers)) / service_mean_s
}

/// The share of time with 0, 1, … `most` jobs inside, where the rate up from n and the rate down from n are known: what goes up
/// comes down (Kleinrock, *Queueing Systems* 1, 3.1).
fn birth_death(most: u32, up_per_s: impl Fn(u32) -> f64, down_per_s: impl Fn(u32) -> f64) -> Vec<f64> {
    let mut shares = vec![1.0];
    let mut share: f64 = 1.0;
    for jobs in 1..=most {
        share *= up_per_s(jobs - 1) / down_per_s(jobs);
        shares.push(share);
        if share > 1e200 {
            // Only ratios count; without this, large systems overflow.
            shares.iter_mut().for_each(|other| *other /= share);
            share = 1.0;
        }
    }
    let all: f64 = shares.iter().sum();
    shares.iter().map(|share| share / all).collect()
}

fn mean_of(shares: &[f64]) -> f64 {
    shares.iter().zip(0..).map(|(share, jobs)| share * f64::from(jobs)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(value: f64, expect: f64) {
        assert!((value - expect).abs() <= 1e-9 * expect.abs().max(1.0), "{value} for {expect}");
    }

    #[test]
    fn known_values() {
        // M/M/1: an arrival waits with probability ρ, for ρS/(1−ρ).
        near(erlang_c(1, 0.8), 0.8);
        near(mmc_wait_s(8.0, 1, 0.1), 0.4);
        // M/M/2 at ρ: 2ρ²/(1+ρ).
        near(erlang_c(2, 1.0), 1.0 / 3.0);
        // M/M/1/1 loses ρ/(1+ρ).
        near(erlang_b(1, 0.5), 1.0 / 3.0);
        near(mmck(5.0, 1, 1, 0.1).loss, 1.0 / 3.0);
        // M/M/c/c is Erlang's B; without end of places it is M/M/c.
        near(mmck(30.0, 4, 4, 0.1).loss, erlang_b(4, 3.0));
        near(mmck(30.0, 4, 400, 0.1).response_s, 0.1 + mmc_wait_s(30.0, 4, 0.1));
        // M/D/1 waits half as long as M/M/1.
        near(mg1_wait_s(8.0, 0.1, 0.0), 0.2);
        near(mg1_wait_s(8.0, 0.1, 1.0), mmc_wait_s(8.0, 1, 0.1));
        assert_eq!(mmc_wait_s(20.0, 1, 0.1), f64::INFINITY);
        assert_eq!(mg1_wait_s(20.0, 0.1, 1.0), f64::INFINITY);
        assert_eq!(erlang_c(2, 3.0), 1.0);
        // In M/D/1 the share that finds the queue empty is 1 − ρ, and the shares of the others give the mean wait.
        near(md1_waits_longer(8.0, 0.1, 0.0), 0.8);
        let shares: f64 = (0..20_000).map(|step| md1_waits_longer(5.0, 0.1, f64::from(step) / 1e4)).sum();
        assert!((shares / 1e4 / mg1_wait_s(5.0, 0.1, 0.0) - 1.0).abs() < 1e-3, "{shares}");
        assert_eq!(md1_waits_longer(20.0, 0.1, 1.0), 1.0);
    }

    #[test]
    fn two_ways_to_a_closed_loop_agree() {
        for (customers, think_s, demand_s) in [(1, 1.0, 0.1), (10, 0.5, 0.1), (300, 2.0, 0.02)] {
            let loop_ = closed_loop(customers, think_s, 1, demand_s);
            let analysis = mean_value_analysis(customers, think_s, &[demand_s]);
            near(loop_.throughput_per_s, analysis.throughput_per_s);
            near(loop_.response_s, analysis.response_s);
        }
        // A single job never waits, and the slowest station is the limit.
        near(closed_loop(4, 1.0, 4, 0.25).throughput_per_s, 3.2);
        near(mean_value_analysis(1000, 1.0, &[0.01, 0.02]).throughput_per_s, 50.0);
    }
}
