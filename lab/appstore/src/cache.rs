//! The categories in memory: refreshed each so many minutes; what is missing is looked for in the database before it is an
//! error.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Instant, SystemClock};
use tokio_postgres::{Error, Row};

use crate::database::Session;
use crate::metrics;
use crate::queries;
use crate::shapes::Category;
use crate::store::Store;

/// How long the cache is good while it is made to expire under load.
const STAMPEDE_PERIOD: Duration = Duration::from_millis(700);

/// Categories by number.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    known: Mutex<Known>,
    /// Whether it expires all at once, again and again, and everybody who notices loads it.
    stampedes: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    categories: BTreeMap<i64, Category>,
    loaded: Instant,
}

impl Cache {
    /// Makes it expire under load, or not.
    pub(crate) fn set_stampede(&self, is_on: bool) {
        self.stampedes.store(is_on, Ordering::Relaxed);
    }

    /// Takes what was loaded in place of what it had.
    pub(crate) fn replace(&self, rows: &[Row]) {
        let categories = rows.iter().map(category).map(|category| (category.category_id, category)).collect();
        *self.known() = Known { categories, loaded: SystemClock::now() };
    }

    fn keep(&self, category: &Category) {
        self.known().categories.insert(category.category_id, category.clone());
    }

    fn find(&self, is_wanted: impl Fn(&Category) -> bool) -> Option<Category> {
        self.known().categories.values().find(|category| is_wanted(category)).cloned()
    }

    fn has_expired(&self) -> bool {
        let is_old = || SystemClock::now().since(self.known().loaded) > STAMPEDE_PERIOD;
        self.stampedes.load(Ordering::Relaxed) && is_old()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a category.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CategoryKey<'a> {
    Number(i64),
    Code(&'a str),
}

impl Store {
    /// A category, from memory where it is there, else from the database; `None` where neither has it.
    ///
    /// # Errors
    /// The database refuses.
    pub(crate) async fn category(
        &self,
        session: &mut Session<'_>,
        key: CategoryKey<'_>,
    ) -> Result<Option<Category>, Error> {
        if self.cache.has_expired() {
            let rows = session.query("load categories", queries::CATEGORIES_WITH_FIGURES, &[]).await?;
            self.metrics.add(metrics::CACHE_LOADS, "", 1.0);
            self.cache.replace(&rows);
        }
        let known = self.cache.find(|category| match key {
            CategoryKey::Number(number) => category.category_id == number,
            CategoryKey::Code(code) => category.category_code == code,
        });
        if known.is_some() {
            return Ok(known);
        }
        let found = load(session, key).await?;
        if let Some(category) = &found {
            self.cache.keep(category);
        }
        Ok(found)
    }
}

/// A category from the database.
///
/// # Errors
/// The database refuses.
pub(crate) async fn load(session: &mut Session<'_>, key: CategoryKey<'_>) -> Result<Option<Category>, Error> {
    let rows = match key {
        CategoryKey::Number(number) => session.query("category", queries::CATEGORY, &[&number]).await?,
        CategoryKey::Code(code) => {
            session.query("category of code", queries::CATEGORY_OF_CODE, &[&code]).await?
        }
    };
    Ok(rows.first().map(category))
}

fn category(row: &Row) -> Category {
    Category { category_id: row.get(0), category_code: row.get(1), category_icon: row.get(2) }
}
