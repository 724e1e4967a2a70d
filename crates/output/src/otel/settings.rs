//! The settings of the export: k6's `K6_OTEL_*`, and beneath them the variables of every exporter of OpenTelemetry
//! (`OTEL_EXPORTER_OTLP_*`, specification "OTLP Exporter Configuration").

use std::time::Duration;

use crate::net::HttpSettings;
use crate::setting::{duration, first, pairs, refuse, switch, text};
use crate::{Context, OutputError};

/// Where a collector on this machine listens.
const URL_DEFAULT: &str = "http://localhost:4318/v1/metrics";
const PATH_DEFAULT: &str = "/v1/metrics";
const FLUSH_INTERVAL_DEFAULT: Duration = Duration::from_secs(1);
const EXPORT_INTERVAL_DEFAULT: Duration = Duration::from_secs(10);

/// Where a collector on this machine listens for gRPC.
const GRPC_DEFAULT: &str = "localhost:4317";

const PROTOCOL_EXPECTED: &str = "grpc or http/protobuf";
const ADDRESS_EXPECTED: &str =
    "a URL such as http://localhost:4318/v1/metrics or, for gRPC without TLS, grpc://localhost:4317";
const VERIFICATION_EXPECTED: &str =
    "false: over gRPC certificates are verified; name the authority with K6_OTEL_TLS_CERTIFICATE";
const LIST_EXPECTED: &str = "a list such as name=value,name=value";

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// A URL with its path.
    Http(String),
    /// A host and port, with or without TLS.
    Grpc {
        /// `localhost:4317`
        host: String,
        /// Without TLS.
        is_plain: bool,
    },
}

/// The settings of the export.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where requests go.
    pub(crate) address: Address,
    /// Headers of every request.
    pub(crate) headers: Vec<(String, String)>,
    /// How the receiver is trusted, and how it may trust us.
    pub(crate) http: HttpSettings,
    /// Whether bodies are compressed.
    pub(crate) is_compressed: bool,
    /// How often everything is sent.
    pub(crate) export_interval: Duration,
    /// The prefix of every metric's name.
    pub(crate) prefix: String,
    /// Whose metrics they are.
    pub(crate) resource: Vec<(String, String)>,
}

impl Settings {
    /// Reads the environment; the argument, if there is one, is the address.
    ///
    /// # Errors
    /// A setting cannot be read, or asks for what this export does not have.
    pub(crate) fn read(argument: &str, context: &Context) -> Result<Settings, OutputError> {
        refuse_delta(context)?;
        let address = address(argument, context)?;
        // Windows are of one second: an interval of the engine within that is met, and there is none beyond it to set.
        duration(context, "K6_OTEL_FLUSH_INTERVAL", FLUSH_INTERVAL_DEFAULT)?;
        let interval = first(context, &["K6_OTEL_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_INTERVAL"]);
        let interval = interval.map_or("K6_OTEL_EXPORT_INTERVAL", |(name, _)| name);
        Ok(Settings {
            address,
            headers: headers(context)?,
            http: http(context)?,
            is_compressed: is_compressed(context)?,
            export_interval: duration(context, interval, EXPORT_INTERVAL_DEFAULT)?,
            prefix: text(context, "K6_OTEL_METRIC_PREFIX").unwrap_or_default(),
            resource: resource(context)?,
        })
    }
}

fn refuse_delta(context: &Context) -> Result<(), OutputError> {
    let name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
    match text(context, name) {
        Some(value) if !value.eq_ignore_ascii_case("cumulative") => Err(refuse(name, &value, "cumulative")),
        _ => Ok(()),
    }
}

/// Whether gRPC was asked for: by its name, or by where it is to go. k6 takes gRPC where nothing is said; here that is HTTP,
/// which every collector listens for, too.
fn is_grpc(argument: &str, context: &Context) -> Result<bool, OutputError> {
    if !argument.is_empty() {
        return Ok(argument.starts_with("grpc://"));
    }
    let names = [
        "K6_OTEL_EXPORTER_PROTOCOL",
        "K6_OTEL_EXPORTER_TYPE",
        "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
        "OTEL_EXPORTER_OTLP_PROTOCOL",
    ];
    if let Some((name, value)) = first(context, &names) {
        return match (name, &*value) {
            (_, "grpc") => Ok(true),
            (_, "http/protobuf") | ("K6_OTEL_EXPORTER_TYPE", "http") => Ok(false),
            _ => Err(refuse(name, &value, PROTOCOL_EXPECTED)),
        };
    }
    let grpc = ["K6_OTEL_GRPC_EXPORTER_ENDPOINT", "K6_OTEL_GRPC_EXPORTER_INSECURE"];
    Ok(first(context, &grpc).is_some())
}

