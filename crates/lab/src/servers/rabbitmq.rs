//! RabbitMQ with its management plugin, and the name server of Erlang that it needs, on a port of its own.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Offer, Place, Server};
use crate::error::LabError;
use crate::http;
use crate::process::{self, Launch};

/// Debian's script on the PATH changes the user; the one below it does not.
const SCRIPT: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const NAME_SERVER_PROGRAM: &str = "epmd";

/// The purposes of its ports, in order.
const AMQP: usize = 0;
const MANAGEMENT: usize = 1;
const DISTRIBUTION: usize = 2;
const NAME_SERVER: usize = 3;

#[derive(Debug)]
pub(super) struct RabbitMq;

impl Server for RabbitMq {
    fn name(&self) -> &'static str {
        "rabbitmq"
    }

    fn package(&self) -> &'static str {
        "rabbitmq-server"
    }

    fn program(&self) -> &'static str {
        SCRIPT
    }

    fn is_installed(&self) -> bool {
        Path::new(SCRIPT).is_file() && process::find_program(NAME_SERVER_PROGRAM).is_some()
    }

    fn port_count(&self) -> usize {
        4
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let name_server = process::find_program(NAME_SERVER_PROGRAM)
            .ok_or_else(|| LabError::start(self.name(), "Erlang is not installed"))?;
        let port = |port: usize| place.ports[port].to_string();
        let settings = format!(
            "listeners.tcp.default = {}\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {}\n\
             default_user = lab\ndefault_pass = {}\ndefault_user_tags.administrator = true\n\
             # Statistics as fresh as the load is: the plugin renews them as often as it keeps them.\n\
             collect_statistics_interval = 1000\nmanagement.sample_retention_policies.global.minute = 1\n\
             management.sample_retention_policies.basic.minute = 1\n\
             management.sample_retention_policies.detailed.minute = 1\n",
            place.address(AMQP),
            port(MANAGEMENT),
            place.password
        );
        place.write("rabbitmq.conf", &settings)?;
        place.write("enabled_plugins", "[rabbitmq_management].\n")?;
        let file = |name: &str| place.file(name).display().to_string();
        let epmd = Launch::new("epmd", name_server).args([
            "-address".to_owned(),
            "127.0.0.1".to_owned(),
            "-port".to_owned(),
            port(NAME_SERVER),
        ]);
        let mut server = Launch::new(self.name(), SCRIPT)
            .env("RABBITMQ_NODENAME", format!("lab{}@localhost", port(AMQP)))
            .env("RABBITMQ_CONFIG_FILE", file("rabbitmq.conf"))
            .env("RABBITMQ_CONF_ENV_FILE", "/dev/null")
            .env("RABBITMQ_ENABLED_PLUGINS_FILE", file("enabled_plugins"))
            .env("RABBITMQ_MNESIA_BASE", file("mnesia"))
            .env("RABBITMQ_LOG_BASE", file("log"))
            .env("RABBITMQ_LOGS", "-")
            .env("RABBITMQ_DIST_PORT", port(DISTRIBUTION))
            .env("ERL_EPMD_PORT", port(NAME_SERVER))
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}")
            // The script then becomes the server instead of staying as its parent, and the server ends with its input.
            .env("RABBITMQ_ALLOW_INPUT", "1");
        server.holds_stdin = true;
        Ok(vec![epmd, server])
    }

    fn is_ready(&self, place: &Place) -> bool {
        let url = format!("http://127.0.0.1:{}/api/overview", place.ports[MANAGEMENT]);
        let answer = http::get(&url, Some(&authorization(place)), super::PROBE_LIMIT);
        let speaks =
            || super::exchange(place.address(AMQP), b"AMQP\0\0\x09\x01").is_some_and(|it| !it.is_empty());
        answer.is_ok_and(|(status, _)| status == 200) && speaks()
    }

    fn url(&self, place: &Place) -> String {
        format!("amqp://lab:{}@127.0.0.1:{}/", place.password, place.ports[AMQP])
    }

    fn offer(&self, place: &Place) -> Option<Offer> {
        Some(Offer {
            kind: "rabbitmq".to_owned(),
            address: format!("http://lab@127.0.0.1:{}", place.ports[MANAGEMENT]),
            password: Some(place.password.clone()),
        })
    }
}

fn authorization(place: &Place) -> String {
    format!("Basic {}", STANDARD.encode(format!("lab:{}", place.password)))
}
