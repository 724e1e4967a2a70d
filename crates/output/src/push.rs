//! Running totals over HTTP or gRPC: what the exports whose receivers expect them have in common.

use std::time::Duration;

use model::{Epoch, Instant, ThresholdResult, Window};

use crate::net::grpc::{Call, GrpcClient};
use crate::net::{Entry, Exporter, Feed, HttpClient, HttpSettings, Payload, SendError};
use crate::{Context, OutputError};

/// How running totals become payloads.
pub(crate) trait Encoder: Send {
    /// Adds a second of the run.
    fn add(&mut self, window: &Window);

    /// Takes note of how the thresholds stand.
    fn set_thresholds(&mut self, _: &[ThresholdResult]) {}

    /// The data to send at this time, in nanoseconds since the Unix epoch.
    fn payloads(&mut self, wall_unix_ns: i64) -> Vec<Payload>;

    /// Records that a push did not arrive.
    fn push_failed(&mut self) {}

    /// The data to send once everything else was sent.
    fn ends(&mut self, _: i64) -> Vec<Payload> {
        Vec::new()
    }
}

/// How payloads travel.
enum Way {
    Http { client: HttpClient, url: String },
    Grpc { client: GrpcClient, path: &'static str, is_compressed: bool },
}

/// Sends the payloads of an encoder to one address.
pub(crate) struct Pusher {
    way: Way,
    headers: Vec<(String, String)>,
    encoder: Box<dyn Encoder>,
    epoch: Epoch,
    /// The end of the last window.
    until: Option<Instant>,
    /// Payloads handed out last and not arrived.
    outstanding: usize,
}

impl Pusher {
    /// A pusher to `url`. All headers are sent with each payload.
    ///
    /// # Errors
    /// The address is none, a header cannot be one, or a certificate cannot be read.
    pub(crate) fn new(
        context: &Context,
        url: String,
        headers: Vec<(String, String)>,
        http: &HttpSettings,
        encoder: Box<dyn Encoder>,
    ) -> Result<Pusher, OutputError> {
        let client = HttpClient::new(&url, http)?;
        Pusher::by(context, Way::Http { client, url }, headers, encoder)
    }

    /// A pusher that calls a method of gRPC, such as `/package.Service/Method`. All headers are sent with each payload.
    ///
    /// # Errors
    /// A header cannot be one.
    pub(crate) fn over_grpc(
        context: &Context,
        client: GrpcClient,
        (path, is_compressed): (&'static str, bool),
        headers: Vec<(String, String)>,
        encoder: Box<dyn Encoder>,
    ) -> Result<Pusher, OutputError> {
        Pusher::by(context, Way::Grpc { client, path, is_compressed }, headers, encoder)
    }

    fn by(
        context: &Context,
        way: Way,
        headers: Vec<(String, String)>,
        encoder: Box<dyn Encoder>,
    ) -> Result<Pusher, OutputError> {
        check_headers(&headers)?;
        Ok(Pusher { way, headers, encoder, epoch: context.epoch, until: None, outstanding: 0 })
    }
}

/// A header that cannot be sent would fail each payload anew.
fn check_headers(headers: &[(String, String)]) -> Result<(), OutputError> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    for (name, value) in headers {
        let is_fine = !name.is_empty() && name.chars().all(is_token) && !value.chars().any(char::is_control);
        if !is_fine {
            // The value may be a secret, which has no place in a message.
            let (setting, expected) = ("a header".to_owned(), "a name and a value of HTTP");
            return Err(OutputError::Setting { setting, value: name.clone(), expected });
        }
    }
    Ok(())
}

impl Exporter for Pusher {
    fn feed(&self) -> Feed {
        Feed::Windows
    }

    fn take(&mut self, entry: &Entry) -> u64 {
        match entry {
            Entry::Window(window) => {
                self.until = Some(window.end);
                self.encoder.add(window);
            }
            Entry::Thresholds(results) => self.encoder.set_thresholds(results),
            Entry::Samples(_) => {}
        }
        0
    }

    fn is_full(&self) -> bool {
        // Totals use no more memory when they are pushed later.
        false
    }

    fn payloads(&mut self, _: Instant, is_last: bool) -> Vec<Payload> {
        // Without a window there is nothing to push.
        let Some(until) = self.until else { return Vec::new() };
        if std::mem::take(&mut self.outstanding) > 0 {
            self.encoder.push_failed();
        }
        let wall_unix_ns = self.epoch.wall_unix_ns(until);
        let mut payloads = self.encoder.payloads(wall_unix_ns);
        if is_last {
            payloads.extend(self.encoder.ends(wall_unix_ns));
        }
        self.outstanding = payloads.len();
        payloads
    }

    fn send(&mut self, payload: &Payload, within: Duration) -> Result<(), SendError> {
        match &self.way {
            Way::Http { client, url } => {
                let headers: Vec<(&str, &str)> =
                    self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                client.post(url, &headers, &payload.body, within)?.accepted()?;
            }
            Way::Grpc { client, path, is_compressed } => {
                let (message, headers) = (payload.body.as_slice(), self.headers.as_slice());
                let call = Call { path, headers, message, is_compressed: *is_compressed };
                client.call(&call, within)?;
            }
        }
        self.outstanding = self.outstanding.saturating_sub(1);
        Ok(())
    }

