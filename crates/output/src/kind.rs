//! Which exports there are, and what `--out` means.

use std::sync::Arc;

use model::plan::ThresholdSpec;
use model::{Epoch, MetricRegistry, SystemTags, TagInterner};

use crate::{Output, OutputError, csv, influxdb, json, otel, prometheus, statsd};

/// The facts of its run that an export needs.
#[derive(Clone)]
pub struct Context {
    /// Names, kinds and units of metrics.
    pub metrics: Arc<MetricRegistry>,
    /// Tag sets by number.
    pub tags: Arc<TagInterner>,
    /// Ties samples to the wall clock.
    pub epoch: Epoch,
    /// The system tags that the run sets.
    pub system_tags: SystemTags,
    /// The run's thresholds.
    pub thresholds: Vec<ThresholdSpec>,
    /// Environment variables.
    pub env: Arc<Env>,
    /// Their names, for settings whose names are open, such as one variable per header.
    pub env_names: Arc<[String]>,
    /// Unique id of this run.
    pub run_id: String,
}

/// Looks up an environment variable.
pub type Env = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Opens an export with the argument after `=`, which may be empty.
pub(crate) type Open = fn(&str, &Context) -> Result<Box<dyn Output>, OutputError>;

/// A kind of export.
pub struct Kind {
    /// Its name in `--out`.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    pub(crate) open: Open,
}

/// All kinds of exports.
pub const KINDS: &[Kind] =
    &[csv::KIND, prometheus::KIND, influxdb::KIND, json::KIND, otel::KIND, statsd::KIND];

/// Exports that k6 has or had, and what to do instead.
const NOT_YET: &[(&str, &str)] = &[
    ("cloud", "results stay on this machine; export them with --out json=FILE"),
    ("datadog", "use --out statsd with K6_STATSD_ENABLE_TAGS=true"),
    ("experimental-opentelemetry", "it is called opentelemetry now"),
    ("kafka", "write --out json and pipe it to a Kafka producer; k6 dropped this output too"),
    ("summary", "the summary is printed anyway; --summary-export=FILE writes it"),
    ("web-dashboard", "the summary and --out json=FILE have the numbers"),
];

/// Names further away than this share no intent: at least this similar, from 0 to 1.
const SIMILARITY_MIN: f64 = 0.6;

/// One `--out`, understood.
pub struct OutputSpec {
    kind: &'static Kind,
    argument: String,
}

impl OutputSpec {
    /// Reads `name` or `name=argument`.
    ///
    /// # Errors
    /// There is no such export; the error names the nearest one, or says what to do instead.
    pub fn parse(text: &str) -> Result<OutputSpec, OutputError> {
        let (name, argument) = text.split_once('=').unwrap_or((text, ""));
        if let Some(kind) = KINDS.iter().find(|kind| kind.name == name) {
            return Ok(OutputSpec { kind, argument: argument.to_owned() });
        }
        if let Some((name, instead)) = NOT_YET.iter().find(|(known, _)| *known == name) {
            return Err(OutputError::NotYet { name, instead });
        }
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        Err(OutputError::Unknown { name: name.to_owned(), known: known.join(", "), nearest: nearest(name) })
    }

    /// Opens the file and starts the writing thread.
    ///
    /// # Errors
    /// The file cannot be made, or a setting cannot be read.
    pub fn open(&self, context: &Context) -> Result<Box<dyn Output>, OutputError> {
        (self.kind.open)(&self.argument, context)
    }
}

fn nearest(name: &str) -> Option<&'static str> {
    let all = KINDS.iter().map(|kind| kind.name).chain(NOT_YET.iter().map(|(name, _)| *name));
    let scored = all.map(|known| (strsim::jaro_winkler(known, &name.to_lowercase()), known));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 >= SIMILARITY_MIN).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let actual = match OutputSpec::parse(text) {
            Ok(spec) => format!("{}: {}", spec.kind.name, spec.argument),
            Err(error) => format!("failed to {error}"),
        };
        assert_eq!(actual, expect, "{text}");
    }

    #[test]
    fn names_are_read() {
        check("json", "json: ");
        check("csv=a=b.csv", "csv: a=b.csv");
        check(
            "jsn",
            r#"failed to find output "jsn"; available: csv, experimental-prometheus-rw, influxdb, json, opentelemetry, statsd (did you mean "json"?)"#,
        );
        check(
            "influx",
            r#"failed to find output "influx"; available: csv, experimental-prometheus-rw, influxdb, json, opentelemetry, statsd (did you mean "influxdb"?)"#,
        );
        check(
            "",
            r#"failed to find output ""; available: csv, experimental-prometheus-rw, influxdb, json, opentelemetry, statsd"#,
        );
        check(
            "cloud",
            r#"failed to start output "cloud": it is not supported; results stay on this machine; export them with --out json=FILE"#,
        );
    }

    #[test]
    fn files_are_written_to_their_end() {
        let folder = std::env::temp_dir().join(format!("plimsoll-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (kind, file) in [("json", "a.json"), ("json", "a.json.gz"), ("csv", "a.csv"), ("csv", "a.csv.gz")]
        {
            let path = folder.join(file).display().to_string();
            let context = crate::csv::tests::context(&[]);
            let sample = crate::csv::tests::sample(&context, "http_reqs", 1.0, model::Mark::Measured);
            let spec = OutputSpec::parse(&format!("{kind}={path}")).expect("a known output");
            let mut output = spec.open(&context).expect("a file");
            assert_eq!(output.description(), format!("{kind} ({path})"));
            let batch = vec![(sample, None); 10_000];
            output.on_event(&model::RunEvent::Samples(Arc::new(batch)));
            let report = output.finish();
            assert_eq!((report.written, report.warning()), (10_000, None));
            let bytes = std::fs::read(&path).expect("the file");
            let mut text = String::new();
            if file.ends_with(".gz") {
                let mut gzip = flate2::read::GzDecoder::new(&bytes[..]);
                std::io::Read::read_to_string(&mut gzip, &mut text).expect("a whole file");
            } else {
                text = String::from_utf8(bytes).expect("text");
            }
            assert_eq!(text.lines().count(), 10_001, "{file}");
        }
        std::fs::remove_dir_all(&folder).expect("the folder");
    }

    #[test]
    fn a_file_that_cannot_be_made_is_refused() {
        let context = crate::csv::tests::context(&[]);
        let spec = OutputSpec::parse("json=/nonexistent/folder/x").expect("a known output");
        let error = spec.open(&context).err().expect("there is no such folder");
        assert_eq!(error.to_string(), "create \"/nonexistent/folder/x\"");
    }

    #[test]
    fn lists_are_sorted_and_disjoint() {
        assert!(KINDS.is_sorted_by_key(|kind| kind.name));
        assert!(NOT_YET.is_sorted());
        assert!(KINDS.iter().all(|kind| NOT_YET.iter().all(|(name, _)| *name != kind.name)));
    }
}
