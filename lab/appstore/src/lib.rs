//! The app store: lists of apps by rating, downloads and age over PostgreSQL, built three times, each time cheaper.
//!
//! The steps are those of an engineering post: first two queries per list and entities loaded one by one, then one query that
//! takes only what is shown, then views that are refreshed each minute.

mod cache;
mod data;
mod database;
mod faults;
mod lists;
mod metrics;
mod queries;
mod service;
mod shapes;
mod store;
#[cfg(test)]
mod tests;

use lab::{POSTGRES, System, Variant};

/// The system, as the lab lists it.
pub static SYSTEM: System = System {
    name: "appstore",
    summary: "lists of apps by rating, downloads and age over PostgreSQL",
    variants: &[
        Variant {
            name: "two-queries",
            summary: "finds the apps, then loads them whole, then their categories",
        },
        Variant { name: "projection", summary: "one query for what is shown, categories from a cache" },
        Variant {
            name: "matview",
            summary: "ratings and downloads from views that are refreshed each minute",
        },
        Variant { name: "matview-remote", summary: "as matview, with the database one millisecond away" },
    ],
    servers: &[POSTGRES],
    scripts: &["lab/appstore/first-page.js", "lab/appstore/browse.js", "lab/appstore/ranking.js"],
    serve: service::serve,
};