fn address(argument: &str, context: &Context) -> Result<Address, OutputError> {
    if !is_grpc(argument, context)? {
        return url(argument, context).map(Address::Http);
    }
    if switch(context, "K6_OTEL_TLS_INSECURE_SKIP_VERIFY")? {
        return Err(refuse("K6_OTEL_TLS_INSECURE_SKIP_VERIFY", "true", VERIFICATION_EXPECTED));
    }
    if let Some(host) = argument.strip_prefix("grpc://") {
        return Ok(Address::Grpc { host: host.trim_end_matches('/').to_owned(), is_plain: true });
    }
    let is_plain = switch(context, "K6_OTEL_GRPC_EXPORTER_INSECURE")?;
    if let Some(host) = text(context, "K6_OTEL_GRPC_EXPORTER_ENDPOINT") {
        return Ok(Address::Grpc { host, is_plain });
    }
    let names = ["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
    let Some((name, url)) = first(context, &names) else {
        return Ok(Address::Grpc { host: GRPC_DEFAULT.to_owned(), is_plain });
    };
    // Of a URL the scheme says whether there is TLS, and a path means nothing to gRPC.
    let (scheme, rest) = url.split_once("://").unwrap_or(("", &url));
    let host = rest.split('/').next().unwrap_or_default().to_owned();
    match scheme {
        "http" => Ok(Address::Grpc { host, is_plain: true }),
        "https" => Ok(Address::Grpc { host, is_plain: false }),
        _ => Err(refuse(name, &url, ADDRESS_EXPECTED)),
    }
}

fn url(argument: &str, context: &Context) -> Result<String, OutputError> {
    if !argument.is_empty() {
        let is_http = ["http://", "https://"].iter().any(|scheme| argument.starts_with(scheme));
        return match is_http {
            true => Ok(argument.to_owned()),
            false => Err(refuse("the address", argument, ADDRESS_EXPECTED)),
        };
    }
    let path = text(context, "K6_OTEL_HTTP_EXPORTER_URL_PATH");
    let is_plain = switch(context, "K6_OTEL_HTTP_EXPORTER_INSECURE")?;
    if let Some(host) = text(context, "K6_OTEL_HTTP_EXPORTER_ENDPOINT") {
        let scheme = if is_plain { "http" } else { "https" };
        return Ok(format!(
            "{scheme}://{host}/{}",
            path.as_deref().unwrap_or(PATH_DEFAULT).trim_start_matches('/')
        ));
    }
    if let Some(url) = text(context, "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") {
        return Ok(url);
    }
    let base = text(context, "OTEL_EXPORTER_OTLP_ENDPOINT");
    Ok(base.map_or_else(
        || URL_DEFAULT.to_owned(),
        |base| format!("{}{PATH_DEFAULT}", base.trim_end_matches('/')),
    ))
}

fn headers(context: &Context) -> Result<Vec<(String, String)>, OutputError> {
    let names = ["K6_OTEL_HEADERS", "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
    let Some((name, _)) = first(context, &names) else { return Ok(Vec::new()) };
    let headers = pairs(context, name, '=', LIST_EXPECTED)?;
    Ok(headers.into_iter().map(|(name, value)| (name, decoded(&value))).collect())
}

/// Values are percent-encoded, as in W3C Baggage.
fn decoded(value: &str) -> String {
    percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned()
}

fn http(context: &Context) -> Result<HttpSettings, OutputError> {
    let path = |names: &[&'static str]| first(context, names).map(|(_, path)| path);
    Ok(HttpSettings {
        proxy: None,
        skips_verification: switch(context, "K6_OTEL_TLS_INSECURE_SKIP_VERIFY")?,
        authority: path(&[
            "K6_OTEL_TLS_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
        ]),
        certificate: path(&[
            "K6_OTEL_TLS_CLIENT_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE",
            "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
        ]),
        key: path(&[
            "K6_OTEL_TLS_CLIENT_KEY",
            "OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY",
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
        ]),
    })
}

fn is_compressed(context: &Context) -> Result<bool, OutputError> {
    let names = ["OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION"];
    match first(context, &names) {
        None => Ok(false),
        Some((name, value)) => match &*value {
            "gzip" => Ok(true),
            "none" => Ok(false),
            _ => Err(refuse(name, &value, "gzip or none")),
        },
    }
}

/// The resource's attributes from the run and the program; the user's replace them, and the run's own id replaces all.
fn resource(context: &Context) -> Result<Vec<(String, String)>, OutputError> {
    let mut resource = std::collections::BTreeMap::from([
        ("service.name".to_owned(), "plimsoll".to_owned()),
        ("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
    ]);
    let given = pairs(context, "OTEL_RESOURCE_ATTRIBUTES", '=', LIST_EXPECTED)?;
    resource.extend(given.into_iter().map(|(name, value)| (name, decoded(&value))));
    let named = [
        ("service.name", first(context, &["K6_OTEL_SERVICE_NAME", "OTEL_SERVICE_NAME"])),
        ("service.version", first(context, &["K6_OTEL_SERVICE_VERSION"])),
    ];
    resource.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.1))));
    resource.insert("plimsoll.run.id".to_owned(), context.run_id.clone());
    Ok(resource.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::tests::context;

    #[track_caller]
    fn check(argument: &str, env: &[(&str, &str)], read: impl Fn(Settings) -> String, expect: &str) {
        let actual = match Settings::read(argument, &context(env)) {
            Ok(settings) => read(settings),
            Err(error) => format!("failed to {error}"),
        };
        assert_eq!(actual, expect, "{argument} {env:?}");
    }

    #[test]
    fn the_address_comes_from_k6_before_the_standard() {
        let url = |it: Settings| shown(&it.address);
        check("", &[], url, "http://localhost:4318/v1/metrics");
        check("http://a/b", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c")], url, "http://a/b");
        check("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1/x/")], url, "http://c:1/x/v1/metrics");
        let metrics = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://d/own");
        check("", &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"), metrics], url, "http://d/own");
        let host = ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "e:4318");
        check("", &[host, metrics], url, "https://e:4318/v1/metrics");
        let insecure = ("K6_OTEL_HTTP_EXPORTER_INSECURE", "true");
        let path = ("K6_OTEL_HTTP_EXPORTER_URL_PATH", "/x");
        check("", &[host, insecure, path], url, "http://e:4318/x");
    }

    fn shown(address: &Address) -> String {
        match address {
            Address::Http(url) => url.clone(),
            Address::Grpc { host, is_plain: true } => format!("grpc {host}"),
            Address::Grpc { host, is_plain: false } => format!("grpc with TLS {host}"),
        }
    }

    #[test]
    fn grpc_is_asked_for_by_its_name_or_its_address() {
        let url = |it: Settings| shown(&it.address);
        let protocol = |value: &'static str| ("K6_OTEL_EXPORTER_PROTOCOL", value);
        let insecure = ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true");
        check("", &[protocol("grpc")], url, "grpc with TLS localhost:4317");
        check("", &[protocol("grpc"), insecure], url, "grpc localhost:4317");
        let endpoint = ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "c:4317");
        check("", &[endpoint, insecure], url, "grpc c:4317");
        check("", &[insecure], url, "grpc localhost:4317");
        check("", &[endpoint, protocol("http/protobuf")], url, URL_DEFAULT);
        check("", &[("K6_OTEL_EXPORTER_TYPE", "http")], url, URL_DEFAULT);
        check("grpc://a:4317/", &[], url, "grpc a:4317");
        check("http://a/b", &[protocol("grpc")], url, "http://a/b");
        let standard = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
        let at = |url: &'static str| ("OTEL_EXPORTER_OTLP_ENDPOINT", url);
        check("", &[standard, at("http://d:4317/")], url, "grpc d:4317");
        check("", &[standard, at("https://d:4317")], url, "grpc with TLS d:4317");
    }

    #[test]
    fn what_is_absent_is_refused_with_the_next_step() {
        let url = |it: Settings| shown(&it.address);
        let expect = |name: &str, value: &str, next: &str| {
            format!("failed to read {name} of the output: \"{value}\" is not {next}")
        };
        let json = ("K6_OTEL_EXPORTER_PROTOCOL", "http/json");
        check("", &[json], url, &expect(json.0, json.1, PROTOCOL_EXPECTED));
        check("localhost:4317", &[], url, &expect("the address", "localhost:4317", ADDRESS_EXPECTED));
        let skip = ("K6_OTEL_TLS_INSECURE_SKIP_VERIFY", "true");
        let grpc = ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", "c:4317");
        check("", &[grpc, skip], url, &expect(skip.0, skip.1, VERIFICATION_EXPECTED));
        let delta = ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta");
        check("", &[delta], url, &expect(delta.0, delta.1, "cumulative"));
    }

    #[test]
    fn the_rest_is_read() {
        let read = |it: Settings| {
            let Settings { headers, is_compressed, export_interval, prefix, .. } = it;
            format!("{headers:?} {is_compressed} {export_interval:?} {prefix:?}")
        };
        check("", &[], read, r#"[] false 10s """#);
        let env = [
            ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc,x=y"),
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "500"),
            ("K6_OTEL_METRIC_PREFIX", "k6_"),
        ];
        check("", &env, read, r#"[("Authorization", "Basic abc"), ("x", "y")] true 500ms "k6_""#);
        let own = [("K6_OTEL_HEADERS", "a=b"), ("K6_OTEL_EXPORT_INTERVAL", "2s"), env[0], env[2]];
        check("", &own, read, r#"[("a", "b")] false 2s """#);
        let resource = |it: Settings| {
            let pairs: Vec<String> =
                it.resource.iter().map(|(name, value)| format!("{name}={value}")).collect();
            pairs.join(" ")
        };
        let version = env!("CARGO_PKG_VERSION");
        let expect = format!("plimsoll.run.id=run service.name=plimsoll service.version={version}");
        check("", &[], resource, &expect);
        let given = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,team=b%2Cc,plimsoll.run.id=x");
        let expect = "plimsoll.run.id=run service.name=shop service.version=7 team=b,c";
        let named = [given, ("K6_OTEL_SERVICE_NAME", "shop"), ("K6_OTEL_SERVICE_VERSION", "7")];
        check("", &named, resource, expect);
    }
}
