//! MySQL and MariaDB, by the protocol that both speak.
//!
//! Source: MySQL's "Client/Server Protocol", version 10 with `CLIENT_PROTOCOL_41`.

mod dsn;
mod login;
mod packets;
mod rows;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::timeout;

pub use self::dsn::CUSTOM_TLS;
pub(super) use self::dsn::Settings;
use self::dsn::{Encryption, Place};
use self::login::login;
use self::packets::{Packet, Wire};
use self::rows::{Column, RowFormat};
use super::{Budget, Executed, Rows, SqlError, Value};
use crate::{BoxStream, Dial, Tls};

/// Takes a row of a result, with the columns that it belongs to.
type TakeRow<'a> = dyn FnMut(&[Column], Vec<Value>) -> Result<(), SqlError> + 'a;

/// Timeout of a connection where the data source names none.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Another result follows (`SERVER_MORE_RESULTS_EXISTS`).
const MORE_RESULTS: u16 = 8;

const COM_QUERY: u8 = 3;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;

/// A handle.
pub(super) struct Mysql {
    settings: Settings,
    dial: Rc<dyn Dial>,
    link: RefCell<Option<Wire>>,
    is_closed: Cell<bool>,
}

/// The result of one statement.
enum Answer {
    Done { result: Executed, status: u16 },
    Columns(usize),
}

impl Mysql {
    pub(super) fn new(settings: Settings, dial: Rc<dyn Dial>) -> Mysql {
        Mysql { settings, dial, link: RefCell::default(), is_closed: Cell::new(false) }
    }

    pub(super) fn secret(&self) -> Option<&str> {
        Some(self.settings.password.as_str()).filter(|password| !password.is_empty())
    }

    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.link.borrow_mut().take();
    }

    pub(super) async fn exec(&self, statement: &str, parameters: Vec<Value>) -> Result<Executed, SqlError> {
        let mut executed = Executed { rows_affected: 0, last_insert_id: Some(0) };
        let mut discard = |_: &[Column], _: Vec<Value>| Ok(());
        self.with_link(async |wire: &mut Wire| {
            self.run(wire, statement, parameters, &mut executed, &mut discard).await
        })
        .await?;
        Ok(executed)
    }

    pub(super) async fn query(&self, statement: &str, parameters: Vec<Value>) -> Result<Rows, SqlError> {
        let mut rows = Rows::default();
        let mut budget = Budget::new();
        let mut keep = |columns: &[Column], row: Vec<Value>| {
            if rows.columns.is_empty() {
                rows.columns = columns.iter().map(|column| column.name.clone()).collect();
            }
            budget.spend(&row)?;
            // Rows of a further result belong to another statement.
            if rows.columns.len() == row.len() {
                rows.rows.push(row);
            }
            Ok(())
        };
        let mut executed = Executed { rows_affected: 0, last_insert_id: None };
        self.with_link(async |wire: &mut Wire| {
            self.run(wire, statement, parameters, &mut executed, &mut keep).await
        })
        .await?;
        Ok(rows)
    }

    /// Does something with the connection, taken out while it is used: a future that is dropped drops the connection, too.
    async fn with_link(
        &self,
        work: impl AsyncFnOnce(&mut Wire) -> Result<(), SqlError>,
    ) -> Result<(), SqlError> {
        if self.is_closed.get() {
            return Err(SqlError::Closed);
        }
        let known = self.link.borrow_mut().take();
        let known = match known {
            Some(mut wire) => wire.is_idle().await.then_some(wire),
            None => None,
        };
        let mut wire = match known {
            Some(wire) => wire,
            None => self.connect_in_time().await?,
        };
        let result = match self.settings.read_timeout {
            Some(limit) => timeout(limit, work(&mut wire)).await.unwrap_or_else(|_| {
                Err(SqlError::Lost(format!(
                    "{}: no answer within {limit:?} (i/o timeout)",
                    self.settings.place
                )))
            }),
            None => work(&mut wire).await,
        };
        // The rest of a result that is too large would have to be received first.
        if !matches!(result, Err(SqlError::Lost(_) | SqlError::TooLarge)) && !self.is_closed.get() {
            *self.link.borrow_mut() = Some(wire);
        }
        result
    }

    async fn connect_in_time(&self) -> Result<Wire, SqlError> {
        let limit = self.settings.connect_timeout.unwrap_or(CONNECT_TIMEOUT);
        timeout(limit, self.connect()).await.unwrap_or_else(|_| {
            let place = &self.settings.place;
            Err(SqlError::Dial(format!("dial {place}: no connection within {limit:?} (i/o timeout)")))
        })
    }

    async fn connect(&self) -> Result<Wire, SqlError> {
        let settings = &self.settings;
        let stream: BoxStream = match &settings.place {
            Place::Tcp { host, port } => self.dial.open(host, *port).await.map_err(SqlError::Dial)?,
            Place::Unix(path) => {
                let stream = UnixStream::connect(path).await;
                Box::new(stream.map_err(|error| SqlError::Dial(format!("dial unix {path}: {error}")))?)
            }
        };
        let encrypt = async |stream: BoxStream| {
            let Place::Tcp { host, .. } = &settings.place else { return Ok(stream) };
            let tls = match &settings.encryption {
                Encryption::Custom => settings.tls.clone().unwrap_or_default(),
                Encryption::Verified => Tls::default(),
                Encryption::Off | Encryption::Preferred | Encryption::Required => {
                    Tls { accepts_anyone: true, ..Tls::default() }
                }
            };
            self.dial.encrypt(stream, host, &tls).await
        };
        let mut wire = login(stream, settings, encrypt).await?;
        let mut executed = Executed { rows_affected: 0, last_insert_id: None };
        for statement in &settings.first_statements {
            self.run(&mut wire, statement, Vec::new(), &mut executed, &mut |_, _| Ok(())).await?;
        }
        Ok(wire)
    }

    /// Runs a statement to the end of its results.
    async fn run(
        &self,
        wire: &mut Wire,
        statement: &str,
        parameters: Vec<Value>,
        executed: &mut Executed,
        take: &mut TakeRow<'_>,
    ) -> Result<(), SqlError> {
        if parameters.is_empty() {
            wire.command(COM_QUERY, statement.as_bytes()).await?;
            return self.results(wire, RowFormat::Text, executed, take).await;
        }
        let prepared = prepare(wire, statement, parameters.len()).await?;
        let sent = wire.command(COM_STMT_EXECUTE, &rows::execution(prepared, &parameters)).await;
        let result = match sent {
            Ok(()) => self.results(wire, RowFormat::Binary, executed, take).await,
            Err(error) => Err(error),
        };
        if !matches!(result, Err(SqlError::Lost(_) | SqlError::TooLarge)) {
            wire.command(COM_STMT_CLOSE, &prepared.to_le_bytes()).await?;
        }
        result
    }

    async fn results(
        &self,
        wire: &mut Wire,
        format: RowFormat,
        executed: &mut Executed,
        take: &mut TakeRow<'_>,
    ) -> Result<(), SqlError> {
        loop {
            let status = match answer(wire).await? {
                Answer::Done { result, status } => {
                    *executed = result;
                    status
                }
                Answer::Columns(count) => {
                    let columns = columns(wire, count).await?;
                    self.rows(wire, format, &columns, take).await?
                }
            };
            if status & MORE_RESULTS == 0 {
                return Ok(());
            }
        }
    }

    /// Receives rows up to their end, and the status behind it.
    async fn rows(
        &self,
        wire: &mut Wire,
        format: RowFormat,
        columns: &[Column],
        take: &mut TakeRow<'_>,
    ) -> Result<u16, SqlError> {
        loop {
            let packet = wire.packet().await?;
            if let Some(status) = packet.end() {
                return Ok(status);
            }
            packet.check()?;
            take(columns, rows::row(&packet.0, format, columns, self.settings.parses_times)?)?;
        }
    }
}

