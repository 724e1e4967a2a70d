//! The seal of a finished file: a CRC-32 of each of its pages, behind the last one.
//!
//! SQLite does not read what is behind the pages that its header counts. The seal holds SQLite's counter of changes, so that it
//! ends when another program writes to the file. A reader checks the pages of a table before it reads the table,
//! and those of chunks' and roll-ups' cells row by row, each of which has a CRC-32 of its own: opening a large file reads no
//! more of it than before. CRC-32 detects every single flipped bit and every burst of up to 32 bits.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OpenFlags};

use crate::ReadError;
use crate::format::FORMAT_OF_CHECKSUMS;
use crate::redo::Pending;

/// The first bytes of the footer.
const MAGIC: &[u8; 8] = b"plimseal";
/// The layout of the seal.
const VERSION: u32 = 1;
/// Bytes of the footer: [`MAGIC`], then seven integers of 32 bits, little-endian.
const FOOTER_BYTES: usize = 36;
/// Bytes of SQLite's header. See <https://www.sqlite.org/fileformat.html>.
const HEADER_BYTES: usize = 100;
/// Bytes read at once: few system calls, and little memory beside the load.
const READ_BYTES: usize = 256 << 10;
/// Pages of no table: free ones, and the one that SQLite never uses.
const FREE: &str = "free";
/// The table that lists the tables. It holds the header of the file, too.
const SCHEMA: &str = "sqlite_schema";
/// Owners that a seal may have: the tables, twice those with cells, and free pages. Their numbers are bytes.
const OWNERS_MAX: usize = 255;
/// Bytes of the owners' names in a seal, so that a forged length takes no memory: many times those of the tables' names.
const NAMES_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a page's owner and checksum in a seal.
const PAGE_ENTRY_BYTES: u64 = 5;
/// The version in SQLite's header of a file that is written without a log.
const ROLLBACK_JOURNAL: u8 = 1;

/// The checksum of a block's row: of its key, four integers of 32 bits, little-endian, and of its cells.
pub(crate) fn block_crc32(key: [u32; 4], cells: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    key.iter().for_each(|number| hasher.update(&number.to_le_bytes()));
    hasher.update(cells);
    hasher.finalize()
}

/// The bytes behind the pages of a file.
#[derive(Debug)]
pub(crate) enum Tail {
    /// Nothing, or something of no meaning: the file is growing, was left by a killed process, was changed since it was finished,
    /// or is of a format without checksums.
    None,
    /// A seal.
    Seal(Box<Seal>),
    /// Pages on their way into the file, left by a killed process.
    Pending(Pending),
    /// The rest of a seal that cannot be read.
    Broken,
}

/// Checksums of a file's pages.
#[derive(Debug)]
pub(crate) struct Seal {
    file: File,
    /// The file as it was when it was opened, to distinguish a change by others from damage.
    stamp: Stamp,
    page_bytes: usize,
    /// Tables, by number.
    owners: Vec<String>,
    /// Of each page, whose it is.
    owner_of: Vec<u8>,
    sums: Vec<u32>,
    checked: Mutex<Checked>,
}

/// The results of checks so far.
#[derive(Debug, Default)]
struct Checked {
    /// By owner: the damage found, or that there is none.
    owners: BTreeMap<u8, Option<Damage>>,
    /// The reason why the last statement was denied.
    denied: Option<Denied>,
}

/// A reason to read no table.
#[derive(Debug)]
pub(crate) enum Denied {
    /// The table is damaged.
    Damaged(String),
    /// It could not be checked.
    Unchecked(CheckError),
}

/// A reason why pages could not be checked.
#[derive(Debug)]
pub(crate) enum CheckError {
    Io(io::Error),
    /// Another process changed the file meanwhile.
    Changed,
}

impl CheckError {
    pub(crate) fn of_file(self, path: &Path) -> ReadError {
        match self {
            CheckError::Io(source) => ReadError::Open { path: path.to_owned(), source },
            CheckError::Changed => ReadError::Changed(path.to_owned()),
        }
    }
}

