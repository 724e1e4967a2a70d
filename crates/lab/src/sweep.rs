//! Ends what is left of a lab whose supervisor could not do it.

use std::path::Path;

use rustix::process::Signal;

use crate::process::{self, Identity};
use crate::servers::Server;
use crate::state::State;

/// Kills every process that still belongs to the lab, and removes what servers left outside its directory.
///
/// Most have ended already: the kernel signals them when their parent ends. Processes that they started get no signal.
pub(crate) fn sweep(state: &State, directory: &Path, servers: &[&dyn Server]) {
    if state.boot_id == process::boot_id() {
        for part in &state.parts {
            part.identity.signal(Signal::KILL);
        }
        // Until the supervisor has written its own state, this is the process that starts it, whose session is not the lab's.
        let is_begun = !state.control_url.is_empty();
        for identity in session_of(&state.supervisor).into_iter().filter(|_| is_begun) {
            identity.signal(Signal::KILL);
        }
        servers.iter().for_each(|server| server.sweep(&directory.join(server.name())));
    }
}

/// The processes of the session that the supervisor led, except itself.
///
/// A number is not given again while a session has it, so its members are known by it, unless the leader's number has come to
/// another process: then the session had no member left.
pub(crate) fn session_of(leader: &Identity) -> Vec<Identity> {
    let is_taken = process::stat(leader.pid).is_some_and(|stat| stat.started_ticks != leader.started_ticks);
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    if is_taken {
        return Vec::new();
    }
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let members = pids.filter(|pid| *pid != leader.pid).filter_map(|pid| {
        let stat = process::stat(pid)?;
        let is_member = stat.session == leader.pid && stat.started_ticks >= leader.started_ticks;
        is_member.then_some(Identity { pid, started_ticks: stat.started_ticks })
    });
    members.collect()
}
