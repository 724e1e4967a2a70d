//! `--out csv`: one sample a row.

use std::io::{self, Write};
use std::time::Duration;

use api::rfc3339;
use model::{Metadata, Sample, SystemTag, TagSet};

use crate::json::{has_value, sorted};
use crate::setting::parse_duration;
use crate::{Context, Format, Kind, Output, OutputError, writer};

/// k6's name for a file that was not named.
const FILE_DEFAULT: &str = "file.csv";

/// How often rows are written out.
const SAVE_INTERVAL_DEFAULT: Duration = Duration::from_secs(1);

pub(crate) const KIND: Kind = Kind {
    name: "csv",
    help: "csv[=FILE[.gz]]: every sample as a row; K6_CSV_FILENAME, K6_CSV_SAVE_INTERVAL, K6_CSV_TIME_FORMAT",
    open,
};

fn open(argument: &str, context: &Context) -> Result<Box<dyn Output>, OutputError> {
    let settings = Settings::read(argument, context)?;
    let format = Csv::new(context.clone(), settings.time);
    writer::open("csv", &settings.path, settings.save_interval, Box::new(format))
}

/// How times are written (`K6_CSV_TIME_FORMAT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeFormat {
    Unix,
    UnixMilli,
    UnixMicro,
    UnixNano,
    Rfc3339,
    Rfc3339Nano,
}

const TIME_FORMATS: &[(&str, TimeFormat)] = &[
    ("unix", TimeFormat::Unix),
    ("unix_milli", TimeFormat::UnixMilli),
    ("unix_micro", TimeFormat::UnixMicro),
    ("unix_nano", TimeFormat::UnixNano),
    ("rfc3339", TimeFormat::Rfc3339),
    ("rfc3339_nano", TimeFormat::Rfc3339Nano),
];

struct Settings {
    path: String,
    save_interval: Duration,
    time: TimeFormat,
}

impl Settings {
    /// Environment first, then the argument: a file name, or `fileName=…,saveInterval=…,timeFormat=…`.
    fn read(argument: &str, context: &Context) -> Result<Settings, OutputError> {
        let mut settings = Settings {
            path: FILE_DEFAULT.into(),
            save_interval: SAVE_INTERVAL_DEFAULT,
            time: TimeFormat::Unix,
        };
        for (variable, key) in [
            ("K6_CSV_FILENAME", "fileName"),
            ("K6_CSV_SAVE_INTERVAL", "saveInterval"),
            ("K6_CSV_TIME_FORMAT", "timeFormat"),
        ] {
            if let Some(value) = (context.env)(variable).filter(|value| !value.is_empty()) {
                settings.set(variable, key, &value)?;
            }
        }
        if !argument.contains('=') {
            if !argument.is_empty() {
                settings.path = argument.to_owned();
            }
            return Ok(settings);
        }
        for pair in argument.split(',') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            settings.set(key, key, value)?;
        }
        Ok(settings)
    }

    fn set(&mut self, setting: &str, key: &str, value: &str) -> Result<(), OutputError> {
        let refuse =
            |expected| OutputError::Setting { setting: setting.into(), value: value.into(), expected };
        match key {
            "fileName" | "file_name" => self.path = value.to_owned(),
            "saveInterval" | "save_interval" => {
                self.save_interval =
                    parse_duration(value).ok_or_else(|| refuse("a duration such as 500ms or 1s"))?;
            }
            "timeFormat" | "time_format" => {
                let known = TIME_FORMATS.iter().find(|(name, _)| *name == value);
                let expected = "unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano";
                self.time = known.ok_or_else(|| refuse(expected))?.1;
            }
            _ => return Err(refuse("one of fileName, saveInterval, timeFormat")),
        }
        Ok(())
    }
}

struct Csv {
    context: Context,
    time: TimeFormat,
    /// System tags with columns of their own, by name.
    columns: Vec<&'static str>,
}

impl Csv {
    fn new(context: Context, time: TimeFormat) -> Csv {
        // VU and iteration are metadata, and k6 gives metadata one column for all.
        let tags = SystemTag::ALL.iter().filter(|tag| !matches!(tag, SystemTag::Vu | SystemTag::Iter));
        let mut columns: Vec<_> =
            tags.filter(|tag| context.system_tags.has(**tag)).map(|tag| tag.as_str()).collect();
        columns.sort_unstable();
        Csv { context, time, columns }
    }

