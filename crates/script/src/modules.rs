//! The host's modules, one file each. [`crate::host`] lists them.

pub(crate) mod amqp;
pub(crate) mod crypto;
pub(crate) mod csv;
pub(crate) mod data;
pub(crate) mod dns;
pub(crate) mod dotenv;
pub(crate) mod encoding;
pub(crate) mod exec;
pub(crate) mod execution;
pub(crate) mod faker;
pub(crate) mod fs;
pub(crate) mod html;
pub(crate) mod k6;
pub(crate) mod metrics;
pub(crate) mod mqtt;
pub(crate) mod notation;
pub(crate) mod redis;
pub(crate) mod rows;
pub(crate) mod secrets;
pub(crate) mod shared;
pub(crate) mod sql;
pub(crate) mod streams;
pub(crate) mod timers;
pub(crate) mod x509;
mod yaml_number;
mod yaml_time;
mod yaml_value;
mod yaml_writer;

pub(crate) use self::html::{fail, resolve, select_page};
pub(crate) use k6::sleep;
