//! The messages of Prometheus remote write 1.0, with the numbers of their fields (`prompb/types.proto` and
//! `prompb/remote.proto` of the specification). Fields that are never sent are left out.

use prost::Message;

/// The body of a request.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) timeseries: Vec<TimeSeries>,
}

/// One series with its labels in the order of their names.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) histograms: Vec<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sample {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    /// Milliseconds since the Unix epoch.
    #[prost(int64, tag = "2")]
    pub(crate) timestamp: i64,
}

/// A native histogram with integer counts.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) count: Option<u64>,
    #[prost(double, tag = "3")]
    pub(crate) sum: f64,
    /// `2^schema` buckets per octave, from -4 to 8.
    #[prost(sint32, tag = "4")]
    pub(crate) schema: i32,
    #[prost(double, tag = "5")]
    pub(crate) zero_threshold: f64,
    #[prost(uint64, optional, tag = "6")]
    pub(crate) zero_count: Option<u64>,
    #[prost(message, repeated, tag = "8")]
    pub(crate) negative_spans: Vec<BucketSpan>,
    /// Each count as its difference to the one before.
    #[prost(sint64, repeated, tag = "9")]
    pub(crate) negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    pub(crate) positive_spans: Vec<BucketSpan>,
    #[prost(sint64, repeated, tag = "12")]
    pub(crate) positive_deltas: Vec<i64>,
    /// Milliseconds since the Unix epoch.
    #[prost(int64, tag = "15")]
    pub(crate) timestamp: i64,
}

/// Buckets that follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct BucketSpan {
    /// Buckets left out since the span before; of the first span, its first bucket.
    #[prost(sint32, tag = "1")]
    pub(crate) offset: i32,
    #[prost(uint32, tag = "2")]
    pub(crate) length: u32,
}
