//! The settings of the export: k6's `K6_PROMETHEUS_RW_*`, and the address as an argument.

use std::time::Duration;

use super::exporter::Trends;
use super::labels::TEST_ID;
use super::stats;
use base64::prelude::{BASE64_STANDARD, Engine as _};

use crate::net::HttpSettings;
use crate::setting::{duration, pairs, refuse, switch, text};
use crate::totals::Labels;
use crate::{Context, OutputError};

const URL_DEFAULT: &str = "http://localhost:9090/api/v1/write";
const PUSH_INTERVAL_DEFAULT: Duration = Duration::from_secs(5);
const TREND_STATS_DEFAULT: &str = "p(99)";

/// The prefix of a header's name in `K6_PROMETHEUS_RW_HEADERS_X-Scope-OrgID`.
const HEADERS_PREFIX: &str = "K6_PROMETHEUS_RW_HEADERS_";

/// Settings that k6 has and this export does not, and the alternative to each. Ignoring them would be a lie.
const ABSENT: &[&str] = &["SIGV4_REGION", "SIGV4_ACCESS_KEY", "SIGV4_SECRET_KEY"];
const ABSENT_INSTEAD: &str = "supported: requests are not signed; write to a proxy that signs them";

/// The settings of the export.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where requests go.
    pub(crate) url: String,
    /// Headers of every request, with those that authenticate.
    pub(crate) headers: Vec<(String, String)>,
    /// How the receiver is trusted, and how it may trust us.
    pub(crate) http: HttpSettings,
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
            http: HttpSettings {
                proxy: None,
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
        Some(value) => Err(refuse(
            name,
            value,
            "supported: TLS 1.2 and 1.3 are spoken, whichever is newer at the receiver",
        )),
    }
}

fn headers(context: &Context) -> Result<Vec<(String, String)>, OutputError> {
    let mut headers =
        pairs(context, "K6_PROMETHEUS_RW_HTTP_HEADERS", ':', "a list such as name:value,name:value")?;
    let own = context.env_names.iter().filter_map(|name| Some((name.strip_prefix(HEADERS_PREFIX)?, name)));
    headers.extend(own.filter_map(|(header, name)| Some((header.to_owned(), text(context, name)?))));
    let get = |setting: &str| text(context, &format!("K6_PROMETHEUS_RW_{setting}"));
    if let Some(token) = get("BEARER_TOKEN") {
        headers.push(("Authorization".into(), format!("Bearer {token}")));
    } else if let Some(user) = get("USERNAME") {
        let pair = format!("{user}:{}", get("PASSWORD").unwrap_or_default());
        headers.push(("Authorization".into(), format!("Basic {}", BASE64_STANDARD.encode(pair))));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::tests::context;

    #[track_caller]
    fn check(argument: &str, env: &[(&str, &str)], read: impl Fn(Settings) -> String, expect: &str) {
        let env: Vec<(String, &str)> =
            env.iter().map(|(name, value)| (format!("K6_PROMETHEUS_RW_{name}"), *value)).collect();
        let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (&**name, *value)).collect();
        let actual = match Settings::read(argument, &context(&env)) {
            Ok(settings) => read(settings),
            Err(error) => format!("failed to {error}"),
        };
        assert_eq!(actual, expect, "{argument} {env:?}");
    }

    #[test]
    fn addresses_and_intervals() {
        let read = |it: Settings| format!("{} {:?} {}", it.url, it.push_interval, it.has_stale_markers);
        check("", &[], read, "http://localhost:9090/api/v1/write 5s false");
        let given = [("SERVER_URL", "http://b/w"), ("PUSH_INTERVAL", "250ms"), ("STALE_MARKERS", "true")];
        check("", &given, read, "http://b/w 250ms true");
        check("http://a/w", &given, read, "http://a/w 250ms true");
    }

    #[test]
    fn headers_and_who_we_are() {
        let read = |it: Settings| {
            let headers: Vec<String> =
                it.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            headers.join("; ")
        };
        check("", &[], read, "");
        let given = [
            ("HTTP_HEADERS", "a:b,c:d:e"),
            ("HEADERS_X-Scope-OrgID", "7"),
            ("USERNAME", "u"),
            ("PASSWORD", "p"),
        ];
        check("", &given, read, "a: b; c: d:e; X-Scope-OrgID: 7; Authorization: Basic dTpw");
        check("", &[("BEARER_TOKEN", "t"), ("USERNAME", "u")], read, "Authorization: Bearer t");
    }

    #[test]
    fn trends_and_labels() {
        let read = |it: Settings| match it.trends {
            Trends::Native => "native".to_owned(),
            Trends::Stats(stats) => stats.into_iter().map(|(_, suffix)| suffix).collect::<Vec<_>>().join(" "),
        };
        check("", &[], read, "p99");
        check("", &[("TREND_STATS", "min,p(95)")], read, "min p95");
        check("", &[("TREND_STATS", "min"), ("TREND_AS_NATIVE_HISTOGRAM", "1")], read, "native");
        let labels = |it: Settings| format!("{:?}", it.everywhere);
        check("", &[], labels, r#"[("testid", "run")]"#);
        check(
            "",
            &[("LABELS", "zone=a,empty=,testid=x")],
            labels,
            r#"[("zone", "a"), ("testid", "x"), ("testid", "run")]"#,
        );
    }

    #[test]
    fn what_is_absent_is_refused_by_name_and_keeps_its_secrets() {
        let read = |_| String::new();
        let expect = "failed to read K6_PROMETHEUS_RW_SIGV4_SECRET_KEY of the output: \"…\" is not supported: requests are not signed; write to a proxy that signs them";
        check("", &[("SIGV4_SECRET_KEY", "hush")], read, expect);
        check("", &[("TLS_MINIMUM_VERSION", "1.2")], read, "");
        let expect = "failed to read K6_PROMETHEUS_RW_TLS_MINIMUM_VERSION of the output: \"1.3\" is not supported: TLS 1.2 and 1.3 are spoken, whichever is newer at the receiver";
        check("", &[("TLS_MINIMUM_VERSION", "1.3")], read, expect);
    }
}