impl Denied {
    pub(crate) fn of_file(self, path: &Path) -> ReadError {
        match self {
            Denied::Damaged(what) => ReadError::Corrupt { path: path.to_owned(), what },
            Denied::Unchecked(error) => error.of_file(path),
        }
    }
}

/// Pages of one table that are not as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The table; `free` for pages that hold nothing.
    pub table: String,
    /// The first of the pages, from 1.
    pub first_page: u64,
    /// How many pages.
    pub pages: u64,
}

/// The length of an open file and the time of its last change.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(file: &File) -> io::Result<Stamp> {
        let facts = file.metadata()?;
        Ok(Stamp { bytes: facts.len(), modified: (facts.mtime(), facts.mtime_nsec()) })
    }
}

impl Damage {
    /// Whether the pages hold nothing, so that no number can be wrong.
    pub fn is_harmless(&self) -> bool {
        self.table == FREE
    }

    /// Whether the pages hold the header of the file and the list of its tables, without which nothing can be read.
    pub fn is_header(&self) -> bool {
        self.table == SCHEMA
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (pages, first) = (self.pages, self.first_page);
        let count = if pages == 1 { "1 page".to_owned() } else { format!("{pages} pages") };
        match self.table.as_str() {
            SCHEMA => write!(to, "the header of the file does not match its checksum"),
            FREE => write!(to, "{count} without content, from page {first}"),
            table => write!(to, "{count} of the table {table}, from page {first}"),
        }
    }
}

impl Tail {
    /// Reads what is behind the pages of a file without a writer.
    pub(crate) fn read(path: &Path) -> io::Result<Tail> {
        let file = File::open(path)?;
        let stamp = Stamp::of(&file)?;
        let mut header = [0; HEADER_BYTES];
        if stamp.bytes < (HEADER_BYTES + FOOTER_BYTES) as u64 {
            return Ok(Tail::None);
        }
        file.read_exact_at(&mut header, 0)?;
        let mut footer = [0; FOOTER_BYTES];
        file.read_exact_at(&mut footer, stamp.bytes - FOOTER_BYTES as u64)?;
        match Footer::parse(&footer, stamp.bytes) {
            Some(footer) if footer.is_outdated(&header) => Ok(Tail::None),
            Some(footer) => Ok(Seal::read(file, stamp, &footer)?.map_or(Tail::Broken, Tail::Seal)),
            None if has_more_than_pages(&header, stamp.bytes) => Ok(Tail::Broken),
            None => Ok(Pending::find(&file, stamp.bytes)?.map_or(Tail::None, Tail::Pending)),
        }
    }
}

/// Whether a finished file of a format with checksums is longer than its pages: nothing but a seal can be there.
fn has_more_than_pages(header: &[u8; HEADER_BYTES], bytes: u64) -> bool {
    let is_finished = header[18..20] == [ROLLBACK_JOURNAL; 2];
    let number = |at| number_in(header, at);
    let page_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    is_finished
        && i64::from(number(60)) >= FORMAT_OF_CHECKSUMS
        && bytes > u64::from(number(28)).saturating_mul(page_bytes)
}

/// An integer of SQLite's header.
fn number_in(header: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
}

struct Footer {
    page_bytes: u32,
    pages: u32,
    /// SQLite's counter of changes of the file.
    changes: u32,
    body_bytes: u32,
    body_crc32: u32,
}

impl Footer {
    fn parse(bytes: &[u8; FOOTER_BYTES], file_bytes: u64) -> Option<Footer> {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let [version, page_bytes, pages, changes, body_bytes, body_crc32, crc32] =
            [8, 12, 16, 20, 24, 28, 32].map(number);
        let is_footer = bytes.starts_with(MAGIC) && version == VERSION;
        if !is_footer || crc32fast::hash(&bytes[..FOOTER_BYTES - 4]) != crc32 {
            return None;
        }
        let all = u64::from(page_bytes) * u64::from(pages) + u64::from(body_bytes) + FOOTER_BYTES as u64;
        let is_page = (512..=65_536).contains(&page_bytes) && page_bytes.is_power_of_two();
        let names_bytes = u64::from(body_bytes).checked_sub(u64::from(pages) * PAGE_ENTRY_BYTES);
        let are_names = names_bytes.is_some_and(|bytes| bytes <= NAMES_BYTES_MAX);
        let footer = Footer { page_bytes, pages, changes, body_bytes, body_crc32 };
        (all == file_bytes && is_page && are_names).then_some(footer)
    }

