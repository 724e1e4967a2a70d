//! Redis, which saves nothing.

use super::{Offer, Place, Server, exchange, path_of};
use crate::error::LabError;
use crate::process::Launch;

#[derive(Debug)]
pub(super) struct Redis;

impl Server for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn package(&self) -> &'static str {
        "redis-server"
    }

    fn program(&self) -> &'static str {
        "redis-server"
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        // In a file, because everybody can read the arguments of a process.
        let settings = format!(
            "bind 127.0.0.1\nport {}\nrequirepass {}\nsave \"\"\nappendonly no\ndaemonize no\n",
            place.ports[0], place.password
        );
        place.write("redis.conf", &settings)?;
        Ok(vec![Launch::new(self.name(), path_of(self)?).args(["redis.conf"])])
    }

    fn is_ready(&self, place: &Place) -> bool {
        let request = format!("AUTH {}\r\nPING\r\n", place.password);
        exchange(place.address(0), request.as_bytes()).is_some_and(|answer| answer.starts_with(b"+OK"))
    }

    fn url(&self, place: &Place) -> String {
        format!("redis://:{}@127.0.0.1:{}", place.password, place.ports[0])
    }

    fn offer(&self, place: &Place) -> Option<Offer> {
        Some(Offer {
            kind: "redis".to_owned(),
            address: format!("redis://127.0.0.1:{}", place.ports[0]),
            password: Some(place.password.clone()),
        })
    }
}
