//! Runs in a bucket of an S3-compatible store.
//!
//! A run is written to an outbox on this machine and uploaded when it is over: in one request where it is small, in parts
//! where it is not, and either way the key appears only when all of it is there. What could not be uploaded stays in the
//! outbox, is listed with the rest, and can be kept again later: of parts, only those that have not arrived. Downloads are cached by the store's own tag of the content.
//! Credentials, region and endpoint come from the usual `AWS_*` variables; the metadata service of the machine is asked only
//! where `PLIMSOLL_INSTANCE_METADATA` is `true`.

mod http;
mod upload;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectStore, ObjectStoreExt, RetryConfig};

use crate::directory;
use crate::error::Cause;
use crate::store::{Store, in_order};
use crate::{CatalogueError, Entry, FileName, LISTED_MAX};

/// Bytes per request, up and down. S3 wants at least 5 MiB per part and takes 10,000 parts: files up to 80 GB.
const PART_BYTES: u64 = 8 << 20;

/// A request that fails is made anew so many times.
const RETRIES_MAX: usize = 5;

/// And not for longer than this.
const RETRY_FOR: Duration = Duration::from_secs(60);

/// Set to `true` on a virtual machine whose role may read and write the bucket.
const INSTANCE_METADATA: &str = "PLIMSOLL_INSTANCE_METADATA";

/// The variables are those of `AmazonS3Builder::from_env`.
const NO_CREDENTIALS: &str = "no credentials for the bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
    AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN; for the role of this virtual machine set \
    PLIMSOLL_INSTANCE_METADATA=true, which asks 169.254.169.254";

/// A part of a bucket, and what of it is on this machine.
#[derive(Debug)]
pub(crate) struct Bucket {
    bucket: String,
    prefix: String,
    /// Where the store is, in place of what the environment says.
    endpoint: Option<String>,
    /// Runs that are written or wait to be uploaded.
    outbox: PathBuf,
    /// Runs that were downloaded, each in a folder named by the tag of its content.
    fetched: PathBuf,
}

impl Bucket {
    /// Keeps what is on this machine below `local`.
    pub(crate) fn new(bucket: &str, prefix: &str, local: &Path) -> Bucket {
        let local =
            local.join(bucket).join(if prefix.is_empty() { "%".into() } else { prefix.replace('/', "%") });
        Bucket {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
            endpoint: None,
            outbox: local.join("outbox"),
            fetched: local.join("fetched"),
        }
    }

    fn place(&self) -> String {
        format!("s3://{}/{}", self.bucket, self.prefix)
    }

    fn key(&self, name: &FileName) -> Key {
        self.folder().join(name.to_string())
    }

    fn folder(&self) -> Key {
        Key::from(self.prefix.as_str())
    }

    fn connect(&self) -> Result<AmazonS3, Cause> {
        let of_environment = || {
            let names = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
            names.iter().find_map(|name| std::env::var(name).ok())
        };
        let endpoint = self.endpoint.clone().or_else(of_environment).filter(|endpoint| !endpoint.is_empty());
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(&self.bucket)
            .with_http_connector(http::Connector)
            .with_retry(RetryConfig {
                max_retries: RETRIES_MAX,
                retry_timeout: RETRY_FOR,
                ..RetryConfig::default()
            });
        if let Some(endpoint) = endpoint {
            // An endpoint with the scheme `http` asks for a connection without TLS.
            builder = builder.with_allow_http(endpoint.starts_with("http://")).with_endpoint(endpoint);
        }
        if !has_credentials(&builder) && !asks_instance() {
            return Err(NO_CREDENTIALS.into());
        }
        Ok(builder.build()?)
    }

    fn list_remote(&self) -> Result<Vec<Entry>, Cause> {
        let store = self.connect()?;
        let folder = self.folder();
        let listed = runtime()?.block_on(store.list_with_delimiter(Some(&folder)))?;
        let entry = |object: object_store::ObjectMeta| {
            let name = FileName::parse(object.location.filename()?)?;
            Some(Entry {
                name,
                bytes: object.size,
                modified_unix_ns: object.last_modified.timestamp_nanos_opt().unwrap_or(0),
                version: object.e_tag.unwrap_or_default(),
            })
        };
        let entries: Vec<Entry> = listed.objects.into_iter().filter_map(entry).collect();
        if entries.len() > LISTED_MAX {
            return Err(format!("it holds more than {LISTED_MAX} runs; prune them").into());
        }
        Ok(entries)
    }

    fn upload(&self, name: &FileName, path: &Path) -> Result<(), Cause> {
        let store = self.connect()?;
        let mut file = std::fs::File::open(path)?;
        let bytes = file.metadata()?.len();
        runtime()?.block_on(async {
            if bytes <= PART_BYTES {
                store.put(&self.key(name), part(&mut file)?.into()).await?;
                return Ok(());
            }
            upload::in_parts(&store, &self.key(name), path).await
        })
    }

