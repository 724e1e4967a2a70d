//! One metric's line: `name...: values`.

use model::{GoDuration, MetricKind, ValueKind};

/// A metric's line in parts.
#[derive(Debug, PartialEq)]
pub(super) struct Row<'a> {
    /// Whether its thresholds passed, by the mark in front; only the older layout has one.
    pub(super) mark: Option<bool>,
    /// `name`, or `{ tag:value }` of the metric before.
    pub(super) name: &'a str,
    pub(super) kind: MetricKind,
    pub(super) contains: ValueKind,
    pub(super) values: Vec<(String, f64)>,
}

/// Whether this is a metric's line.
pub(crate) fn is_metric(line: &str) -> bool {
    Row::parse(line).is_some()
}

impl<'a> Row<'a> {
    /// Reads a line; `None` if it is something else.
    pub(super) fn parse(line: &'a str) -> Option<Row<'a>> {
        let (mark, line) = marked(line.trim());
        let end = name_end(line)?;
        let name = line[..end].trim_end_matches('.').trim_end();
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if !(is_name(name) || name.starts_with('{') && name.ends_with('}')) {
            return None;
        }
        let words: Vec<&str> = line[end + 1..].split_whitespace().collect();
        let (kind, contains, values) = values(&words)?;
        Some(Row { mark, name, kind, contains, values })
    }
}

/// The place of the colon behind the dots.
fn name_end(line: &str) -> Option<usize> {
    // A sub-metric's tags may hold dots and colons themselves.
    let from = if line.starts_with('{') { line.rfind('}')? } else { 0 };
    let found = line[from..].match_indices("..:").next()?;
    Some(from + found.0 + "..".len())
}

/// `✓ rest` or `✗ rest`.
pub(super) fn marked(line: &str) -> (Option<bool>, &str) {
    for (mark, ok) in [("✓ ", true), ("✗ ", false)] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (Some(ok), rest.trim());
        }
    }
    (None, line)
}

type Values = (MetricKind, ValueKind, Vec<(String, f64)>);

fn values(words: &[&str]) -> Option<Values> {
    let first = words.first()?;
    if first.ends_with('%') {
        return rate(words);
    }
    if first.contains('=') {
        let pairs: Option<Vec<_>> = words.iter().map(|word| pair(word)).collect();
        let pairs = pairs?;
        let is_time = pairs.iter().any(|(_, value)| value.contains == ValueKind::Time);
        let contains = if is_time { ValueKind::Time } else { ValueKind::Default };
        return Some((
            MetricKind::Trend,
            contains,
            pairs.into_iter().map(|(name, value)| (name, value.number)).collect(),
        ));
    }
    let (value, rest) = quantity(words)?;
    let named = |name: &str, number: f64| (name.to_owned(), number);
    if let Some(per_second) = rest.last().and_then(|last| last.strip_suffix("/s")) {
        let mut words: Vec<&str> = rest[..rest.len() - 1].to_vec();
        words.push(per_second);
        let (rate, _) = quantity(&words).filter(|(_, rest)| rest.is_empty())?;
        return Some((
            MetricKind::Counter,
            value.contains,
            vec![named("count", value.number), named("rate", rate.number)],
        ));
    }
    let extremes: Option<Vec<_>> = rest.iter().map(|word| pair(word)).collect();
    let extremes = extremes.filter(|all| all.len() == 2 && all[0].0 == "min" && all[1].0 == "max")?;
    let all = vec![
        named("value", value.number),
        named("min", extremes[0].1.number),
        named("max", extremes[1].1.number),
    ];
    Some((MetricKind::Gauge, value.contains, all))
}

/// `4.24% 5852 out of 137723`, or before v1 `4.24% ✓ 5852 ✗ 131871`.
fn rate(words: &[&str]) -> Option<Values> {
    let count = |word: &str| word.parse::<u64>().ok().map(|count| count as f64);
    let (passes, total) = match words {
        [_, passes, "out", "of", total] => (count(passes)?, count(total)?),
        [_, "✓", passes, "✗", fails] => (count(passes)?, count(passes)? + count(fails)?),
        _ => return None,
    };
    let values = vec![("passes".to_owned(), passes), ("total".to_owned(), total)];
    Some((MetricKind::Rate, ValueKind::Default, values))
}

/// A number and what its unit says that it is.
#[derive(Clone, Copy, Debug)]
struct Quantity {
    number: f64,
    contains: ValueKind,
}

/// `avg=25.73ms`
fn pair(word: &str) -> Option<(String, Quantity)> {
    let (name, value) = word.split_once('=')?;
    let words = [value];
    let (value, rest) = quantity(&words)?;
    (rest.is_empty() && !name.is_empty()).then(|| (name.to_owned(), value))
}

