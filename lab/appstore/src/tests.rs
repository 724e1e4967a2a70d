//! The answers of every variant, against those of a naive reader of the tables.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use labkit::{Log, Metrics, Tracer};
use tokio_postgres::Client;

use crate::cache::Cache;
use crate::database::{self, Pool};
use crate::lists::PAGE_SIZE;
use crate::queries::{self, Sort};
use crate::shapes::{AppList, Category};
use crate::store::{Store, Switches, Variant};
use crate::{data, metrics};

/// A row of apps, as far as lists depend on it, with what reviews and downloads come to.
#[derive(Clone, Debug)]
struct Row {
    app_id: i64,
    category_id: i64,
    is_released: bool,
    released_s: f64,
    updated_s: f64,
    ratings: Vec<i16>,
    downloads: u32,
}

impl Row {
    fn score(&self, sort: Sort) -> Option<f64> {
        match sort {
            Sort::Rating if self.ratings.is_empty() => None,
            Sort::Rating => {
                let sum: i64 = self.ratings.iter().copied().map(i64::from).sum();
                Some(sum as f64 / self.ratings.len() as f64)
            }
            Sort::Downloads => Some(f64::from(self.downloads)),
            Sort::Newest | Sort::Updated => None,
        }
    }
}

/// The larger first, nothing last.
fn descending(a: Option<f64>, b: Option<f64>) -> Ordering {
    b.unwrap_or(f64::NEG_INFINITY).total_cmp(&a.unwrap_or(f64::NEG_INFINITY))
}

fn order(sort: Sort, a: &Row, b: &Row) -> Ordering {
    let released = || b.released_s.total_cmp(&a.released_s);
    let first = match sort {
        Sort::Rating | Sort::Downloads => descending(a.score(sort), b.score(sort)).then_with(released),
        Sort::Newest => released(),
        Sort::Updated => b.updated_s.total_cmp(&a.updated_s),
    };
    first.then(a.app_id.cmp(&b.app_id))
}

/// The whole list, as a reader of the tables computes it.
fn expected(rows: &[Row], sort: Sort, category: Option<&Category>) -> Vec<Row> {
    let is_in = |row: &&Row| category.is_none_or(|category| row.category_id == category.category_id);
    let mut listed: Vec<Row> = rows.iter().filter(|row| row.is_released).filter(is_in).cloned().collect();
    listed.sort_by(|a, b| order(sort, a, b));
    listed
}

async fn rows(client: &Client) -> Vec<Row> {
    let sql = "select app_id, category_id, status, extract(epoch from released_at)::float8, \
               extract(epoch from updated_at)::float8 from app";
    let apps = client.query(sql, &[]).await.expect("apps");
    let mut rows: HashMap<i64, Row> = HashMap::new();
    for app in &apps {
        let row = Row {
            app_id: app.get(0),
            category_id: app.get(1),
            is_released: app.get::<_, &str>(2) == "RELEASED",
            released_s: app.get(3),
            updated_s: app.get(4),
            ratings: Vec::new(),
            downloads: 0,
        };
        rows.insert(row.app_id, row);
    }
    for review in client.query("select app_id, rating from review", &[]).await.expect("reviews") {
        rows.get_mut(&review.get(0)).expect("its app").ratings.push(review.get(1));
    }
    for download in client.query("select app_id from download", &[]).await.expect("downloads") {
        rows.get_mut(&download.get(0)).expect("its app").downloads += 1;
    }
    rows.into_values().collect()
}

fn store(variant: Variant, url: &str, folder: &std::path::Path) -> Store {
    let metrics = Arc::new(Metrics::new(metrics::ALL));
    Store {
        variant,
        pool: Pool::new(url, variant.round_trip(), metrics.clone()),
        cache: Cache::default(),
        switches: Switches::default(),
        tracer: Tracer::new(None, "appstore", metrics.clone()),
        log: Log::create(&folder.join("log")).expect("a log"),
        metrics,
    }
}

#[track_caller]
fn check(list: &AppList, rows: &[Row], sort: Sort, category: Option<&Category>, page: i64, what: &str) {
    let all = expected(rows, sort, category);
    assert_eq!(list.page_info.total, all.len() as i64, "{what}");
    let (from, size) = ((page * PAGE_SIZE) as usize, PAGE_SIZE as usize);
    let expect: Vec<&Row> = all.iter().skip(from).take(size).collect();
    let found: Vec<i64> = list.apps.iter().map(|app| app.app_id).collect();
    assert_eq!(found, expect.iter().map(|row| row.app_id).collect::<Vec<_>>(), "{what}");
    for (app, row) in list.apps.iter().zip(expect) {
        let is_near = match (app.score, row.score(sort)) {
            (None, None) => true,
            (Some(found), Some(expect)) => (found - expect).abs() < 1e-9,
            _ => false,
        };
        assert!(is_near, "{what}: app {} has the score {:?}", app.app_id, app.score);
        assert_eq!(app.category.category_id, row.category_id, "{what}");
        assert_eq!(app.app_name, format!("App {}", app.app_id), "{what}");
    }
}