    fn note(&self, sent: u64, lost: u64) -> String {
        format!("{sent} points sent and accepted, {lost} lost")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{Mark, RunEvent};

    use super::*;
    use crate::OutputSpec;
    use crate::csv::tests::context;
    use crate::net::testing::HttpFixture;
    use crate::totals::tests::window;

    fn answer(status: u16) -> String {
        format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n")
    }

    /// The requests of an export when two windows passed, and its closing line.
    #[track_caller]
    fn check(out: &str, env: &[(&str, &str)], answers: &[u16], heads: &[&str], expect: &str) {
        let fixture = HttpFixture::start(answers.iter().map(|status| answer(*status)).collect());
        let context = context(env);
        let spec = OutputSpec::parse(&format!("{out}={}/in", fixture.url)).expect("a known output");
        let mut output = spec.open(&context).expect("an address");
        assert!(!output.wants_samples());
        for index in 0..2 {
            let sample = ("http_reqs", "", 1.0, Mark::Measured);
            output.on_event(&RunEvent::Window(Arc::new(window(&context, index, &[sample]))));
        }
        let report = output.finish();
        let warning = report.warning().unwrap_or_default().replace(&fixture.url, "URL");
        assert_eq!(format!("{} sent, {} lost {warning}", report.written, report.lost).trim_end(), expect);
        let requests = fixture.requests();
        for head in heads {
            assert!(
                requests[0].head.to_lowercase().contains(head),
                "{head:?} is not in {}",
                requests[0].head
            );
        }
    }

    #[test]
    fn requests_are_what_receivers_expect() {
        let prometheus = [
            "post /in http/1.1",
            "content-encoding: snappy",
            "content-type: application/x-protobuf",
            "x-prometheus-remote-write-version: 0.1.0",
            "authorization: bearer t",
        ];
        let token = ("K6_PROMETHEUS_RW_BEARER_TOKEN", "t");
        check("experimental-prometheus-rw", &[token], &[204], &prometheus, "1 sent, 0 lost");
        let otel =
            ["post /in http/1.1", "content-encoding: gzip", "content-type: application/x-protobuf", "a: b"];
        let env = [("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"), ("K6_OTEL_HEADERS", "a=b")];
        check("opentelemetry", &env, &[200], &otel, "1 sent, 0 lost");
    }

    #[test]
    fn refusals_are_reported_and_silence_is_retried() {
        let expect = "0 sent, 1 lost Prometheus remote write (URL/in): failed to send: the endpoint answered 400; 1 of 1 samples are missing from the export";
        check("experimental-prometheus-rw", &[], &[400], &[], expect);
        check("experimental-prometheus-rw", &[], &[503, 500, 204], &[], "1 sent, 0 lost");
    }

    #[test]
    fn refused_totals_are_pushed_again() {
        let fixture = HttpFixture::start(vec![answer(400), answer(204)]);
        let context = context(&[("K6_PROMETHEUS_RW_PUSH_INTERVAL", "20ms")]);
        let spec = OutputSpec::parse(&format!("experimental-prometheus-rw={}", fixture.url)).expect("known");
        let mut output = spec.open(&context).expect("an address");
        let sample = ("http_reqs", "", 1.0, Mark::Measured);
        output.on_event(&RunEvent::Window(Arc::new(window(&context, 0, &[sample]))));
        while fixture.requests().len() < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let report = output.finish();
        assert_eq!((report.written, report.lost), (1, 1));
    }

    #[test]
    fn metrics_travel_over_grpc_as_they_do_over_http() {
        use prost::Message;
        let (address, calls) = crate::net::grpc::tests::serve(vec![crate::net::grpc::tests::FINE]);
        let env = [
            ("K6_OTEL_GRPC_EXPORTER_ENDPOINT", address.as_str()),
            ("K6_OTEL_GRPC_EXPORTER_INSECURE", "true"),
        ];
        let context = context(&[env[0], env[1], ("K6_OTEL_HEADERS", "a=b")]);
        let mut output = OutputSpec::parse("opentelemetry").expect("known").open(&context).expect("settings");
        assert!(output.description().contains(&format!("grpc://{address}")), "{}", output.description());
        let sample = ("http_reqs", "", 3.0, Mark::Measured);
        output.on_event(&RunEvent::Window(Arc::new(window(&context, 0, &[sample]))));
        let report = output.finish();
        assert_eq!((report.written, report.lost), (1, 0), "{:?}", report.warning());
        let seen = calls.recv().expect("a call");
        assert_eq!(seen.path, "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
        assert_eq!(seen.headers["a"], "b");
        let sent = opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest::decode(
            &seen.body[5..],
        );
        let sent = sent.expect("a request of OTLP");
        assert_eq!(sent.resource_metrics[0].scope_metrics[0].metrics[0].name, "http_reqs");
    }

    #[test]
    fn headers_that_cannot_be_are_refused_and_not_shown() {
        let check = |name: &str, value: &str, expect: bool| {
            assert_eq!(check_headers(&[(name.into(), value.into())]).is_ok(), expect, "{name:?}: {value:?}");
        };
        check("X-Scope-OrgID", "7 é", true);
        check("", "x", false);
        check("a b", "x", false);
        check("a", "x\r\nInjected: y", false);
    }
}
