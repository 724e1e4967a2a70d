//! The queries of the three variants, as texts.
//!
//! All agree on what they answer: released apps only; apps without reviews last, which `desc` alone would put first; and the
//! number of an app decides between equals, or pages would overlap.

/// By what a list is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Rating,
    Downloads,
    Newest,
    Updated,
}

impl Sort {
    /// All, in the order of the page.
    pub(crate) const ALL: [Sort; 4] = [Sort::Rating, Sort::Downloads, Sort::Newest, Sort::Updated];

    /// Its name in the page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sort::Rating => "rating",
            Sort::Downloads => "downloads",
            Sort::Newest => "newest",
            Sort::Updated => "updated",
        }
    }

    /// The joins for it, and the score that they give.
    fn joined(self) -> (&'static str, &'static str) {
        match self {
            Sort::Rating => ("left join review on review.app_id = app.app_id", "avg(review.rating)::float8"),
            Sort::Downloads => {
                ("left join download on download.app_id = app.app_id", "count(download.download_id)::float8")
            }
            Sort::Newest | Sort::Updated => ("", "null::float8"),
        }
    }

    fn order(self) -> &'static str {
        match self {
            Sort::Rating | Sort::Downloads => "score desc nulls last, app.released_at desc, app.app_id",
            Sort::Newest => "app.released_at desc, app.app_id",
            Sort::Updated => "app.updated_at desc, app.app_id",
        }
    }

    /// The view that holds it ready.
    fn view(self) -> Option<&'static str> {
        match self {
            Sort::Rating => Some("app_by_rating"),
            Sort::Downloads => Some("app_by_downloads"),
            Sort::Newest | Sort::Updated => None,
        }
    }
}

/// The fields of an app in the page.
const SHOWN: &str = "app.app_id, app.app_name, app.app_description, app.main_image, app.category_id";

/// The first of two queries: which apps, and their score. `$1` is how many, `$2` after how many, `$3` the category's code.
pub(crate) fn ids(sort: Sort, in_category: bool) -> String {
    let (join, score) = sort.joined();
    format!(
        "select app.app_id, {score} as score from app join category on category.category_id = app.category_id {join} \
         where app.status = 'RELEASED' {} group by app.app_id order by {} limit $1 offset $2",
        only(in_category, "category.category_code = $3"),
        sort.order()
    )
}

/// How many apps there are, with the joins of the query that lists them, as a framework derives it. `$1` is the code.
pub(crate) fn count_joined(sort: Sort, in_category: bool) -> String {
    let (join, _) = sort.joined();
    format!(
        "select count(distinct app.app_id) from app join category on category.category_id = app.category_id {join} \
         where app.status = 'RELEASED' {}",
        only(in_category, "category.category_code = $1")
    )
}

/// The second of two queries: the apps whole, in whatever order.
pub(crate) const ENTITIES: &str = "select * from app where app_id = any($1)";

/// One query for what is shown. `$1` is how many, `$2` after how many, `$3` the category's number.
pub(crate) fn projection(sort: Sort, in_category: bool) -> String {
    let (join, score) = sort.joined();
    // Nothing is joined that would need grouping.
    let group = if join.is_empty() { "" } else { "group by app.app_id" };
    format!(
        "select {SHOWN}, {score} as score from app {join} where app.status = 'RELEASED' {} {group} \
         order by {} limit $1 offset $2",
        only(in_category, "app.category_id = $3"),
        sort.order()
    )
}

/// The same from a view, where there is one.
pub(crate) fn from_view(sort: Sort, in_category: bool) -> String {
    let Some(view) = sort.view() else { return projection(sort, in_category) };
    let filter = if in_category { "where app.category_id = $3" } else { "" };
    format!(
        "select {SHOWN}, app.score from {view} as app {filter} order by {} limit $1 offset $2",
        sort.order()
    )
}

/// How many apps there are. `$1` is the category's number.
pub(crate) fn count(in_category: bool) -> String {
    format!("select count(*) from app where status = 'RELEASED' {}", only(in_category, "category_id = $1"))
}

fn only(in_category: bool, condition: &str) -> String {
    if in_category { format!("and {condition}") } else { String::new() }
}

/// A category by its number.
pub(crate) const CATEGORY: &str =
    "select category_id, category_code, category_icon from category where category_id = $1";

/// A category by its code.
pub(crate) const CATEGORY_OF_CODE: &str =
    "select category_id, category_code, category_icon from category where category_code = $1";

/// All categories, for the cache.
pub(crate) const CATEGORIES: &str = "select category_id, category_code, category_icon from category";

/// The same with unneeded columns, as an ORM's default mapping selects them.
pub(crate) const CATEGORIES_WITH_FIGURES: &str = "select category.category_id, category_code, category_icon, count(impression.impression_id) from category \
     left join app on app.category_id = category.category_id left join impression on impression.app_id = app.app_id \
     group by category.category_id";

/// One app, its mean rating, its downloads and its visits.
pub(crate) const DETAIL: &str = "select app.app_id, app.app_name, app.app_description, app.main_image, app.category_id, \
     (select avg(rating)::float8 from review where review.app_id = app.app_id), app.download_count, \
     (select count(*) from visit where visit.app_id = app.app_id) from app where app.app_id = $1 and app.status = 'RELEASED'";

/// A download of an app: what is counted and what is kept go together.
pub(crate) const RECORD_DOWNLOAD: &str = "with counted as (update app set download_count = download_count + 1 where app_id = $1 and status = 'RELEASED' \
     returning app_id) insert into download (app_id) select app_id from counted";

/// A report over every impression and download, in the background.
pub(crate) const REPORT: &str =
    "select count(*) from impression as a join download as b on b.app_id = a.app_id";
