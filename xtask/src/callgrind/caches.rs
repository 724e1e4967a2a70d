//! Cache misses per request of a thousand VUs, in caches that callgrind simulates.
//!
//! Between two iterations of a VU the others have had the caches, so a request fetches again whatever its VU touches. Simulated caches
//! have the same sizes on every machine and no neighbours. They hold no memory of the kernel, which is not counted.

use anyhow::Context;

use super::{Counter, Figure, Load, run};

pub(super) const MISSES: Figure = Figure {
    key: "cache_misses_per_request_of_1000_vus",
    unit: "cache misses per request of 1,000 VUs",
    count: misses_per_request,
    tolerance: TOLERANCE,
};

/// Three counts of one program, alone on the machine, differ by 1 %. Beside two others that compute, one of two was 28 % higher; of three
/// counts the least is taken.
const TOLERANCE: f64 = 0.2;

const VUS: u32 = 1_000;

/// Iterations of each VU in the two runs.
const ITERATIONS_FEW: u32 = 2;
const ITERATIONS_MANY: u32 = 12;

/// The caches of a core: 32 KB for instructions and for data, and 2 MB for both, which is what newer servers have.
const CACHES: &[&str] = &[
    "--cache-sim=yes",
    "--I1=32768,8,64",
    "--D1=32768,8,64",
    "--LL=2097152,16,64",
    "--callgrind-out-file=/dev/null",
];

fn misses_per_request(counter: &Counter) -> anyhow::Result<f64> {
    let count = |iterations| {
        let load = Load { url: &counter.server.url, vus: VUS, iterations, flags: &[] };
        let text = run(&counter.plimsoll, &load, CACHES)?;
        misses(&text).with_context(|| format!("find the misses in what valgrind printed:\n{text}"))
    };
    let (few, many) = (count(ITERATIONS_FEW)?, count(ITERATIONS_MANY)?);
    Ok((many - few) / f64::from(VUS * (ITERATIONS_MANY - ITERATIONS_FEW)))
}

/// `==42== LL misses:         8,100,791  (  3,515,109 rd +   4,585,682 wr)`
fn misses(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.split_once("LL misses:"))?.1;
    line.split_whitespace().next()?.replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_misses_are_read_from_what_valgrind_prints() {
        let text = "==42== LLd misses:        6,883,522  (  2,628,758 rd + 4,254,764 wr)\n\
                    ==42== LL refs:          30,249,666  ( 23,009,394 rd + 7,240,272 wr)\n\
                    ==42== LL misses:         6,941,264  (  2,686,500 rd + 4,254,764 wr)\n";
        assert_eq!(misses(text), Some(6_941_264.0));
        assert_eq!(misses("==42== LL refs: 7\n"), None);
    }
}
