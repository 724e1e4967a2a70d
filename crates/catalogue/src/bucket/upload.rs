//! Uploads in parts that go on where they were interrupted, by this process or a later one.
//!
//! Progress is written to a note beside the file, one line after each part:
//!
//! ```text
//! bytes modified_ns upload-id       of the file when the upload began
//! part-id                           of the first part, and so on
//! ```

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use object_store::MultipartId;
use object_store::aws::AmazonS3;
use object_store::multipart::{MultipartStore, PartId};
use object_store::path::Path as Key;

use super::{PART_BYTES, part};
use crate::error::Cause;

/// Suffix of the name of the note beside a file.
const NOTE: &str = "-upload";

/// An upload that has begun.
struct Upload {
    id: MultipartId,
    /// Parts that have arrived, in order.
    parts: Vec<PartId>,
}

/// Uploads a file, or the rest of it; the key appears when all of it is there.
pub(super) async fn in_parts(store: &AmazonS3, key: &Key, path: &Path) -> Result<(), Cause> {
    if let Some((mut begun, true)) = read_note(path)? {
        let arrived = begun.parts.len();
        // A store that has forgotten the upload may say so and hang up before the next part is sent, which looks like a
        // broken connection: where nothing more arrives, the upload begins anew.
        match send(store, key, path, &mut begun).await {
            Err(_) if begun.parts.len() == arrived => {}
            sent => return sent,
        }
    }
    // Before the old one is given up: a store that cannot be reached has forgotten nothing.
    let mut upload = Upload { id: store.create_multipart(key).await?, parts: Vec::new() };
    forget(store, key, path).await;
    let (bytes, modified_ns) = facts(path)?;
    std::fs::write(note(path), format!("{bytes} {modified_ns} {}\n", upload.id))?;
    send(store, key, path, &mut upload).await
}

/// Gives up what has been uploaded of a file, if anything has. Parts that stay because the store cannot be reached cost
/// storage until the bucket's own rules end them.
pub(super) async fn forget(store: &AmazonS3, key: &Key, path: &Path) {
    if let Ok(Some((begun, _))) = read_note(path) {
        let _ = store.abort_multipart(key, &begun.id).await;
    }
    let _ = std::fs::remove_file(note(path));
}

/// Whether a file has been uploaded in part.
pub(super) fn has_begun(path: &Path) -> bool {
    note(path).exists()
}

async fn send(store: &AmazonS3, key: &Key, path: &Path, upload: &mut Upload) -> Result<(), Cause> {
    let mut file = File::open(path)?;
    let parts = file.metadata()?.len().div_ceil(PART_BYTES) as usize;
    file.seek(SeekFrom::Start(upload.parts.len() as u64 * PART_BYTES))?;
    let mut arrived = OpenOptions::new().append(true).open(note(path))?;
    for index in upload.parts.len()..parts {
        let sent = store.put_part(key, &upload.id, index, part(&mut file)?.into()).await?;
        writeln!(arrived, "{}", sent.content_id)?;
        upload.parts.push(sent);
    }
    store.complete_multipart(key, &upload.id, upload.parts.clone()).await?;
    // It is there; a note that stays is of a file that goes.
    let _ = std::fs::remove_file(note(path));
    Ok(())
}

fn note(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(NOTE);
    name.into()
}

/// Reads the note of an upload, and whether the file is unchanged since; `None` if there is no usable note.
fn read_note(path: &Path) -> Result<Option<(Upload, bool)>, Cause> {
    let text = match std::fs::read_to_string(note(path)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // A line without its end was being written when the process died.
    let mut lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let Some([bytes, modified_ns, id]) = lines.next().and_then(words) else { return Ok(None) };
    let parts: Vec<PartId> = lines.map(|line| PartId { content_id: line.to_owned() }).collect();
    let (bytes_now, modified_ns_now) = facts(path)?;
    let is_same = bytes == bytes_now.to_string()
        && modified_ns == modified_ns_now.to_string()
        && parts.len() as u64 <= bytes_now.div_ceil(PART_BYTES);
    Ok(Some((Upload { id: id.to_owned(), parts }, is_same)))
}

fn words(line: &str) -> Option<[&str; 3]> {
    let mut words = line.splitn(3, ' ');
    Some([words.next()?, words.next()?, words.next()?])
}

/// Size, and when it was changed.
fn facts(path: &Path) -> std::io::Result<(u64, u128)> {
    let facts = std::fs::metadata(path)?;
    let modified = facts.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    Ok((facts.len(), modified.as_nanos()))
}