/// Prepares a statement; its number.
async fn prepare(wire: &mut Wire, statement: &str, given: usize) -> Result<u32, SqlError> {
    wire.command(COM_STMT_PREPARE, statement.as_bytes()).await?;
    let packet = wire.packet().await?;
    packet.check()?;
    let mut reader = packet.reader();
    reader.skip(1)?;
    let (id, columns, parameters) = (reader.u32()?, reader.u16()?, reader.u16()?);
    // A description of each parameter and column, each list with its end.
    for count in [parameters, columns] {
        if count > 0 {
            for _ in 0..=count {
                wire.packet().await?;
            }
        }
    }
    if usize::from(parameters) != given {
        wire.command(COM_STMT_CLOSE, &id.to_le_bytes()).await?;
        return Err(SqlError::Refused(format!("sql: expected {parameters} arguments, got {given}")));
    }
    Ok(id)
}

async fn answer(wire: &mut Wire) -> Result<Answer, SqlError> {
    let packet = wire.packet().await?;
    packet.check()?;
    let mut reader = packet.reader();
    match packet.0.first() {
        Some(0) => {
            reader.skip(1)?;
            let (rows_affected, id) = (reader.length()?, reader.length()?);
            let result = Executed { rows_affected, last_insert_id: Some(id as i64) };
            Ok(Answer::Done { result, status: reader.u16()? })
        }
        // The server asks for a file of this machine.
        Some(0xfb) => {
            wire.send(&[]).await?;
            wire.packet().await?;
            Err(SqlError::Refused(
                "LOAD DATA LOCAL is not supported; read the file with open() and insert its rows".to_owned(),
            ))
        }
        _ => Ok(Answer::Columns(reader.length()? as usize)),
    }
}

async fn columns(wire: &mut Wire, count: usize) -> Result<Vec<Column>, SqlError> {
    /// The server's own limit of columns.
    const COLUMNS_MAX: usize = 4096;
    if count > COLUMNS_MAX {
        return Err(SqlError::Lost(format!(
            "the server answers with {count} columns; at most {COLUMNS_MAX} are read"
        )));
    }
    let mut columns = Vec::with_capacity(count);
    for _ in 0..count {
        columns.push(Column::read(&wire.packet().await?)?);
    }
    let end: Packet = wire.packet().await?;
    end.check()?;
    Ok(columns)
}

#[cfg(test)]
mod tests;
