//! Lists of apps, in the three ways.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use tokio_postgres::{Error, Row};

use crate::cache::{self, CategoryKey};
use crate::database::Session;
use crate::queries::{self, Sort};
use crate::shapes::{App, AppList, Category, Detail, PageInfo};
use crate::store::{Store, Variant};

/// Apps on a page of a list.
pub(crate) const PAGE_SIZE: i64 = 10;

/// Words that an app carries in an answer that is too long.
const CHATTY_WORDS: usize = 1000;

impl Store {
    /// A category by its code, in the way of the variant; `None` where there is none.
    ///
    /// # Errors
    /// The database refuses.
    pub(crate) async fn category_of_code(
        &self,
        session: &mut Session<'_>,
        code: &str,
    ) -> Result<Option<Category>, Error> {
        match self.variant {
            Variant::TwoQueries => cache::load(session, CategoryKey::Code(code)).await,
            _ => self.category(session, CategoryKey::Code(code)).await,
        }
    }

    /// A page of a list, of one category or of all apps.
    ///
    /// # Errors
    /// The database refuses.
    pub(crate) async fn list(
        &self,
        session: &mut Session<'_>,
        sort: Sort,
        category: Option<&Category>,
        page: i64,
    ) -> Result<AppList, Error> {
        let (found, total) = match self.variant {
            Variant::TwoQueries => self.in_two_queries(session, sort, category, page).await?,
            Variant::Projection => {
                let sql = queries::projection(sort, category.is_some());
                self.in_one_query(session, &sql, category, page).await?
            }
            Variant::Matview | Variant::MatviewRemote => {
                let sql = queries::from_view(sort, category.is_some());
                self.in_one_query(session, &sql, category, page).await?
            }
        };
        let apps = self.with_categories(session, found).await?;
        Ok(AppList { apps, page_info: PageInfo { page, size: PAGE_SIZE, total } })
    }

    /// One app; `None` where there is none, or none that is released.
    ///
    /// # Errors
    /// The database refuses.
    pub(crate) async fn detail(
        &self,
        session: &mut Session<'_>,
        app_id: i64,
    ) -> Result<Option<Detail>, Error> {
        let rows = session.query("app", queries::DETAIL, &[&app_id]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let downloads = row.get(6);
        let mut apps = self.with_categories(session, vec![Found::of_projection(row)]).await?;
        Ok(apps.pop().map(|app| Detail { app, downloads }))
    }

    /// Which apps first, then those apps whole.
    async fn in_two_queries(
        &self,
        session: &mut Session<'_>,
        sort: Sort,
        category: Option<&Category>,
        page: i64,
    ) -> Result<(Vec<Found>, i64), Error> {
        let offset = page * PAGE_SIZE;
        let ids = queries::ids(sort, category.is_some());
        let count = queries::count_joined(sort, category.is_some());
        let (rows, counted) = match category {
            None => (
                session.query("ids of apps", &ids, &[&PAGE_SIZE, &offset]).await?,
                session.query("count of apps", &count, &[]).await?,
            ),
            Some(Category { category_code: code, .. }) => (
                session.query("ids of apps", &ids, &[&PAGE_SIZE, &offset, code]).await?,
                session.query("count of apps", &count, &[code]).await?,
            ),
        };
        let wanted: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        let entities = session.query("apps of ids", queries::ENTITIES, &[&wanted]).await?;
        let by_id: HashMap<i64, &Row> = entities.iter().map(|row| (row.get("app_id"), row)).collect();
        // They come in any order; the first query knows the right one.
        let found = rows.iter().filter_map(|row| {
            let entity = by_id.get(&row.get::<_, i64>(0))?;
            Some(Found::of_entity(entity, row.get(1)))
        });
        Ok((found.collect(), total(&counted)))
    }

    async fn in_one_query(
        &self,
        session: &mut Session<'_>,
        sql: &str,
        category: Option<&Category>,
        page: i64,
    ) -> Result<(Vec<Found>, i64), Error> {
        let (offset, count) = (page * PAGE_SIZE, queries::count(category.is_some()));
        let (rows, counted) = match category {
            None => (
                session.query("apps", sql, &[&PAGE_SIZE, &offset]).await?,
                session.query("count of apps", &count, &[]).await?,
            ),
            Some(Category { category_id: id, .. }) => (
                session.query("apps", sql, &[&PAGE_SIZE, &offset, id]).await?,
                session.query("count of apps", &count, &[id]).await?,
            ),
        };
        Ok((rows.iter().map(Found::of_projection).collect(), total(&counted)))
    }

    /// Apps with their categories: from the database once per category and list, or from the cache.
    async fn with_categories(&self, session: &mut Session<'_>, found: Vec<Found>) -> Result<Vec<App>, Error> {
        let asks_for_each = self.switches.n_plus_one.load(Ordering::Relaxed);
        let words = if self.switches.chatty.load(Ordering::Relaxed) { CHATTY_WORDS } else { 0 };
        let mut loaded: HashMap<i64, Category> = HashMap::new();
        let mut apps = Vec::with_capacity(found.len());
        for found in found {
            let wanted = CategoryKey::Number(found.category_id);
            let category = if asks_for_each {
                cache::load(session, wanted).await?
            } else if self.variant != Variant::TwoQueries {
                self.category(session, wanted).await?
            } else if let Some(category) = loaded.get(&found.category_id) {
                Some(category.clone())
            } else {
                cache::load(session, wanted).await?
            };
            // Every app has one: the database sees to that.
            let Some(category) = category else { continue };
            loaded.insert(found.category_id, category.clone());
            apps.push(found.into_app(category, words));
        }
        Ok(apps)
    }
}

/// An app without its category.
struct Found {
    app_id: i64,
    app_name: String,
    description: String,
    main_image: String,
    category_id: i64,
    score: Option<f64>,
}

impl Found {
    fn of_projection(row: &Row) -> Found {
        Found {
            app_id: row.get(0),
            app_name: row.get(1),
            description: row.get(2),
            main_image: row.get(3),
            category_id: row.get(4),
            score: row.get(5),
        }
    }

    fn of_entity(row: &Row, score: Option<f64>) -> Found {
        // An entity is mapped whole, whatever is shown of it.
        let _detail: String = row.get("app_detail");
        Found {
            app_id: row.get("app_id"),
            app_name: row.get("app_name"),
            description: row.get("app_description"),
            main_image: row.get("main_image"),
            category_id: row.get("category_id"),
            score,
        }
    }

    fn into_app(self, category: Category, words: usize) -> App {
        App {
            padding: self.description.split(' ').cycle().take(words).map(str::to_owned).collect(),
            app_id: self.app_id,
            app_name: self.app_name,
            description: self.description,
            main_image: self.main_image,
            score: self.score,
            category,
        }
    }
}

fn total(counted: &[Row]) -> i64 {
    counted.first().map(|row| row.get(0)).unwrap_or_default()
}
