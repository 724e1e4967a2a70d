//! The program through its front door: the real binary, real sockets on loopback, real signals.

mod archives;
mod audit;
mod bad_input;
mod buckets;
mod calibrating;
mod command_line;
mod comparing;
mod counting;
mod exit_codes;
mod exports;
mod facts;
mod harness;
mod http2;
mod imports;
mod live;
mod page;
mod prometheus;
mod remote;
mod results;
mod series;
mod signals;
mod stored;
mod stored_ci;
mod stored_safety;
mod timing;
mod validity;
