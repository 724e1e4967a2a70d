//! The vocabulary of tables: which kinds there are, and which columns each of them has.
//!
//! A kind is one entry of the list below. Its fields are the columns, and their comments are what the guide prints, so that
//! there is one description of each. A row becomes a value with the units of its column.

use super::gather::Row;
use super::quantity::{Measure, Quantity};

/// A kind of table.
pub struct Kind {
    /// What authors call it.
    pub name: &'static str,
    /// What it holds.
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
    /// What its cells hold.
    pub quantity: Quantity,
    /// Whether a row without it says nothing.
    pub is_required: bool,
    /// What it means.
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
    /// Figures of two runs beside each other, with the change that their author printed.
    Change in changes {
        /// What was measured.
        metric: required Text,
        /// The first run's figure.
        before: optional Any,
        /// The second run's figure.
        after: required Any,
        /// The change as printed, in percent of the first.
        change: optional PrintedShare,
        /// Which direction is better: `up` or `down`.
        good_when: optional Text,
        /// How the author judged it: `good` or `bad`.
        mark: optional Text,
    }

    /// One row per run or level of load: what was offered, and what came of it.
    Run in runs {
        /// Its name.
        run: required Text,
        /// What the times measure: `e2e`, `http_req_duration`.
        metric: optional Text,
        /// VUs or threads; the largest number, if it varied.
        vus: optional Count,
        /// Time that each of them waits between two iterations.
        think: optional Time,
        /// Whether each of them waits for its answer before it goes on: `closed`, or else `open`.
        model: optional Text,
        /// What was finished.
        throughput: optional Rate,
        /// How many requests there were.
        requests: optional Count,
        /// How many of them failed.
        errors: optional Count,
        /// The mean time.
        avg: optional Time,
        /// The median.
        p50: optional Time,
        /// The 95th percentile.
        p95: optional Time,
        /// Seconds whose means the times are computed of, where they are computed of such means.
        seconds: optional Count,
        /// The mean difference of two neighbouring seconds' means.
        average_difference: optional Time,
    }

    /// Versions of one target that are compared with each other, each under a load of its own.
    Version in versions {
        /// Its name.
        version: required Text,
        /// What was offered.
        offered: required Rate,
        /// How busy the resource in question was.
        utilisation: optional Share,
        /// How many processors that resource has.
        cores: optional Cores,
        /// The time by which versions are compared.
        p95: optional Time,
    }

    /// The time that an analysis looked at, and the time that the run took.
    Window in windows {
        /// Where the analysis begins.
        claimed_from: required Moment,
        /// Where it ends.
        claimed_to: required Moment,
        /// When the run began, by its own record.
        started: required Moment,
        /// When it ended.
        ended: required Moment,
    }

    /// Times of day with a zone beside them, and the instants they stand for.
    Stamp in stamps {
        /// What happened then.
        what: required Text,
        /// The time of day as shown, with its date and without a zone.
        shown: required Text,
        /// The zone as shown: `UTC`, `KST`, `+09:00`.
        zone: required Text,
        /// The instant, from a source that is beyond doubt.
        instant: required Moment,
    }

    /// Readings of one moment that are used as evidence about a run.
    Snapshot in snapshots {
        /// What was read.
        what: required Text,
        /// When.
        taken: required Moment,
        /// When the run began.
        started: required Moment,
        /// When it ended.
        ended: required Moment,
    }

    /// Resources with what was used of them and what may be used.
    Usage in usages {
        /// The pod, container or node.
        resource: required Text,
        /// The most that was used.
        usage: required Any,
        /// What may be used.
        limit: required Any,
    }

    /// Series that were scraped, and of which a peak or a trend is told.
    Scrape in scrapes {
        /// Its name.
        series: required Text,
        /// The time between two points.
        step: required Time,
        /// The time that the points cover.
        span: required Time,
    }

    /// How much of what was sent is on record.
    Record in records {
        /// What is counted.
        what: required Text,
        /// How many there were.
        sent: required Count,
        /// How many are on record.
        recorded: required Count,
    }

    /// Queues whose length is read as waiting.
    Queue in queues {
        /// Its name.
        queue: required Text,
        /// The metric that the length was taken from.
        counter: required Text,
        /// The largest length.
        peak: required Count,
        /// Who takes messages from it.
        consumers: required Count,
        /// Messages that each of them works on at once.
        concurrency: required Count,
        /// Messages that each of these slots holds: itself and what was fetched ahead.
        prefetch: optional Count,
    }

    /// Quantiles, of what and of how much they are computed.
    QuantileClaim in quantiles {
        /// What was measured.
        metric: required Text,
        /// Which one: 95, 99.9.
        quantile: required Count,
        /// What it is computed of: `requests`, or means of an interval, `1-s means`.
        of: required Text,
        /// What readers are told that it is of.
        presented_as: optional Text,
        /// How many values it is computed of.
        samples: optional Count,
        /// The correlation of neighbouring values, where they depend on each other.
        lag1: optional Count,
    }

    /// Distributions of times as a summary prints them.
    Summary in summaries {
        /// What was measured; `metric{expected_response:true}` for successes alone.
        metric: required Text,
        /// How many values there are.
        count: optional Count,
        /// How many of them are of requests that failed.
        failed: optional Count,
        /// After how long requests were given up.
        timeout: optional Time,
        /// The smallest.
        min: optional Time,
        /// The median.
        med: optional Time,
        /// The 90th percentile.
        p90: optional Time,
        /// The 95th percentile.
        p95: optional Time,
        /// The largest.
        max: optional Time,
    }

    /// What decides whether a run succeeded.
    Criterion in criteria {
        /// What is judged.
        metric: required Text,
        /// Which figure of it: `p95`, `avg`, `share`.
        statistic: required Text,
        /// The limit.
        target: required Any,
        /// What was measured; empty if nothing was.
        measured: optional Any,
    }

    /// What share of the work came out as it should, for machines and for people.
    Outcome in outcomes {
        /// The result.
        outcome: required Text,
        /// `technical` (an answer came) or `business` (it was the answer that users come for).
        level: required Text,
        /// The share.
        share: required Share,
    }

    /// One fact as several sources tell it, a row for each.
    Source in sources {
        /// The fact.
        fact: required Text,
        /// Who says so.
        source: required Text,
        /// What they say.
        value: required Any,
        /// How far apart two of them may be, in the value's unit [default: 1 % of the larger].
        tolerance: optional Any,
    }

    /// The steps that a piece of work passes through, one after another.
    Stage in stages {
        /// Its name.
        stage: required Text,
        /// Its mean time of service, without waiting.
        service: required Time,
    }

    /// Slots that are said to have run out: workers, connections, threads.
    Slots in slots {
        /// What they are slots of.
        what: required Text,
        /// How many there are.
        slots: required Count,
        /// Work that passed through them.
        throughput: required Rate,
        /// The mean time of service; without it, the sum of the table of stages.
        service: optional Time,
        /// The mean time from end to end.
        response: optional Time,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Two kinds with the same required columns could not be told apart by them.
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
    fn the_guide_has_every_kind_and_every_rule() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/audit.md");
        let guide = std::fs::read_to_string(path).expect("a guide");
        for kind in KINDS {
            assert!(
                guide.contains(&kind.describe()),
                "docs/guide/audit.md lacks, or tells otherwise:\n{}",
                kind.describe()
            );
        }
        for rule in super::super::RULES {
            let row = format!("| `{}` | {} |\n", rule.name, rule.about);
            assert!(guide.contains(&row), "docs/guide/audit.md lacks, or tells otherwise:\n{row}");
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
