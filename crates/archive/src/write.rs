//! From an archive to a tar file.

use std::collections::BTreeSet;
use std::io::Write;

use tar::{EntryType, Header};

use crate::names::{escaped, name_of};
use crate::{Archive, ArchiveError};

/// Writes an archive that k6 reads too. The same archive gives the same bytes: nothing in them is a time or a user.
///
/// # Errors
/// It cannot be written.
pub fn write(archive: &Archive, to: impl Write) -> Result<(), ArchiveError> {
    let mut builder = tar::Builder::new(to);
    let mut metadata = archive.metadata.clone();
    metadata.filename = escaped(&metadata.filename);
    metadata.pwd = escaped(&metadata.pwd);
    append(&mut builder, "metadata.json", &metadata.to_json()?)?;
    append(&mut builder, "data", &archive.script)?;
    let script = name_of(&archive.metadata.filename).map(|name| (name, &archive.script));
    let others = archive.files.iter().filter_map(|(url, bytes)| Some((name_of(url)?, bytes)));
    let files: Vec<(String, &Vec<u8>)> = others.chain(script).collect();
    for folder in folders(files.iter().map(|(name, _)| name.as_str())) {
        let mut header = header(0, 0o755);
        header.set_entry_type(EntryType::Directory);
        builder.append_data(&mut header, folder, std::io::empty()).map_err(ArchiveError::Write)?;
    }
    for (name, bytes) in files {
        append(&mut builder, &name, bytes)?;
    }
    builder.into_inner().and_then(|mut to| to.flush()).map_err(ArchiveError::Write)
}

/// The script stands in the file twice, in full, where k6 writes a link: readers that know no links have it too.
fn append(builder: &mut tar::Builder<impl Write>, name: &str, bytes: &[u8]) -> Result<(), ArchiveError> {
    let mut header = header(bytes.len() as u64, 0o644);
    builder.append_data(&mut header, name, bytes).map_err(ArchiveError::Write)
}

fn header(size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_size(size);
    header.set_mode(mode);
    header.set_mtime(0);
    header
}

/// All folders above some names, the outer before the inner.
fn folders<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let path = |name: &'a str| name.find(['?', '#']).map_or(name, |at| &name[..at]);
    let above = |name: &'a str| path(name).match_indices('/').map(move |(at, _)| &name[..at]);
    names.flat_map(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Metadata, PackageImport, read};

    fn archive() -> Archive {
        let long = format!("file:///{}/x.txt", "long".repeat(100));
        let files = ["file:///a b/d.json", "https://x.example/lib/a.js?v=1#f", &long];
        Archive {
            metadata: Metadata {
                options_json: r#"{"vus":null}"#.into(),
                filename: "file:///a b/s.js".into(),
                pwd: "file:///a b".into(),
                env: Some([("A".to_owned(), "1".to_owned())].into()),
                version: "2.2.0".into(),
                system: "linux".into(),
                dependencies: [("k6".to_owned(), "*".to_owned())].into(),
                packages: vec![PackageImport {
                    folder: "file:///a b".into(),
                    specifier: "x/y".into(),
                    required: true,
                    file: "file:///a b/node_modules/x/y.js".into(),
                }],
            },
            script: b"export default () => {}".to_vec(),
            files: files.iter().map(|url| ((*url).to_owned(), url.as_bytes().to_vec())).collect(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        write(&archive(), &mut bytes).expect("memory takes it");
        assert_eq!(read(&bytes[..]).expect("it is one"), archive());
    }

    #[test]
    fn folders_stand_before_what_is_in_them() {
        let names = ["file/a/b/c.js", "https/x/a.js?b/c"];
        let expect = ["file", "file/a", "file/a/b", "https", "https/x"];
        assert_eq!(folders(names.into_iter()).into_iter().collect::<Vec<_>>(), expect);
    }
}
