//! MariaDB, which stands for MySQL, too. What it stores is thrown away with the lab, so it is set up not to wait for the disk.

use super::{Place, Server, exchange, path_of};
use crate::error::LabError;
use crate::process::{self, Launch, User};

/// The user that Debian's package makes, whom the server runs as when the lab is root's.
const USER: &str = "mysql";

/// Makes the tables of the server itself.
const INSTALL_PROGRAM: &str = "mariadb-install-db";

/// Settings that differ from the defaults.
const SETTINGS: &[&str] = &[
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=32M",
    "--innodb-log-file-size=8M",
];

#[derive(Debug)]
pub(super) struct MariaDb;

impl Server for MariaDb {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn package(&self) -> &'static str {
        "mariadb-server"
    }

    fn program(&self) -> &'static str {
        "mariadbd"
    }

    fn is_installed(&self) -> bool {
        process::find_program(self.program()).is_some() && process::find_program(INSTALL_PROGRAM).is_some()
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        let user = whom_to_run_as()?;
        let statements = format!(
            "CREATE DATABASE lab;\nCREATE USER lab@'%' IDENTIFIED BY '{}';\nGRANT ALL ON lab.* TO lab@'%';\n",
            place.password
        );
        let first = place.write("first.sql", &statements)?;
        if let Some(user) = &user {
            for path in [&place.directory, &first] {
                std::os::unix::fs::chown(path, Some(user.uid), Some(user.gid))
                    .map_err(|error| LabError::file("give away", path, error))?;
            }
        }
        let install = process::find_program(INSTALL_PROGRAM)
            .ok_or_else(|| LabError::start(self.name(), "it is not installed"))?;
        let file = |name: &str| place.file(name).display().to_string();
        let data = format!("--datadir={}", file("data"));
        let install = Launch { user: user.clone(), ..Launch::new("mariadb's install", install) };
        install
            .args(["--no-defaults".to_owned(), data.clone(), "--skip-test-db".to_owned()])
            .run(&place.directory)?;
        let server = Launch { user, ..Launch::new(self.name(), path_of(self)?) };
        let server = server.args(["--no-defaults".to_owned(), data]).args(SETTINGS.iter().copied()).args([
            format!("--port={}", place.ports[0]),
            format!("--socket={}", file("socket")),
            format!("--pid-file={}", file("pid")),
            format!("--init-file={}", first.display()),
        ]);
        Ok(vec![server])
    }

    /// It greets when the first statements have run.
    fn is_ready(&self, place: &Place) -> bool {
        exchange(place.address(0), b"").is_some_and(|greeting| greeting.get(4) == Some(&10))
    }

    fn url(&self, place: &Place) -> String {
        format!("lab:{}@tcp(127.0.0.1:{})/lab", place.password, place.ports[0])
    }
}

/// It refuses to run as root.
fn whom_to_run_as() -> Result<Option<User>, LabError> {
    if !process::is_root() {
        return Ok(None);
    }
    let missing = LabError::NoUser { server: "MariaDB", user: USER };
    process::user(USER).map(Some).ok_or(missing)
}
