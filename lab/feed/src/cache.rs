//! Redis, in front of the store.

use std::time::Duration;

use bytes::Bytes;
use lab::{LabError, Launch, Offer, Place, REDIS, Server};
use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError};

/// Capacity of the cache beyond its own needs while its memory is limited. The buffers of its connections take up to half of it,
/// and the rest must hold some pages: else none would ever be kept or evicted. All pages take 1 MB.
const LIMITED_BYTES: u64 = 400_000;

/// A page is kept so long.
const KEPT: Duration = Duration::from_secs(600);

/// Redis, for the variant that has a cache.
pub(crate) static CACHE: CacheServer = CacheServer;

/// As the lab starts it.
#[derive(Debug)]
pub(crate) struct CacheServer;

impl Server for CacheServer {
    fn name(&self) -> &'static str {
        REDIS.name()
    }

    fn package(&self) -> &'static str {
        REDIS.package()
    }

    fn program(&self) -> &'static str {
        REDIS.program()
    }

    fn is_needed(&self, variant: &str) -> bool {
        variant == "cached"
    }

    fn prepare(&self, place: &Place) -> Result<Vec<Launch>, LabError> {
        REDIS.prepare(place)
    }

    fn is_ready(&self, place: &Place) -> bool {
        REDIS.is_ready(place)
    }

    fn url(&self, place: &Place) -> String {
        REDIS.url(place)
    }

    fn offer(&self, place: &Place) -> Option<Offer> {
        REDIS.offer(place)
    }
}

/// A connection that requests share.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    connection: MultiplexedConnection,
}

impl Cache {
    /// Connects.
    ///
    /// # Errors
    /// Redis does not take it.
    pub(crate) async fn connect(url: &str) -> Result<Cache, RedisError> {
        Ok(Cache { connection: Client::open(url)?.get_multiplexed_async_connection().await? })
    }

    /// The page of this name, where it is kept.
    pub(crate) async fn get(&self, key: &str) -> Result<Option<Bytes>, RedisError> {
        let mut connection = self.connection.clone();
        let found: Option<Vec<u8>> = redis::cmd("GET").arg(key).query_async(&mut connection).await?;
        Ok(found.map(Bytes::from))
    }

    /// Keeps a page.
    pub(crate) async fn set(&self, key: &str, page: &[u8]) -> Result<(), RedisError> {
        let mut connection = self.connection.clone();
        let mut set = redis::cmd("SET");
        set.arg(key).arg(page).arg("EX").arg(KEPT.as_secs()).query_async(&mut connection).await
    }

    /// Pages that were evicted so far.
    pub(crate) async fn evicted(&self) -> Result<u64, RedisError> {
        Ok(field(&self.info("stats").await?, "evicted_keys"))
    }

    /// Limits its memory to less than half of what the pages take, or no longer.
    pub(crate) async fn set_limited(&self, is_limited: bool) -> Result<(), RedisError> {
        let own = field(&self.info("memory").await?, "used_memory_overhead");
        let limit = if is_limited { own + LIMITED_BYTES } else { 0 };
        self.configure("maxmemory-policy", "allkeys-lru").await?;
        self.configure("maxmemory", &limit.to_string()).await
    }

    async fn info(&self, section: &str) -> Result<String, RedisError> {
        redis::cmd("INFO").arg(section).query_async(&mut self.connection.clone()).await
    }

    async fn configure(&self, name: &str, value: &str) -> Result<(), RedisError> {
        let mut set = redis::cmd("CONFIG");
        set.arg("SET").arg(name).arg(value).query_async(&mut self.connection.clone()).await
    }
}

/// A number in what `INFO` answers; zero where there is none.
fn field(info: &str, name: &str) -> u64 {
    let mut fields = info.lines().filter_map(|line| line.trim_end().split_once(':'));
    fields.find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_whole_name() {
        let info = "# Stats\r\nevicted_keys_more:9\r\nevicted_keys:12\r\nnone:\r\n";
        let check = |name: &str, expect: u64| assert_eq!(field(info, name), expect, "{name}");
        check("evicted_keys", 12);
        check("none", 0);
        check("absent", 0);
    }
}
