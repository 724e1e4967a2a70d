//! Agents as pods of a Kubernetes cluster: the objects of a run, the reasons that keep pods from starting, and a small client.
//!
//! The objects are values ([`objects`]), and [`watch::Watch`] takes what the API server answers and gives what to report; tests
//! feed it answers that a real server gave. [`client`] and [`deployment`] do the I/O. Plain HTTP and JSON suffice for the few
//! objects, and are much lighter than a client of the whole API. The crate must not know scripts, flags, hubs and stored runs.

pub mod access;
pub mod client;
pub mod deployment;
pub mod doctor;
mod kubeconfig;
pub mod objects;
pub mod permissions;
pub mod quantity;
pub mod watch;
pub mod yaml;

pub use access::{Access, AccessAsked};
pub use client::{ApiError, ApiErrorKind, Client};
pub use deployment::Deployment;