#[test]
fn every_variant_lists_what_a_naive_reader_does() {
    if !lab::POSTGRES.is_installed() {
        assert!(std::env::var_os("PLIMSOLL_TESTS").is_none(), "PostgreSQL is not installed");
        eprintln!("skipped: PostgreSQL is not installed, so the lists are not compared");
        return;
    }
    let servers = lab::Alone::start(&[lab::POSTGRES]).expect("PostgreSQL starts");
    let folder = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let url = servers.url("postgres");
        let client = database::connect(&url).await.expect("a connection");
        data::make(&client, Variant::Matview).await.expect("the data");
        let rows = rows(&client).await;
        is_awkward(&rows);
        for variant in Variant::ALL {
            let store = store(variant, &url, folder.path());
            lists_agree(&store, &rows).await;
        }
        views_follow(&client, &store(Variant::Matview, &url, folder.path())).await;
        cache_falls_back(&client, &store(Variant::Projection, &url, folder.path())).await;
    });
}

/// The data holds the cases that careless queries get wrong: apps without reviews, equals, apps that are not released.
fn is_awkward(rows: &[Row]) {
    assert_eq!(rows.len() as i64, data::APPS);
    assert!(rows.iter().any(|row| row.is_released && row.ratings.is_empty()));
    assert!(rows.iter().any(|row| row.is_released && row.downloads == 0));
    assert!(rows.iter().any(|row| !row.is_released));
    let listed = expected(rows, Sort::Rating, None);
    let are_equal = |pair: &[Row]| {
        pair[0].score(Sort::Rating) == pair[1].score(Sort::Rating) && pair[0].released_s == pair[1].released_s
    };
    assert!(listed.windows(2).any(are_equal), "some differ by their number alone");
}

async fn lists_agree(store: &Store, rows: &[Row]) {
    let mut trace = store.tracer.trace(None);
    let mut session = store.pool.session(&mut trace).await.expect("a session");
    for code in [None, Some("PRODUCTIVITY"), Some("EDUCATION"), Some("FIELD"), Some("EMPTY")] {
        let category = match code {
            None => None,
            Some(code) => {
                Some(store.category_of_code(&mut session, code).await.expect("an answer").expect(code))
            }
        };
        for sort in Sort::ALL {
            let pages = expected(rows, sort, category.as_ref()).len() as i64 / PAGE_SIZE;
            // The first, those around the end where apps without a score are, and one beyond.
            for page in [0, 1, pages - 1, pages, pages + 1].into_iter().filter(|page| *page >= 0) {
                let list = store.list(&mut session, sort, category.as_ref(), page).await.expect("a list");
                let what = format!("{:?} {sort:?} {code:?} page {page}", store.variant);
                check(&list, rows, sort, category.as_ref(), page, &what);
            }
        }
    }
    assert!(store.category_of_code(&mut session, "NONE").await.expect("an answer").is_none());
}

/// A view shows a new review once it is refreshed, and not before.
async fn views_follow(client: &Client, store: &Store) {
    let top = async || {
        let mut trace = store.tracer.trace(None);
        let mut session = store.pool.session(&mut trace).await.expect("a session");
        store.list(&mut session, Sort::Downloads, None, 0).await.expect("a list").apps[0].clone()
    };
    let before = top().await;
    client.execute(queries::RECORD_DOWNLOAD, &[&before.app_id]).await.expect("a download");
    assert_eq!(top().await.score, before.score);
    for sql in data::REFRESHES {
        client.batch_execute(sql).await.expect("a refresh beside readers");
    }
    assert_eq!(top().await.score, before.score.map(|score| score + 1.0));
}

/// An entry that the cache lacks comes from the database and stays; a cached entry outlives the row.
async fn cache_falls_back(client: &Client, store: &Store) {
    let mut trace = store.tracer.trace(None);
    let mut session = store.pool.session(&mut trace).await.expect("a session");
    client.execute("insert into category values (9, 'NEW', '/icons/9.png')", &[]).await.expect("a row");
    let found = store.category_of_code(&mut session, "NEW").await.expect("an answer");
    assert_eq!(found.map(|category| category.category_id), Some(9));
    client.execute("delete from category where category_id = 9", &[]).await.expect("it goes");
    assert!(store.category_of_code(&mut session, "NEW").await.expect("an answer").is_some());
    store.cache.replace(&client.query(queries::CATEGORIES, &[]).await.expect("rows"));
    assert!(store.category_of_code(&mut session, "NEW").await.expect("an answer").is_none());
}

#[test]
fn a_variant_has_the_name_that_the_lab_lists() {
    let names = crate::SYSTEM.variants.iter().map(|variant| Variant::from_name(variant.name));
    assert_eq!(names.collect::<Vec<_>>(), Variant::ALL.map(Some));
    assert_eq!(Variant::from_name("none"), None);
}
