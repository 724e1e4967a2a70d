//! A hub that runs as a pod: the command that starts it, the pod's side, and the calls between them.
//!
//! The pod runs the same program with the same flags, in a folder with the packed test. The command sends the test, shows what the
//! program prints, and brings its run files back, all through the API server, which is the only address of the cluster that it needs.

mod command;
mod pod;

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use command::{HubInCluster, run};
pub use pod::{HubPodOptions, serve};

/// Bytes of a file per call.
const PART_BYTES: usize = 1 << 20;

/// A request of the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Call {
    /// Writes the bytes that follow to a file of the test.
    Write { name: String, at: u64 },
    /// Runs the program.
    Begin { words: Vec<String>, env: BTreeMap<String, String> },
    /// Waits for output of the program after these offsets, bytes, or for its end.
    Follow { out: u64, err: u64 },
    /// Sends SIGINT to the program.
    Interrupt,
    /// Lists the files that it has written.
    List,
    /// Reads a part of one.
    Read { name: String, at: u64 },
    /// Ends the hub.
    Leave,
}

/// The answer to [`Call::Follow`]; the texts follow it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct News {
    out_bytes: usize,
    err_bytes: usize,
    /// The exit code, once the program has ended and all that it printed is here.
    exit: Option<u8>,
}

/// A file that the program has written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Written {
    /// Its path below the hub's folder: `runs/…` or `work/…`.
    name: String,
    bytes: u64,
}

/// A value as a line of JSON, and bytes behind it.
fn join(head: &impl Serialize, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut message = serde_json::to_vec(head).map_err(|error| error.to_string())?;
    message.push(b'\n');
    message.extend_from_slice(bytes);
    Ok(message)
}

/// The inverse of [`join`].
fn split<T: DeserializeOwned>(message: &[u8]) -> Result<(T, &[u8]), String> {
    let end = message.iter().position(|byte| *byte == b'\n').ok_or("it has no end of line")?;
    let head = serde_json::from_slice(&message[..end]).map_err(|error| error.to_string())?;
    Ok((head, &message[end + 1..]))
}

/// Whether a path stays below its folder.
fn is_below(path: &str) -> bool {
    let is_name = |part: Component<'_>| matches!(part, Component::Normal(_));
    !path.is_empty() && Path::new(path).components().all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_a_line_and_bytes() {
        let call = Call::Write { name: "a\nb".to_owned(), at: 7 };
        let message = join(&call, b"x\ny").expect("it is JSON");
        assert_eq!(split::<Call>(&message), Ok((call, &b"x\ny"[..])));
        assert!(split::<Call>(b"{}").is_err() && split::<Call>(b"{}\n").is_err());
    }

    #[test]
    fn paths_stay_below_their_folder() {
        for (path, expect) in
            [("a/b.json", true), ("", false), ("/etc/passwd", false), ("../a", false), ("a/../../b", false)]
        {
            assert_eq!(is_below(path), expect, "{path}");
        }
    }
}
