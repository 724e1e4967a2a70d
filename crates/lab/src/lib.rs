//! The lab: systems under test on real servers, each started in a directory of its own on free loopback ports.
//!
//! A system is a value ([`System`]) that says which servers it needs and what serves it. One process, the supervisor, is the
//! parent of all that runs; the kernel ends its children when it ends, however it ends. What is known of a lab stands in its
//! `state.json`, so that any other process can ask, plant a fault or take it down. Nothing here knows what a system does.

mod alone;
mod assignment;
mod control;
mod error;
mod faults;
mod http;
mod parts;
mod ports;
mod process;
mod running;
mod servers;
mod state;
mod supervisor;
mod sweep;
mod system;

pub use alone::Alone;
pub use assignment::Assignment;
pub use control::{Status, UpSettings, down, install, set_fault, status, up};
pub use error::LabError;
pub use faults::{Fault, Indicator, faults, faults_of, indicators_of};
pub use ports::free_ports;
pub use process::{Identity, Launch};
pub use servers::{
    Around, Front, MARIADB, MOSQUITTO, NGINX, Offer, POSTGRES, PROMETHEUS, Place, RABBITMQ, REDIS, Replica,
    Server, Site,
};
pub use state::{LabProcess, Phase, State, directory};
pub use supervisor::{SERVE_WORD, SUPERVISE_WORD, serve, supervise};
pub use system::{System, Variant};