    fn time(&self, unix_ns: i64) -> String {
        match self.time {
            TimeFormat::Unix => unix_ns.div_euclid(1_000_000_000).to_string(),
            TimeFormat::UnixMilli => unix_ns.div_euclid(1_000_000).to_string(),
            TimeFormat::UnixMicro => unix_ns.div_euclid(1000).to_string(),
            TimeFormat::UnixNano => unix_ns.to_string(),
            TimeFormat::Rfc3339 => rfc3339(unix_ns.saturating_sub(unix_ns.rem_euclid(1_000_000_000))),
            TimeFormat::Rfc3339Nano => rfc3339(unix_ns),
        }
    }

    fn extra_tags(&self, tags: &TagSet) -> String {
        let extra = tags.iter().filter(|(name, _)| !self.columns.contains(name));
        joined(extra)
    }
}

impl Format for Csv {
    fn start(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "metric_name,timestamp,metric_value")?;
        for column in &self.columns {
            write!(out, ",{column}")?;
        }
        writeln!(out, ",extra_tags,metadata")
    }

    fn sample(
        &mut self,
        sample: &Sample,
        metadata: Option<&Metadata>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let metric = self.context.metrics.get(sample.metric);
        let tags = self.context.tags.get(sample.tags);
        let time = self.time(self.context.epoch.wall_unix_ns(sample.at));
        let value = if has_value(sample.mark) { format!("{:.6}", sample.value) } else { String::new() };
        write!(out, "{},{time},{value}", field(&metric.name))?;
        for column in &self.columns {
            write!(out, ",{}", field(tags.get(column).unwrap_or_default()))?;
        }
        let metadata = metadata.map(|metadata| joined(sorted(metadata).0.into_iter())).unwrap_or_default();
        writeln!(out, ",{},{}", field(&self.extra_tags(&tags)), field(&metadata))
    }
}

fn joined<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    pairs.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

