//! End-to-end tests: the real binary, real sockets on loopback, real signals.

// The servers are the test's own.
#![allow(clippy::disallowed_methods)]

mod agents;
mod archives;
mod audit;
mod bad_input;
mod buckets;
mod calibrating;
mod ceilings;
mod ci_steps;
mod collecting;
mod command_line;
mod comparing;
mod converting;
mod counting;
mod documented;
mod evidence;
mod exit_codes;
mod exports;
mod facts;
mod flow;
mod grpc;
mod harness;
mod helping;
mod host_agent;
mod http2;
mod imports;
mod killed_sources;
mod lab;
mod lab_faults;
mod lab_feed;
mod lab_ingress;
mod lab_scan;
mod lab_traces;
mod live;
mod mcp;
mod mistakes;
mod page;
mod prometheus;
mod receiving;
mod remote;
mod results;
mod run_survives;
mod secrets_stay;
mod series;
mod signals;
mod stored;
mod stored_ci;
mod stored_safety;
mod streams;
mod studies;
mod timing;
mod types;
mod validity;
mod verifying;