    /// Whether SQLite wrote to the file since it was sealed. It writes its counter of changes to two places of the header, so that
    /// one flipped bit does not pass for a change.
    fn is_outdated(&self, header: &[u8; HEADER_BYTES]) -> bool {
        let counters = [24, 92].map(|at| number_in(header, at));
        counters[0] == counters[1] && counters[0] != self.changes
    }

    fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let numbers = [VERSION, self.page_bytes, self.pages, self.changes, self.body_bytes, self.body_crc32];
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }
}

impl Seal {
    /// `None` if the checksums do not match their own.
    fn read(file: File, stamp: Stamp, footer: &Footer) -> io::Result<Option<Box<Seal>>> {
        let mut body = vec![0; footer.body_bytes as usize];
        file.read_exact_at(&mut body, u64::from(footer.page_bytes) * u64::from(footer.pages))?;
        if crc32fast::hash(&body) != footer.body_crc32 {
            return Ok(None);
        }
        let parsed = parse_body(&body, footer.pages as usize);
        Ok(parsed.map(|(owners, owner_of, sums)| {
            let (page_bytes, checked) = (footer.page_bytes as usize, Mutex::default());
            Box::new(Seal { file, stamp, page_bytes, owners, owner_of, sums, checked })
        }))
    }

    /// Cuts the seal off, before a change.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        file.set_len(self.pages() * self.page_bytes as u64)
    }

    /// Checks the header of the file and the list of its tables.
    pub(crate) fn check_schema(&self) -> Result<(), Denied> {
        self.owners.iter().position(|owner| owner == SCHEMA).map_or(Ok(()), |owner| self.check_owner(owner))
    }

    /// Whether the pages of a table are as they were written; checked once. Those with cells are checked row by row.
    pub(crate) fn admits(&self, table: &str) -> bool {
        let Some(owner) = self.owners.iter().position(|owner| owner == table) else { return true };
        match self.check_owner(owner) {
            Ok(()) => true,
            Err(denied) => {
                self.checked().denied = Some(denied);
                false
            }
        }
    }

    /// The reason why the last statement was denied.
    pub(crate) fn take_denied(&self) -> Option<Denied> {
        self.checked().denied.take()
    }

    /// Checks the pages of one owner, once.
    fn check_owner(&self, owner: usize) -> Result<(), Denied> {
        // `parse_body` refuses more owners than a byte numbers.
        let number = owner as u8;
        let mut checked = self.checked();
        let damage = match checked.owners.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(self.check(|of| of == number).map_err(Denied::Unchecked)?.pop())
            }
        };
        match damage {
            None => Ok(()),
            Some(damage) => {
                let rest = if damage.is_header() { "nothing in it" } else { "every other table" };
                Err(Denied::Damaged(format!("{damage}; {rest} can be read")))
            }
        }
    }

    /// How many pages there are.
    pub(crate) fn pages(&self) -> u64 {
        self.sums.len() as u64
    }

    /// Checks all pages.
    ///
    /// # Errors
    /// The file cannot be read, or changed meanwhile.
    pub(crate) fn check_all(&self) -> Result<Vec<Damage>, CheckError> {
        self.check(|_| true)
    }

    fn checked(&self) -> MutexGuard<'_, Checked> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, is_wanted: impl Fn(u8) -> bool) -> Result<Vec<Damage>, CheckError> {
        let mut damages: BTreeMap<u8, Damage> = BTreeMap::new();
        // Most tables have few pages, and filling a large buffer with zeros would cost more than checking them.
        let all = self.owner_of.iter().filter(|owner| is_wanted(**owner)).count();
        let most = (READ_BYTES / self.page_bytes).clamp(1, all.max(1));
        let mut buffer = vec![0; most * self.page_bytes];
        let mut at = 0;
        while at < self.sums.len() {
            let wanted = self.owner_of[at..].iter().take(most).take_while(|owner| is_wanted(**owner)).count();
            if wanted == 0 {
                at += 1;
                continue;
            }
            let bytes = &mut buffer[..wanted * self.page_bytes];
            let read = self.file.read_exact_at(bytes, at as u64 * self.page_bytes as u64);
            read.map_err(CheckError::Io)?;
            for (page, bytes) in (at..).zip(bytes.chunks_exact(self.page_bytes)) {
                if crc32fast::hash(bytes) != self.sums[page] {
                    self.add_damage(&mut damages, page);
                }
            }
            at += wanted;
        }
        if !damages.is_empty() && Stamp::of(&self.file).map_err(CheckError::Io)? != self.stamp {
            return Err(CheckError::Changed);
        }
        Ok(damages.into_values().collect())
    }

    fn add_damage(&self, damages: &mut BTreeMap<u8, Damage>, page: usize) {
        let owner = self.owner_of[page];
        let name = &self.owners[usize::from(owner)];
        let table = || name.strip_suffix(CELLS).unwrap_or(name).to_owned();
        let first_page = page as u64 + 1;
        let new = || Damage { table: table(), first_page, pages: 0 };
        damages.entry(owner).or_insert_with(new).pages += 1;
    }
}

