//! Accepts connections and ends those that the table says.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::SystemClock;
use tokio::net::{TcpListener, TcpStream};

use crate::activity::Activity;
use crate::stream::Watched;
use crate::table::{Closed, Limits, Pulse, Table};

/// Time between two looks at the limits of a connection, and between two attempts to seat a new one.
const LOOKED_EACH: Duration = Duration::from_millis(250);

/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The connections of a server, over all its listeners.
#[derive(Debug)]
pub struct Intake {
    table: Mutex<Table>,
}

impl Intake {
    /// Returns an intake without connections.
    pub fn new(limits: Limits) -> Arc<Intake> {
        Arc::new(Intake { table: Mutex::new(Table::new(limits)) })
    }

    /// Returns the number of connections that the server closed, by cause.
    pub fn closed(&self) -> Closed {
        self.table().closed()
    }

    pub(crate) fn note(&self, number: u64, note: impl FnOnce(&mut Pulse)) {
        // A connection that gave way may still report until its task ends.
        if let Some(pulse) = self.table().pulse(number) {
            note(pulse);
        }
    }

    /// Seats a new connection as soon as another one gives way or ends.
    async fn seat(self: &Arc<Intake>, peer: IpAddr) -> Seat {
        loop {
            let entered = self.table().enter(peer, SystemClock::now());
            if let Some(number) = entered {
                return Seat { intake: self.clone(), number };
            }
            tokio::time::sleep(LOOKED_EACH).await;
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The seat of a connection, which is free again when it is dropped.
struct Seat {
    intake: Arc<Intake>,
    number: u64,
}

impl Seat {
    /// Waits until the connection reached a limit or gave way.
    async fn over(&self) {
        while !self.intake.table().is_over(self.number, SystemClock::now()) {
            tokio::time::sleep(LOOKED_EACH).await;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.intake.table().leave(self.number);
    }
}

/// Accepts connections for ever; `serve` serves one of them. The listener is non-blocking.
pub async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: std::net::TcpListener,
    intake: Arc<Intake>,
    serve: impl Fn(Watched<TcpStream>, Activity) -> F,
) {
    // It was made non-blocking where it was opened, so that this cannot fail while a runtime is there.
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // An idle connection may free the descriptor that is missing.
            intake.table().give_way(SystemClock::now());
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let seat = intake.seat(peer.ip()).await;
        // The end of a response does not wait until the client confirms its beginning. If this is refused, it waits.
        let _ = stream.set_nodelay(true);
        let activity = Activity::new(intake.clone(), seat.number);
        let served = serve(Watched::new(stream, activity.clone()), activity);
        tokio::spawn(async move {
            tokio::select! {
                () = served => {}
                () = seat.over() => {}
            }
        });
    }
}
