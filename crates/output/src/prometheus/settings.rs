//! The settings of the export: k6's `K6_PROMETHEUS_RW_*`, and the address as an argument.

use std::time::Duration;

use super::exporter::Trends;
use super::labels::TEST_ID;
use super::stats;
use crate::setting::{duration, pairs, refuse, switch, text};
use crate::totals::Labels;
use crate::{Context, OutputError};

const URL_DEFAULT: &str = "http://localhost:9090/api/v1/write";
const PUSH_INTERVAL_DEFAULT: Duration = Duration::from_secs(5);
const TREND_STATS_DEFAULT: &str = "p(99)";

/// What stands before the name of a header in `K6_PROMETHEUS_RW_HEADERS_X-Scope-OrgID`.
const HEADERS_PREFIX: &str = "K6_PROMETHEUS_RW_HEADERS_";

/// What k6 has and this export does not, and what to do instead. Ignoring it would be a lie.
const ABSENT: &[&str] = &["SIGV4_REGION", "SIGV4_ACCESS_KEY", "SIGV4_SECRET_KEY"];
const ABSENT_INSTEAD: &str = "supported: requests are not signed; write to a proxy that signs them";

/// What the export was told.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where requests go.
    pub(crate) url: String,
    /// Headers of every request, with those that authenticate.
    pub(crate) headers: Vec<(String, String)>,
    /// How the receiver is trusted, and how it may trust us.
    pub(crate) tls: Tls,
    /// How often what changed is sent.
    pub(crate) push_interval: Duration,
    /// How trends are written.
    pub(crate) trends: Trends,
    /// Whether all series end with the run.
    pub(crate) has_stale_markers: bool,
    /// Labels of every series beneath its own tags.
    pub(crate) everywhere: Labels,
}

impl Settings {
    /// Reads the environment; the argument, if there is one, is the address.
    ///
    /// # Errors
    /// A setting cannot be read, or is one of k6's that this export does not have.
    pub(crate) fn read(argument: &str, context: &Context) -> Result<Settings, OutputError> {
        let name = |setting: &str| format!("K6_PROMETHEUS_RW_{setting}");
        let get = |setting: &str| text(context, &name(setting));
        refuse_absent(context)?;
        let url = Some(argument.to_owned()).filter(|argument| !argument.is_empty());
        let url = url.or_else(|| get("SERVER_URL")).unwrap_or_else(|| URL_DEFAULT.to_owned());
        Ok(Settings {
            url,
            headers: headers(context)?,
            tls: Tls {
                skips_verification: switch(context, &name("INSECURE_SKIP_TLS_VERIFY"))?,
                authority: None,
                certificate: get("CLIENT_CERTIFICATE"),
                key: get("CLIENT_CERTIFICATE_KEY"),
            },
            push_interval: duration(context, &name("PUSH_INTERVAL"), PUSH_INTERVAL_DEFAULT)?,
            trends: trends(context)?,
            has_stale_markers: switch(context, &name("STALE_MARKERS"))?,
            everywhere: everywhere(context)?,
        })
    }
}

fn refuse_absent(context: &Context) -> Result<(), OutputError> {
    for setting in ABSENT {
        let name = format!("K6_PROMETHEUS_RW_{setting}");
        if text(context, &name).is_some() {
            // It may be a secret, which has no place in a message.
            return Err(refuse(&name, "…", ABSENT_INSTEAD));
        }
    }
    let name = "K6_PROMETHEUS_RW_TLS_MINIMUM_VERSION";
    match text(context, name).as_deref() {
        None | Some("1.2") => Ok(()),
        Some(value) => Err(refuse(name, value, "supported: TLS 1.2 and 1.3 are spoken, whichever is newer at the receiver")),
    }
}

fn headers(context: &Context) -> Result<Vec<(String, String)>, OutputError> {
    let mut headers = pairs(context, "K6_PROMETHEUS_RW_HTTP_HEADERS", ':', "a list such as name:value,name:value")?;
    let own = context.env_names.iter().filter_map(|name| Some((name.strip_prefix(HEADERS_PREFIX)?, name)));
    headers.extend(own.filter_map(|(header, name)| Some((header.to_owned(), text(context, name)?))));
    let get = |setting: &str| text(context, &format!("K6_PROMETHEUS_RW_{setting}"));
    if let Some(token) = get("BEARER_TOKEN") {
        headers.push(("Authorization".into(), format!("Bearer {token}")));
    } else if let Some(user) = get("USERNAME") {
        headers.push(http::basic(&user, &get("PASSWORD").unwrap_or_default()));
    }
    Ok(headers)
}

fn trends(context: &Context) -> Result<Trends, OutputError> {
    if switch(context, "K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM")? {
        return Ok(Trends::Native);
    }
    let name = "K6_PROMETHEUS_RW_TREND_STATS";
    let list = text(context, name).unwrap_or_else(|| TREND_STATS_DEFAULT.to_owned());
    stats::parse(&list).map(Trends::Stats).ok_or_else(|| refuse(name, &list, stats::EXPECTED))
}

/// The run's own label comes last, so that one that was given stands above it.
fn everywhere(context: &Context) -> Result<Labels, OutputError> {
    let given = pairs(context, "K6_PROMETHEUS_RW_LABELS", '=', "a list such as name=value,name=value")?;
    let given = given.into_iter().filter(|(_, value)| !value.is_empty());
    Ok(given.chain([(TEST_ID.to_owned(), context.run_id.clone())]).collect())
}