/// A field, in quotes where it must be (RFC 4180).
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.starts_with([' ', '\t']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use model::{Epoch, Instant, Mark, MetricRegistry, SystemTags, TagInterner};

    use super::*;

    pub(crate) fn context(env: &[(&str, &str)]) -> Context {
        let env: HashMap<String, String> =
            env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let tags = [SystemTag::Status, SystemTag::Group, SystemTag::Vu, SystemTag::Iter];
        Context {
            metrics: Arc::new(MetricRegistry::default()),
            tags: Arc::new(TagInterner::default()),
            epoch: Epoch { at: Instant::ZERO, wall_unix_ns: 1_795_253_649_521_582_913 },
            system_tags: tags.into_iter().fold(SystemTags::NONE, SystemTags::with),
            thresholds: vec![],
            env_names: env.keys().cloned().collect(),
            env: Arc::new(move |name| env.get(name).cloned()),
            run_id: "run".into(),
        }
    }

    pub(crate) fn sample(context: &Context, metric: &str, value: f64, mark: Mark) -> Sample {
        let tags = [("status", "200"), ("group", ""), ("my tag", "v&1,2"), ("expected_response", "true")];
        Sample {
            metric: context.metrics.find(metric).expect("built in").id,
            tags: context.tags.intern(TagSet::new(tags.map(|(name, value)| (name.into(), value.into())))),
            value,
            at: Instant::ZERO,
            mark,
        }
    }

    /// Writes samples that all have metadata in a format.
    pub(crate) fn written(format: &mut dyn Format, samples: &[Sample]) -> String {
        let metadata: Metadata = [("vu", "1"), ("iter", "0"), ("trace", "abc,\"x\"")]
            .map(|(name, value)| (name.into(), value.into()))
            .into_iter()
            .collect();
        let mut out = Vec::new();
        format.start(&mut out).expect("memory");
        for sample in samples {
            format.sample(sample, Some(&metadata), &mut out).expect("memory");
        }
        String::from_utf8(out).expect("text")
    }

    #[track_caller]
    fn check(time: TimeFormat, expect: &str) {
        let context = context(&[]);
        let samples = [
            sample(&context, "http_reqs", 1.0, Mark::Measured),
            sample(&context, "http_req_duration", 60_000.0, Mark::TimedOut),
            sample(&context, "http_req_duration", 0.0, Mark::Failed),
        ];
        let rest = r#",,200,"expected_response=true&my tag=v&1,2","iter=0&trace=abc,""x""&vu=1""#;
        let expect = format!(
            "metric_name,timestamp,metric_value,group,status,extra_tags,metadata\n\
             http_reqs,{expect},1.000000{rest}\n\
             http_req_duration,{expect},60000.000000{rest}\n\
             http_req_duration,{expect},{rest}\n"
        );
        assert_eq!(written(&mut Csv::new(context, time), &samples), expect);
    }

    #[test]
    fn rows_are_those_k6_writes() {
        check(TimeFormat::Unix, "1795253649");
        check(TimeFormat::UnixMilli, "1795253649521");
        check(TimeFormat::UnixMicro, "1795253649521582");
        check(TimeFormat::UnixNano, "1795253649521582913");
        check(TimeFormat::Rfc3339, "2026-11-21T09:34:09Z");
        check(TimeFormat::Rfc3339Nano, "2026-11-21T09:34:09.521582913Z");
    }

    /// Formulas stay: the file is k6's, byte for byte, and says so in its guide.
    #[test]
    fn hostile_tags_break_no_row() {
        let context = context(&[]);
        let names =
            ["a\",\"b", "a\nb,c", "a\r\n\"", "\u{0}\u{1b}[2J", "=cmd|' /C calc'!A0", "&x=y&", "\u{202e}x"];
        for name in names {
            let set = TagSet::new([(name.into(), name.into()), ("status".into(), name.into())]);
            let one = Sample {
                tags: context.tags.intern(set),
                ..sample(&context, "http_reqs", 1.0, Mark::Measured)
            };
            let text = written(&mut Csv::new(context.clone(), TimeFormat::Unix), &[one, one]);
            // RFC 4180, 2: a line break and a comma within quotes are part of a field, and two quotes are one.
            let mut is_quoted = false;
            let (mut rows, mut commas) = (0, 0);
            for letter in text.chars() {
                match letter {
                    '"' => is_quoted = !is_quoted,
                    '\n' if !is_quoted => rows += 1,
                    ',' if !is_quoted => commas += 1,
                    _ => {}
                }
            }
            assert_eq!((rows, commas, is_quoted), (3, 3 * 6, false), "{name:?}: {text}");
        }
    }

    #[track_caller]
    fn check_settings(argument: &str, env: &[(&str, &str)], expect: &str) {
        let actual = match Settings::read(argument, &context(env)) {
            Ok(settings) => format!("{} {:?} {:?}", settings.path, settings.save_interval, settings.time),
            Err(error) => format!("failed to {error}"),
        };
        assert_eq!(actual, expect, "{argument}");
    }

    #[test]
    fn settings_come_from_the_environment_and_the_argument() {
        check_settings("", &[], "file.csv 1s Unix");
        check_settings("a.csv.gz", &[("K6_CSV_FILENAME", "b.csv")], "a.csv.gz 1s Unix");
        check_settings("", &[("K6_CSV_FILENAME", "b"), ("K6_CSV_SAVE_INTERVAL", "250")], "b 250ms Unix");
        check_settings("fileName=a,timeFormat=rfc3339,saveInterval=1.5m", &[], "a 90s Rfc3339");
        check_settings(
            "",
            &[("K6_CSV_SAVE_INTERVAL", "-1s")],
            "failed to read K6_CSV_SAVE_INTERVAL of the output: \"-1s\" is not a duration such as 500ms or 1s",
        );
        check_settings(
            "timeFormat=epoch",
            &[],
            "failed to read timeFormat of the output: \"epoch\" is not unix, unix_milli, unix_micro, unix_nano, rfc3339 or rfc3339_nano",
        );
        check_settings(
            "colour=red",
            &[],
            "failed to read colour of the output: \"red\" is not one of fileName, saveInterval, timeFormat",
        );
    }
}
