//! Public test suites of the language and of the web platform, run with any tool that runs k6 scripts.
//!
//! A suite is a checkout outside this repository; nothing of it is kept here. Figures go to `docs/conformance.md`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use lexopt::{Arg, ValueExt};

use results::Results;
use tool::Tool;

mod compare;
mod results;
pub(crate) mod test262;
mod tool;
pub(crate) mod wpt;

/// Processes at a time.
const JOBS: usize = 2;

/// Flags of both verbs.
struct Options {
    folder: Option<PathBuf>,
    tool: Tool,
    jobs: usize,
    take: usize,
    only: String,
    out: Option<PathBuf>,
    compare: Vec<PathBuf>,
}

const USAGE: &str = "\
  --tool PATH            what runs the scripts; target/release/plimsoll by default
  --only WORD            only files whose path has this word
  --take N               the first N files by a hash of their path; all by default
  --jobs N               processes at a time; 2 by default
  --out FILE             the result of each case, as JSON
  --compare OURS THEIRS  prints the table of two such files, and runs nothing
";

impl Options {
    /// Reads the arguments; `None` when only help was asked for.
    fn read(mut parser: lexopt::Parser, usage: &str) -> anyhow::Result<Option<Options>> {
        let mut options = Options {
            folder: None,
            tool: Tool::default(),
            jobs: JOBS,
            take: usize::MAX,
            only: String::new(),
            out: None,
            compare: Vec::new(),
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Long("tool") => options.tool = Tool::at(parser.value()?.into()),
                Arg::Long("jobs") => options.jobs = parser.value()?.parse::<usize>()?.max(1),
                Arg::Long("take") => options.take = parser.value()?.parse()?,
                Arg::Long("only") => options.only = parser.value()?.string()?,
                Arg::Long("out") => options.out = Some(parser.value()?.into()),
                Arg::Long("compare") => options.compare = parser.values()?.map(PathBuf::from).collect(),
                Arg::Long("help") => {
                    print!("{usage}{USAGE}");
                    return Ok(None);
                }
                Arg::Value(folder) if options.folder.is_none() => options.folder = Some(folder.into()),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Some(options))
    }

    fn folder(&self) -> anyhow::Result<PathBuf> {
        let folder = self.folder.as_deref().context("find the suite: name the folder of its checkout")?;
        folder.canonicalize().with_context(|| format!("find {}", folder.display()))
    }

    /// Prints the table that `--compare` asks for. Returns whether it did.
    fn compares(&self) -> anyhow::Result<bool> {
        let [ours, theirs] = &self.compare[..] else {
            anyhow::ensure!(self.compare.is_empty(), "compare: two files are needed");
            return Ok(false);
        };
        print!("{}", compare::table(&Results::read(ours)?, &Results::read(theirs)?));
        Ok(true)
    }

    fn finish(&self, results: &Results) -> anyhow::Result<()> {
        if let Some(out) = &self.out {
            results.write(out)?;
        }
        print!("{}", compare::summary(results));
        Ok(())
    }
}

/// Every file below a folder whose name passes, by its path from `root`.
fn files_below(root: &Path, folder: &str, is_test: &dyn Fn(&str) -> bool) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if let Some(name) = entry.file_name().to_str().filter(|name| is_test(name)) {
                let path = folder.strip_prefix(root).unwrap_or(&folder).join(name);
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The first of the files by a hash of their path (FNV-1a, 64 bits), in that order.
fn drawn(mut files: Vec<String>, options: &Options) -> Vec<String> {
    files.retain(|path| path.contains(&options.only));
    files.sort_by_cached_key(|path| {
        path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    });
    files.truncate(options.take);
    files
}
