//! The place of a catalogue, as it was named.

use std::path::PathBuf;

use crate::CatalogueError;

/// Where runs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A directory of this machine.
    Directory(PathBuf),
    /// A part of a bucket.
    Bucket {
        /// Its name.
        bucket: String,
        /// Prefix of all keys, without slashes at either end; may be empty.
        prefix: String,
    },
}

impl Location {
    /// Reads `s3://bucket/prefix` or the path of a directory.
    ///
    /// # Errors
    /// It names no bucket, or another kind of store.
    pub fn parse(text: &str) -> Result<Location, CatalogueError> {
        let fail = |why: &str| CatalogueError::Location { text: text.to_owned(), why: why.to_owned() };
        let Some((scheme, rest)) = text.split_once("://") else {
            return if text.is_empty() {
                Err(fail("it is empty"))
            } else {
                Ok(Location::Directory(text.into()))
            };
        };
        match scheme {
            "s3" => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() {
                    return Err(fail("it names no bucket; write s3://bucket/prefix"));
                }
                Ok(Location::Bucket { bucket: bucket.into(), prefix: prefix.trim_matches('/').into() })
            }
            _ => Err(fail("there are directories and s3://bucket/prefix")),
        }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Location::Directory(path) => path.display().fmt(to),
            Location::Bucket { bucket, prefix } if prefix.is_empty() => write!(to, "s3://{bucket}"),
            Location::Bucket { bucket, prefix } => write!(to, "s3://{bucket}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(Location::parse(text).ok().map(|it| it.to_string()).as_deref(), expect, "{text}");
    }

    #[test]
    fn places_are_directories_and_buckets() {
        check("/var/runs", Some("/var/runs"));
        check("runs", Some("runs"));
        check("s3://load", Some("s3://load"));
        check("s3://load/team/a/", Some("s3://load/team/a"));
        check("s3://", None);
        check("s3:///x", None);
        check("gs://load", None);
        check("", None);
    }
}
