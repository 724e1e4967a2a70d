//! Follows files from their ends while they are written, rotated and truncated.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use model::Instant;

/// Maximum number of followed files; further ones are counted.
pub(super) const FILES_MAX: usize = 64;
/// Maximum bytes per read, over all files; of a longer file the end is read and the rest is counted.
const BYTES_MAX: u64 = 8 << 20;
/// Maximum length of a line, bytes; the rest is skipped.
const LINE_BYTES_MAX: usize = 16 << 10;
/// Bytes per read call.
const CHUNK_BYTES: usize = 64 << 10;
/// Time for which a renamed file is still followed, since its writer may not have noticed yet.
const AFTERLIFE: Duration = Duration::from_secs(60);

/// The files of a pattern.
#[derive(Debug)]
pub(super) struct Follow {
    pattern: String,
    /// Files by device and inode, which survive renaming and are unique while the file is open.
    files: HashMap<(u64, u64), Followed>,
    is_begun: bool,
    /// Number of bytes skipped because they exceeded the limit.
    pub(super) bytes_skipped: u64,
    /// Number of files beyond the limit.
    pub(super) files_dropped: u64,
}

#[derive(Debug)]
struct Followed {
    /// Path at which the file was found.
    path: String,
    file: File,
    position: u64,
    /// The incomplete last line.
    begun: Vec<u8>,
    /// Whether the rest of a line is skipped.
    is_skipping: bool,
    gone_since: Option<Instant>,
}

impl Follow {
    /// Follows the files of a glob pattern, or of a path.
    pub(super) fn new(pattern: &str) -> Follow {
        let (files, pattern) = (HashMap::new(), pattern.to_owned());
        Follow { pattern, files, is_begun: false, bytes_skipped: 0, files_dropped: 0 }
    }

    /// Passes each line written since the last call to `take`, with its file. The first call starts at the files' ends.
    ///
    /// # Errors
    /// No file can be read and none could before; or all were removed, and their last lines were passed on.
    pub(super) fn lines(&mut self, now: Instant, mut take: impl FnMut(&str, &str)) -> Result<(), String> {
        let found = self.find(now);
        // Files that appear after the first call are read from their beginning, even if there were none before.
        self.is_begun = true;
        let gone = found?;
        let bytes_max = BYTES_MAX / self.files.len().max(1) as u64;
        for followed in self.files.values_mut() {
            self.bytes_skipped += followed.lines(bytes_max, &mut take);
        }
        for key in gone {
            self.files.remove(&key);
        }
        match self.files.values().all(Followed::is_removed) {
            true => Err(format!("{} was removed", self.paths().join(", "))),
            false => Ok(()),
        }
    }