/// The ending of the owner of pages that hold cells, which are checked row by row.
const CELLS: &str = ".cells";

/// The owners, that of each page, and the checksum of each page.
type Body = (Vec<String>, Vec<u8>, Vec<u32>);

fn parse_body(body: &[u8], pages: usize) -> Option<Body> {
    let (names, rest) =
        body.split_at_checked(body.len().checked_sub(pages.checked_mul(PAGE_ENTRY_BYTES as usize)?)?)?;
    let (owner_of, sums) = rest.split_at_checked(pages)?;
    let names = std::str::from_utf8(names).ok()?;
    let owners: Vec<String> = names.lines().map(str::to_owned).collect();
    let are_known =
        owners.len() <= OWNERS_MAX && owner_of.iter().all(|owner| usize::from(*owner) < owners.len());
    let sums = sums.as_chunks::<4>().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
    are_known.then(|| (owners, owner_of.to_vec(), sums))
}

/// The owners of a database's pages.
#[derive(Debug)]
pub(crate) struct Owners {
    names: Vec<String>,
    of_pages: Vec<u8>,
    page_bytes: u32,
}

impl Owners {
    /// Finds out whose each page is. See <https://www.sqlite.org/dbstat.html>.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Owners> {
        let number =
            |name: &str| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, u32>(0));
        let pages = number("page_count")? as usize;
        let mut owners = Owners {
            names: vec![FREE.to_owned(), SCHEMA.to_owned()],
            of_pages: vec![0; pages],
            page_bytes: number("page_size")?,
        };
        let mut tables = BTreeMap::new();
        let mut statement = connection.prepare("SELECT name, tbl_name, type FROM sqlite_schema")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, table, kind): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            tables.insert(name, (table, kind == "table"));
        }
        let mut statement = connection.prepare("SELECT name, pageno, pagetype FROM dbstat")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, page, kind): (String, usize, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let owner = match tables.get(&name) {
                None => SCHEMA.to_owned(),
                Some((table, true)) if has_cells(table) && kind != "internal" => format!("{table}{CELLS}"),
                Some((table, _)) => table.clone(),
            };
            let number = owners.number(owner)?;
            if let Some(of) = page.checked_sub(1).and_then(|page| owners.of_pages.get_mut(page)) {
                *of = number;
            }
        }
        Ok(owners)
    }

    fn number(&mut self, owner: String) -> rusqlite::Result<u8> {
        let known = self.names.iter().position(|name| *name == owner);
        let number = known.unwrap_or_else(|| {
            self.names.push(owner);
            self.names.len() - 1
        });
        let number = u8::try_from(number).ok().filter(|number| usize::from(*number) < OWNERS_MAX);
        number.ok_or_else(|| rusqlite::Error::ToSqlConversionFailure("a file has too many tables".into()))
    }
}

