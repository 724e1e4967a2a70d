//! The vocabulary of tables: which kinds there are, and which columns each of them has.
//!
//! A kind is one entry of the list below. Its fields are the columns, and their comments are what the guide prints, so that
//! there is one description of each. A row becomes a value with the units of its column.

use super::gather::Row;
use super::quantity::{Measure, Quantity};

/// A kind of table.
pub struct Kind {
    /// Its name in tables.
    pub name: &'static str,
    /// Its content.
    pub about: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
    /// Adds a row's facts; `false` where a required cell is missing.
    pub(super) add: fn(&mut Facts, &Row<'_>) -> bool,
}

/// A column of a kind of table.
pub struct Column {
    /// Its name. Units may follow it: `p95_ms`.
    pub name: &'static str,
    /// The quantity of its cells.
    pub quantity: Quantity,
    /// Whether a row without it says nothing.
    pub is_required: bool,
    /// Its meaning.
    pub about: &'static str,
}

impl Kind {
    /// The kind and its columns as Markdown: a heading, a sentence and a table, ending in a line break.
    pub fn describe(&self) -> String {
        let rows = self.columns.iter().map(|column| {
            let needed = if column.is_required { "yes" } else { "" };
            format!(
                "| `{}` | {} | {needed} | {} |\n",
                column.name,
                column.quantity.as_str(),
                column.about.trim()
            )
        });
        let rows: String = rows.collect();
        let head = "| Column | Holds | Needed | Meaning |\n|---|---|---|---|\n";
        format!("### `{}`\n\n{}\n\n{head}{rows}", self.name, self.about.trim())
    }
}

macro_rules! kinds {
    (@type Text) => { String };
    (@type Any) => { Measure };
    (@type PrintedShare) => { Measure };
    (@type $number:ident) => { f64 };
    (@quantity PrintedShare) => { Quantity::Share };
    (@quantity $quantity:ident) => { Quantity::$quantity };
    (@cell Text $row:ident $column:ident) => { $row.text(stringify!($column)) };
    (@cell Any $row:ident $column:ident) => { $row.measure(stringify!($column)) };
    (@cell PrintedShare $row:ident $column:ident) => { $row.measure(stringify!($column)) };
    (@cell Moment $row:ident $column:ident) => { $row.moment(stringify!($column)) };
    (@cell $number:ident $row:ident $column:ident) => { $row.number(stringify!($column)) };
    (@value required $holds:ident) => { kinds!(@type $holds) };
    (@value optional $holds:ident) => { Option<kinds!(@type $holds)> };
    (@read required $holds:ident $row:ident $column:ident) => { kinds!(@cell $holds $row $column)? };
    (@read optional $holds:ident $row:ident $column:ident) => { kinds!(@cell $holds $row $column) };
    (@flag required) => { true };
    (@flag optional) => { false };
    ($(
        $(#[doc = $about:literal])+
        $kind:ident in $list:ident {
            $($(#[doc = $column_about:literal])+ $column:ident: $need:ident $holds:ident,)+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Debug, Default, PartialEq)]
            pub struct $kind {
                /// The table and the row, or the run, that says so.
                pub place: String,
                $($(#[doc = $column_about])+ pub $column: kinds!(@value $need $holds),)+
            }

            impl $kind {
                fn of(row: &Row<'_>) -> Option<$kind> {
                    Some($kind { place: row.place(), $($column: kinds!(@read $need $holds row $column),)+ })
                }
            }
        )+

        /// Everything that rules and laws look at, by kind.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Facts {
            $($(#[doc = $about])+ pub $list: Vec<$kind>,)+
        }

        impl Facts {
            /// Adds those of another source.
            pub fn absorb(&mut self, other: Facts) {
                $(self.$list.extend(other.$list);)+
            }
        }

        /// All kinds.
        pub const KINDS: &[Kind] = &[$(Kind {
            name: stringify!($list),
            about: concat!($($about),+),
            columns: &[$(Column {
                name: stringify!($column),
                quantity: kinds!(@quantity $holds),
                is_required: kinds!(@flag $need),
                about: concat!($($column_about),+),
            }),+],
            add: |facts, row| $kind::of(row).map(|fact| facts.$list.push(fact)).is_some(),
        }),+];
    };
}

kinds! {
    /// Metrics of two runs, with the reported change.
    Change in changes {
        /// The metric.
        metric: required Text,
        /// The baseline value.
        before: optional Any,
        /// The new value.
        after: required Any,
        /// The reported change, in percent of the baseline.
        change: optional PrintedShare,
        /// Which direction is better: `up` or `down`.
        good_when: optional Text,
        /// How the author judged it: `good` or `bad`.
        mark: optional Text,
    }

    /// One row per run or load step: offered load and results.
    Run in runs {
        /// Its name.
        run: required Text,
        /// The metric of the times: `e2e`, `http_req_duration`.
        metric: optional Text,
        /// VUs or threads; the maximum, if the number varied.
        vus: optional Count,
        /// Think time between two iterations.
        think: optional Time,
        /// Workload model: `closed` if each VU waits for its response, else `open`.
        model: optional Text,
        /// Completed work per unit of time.
        throughput: optional Rate,
        /// Number of requests.
        requests: optional Count,
        /// Number of failed requests.
        errors: optional Count,
        /// The mean time.
        avg: optional Time,
        /// The median.
        p50: optional Time,
        /// The 95th percentile.
        p95: optional Time,
        /// Number of one-second means that the times are computed from, where they are computed from such means.
        seconds: optional Count,
        /// Mean difference between the means of two consecutive seconds.
        average_difference: optional Time,
    }

    /// Versions of one target that are compared, each with its load.
    Version in versions {
        /// Its name.
        version: required Text,
        /// Offered load.
        offered: required Rate,
        /// Utilisation of the resource.
        utilisation: optional Share,
        /// Processors of that resource.
        cores: optional Cores,
        /// The response time that is compared.
        p95: optional Time,
    }

    /// The analysed window and the run's own start and end.
    Window in windows {
        /// Start of the analysed window.
        claimed_from: required Moment,
        /// End of the analysed window.
        claimed_to: required Moment,
        /// Start of the run, from its own record.
        started: required Moment,
        /// End of the run.
        ended: required Moment,
    }

    /// Timestamps with a time zone, and the instants they stand for.
    Stamp in stamps {
        /// The event.
        what: required Text,
        /// Date and time as shown, without a zone.
        shown: required Text,
        /// The zone as shown: `UTC`, `KST`, `+09:00`.
        zone: required Text,
        /// The instant, from a trusted source.
        instant: required Moment,
    }

    /// Snapshots that are used as evidence about a run.
    Snapshot in snapshots {
        /// The value that was read.
        what: required Text,
        /// Time of the snapshot.
        taken: required Moment,
        /// Start of the run.
        started: required Moment,
        /// End of the run.
        ended: required Moment,
    }

    /// Resources with their usage and limit.
    Usage in usages {
        /// The pod, container or node.
        resource: required Text,
        /// Peak usage.
        usage: required Any,
        /// The limit.
        limit: required Any,
    }

    /// Scraped series that a peak or trend is read from.
    Scrape in scrapes {
        /// Its name.
        series: required Text,
        /// Scrape interval.
        step: required Time,
        /// Time range of the points.
        span: required Time,
    }

    /// Data points sent and recorded.
    Record in records {
        /// The kind of data points.
        what: required Text,
        /// Number sent.
        sent: required Count,
        /// Number recorded.
        recorded: required Count,
    }

    /// Queues whose length is read as a backlog.
    Queue in queues {
        /// Its name.
        queue: required Text,
        /// The metric of the queue length.
        counter: required Text,
        /// Peak length.
        peak: required Count,
        /// Number of consumers.
        consumers: required Count,
        /// Messages that each consumer processes concurrently.
        concurrency: required Count,
        /// Messages per slot, prefetched ones included.
        prefetch: optional Count,
    }

    /// Percentiles, and the samples they are computed from.
    QuantileClaim in quantiles {
        /// The metric.
        metric: required Text,
        /// The percentile: 95, 99.9.
        quantile: required Count,
        /// The samples it is computed from: `requests`, or means of an interval, `1-s means`.
        of: required Text,
        /// The samples it is presented as being computed from.
        presented_as: optional Text,
        /// Number of samples.
        samples: optional Count,
        /// Lag-1 autocorrelation of the samples.
        lag1: optional Count,
    }

    /// Response time distributions as in a k6 summary.
    Summary in summaries {
        /// The metric; `metric{expected_response:true}` for successful requests only.
        metric: required Text,
        /// Number of samples.
        count: optional Count,
        /// Number of samples of failed requests.
        failed: optional Count,
        /// The request timeout.
        timeout: optional Time,
        /// The minimum.
        min: optional Time,
        /// The median.
        med: optional Time,
        /// The 90th percentile.
        p90: optional Time,
        /// The 95th percentile.
        p95: optional Time,
        /// The maximum.
        max: optional Time,
    }

    /// Success criteria of a run.
    Criterion in criteria {
        /// The metric.
        metric: required Text,
        /// The statistic: `p95`, `avg`, `share`.
        statistic: required Text,
        /// The limit.
        target: required Any,
        /// The measured value; empty if it was not measured.
        measured: optional Any,
    }

    /// Success rates, technical and business.
    Outcome in outcomes {
        /// The outcome.
        outcome: required Text,
        /// `technical` (a response arrived) or `business` (the transaction succeeded).
        level: required Text,
        /// The success rate.
        share: required Share,
    }

    /// One fact as reported by several sources, one row per source.
    Source in sources {
        /// The fact.
        fact: required Text,
        /// The source.
        source: required Text,
        /// The reported value.
        value: required Any,
        /// Allowed difference between two sources, in the value's unit [default: 1 % of the larger].
        tolerance: optional Any,
    }

    /// Sequential stages of one piece of work.
    Stage in stages {
        /// Its name.
        stage: required Text,
        /// Its mean service time, without queueing.
        service: required Time,
    }

    /// Slots that are claimed to be exhausted: workers, connections, threads.
    Slots in slots {
        /// The pool of the slots.
        what: required Text,
        /// Number of slots.
        slots: required Count,
        /// Throughput of the slots.
        throughput: required Rate,
        /// Mean service time; without it, the sum of the stages.
        service: optional Time,
        /// The mean time from end to end.
        response: optional Time,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Two kinds with the same required columns could not be distinguished by them.
    #[test]
    fn kinds_differ_in_what_they_require() {
        let required = |kind: &Kind| -> BTreeSet<&str> {
            kind.columns.iter().filter(|column| column.is_required).map(|column| column.name).collect()
        };
        let all: Vec<_> = KINDS.iter().map(required).collect();
        let distinct: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), distinct.len());
        assert!(all.iter().all(|names| !names.is_empty()));
    }

    #[test]
    fn the_guide_has_every_kind() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/audit.md");
        let guide = std::fs::read_to_string(path).expect("a guide");
        for kind in KINDS {
            assert!(
                guide.contains(&kind.describe()),
                "docs/guide/audit.md lacks this text, or differs from it:\n{}",
                kind.describe()
            );
        }
    }

    /// A name that ends like a unit would be read as another column with that unit.
    #[test]
    fn no_name_hides_another() {
        for kind in KINDS {
            for column in kind.columns {
                let others = kind.columns.iter().filter(|other| other.name != column.name);
                let hidden = others.filter(|other| other.name.starts_with(&format!("{}_", column.name)));
                let hidden: Vec<_> = hidden
                    .filter(|other| column.quantity.unit(&other.name[column.name.len() + 1..]).is_some())
                    .map(|other| other.name)
                    .collect();
                assert!(hidden.is_empty(), "{}: {hidden:?}", kind.name);
            }
        }
    }
}
