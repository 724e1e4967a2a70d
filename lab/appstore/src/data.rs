//! The tables, and what is in them: made by the database itself, the same each time.
//!
//! Sized so that a list takes about as many milliseconds of one core as in the post, and made awkward on purpose: apps without
//! reviews, apps that were released at the same time, apps that are not released, a category without apps.

use tokio_postgres::Client;

use crate::store::Variant;

/// How many apps there are, released or not.
pub(crate) const APPS: i64 = 1200;
const REVIEWS: i64 = 12_000;
const DOWNLOADS: i64 = 24_000;

/// Visits of apps, the largest table: reading all of it takes a core 15 to 20 ms.
const VISITS: i64 = 300_000;

/// Appearances of apps in lists: reading all of them takes a core about 10 ms.
const IMPRESSIONS: i64 = 150_000;

const TABLES: &str = "
create extension if not exists pg_stat_statements;
create table category (
    category_id bigint primary key, category_code text not null unique, category_icon text not null);
create table app (
    app_id bigint primary key, category_id bigint not null references category, app_name text not null,
    app_description text not null, main_image text not null, app_detail text not null, status text not null,
    released_at timestamp not null, updated_at timestamp not null, download_count bigint not null default 0);
-- Compressed it would be no heavier to load than what is shown.
alter table app alter column app_detail set storage external;
create table review (
    review_id bigint generated always as identity primary key, app_id bigint not null references app,
    rating smallint not null);
create table download (
    download_id bigint generated always as identity primary key, app_id bigint not null references app,
    happened_at timestamp not null default now());
create table visit (
    visit_id bigint generated always as identity primary key, app_id bigint not null);
-- What reports and figures read, so that no request and no background job reads the same large table.
create table impression (
    impression_id bigint generated always as identity primary key, app_id bigint not null);
insert into category values
    (1, 'PRODUCTIVITY', '/icons/1.png'), (2, 'EDUCATION', '/icons/2.png'), (3, 'FIELD', '/icons/3.png'),
    (4, 'EMPTY', '/icons/4.png');
";

/// A multiplicative hash (Knuth, The Art of Computer Programming 3, 6.4) spreads numbers; squared, most fall on few apps.
fn rows() -> String {
    let spread = |number: &str| format!("(({number} * 2654435761) % 4294967296)::float8 / 4294967296");
    let some_app = format!("1 + floor(power({}, 2) * {APPS})::bigint", spread("i"));
    format!(
        "insert into app
         select i, case when i % 10 < 6 then 1 when i % 10 < 9 then 2 else 3 end, 'App ' || i,
                'What app ' || i || ' does, in a sentence or two. ' || repeat(md5(i::text), 4), '/images/' || i || '.png',
                repeat(md5(i::text), 128),
                case when i % 13 = 0 then 'DRAFT' when i % 29 = 0 then 'RETIRED' else 'RELEASED' end,
                timestamp '2024-01-01' + (i * 7919 % 60) * interval '5 days',
                timestamp '2025-01-01' + (i * 104729 % 400) * interval '1 day', 0
         from generate_series(1, {APPS}) as i;
         insert into review (app_id, rating)
         select app_id, 1 + (i * 40503 / 7 + app_id * 31) % 5
         from (select i, {some_app} as app_id from generate_series(1, {REVIEWS}) as i) as made where app_id % 17 <> 0;
         insert into download (app_id)
         select app_id from (select i, {some_app} as app_id from generate_series(1, {DOWNLOADS}) as i) as made
         where app_id % 19 <> 0;
         insert into visit (app_id) select 1 + i % {APPS} from generate_series(1, {VISITS}) as i;
         insert into impression (app_id) select 1 + i % {APPS} from generate_series(1, {IMPRESSIONS}) as i;"
    )
}

/// The index that a page about one app needs; a fault removes it.
pub(crate) const VISIT_INDEX: &str = "create index if not exists visit_app on visit (app_id)";

const INDEXES: &str = "
create index review_app on review (app_id);
create index download_app on download (app_id);
create index impression_app on impression (app_id);
create index app_category on app (category_id, status);
create index app_newest on app (released_at desc, app_id) where status = 'RELEASED';
create index app_updated on app (updated_at desc, app_id) where status = 'RELEASED';
";

/// A view can only be refreshed beside its readers when an index identifies its rows (PostgreSQL documentation, REFRESH
/// MATERIALIZED VIEW).
const VIEWS: &str = "
create materialized view app_by_rating as
    select app.app_id, app_name, app_description, main_image, category_id, released_at,
           avg(review.rating)::float8 as score
    from app left join review on review.app_id = app.app_id where status = 'RELEASED' group by app.app_id;
create unique index on app_by_rating (app_id);
create index on app_by_rating (score desc nulls last, released_at desc, app_id);
create index on app_by_rating (category_id, score desc nulls last, released_at desc, app_id);
create materialized view app_by_downloads as
    select app.app_id, app_name, app_description, main_image, category_id, released_at,
           count(download.download_id)::float8 as score
    from app left join download on download.app_id = app.app_id where status = 'RELEASED' group by app.app_id;
create unique index on app_by_downloads (app_id);
create index on app_by_downloads (score desc nulls last, released_at desc, app_id);
create index on app_by_downloads (category_id, score desc nulls last, released_at desc, app_id);
";

/// Brings the views up to date while they are read; one statement each, because it does not go in a transaction with others.
pub(crate) const REFRESHES: [&str; 2] = [
    "refresh materialized view concurrently app_by_rating",
    "refresh materialized view concurrently app_by_downloads",
];

/// Makes the tables and fills them.
///
/// # Errors
/// The database refuses.
pub(crate) async fn make(client: &Client, variant: Variant) -> Result<(), tokio_postgres::Error> {
    client.batch_execute(TABLES).await?;
    client.batch_execute(&rows()).await?;
    client.batch_execute(VISIT_INDEX).await?;
    client.batch_execute(INDEXES).await?;
    if variant.has_views() {
        client.batch_execute(VIEWS).await?;
    }
    // Each by itself: it refuses to run in a transaction, and several statements in one message are one.
    for table in ["category", "app", "review", "download", "visit", "impression"] {
        client.batch_execute(&format!("vacuum analyze {table}")).await?;
    }
    if variant.has_views() {
        client.batch_execute("analyze app_by_rating").await?;
        client.batch_execute("analyze app_by_downloads").await?;
    }
    Ok(())
}
