//! Which formats there are, and what a file looks like.

use std::fmt;

/// Bytes of a file's beginning that [`Kind::detect`] wants to see.
pub const HEAD_BYTES: usize = 64 << 10;

/// The byte order mark that editors on Windows put in front.
pub(crate) const BOM: &str = "\u{feff}";

/// A format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `k6 run --out json=FILE`: every sample.
    K6Json,
    /// `k6 run --out csv=FILE`: every sample.
    K6Csv,
    /// `k6 run --summary-export FILE` (either shape), or what `handleSummary(data)` wrote as JSON.
    K6Summary,
    /// The end-of-test summary on k6's terminal.
    K6Text,
    /// nGrinder's `output.csv`: a row of means per sampling interval.
    Ngrinder,
    /// JMeter's results as comma-separated values: every request.
    Jtl,
    /// Gatling's `simulation.log` as text: every request.
    Gatling,
    /// Locust's `PREFIX_stats.csv`: figures.
    LocustCsv,
    /// `vegeta encode`, JSON or comma-separated values: every request.
    Vegeta,
    /// oha's report as JSON: figures.
    OhaJson,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 10] = [
        Kind::K6Json,
        Kind::K6Csv,
        Kind::K6Summary,
        Kind::K6Text,
        Kind::Ngrinder,
        Kind::Jtl,
        Kind::Gatling,
        Kind::LocustCsv,
        Kind::Vegeta,
        Kind::OhaJson,
    ];

    /// Its word on the command line and in a run's file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::K6Json => "k6-json",
            Kind::K6Csv => "k6-csv",
            Kind::K6Summary => "k6-summary",
            Kind::K6Text => "k6-text",
            Kind::Ngrinder => "ngrinder",
            Kind::Jtl => "jtl",
            Kind::Gatling => "gatling",
            Kind::LocustCsv => "locust-csv",
            Kind::Vegeta => "vegeta",
            Kind::OhaJson => "oha-json",
        }
    }

    /// The name of the format, for people.
    pub const fn describe(self) -> &'static str {
        match self {
            Kind::K6Json => "k6's --out json",
            Kind::K6Csv => "k6's --out csv",
            Kind::K6Summary => "k6's summary as JSON",
            Kind::K6Text => "k6's summary as text",
            Kind::Ngrinder => "nGrinder's output.csv",
            Kind::Jtl => "JMeter's results",
            Kind::Gatling => "Gatling's simulation.log",
            Kind::LocustCsv => "Locust's stats.csv",
            Kind::Vegeta => "vegeta's results",
            Kind::OhaJson => "oha's report as JSON",
        }
    }

    /// Whether it holds every sample.
    pub const fn has_samples(self) -> bool {
        matches!(self, Kind::K6Json | Kind::K6Csv | Kind::Jtl | Kind::Gatling | Kind::Vegeta)
    }

    /// Detects the format of a file from its first bytes; `None` if it is unknown.
    pub fn detect(head: &[u8]) -> Option<Kind> {
        let head = String::from_utf8_lossy(head);
        let head = head.trim_start_matches(BOM).trim_start();
        let first = head.lines().next().unwrap_or_default();
        if first.contains("metric_name") && first.contains("metric_value") {
            return Some(Kind::K6Csv);
        }
        if first.contains("DateTime") && first.contains("TPS") {
            return Some(Kind::Ngrinder);
        }
        if first.contains("timeStamp") && first.contains("elapsed") {
            return Some(Kind::Jtl);
        }
        if first.contains("Request Count") && first.contains("Failure Count") {
            return Some(Kind::LocustCsv);
        }
        if ["RUN\t", "USER\t", "REQUEST\t", "ASSERTION\t"].iter().any(|word| first.starts_with(word)) {
            return Some(Kind::Gatling);
        }
        let is_vegeta_row = || {
            let mut cells = first.split(',');
            let is_time = cells
                .next()
                .is_some_and(|cell| cell.len() == 19 && cell.bytes().all(|byte| byte.is_ascii_digit()));
            is_time && cells.next().is_some_and(|cell| cell.parse::<u16>().is_ok()) && cells.count() >= 9
        };
        if first.starts_with("{\"attack\"") || is_vegeta_row() {
            return Some(Kind::Vegeta);
        }
        if head.starts_with('{') && head.contains("\"latencyPercentiles\"") {
            return Some(Kind::OhaJson);
        }
        if head.starts_with('{') {
            let is_line =
                first.contains("\"type\"") && (first.contains("\"Point\"") || first.contains("\"Metric\""));
            return Some(if is_line { Kind::K6Json } else { Kind::K6Summary });
        }
        let is_row = |line: &str| crate::k6_text::is_metric(line);
        head.lines().any(is_row).then_some(Kind::K6Text)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expect: Option<Kind>) {
        assert_eq!(Kind::detect(head.as_bytes()), expect, "{head:?}");
        assert_eq!(Kind::detect(format!("{BOM}{head}").as_bytes()), expect, "{head:?} behind a mark");
    }

    #[test]
    fn files_are_told_apart() {
        check(r#"{"type":"Metric","data":{"name":"vus"},"metric":"vus"}"#, Some(Kind::K6Json));
        check("{\"metric\":\"vus\",\"type\":\"Point\",\"data\":{}}\r\n", Some(Kind::K6Json));
        check("metric_name,timestamp,metric_value,check\r\n", Some(Kind::K6Csv));
        check("{\n  \"metrics\": {}\n}", Some(Kind::K6Summary));
        check(r#"{"root_group":{},"metrics":{}}"#, Some(Kind::K6Summary));
        check("DateTime,vuser,Tests,Errors,Mean_Test_Time_(ms),TPS\n", Some(Kind::Ngrinder));
        check("hello\n     http_reqs......................: 132197 219.098265/s\n", Some(Kind::K6Text));
        check("timeStamp,elapsed,label,responseCode\n", Some(Kind::Jtl));
        check("RUN\tshop.Buy\tbuy\t1\t \t3.9.5\n", Some(Kind::Gatling));
        check("Type,Name,Request Count,Failure Count,Median Response Time\n", Some(Kind::LocustCsv));
        check("{\"attack\":\"\",\"seq\":0,\"code\":200}\n", Some(Kind::Vegeta));
        check("1795676543146831827,200,21263911,0,1379,,,,0,GET,http://h/,\n", Some(Kind::Vegeta));
        check("{\"summary\": {}, \"latencyPercentiles\": {}}", Some(Kind::OhaJson));
        check("a,b,c\n1,2,3\n", None);
        check("", None);
        assert_eq!(Kind::detect(&[0xff, 0x00, 0x9f]), None);
    }
}
