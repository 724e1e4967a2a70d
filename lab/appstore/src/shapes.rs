//! The service's answers, as JSON.

use serde::Serialize;

/// A category of apps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Category {
    pub(crate) category_id: i64,
    pub(crate) category_code: String,
    pub(crate) category_icon: String,
}

/// An app in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct App {
    pub(crate) app_id: i64,
    pub(crate) app_name: String,
    pub(crate) description: String,
    pub(crate) main_image: String,
    /// The mean rating or the downloads, where the list is ordered by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    pub(crate) category: Category,
    /// Fields that no client reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) padding: Vec<String>,
}

/// Where in a list one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PageInfo {
    pub(crate) page: i64,
    pub(crate) size: i64,
    pub(crate) total: i64,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppList {
    pub(crate) apps: Vec<App>,
    pub(crate) page_info: PageInfo,
}

/// One app.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Detail {
    #[serde(flatten)]
    pub(crate) app: App,
    pub(crate) downloads: i64,
}
