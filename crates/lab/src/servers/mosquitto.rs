//! Mosquitto, a broker of MQTT.

use super::{Place, Server, exchange, path_of};
use crate::error::LabError;
use crate::process::{self, Launch};

/// Hides the passwords in their file.
const PASSWORD_PROGRAM: &str = "mosquitto_passwd";

#[derive(Debug)]
pub(super) struct Mosquitto;

impl Server for Mosquitto {
    fn name(&self) -> &'static str {
        "mosquitto"
    }

    fn package(&self) -> &'static str {
        "mosquitto"
    }

    fn program(&self) -> &'static str {
        "mosquitto"
    }

    fn is_installed(&self) -> bool {
        process::find_program(self.program()).is_some() && process::find_program(PASSWORD_PROGRAM).is_some()
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let hide = process::find_program(PASSWORD_PROGRAM)
            .ok_or_else(|| LabError::start(self.name(), "it is not installed"))?;
        place.write("passwords", &format!("lab:{}\n", place.password))?;
        Launch::new("mosquitto's passwords", hide).args(["-U", "passwords"]).run(&place.directory)?;
        // Otherwise it becomes a user who may not read its files.
        let user = if process::is_root() { "user root\n" } else { "" };
        let settings = format!(
            "listener {} 127.0.0.1\nallow_anonymous false\npassword_file {}\npersistence false\n{user}",
            place.ports[0],
            place.file("passwords").display()
        );
        place.write("mosquitto.conf", &settings)?;
        Ok(vec![Launch::new(self.name(), path_of(self)?).args(["-c", "mosquitto.conf"])])
    }

    /// It answers a client without a password with a refusal.
    fn is_ready(&self, place: &Place) -> bool {
        let connect = b"\x10\x0d\0\x04MQTT\x04\x02\0\x05\0\x01c";
        exchange(place.address(0), connect).is_some_and(|answer| answer.first() == Some(&0x20))
    }

    fn url(&self, place: &Place) -> String {
        format!("mqtt://lab:{}@127.0.0.1:{}", place.password, place.ports[0])
    }
}