    fn download(&self, entry: &Entry, to: &Path) -> Result<(), Cause> {
        let store = self.connect()?;
        let folder = to.parent().ok_or("the cache is a folder")?;
        directory::make(folder)?;
        let partial = folder.join(format!("{}.{}", entry.name, std::process::id()));
        let written = runtime()?.block_on(async {
            let mut file = std::fs::File::create(&partial)?;
            let mut from = 0;
            while from < entry.bytes {
                let range = from..(from + PART_BYTES).min(entry.bytes);
                // Parts of different contents would make a file that never was.
                let version = Some(entry.version.clone()).filter(|version| !version.is_empty());
                let options = GetOptions {
                    range: Some(range.clone().into()),
                    if_match: version,
                    ..GetOptions::default()
                };
                let got = store.get_opts(&self.key(&entry.name), options).await?.bytes().await?;
                file.write_all(&got)?;
                from = range.end;
            }
            file.sync_all()?;
            Ok::<_, Cause>(())
        });
        let moved = written.and_then(|()| Ok(std::fs::rename(&partial, to)?));
        if moved.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        moved
    }

    /// Downloads a run into the cache.
    fn fetch(&self, entry: &Entry) -> Result<PathBuf, CatalogueError> {
        let cached = self.cached(entry);
        self.download(entry, &cached).map_err(|source| CatalogueError::Download {
            name: entry.name.to_string(),
            place: self.place(),
            source,
        })?;
        Ok(cached)
    }

    fn cached(&self, entry: &Entry) -> PathBuf {
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '-';
        let folder: String = entry.version.chars().filter(is_plain).take(80).collect();
        self.fetched.join(format!("v{folder}")).join(entry.name.to_string())
    }
}

impl Store for Bucket {
    fn list(&self) -> Result<Vec<Entry>, CatalogueError> {
        let fail = |source: Cause| CatalogueError::List { place: self.place(), source };
        let mut entries = directory::list(&self.outbox).map_err(|error| fail(error.into()))?;
        let remote = self.list_remote().map_err(fail)?;
        let waiting: std::collections::HashSet<_> = entries.iter().map(|entry| entry.name.clone()).collect();
        entries.extend(remote.into_iter().filter(|entry| !waiting.contains(&entry.name)));
        Ok(in_order(entries))
    }

    fn begin(&self, name: &FileName) -> Result<PathBuf, CatalogueError> {
        directory::make(&self.outbox)?;
        Ok(self.outbox.join(name.to_string()))
    }

    fn keep(&self, name: &FileName, path: &Path) -> Result<(), CatalogueError> {
        let fail = |source| CatalogueError::Upload { place: self.place(), path: path.to_owned(), source };
        self.upload(name, path).map_err(fail)?;
        // It is in the bucket; a copy that stays is only listed in place of it.
        let _ = std::fs::remove_file(path);
        Ok(())
    }

    fn waiting(&self) -> Vec<PathBuf> {
        let entries = directory::list(&self.outbox).unwrap_or_default();
        entries.iter().map(|entry| self.outbox.join(entry.name.to_string())).collect()
    }

    fn local(&self, entry: &Entry) -> Option<PathBuf> {
        Some(self.outbox.join(entry.name.to_string())).filter(|path| path.exists())
    }

    fn bring(&self, entry: &Entry) -> Result<PathBuf, CatalogueError> {
        let own = self.outbox.join(entry.name.to_string());
        if own.exists() {
            return Ok(own);
        }
        let cached = self.cached(entry);
        let is_cached = std::fs::metadata(&cached).is_ok_and(|facts| facts.len() == entry.bytes);
        if is_cached { Ok(cached) } else { self.fetch(entry) }
    }

    fn bring_anew(&self, entry: &Entry) -> Result<Option<PathBuf>, CatalogueError> {
        match self.local(entry) {
            Some(_) => Ok(None),
            None => self.fetch(entry).map(Some),
        }
    }

    fn remove(&self, entry: &Entry) -> Result<(), CatalogueError> {
        let name = entry.name.to_string();
        let removed: Result<(), Cause> = (|| {
            let own = self.outbox.join(&name);
            if own.exists() {
                if upload::has_begun(&own) {
                    let store = self.connect()?;
                    runtime()?.block_on(upload::forget(&store, &self.key(&entry.name), &own));
                }
                return Ok(directory::remove(&self.outbox, &name)?);
            }
            let store = self.connect()?;
            runtime()?.block_on(store.delete(&self.key(&entry.name)))?;
            // A cached file that is left behind is never read again.
            let _ = std::fs::remove_file(self.cached(entry));
            Ok(())
        })();
        removed.map_err(|source| CatalogueError::Remove { name, source })
    }
}

/// Whether the environment has credentials, or names where to fetch them. Without, the client would ask the metadata service
/// of the machine, on an address that no setting names.
fn has_credentials(builder: &AmazonS3Builder) -> bool {
    use AmazonS3ConfigKey as Key;
    let has = |key: Key| builder.get_config_value(&key).is_some_and(|value| !value.is_empty());
    has(Key::AccessKeyId)
        || has(Key::SecretAccessKey)
        || has(Key::WebIdentityTokenFile) && has(Key::RoleArn)
        || has(Key::ContainerCredentialsRelativeUri)
        || has(Key::ContainerCredentialsFullUri) && has(Key::ContainerAuthorizationTokenFile)
        || builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true")
}

/// Whether the user lets the machine's metadata service give the credentials.
fn asks_instance() -> bool {
    std::env::var(INSTANCE_METADATA).is_ok_and(|value| matches!(value.as_str(), "1" | "true"))
}

/// The next part of a file.
fn part(file: &mut std::fs::File) -> std::io::Result<Bytes> {
    let mut bytes = Vec::new();
    file.take(PART_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

#[cfg(test)]
mod tests;