    /// Returns the followed files in order.
    pub(super) fn paths(&self) -> Vec<&str> {
        let mut paths: Vec<&str> = self.files.values().map(|followed| followed.path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Opens new files, and returns those that are read for the last time.
    fn find(&mut self, now: Instant) -> Result<Vec<(u64, u64)>, String> {
        let mut trouble = None;
        let mut is_there = HashMap::new();
        self.files_dropped = 0;
        for path in paths(&self.pattern)? {
            let opened = File::open(&path).and_then(|file| Ok((file.metadata()?, file)));
            let (metadata, file) = match opened {
                Ok(opened) => opened,
                Err(error) => {
                    trouble = Some(format!("{}: {error}", path.display()));
                    continue;
                }
            };
            // A pipe or a device would block.
            if !metadata.is_file() {
                continue;
            }
            is_there.insert(key(&metadata), ());
            if self.files.contains_key(&key(&metadata)) {
                continue;
            }
            if self.files.len() >= FILES_MAX {
                self.files_dropped += 1;
                continue;
            }
            let position = if self.is_begun { 0 } else { metadata.len() };
            self.files.insert(key(&metadata), Followed::new(path.display().to_string(), file, position));
        }
        if self.files.is_empty() {
            return Err(trouble.unwrap_or_else(|| format!("no file matches {}", self.pattern)));
        }
        for (key, followed) in &mut self.files {
            let is_gone = !is_there.contains_key(key);
            followed.gone_since = is_gone.then(|| followed.gone_since.unwrap_or(now));
        }
        let is_over =
            |followed: &Followed| followed.gone_since.is_some_and(|since| now.since(since) > AFTERLIFE);
        Ok(self.files.iter().filter(|(_, followed)| is_over(followed)).map(|(key, _)| *key).collect())
    }
}

impl Followed {
    fn new(path: String, file: File, position: u64) -> Followed {
        // The rest of a partly written line is skipped.
        Followed { path, file, position, begun: Vec::new(), is_skipping: false, gone_since: None }
    }

    /// Returns true if the file was deleted; a renamed one still has a link.
    fn is_removed(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }

    /// Passes on new lines, and returns the number of skipped bytes.
    fn lines(&mut self, bytes_max: u64, take: &mut impl FnMut(&str, &str)) -> u64 {
        // A temporary error may be gone at the next call.
        let Ok(metadata) = self.file.metadata() else { return 0 };
        if metadata.len() < self.position {
            // The file was truncated and is written from its beginning.
            self.position = 0;
            self.begun.clear();
            self.is_skipping = false;
        }
        let behind = metadata.len() - self.position;
        let skipped = behind.saturating_sub(bytes_max);
        if skipped > 0 {
            self.position += skipped;
            self.begun.clear();
            self.is_skipping = true;
        }
        if self.file.seek(SeekFrom::Start(self.position)).is_err() {
            return skipped;
        }
        let mut left = behind - skipped;
        let mut chunk = vec![0; CHUNK_BYTES];
        while left > 0 {
            let want = CHUNK_BYTES.min(usize::try_from(left).unwrap_or(CHUNK_BYTES));
            let Ok(length @ 1..) = self.file.read(&mut chunk[..want]) else { break };
            self.position += length as u64;
            left -= length as u64;
            self.split(&chunk[..length], take);
        }
        skipped
    }

    fn split(&mut self, mut bytes: &[u8], take: &mut impl FnMut(&str, &str)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            self.keep(line);
            if !self.is_skipping {
                take(&self.path, &String::from_utf8_lossy(&self.begun));
            }
            self.begun.clear();
            self.is_skipping = false;
            bytes = &rest[1..];
        }
        self.keep(bytes);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LINE_BYTES_MAX - self.begun.len().min(LINE_BYTES_MAX);
        self.begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn key(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Returns the paths of a pattern in order: more than can be followed, but bounded.
fn paths(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let paths = glob::glob(pattern).map_err(|error| format!("{pattern}: {error}"))?;
    Ok(paths.filter_map(Result::ok).take(FILES_MAX * 16).collect())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;

    use super::*;

    struct Folder {
        folder: tempfile::TempDir,
        follow: Follow,
    }

    impl Folder {
        fn new(pattern: &str) -> Folder {
            let folder = tempfile::tempdir().expect("a folder");
            let follow = Follow::new(&folder.path().join(pattern).display().to_string());
            Folder { folder, follow }
        }

        fn write(&self, name: &str, text: &str) {
            let file = OpenOptions::new().create(true).append(true).open(self.folder.path().join(name));
            file.expect("a file").write_all(text.as_bytes()).expect("it can be written");
        }

        fn move_away(&self, name: &str, to: &str) {
            fs::rename(self.folder.path().join(name), self.folder.path().join(to)).expect("it is there");
        }

        #[track_caller]
        fn check(&mut self, expect: &[&str]) {
            let mut lines = Vec::new();
            self.follow.lines(Instant::ZERO, |_, line| lines.push(line.to_owned())).expect("there are files");
            lines.sort();
            assert_eq!(lines, expect);
        }
    }

    #[test]
    fn files_are_followed_from_their_ends() {
        let mut folder = Folder::new("*.log");
        folder.write("a.log", "old\n");
        folder.check(&[]);
        folder.write("a.log", "one\ntw");
        folder.check(&["one"]);
        folder.write("a.log", "o\n");
        folder.write("b.log", "new file\n");
        folder.write("c.txt", "another kind\n");
        folder.check(&["new file", "two"]);
        folder.check(&[]);
    }

    #[test]
    fn a_file_that_comes_later_is_read_from_its_beginning() {
        let mut folder = Folder::new("a.log");
        assert!(folder.follow.lines(Instant::ZERO, |_, _| ()).is_err());
        folder.write("a.log", "first\n");
        folder.check(&["first"]);
    }

    #[test]
    fn rotation_loses_and_repeats_nothing() {
        for pattern in ["a.log", "a.log*"] {
            let mut folder = Folder::new(pattern);
            folder.write("a.log", "old\n");
            folder.check(&[]);
            folder.write("a.log", "before\n");
            folder.move_away("a.log", "a.log.1");
            folder.write("a.log", "after\n");
            folder.check(&["after", "before"]);
            folder.write("a.log.1", "late\n");
            folder.write("a.log", "more\n");
            folder.check(&["late", "more"]);
        }
    }

    #[test]
    fn a_file_that_is_cut_is_read_from_its_beginning() {
        let mut folder = Folder::new("a.log");
        folder.write("a.log", "a long line that was there before\n");
        folder.check(&[]);
        fs::write(folder.folder.path().join("a.log"), "short\n").expect("it can be written");
        folder.check(&["short"]);
    }

    #[test]
    fn what_is_too_much_is_passed_over_and_counted() {
        let mut folder = Folder::new("a.log");
        folder.write("a.log", "");
        folder.check(&[]);
        folder.write("a.log", &format!("{}\nlast\n", "x".repeat(LINE_BYTES_MAX * 2)));
        folder.check(&["last", &"x".repeat(LINE_BYTES_MAX)]);
        let many = "y".repeat(BYTES_MAX as usize + 100);
        folder.write("a.log", &format!("{many}\nlast\n"));
        folder.check(&["last"]);
        assert_eq!(folder.follow.bytes_skipped, 106);
    }

    #[test]
    fn bytes_that_are_no_text_are_only_bytes() {
        let mut folder = Folder::new("a.log");
        folder.write("a.log", "");
        folder.check(&[]);
        let path = folder.folder.path().join("a.log");
        fs::write(path, b"\xff\xfe\0\n\n").expect("it can be written");
        folder.check(&["", "\u{fffd}\u{fffd}\0"]);
    }
}