/// The number at the front, with its unit, and what comes behind it.
fn quantity<'a, 'b>(words: &'a [&'b str]) -> Option<(Quantity, &'a [&'b str])> {
    let (first, rest) = words.split_first()?;
    if let Ok(number) = first.parse::<f64>() {
        if let Some(scale) = rest.first().and_then(|unit| bytes_of(unit)) {
            return Some((Quantity { number: number * scale, contains: ValueKind::Data }, &rest[1..]));
        }
        return Some((Quantity { number, contains: ValueKind::Default }, rest));
    }
    let duration = GoDuration::parse(first)?;
    Some((Quantity { number: duration.ns as f64 / 1e6, contains: ValueKind::Time }, rest))
}

/// k6's units of data are powers of a thousand.
fn bytes_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "B" => 1.0,
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "PB" => 1e15,
        _ => return None,
    })
}

/// Parses the value that a threshold compared: `p(95)=4ms`, `rate=50.00%`.
pub(super) fn observed(text: &str) -> Option<f64> {
    let (_, value) = text.trim().split_once('=')?;
    if let Some(percent) = value.strip_suffix('%') {
        return percent.parse::<f64>().ok().map(|percent| percent / 100.0);
    }
    let words: Vec<&str> = value.trim_end_matches("/s").split_whitespace().collect();
    quantity(&words).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &str) {
        let shown = Row::parse(line).map_or_else(String::new, |row| {
            let values: Vec<String> =
                row.values.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let mark = row.mark.map_or("", |ok| if ok { "held " } else { "crossed " });
            format!("{mark}{} {} {} {}", row.name, row.kind.as_str(), row.contains.as_str(), values.join(" "))
        });
        assert_eq!(shown, expect, "{line}");
    }

    #[test]
    fn rows_are_read() {
        check(
            "     data_received..................: 682 MB 1.1 MB/s",
            "data_received counter data count=682000000 rate=1100000",
        );
        check("data_sent......................: 0 B 0 B/s", "data_sent counter data count=0 rate=0");
        check(
            "http_req_blocked...: avg=42.04µs min=0s med=1m51s max=1.25s p(90)=6.83us p(99.9)=17ns",
            "http_req_blocked trend time avg=0.04204 min=0 med=111000 max=1250 p(90)=0.00683 p(99.9)=0.000017",
        );
        check(
            "  { expected_response:true }...: avg=25.73ms",
            "{ expected_response:true } trend time avg=25.73",
        );
        check("{ name:a..: b }...: avg=1ms", "{ name:a..: b } trend time avg=1");
        check(
            "http_req_failed................: 4.24%  ✓ 5852       ✗ 131871",
            "http_req_failed rate default passes=5852 total=137723",
        );
        check("won............................: 50.00% 30 out of 60", "won rate default passes=30 total=60");
        check(
            "http_reqs......................: 132197 219.098265/s",
            "http_reqs counter default count=132197 rate=219.098265",
        );
        check(
            "vus............................: 1      min=0        max=300",
            "vus gauge default value=1 min=0 max=300",
        );
        check(
            "page_size......................: avg=15.5 med=-2 count=60",
            "page_size trend default avg=15.5 med=-2 count=60",
        );
        check("   ✗ http_req_duration....: avg=1s", "crossed http_req_duration trend time avg=1000");
        check("spent..........................: 1.5s 3s/s", "spent counter time count=1500 rate=3000");
    }

    #[test]
    fn other_lines_are_none() {
        for line in [
            "",
            "...: 1 2/s",
            "running (10m03.4s), 000/300 VUs, 33049 complete and 0 interrupted iterations",
            "default ✓ [======================================] 000/300 VUs  10m0s",
            "     ✓ status is 200",
            "http_reqs: 5 1/s",
            "http_reqs...:",
            "http_reqs...: many",
            "http_reqs...: 5",
            "a b...: 1 1/s",
            "x...: 50% 1 of 2",
            "x...: avg=1 min",
            "}{...: 1 1/s",
        ] {
            check(line, "");
        }
    }

    #[test]
    fn what_thresholds_compared_is_read() {
        for (text, expect) in [
            ("p(95)=4ms", Some(4.0)),
            ("rate=50.00%", Some(0.5)),
            ("count=67", Some(67.0)),
            ("rate=139.433217/s", Some(139.433217)),
            ("value=3", Some(3.0)),
            ("count=682 MB", Some(682e6)),
            ("p(95)", None),
            ("p(95)=n/a", None),
        ] {
            assert_eq!(observed(text), expect, "{text}");
        }
    }
}