/// Tables whose rows have a checksum each.
fn has_cells(table: &str) -> bool {
    matches!(table, "chunk" | "rollup")
}

/// Writes the seal of a file that is not open for writing. Where that fails, the file is as it was.
///
/// # Errors
/// The file cannot be read, or the disk is full.
pub(crate) fn write(path: &Path, owners: &Owners) -> io::Result<()> {
    let mut file = File::options().read(true).write(true).open(path)?;
    let pages = owners.of_pages.len() as u64 * u64::from(owners.page_bytes);
    let written = append(&mut file, pages, owners);
    if written.is_err() {
        // Half a seal would make a good file look damaged.
        file.set_len(pages)?;
    }
    written
}

/// Seals a finished file that is not open.
///
/// # Errors
/// The file cannot be read, or the disk is full.
pub(crate) fn seal(path: &Path) -> io::Result<()> {
    let open = || {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Owners::read(&connection)
    };
    write(path, &open().map_err(io::Error::other)?)
}

fn append(file: &mut File, pages_bytes: u64, owners: &Owners) -> io::Result<()> {
    let mut body: Vec<u8> = owners.names.iter().flat_map(|name| [name.as_bytes(), b"\n"].concat()).collect();
    body.extend(&owners.of_pages);
    let mut left = owners.of_pages.len();
    let page_bytes = owners.page_bytes as usize;
    let most = (READ_BYTES / page_bytes).clamp(1, left.max(1));
    let mut buffer = vec![0; most * page_bytes];
    while left > 0 {
        let count = left.min(most);
        let bytes = &mut buffer[..count * page_bytes];
        file.read_exact(bytes)?;
        bytes.chunks_exact(page_bytes).for_each(|page| body.extend(crc32fast::hash(page).to_le_bytes()));
        left -= count;
    }
    let mut header = [0; HEADER_BYTES];
    file.read_exact_at(&mut header, 0)?;
    let number = |value: usize| u32::try_from(value).map_err(|_| io::ErrorKind::FileTooLarge);
    let footer = Footer {
        page_bytes: owners.page_bytes,
        pages: number(owners.of_pages.len())?,
        changes: number_in(&header, 24),
        body_bytes: number(body.len())?,
        body_crc32: crc32fast::hash(&body),
    };
    file.set_len(pages_bytes)?;
    file.write_all(&body)?;
    file.write_all(&footer.write())?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A finished run, and its seal.
    fn sealed(folder: &Path) -> (std::path::PathBuf, Box<Seal>) {
        let path = folder.join("a.plimsoll");
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/v4.plimsoll");
        std::fs::copy(data, &path).expect("copied");
        match Tail::read(&path).expect("readable") {
            Tail::Seal(seal) => (path, seal),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_change_meanwhile_is_no_damage() {
        let folder = tempfile::tempdir().expect("folder");
        let (path, seal) = sealed(folder.path());
        assert!(seal.check_all().expect("unchanged").is_empty());
        let mut bytes = std::fs::read(&path).expect("readable");
        bytes[5000] ^= 1;
        bytes.push(0);
        std::fs::write(&path, bytes).expect("written");
        assert!(matches!(seal.check_all(), Err(CheckError::Changed)));
        assert!(matches!(seal.check_schema(), Ok(())), "its pages are unchanged");
    }

    #[test]
    fn forged_lengths_of_names_are_refused() {
        let of = |names: u64| {
            let body = 3 * PAGE_ENTRY_BYTES + names;
            let body_bytes = u32::try_from(body).expect("small");
            let footer = Footer { page_bytes: 4096, pages: 3, changes: 1, body_bytes, body_crc32: 7 };
            let bytes: [u8; FOOTER_BYTES] = footer.write().try_into().expect("a footer");
            Footer::parse(&bytes, 3 * 4096 + body + FOOTER_BYTES as u64).is_some()
        };
        assert_eq!([0, NAMES_BYTES_MAX, NAMES_BYTES_MAX + 1].map(of), [true, true, false]);
    }
}
